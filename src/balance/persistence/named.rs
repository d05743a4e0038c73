//! A member that the request itself names: URLPASSIVE and CUSTOMSERVERID.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use super::cookie::{self, Named};
use crate::model::id::Name;

/// Whether `text` names the member at this address by its address and port: as NetScaler's cookie writes them, in hex
/// (`0a000004-0050`), or as people do (`10.0.0.4-80`, `10.0.0.4:80`).
pub fn is_address_of(text: &str, member: SocketAddr) -> bool {
    address(text) == Some(member)
}

/// Whether `text` is the member's `custom_server_id`.
pub fn is_id_of(text: &str, id: Option<&Name>) -> bool {
    id.is_some_and(|id| **id == *text)
}

fn address(text: &str) -> Option<SocketAddr> {
    if let Some(Named::Address(v4)) = cookie::parse(text) {
        return Some(v4.into());
    }
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let (ip, port) = text.rsplit_once('-')?;
    if let (Ok(ip), Ok(port)) = (ip.parse(), port.parse()) {
        return Some(SocketAddr::new(ip, port));
    }
    let hex = |text: &str, digits: usize| {
        let valid = text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit());
        valid.then(|| u32::from_str_radix(text, 16).ok()).flatten()
    };
    let port = u16::try_from(hex(port, 4)?).ok()?;
    Some(SocketAddrV4::new(Ipv4Addr::from(hex(ip, 8)?), port).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_named_by_its_address_in_each_way_of_writing() {
        let member = "10.0.0.4:80".parse().unwrap();
        for text in ["ffffffff09081e1545525d5f4f58455e445a4a423660", "0a000004-0050", "10.0.0.4-80", "10.0.0.4:80"] {
            assert!(is_address_of(text, member), "{text}");
        }
        for text in ["", "-", "0a000004-80", "0a000005-0050", "10.0.0.4", "10.0.0.4-81", "web1", "+a000004-0050"] {
            assert!(!is_address_of(text, member), "{text}");
        }
        assert!(is_address_of("[2001:db8::1]:80", "[2001:db8::1]:80".parse().unwrap()));
    }

    #[test]
    fn an_id_is_the_whole_text() {
        assert!(is_id_of("s1", Some(&"s1".into())));
        assert!(!is_id_of("s1", None) && !is_id_of("s10", Some(&"s1".into())) && !is_id_of("", Some(&"s1".into())));
    }
}
