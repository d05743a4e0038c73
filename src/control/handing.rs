//! One store, two processes: who writes it while one hands over to the next.
//!
//! ```text
//!   old: writes ──give──▶ has none, keeps what it would write ──take back──▶ writes all of it
//!                                              │
//!                                              └──ends──▶ (what it kept is of no use to anybody)
//!   new: reads what is there, keeps what it would write ──begin──▶ writes all of it
//! ```
//!
//! Before `give` the old process sends nothing more of its outbox, and waits a while for what is under way: what nobody has
//! written down as delivered the new process would send again.
//!
//! Between `give` and `begin` nobody writes, so a new process that fails at any moment before it begins has changed
//! nothing: also no table, where it is of a newer version. Acts of people and changes of the configuration are refused
//! meanwhile, since nobody could say who has to remember them.

use std::time::Duration;

use tokio::sync::oneshot;

use super::{Handle, Request};

/// Between two looks at what is under way.
const LOOK: Duration = Duration::from_millis(20);

/// What the one writer is asked of its store.
#[derive(Debug)]
pub enum StoreAsk {
    /// Send no delivery until the store is taken back. Answers how many are under way.
    Hush { answer: oneshot::Sender<usize> },
    /// Write what is left and let go of it, for this process. Refused where it cannot be written, or a change of the
    /// configuration is under way.
    Give { to: u32, answer: oneshot::Sender<Result<(), String>> },
    /// The other process has failed, and this is why: take it again, where it was given.
    TakeBack { why: String },
    /// The other process writes nothing any more: begin.
    Begin,
}

// === impl Handle ===

impl Handle {
    /// Sends nothing more of the outbox, and returns once nothing of it is under way, or after `patience`.
    pub async fn hush(&self, patience: Duration) {
        for _ in 0..=patience.as_millis() / LOOK.as_millis() {
            let (answer, under_way) = oneshot::channel();
            if self.requests.send(Request::Store(StoreAsk::Hush { answer })).await.is_err() {
                return;
            }
            match under_way.await {
                Ok(1..) => tokio::time::sleep(LOOK).await,
                _ => return,
            }
        }
    }

    /// Lets go of the store for process `to`. Errors: in words; nothing was changed.
    pub async fn give_store(&self, to: u32) -> Result<(), String> {
        let (answer, given) = oneshot::channel();
        let stopping = || "the appliance is stopping".to_owned();
        self.requests.send(Request::Store(StoreAsk::Give { to, answer })).await.map_err(|_| stopping())?;
        given.await.map_err(|_| stopping())?
    }

    /// Takes it again, and journals why.
    pub async fn take_store_back(&self, why: String) {
        let _ = self.requests.send(Request::Store(StoreAsk::TakeBack { why })).await;
    }

    /// Begins to write into a store that was opened [`waiting`](super::store::open_waiting).
    pub async fn begin_writing(&self) {
        let _ = self.requests.send(Request::Store(StoreAsk::Begin)).await;
    }
}
