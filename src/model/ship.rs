//! Where the journal is shipped to while it is written.

use super::check::Host;
use super::id::{CertificateId, Name};
use super::scenario::Secret;

/// `[journal.ship.NAME]`
#[derive(Clone, Debug, PartialEq)]
pub struct Ship {
    pub name: Name,
    pub to: ShipTo,
    /// Kinds of entries that go; empty: all.
    pub kinds: Vec<Name>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ShipTo {
    /// RFC 5424 over TCP with octet counting (RFC 6587 §3.4.1), or over TLS (RFC 5425).
    Syslog {
        host: Host,
        /// 1..=65535.
        port: u16,
        tls: Option<ShipTls>,
    },
    /// Batches of lines of JSON, each answered with 2xx.
    Http { uri: Name, headers: Vec<(Name, Name)>, secret: Option<Secret> },
}

/// The server's certificate is always verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShipTls {
    /// Instead of the system's roots.
    pub authority: Option<CertificateId>,
    /// Sent and verified; `None`: the host of the address.
    pub server_name: Option<Name>,
}

/// Every kind of entry.
pub const KINDS: [&str; 24] = [
    "transition",
    "act",
    "ended",
    "state",
    "board",
    "attempt",
    "warning",
    "ejected",
    "delivery",
    "alert",
    "drill",
    "outbox",
    "members",
    "zone",
    "zone_act",
    "address",
    "access",
    "caches",
    "resolvers",
    "config",
    "start",
    "stop",
    "handover",
    "anchor",
];

// === impl Ship ===

impl Ship {
    pub fn takes(&self, kind: &str) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|own| **own == *kind)
    }

    /// `tls:log.example:6514`, `https://log.example/journal`: what it is called in messages.
    pub fn address(&self) -> String {
        match &self.to {
            ShipTo::Syslog { host, port, tls } => {
                let transport = if tls.is_some() { "tls" } else { "tcp" };
                match host {
                    Host::Ip(ip) => format!("{transport}:{}", std::net::SocketAddr::new(*ip, *port)),
                    Host::Name(name) => format!("{transport}:{name}:{port}"),
                }
            }
            ShipTo::Http { uri, .. } => uri.split('?').next().unwrap_or_default().to_owned(),
        }
    }
}
