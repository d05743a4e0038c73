//! PING: one ICMP echo request, and its reply.
//!
//! Linux has two ways. A datagram socket of the protocol ICMP needs no privilege where `net.ipv4.ping_group_range`
//! covers our group; a raw socket needs CAP_NET_RAW. The first is tried, then the second. A raw socket hears every echo
//! reply of its peer, so a reply is ours when it carries our sequence number and sixteen random bytes back.

use std::io;
use std::net::{IpAddr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;

use super::{Answer, Deadline, Found, Miss, connect, random};

const NONCE_BYTES: usize = 16;
const HEADER_BYTES: usize = 8;

/// Which echo this is: type of request and reply, and whether a received packet begins with its IP header.
#[derive(Clone, Copy)]
struct Wire {
    request: u8,
    reply: u8,
    has_ip_header: bool,
}

pub(super) async fn probe(address: IpAddr, source: Option<IpAddr>, deadline: Deadline) -> Found {
    let failed = |error: io::Error| Miss::from_io(&error, &format!("ping of {address}"));
    let (socket, wire) = open(address, source)?;
    // The kernel puts its own identifier into requests of datagram sockets; the nonce is what tells replies apart.
    let [id_high, id_low, sequence_high, sequence_low] = random();
    let nonce: [u8; NONCE_BYTES] = random();
    let request = encode(wire.request, [id_high, id_low, sequence_high, sequence_low], nonce);
    socket.send(&request).await.map_err(failed)?;
    let mut packet = [0; 2048];
    loop {
        let received = deadline.within(|| format!("an echo reply of {address}"), socket.recv(&mut packet)).await?;
        let n = received.map_err(failed)?;
        if is_reply(&packet[..n], wire, [sequence_high, sequence_low], nonce) {
            return Ok(Answer::pass(format!("echo reply of {address}")));
        }
    }
}

/// A socket connected to `address`, leaving from `source`. Void without the permission for one.
fn open(address: IpAddr, source: Option<IpAddr>) -> Result<(UdpSocket, Wire), Miss> {
    let (domain, protocol, request, reply) = match address {
        IpAddr::V4(_) => (Domain::IPV4, Protocol::ICMPV4, 8, 0),
        IpAddr::V6(_) => (Domain::IPV6, Protocol::ICMPV6, 128, 129),
    };
    let (socket, raw) = match Socket::new(domain, Type::DGRAM, Some(protocol)) {
        Ok(socket) => (socket, false),
        Err(_) => match Socket::new(domain, Type::RAW, Some(protocol)) {
            Ok(socket) => (socket, true),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(Miss::Void(
                    "no permission to send ICMP: it needs CAP_NET_RAW, or net.ipv4.ping_group_range to cover the group"
                        .to_owned(),
                ));
            }
            Err(error) => return Err(Miss::from_io(&error, &format!("ping of {address}"))),
        },
    };
    if let Some(source) = source {
        socket.bind(&SocketAddr::new(source, 0).into()).map_err(|error| connect::not_from(source, &error))?;
    }
    let connect = || {
        socket.set_nonblocking(true)?;
        socket.connect(&SocketAddr::new(address, 0).into())?;
        // To the kernel's send and recv a connected datagram socket is one, whatever its protocol.
        UdpSocket::from_std(std::net::UdpSocket::from(socket))
    };
    let socket = connect().map_err(|error| Miss::from_io(&error, &format!("ping of {address}")))?;
    Ok((socket, Wire { request, reply, has_ip_header: raw && address.is_ipv4() }))
}

fn encode(kind: u8, id_and_sequence: [u8; 4], nonce: [u8; NONCE_BYTES]) -> [u8; HEADER_BYTES + NONCE_BYTES] {
    let mut packet = [0; HEADER_BYTES + NONCE_BYTES];
    packet[0] = kind;
    packet[4..8].copy_from_slice(&id_and_sequence);
    packet[8..].copy_from_slice(&nonce);
    // ICMPv6's checksum covers the addresses, too, and is the kernel's work; it overwrites this one.
    let sum = checksum(&packet);
    packet[2..4].copy_from_slice(&sum.to_be_bytes());
    packet
}

fn is_reply(packet: &[u8], wire: Wire, sequence: [u8; 2], nonce: [u8; NONCE_BYTES]) -> bool {
    let header_bytes = match packet {
        [first, ..] if wire.has_ip_header => usize::from(first & 0x0f) * 4,
        _ => 0,
    };
    let Some(echo) = packet.get(header_bytes..) else { return false };
    echo.len() >= HEADER_BYTES + NONCE_BYTES
        && echo[0] == wire.reply
        && echo[1] == 0
        && echo[6..8] == sequence
        && echo[8..8 + NONCE_BYTES] == nonce
}

/// The Internet checksum (RFC 1071) of an even number of bytes.
fn checksum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const V4_RAW: Wire = Wire { request: 8, reply: 0, has_ip_header: true };

    #[test]
    fn only_the_reply_to_our_own_request_counts() {
        let nonce = [7; NONCE_BYTES];
        let mut reply = vec![0x45; 20];
        reply.extend_from_slice(&encode(0, [1, 2, 3, 4], nonce));
        assert!(is_reply(&reply, V4_RAW, [3, 4], nonce));
        assert!(!is_reply(&reply, V4_RAW, [3, 5], nonce));
        assert!(!is_reply(&reply, V4_RAW, [3, 4], [8; NONCE_BYTES]));
        assert!(!is_reply(&reply[..30], V4_RAW, [3, 4], nonce));
        // On loopback a raw socket hears its own request as well.
        reply[20] = 8;
        assert!(!is_reply(&reply, V4_RAW, [3, 4], nonce));
    }

    #[test]
    fn a_packet_with_its_checksum_sums_to_zero() {
        let packet = encode(8, [1, 2, 3, 4], [0xff; NONCE_BYTES]);
        assert_eq!(checksum(&packet), 0);
    }

    proptest! {
        #[test]
        fn no_packet_panics(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = is_reply(&bytes, V4_RAW, [0, 0], [0; NONCE_BYTES]);
        }
    }
}
