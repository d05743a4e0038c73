//! Carries out what the writer may not wait for: deliveries of triggers and the queries of guards, on a thread of its
//! own. Nothing is decided here: what goes and when is said by [`machine::outbox`](crate::machine::outbox), and what an
//! answer means for a commit by the scenario.

mod guard;
mod http;
pub(in crate::control) mod sign;
mod sql;
mod syslog;

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::clock::Clock;
use crate::model::delivery::{Delivery, Failure};
use crate::model::event::GuardVerdict;
use crate::model::id::Name;
use crate::model::scenario::{Query, Trigger, TriggerKind};
use crate::probe::Surroundings;
use crate::probe::call::Caller;

/// What is carried out.
#[derive(Clone, Debug)]
pub enum Errand {
    /// One attempt.
    Deliver { delivery: Delivery, trigger: Arc<Trigger> },
    /// All queries of a guard, with their retries.
    Ask(Asking),
    /// The attempt of this scenario is over: its queries end.
    Drop { scenario: Name, attempt: u64 },
}

/// The queries of one attempt of a guard.
#[derive(Clone, Debug)]
pub struct Asking {
    pub scenario: Name,
    pub attempt: u64,
    pub queries: Vec<Query>,
    /// One try; a query's own time-out holds where it is shorter.
    pub timeout: std::time::Duration,
    /// Further tries of each query that could not tell.
    pub retries: u32,
    pub backoff: std::time::Duration,
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum Returned {
    Delivered {
        id: u64,
        result: Result<(), Failure>,
    },
    /// One try of a query.
    Tried {
        query: Name,
        verdict: GuardVerdict,
        detail: Name,
        took: std::time::Duration,
    },
    /// All queries of an attempt.
    Asked {
        scenario: Name,
        attempt: u64,
        verdict: GuardVerdict,
        detail: Name,
    },
}

/// The writer's end. What waits is bounded by the outbox (attempts at once) and by one attempt for each guard.
pub struct Courier {
    errands: mpsc::UnboundedSender<Errand>,
}

#[derive(Clone)]
struct Shared {
    caller: Arc<Caller>,
    clock: Clock,
    returned: mpsc::Sender<Returned>,
}

// === impl Courier ===

impl Courier {
    /// Ends with the last handle, and with it what is under way: after a restart it goes out again, with the same keys.
    pub fn start(surroundings: Surroundings, clock: Clock, returned: mpsc::Sender<Returned>) -> io::Result<Courier> {
        // What can wait has its bounds elsewhere (see `Courier`), and the writer must not wait for a place.
        #[allow(clippy::disallowed_methods, reason = "bounded by the outbox and by the guards")]
        let (errands, queue) = mpsc::unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().thread_name("bascule-call").build()?;
        std::thread::Builder::new().name("bascule-courier".to_owned()).spawn(move || {
            let shared = Shared { caller: Arc::new(Caller::new(surroundings)), clock, returned };
            runtime.block_on(run(shared, queue));
            runtime.shutdown_background();
        })?;
        Ok(Courier { errands })
    }

    /// Never waits.
    pub fn send(&self, errand: Errand) {
        // The thread ends only after this sender is gone.
        let _ = self.errands.send(errand);
    }
}

async fn run(shared: Shared, mut errands: mpsc::UnboundedReceiver<Errand>) {
    let mut asking: HashMap<Name, (u64, AbortHandle)> = HashMap::new();
    while let Some(errand) = errands.recv().await {
        match errand {
            Errand::Deliver { delivery, trigger } => {
                let shared = shared.clone();
                tokio::spawn(async move {
                    let id = delivery.id;
                    let (caller, at) = (Arc::clone(&shared.caller), shared.clock.now().wall);
                    // A panic ends the attempt, not the outbox.
                    let attempt = tokio::spawn(async move { deliver(&caller, at, &delivery, &trigger).await });
                    let result = attempt.await.unwrap_or_else(|_| Err(failure("the attempt ended by a bug", false)));
                    let _ = shared.returned.send(Returned::Delivered { id, result }).await;
                });
            }
            Errand::Ask(ask) => {
                let (scenario, attempt) = (Name::clone(&ask.scenario), ask.attempt);
                let task = tokio::spawn(guard::ask(shared.clone(), ask));
                if let Some((_, before)) = asking.insert(scenario, (attempt, task.abort_handle())) {
                    before.abort();
                }
            }
            Errand::Drop { scenario, attempt } => {
                if let Some((of, task)) = asking.get(&scenario)
                    && *of == attempt
                {
                    task.abort();
                    asking.remove(&scenario);
                }
            }
        }
    }
}

async fn deliver(
    caller: &Caller,
    at: crate::model::time::Wall,
    delivery: &Delivery,
    trigger: &Trigger,
) -> Result<(), Failure> {
    match &trigger.kind {
        TriggerKind::Http { .. } => http::deliver(caller, at, delivery, trigger).await,
        TriggerKind::Sql { .. } => sql::deliver(caller.surroundings(), delivery, trigger).await,
        TriggerKind::Syslog { syslog, body } => syslog::deliver(delivery, syslog, body.as_ref(), trigger.timeout).await,
    }
}

fn failure(why: &str, endpoint: bool) -> Failure {
    Failure { why: why.into(), retry_after: None, endpoint }
}
