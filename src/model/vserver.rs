//! Virtual servers: load balancing and content switching.

use std::net::SocketAddr;
use std::time::Duration;

use super::balancing::Balancing;
use super::id::{GroupId, LbGroupId, Name, ServiceId, VserverId};
use super::limit::{ClientLimit, Retry, Spillover, Surge};
use super::net::Network;
use super::persistence::{Persistence, SkipPersistency};
use super::policy::BoundPolicy;
use super::service::Protocol;
use super::tls::ClientTls;

/// A load-balancing vserver, or a content-switching one ([`Role`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Vserver {
    pub name: Name,
    pub role: Role,
    pub protocol: Protocol,
    /// The VIP. `None`: reachable as a backup or target only. Port 0 takes a free port.
    pub address: Option<SocketAddr>,
    /// The interface that its address is put on. `None`: the one whose subnet holds it. Without effect where nobody puts
    /// addresses on interfaces.
    pub interface: Option<Name>,
    /// Services bound by name, in the order of the configuration.
    pub services: Vec<Member>,
    /// Groups bound, in order.
    pub groups: Vec<GroupId>,
    /// All members: `services`, then the members of `groups`. What selection and state work on.
    pub members: Vec<Member>,
    pub balancing: Balancing,
    pub persistence: Option<Persistence>,
    /// Persistence shared with the other vservers of this group; `persistence` is then the group's.
    pub lb_group: Option<LbGroupId>,
    /// NetScaler's `backupVServer`. Chains have at most 10 backups and no loop.
    pub backup: Option<VserverId>,
    /// NetScaler's `redirectURL`: answered 302 where neither it nor its chain can serve (HTTP). Default none: 503.
    pub redirect_url: Option<Name>,
    /// NetScaler's `healthThreshold`: below this percentage of active services the state is DOWN. 0: off. 0..=100.
    pub health_threshold: u8,
    pub spillover: Option<Spillover>,
    /// NetScaler's `disablePrimaryOnDown`: once DOWN it stays out until someone enables it. Needs a backup.
    pub disable_primary_on_down: bool,
    /// NetScaler's `downStateFlush` of the vserver. Default on.
    pub down_state_flush: bool,
    /// NetScaler's `trofsPersistence`: persistent clients still reach a draining service. Default on.
    pub trofs_persistence: bool,
    /// NetScaler's `skipPersistency`: what becomes of a persistent client whose service is at its limit.
    pub skip_persistency: SkipPersistency,
    /// Time without a byte from an idle client. Default 180 s for HTTP and SSL, 120 s for UDP, DNS and the datagrams of
    /// ANY, else 9000 s.
    pub client_timeout: Duration,
    /// What clients wait in while every member is at its limit.
    pub surge: Surge,
    /// What one client may do.
    pub client_limits: Vec<ClientLimit>,
    pub retry: Retry,
    /// A client that closes its sending side before its answer has begun has left, and its request is broken off (HTTP, SSL).
    /// Off: it is still answered. Default on.
    pub abort_on_close: bool,
    /// Which fields tell the server about the client (HTTP, SSL).
    pub forwarded: Forwarded,
    /// `Some` exactly for SSL and SSL_TCP.
    pub tls: Option<ClientTls>,
    /// HTTP/2 to clients: by ALPN (SSL, default on), or with prior knowledge (HTTP, default off).
    pub http2: bool,
    /// Every client connection must begin with a PROXY protocol header (v1 or v2), whose address is then the client's.
    /// Default off.
    pub proxy_protocol: bool,
    /// Clients that are told, in response headers, who served them and how it ended. Default none.
    pub diagnostics: Vec<Network>,
    /// NetScaler's comment: shown, without effect.
    pub comment: Option<Name>,
    /// Policies bound, by bank and in the order of the configuration; the rules that follow are the model's.
    pub policies: Vec<BoundPolicy>,
    /// NetScaler's `appflowLog`: kept and shown; as there, nothing follows from it without AppFlow. Default on.
    pub app_flow_log: bool,
}

/// What a vserver does with what it accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Balances over its members.
    #[default]
    Lb,
    /// A `cs vserver`: its rules say where a request goes; what no rule takes goes to `default`. Has no members of its
    /// own. UP while one of its targets is.
    Cs {
        default: Option<VserverId>,
        /// All vservers that it can hand to: those that its rules name, and `default`. Sorted, each once.
        targets: Vec<VserverId>,
    },
}

/// A service bound to a vserver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub service: ServiceId,
    /// 0 (no new clients; persistent ones stay) ..=100.
    pub weight: u32,
    /// NetScaler's `order`: new clients go to the lowest order that has a member UP. 1..=8192, default 1.
    pub order: u32,
    /// Position in `Vserver::groups` of the group that it belongs to, if any.
    pub group: Option<u16>,
}

/// Fields about the client that go to servers. A client cannot forge them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forwarded {
    /// X-Forwarded-For: the client's address, appended. Default on.
    pub x_forwarded_for: bool,
    /// X-Forwarded-Proto, -Host and -Port, set. Default off.
    pub x_forwarded: bool,
    /// RFC 7239 `Forwarded`: `for`, `proto`, `host`, appended. Default off.
    pub forwarded: bool,
}

// === impl Vserver ===

impl Vserver {
    /// One with nothing bound and everything at its default.
    pub fn new(name: impl Into<Name>, protocol: Protocol) -> Vserver {
        let http = protocol.is_http();
        Vserver {
            name: name.into(),
            role: Role::default(),
            protocol,
            address: None,
            interface: None,
            services: Vec::new(),
            groups: Vec::new(),
            members: Vec::new(),
            balancing: Balancing::default(),
            persistence: None,
            lb_group: None,
            backup: None,
            redirect_url: None,
            health_threshold: 0,
            spillover: None,
            disable_primary_on_down: false,
            down_state_flush: true,
            trofs_persistence: true,
            skip_persistency: SkipPersistency::default(),
            client_timeout: Vserver::default_client_timeout(protocol),
            surge: Surge::default(),
            client_limits: Vec::new(),
            retry: Retry::default(),
            abort_on_close: http,
            forwarded: Forwarded { x_forwarded_for: http, x_forwarded: false, forwarded: false },
            tls: protocol.is_tls().then(ClientTls::default),
            http2: protocol == Protocol::Ssl,
            proxy_protocol: false,
            diagnostics: Vec::new(),
            comment: None,
            policies: Vec::new(),
            app_flow_log: true,
        }
    }

    pub fn default_client_timeout(protocol: Protocol) -> Duration {
        match protocol {
            Protocol::Http | Protocol::Ssl => Duration::from_secs(180),
            Protocol::Udp | Protocol::Dns => Duration::from_secs(120),
            _ => Duration::from_secs(9000),
        }
    }
}

// === impl Member ===

impl Member {
    /// With weight and order at their default, of no group.
    pub fn new(service: ServiceId) -> Member {
        Member { service, weight: 1, order: 1, group: None }
    }
}
