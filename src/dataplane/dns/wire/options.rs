//! EDNS options (RFC 6891 §6.1.2): those of a query that are understood, and the OPT record of an answer. What is not
//! understood is ignored (RFC 8906 §4).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{ExtendedError, UDP_PAYLOAD_MAX};

/// What the OPT record of a query asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// RFC 5001.
    pub nsid: bool,
    /// RFC 7873; where there are several, the first counts.
    pub cookie: Option<Cookie>,
    /// RFC 7828.
    pub keepalive: bool,
    /// RFC 7871, as it came.
    pub subnet: Option<Subnet>,
}

/// The cookie of a query: the client's own eight bytes, and what a server gave it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cookie {
    bytes: [u8; COOKIE_MAX],
    length: u8,
}

/// A client subnet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subnet {
    pub family: u16,
    pub source: u8,
    pub scope: u8,
    address: [u8; 16],
    /// Bytes of `address`; more than 16 came where it is 17.
    length: u8,
}

/// The OPT record of an answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opt<'a> {
    pub dnssec_ok: bool,
    pub nsid: Option<&'a str>,
    /// The client's part and the server's.
    pub cookie: Option<[u8; 24]>,
    /// In units of 100 ms.
    pub keepalive: Option<u16>,
    /// With the scope of the answer.
    pub subnet: Option<Subnet>,
    pub error: Option<ExtendedError>,
}

const NSID: u16 = 3;
const SUBNET: u16 = 8;
const COOKIE: u16 = 10;
const KEEPALIVE: u16 = 11;
const ERROR: u16 = 15;

const COOKIE_MAX: usize = 40;
/// The longest text of an extended error, with its header. Bytes.
const ERROR_MAX: usize = 6 + 24;

// === impl Options ===

impl Options {
    /// Takes one option; `None` where it is known and malformed.
    pub(super) fn take(&mut self, code: u16, data: &[u8]) -> Option<()> {
        match code {
            NSID => self.nsid = true,
            COOKIE if self.cookie.is_none() => self.cookie = Some(Cookie::new(data)?),
            KEEPALIVE => self.keepalive = true,
            SUBNET if self.subnet.is_none() => self.subnet = Some(Subnet::new(data)),
            _ => {}
        }
        Some(())
    }
}

// === impl Cookie ===

impl Cookie {
    /// `None`: of a length that no cookie has (RFC 7873 §5.2.2).
    pub fn new(data: &[u8]) -> Option<Cookie> {
        if data.len() != 8 && !(16..=COOKIE_MAX).contains(&data.len()) {
            return None;
        }
        let mut bytes = [0; COOKIE_MAX];
        bytes[..data.len()].copy_from_slice(data);
        Some(Cookie { bytes, length: data.len() as u8 })
    }

    pub fn client(&self) -> [u8; 8] {
        self.bytes[..8].try_into().expect("eight of forty bytes")
    }

    /// What a server gave; empty where the client has none yet.
    pub fn server(&self) -> &[u8] {
        &self.bytes[8..usize::from(self.length)]
    }
}

// === impl Subnet ===

impl Subnet {
    fn new(data: &[u8]) -> Subnet {
        let (head, rest) = data.split_at_checked(4).unwrap_or((&[0; 4], &[]));
        let mut address = [0; 16];
        let length = rest.len().min(17);
        address[..length.min(16)].copy_from_slice(&rest[..length.min(16)]);
        Subnet {
            family: u16::from_be_bytes([head[0], head[1]]),
            source: head[2],
            scope: head[3],
            address,
            length: length as u8,
        }
    }

    /// The address; `None` where the option is malformed (RFC 7871 §6, §7.1.1): an unknown family, a scope in a query,
    /// a length that does not fit the prefix, bits beyond it.
    pub fn address(&self) -> Option<IpAddr> {
        let (bits, address) = match self.family {
            1 => (32, IpAddr::V4(Ipv4Addr::from(u32::from_be_bytes(self.address[..4].try_into().ok()?)))),
            2 => (128, IpAddr::V6(Ipv6Addr::from(u128::from_be_bytes(self.address)))),
            _ => return None,
        };
        let whole = self.scope == 0 && self.source <= bits && self.length == self.source.div_ceil(8);
        let beyond = u128::from_be_bytes(self.address).checked_shl(self.source.into()).unwrap_or(0);
        (whole && beyond == 0).then_some(address)
    }
}

// === impl Opt ===

impl Opt<'_> {
    /// Bytes of the record at most, whichever error it will carry.
    pub fn room(&self) -> usize {
        let option = |present: bool, bytes: usize| if present { 4 + bytes } else { 0 };
        11 + ERROR_MAX
            + option(self.nsid.is_some(), self.nsid.map_or(0, str::len))
            + option(self.cookie.is_some(), 24)
            + option(self.keepalive.is_some(), 2)
            + option(self.subnet.is_some(), 20)
    }

    /// `rcode`: the extended one included.
    pub(super) fn write(&self, rcode: u16, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0, 0, 41]);
        out.extend_from_slice(&UDP_PAYLOAD_MAX.to_be_bytes());
        // Extended code, version 0, and the DO flag as it came (RFC 3225 §3).
        out.extend_from_slice(&[(rcode >> 4) as u8, 0, if self.dnssec_ok { 0x80 } else { 0 }, 0]);
        let length_at = out.len();
        out.extend_from_slice(&[0, 0]);
        if let Some(nsid) = self.nsid {
            option(out, NSID, &[nsid.as_bytes()]);
        }
        if let Some(subnet) = self.subnet {
            let head = [0, subnet.family as u8, subnet.source, subnet.scope];
            option(out, SUBNET, &[&head, &subnet.address[..usize::from(subnet.length.min(16))]]);
        }
        if let Some(cookie) = self.cookie {
            option(out, COOKIE, &[&cookie]);
        }
        if let Some(time) = self.keepalive {
            option(out, KEEPALIVE, &[&time.to_be_bytes()]);
        }
        if let Some(error) = self.error {
            option(out, ERROR, &[&error.code.to_be_bytes(), error.text.as_bytes()]);
        }
        let length = (out.len() - length_at - 2) as u16;
        out[length_at..length_at + 2].copy_from_slice(&length.to_be_bytes());
    }
}

fn option(out: &mut Vec<u8>, code: u16, parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    out.extend_from_slice(&code.to_be_bytes());
    out.extend_from_slice(&(length as u16).to_be_bytes());
    for part in parts {
        out.extend_from_slice(part);
    }
}
