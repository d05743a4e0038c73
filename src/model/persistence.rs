//! How a client comes back to the member that served it before.

use std::time::Duration;

use super::balancing::Extract;
use super::id::{Name, VserverId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Persistence {
    pub kind: PersistenceKind,
    /// 0 (a session cookie; COOKIEINSERT only) ..=1440 min. Default 2 min.
    pub timeout: Duration,
    /// NetScaler's `persistenceBackup`: SOURCEIP for clients that do not keep the cookie, with its own time-out
    /// (2..=1440 min). COOKIEINSERT only.
    pub backup: Option<Duration>,
    /// Prefix lengths of the network that counts as one client, in every kind that looks at addresses (NetScaler's
    /// `persistMask`, `v6persistmasklen`). Default 32 and 128.
    pub prefix_v4: u8,
    pub prefix_v6: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersistenceKind {
    /// The name of the cookie; `None`: NetScaler's `NSC_` name. HTTP and SSL only.
    CookieInsert {
        cookie: Option<Name>,
        encrypted: bool,
    },
    SourceIp,
    DestIp,
    SrcIpDestIp,
    /// The TLS session id or ticket of the client (SSL, SSL_BRIDGE, SSL_TCP).
    SslSession,
    /// A value of the request, remembered with the member that served it; with `response` also the value that an answer
    /// gives out.
    Rule {
        request: Extract,
        response: Option<Extract>,
    },
    /// The request carries the member's `IP-port` as NetScaler's cookie writes it, or its custom server id.
    UrlPassive {
        request: Extract,
    },
    /// The request carries the member's `custom_server_id`.
    CustomServerId {
        request: Extract,
    },
}

/// NetScaler's `lb group`: one persistence for several vservers.
#[derive(Clone, Debug, PartialEq)]
pub struct LbGroup {
    pub name: Name,
    /// Of one kind of protocol, sorted, each once.
    pub vservers: Vec<VserverId>,
    pub persistence: Persistence,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SkipPersistency {
    /// Waits for its service (surge queue).
    #[default]
    None,
    /// Goes elsewhere this once; the entry stays.
    Bypass,
    /// Goes elsewhere and stays there.
    ReLb,
}

// === impl Persistence ===

impl Persistence {
    /// With the default time-out, no backup and whole addresses.
    pub fn new(kind: PersistenceKind) -> Persistence {
        Persistence { kind, timeout: Duration::from_secs(120), backup: None, prefix_v4: 32, prefix_v6: 128 }
    }
}

// === impl PersistenceKind ===

impl PersistenceKind {
    /// NetScaler's word.
    pub fn word(&self) -> &'static str {
        match self {
            PersistenceKind::CookieInsert { .. } => "COOKIEINSERT",
            PersistenceKind::SourceIp => "SOURCEIP",
            PersistenceKind::DestIp => "DESTIP",
            PersistenceKind::SrcIpDestIp => "SRCIPDESTIP",
            PersistenceKind::SslSession => "SSLSESSION",
            PersistenceKind::Rule { .. } => "RULE",
            PersistenceKind::UrlPassive { .. } => "URLPASSIVE",
            PersistenceKind::CustomServerId { .. } => "CUSTOMSERVERID",
        }
    }
}
