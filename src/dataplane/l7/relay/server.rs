//! Connections to servers.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::dataplane::conn::Stream;

/// A connection to a server over which answers were read to their end, or none yet.
#[derive(Debug)]
pub(super) struct Server {
    stream: Stream,
    /// Requests that it has carried.
    pub requests: u32,
    /// It was made for one client, and is never used for another.
    pub is_the_clients: bool,
}

// === impl Server ===

impl Server {
    pub fn new(stream: Stream, is_the_clients: bool) -> Server {
        Server { stream, requests: 0, is_the_clients }
    }

    /// Whether it can be used again: nothing came while it was idle, no end either. Asks the kernel only where there is
    /// news.
    pub fn is_quiet(&mut self) -> bool {
        let mut scrap = [0; 1];
        let mut cx = Context::from_waker(Waker::noop());
        self.poll_read(&mut cx, &mut scrap).is_pending()
    }

    /// The same, asking the kernel in any case. Under TLS there may be news that are none.
    pub fn is_quiet_now(&mut self) -> bool {
        if let Stream::Plain(stream) = &self.stream {
            let peeked = socket2::SockRef::from(stream).peek(&mut [std::mem::MaybeUninit::uninit(); 1]);
            if !peeked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                return false;
            }
        }
        self.is_quiet()
    }

    pub fn poll_read(&mut self, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buf = ReadBuf::new(room);
        let read = Pin::new(&mut self.stream).poll_read(cx, &mut buf);
        read.map_ok(|()| buf.filled().len())
    }

    pub fn poll_write(&mut self, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, data)
    }

    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }
}
