//! `[dns]`: how the DNS service answers, whatever the zones hold.

use std::fmt;
use std::net::SocketAddr;

use super::geo::Database;
use super::id::Name;
use super::net::Network;

/// `[dns]`
#[derive(Clone, Debug, PartialEq)]
pub struct Dns {
    /// UDP and TCP. Empty: no DNS.
    pub listen: Vec<SocketAddr>,
    /// In the order of their names.
    pub tsig: Vec<super::transfer::TsigKey>,
    /// What tells this server from others behind the same address (RFC 5001). 1..=[`NSID_MAX`] bytes; `None`: not told.
    pub nsid: Option<Name>,
    /// Extended errors (RFC 8914) in answers to EDNS. Default true.
    pub extended_errors: bool,
    /// Default [`Cookies::Generated`].
    pub cookies: Cookies,
    /// `None`: as many answers as are asked for.
    pub rate_limit: Option<RateLimit>,
    /// `None`: client subnets are ignored, and no answer tells of them.
    pub ecs: Option<ClientSubnet>,
    /// What tells where clients are; `None`: nobody knows.
    pub geo: Option<Database>,
}

/// Longest identifier of a server. Bytes.
pub const NSID_MAX: usize = 128;

/// DNS cookies (RFC 7873, RFC 9018).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cookies {
    /// The option is ignored.
    Off,
    /// With a key of this process, which nobody else knows and which a restart forgets.
    #[default]
    Generated,
    /// The first makes cookies, all are accepted: servers behind one address share them, and a new key is rolled over
    /// by standing last, then first, then alone.
    Keys(Vec<CookieKey>),
}

/// A file with the 32 hexadecimal digits of a key of 128 bits.
#[derive(Clone, PartialEq, Eq)]
pub struct CookieKey {
    /// As configured.
    pub file: Name,
    /// Secret, so never printed.
    pub key: [u8; 16],
}

/// Response-rate limiting: at most so many answers of one kind (records, none, errors) to one network in a second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// 1..=1 000 000.
    pub per_second: u32,
    /// Of the answers above the limit, each so manieth is sent with TC and without records, so that a real client asks
    /// again over TCP. 0: none, 1: all. 0..=100, default 2.
    pub slip: u32,
    /// Addresses of one network are counted as one client. 8..=32, default 24.
    pub ipv4_prefix: u8,
    /// 16..=128, default 56.
    pub ipv6_prefix: u8,
    /// Clients that are told apart at a time. 1024..=16 777 216, default 65 536; 8 bytes each.
    pub table: u32,
    /// Networks that are never limited.
    pub exempt: Vec<Network>,
}

/// EDNS client subnet (RFC 7871).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSubnet {
    /// Bits of an IPv4 subnet that are looked at. 8..=32, default 24.
    pub ipv4_prefix: u8,
    /// 16..=128, default 56.
    pub ipv6_prefix: u8,
    /// Resolvers that are believed; empty: all.
    pub from: Vec<Network>,
}

// === impl Dns ===

impl Default for Dns {
    fn default() -> Dns {
        Dns {
            listen: Vec::new(),
            tsig: Vec::new(),
            nsid: None,
            extended_errors: true,
            cookies: Cookies::default(),
            rate_limit: None,
            ecs: None,
            geo: None,
        }
    }
}

// === impl CookieKey ===

impl CookieKey {
    /// From the text of its file. Errors: in words.
    pub fn parse(file: Name, text: &str) -> Result<CookieKey, String> {
        let digits = text.trim().as_bytes();
        let mut key = [0; 16];
        if digits.len() != 32 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err("does not hold a key of 32 hexadecimal digits (`openssl rand -hex 16` makes one)".into());
        }
        let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or(0) as u8;
        for (byte, pair) in key.iter_mut().zip(digits.chunks(2)) {
            *byte = digit(pair[0]) << 4 | digit(pair[1]);
        }
        Ok(CookieKey { file, key })
    }
}

impl fmt::Debug for CookieKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CookieKey").field("file", &self.file).finish_non_exhaustive()
    }
}
