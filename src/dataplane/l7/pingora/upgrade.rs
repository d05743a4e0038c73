//! Connections to servers for requests that ask for an upgrade.
//!
//! pingora 0.9.1 tears a tunnel down where the server's 101 is there already when it is first looked for: it then takes
//! the request as finished and the client's side as closed. So the first read after a write always says once that
//! nothing is there yet, and is repeated at once.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use pingora_core::connectors::l4::Connect;
use pingora_core::protocols::l4::socket::SocketAddr;
use pingora_core::protocols::l4::stream::Stream;
use pingora_core::protocols::l4::virt::{VirtualSockOpt, VirtualSocket, VirtualSocketStream};
use pingora_error::ErrorType::{ConnectError, ConnectTimedout};
use pingora_error::{Error, OrErr, Result};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Connects for upgrades.
#[derive(Debug)]
pub(super) struct Upgrade {
    pub connect_timeout: Duration,
}

#[derive(Debug)]
struct Socket {
    stream: TcpStream,
    wrote: bool,
}

// === impl Upgrade ===

impl Upgrade {
    pub fn connector(self) -> Arc<dyn Connect + Send + Sync> {
        Arc::new(self)
    }
}

#[async_trait]
impl Connect for Upgrade {
    async fn connect(&self, address: &SocketAddr) -> Result<Stream> {
        let Some(address) = address.as_inet() else { return Error::e_explain(ConnectError, "not an IP address") };
        let connected = tokio::time::timeout(self.connect_timeout, TcpStream::connect(address)).await;
        let stream = connected.or_err(ConnectTimedout, "connecting")?.or_err(ConnectError, "connecting")?;
        Ok(VirtualSocketStream::new(Box::new(Socket { stream, wrote: false })).into())
    }
}

// === impl Socket ===

impl VirtualSocket for Socket {
    fn set_socket_option(&self, option: VirtualSockOpt) -> io::Result<()> {
        match option {
            VirtualSockOpt::NoDelay => self.stream.set_nodelay(true),
            _ => Ok(()),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if std::mem::take(&mut self.wrote) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.wrote = true;
        Pin::new(&mut self.stream).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
