//! What the three parts of one client connection tell each other: the task that owns it, the stream that the engine
//! reads and writes, and the hooks that the engine calls for each request.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use http::HeaderValue;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::head::frames::Fault;
use crate::dataplane::Shared;
use crate::dataplane::conn::{ClientInfo, Transport};
use crate::model::ending::{Reason, Who};
use crate::model::id::Name;

/// Idle time-out before the first request has told the vserver's.
const IDLE_AT_FIRST: Duration = Duration::from_secs(60);
/// Malformed requests on one HTTP/2 connection; the frame layer counts its own.
const MALFORMED_MAX: u32 = 32;

/// What ends a whole connection.
struct Ends {
    /// No further request on it.
    closing: watch::Sender<bool>,
    /// Why the client is to be cut off (HTTP/2).
    fault: watch::Sender<Option<Fault>>,
    /// Malformed requests so far (HTTP/2).
    malformed: AtomicU32,
}

pub(super) struct Link {
    pub shared: Arc<Shared>,
    /// `info.client`.
    pub client: SocketAddr,
    pub info: ClientInfo,
    /// The vserver that was addressed.
    pub vserver: Name,
    /// The answer is written: the next request may pass.
    next: AtomicBool,
    /// A client that closes its sending side before its answer has begun has left.
    abort_on_close: AtomicBool,
    /// The answer has begun.
    answering: AtomicBool,
    /// The answer was 101: no more HTTP.
    tunnel: AtomicBool,
    /// Of the connection: streams of one share it.
    ends: Arc<Ends>,
    /// Of one stream of an HTTP/2 connection: the link of the connection.
    connection: Option<Arc<Link>>,
    /// Why what is under way was broken off.
    cut: Mutex<Option<(Who, Reason)>>,
    /// The client owes bytes of a body.
    uploading: AtomicBool,
    /// When bytes of a body last went by, in milliseconds since `began`.
    moved_ms: AtomicU64,
    began: Instant,
    /// The client is to see a reset.
    reset: AtomicBool,
    /// Bytes of the client were left unread: close only after it has had time to read the answer.
    linger: AtomicBool,
    idle_ms: AtomicU64,
    waker: Mutex<Option<Waker>>,
    /// Resolves when the member that is now serving was flushed.
    flushed: Mutex<Option<Pin<Box<dyn Future<Output = Reason> + Send>>>>,
    /// Once the head of an answer goes to the client: the Date that it is to have.
    date: Mutex<Option<Option<HeaderValue>>>,
    /// The connection, once the engine has done with it.
    left: Mutex<Option<Box<dyn Transport>>>,
}

// === impl Link ===

impl Link {
    pub fn new(shared: Arc<Shared>, info: ClientInfo, vserver: Name) -> Link {
        let ends =
            Ends { closing: watch::Sender::new(false), fault: watch::Sender::new(None), malformed: AtomicU32::new(0) };
        Link::with(shared, info, vserver, Arc::new(ends))
    }

    fn with(shared: Arc<Shared>, info: ClientInfo, vserver: Name, ends: Arc<Ends>) -> Link {
        Link {
            shared,
            client: info.client,
            info,
            vserver,
            next: AtomicBool::new(false),
            abort_on_close: AtomicBool::new(false),
            answering: AtomicBool::new(false),
            tunnel: AtomicBool::new(false),
            ends,
            connection: None,
            cut: Mutex::default(),
            uploading: AtomicBool::new(false),
            moved_ms: AtomicU64::new(0),
            began: Instant::now(),
            reset: AtomicBool::new(false),
            linger: AtomicBool::new(false),
            idle_ms: AtomicU64::new(millis(IDLE_AT_FIRST)),
            waker: Mutex::default(),
            flushed: Mutex::default(),
            date: Mutex::default(),
            left: Mutex::default(),
        }
    }

    /// The link of the next stream of an HTTP/2 connection: a request of its own, on a connection that it shares.
    pub fn of_stream(connection: &Arc<Link>) -> Arc<Link> {
        let (shared, vserver) = (Arc::clone(&connection.shared), Arc::clone(&connection.vserver));
        let mut link = Link::with(shared, connection.info.clone(), vserver, Arc::clone(&connection.ends));
        link.set_idle(connection.idle());
        link.connection = Some(Arc::clone(connection));
        Arc::new(link)
    }

