//! What ends a connection from outside: the end of the process, flushes, and administrators.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::watch;

use crate::dataplane::{Shared, raised};
use crate::model::ending::Reason;
use crate::snapshot::live::{Connection, Flush};

type Signal<T = ()> = Pin<Box<dyn Future<Output = T> + Send + Sync>>;

pub(super) struct Signals {
    /// The limit of the process's drain is over.
    killed: Signal,
    /// The process drains, or the VIP was flushed; `None` once it was seen.
    closing: Option<Signal>,
    /// The member that is serving now was flushed.
    flushed: Option<Signal<Reason>>,
}

// === impl Signals ===

impl Signals {
    /// `flush`: of the vserver that was addressed.
    pub fn new(shared: &Shared, flush: Option<watch::Receiver<Flush>>) -> Signals {
        let drain = shared.drain.clone();
        let closing = async move {
            tokio::select! {
                () = raised(drain) => {}
                // The VIP went down under its own `downStateFlush`: what its members do for it is cut by `flushed`.
                () = bumped(flush) => {}
            }
        };
        Signals { killed: Box::pin(raised(shared.kill.clone())), closing: Some(Box::pin(closing)), flushed: None }
    }

    /// No further request on this connection. Known only after [`poll_cut`](Self::poll_cut).
    pub fn is_closing(&self) -> bool {
        self.closing.is_none()
    }

    /// No further request, by a decision of ours.
    pub fn close(&mut self) {
        self.closing = None;
    }

    pub fn serve(&mut self, flushed: impl Future<Output = Reason> + Send + Sync + 'static) {
        self.flushed = Some(Box::pin(flushed));
    }

    pub fn served(&mut self) {
        self.flushed = None;
    }

    /// Whether everything ends now; `entry` then says why. Where it does not, the task is woken when it does, and when the
    /// connection is to end after what is in flight.
    pub fn poll_cut(&mut self, entry: &Connection, cx: &mut Context<'_>) -> bool {
        if self.closing.as_mut().is_some_and(|closing| closing.as_mut().poll(cx).is_ready()) {
            self.closing = None;
        }
        if let Some(Poll::Ready(reason)) = self.flushed.as_mut().map(|flushed| flushed.as_mut().poll(cx)) {
            self.flushed = None;
            entry.cut(reason);
        }
        if entry.cut_for().is_none() && self.killed.as_mut().poll(cx).is_ready() {
            entry.cut(Reason::Shutdown);
        }
        entry.poll_cut(cx).is_ready()
    }
}

async fn bumped(flush: Option<watch::Receiver<Flush>>) {
    if let Some(mut flush) = flush
        && flush.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}
