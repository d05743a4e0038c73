//! Zone transfers: who may have a zone, where it comes from, and the keys that sign the messages (RFC 5936, RFC 8945).

use std::net::SocketAddr;

use super::id::Name;
use super::net::Network;
use super::tls::Pem;
use super::zone::DnsName;

/// `[zone.NAME.transfer]`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transfer {
    /// Addresses that may transfer the zone. Empty: any, where there is a key; else none.
    pub allow: Vec<Network>,
    /// Requests must be signed with this key; position in [`Dns::tsig`](super::dns::Dns).
    pub key: Option<u32>,
    /// Told of every new serial (RFC 1996).
    pub notify: Vec<SocketAddr>,
}

/// `[dns.tsig.NAME]`
#[derive(Clone, Debug, PartialEq)]
pub struct TsigKey {
    /// As configured.
    pub name: Name,
    /// The name as it stands in messages.
    pub owner: DnsName,
    pub secret: TsigSecret,
}

/// The secret in Base64. Never printed.
#[derive(Clone, Debug, PartialEq)]
pub enum TsigSecret {
    /// An environment variable, read when a message is to be signed.
    Env(Name),
    /// A file, read when the configuration was.
    File(Pem),
}

// === impl Transfer ===

impl Transfer {
    /// Whether the zone goes out at all.
    pub fn goes_out(&self) -> bool {
        self.key.is_some() || !self.allow.is_empty()
    }
}
