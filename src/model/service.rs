//! Servers, services and service groups.

use std::net::SocketAddr;
use std::time::Duration;

use super::check::Host;
use super::id::{CheckId, GroupId, MonitorId, Name, ServerId};
use super::lookup::{Lookup, Question};
use super::tls::ServerTls;

/// A host. Disabling it drains everything on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub name: Name,
    /// A name is resolved at run time; while it does not resolve its services are UNKNOWN.
    pub address: Host,
    /// How a name is looked up; of no meaning for an address.
    pub lookup: Lookup,
    /// NetScaler's comment: shown, without effect.
    pub comment: Option<Name>,
}

/// What a service or vserver speaks: NetScaler's service types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Balanced per request.
    Http,
    /// HTTP over TLS: terminated here (vserver), spoken to the server (service). Balanced per request.
    Ssl,
    /// TLS passed through as it is, routed by the name in the ClientHello (SNI). Balanced per connection.
    SslBridge,
    /// Balanced per connection.
    Tcp,
    /// Any protocol over TLS, terminated here and spoken to the server. Balanced per connection.
    SslTcp,
    /// Balanced per session: all datagrams of one client address and port until the session times out.
    Udp,
    /// DNS over UDP, balanced per query.
    Dns,
    /// DNS over TCP. Balanced per connection.
    DnsTcp,
    /// TCP and UDP on the same port, each as above.
    Any,
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
    /// NetScaler's `customServerID`: what CUSTOMSERVERID and URLPASSIVE persistence look for.
    pub custom_server_id: Option<Name>,
    /// NetScaler's `hashId`: stands for the service in hash methods, so that its keys stay when it is renamed.
    pub hash_id: Option<u32>,
    /// Bound monitors and the checks made of them; empty only where `health_monitor` is off.
    pub monitors: Vec<MonitorBinding>,
}

/// What a service, or a group for all its members, is told. Times: see each field.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceSettings {
    pub protocol: Protocol,
    /// The monitors as configured, in order; empty: the default monitor of the type.
    pub monitors: Vec<BoundMonitor>,
    /// NetScaler's `healthMonitor`; off: UP always. Default on.
    pub health_monitor: bool,
    /// NetScaler's `monThreshold`: sum of weights of the monitors that are up, needed for UP. 0: all. 0..=65535.
    pub monitor_threshold: u32,
    /// NetScaler's `maxClient`: open connections (TCP) or requests in flight (HTTP). 0: no limit. What is over it waits
    /// in the surge queue of the vserver.
    pub max_client: u32,
    /// NetScaler's `maxReq`: requests that one connection to the server carries before it is closed (HTTP). 0: no limit.
    pub max_requests: u32,
    /// NetScaler's `maxBandwidth`, in bit/s of both directions together; a member above it gets no new clients. 0: no
    /// limit.
    pub max_bandwidth: u64,
    /// HTTP/2 to the server: by ALPN (SSL) or with prior knowledge (HTTP). gRPC needs it. Default off.
    pub http2: bool,
    /// How TLS is spoken to the server; `Some` exactly for SSL and SSL_TCP.
    pub tls: Option<ServerTls>,
    /// PROXY protocol header sent at the start of every connection to the server.
    pub proxy_protocol: Option<ProxyProtocol>,
    /// Passive health: ejection of a member that fails real traffic.
    pub passive: Option<Passive>,
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
    /// NetScaler's comment: shown, without effect.
    pub comment: Option<Name>,
    /// NetScaler's `appflowLog`: kept and shown; as there, nothing follows from it without AppFlow. Default on.
    pub app_flow_log: bool,
}

/// A monitor as a service or group is told to use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundMonitor {
    pub monitor: MonitorId,
    /// 1..=100, counted against `monitor_threshold`. Default 1.
    pub weight: u32,
    /// NetScaler's `monState`: a disabled binding neither probes nor counts. Default on.
    pub enabled: bool,
    /// NetScaler's `passive`: probed and shown, and never takes the service down. Default off.
    pub passive: bool,
}

/// A monitor at work on a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorBinding {
    pub monitor: MonitorId,
    pub check: CheckId,
    /// 1..=100, counted against `monitor_threshold`.
    pub weight: u32,
    /// By the configuration; a person may disable it at run time as well.
    pub enabled: bool,
    pub passive: bool,
}

/// A group: the settings and its members in order.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceGroup {
    pub name: Name,
    pub settings: ServiceSettings,
    /// With `auto_scale` those that DNS names right now, in the order of their addresses; none in a configuration.
    pub members: Vec<GroupMember>,
    pub auto_scale: Option<AutoScale>,
}

