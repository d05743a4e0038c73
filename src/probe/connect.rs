//! A new TCP connection, and TLS on it where asked.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::client::TlsStream;

use super::{Deadline, Miss, tls};
use crate::model::check::{Target, TlsProbe};

/// A connection to the peer, plain or TLS.
pub(super) enum Connection {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// Connects to the first of `addresses` that accepts. Each gets an equal share of the time that is left, so that a name
/// with a dead IPv6 address does not hide a living IPv4 one. With a `source` it leaves from there.
pub(super) async fn tcp(
    addresses: &[SocketAddr],
    source: Option<IpAddr>,
    deadline: Deadline,
) -> Result<(TcpStream, SocketAddr), Miss> {
    let mut last = Miss::Fail("no address to connect to".to_owned());
    for (i, &address) in addresses.iter().enumerate() {
        let left = deadline.at.saturating_duration_since(tokio::time::Instant::now());
        let share = left / u32::try_from(addresses.len() - i).unwrap_or(u32::MAX);
        let what = || format!("connection to {address}");
        let socket = socket(address, source)?;
        last = match tokio::time::timeout(share, socket.connect(address)).await {
            Err(_) => deadline.passed(&format!("a TCP connection to {address}")),
            Ok(Err(error)) => Miss::from_io(&error, &what()),
            Ok(Ok(stream)) if is_connected_to_itself(&stream) => {
                Miss::from_io(&io::ErrorKind::ConnectionRefused.into(), &what())
            }
            Ok(Ok(stream)) => {
                let _ = stream.set_nodelay(true);
                return Ok((stream, address));
            }
        };
    }
    Err(last)
}

/// A socket for a connection to `address`.
fn socket(address: SocketAddr, source: Option<IpAddr>) -> Result<TcpSocket, Miss> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
    let socket = socket.map_err(|error| Miss::from_io(&error, &format!("connection to {address}")))?;
    if let Some(source) = source {
        socket.bind(SocketAddr::new(source, 0)).map_err(|error| not_from(source, &error))?;
    }
    Ok(socket)
}

/// What it means that a socket cannot leave from `source`: nothing about the peer.
pub(super) fn not_from(source: IpAddr, error: &io::Error) -> Miss {
    match error.kind() {
        io::ErrorKind::AddrNotAvailable => {
            Miss::Void(format!("the source address {source} is not one of this machine"))
        }
        _ => Miss::Void(format!("nothing can be sent from {source}: {error}")),
    }
}

/// Connects, and speaks TLS where `tls` says so.
pub(super) async fn open(
    target: &Target,
    addresses: &[SocketAddr],
    tls: Option<&TlsProbe>,
    deadline: Deadline,
) -> Result<(Connection, SocketAddr), Miss> {
    open_for(target, addresses, tls, &[], deadline).await
}

/// [`open`], and offers these protocols by ALPN.
pub(super) async fn open_for(
    target: &Target,
    addresses: &[SocketAddr],
    tls: Option<&TlsProbe>,
    alpn: &[&[u8]],
    deadline: Deadline,
) -> Result<(Connection, SocketAddr), Miss> {
    let (stream, address) = tcp(addresses, target.source, deadline).await?;
    match tls {
        None => Ok((Connection::Plain(stream), address)),
        Some(tls) => {
            let stream = tls::handshake(stream, address, &target.host, tls, alpn, deadline).await?;
            Ok((Connection::Tls(Box::new(stream)), address))
        }
    }
}

/// On loopback a connect to a port without a listener may take that very port as its source and meet itself (TCP's
/// simultaneous open): a dead server would look alive.
fn is_connected_to_itself(stream: &TcpStream) -> bool {
    matches!((stream.local_addr(), stream.peer_addr()), (Ok(local), Ok(peer)) if local == peer)
}

// === impl Connection ===

impl Connection {
    /// What was agreed by ALPN.
    pub(super) fn alpn(&self) -> Option<&[u8]> {
        match self {
            Connection::Plain(_) => None,
            Connection::Tls(stream) => stream.get_ref().1.alpn_protocol(),
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Connection::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Connection::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Connection::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Connection::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
