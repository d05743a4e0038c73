//! Zone transfers: who may have a zone, where it comes from, and the keys that sign the messages (RFC 5936, RFC 8945).

use std::net::SocketAddr;

use super::id::Name;
use super::net::Network;
use super::tls::Pem;
use super::zone::DnsName;

/// `[zone.NAME.transfer]`
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// Where the zone comes from, in the order in which they are asked. Empty: from the configuration.
    pub from: Vec<Primary>,
    /// Most that is taken from a primary: names, data and 10 bytes for each record. 1 KiB..=1 GiB, default 64 MiB.
    pub max_size: u64,
    /// Addresses that may transfer the zone. Empty: any, where there is a key and the zone is the configuration's own;
    /// else none.
    pub allow: Vec<Network>,
    /// Requests must be signed with this key; position in [`Dns::tsig`](super::dns::Dns).
    pub key: Option<u32>,
    /// Told of every new serial (RFC 1996).
    pub notify: Vec<SocketAddr>,
    /// Changes that are kept, so that secondaries can take them alone (RFC 1995). 0..=10 000, default 100; 0: none.
    pub history: u32,
}

/// A server that has the zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Primary {
    pub address: SocketAddr,
    /// What requests to it are signed with, and its answers and NOTIFY must be; position in
    /// [`Dns::tsig`](super::dns::Dns).
    pub key: Option<u32>,
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
        // Who may send a zone to this box is not thereby one who may take it from here.
        !self.allow.is_empty() || (self.key.is_some() && self.from.is_empty())
    }

    /// Whether the zone comes from elsewhere.
    pub fn comes_in(&self) -> bool {
        !self.from.is_empty()
    }
}

impl Default for Transfer {
    fn default() -> Transfer {
        Transfer {
            from: Vec::new(),
            max_size: 64 << 20,
            allow: Vec::new(),
            key: None,
            notify: Vec::new(),
            history: 100,
        }
    }
}
