//! Connections to servers that pingora does not make by itself: those through TLS, those that begin with a PROXY protocol
//! header, and those for requests that ask for an upgrade. For pingora they are plain streams.
//!
//! pingora 0.9.1 tears a tunnel down where the server's 101 is there already when it is first looked for: it then takes
//! the request as finished and the client's side as closed. So the first read after a write always says once that
//! nothing is there yet, and is repeated at once.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use pingora_core::connectors::l4::Connect;
use pingora_core::protocols::l4::socket::SocketAddr;
use pingora_core::protocols::l4::stream::Stream;
use pingora_core::protocols::l4::virt::{VirtualSockOpt, VirtualSocket, VirtualSocketStream};
use pingora_error::ErrorType::{ConnectError, ConnectTimedout, TLSHandshakeFailure};
use pingora_error::{Error, Result};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::dataplane::conn::{self, Transport};
use crate::dataplane::connect::connect;
use crate::dataplane::l7::link::Link;
use crate::model::ending::Reason;
use crate::model::id::ServiceId;
use crate::snapshot::Snapshot;

/// Connects by our own way.
pub(super) struct Own {
    pub link: Arc<Link>,
    pub snapshot: Arc<Snapshot>,
    pub service: ServiceId,
    /// Whom the request asks for.
    pub host: Option<String>,
    pub upgrade: bool,
}

#[derive(Debug)]
struct Socket {
    stream: conn::Stream,
    /// See above.
    hesitates: bool,
    wrote: bool,
}

// === impl Own ===

impl Own {
    pub fn connector(self) -> Arc<dyn Connect + Send + Sync> {
        Arc::new(self)
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Own").field("service", &self.service).finish_non_exhaustive()
    }
}

#[async_trait]
impl Connect for Own {
    async fn connect(&self, address: &SocketAddr) -> Result<Stream> {
        let Some(address) = address.as_inet() else { return Error::e_explain(ConnectError, "not an IP address") };
        let service = self.snapshot.model.service(self.service);
        let connected = connect(&self.link.shared, service, *address, &self.link.info, self.host.as_deref()).await;
        let stream = connected.map_err(|failure| {
            let kind = match failure.reason {
                Reason::ConnectTimeout => ConnectTimedout,
                Reason::ServerTlsFailed => TLSHandshakeFailure,
                _ => ConnectError,
            };
            Error::explain(kind, failure.why)
        })?;
        let socket = Socket { stream: stream.stream, hesitates: self.upgrade, wrote: false };
        Ok(VirtualSocketStream::new(Box::new(socket)).into())
    }
}

// === impl Socket ===

impl VirtualSocket for Socket {
    fn set_socket_option(&self, option: VirtualSockOpt) -> io::Result<()> {
        match option {
            VirtualSockOpt::NoDelay => self.stream.socket().set_nodelay(true),
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
        self.wrote = self.hesitates;
        Pin::new(&mut self.stream).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
