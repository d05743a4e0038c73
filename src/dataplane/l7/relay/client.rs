//! The client's side: its stream, what was read of it, its time limits, and what may end it from outside.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::ReadBuf;

use super::buffer::Buffer;
use super::clock::Timer;
use super::signals::Signals;
use crate::dataplane::conn::{ClientInfo, Transport};
use crate::dataplane::l7::head::http2::is_preface;
use crate::dataplane::l7::head::scan::Scan;
use crate::dataplane::l7::head::{HEAD_MAX_BYTES, Refusal};
use crate::dataplane::{PARTING, Shared};
use crate::model::ending::{Phase, Reason, Who};
use crate::model::id::Name;

/// Time for a whole head, from its first byte.
const HEAD_LIMIT: Duration = Duration::from_secs(10);

pub(super) struct Client<S> {
    pub shared: Arc<Shared>,
    pub info: Arc<ClientInfo>,
    /// The vserver that was addressed.
    pub vserver: Name,
    pub stream: S,
    /// Read, and not yet done with. `None` while there is nothing.
    pub input: Option<Buffer>,
    /// It has closed its sending side.
    pub ended: bool,
    /// Something was written that the transport may still hold.
    pub unflushed: bool,
    pub timer: Timer,
    /// It may begin with the preface of HTTP/2 (prior knowledge).
    pub may_be_http2: bool,
    /// When the first byte of the last request was there.
    pub began: Instant,
    /// When its head was complete.
    pub complete: Instant,
    /// The vserver's idle time-out of clients.
    pub limit: Duration,
    /// It is to go: for the rest of a head that it has begun there is little time.
    pub parting: bool,
    pub signals: Signals,
}

/// What comes of waiting for a request.
pub(super) enum Next {
    /// A head of so many bytes stands at the beginning of the input.
    Head(usize),
    Refused(Refusal),
    /// The preface of HTTP/2 stands at the beginning of the input.
    Http2,
    /// No further request: an end of the client, its idle time-out, or the end of the process.
    End,
    /// A flush, or the limit of the drain.
    Cut,
}

/// What ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Cut,
    TimedOut,
}

// === impl Client ===

impl<S> Client<S> {
    /// What was read, and is not yet done with.
    pub fn input(&self) -> &[u8] {
        self.input.as_ref().map_or(&[], Buffer::data)
    }

    /// Is done with the first `count` bytes of the input.
    pub fn consume(&mut self, count: usize) {
        if let Some(input) = &mut self.input {
            input.consume(count);
            if input.is_empty() {
                self.input = None;
            }
        }
    }
}

impl<S: Transport> Client<S> {
    /// Waits for the head of the next request.
    pub async fn next(&mut self) -> Next {
        let mut scan = Scan::default();
        let (mut seen, mut begun) = (false, false);
        self.timer.set(Some(self.limit));
        loop {
            if !seen && !self.input().is_empty() {
                seen = true;
                self.began = Instant::now();
            }
            let input = self.input();
            if self.may_be_http2 && !input.is_empty() {
                match is_preface(input) {
                    Some(true) => return Next::Http2,
                    // Not settled; an end of the client does.
                    None if !self.ended => {}
                    Some(false) | None => self.may_be_http2 = false,
                }
            }
            if !self.may_be_http2 && scan.is_blank_before(self.input()) {
                self.consume(2);
            }
            let input = self.input();
            let end = if self.may_be_http2 { Ok(None) } else { scan.end(input) };
            match end {
                Err(refusal) => return Next::Refused(refusal),
                Ok(Some(end)) => {
                    // Mostly one read brings all of it.
                    self.complete = if begun { Instant::now() } else { self.began };
                    return Next::Head(end);
                }
                Ok(None) => {}
            }
            if input.is_empty() {
                // An idle connection holds no buffer.
                self.input = None;
            } else if !begun {
                begun = true;
                self.timer.set(Some(HEAD_LIMIT));
            }
            if self.ended {
                return Next::End;
            }
            match std::future::poll_fn(|cx| self.poll_more(cx)).await {
                Ok(Ok(_)) => {}
                Ok(Err(_)) => return Next::End,
                Err(Stop::Cut) => return Next::Cut,
                Err(Stop::TimedOut) if self.parting => {
                    self.info.conn.ended(Who::Appliance, Phase::Head, self.shared.why_parted());
                    return Next::End;
                }
                Err(Stop::TimedOut) if begun => {
                    return Next::Refused(Refusal { status: 408, why: "head not complete in time" });
                }
                Err(Stop::TimedOut) => {
                    self.info.conn.ended(Who::Client, Phase::Head, Reason::KeepAliveTimeout);
                    return Next::End;
                }
            }
        }
    }

