//! The end of a process that another one has followed: it has the sockets, and this one has the connections.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::oneshot;

use super::handed::Socket;
use super::{Dataplane, Shared};

/// What of the time of a leave is left to those that are idle at its end.
const IDLE_CLOSE: Duration = Duration::from_secs(1);

// === impl Dataplane ===

impl Dataplane {
    /// The sockets of all VIPs, for another process; they go on here.
    pub async fn sockets(&self) -> Vec<Socket> {
        let (answer, sockets) = oneshot::channel();
        let _ = self.asks.send(answer).await;
        sockets.await.unwrap_or_default()
    }

    /// Another process accepts on the sockets by now: accepts nothing more, and tells each client with its next answer that
    /// its connection ends. An idle one is left alone until `limit` is nearly over, since a request may be on its way on
    /// it at any moment. Returns as [`drain`](Self::drain) does.
    pub async fn leave(self, limit: Duration) {
        self.leaving.send_replace(true);
        let last = IDLE_CLOSE.min(limit);
        let _ = tokio::time::timeout(limit - last, self.shared.all_closed()).await;
        self.drain(last).await;
    }
}

// === impl Shared ===

impl Shared {
    /// Returns once no connection is open.
    pub(super) async fn all_closed(&self) {
        loop {
            let idle = self.idle.notified();
            tokio::pin!(idle);
            // Registered before the count is read, so that the last close in between is not missed.
            idle.as_mut().enable();
            if self.open.load(Ordering::SeqCst) == 0 {
                return;
            }
            idle.await;
        }
    }
}
