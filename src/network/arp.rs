//! ARP for IPv4 over Ethernet (RFC 826), as far as finding out and telling who has an address needs it (RFC 5227).

use std::net::Ipv4Addr;

use super::machine::Mac;

/// Of the Ethernet header.
pub(super) const ETHERTYPE: u16 = 0x0806;
/// Ethernet header and ARP packet. Bytes; links pad it where they have to.
pub(super) const FRAME: usize = 42;

const BROADCAST: [u8; 6] = [0xff; 6];
const REQUEST: u16 = 1;
const REPLY: u16 = 2;
/// Ethernet and IPv4, with the lengths of their addresses.
const ETHERNET_IPV4: [u8; 6] = [0, 1, 8, 0, 6, 4];

/// What was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Heard {
    /// Who speaks.
    pub mac: Mac,
    /// The address that it says it has; unspecified in a probe.
    pub sender: Ipv4Addr,
    /// The address that it asks for.
    pub target: Ipv4Addr,
    pub request: bool,
}

/// Asks whether somebody has `ip`, without saying that we do (RFC 5227 §2.1.1).
pub(super) fn probe(mac: Mac, ip: Ipv4Addr) -> [u8; FRAME] {
    frame(mac, Ipv4Addr::UNSPECIFIED, ip)
}

/// Tells everybody that `ip` is at `mac` (RFC 5227 §2.3): what is called gratuitous ARP.
pub(super) fn announcement(mac: Mac, ip: Ipv4Addr) -> [u8; FRAME] {
    frame(mac, ip, ip)
}

fn frame(mac: Mac, sender: Ipv4Addr, target: Ipv4Addr) -> [u8; FRAME] {
    let mut frame = [0; FRAME];
    frame[..6].copy_from_slice(&BROADCAST);
    frame[6..12].copy_from_slice(&mac.0);
    frame[12..14].copy_from_slice(&ETHERTYPE.to_be_bytes());
    frame[14..20].copy_from_slice(&ETHERNET_IPV4);
    frame[20..22].copy_from_slice(&REQUEST.to_be_bytes());
    frame[22..28].copy_from_slice(&mac.0);
    frame[28..32].copy_from_slice(&sender.octets());
    frame[38..42].copy_from_slice(&target.octets());
    frame
}

/// `None`: no ARP of IPv4 over Ethernet, or damaged.
pub(super) fn parse(frame: &[u8]) -> Option<Heard> {
    let four = |at: usize| frame.get(at..at + 4).and_then(|b| <[u8; 4]>::try_from(b).ok()).map(Ipv4Addr::from);
    let operation = u16::from_be_bytes([*frame.get(20)?, *frame.get(21)?]);
    let is_arp = frame.get(12..14)? == ETHERTYPE.to_be_bytes() && frame.get(14..20)? == ETHERNET_IPV4;
    if !is_arp || !matches!(operation, REQUEST | REPLY) {
        return None;
    }
    let mac = Mac(frame.get(22..28)?.try_into().ok()?);
    Some(Heard { mac, sender: four(28)?, target: four(38)?, request: operation == REQUEST })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAC: Mac = Mac([2, 0, 0x5e, 0, 0x53, 1]);
    const IP: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 10);

    #[test]
    fn a_probe_does_not_claim_and_an_announcement_does() {
        let probe = parse(&probe(MAC, IP)).unwrap();
        assert_eq!(probe, Heard { mac: MAC, sender: Ipv4Addr::UNSPECIFIED, target: IP, request: true });
        let announced = parse(&announcement(MAC, IP)).unwrap();
        assert_eq!(announced, Heard { mac: MAC, sender: IP, target: IP, request: true });
    }

    #[test]
    fn a_frame_is_as_the_wire_has_it() {
        let expected = [
            "ffffffffffff",
            "02005e005301",
            "0806",
            "0001",
            "0800",
            "06",
            "04",
            "0001",
            "02005e005301",
            "c000020a",
            "000000000000",
            "c000020a",
        ];
        let shown: String = announcement(MAC, IP).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(shown, expected.concat());
    }

    proptest! {
        #[test]
        fn no_frame_panics(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = parse(&bytes);
        }
    }
}
