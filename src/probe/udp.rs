//! UDP-ECV: one datagram is sent, an answer is looked at.
//!
//! The socket is connected, so the kernel drops datagrams of others and reports an ICMP "port unreachable" as an error.
//! Without a text to look for, silence is all that a healthy UDP service owes us: the sample passes when the time-out
//! ends without such a report (or at once when anything comes back). Such a sample takes the whole time-out, and its
//! latency says so.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::UdpSocket;

use super::{Answer, Deadline, Found, Miss, connect, contains, quoted};

/// Largest datagram looked at. Bytes.
const DATAGRAM_MAX: usize = 24 * 1024;

pub(super) async fn probe(
    address: SocketAddr,
    source: Option<IpAddr>,
    send: &[u8],
    receive: &[u8],
    deadline: Deadline,
) -> Found {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::ConnectionRefused => Miss::Fail(format!("{address}: port unreachable")),
        _ => Miss::from_io(&error, &format!("UDP to {address}")),
    };
    let socket = connected(address, source, failed).await?;
    socket.send(send).await.map_err(failed)?;
    let mut datagram = vec![0; DATAGRAM_MAX];
    match tokio::time::timeout_at(deadline.at, socket.recv(&mut datagram)).await {
        Err(_) if receive.is_empty() => Ok(Answer::pass(format!(
            "{address} did not report the port unreachable within {} ms",
            deadline.timeout.as_millis()
        ))),
        Err(_) => Err(deadline.passed(&format!("{} from {address}", quoted(receive)))),
        Ok(Err(error)) => Err(failed(error)),
        Ok(Ok(n)) if contains(&datagram[..n], receive, 0) => Ok(Answer::pass(format!("{address} answered {n} bytes"))),
        Ok(Ok(n)) => {
            Err(Miss::Fail(format!("{address} sent {}, expected {}", quoted(&datagram[..n]), quoted(receive))))
        }
    }
}

/// A new socket that hears `address` alone, and leaves from `source`. `failed`: what an error of it means.
pub(super) async fn connected(
    address: SocketAddr,
    source: Option<IpAddr>,
    failed: impl Fn(io::Error) -> Miss,
) -> Result<UdpSocket, Miss> {
    let any = match address {
        SocketAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
    };
    let bound = UdpSocket::bind((source.unwrap_or(any), 0)).await;
    let socket = bound.map_err(|error| match source {
        Some(source) => connect::not_from(source, &error),
        None => failed(error),
    })?;
    socket.connect(address).await.map_err(failed)?;
    Ok(socket)
}
