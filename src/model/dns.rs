//! `[dns]`: how the DNS service answers, whatever the zones hold.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::geo::Database;
use super::id::Name;
use super::net::Network;
use super::tls::ClientTls;

/// `[dns]`
#[derive(Clone, Debug, PartialEq)]
pub struct Dns {
    /// UDP and TCP. Empty: no DNS.
    pub listen: Vec<SocketAddr>,
    /// What clients may hold.
    pub tcp: TcpLimits,
    /// DNS over TLS (RFC 7858); `None`: not spoken.
    pub tls: Option<Encrypted>,
    /// DNS over HTTPS (RFC 8484); `None`: not spoken.
    pub https: Option<Encrypted>,
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

/// `[dns.tcp]`: what clients may hold over connections, be they TCP, TLS or HTTPS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpLimits {
    /// At a time, of all three together. 1..=1 000 000, default 1000.
    pub connections: u32,
    /// Of one IPv4 address or one IPv6 /64. 1..=1 000 000, default 100.
    pub connections_per_client: u32,
    /// From the last answer to the end of the next query, and for taking what is sent. 1 s..=1 h, default 10 s.
    pub idle_timeout: Duration,
    /// Then the connection ends. 0..=1 000 000 000; 0, the default: any number.
    pub queries_per_connection: u32,
    /// Queries of one connection that are under way at a time; over HTTP/2 its streams. 1..=1000, default 100.
    pub pipeline: u32,
}

/// `[dns.tls]` and `[dns.https]`: listeners that speak TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encrypted {
    pub listen: Vec<SocketAddr>,
    pub tls: ClientTls,
    /// Of HTTPS: where queries go. Begins with a slash; default [`DOH_PATH`].
    pub path: Name,
}

/// The path that clients of DNS over HTTPS take where they know no other.
pub const DOH_PATH: &str = "/dns-query";

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

/// How far resolvers have followed a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolvers {
    /// May have held a former answer when the commit was published.
    pub asked_before: u32,
    /// Of those: have asked since for all that they may have held.
    pub asked_again: u32,
    /// Those that have not, the one that may hold it longest first; at most [`Resolvers::MISSING_MOST`].
    pub missing: Vec<IpAddr>,
    /// More had asked than were remembered: the figures are of those that were.
    pub partial: bool,
}

// === impl Resolvers ===

impl Resolvers {
    /// Missing ones that are named.
    pub const MISSING_MOST: usize = 100;
}

// === impl Dns ===

impl Default for Dns {
    fn default() -> Dns {
        Dns {
            listen: Vec::new(),
            tcp: TcpLimits::default(),
            tls: None,
            https: None,
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

impl Dns {
    /// Every address with the key that names it.
    pub fn listeners(&self) -> impl Iterator<Item = (&'static str, SocketAddr)> + '_ {
        let of = |encrypted: &'_ Option<Encrypted>| encrypted.iter().flat_map(|e| e.listen.clone()).collect::<Vec<_>>();
        let (tls, https) = (of(&self.tls), of(&self.https));
        let plain = self.listen.iter().map(|&address| ("dns.listen", address));
        let encrypted = tls.into_iter().map(|address| ("dns.tls.listen", address));
        plain.chain(encrypted).chain(https.into_iter().map(|address| ("dns.https.listen", address)))
    }
}

// === impl TcpLimits ===

impl Default for TcpLimits {
    fn default() -> TcpLimits {
        TcpLimits {
            connections: 1_000,
            connections_per_client: 100,
            idle_timeout: Duration::from_secs(10),
            queries_per_connection: 0,
            pipeline: 100,
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
