//! A client's connection once its PROXY protocol header and its handshake are over: what is known of it, and the stream
//! that carries its bytes, plain or deciphered.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::{client, server};

use super::ended::Conn;
use crate::model::id::Name;
use crate::model::tls::TlsVersion;

/// What is known of a client before its first byte of payload.
#[derive(Clone, Debug)]
pub(crate) struct ClientInfo {
    /// The client's address: of the PROXY protocol header where the vserver asks for one, else of the socket.
    pub client: SocketAddr,
    /// The address that was connected to: the VIP with its real port, or what the PROXY protocol header says.
    pub local: SocketAddr,
    /// `Some` where TLS is spoken, or looked into.
    pub tls: Option<TlsInfo>,
    pub accepted_at: Instant,
    /// How long the handshake took.
    pub handshake: Option<Duration>,
    /// Where it stands in the table of connections, and what its requests are counted on.
    pub conn: Arc<Conn>,
}

/// Where a connection comes from, as its server may be told in a PROXY protocol header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub client: SocketAddr,
    /// The address that was connected to.
    pub local: SocketAddr,
    pub tls: Option<&'a TlsInfo>,
}

/// What the handshake told.
#[derive(Clone, Debug)]
pub(crate) struct TlsInfo {
    /// SNI, in lower case.
    pub server_name: Option<Name>,
    /// Agreed on by ALPN.
    pub http2: bool,
    pub version: TlsVersion,
    pub resumed: bool,
    /// What the client resumes its session by: a session id, or a digest of its ticket.
    pub session: Option<Vec<u8>>,
}

/// A connection to a client or to a server, in the clear or through TLS.
#[derive(Debug)]
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<tokio_rustls::TlsStream<TcpStream>>),
}

/// A stream to a client. Under every one is a TCP socket, whose close can be made a reset.
pub(crate) trait Transport: AsyncRead + AsyncWrite + Unpin + Send + Sync + 'static {
    fn socket(&self) -> &TcpStream;

    /// The socket where its bytes are the stream's: nothing is deciphered, nothing waits in a buffer.
    fn plain(&self) -> Option<&TcpStream> {
        None
    }
}

// === impl ClientInfo ===

impl ClientInfo {
    /// Of a connection that was just accepted, in the clear.
    pub fn accepted(stream: &TcpStream, conn: Arc<Conn>) -> ClientInfo {
        let (client, accepted_at) = (conn.entry.peer, conn.entry.since);
        // Fails only where the socket is gone already: then nobody is there to be told.
        let local = stream.local_addr().unwrap_or(client);
        ClientInfo { client, local, tls: None, accepted_at, handshake: None, conn }
    }

    pub fn origin(&self) -> Origin<'_> {
        Origin { client: self.client, local: self.local, tls: self.tls.as_ref() }
    }

    /// The scheme of what is asked for over this connection.
    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }
}

// === impl Stream ===

impl From<TcpStream> for Stream {
    fn from(socket: TcpStream) -> Stream {
        Stream::Plain(socket)
    }
}

impl From<server::TlsStream<TcpStream>> for Stream {
    fn from(stream: server::TlsStream<TcpStream>) -> Stream {
        Stream::Tls(Box::new(stream.into()))
    }
}

impl From<client::TlsStream<TcpStream>> for Stream {
    fn from(stream: client::TlsStream<TcpStream>) -> Stream {
        Stream::Tls(Box::new(stream.into()))
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_read(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_write(cx, data),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, data),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_write_vectored(cx, data),
            Stream::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, data),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

/// Resolves once the client is known to be gone: its connection was reset, or with `half_closed` it will send nothing
/// more, which who waits for an answer does not say. Reads nothing.
pub(crate) async fn gone(socket: &TcpStream, half_closed: bool) {
    let interest = if half_closed { Interest::READABLE | Interest::ERROR } else { Interest::ERROR };
    loop {
        match socket.ready(interest).await {
            Ok(ready) if ready.is_error() || (half_closed && ready.is_read_closed()) => return,
            Err(_) => return,
            // It has sent more than it was asked for, and stays readable.
            Ok(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

// === impl Transport ===

impl Transport for Stream {
    fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Tls(stream) => stream.get_ref().0,
        }
    }

    fn plain(&self) -> Option<&TcpStream> {
        match self {
            Stream::Plain(socket) => Some(socket),
            Stream::Tls(_) => None,
        }
    }
}

impl Transport for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }

    fn plain(&self) -> Option<&TcpStream> {
        Some(self)
    }
}

impl<T: Transport + ?Sized> Transport for Box<T> {
    fn socket(&self) -> &TcpStream {
        (**self).socket()
    }

    fn plain(&self) -> Option<&TcpStream> {
        (**self).plain()
    }
}

impl Transport for server::TlsStream<TcpStream> {
    fn socket(&self) -> &TcpStream {
        self.get_ref().0
    }
}
