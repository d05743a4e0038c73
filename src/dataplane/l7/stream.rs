//! The client's side of a connection as the engine sees it.
//!
//! Reading goes through the [`Guard`]: the engine gets one valid message at a time, and bytes of the next one only once
//! the answer is written. A head has a time limit as a whole, an idle connection the vserver's time-out; both live
//! here, and so does the answer to a head that is refused. Writing is buffered, so that head and body of an answer
//! leave together; what the engine has written leaves at the latest when it waits for more, so that an answer that comes
//! slowly reaches the client as it comes.
//!
//! A client that closes its sending side while it waits for the first byte of its answer has left, unless the vserver has
//! `abort_on_close` off: then it is still answered (RFC 9112 §9.6). A reset is seen at once.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::dataplane::PARTING;
use crate::dataplane::conn::Transport;

use super::head::{Guard, Refusal};
use super::link::Link;
use super::pages;
use crate::dataplane::ended::Exchange;
use crate::model::ending::{Phase, Reason, Who};

/// Time for a whole head, from its first byte.
pub(super) const HEAD_LIMIT: Duration = Duration::from_secs(10);
/// Bytes of later requests that are read while one is being answered.
const AHEAD_MAX_BYTES: usize = 64 * 1024;
/// One read at most.
const READ_BYTES: usize = 16 * 1024;
/// Bytes written at once at most; more goes straight through.
const WRITE_BUFFER_BYTES: usize = 16 * 1024;

pub(super) struct ClientStream {
    /// Given back to the task that closes it when this is dropped; `None` only then.
    io: Option<Box<dyn Transport>>,
    link: Arc<Link>,
    guard: Guard,
    /// Read, not yet passed by the guard.
    waiting: BytesMut,
    /// Passed, not yet taken by the engine.
    passed: BytesMut,
    /// Not yet written.
    unsent: BytesMut,
    /// Something was written that the transport may still hold.
    unflushed: bool,
    /// The client has closed its sending side.
    ended: bool,
    refused: bool,
    timer: Option<Pin<Box<Sleep>>>,
    /// What the timer runs for.
    timing: Timing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Timing {
    Nothing,
    Idle,
    Head,
    /// In a head, of a connection that is to go.
    Parting,
    Tunnel,
}

// === impl ClientStream ===

impl ClientStream {
    /// `already_read`: bytes that were taken from `io` before.
    pub fn new(io: Box<dyn Transport>, already_read: Bytes, link: Arc<Link>) -> ClientStream {
        ClientStream {
            io: Some(io),
            link,
            guard: Guard::new(),
            waiting: BytesMut::from(already_read),
            passed: BytesMut::new(),
            unsent: BytesMut::new(),
            unflushed: false,
            ended: false,
            refused: false,
            timer: None,
            timing: Timing::Nothing,
        }
    }

    pub fn link(&self) -> &Arc<Link> {
        &self.link
    }

    pub fn fd(&self) -> std::os::fd::RawFd {
        self.io.as_ref().map_or(-1, |io| io.socket().as_raw_fd())
    }

    fn io(&mut self) -> Pin<&mut dyn Transport> {
        Pin::new(&mut **self.io.as_mut().expect("taken in drop only"))
    }

    /// Reads at least a byte into `waiting`, or notes the end.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // On the stack, so that an idle connection holds no buffer.
        let mut scratch = [MaybeUninit::uninit(); READ_BYTES];
        let mut read = ReadBuf::uninit(&mut scratch);
        ready!(self.io().poll_read(cx, &mut read))?;
        self.ended = read.filled().is_empty();
        self.waiting.extend_from_slice(read.filled());
        Poll::Ready(Ok(()))
    }

    /// Reads straight into the engine's buffer, `most` bytes at most.
    fn poll_direct(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>, most: u64) -> Poll<io::Result<usize>> {
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(buf.remaining());
        let mut target = ReadBuf::new(buf.initialize_unfilled_to(most));
        ready!(self.io().poll_read(cx, &mut target))?;
        let read = target.filled().len();
        buf.advance(read);
        Poll::Ready(Ok(read))
    }

