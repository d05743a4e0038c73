//! The client's side of an HTTP/2 connection: its bytes as they are, with the frames metered.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::dataplane::conn::Transport;
use crate::dataplane::l7::head::frames::Meter;
use crate::dataplane::l7::link::Link;

pub(in crate::dataplane::l7::pingora) struct Http2Stream {
    /// Given back to the task that closes it when this is dropped; `None` only then.
    io: Option<Box<dyn Transport>>,
    link: Arc<Link>,
    /// Read before, not yet taken by the engine.
    already_read: Bytes,
    meter: Meter,
    began: Instant,
}

// === impl Http2Stream ===

impl Http2Stream {
    pub fn new(io: Box<dyn Transport>, already_read: Bytes, link: Arc<Link>) -> Http2Stream {
        Http2Stream { io: Some(io), link, already_read, meter: Meter::new(), began: Instant::now() }
    }

    pub fn fd(&self) -> RawFd {
        self.io.as_ref().map_or(-1, |io| io.socket().as_raw_fd())
    }

    fn io(&mut self) -> Pin<&mut dyn Transport> {
        Pin::new(&mut **self.io.as_mut().expect("taken in drop only"))
    }
}

impl AsyncRead for Http2Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        if this.already_read.is_empty() {
            ready!(this.io().poll_read(cx, buf))?;
        } else {
            let taken = this.already_read.len().min(buf.remaining());
            buf.put_slice(&this.already_read[..taken]);
            this.already_read.advance(taken);
        }
        if let Err(fault) = this.meter.read(&buf.filled()[before..], this.began.elapsed()) {
            this.link.fault(fault);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Http2Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().io().poll_write(cx, data)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().io().poll_write_vectored(cx, data)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.as_ref().is_some_and(|io| io.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().io().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.link.is_reset() {
            return Poll::Ready(Ok(()));
        }
        this.io().poll_shutdown(cx)
    }
}

impl Drop for Http2Stream {
    fn drop(&mut self) {
        if let Some(io) = self.io.take() {
            self.link.leave(io);
        }
    }
}

impl std::fmt::Debug for Http2Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http2Stream").field("link", &self.link).finish_non_exhaustive()
    }
}
