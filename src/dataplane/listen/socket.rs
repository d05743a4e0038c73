//! Listening sockets: options and local addresses.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 4096;

pub(super) struct Listener {
    pub socket: TcpListener,
    /// With the real port.
    pub address: SocketAddr,
}

/// Binds and listens. IP_FREEBIND: the address need not be on this machine (yet).
pub(super) fn bind(asked: SocketAddr) -> io::Result<Listener> {
    let socket = Socket::new(Domain::for_address(asked), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    match asked {
        SocketAddr::V4(_) => socket.set_freebind_v4(true)?,
        SocketAddr::V6(_) => {
            socket.set_freebind_v6(true)?;
            // A VIP is one address: `[::]` does not take IPv4 with it, so that `0.0.0.0` can stand beside it.
            socket.set_only_v6(true)?;
        }
    }
    // Inherited by the connections that are accepted.
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&asked.into())?;
    socket.listen(BACKLOG)?;
    let socket = TcpListener::from_std(socket.into())?;
    let address = socket.local_addr()?;
    Ok(Listener { socket, address })
}

/// [`bind`], where the socket that holds the address is about to be closed by its accept loop.
pub(super) async fn bind_soon(asked: SocketAddr) -> io::Result<Listener> {
    let mut last = bind(asked);
    for _ in 0..20 {
        match &last {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                tokio::time::sleep(Duration::from_millis(5)).await;
                last = bind(asked);
            }
            _ => break,
        }
    }
    last
}

/// Whether the address is on this machine.
pub(super) fn is_local(ip: IpAddr) -> bool {
    ip.is_unspecified() || UdpSocket::bind((ip, 0)).is_ok()
}