    pub fn allow_next(&self) {
        self.next.store(true, Ordering::Release);
        self.wake();
    }

    pub fn take_next(&self) -> bool {
        let next = self.next.swap(false, Ordering::AcqRel);
        if next {
            self.answering.store(false, Ordering::Relaxed);
        }
        next
    }

    /// As the vserver has it.
    pub fn set_abort_on_close(&self, abort: bool) {
        self.abort_on_close.store(abort, Ordering::Relaxed);
    }

    /// Whether a client that closes its sending side now has left.
    pub fn aborts_on_close(&self) -> bool {
        self.abort_on_close.load(Ordering::Relaxed) && !self.answering.load(Ordering::Relaxed)
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
        if let Some(connection) = &self.connection {
            return connection.close();
        }
        self.ends.closing.send_replace(true);
        self.wake();
    }

    pub fn is_closing(&self) -> bool {
        *self.ends.closing.borrow()
    }

    /// Resolves once [`close`](Self::close) was called.
    pub async fn closed(&self) {
        let _ = self.ends.closing.subscribe().wait_for(|closing| *closing).await;
    }

    /// The connection is to be cut, for what the client sent on it (HTTP/2).
    pub fn fault(&self, why: Fault) {
        self.ends.fault.send_if_modified(|fault| fault.replace(why).is_none());
    }

    /// A request on it was malformed (HTTP/2): so many are too many.
    pub fn malformed(&self) {
        if self.ends.malformed.fetch_add(1, Ordering::Relaxed) + 1 >= MALFORMED_MAX {
            self.fault(Fault::Flood("too many malformed requests"));
        }
    }

    /// Resolves once [`fault`](Self::fault) was called.
    pub async fn faulted(&self) -> Fault {
        let mut fault = self.ends.fault.subscribe();
        match fault.wait_for(Option::is_some).await.ok().and_then(|why| *why) {
            Some(why) => why,
            None => std::future::pending().await,
        }
    }

    /// What is under way is broken off; the first reason counts.
    pub fn cut(&self, who: Who, reason: Reason) {
        self.cut.lock().get_or_insert((who, reason));
    }

    /// Why it was, of this stream or of the connection.
    pub fn cut_for(&self) -> Option<(Who, Reason)> {
        let own = *self.cut.lock();
        own.or_else(|| self.connection.as_ref().and_then(|connection| connection.cut_for()))
    }

    /// Bytes of a body went by.
    pub fn moved(&self) {
        self.moved_ms.store(millis(self.began.elapsed()), Ordering::Relaxed);
    }

    /// Whether the client owes (more) bytes of a body.
    pub fn owes_body(&self, owes: bool) {
        self.uploading.store(owes, Ordering::Relaxed);
    }

    pub fn is_owed(&self) -> bool {
        self.uploading.load(Ordering::Relaxed)
    }

    /// Resolves once the client owes bytes of a body and none have gone by for the idle time-out.
    pub async fn stalled(&self) {
        loop {
            let since = Duration::from_millis(self.moved_ms.load(Ordering::Relaxed));
            let quiet = self.began.elapsed().saturating_sub(since);
            if quiet >= self.idle() && self.is_owed() {
                return;
            }
            let left = self.idle().saturating_sub(quiet).clamp(Duration::from_millis(10), Duration::from_secs(3600));
            tokio::time::sleep(left).await;
        }
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

    /// The next head of a final answer is to have this Date, whatever the engine writes (HTTP/1).
    pub fn settle_date(&self, date: Option<&HeaderValue>) {
        self.answering.store(true, Ordering::Relaxed);
        if self.connection.is_none() {
            *self.date.lock() = Some(date.cloned());
        }
    }

    /// A head as the engine wrote it, with the Date that it is to have. `None`: it stands as it is.
    pub fn with_date(&self, head: &[u8]) -> Option<Vec<u8>> {
        let due = &mut *self.date.lock();
        let settled = super::date::settle(head, due.as_ref()?.as_ref().map(HeaderValue::as_bytes))?;
        *due = None;
        Some(settled)
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
