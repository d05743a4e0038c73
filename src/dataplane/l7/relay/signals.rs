//! What ends a connection from outside: the end of the process, flushes, and administrators.
//!
//! Asked at every wait, and hardly ever to be told anything, so asking is a few loads: everything here sleeps
//! [aside](Aside) and is asked for itself only where it was woken, and the wait for the flush of a member outlives its
//! request, as the next one mostly goes to the same.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::sync::watch;

use crate::dataplane::aside::Aside;
use crate::dataplane::member::Flushes;
use crate::dataplane::{Shared, raised};
use crate::model::ending::Reason;
use crate::snapshot::live::{Connection, Flush};

type Signal<T = ()> = Pin<Box<dyn Future<Output = T> + Send + Sync>>;

pub(super) struct Signals {
    outside: Aside<Outside>,
    closing: bool,
    /// The wait for the flush of the member that serves, or served last.
    flushed: Option<(Flushes, Aside<Signal<Reason>>)>,
    /// A member is serving.
    serving: bool,
    /// Whom the table of connections wakes, again: compared without its lock.
    wakes: Waker,
}

/// What the process and the vserver say.
struct Outside {
    /// The process drains, or the VIP was flushed; `None` once it was seen.
    closing: Option<Signal>,
    /// The limit of the process's drain is over.
    killed: Signal,
}

enum Said {
    Closing,
    Killed,
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
        let outside = Outside { closing: Some(Box::pin(closing)), killed: Box::pin(raised(shared.kill.clone())) };
        Signals {
            outside: Aside::new(outside),
            closing: false,
            flushed: None,
            serving: false,
            wakes: Waker::noop().clone(),
        }
    }

    /// No further request on this connection. Known only after [`poll_cut`](Self::poll_cut).
    pub fn is_closing(&self) -> bool {
        self.closing
    }

    /// No further request, by a decision of ours.
    pub fn close(&mut self) {
        self.closing = true;
    }

    /// Work that these flushes end is under way.
    pub fn serve(&mut self, flushes: &Flushes) {
        self.serving = true;
        if self.flushed.as_ref().is_none_or(|(waited, _)| waited != flushes) {
            self.flushed = Some((flushes.clone(), Aside::new(Box::pin(flushes.flushed()) as Signal<Reason>)));
        }
    }

    pub fn served(&mut self) {
        self.serving = false;
    }

    /// Whether everything ends now; `entry` then says why. Where it does not, the task is woken when it does, and when the
    /// connection is to end after what is in flight.
    pub fn poll_cut(&mut self, entry: &Connection, cx: &mut Context<'_>) -> bool {
        if !self.wakes.will_wake(cx.waker()) {
            self.wakes.clone_from(cx.waker());
            // Leaves the waker there.
            let _ = entry.poll_cut(cx);
        }
        if entry.cut_for().is_some() {
            return true;
        }
        if self.serving
            && let Some((_, flushed)) = &mut self.flushed
            && let Poll::Ready(reason) = flushed.poll(cx)
        {
            self.flushed = None;
            entry.cut(reason);
            return true;
        }
        while let Poll::Ready(said) = self.outside.poll(cx) {
            self.closing = true;
            if matches!(said, Said::Killed) {
                entry.cut(Reason::Shutdown);
                return true;
            }
        }
        false
    }
}

impl Future for Outside {
    type Output = Said;

    /// Can be asked again after `Closing`.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Said> {
        if let Some(closing) = &mut self.closing
            && closing.as_mut().poll(cx).is_ready()
        {
            self.closing = None;
            // The other one was not asked yet.
            cx.waker().wake_by_ref();
            return Poll::Ready(Said::Closing);
        }
        self.killed.as_mut().poll(cx).map(|()| Said::Killed)
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
