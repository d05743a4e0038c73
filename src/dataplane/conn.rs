//! A client's connection once its PROXY protocol header and its handshake are over: what is known of it, and the stream
//! that carries its bytes, plain or deciphered.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::model::id::Name;
use crate::model::tls::TlsVersion;

/// What is known of a client before its first byte of payload.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "read by what is built on it")]
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
}

/// What the handshake told.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "read by what is built on it")]
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

/// A stream to a client. Under every one is a TCP socket, whose close can be made a reset.
pub(crate) trait Transport: AsyncRead + AsyncWrite + Unpin + Send + Sync + 'static {
    fn socket(&self) -> &TcpStream;
}

// === impl ClientInfo ===

impl ClientInfo {
    /// Of a connection that was just accepted, in the clear.
    pub fn accepted(stream: &TcpStream, client: SocketAddr) -> ClientInfo {
        // Fails only where the socket is gone already: then nobody is there to be told.
        let local = stream.local_addr().unwrap_or(client);
        ClientInfo { client, local, tls: None, accepted_at: Instant::now(), handshake: None }
    }

    /// The scheme of what is asked for over this connection.
    #[allow(dead_code, reason = "the engines tell servers")]
    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }
}

// === impl Transport ===

impl Transport for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}

impl<T: Transport + ?Sized> Transport for Box<T> {
    fn socket(&self) -> &TcpStream {
        (**self).socket()
    }
}

impl Transport for tokio_rustls::server::TlsStream<TcpStream> {
    fn socket(&self) -> &TcpStream {
        self.get_ref().0
    }
}
