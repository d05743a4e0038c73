//! Listening sockets: options and local addresses.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

use crate::dataplane::handed::Handed;
use crate::model::id::Name;
use crate::model::service;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 4096;

/// Datagrams that wait while a batch is passed on. Bytes.
const RECEIVE_BUFFER: usize = 4 << 20;

/// Tries for a port that is free for both transports, where 0 was asked.
const TRIES: usize = 32;

/// What a VIP listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transports {
    pub stream: bool,
    pub datagram: bool,
    /// Each datagram is a question by itself: what serves them is another thing.
    pub queries: bool,
}

pub(super) struct Listener {
    pub stream: Option<TcpListener>,
    /// Not blocking.
    pub datagram: Option<UdpSocket>,
    /// With the real port.
    pub address: SocketAddr,
}

/// What the sockets of a VIP are handed on as.
pub(super) fn owner(vserver: &Name) -> String {
    format!("vserver {vserver}")
}

/// [`bind`], with the sockets that a former process had for it.
pub(super) fn bind_handed(
    handed: &Handed,
    vserver: &Name,
    asked: SocketAddr,
    transports: Transports,
) -> io::Result<Listener> {
    let owner = owner(vserver);
    let stream = transports.stream.then(|| handed.listener(&owner, asked)).flatten();
    let datagram = transports.datagram.then(|| handed.datagrams(&owner, asked).pop()).flatten();
    let of_stream = stream.as_ref().and_then(|stream| stream.local_addr().ok());
    let of_datagram = datagram.as_ref().and_then(|socket| socket.local_addr().ok());
    let Some(address) = of_stream.or(of_datagram) else { return bind(asked, transports) };
    // A protocol that takes both now and took one before: the other is bound beside it.
    let stream = match stream.map(TcpListener::from_std).transpose()? {
        None if transports.stream => Some(self::stream(address)?),
        stream => stream,
    };
    let datagram = match datagram {
        None if transports.datagram => Some(self::datagram(address)?),
        datagram => datagram,
    };
    Ok(Listener { stream, datagram, address })
}

/// Binds and listens. IP_FREEBIND: the address need not be on this machine (yet).
pub(super) fn bind(asked: SocketAddr, transports: Transports) -> io::Result<Listener> {
    let mut tries = if asked.port() == 0 { TRIES } else { 1 };
    loop {
        let mut listener = Listener { stream: None, datagram: None, address: asked };
        if transports.stream {
            let stream = stream(asked)?;
            listener.address = stream.local_addr()?;
            listener.stream = Some(stream);
        }
        tries -= 1;
        match transports.datagram.then(|| datagram(listener.address)).transpose() {
            Ok(datagram) => {
                if let Some(socket) = &datagram {
                    listener.address = socket.local_addr()?;
                }
                listener.datagram = datagram;
                return Ok(listener);
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && tries > 0 => {}
            Err(error) => return Err(error),
        }
    }
}

fn stream(asked: SocketAddr) -> io::Result<TcpListener> {
    let socket = open(asked, Type::STREAM, Protocol::TCP)?;
    socket.set_reuse_address(true)?;
    // Inherited by the connections that are accepted.
    socket.set_tcp_nodelay(true)?;
    socket.bind(&asked.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

fn datagram(asked: SocketAddr) -> io::Result<UdpSocket> {
    let socket = open(asked, Type::DGRAM, Protocol::UDP)?;
    // As much as the system allows.
    let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER);
    socket.bind(&asked.into())?;
    Ok(socket.into())
}

fn open(asked: SocketAddr, kind: Type, protocol: Protocol) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(asked), kind, Some(protocol))?;
    match asked {
        SocketAddr::V4(_) => socket.set_freebind_v4(true)?,
        SocketAddr::V6(_) => {
            socket.set_freebind_v6(true)?;
            // A VIP is one address: `[::]` does not take IPv4 with it, so that `0.0.0.0` can stand beside it.
            socket.set_only_v6(true)?;
        }
    }
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// [`bind`], where the socket that holds the address is about to be closed by its accept loop.
pub(super) async fn bind_soon(asked: SocketAddr, transports: Transports) -> io::Result<Listener> {
    let mut last = bind(asked, transports);
    for _ in 0..20 {
        match &last {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                tokio::time::sleep(Duration::from_millis(5)).await;
                last = bind(asked, transports);
            }
            _ => break,
        }
    }
    last
}

// === impl Transports ===

impl Transports {
    pub fn of(protocol: service::Protocol) -> Transports {
        let queries = protocol == service::Protocol::Dns;
        Transports { stream: protocol.is_stream(), datagram: protocol.is_datagram(), queries }
    }
}

/// Whether the address is on this machine.
pub(super) fn is_local(ip: IpAddr) -> bool {
    ip.is_unspecified() || UdpSocket::bind((ip, 0)).is_ok()
}