/// NetScaler's `autoScale DNS`: a member for every address of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutoScale {
    /// NetScaler's `autoDisabledelay`: a member whose address is gone from DNS drains this long. Default 0: out at once.
    pub disable_delay: Duration,
    /// NetScaler's `autoDisablegraceful`: … and until its clients are gone, whichever is first. Default off.
    pub disable_graceful: bool,
    /// NetScaler's `autoDelayedTrofs`: … and serves on before that for the longest response time-out of its monitors, so
    /// that those that join are probed first. Default off.
    pub delayed_trofs: bool,
    /// In the order of the configuration; of an address that two name the first one counts.
    pub sources: Vec<Source>,
}

/// A name that members come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// As a member of the group.
    pub name: Name,
    pub server: Option<ServerId>,
    pub question: Question,
    pub retry: Duration,
    /// `None` exactly for SRV, whose records say it.
    pub port: Option<u16>,
    /// Of each address; SRV records say their own.
    pub weight: u32,
    /// Of each address; SRV records say their own.
    pub order: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// The part after the slash.
    pub name: Name,
    pub service: super::id::ServiceId,
    /// Weight in every vserver the group is bound to. 0 (no new clients) ..=100, default 1.
    pub weight: u32,
    /// Priority order, see [`Member::order`](super::vserver::Member::order).
    pub order: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProxyProtocol {
    V1,
    V2,
}

/// Ejects a member from the choice of new clients after failures of real traffic; shown as `ejected`, never as DOWN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passive {
    /// Failed connects or resets in a row that eject. 0: not watched. Default 5.
    pub connect_failures: u32,
    /// 5xx answers in a row that eject (HTTP). 0: not watched. Default 0.
    pub server_errors: u32,
    /// How long the first ejection lasts; the n-th in a row n times as long, at most ten times. Default 30 s.
    pub eject_time: Duration,
    /// Percent of the members of a vserver that may be ejected at once. 1..=100, default 50; one may always be, unless
    /// it is the last.
    pub max_ejected: u8,
}

// === impl BoundMonitor ===

impl BoundMonitor {
    /// With everything at its default.
    pub fn new(monitor: MonitorId) -> BoundMonitor {
        BoundMonitor { monitor, weight: 1, enabled: true, passive: false }
    }
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
            custom_server_id: None,
            hash_id: None,
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
            max_requests: 0,
            max_bandwidth: 0,
            http2: false,
            tls: protocol.is_tls().then(ServerTls::default),
            proxy_protocol: None,
            passive: None,
            down_state_flush: true,
            client_ip_header: None,
            server_timeout: Duration::from_secs(360),
            connect_timeout: Duration::from_secs(3),
            comment: None,
            app_flow_log: true,
        }
    }

    /// How long a server may be silent; `None`: for ever.
    pub fn server_idle(&self) -> Option<Duration> {
        Some(self.server_timeout).filter(|limit| !limit.is_zero())
    }
}

// === impl Passive ===

impl Default for Passive {
    fn default() -> Passive {
        Passive { connect_failures: 5, server_errors: 0, eject_time: Duration::from_secs(30), max_ejected: 50 }
    }
}

// === impl Protocol ===

impl Protocol {
    pub const ALL: [Protocol; 9] = [
        Protocol::Http,
        Protocol::Ssl,
        Protocol::SslBridge,
        Protocol::Tcp,
        Protocol::SslTcp,
        Protocol::Udp,
        Protocol::Dns,
        Protocol::DnsTcp,
        Protocol::Any,
    ];

    /// NetScaler's word.
    pub fn word(self) -> &'static str {
        match self {
            Protocol::Http => "HTTP",
            Protocol::Ssl => "SSL",
            Protocol::SslBridge => "SSL_BRIDGE",
            Protocol::Tcp => "TCP",
            Protocol::SslTcp => "SSL_TCP",
            Protocol::Udp => "UDP",
            Protocol::Dns => "DNS",
            Protocol::DnsTcp => "DNS_TCP",
            Protocol::Any => "ANY",
        }
    }

    /// HTTP is understood: balanced per request, with headers, cookies and rules.
    pub fn is_http(self) -> bool {
        matches!(self, Protocol::Http | Protocol::Ssl)
    }

    /// TLS is spoken by Bascule itself.
    pub fn is_tls(self) -> bool {
        matches!(self, Protocol::Ssl | Protocol::SslTcp)
    }

    /// Listens on TCP.
    pub fn is_stream(self) -> bool {
        !matches!(self, Protocol::Udp | Protocol::Dns)
    }

    /// Listens on UDP.
    pub fn is_datagram(self) -> bool {
        matches!(self, Protocol::Udp | Protocol::Dns | Protocol::Any)
    }

    /// Whether a vserver of this type can have a service of type `service`: the same, or the same with and without TLS.
    pub fn carries(self, service: Protocol) -> bool {
        let plain = |p| match p {
            Protocol::Ssl => Protocol::Http,
            Protocol::SslTcp => Protocol::Tcp,
            other => other,
        };
        plain(self) == plain(service)
    }
}
