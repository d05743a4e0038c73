//! Who sent an IP packet, and to whom.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const TCP: u8 = 6;
const UDP: u8 = 17;
/// Headers of extension that are looked behind.
const HEADERS_MOST: usize = 8;

/// Source and destination; ports are 0 where there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends(pub [(IpAddr, u16); 2]);

// === impl Ends ===

impl Ends {
    /// `None`: no whole header of IPv4 or IPv6.
    pub fn of(packet: &[u8]) -> Option<Ends> {
        match packet.first()? >> 4 {
            4 => v4(packet),
            6 => v6(packet),
            _ => None,
        }
    }
}

fn v4(packet: &[u8]) -> Option<Ends> {
    let header = packet.first_chunk::<20>()?;
    let address = |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]);
    let offset = u16::from_be_bytes([header[6], header[7]]) & 0x1fff;
    let length = usize::from(header[0] & 0xf) * 4;
    let behind = packet.get(length.max(20)..).filter(|_| offset == 0);
    Some(with_ports(address(12).into(), address(16).into(), header[9], behind))
}

fn v6(packet: &[u8]) -> Option<Ends> {
    let header = packet.first_chunk::<40>()?;
    let address = |at: usize| header[at..at + 16].try_into().map(|octets: [u8; 16]| Ipv6Addr::from(octets)).ok();
    let (mut next, mut behind) = (header[6], packet.get(40..));
    for _ in 0..HEADERS_MOST {
        let Some(bytes) = behind.and_then(|bytes| bytes.first_chunk::<8>()) else { break };
        let length = match next {
            0 | 43 | 60 => (usize::from(bytes[1]) + 1) * 8,
            44 if u16::from_be_bytes([bytes[2], bytes[3]]) >> 3 == 0 => 8,
            44 => {
                behind = None;
                break;
            }
            _ => break,
        };
        next = bytes[0];
        behind = behind.and_then(|bytes| bytes.get(length..));
    }
    Some(with_ports(address(8)?.into(), address(24)?.into(), next, behind))
}

fn with_ports(from: IpAddr, to: IpAddr, protocol: u8, behind: Option<&[u8]>) -> Ends {
    let ports = behind.filter(|_| matches!(protocol, TCP | UDP)).and_then(|bytes| bytes.first_chunk::<4>());
    let [a, b, c, d] = *ports.unwrap_or(&[0; 4]);
    Ends([(from, u16::from_be_bytes([a, b])), (to, u16::from_be_bytes([c, d]))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4_packet(offset: u16) -> Vec<u8> {
        let mut packet = vec![0x46, 0, 0, 0, 0, 0, 0, 0, 64, TCP, 0, 0, 192, 0, 2, 1, 203, 0, 113, 1];
        packet[6..8].copy_from_slice(&offset.to_be_bytes());
        // Options.
        packet.extend([1; 4]);
        packet.extend([0x10, 0x00, 0x00, 0x50, 0, 0]);
        packet
    }

    #[test]
    fn ends_are_read_behind_options_and_extensions_and_a_later_fragment_has_no_ports() {
        let v4 = |port, other| Ends([("192.0.2.1".parse().unwrap(), port), ("203.0.113.1".parse().unwrap(), other)]);
        assert_eq!(Ends::of(&v4_packet(0)), Some(v4(4096, 80)));
        assert_eq!(Ends::of(&v4_packet(0x2000)), Some(v4(4096, 80)), "the first fragment");
        assert_eq!(Ends::of(&v4_packet(7)), Some(v4(0, 0)));
        let mut packet = vec![0x60, 0, 0, 0, 0, 0, 0, 64];
        packet.extend("2001:db8::1".parse::<Ipv6Addr>().unwrap().octets());
        packet.extend("2001:db8::2".parse::<Ipv6Addr>().unwrap().octets());
        packet.extend([UDP, 0, 0, 0, 0, 0, 0, 0, 0, 53, 0x10, 0]);
        let ends = Ends::of(&packet).unwrap();
        assert_eq!(ends.0.map(|(_, port)| port), [53, 4096]);
    }

    #[test]
    fn nothing_that_a_peer_can_send_is_read_beyond_its_end() {
        let whole = v4_packet(0);
        for length in 0..whole.len() {
            let _ = Ends::of(&whole[..length]);
        }
        for kind in [0, 43, 44, 60] {
            let mut packet = vec![0x60, 0, 0, 0, 0, 0, kind, 64];
            packet.extend([0; 32]);
            for _ in 0..20 {
                packet.extend([kind, 0xff, 0, 0, 0, 0, 0, 0]);
            }
            for length in 0..packet.len() {
                let _ = Ends::of(&packet[..length]);
            }
        }
        assert_eq!(Ends::of(&[]), None);
        assert_eq!(Ends::of(&[0x10; 60]), None);
    }
}
