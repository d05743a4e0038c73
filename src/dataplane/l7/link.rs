//! What the three parts of one client connection tell each other: the task that owns it, the stream that the engine
//! reads and writes, and the hooks that the engine calls for each request.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;

use crate::dataplane::Shared;
use crate::dataplane::conn::{ClientInfo, Transport};
use crate::model::ending::Reason;
use crate::model::id::Name;

/// Idle time-out before the first request has told the vserver's.
const IDLE_AT_FIRST: Duration = Duration::from_secs(60);

pub(super) struct Link {
    pub shared: Arc<Shared>,
    /// `info.client`.
    pub client: SocketAddr,
    pub info: ClientInfo,
    /// The vserver that was addressed.
    pub vserver: Name,
    /// The answer is written: the next request may pass.
    next: AtomicBool,
    /// The answer was 101: no more HTTP.
    tunnel: AtomicBool,
    /// No further request on this connection.
    closing: AtomicBool,
    /// The client is to see a reset.
    reset: AtomicBool,
    /// Bytes of the client were left unread: close only after it has had time to read the answer.
    linger: AtomicBool,
    idle_ms: AtomicU64,
    waker: Mutex<Option<Waker>>,
    /// Resolves when the member that is now serving was flushed.
    flushed: Mutex<Option<Pin<Box<dyn Future<Output = Reason> + Send>>>>,
    /// The connection, once the engine has done with it.
    left: Mutex<Option<Box<dyn Transport>>>,
}

// === impl Link ===

impl Link {
    pub fn new(shared: Arc<Shared>, info: ClientInfo, vserver: Name) -> Link {
        Link {
            shared,
            client: info.client,
            info,
            vserver,
            next: AtomicBool::new(false),
            tunnel: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            reset: AtomicBool::new(false),
            linger: AtomicBool::new(false),
            idle_ms: AtomicU64::new(millis(IDLE_AT_FIRST)),
            waker: Mutex::default(),
            flushed: Mutex::default(),
            left: Mutex::default(),
        }
    }

    pub fn allow_next(&self) {
        self.next.store(true, Ordering::Release);
        self.wake();
    }

    pub fn take_next(&self) -> bool {
        self.next.swap(false, Ordering::AcqRel)
    }

    pub fn open_tunnel(&self) {
        self.tunnel.store(true, Ordering::Release);
        self.wake();
    }

    pub fn is_tunnel(&self) -> bool {
        self.tunnel.load(Ordering::Acquire)
    }

    /// What is in flight is answered, then the connection ends; at once where it is idle.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.wake();
    }

    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    pub fn reset(&self) {
        self.reset.store(true, Ordering::Release);
    }

    pub fn is_reset(&self) -> bool {
        self.reset.load(Ordering::Acquire)
    }

    pub fn linger(&self) {
        self.linger.store(true, Ordering::Release);
    }

    pub fn lingers(&self) -> bool {
        self.linger.load(Ordering::Acquire)
    }

    pub fn set_idle(&self, idle: Duration) {
        self.idle_ms.store(millis(idle), Ordering::Relaxed);
    }

    pub fn idle(&self) -> Duration {
        Duration::from_millis(self.idle_ms.load(Ordering::Relaxed))
    }

    /// The stream waits for one of the flags.
    pub fn wait(&self, cx: &Context<'_>) {
        *self.waker.lock() = Some(cx.waker().clone());
    }

    pub fn serve(&self, flushed: impl Future<Output = Reason> + Send + 'static) {
        *self.flushed.lock() = Some(Box::pin(flushed));
    }

    pub fn served(&self) {
        *self.flushed.lock() = None;
    }

    pub fn poll_flushed(&self, cx: &mut Context<'_>) -> Poll<Reason> {
        match &mut *self.flushed.lock() {
            Some(flushed) => flushed.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }

    pub fn leave(&self, io: Box<dyn Transport>) {
        *self.left.lock() = Some(io);
    }

    pub fn take_left(&self) -> Option<Box<dyn Transport>> {
        self.left.lock().take()
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.lock().take() {
            waker.wake();
        }
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("client", &self.client).field("vserver", &self.vserver).finish_non_exhaustive()
    }
}

fn millis(d: Duration) -> u64 {
    u64::try_from(d.as_millis()).unwrap_or(u64::MAX)
}