    /// Reads a part of a head.
    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<Result<io::Result<usize>, Stop>> {
        let idle = self.input.is_none();
        if idle && self.signals.is_closing() {
            self.ended = true;
            return Poll::Ready(Ok(Ok(0)));
        }
        if let Some(input) = &mut self.input
            && input.room().is_empty()
        {
            input.grow(HEAD_MAX_BYTES + 1);
        }
        if let Poll::Ready(read) = self.poll_read(cx) {
            return Poll::Ready(Ok(read));
        }
        if idle {
            self.input = None;
        }
        match self.poll_stop(cx) {
            Poll::Ready(stop) => Poll::Ready(Err(stop)),
            Poll::Pending if !self.signals.is_closing() => Poll::Pending,
            Poll::Pending if idle => {
                self.ended = true;
                Poll::Ready(Ok(Ok(0)))
            }
            Poll::Pending => self.poll_parting(cx).map(Err),
        }
    }

    /// In a head, of a connection that is to go.
    fn poll_parting(&mut self, cx: &mut Context<'_>) -> Poll<Stop> {
        if !self.parting {
            self.parting = true;
            self.timer.set(Some(PARTING));
        }
        self.poll_stop(cx)
    }

    /// Reads into what room the input has; notes an end.
    pub fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let input = self.input.get_or_insert_with(Buffer::new);
        let mut buf = ReadBuf::new(input.room());
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buf))?;
        let read = buf.filled().len();
        input.filled(read);
        self.ended = read == 0;
        Poll::Ready(Ok(read))
    }

    pub fn poll_write(&mut self, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, data))?;
        self.unflushed = true;
        if written == 0 { Poll::Ready(Err(io::ErrorKind::WriteZero.into())) } else { Poll::Ready(Ok(written)) }
    }

    /// Ready once the transport holds nothing back (TLS keeps records that the socket did not take).
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.unflushed {
            ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    /// What ends the wait, where nothing else does.
    pub fn poll_stop(&mut self, cx: &mut Context<'_>) -> Poll<Stop> {
        poll_stop(&mut self.signals, &mut self.timer, &self.info, cx)
    }

    /// Writes all of it. False where the client did not take it.
    pub async fn send(&mut self, mut out: Buffer) -> bool {
        self.timer.set(Some(self.limit));
        let sent = std::future::poll_fn(|cx| {
            loop {
                let progress =
                    if out.is_empty() { self.poll_flush(cx).map_ok(|()| 0) } else { self.poll_write(cx, out.data()) };
                match progress {
                    Poll::Ready(Ok(0)) => return Poll::Ready(true),
                    Poll::Ready(Ok(written)) => out.consume(written),
                    Poll::Ready(Err(_)) => return Poll::Ready(false),
                    Poll::Pending => return self.poll_stop(cx).map(|_| false),
                }
            }
        });
        sent.await
    }
}

/// [`Client::poll_stop`] of one whose stream is looked at meanwhile.
pub(super) fn poll_stop(
    signals: &mut Signals,
    timer: &mut Timer,
    info: &ClientInfo,
    cx: &mut Context<'_>,
) -> Poll<Stop> {
    if signals.poll_cut(&info.conn.entry, cx) {
        return Poll::Ready(Stop::Cut);
    }
    if timer.is_over(cx) { Poll::Ready(Stop::TimedOut) } else { Poll::Pending }
}
