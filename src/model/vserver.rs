//! Load-balancing virtual servers.

use std::net::SocketAddr;
use std::time::Duration;

use super::id::{GroupId, Name, ServiceId, VserverId};
use super::service::Protocol;

#[derive(Clone, Debug, PartialEq)]
pub struct Vserver {
    pub name: Name,
    pub protocol: Protocol,
    /// The VIP. `None`: reachable as a backup only. Port 0 takes a free port.
    pub address: Option<SocketAddr>,
    /// Services bound by name, in the order of the configuration, with their weights.
    pub services: Vec<(ServiceId, u32)>,
    /// Groups bound, in order.
    pub groups: Vec<GroupId>,
    /// All members: `services`, then the members of `groups`. What selection and state work on.
    pub members: Vec<Member>,
    pub method: Method,
    pub persistence: Option<Persistence>,
    /// NetScaler's `backupVServer`. Chains have at most 10 backups and no loop.
    pub backup: Option<VserverId>,
    /// NetScaler's `healthThreshold`: below this percentage of active services the state is DOWN. 0: off. 0..=100.
    pub health_threshold: u8,
    pub spillover: Option<Spillover>,
    /// NetScaler's `disablePrimaryOnDown`: once DOWN it stays out until someone enables it. Needs a backup.
    pub disable_primary_on_down: bool,
    /// NetScaler's `downStateFlush` of the vserver. Default on.
    pub down_state_flush: bool,
    /// NetScaler's `trofsPersistence`: persistent clients still reach a draining service. Default on.
    pub trofs_persistence: bool,
    /// Time without a byte from an idle client. Default 180 s for HTTP, 9000 s for TCP.
    pub client_timeout: Duration,
    /// Whether the client's address is appended to X-Forwarded-For. Default on (HTTP).
    pub forwarded_for: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub service: ServiceId,
    /// 1..=100.
    pub weight: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// NetScaler's default. HTTP: requests in flight; TCP: open connections; both divided by weight.
    #[default]
    LeastConnection,
    RoundRobin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Persistence {
    pub kind: PersistenceKind,
    /// 0 (a session cookie; COOKIEINSERT only) ..=1440 min. Default 2 min.
    pub timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersistenceKind {
    /// The name of the cookie; `None`: NetScaler's `NSC_` name. HTTP only.
    CookieInsert { cookie: Option<Name> },
    /// Prefix lengths of the network that counts as one client. Default 32 and 128.
    SourceIp { prefix_v4: u8, prefix_v6: u8 },
}

/// New connections go to the backup while the condition holds; the state stays UP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spillover {
    /// Percent of weights UP, below which new clients go to the backup. 1..=100. A draining service is not UP.
    Health { threshold: u8 },
}

// === impl Vserver ===

impl Vserver {
    /// One with nothing bound and everything at its default.
    pub fn new(name: impl Into<Name>, protocol: Protocol) -> Vserver {
        let (client_timeout, forwarded_for) = match protocol {
            Protocol::Http => (Duration::from_secs(180), true),
            Protocol::Tcp => (Duration::from_secs(9000), false),
        };
        Vserver {
            name: name.into(),
            protocol,
            address: None,
            services: Vec::new(),
            groups: Vec::new(),
            members: Vec::new(),
            method: Method::default(),
            persistence: None,
            backup: None,
            health_threshold: 0,
            spillover: None,
            disable_primary_on_down: false,
            down_state_flush: true,
            trofs_persistence: true,
            client_timeout,
            forwarded_for,
        }
    }
}

// === impl Method ===

impl Method {
    /// NetScaler's word.
    pub fn word(self) -> &'static str {
        match self {
            Method::LeastConnection => "LEASTCONNECTION",
            Method::RoundRobin => "ROUNDROBIN",
        }
    }
}
