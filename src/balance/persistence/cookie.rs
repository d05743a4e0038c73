//! The COOKIEINSERT cookie: NetScaler's name and value, so that clients keep their member when the appliance replaces
//! one, and tools that read such cookies go on working.
//!
//! The value of a member with an IPv4 address is `ffffffff`, the address XOR 0x03081e11, a constant of 12 bytes, and
//! the port XOR 0x3630, all in hex. It hides nothing. For other members (IPv6) NetScaler's format is not public: they
//! get an opaque value of our own, [`OPAQUE_PREFIX`] and the first 8 bytes of the SHA-256 of the service's name in hex.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use sha2::{Digest, Sha256};

const MASK: &str = "ffffffff";
const ADDRESS_XOR: u32 = 0x0308_1e11;
const CONSTANT: &str = "45525d5f4f58455e445a4a42";
const PORT_XOR: u16 = 0x3630;

/// What our own values begin with; never the beginning of NetScaler's.
pub const OPAQUE_PREFIX: &str = "00000000b5";

/// A cookie value that could name a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<'a> {
    Address(SocketAddrV4),
    /// To be compared with [`value`] of the members that have no IPv4 address.
    Opaque(&'a str),
}

/// `NSC_` and the vserver's name with each letter moved on by one (`z` to `a`). What cannot stand in a cookie's name
/// becomes `_`.
pub fn name(vserver: &str) -> String {
    let shift = |c: char| match c {
        'z' => 'a',
        'Z' => 'A',
        'a'..='y' | 'A'..='Y' => char::from(c as u8 + 1),
        c if c.is_ascii_graphic() && !"()<>@,;:\\\"/[]?={}".contains(c) => c,
        _ => '_',
    };
    std::iter::once("NSC_".to_owned()).chain(vserver.chars().map(|c| shift(c).to_string())).collect()
}

/// The value that leads back to this member.
pub fn value(service: &str, address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(v4) => {
            let ip = u32::from(*v4.ip()) ^ ADDRESS_XOR;
            let port = v4.port() ^ PORT_XOR;
            format!("{MASK}{ip:08x}{CONSTANT}{port:04x}")
        }
        SocketAddr::V6(_) => {
            let digest = Sha256::digest(service.as_bytes());
            digest[..8].iter().fold(OPAQUE_PREFIX.to_owned(), |text, byte| format!("{text}{byte:02x}"))
        }
    }
}

/// Reads a value back. Anything that is not exactly of one of the two forms names nobody. NetScaler may append more
/// after the port; that is ignored.
pub fn parse(value: &str) -> Option<Named<'_>> {
    if value.strip_prefix(OPAQUE_PREFIX).is_some_and(|rest| rest.len() == 16) {
        return Some(Named::Opaque(value));
    }
    let rest = value.strip_prefix(MASK)?;
    let (ip, rest) = rest.split_at_checked(8)?;
    let (port, _) = rest.strip_prefix(CONSTANT)?.split_at_checked(4)?;
    let hex =
        |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(text, 16).ok()).flatten();
    let port = u16::try_from(hex(port)?).ok()? ^ PORT_XOR;
    Some(Named::Address(SocketAddrV4::new(Ipv4Addr::from(hex(ip)? ^ ADDRESS_XOR), port)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_cookie_is_netscalers() {
        assert_eq!(name("VS-LB-K12NET"), "NSC_WT-MC-L12OFU");
        assert_eq!(name("z Z/x"), "NSC_a_A_y");
        let member: SocketAddr = "10.0.0.4:80".parse().unwrap();
        let captured = "ffffffff09081e1545525d5f4f58455e445a4a423660";
        assert_eq!(value("web1", member), captured);
        assert_eq!(parse(captured), Some(Named::Address("10.0.0.4:80".parse().unwrap())));
    }

    #[test]
    fn a_member_with_an_ipv6_address_has_an_opaque_value() {
        let text = value("web6", "[2001:db8::1]:80".parse().unwrap());
        assert_eq!(parse(&text), Some(Named::Opaque(&text)));
        assert_ne!(text, value("web7", "[2001:db8::1]:80".parse().unwrap()));
    }

    proptest! {
        #[test]
        fn a_value_leads_back_to_its_member(ip: u32, port: u16) {
            let member = SocketAddrV4::new(ip.into(), port);
            let text = value("s", member.into());
            prop_assert_eq!(parse(&text), Some(Named::Address(member)));
        }

        #[test]
        fn no_value_panics(text in "\\PC*") {
            let _ = parse(&text);
            let _ = parse(&format!("ffffffff{text}"));
        }
    }
}
