//! Connections to servers: TCP, the PROXY protocol header where the service wants one, and a count of what was asked over
//! each. TLS and HTTP/2 come on top, in the engine, whose pool can then look at the socket.
//!
//! pingora 0.9.1 tears a tunnel down where the server's 101 is there already when it is first looked for: it then takes
//! the request as finished and the client's side as closed. So for requests that ask for an upgrade the first read after
//! a write always says once that nothing is there yet, and is repeated at once.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use pingora_core::connectors::l4::Connect;
use pingora_core::protocols::l4::socket::SocketAddr;
use pingora_core::protocols::l4::stream::Stream;
use pingora_core::protocols::l4::virt::{VirtualSockOpt, VirtualSocket, VirtualSocketStream};
use pingora_core::protocols::raw_connect::ProxyDigest;
use pingora_core::protocols::{Digest, GetProxyDigest};
use pingora_error::ErrorType::{ConnectError, ConnectTimedout};
use pingora_error::{Error, OrErr, Result};
use pingora_http::ResponseHeader;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

/// How one service is connected to, for one request.
#[derive(Debug)]
pub(super) struct Dial {
    pub connect_timeout: Duration,
    /// What the connection begins with.
    pub proxy_header: Option<Vec<u8>>,
    pub upgrade: bool,
    /// Where it leaves from; `None`: as the system chooses.
    pub source: Option<IpAddr>,
}

/// Requests that were sent over one connection.
#[derive(Debug, Default)]
struct Asked(AtomicU32);

#[derive(Debug)]
struct Socket {
    stream: TcpStream,
    wrote: bool,
}

/// Counts one more request on the connection: how many it has had, this one included.
pub(super) fn asked(digest: Option<&Digest>) -> u32 {
    let data = digest.and_then(|digest| digest.proxy_digest.as_ref()).and_then(|digest| digest.user_data.as_ref());
    let asked = data.and_then(|data| data.downcast_ref::<Asked>());
    asked.map_or(1, |asked| asked.0.fetch_add(1, Ordering::Relaxed).saturating_add(1))
}

/// The time that TLS took on a connection that was just made.
pub(super) fn handshake(digest: Option<&Digest>) -> Option<Duration> {
    let digest = digest.filter(|digest| digest.ssl_digest.is_some())?;
    digest.timing_digest.last()?.as_ref()?.establishment_duration
}

// === impl Dial ===

impl Dial {
    pub fn connector(self) -> Arc<dyn Connect + Send + Sync> {
        Arc::new(self)
    }
}

#[async_trait]
impl Connect for Dial {
    async fn connect(&self, address: &SocketAddr) -> Result<Stream> {
        let Some(address) = address.as_inet() else { return Error::e_explain(ConnectError, "not an IP address") };
        let connecting = async {
            let mut socket = crate::dataplane::connect::open(*address, self.source).await?;
            if let Some(header) = &self.proxy_header {
                socket.write_all(header).await?;
            }
            Ok::<_, io::Error>(socket)
        };
        let connected = tokio::time::timeout(self.connect_timeout, connecting).await;
        let stream = connected.or_err(ConnectTimedout, "connecting")?.or_err(ConnectError, "connecting")?;
        let mut stream: Stream = if self.upgrade {
            VirtualSocketStream::new(Box::new(Socket { stream, wrote: false })).into()
        } else {
            stream.into()
        };
        let head = ResponseHeader::build(200, Some(0))?;
        stream.set_proxy_digest(ProxyDigest::new(Box::new(head), Some(Box::new(Asked::default()))));
        Ok(stream)
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
