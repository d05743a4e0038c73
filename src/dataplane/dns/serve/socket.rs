//! Sockets for one address.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};

use socket2::{Domain, Protocol, Socket, Type};

use crate::dataplane::handed::Handed;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;
/// Datagrams that wait while a batch is answered. Bytes.
const RECEIVE_BUFFER: usize = 4 << 20;
/// Tries for a port that is free for both transports, where 0 was asked.
const TRIES: usize = 32;

pub(super) struct Pair {
    /// With the real port.
    pub address: SocketAddr,
    /// Blocking. The kernel spreads clients over them by address and port, so that their readers share nothing.
    pub udp: Vec<UdpSocket>,
    /// Non-blocking.
    pub tcp: TcpListener,
}

/// [`bind`], with the sockets that a former process had for it: as many of UDP as it had, since what waits in one is read
/// by nobody else.
pub(super) fn bind_handed(handed: &Handed, asked: SocketAddr, readers: usize) -> io::Result<Pair> {
    let udp = handed.datagrams(super::OWNER, asked);
    match (handed.listener(super::OWNER, asked), udp.is_empty()) {
        (Some(tcp), false) => Ok(Pair { address: tcp.local_addr()?, udp, tcp }),
        (Some(tcp), true) => {
            let address = tcp.local_addr()?;
            Ok(Pair { address, udp: datagrams(address, readers)?, tcp })
        }
        (None, _) => {
            // What is bound to the address would stand in the way.
            drop(udp);
            bind(asked, readers)
        }
    }
}

/// Binds both transports, `readers` sockets of UDP. IP_FREEBIND: the address need not be on this machine (yet).
pub(super) fn bind(asked: SocketAddr, readers: usize) -> io::Result<Pair> {
    let mut tries = if asked.port() == 0 { TRIES } else { 1 };
    loop {
        let tcp = listen(asked)?;
        let address = tcp.local_addr()?;
        tries -= 1;
        match datagrams(address, readers) {
            Ok(udp) => return Ok(Pair { address, udp, tcp }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && tries > 0 => {}
            Err(error) => return Err(error),
        }
    }
}

/// The first stands alone, so that an address in use is an error; SO_REUSEPORT lets its own others in behind it.
fn datagrams(address: SocketAddr, readers: usize) -> io::Result<Vec<UdpSocket>> {
    let first = open(address, Type::DGRAM, Protocol::UDP, false)?;
    first.set_reuse_port(true)?;
    let mut udp = vec![first];
    for _ in 1..readers {
        udp.push(open(address, Type::DGRAM, Protocol::UDP, true)?);
    }
    // As much as the system allows.
    udp.iter().for_each(|socket| _ = socket.set_recv_buffer_size(RECEIVE_BUFFER));
    Ok(udp.into_iter().map(UdpSocket::from).collect())
}

/// Binds TCP alone. Non-blocking.
pub(super) fn listen(asked: SocketAddr) -> io::Result<TcpListener> {
    let tcp = open(asked, Type::STREAM, Protocol::TCP, false)?;
    tcp.listen(BACKLOG)?;
    tcp.set_nonblocking(true)?;
    Ok(tcp.into())
}

/// Whether the address is on this machine.
pub(super) fn is_local(ip: IpAddr) -> bool {
    ip.is_unspecified() || UdpSocket::bind((ip, 0)).is_ok()
}

fn open(address: SocketAddr, kind: Type, protocol: Protocol, joins: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), kind, Some(protocol))?;
    if joins {
        socket.set_reuse_port(true)?;
    }
    if kind == Type::STREAM {
        socket.set_reuse_address(true)?;
        socket.set_tcp_nodelay(true)?;
    }
    match address {
        SocketAddr::V4(_) => socket.set_freebind_v4(true)?,
        SocketAddr::V6(_) => {
            socket.set_freebind_v6(true)?;
            // `[::]` does not take IPv4 with it, so that `0.0.0.0` can stand beside it.
            socket.set_only_v6(true)?;
        }
    }
    socket.bind(&address.into())?;
    Ok(socket)
}
