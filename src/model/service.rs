//! Servers, services and service groups.

use std::net::SocketAddr;
use std::time::Duration;

use super::check::Host;
use super::id::{CheckId, GroupId, MonitorId, Name, ServerId};

/// A host. Disabling it drains everything on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub name: Name,
    /// A name is resolved at run time; while it does not resolve its services are UNKNOWN.
    pub address: Host,
}

/// What a service or vserver speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Balanced per request.
    Http,
    /// Balanced per connection.
    Tcp,
}

/// A service, or a member of a service group (named `GROUP/MEMBER`).
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    pub name: Name,
    /// `Some` for a member of a group.
    pub group: Option<GroupId>,
    /// `Some` where it names a server object, `None` where it has an address of its own.
    pub server: Option<ServerId>,
    /// The address of the server, or its own.
    pub host: Host,
    pub port: u16,
    pub settings: ServiceSettings,
    /// Bound monitors and the checks made of them; empty only where `health_monitor` is off.
    pub monitors: Vec<MonitorBinding>,
}

/// What a service, or a group for all its members, is told. Times: see each field.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceSettings {
    pub protocol: Protocol,
    /// The monitors as configured, in order, with weights; empty: the default monitor of the type.
    pub monitors: Vec<(MonitorId, u32)>,
    /// NetScaler's `healthMonitor`; off: UP always. Default on.
    pub health_monitor: bool,
    /// NetScaler's `monThreshold`: sum of weights of the monitors that are up, needed for UP. 0: all. 0..=65535.
    pub monitor_threshold: u32,
    /// NetScaler's `maxClient`: open connections (TCP) or requests in flight (HTTP). 0: no limit.
    pub max_client: u32,
    /// NetScaler's `downStateFlush`: connections end when the service goes down or out. Default on.
    pub down_state_flush: bool,
    /// NetScaler's `cip`: the name of a header that carries the client's address to the server, instead of
    /// X-Forwarded-For.
    pub client_ip_header: Option<Name>,
    /// Idle time after which a connection to the server is closed. Default 360 s; 0: never. See
    /// [`ServiceSettings::server_idle`].
    pub server_timeout: Duration,
    /// Time to open a connection to the server. Default 3 s.
    pub connect_timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorBinding {
    pub monitor: MonitorId,
    pub check: CheckId,
    /// 1..=100, counted against `monitor_threshold`.
    pub weight: u32,
}

/// A group: the settings and its members in order.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceGroup {
    pub name: Name,
    pub settings: ServiceSettings,
    pub members: Vec<GroupMember>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// The part after the slash.
    pub name: Name,
    pub service: super::id::ServiceId,
    /// Weight in every vserver the group is bound to. 1..=100, default 1.
    pub weight: u32,
}

// === impl Service ===

impl Service {
    /// One with an address of its own, no monitors and everything at its default.
    pub fn new(name: impl Into<Name>, protocol: Protocol, address: SocketAddr) -> Service {
        Service {
            name: name.into(),
            group: None,
            server: None,
            host: Host::Ip(address.ip()),
            port: address.port(),
            settings: ServiceSettings::new(protocol),
            monitors: Vec::new(),
        }
    }
}

// === impl ServiceSettings ===

impl ServiceSettings {
    /// Everything at its default.
    pub fn new(protocol: Protocol) -> ServiceSettings {
        ServiceSettings {
            protocol,
            monitors: Vec::new(),
            health_monitor: true,
            monitor_threshold: 0,
            max_client: 0,
            down_state_flush: true,
            client_ip_header: None,
            server_timeout: Duration::from_secs(360),
            connect_timeout: Duration::from_secs(3),
        }
    }

    /// How long a server may be silent; `None`: for ever.
    pub fn server_idle(&self) -> Option<Duration> {
        Some(self.server_timeout).filter(|limit| !limit.is_zero())
    }
}

// === impl Protocol ===

impl Protocol {
    /// NetScaler's word.
    pub fn word(self) -> &'static str {
        match self {
            Protocol::Http => "HTTP",
            Protocol::Tcp => "TCP",
        }
    }
}