    /// What may pass to the engine now, whatever the connection is in.
    fn poll_input(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.refused {
                return self.poll_unsent(cx);
            }
            if !self.passed.is_empty() {
                let taken = self.passed.len().min(buf.remaining());
                buf.put_slice(&self.passed.split_to(taken));
                return Poll::Ready(Ok(()));
            }
            if self.guard.is_done() {
                ready!(self.poll_hold(cx))?;
            } else if self.guard.at_head() {
                if ready!(self.poll_head(cx))? && !self.refused {
                    return Poll::Ready(Ok(()));
                }
            } else if self.guard.is_tunnel() {
                if self.waiting.is_empty() {
                    return self.poll_tunnel(cx, buf);
                }
                self.passed = self.waiting.split();
            } else if let Some(left) = self.guard.length_left().filter(|_| self.waiting.is_empty()) {
                let read = ready!(self.poll_direct(cx, buf, left))?;
                self.guard.took(read);
                return Poll::Ready(Ok(()));
            } else {
                let fed = self.guard.feed(&mut self.waiting, &mut self.passed);
                fed.map_err(|refusal| io::Error::new(io::ErrorKind::InvalidData, refusal.why))?;
                if self.passed.is_empty() && !self.guard.is_done() {
                    if self.ended {
                        return Poll::Ready(Ok(()));
                    }
                    ready!(self.poll_fill(cx))?;
                }
            }
        }
    }

    /// Between two requests or in a head. Ready: something passed, or the connection is at its end (`true`).
    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        loop {
            if let Err(refusal) = self.guard.feed(&mut self.waiting, &mut self.passed) {
                self.refuse(refusal);
                return Poll::Ready(Ok(true));
            }
            if !self.passed.is_empty() {
                self.time(Timing::Nothing, Duration::ZERO);
                return Poll::Ready(Ok(false));
            }
            if self.ended {
                return Poll::Ready(Ok(true));
            }
            let idle = self.waiting.is_empty();
            if idle && self.link.is_closing() {
                return Poll::Ready(Ok(true));
            }
            match self.poll_fill(cx) {
                Poll::Ready(filled) => filled?,
                Poll::Pending => {
                    self.link.wait(cx);
                    // A flag that was raised in between is seen by this.
                    let (timing, limit) = match (idle, self.link.is_closing()) {
                        (true, true) => return Poll::Ready(Ok(true)),
                        (true, false) => (Timing::Idle, self.link.idle()),
                        (false, true) => (Timing::Parting, PARTING),
                        (false, false) => (Timing::Head, HEAD_LIMIT),
                    };
                    self.time(timing, limit);
                    ready!(self.poll_timer(cx));
                    match timing {
                        Timing::Parting => {
                            let reason = self.link.shared.why_parted();
                            self.link.info.conn.ended(Who::Appliance, Phase::Head, reason);
                            // All that came was read: nothing has to be lingered for.
                            self.waiting.clear();
                        }
                        Timing::Head => self.refuse(Refusal { status: 408, why: "head not complete in time" }),
                        _ => self.link.info.conn.ended(Who::Client, Phase::Head, Reason::KeepAliveTimeout),
                    }
                    return Poll::Ready(Ok(true));
                }
            }
        }
    }

    /// The request has passed as a whole: wait for its answer. Ready once something else is to be done.
    fn poll_hold(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            self.link.wait(cx);
            if self.link.is_tunnel() {
                self.guard.tunnel();
                return Poll::Ready(Ok(()));
            }
            if self.link.take_next() {
                self.guard.next();
                return Poll::Ready(Ok(()));
            }
            if self.ended && self.link.aborts_on_close() {
                return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
            }
            // Read ahead within bounds: it is how a reset is noticed, and an end.
            if self.ended || self.waiting.len() >= AHEAD_MAX_BYTES {
                return Poll::Pending;
            }
            ready!(self.poll_fill(cx))?;
        }
    }

    /// After 101: bytes both ways, and one idle time-out for both.
    fn poll_tunnel(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.poll_direct(cx, buf, u64::MAX) {
            Poll::Ready(read) => {
                self.time(Timing::Nothing, Duration::ZERO);
                Poll::Ready(read.map(|_| ()))
            }
            Poll::Pending => {
                self.time(Timing::Tunnel, self.link.idle());
                ready!(self.poll_timer(cx));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }

    /// Answers a head that did not pass; the engine never learns of it.
    fn refuse(&mut self, refusal: Refusal) {
        tracing::debug!(client = %self.link.client, vserver = &*self.link.vserver, status = refusal.status,
            why = refusal.why, "request refused");
        let exchange = Exchange::begin(&self.link.info.conn, std::time::Instant::now());
        let page = pages::refusal(refusal, &exchange.id());
        exchange.told(pages::body_length(&page));
        exchange.end(Who::Client, refusal.reason(), refusal.status);
        self.refused = true;
        self.link.linger();
        self.unsent.extend_from_slice(&page);
    }

    fn time(&mut self, timing: Timing, limit: Duration) {
        if self.timing == timing {
            return;
        }
        self.timing = timing;
        if timing == Timing::Nothing {
            return;
        }
        let deadline = Instant::now() + limit.min(Duration::from_secs(365 * 86_400));
        match &mut self.timer {
            Some(timer) => timer.as_mut().reset(deadline),
            None => self.timer = Some(Box::pin(tokio::time::sleep_until(deadline))),
        }
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.timer.as_mut().map_or(Poll::Pending, |timer| timer.as_mut().poll(cx))
    }

    fn poll_unsent(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let io = Pin::new(&mut **self.io.as_mut().expect("taken in drop only"));
        ready!(write_out(io, cx, &mut self.unsent, &mut self.unflushed))?;
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let input = this.poll_input(cx, buf);
        // The engine reads on while it waits for the rest of an answer, and never flushes one of known length before its
        // end: this is where it has nothing more to add for now.
        if input.is_pending()
            && let Poll::Ready(Err(error)) = this.poll_unsent(cx)
        {
            return Poll::Ready(Err(error));
        }
        input
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.timing == Timing::Tunnel {
            // Traffic in this direction keeps the tunnel alive as well.
            this.time(Timing::Nothing, Duration::ZERO);
            this.time(Timing::Tunnel, this.link.idle());
        }
        if let Some(head) = this.link.with_date(data) {
            this.unsent.extend_from_slice(&head);
            return Poll::Ready(Ok(data.len()));
        }
        if this.unsent.len() + data.len() <= WRITE_BUFFER_BYTES {
            this.unsent.extend_from_slice(data);
            return Poll::Ready(Ok(data.len()));
        }
        ready!(this.poll_unsent(cx))?;
        this.unflushed = true;
        this.io().poll_write(cx, data)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_unsent(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.link.is_reset() {
            return Poll::Ready(Ok(()));
        }
        ready!(this.poll_unsent(cx))?;
        let _ = ready!(this.io().poll_shutdown(cx));
        Poll::Ready(Ok(()))
    }
}

impl Drop for ClientStream {
    fn drop(&mut self) {
        // A close with unread bytes is a reset, which could overtake the answer. Behind an answer that ends the
        // connection a further request may be on its way, unless the client is idle.
        let between = self.guard.at_head() || self.guard.is_tunnel();
        let idle = between && self.waiting.is_empty();
        let must_go = self.guard.is_done() && self.link.shared.is_ending();
        if !(self.ended || idle || must_go) {
            self.link.linger();
        }
        if let Some(io) = self.io.take() {
            self.link.leave(io);
        }
    }
}

/// Writes all of `unsent` and flushes what the transport holds (TLS keeps records that the socket did not take).
fn write_out(
    mut io: Pin<&mut dyn Transport>,
    cx: &mut Context<'_>,
    unsent: &mut BytesMut,
    unflushed: &mut bool,
) -> Poll<io::Result<()>> {
    while !unsent.is_empty() {
        let written = ready!(io.as_mut().poll_write(cx, unsent))?;
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        unsent.advance(written);
        *unflushed = true;
    }
    if *unflushed {
        ready!(io.poll_flush(cx))?;
        *unflushed = false;
    }
    Poll::Ready(Ok(()))
}

impl std::fmt::Debug for ClientStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientStream").field("link", &self.link).finish_non_exhaustive()
    }
}
