//! Health checks. One table for three origins: checks that the operator wrote (`[check.NAME]`), monitors bound to a
//! service (one instance per service and monitor), and targets of data-centre access lists. Each is probed once per
//! interval however many refer to it.

mod monitor;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use super::condition::Signal;
use super::dialogue::{Dialogue, InlineAction, LoadQuery, Script};
use super::id::{DatacenterId, MonitorId, Name, ServiceId};

pub use monitor::{Monitor, MonitorKind};

/// A check as it is probed and judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// User checks: their name. Monitor instances: `SERVICE:MONITOR`. Targets: `dc:NAME.wan#0`.
    pub name: Name,
    pub origin: Origin,
    pub probe: Probe,
    pub schedule: Schedule,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    User,
    Monitor { monitor: MonitorId, service: ServiceId },
    Target { datacenter: DatacenterId, signal: Signal, index: u32 },
}

/// When samples are taken and how many decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Start to start. Default 5 s; from 20 ms to 1 h, for monitors to NetScaler's 20 940 s.
    pub interval: Duration,
    /// A sample without an answer by then has failed. Less than `interval`; default 2 s.
    pub timeout: Duration,
    /// Passed samples in a row that bring it up. 1..=127 (monitor: `success_retries`, default 1; check: 3).
    pub rise: u32,
    /// Failed samples in a row that take it down. 1..=127 (monitor: `retries`, default 3; check: 3).
    pub fall: u32,
    /// NetScaler's `failureRetries`: with `Some(m)`, `m` failures among the last `fall` samples take it down; m < fall.
    pub fall_among: Option<u32>,
    /// NetScaler's `downTime`: the wait before a check that is down is probed again. `None`: the interval. Monitors:
    /// 30 s; a failure after the first success of a rise waits this long again.
    pub down_time: Option<Duration>,
    /// A passed sample counts as failed and the other way round.
    pub reverse: bool,
    /// NetScaler's `resptimeoutThresh`: a sample that takes more than this percentage of `timeout` is warned of. 0: none
    /// is. 0..=100.
    pub timeout_threshold: u8,
    /// NetScaler's `alertRetries`: so many failed samples in a row are warned of. 0: none are. 0..=32.
    pub alert_after: u32,
    /// NetScaler's `LRTM`: the average time to an answer is learned, and shown.
    pub learn: bool,
    /// NetScaler's `deviation`: an answer that comes later than the learned average and this much more is a failed
    /// sample; the average learns from it all the same. `None`: `timeout` alone decides.
    pub deviation: Option<Duration>,
}

/// What is done for one sample.
#[derive(Clone, Debug, PartialEq)]
pub enum Probe {
    /// A connection is opened.
    Tcp { target: Target },
    /// One request on a new connection; HTTPS where `tls` is set.
    Http { target: Target, tls: Option<TlsProbe>, request: HttpRequest, expect: HttpExpect },
    /// ICMP echo. Without the permission for it the check is unknown, with the reason in `last_error`.
    Ping { target: Target },
    /// A query over UDP, or over TCP.
    Dns { target: Target, tcp: bool, query: String, qtype: DnsType, expect: Vec<IpAddr> },
    /// Send bytes, look for bytes (TCP-ECV, and over TLS where `tls` is set).
    TcpEcv { target: Target, tls: Option<TlsProbe>, send: Vec<u8>, receive: Vec<u8>, trofs: Option<Vec<u8>> },
    /// UDP-ECV. Without `receive` a sample passes unless the port is reported unreachable.
    UdpEcv { target: Target, send: Vec<u8>, receive: Vec<u8> },
    /// One request over HTTP/2: with prior knowledge, or by ALPN where `tls` is set.
    Http2 { target: Target, tls: Option<TlsProbe>, request: HttpRequest, expect: HttpExpect },
    /// The answers that users got since the last sample are judged; where there were none, a request is made.
    HttpInline { target: Target, tls: Option<TlsProbe>, request: HttpRequest, expect: HttpExpect, action: InlineAction },
    /// An application protocol.
    Dialogue { target: Target, tls: Option<TlsProbe>, dialogue: Dialogue },
    /// A number that says how busy the server is.
    Load { target: Target, tls: Option<TlsProbe>, query: LoadQuery },
    /// A script of the operator's.
    User { target: Target, script: Script },
    /// The same of several targets, at once; at least `quorum` must pass. None of them is `Several` or `Derived`.
    Several { probes: Arc<[Probe]>, quorum: u32 },
    /// Nothing is sent: the sample passes while `term`, one of the watched terms, is true, and is void while it is
    /// unknown.
    Derived { of: Derived, term: Name },
    /// A kind that this build cannot probe; the check stays unknown and says so in `last_error`.
    Unavailable { kind: Arc<str> },
}

/// Where a probe goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    pub host: Host,
    /// 0 for PING.
    pub port: u16,
    /// The address of this machine that it leaves from; `None`: as the system chooses.
    pub source: Option<IpAddr>,
}

/// What a derived check looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Derived {
    Scenario,
    Datacenter,
    Vserver,
    Service,
}

/// An address, or a name that is looked up (outside the hot paths). Every probe of a name looks it up anew.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    Ip(IpAddr),
    Name(Name),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsProbe {
    /// Server name sent and verified; `None`: the host.
    pub server_name: Option<Name>,
    /// Whether the certificate is verified (default: yes for checks, no for NetScaler's `secure` monitors).
    pub verify: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// `GET`, `HEAD`, …
    pub method: Name,
    /// Origin form, with query.
    pub path: Name,
    /// Value of the Host field; `None`: the target.
    pub host: Option<Name>,
    pub headers: Vec<(Name, Name)>,
    /// HTTP-ECV `send`: appended as written where not empty.
    pub body: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HttpExpect {
    /// Accepted status codes, as inclusive ranges.
    pub status: Vec<StatusRange>,
    /// Fields that must be present with this value (exact, after trimming).
    pub headers: Vec<(Name, Name)>,
    pub body: Option<BodyMatch>,
    /// This status drains the service (NetScaler's `trofsCode`).
    pub trofs_code: Option<u16>,
    /// A body with this text drains the service (`trofsString`, HTTP-ECV).
    pub trofs_body: Option<Vec<u8>>,
}

/// Inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatusRange {
    pub from: u16,
    pub to: u16,
}

/// Looked for in the first 64 KiB of a body (HTTP-ECV monitors: the first 24 KiB).
#[derive(Clone, Debug, PartialEq)]
pub enum BodyMatch {
    Contains(Vec<u8>),
    /// Syntax of the crate `regex`; linear time.
    Regex(Name),
    /// A JSON pointer (RFC 6901) and the value it must have.
    Json {
        pointer: Name,
        equals: serde_json::Value,
    },
    /// A JSON pointer, and the comparison that holds of what is there: `<= 60`, `= 'YES'`.
    JsonIs {
        pointer: Name,
        is: Name,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DnsType {
    A,
    Aaaa,
    Ns,
    Soa,
    Txt,
    Mx,
    Cname,
    Srv,
    Ptr,
}

// === impl Check ===

impl Check {
    /// The type as REST shows it and the configuration says it.
    pub fn word(&self) -> &str {
        match (&self.origin, self.probe.word()) {
            // `-ECV` is NetScaler's, of monitors.
            (Origin::User, "UDP-ECV") => "UDP",
            (_, word) => word,
        }
    }
}

// === impl Schedule ===

impl Default for Schedule {
    /// Of a check: every 5 s, 2 s for an answer, three in a row either way.
    fn default() -> Schedule {
        Schedule {
            interval: Duration::from_secs(5),
            timeout: Duration::from_secs(2),
            rise: 3,
            fall: 3,
            fall_among: None,
            down_time: None,
            reverse: false,
            timeout_threshold: 0,
            alert_after: 0,
            learn: false,
            deviation: None,
        }
    }
}

/// Every probe that goes to one target.
macro_rules! aimed_at {
    ($target:ident) => {
        Probe::Tcp { $target }
            | Probe::Http { $target, .. }
            | Probe::Ping { $target }
            | Probe::Dns { $target, .. }
            | Probe::TcpEcv { $target, .. }
            | Probe::UdpEcv { $target, .. }
            | Probe::Http2 { $target, .. }
            | Probe::HttpInline { $target, .. }
            | Probe::Dialogue { $target, .. }
            | Probe::Load { $target, .. }
            | Probe::User { $target, .. }
    };
}

// === impl Probe ===

impl Probe {
    /// The kind as REST shows it: `TCP`, `HTTP`, `HTTPS`, …
    pub fn word(&self) -> &str {
        match self {
            Probe::Tcp { .. } => "TCP",
            Probe::Http { tls: None, .. } => "HTTP",
            Probe::Http { tls: Some(_), .. } => "HTTPS",
            Probe::Ping { .. } => "PING",
            Probe::Dns { tcp: false, .. } => "DNS",
            Probe::Dns { tcp: true, .. } => "DNS-TCP",
            Probe::Http2 { .. } => "HTTP2",
            Probe::HttpInline { .. } => "HTTP-INLINE",
            Probe::Dialogue { dialogue, .. } => dialogue.word(),
            Probe::Load { .. } => "LOAD",
            Probe::User { .. } => "USER",
            Probe::TcpEcv { .. } => "TCP-ECV",
            Probe::UdpEcv { .. } => "UDP-ECV",
            Probe::Several { probes, .. } => probes.first().map_or("", Probe::word),
            Probe::Derived { of, .. } => of.word(),
            Probe::Unavailable { kind } => kind,
        }
    }

    /// Where it goes; `None`: to several places, or nowhere.
    pub fn target(&self) -> Option<&Target> {
        match self {
            aimed_at!(target) => Some(target),
            Probe::Several { .. } | Probe::Derived { .. } | Probe::Unavailable { .. } => None,
        }
    }

    /// What is asked: itself, or each of several.
    pub fn parts(&self) -> &[Probe] {
        match self {
            Probe::Several { probes, .. } => probes,
            one => std::slice::from_ref(one),
        }
    }

    /// Where it looks, in words: its targets, or the term that it is derived from.
    pub fn place(&self) -> Option<String> {
        match self {
            Probe::Derived { term, .. } => Some(term.to_string()),
            _ => {
                let targets: Vec<String> =
                    self.parts().iter().filter_map(Probe::target).map(Target::to_string).collect();
                (!targets.is_empty()).then(|| targets.join(", "))
            }
        }
    }

    /// Sets where it goes, and where it leaves from.
    pub fn set_target(&mut self, new: Target) {
        match self {
            aimed_at!(target) => *target = new,
            Probe::Several { .. } | Probe::Derived { .. } | Probe::Unavailable { .. } => {}
        }
    }
}

// === impl Derived ===

impl Derived {
    pub const ALL: [Derived; 4] = [Derived::Scenario, Derived::Datacenter, Derived::Vserver, Derived::Service];

    /// The type of the check.
    pub fn word(self) -> &'static str {
        match self {
            Derived::Scenario => "SCENARIO",
            Derived::Datacenter => "DATACENTER",
            Derived::Vserver => "VSERVER",
            Derived::Service => "SERVICE",
        }
    }

    /// What the terms of this kind begin with.
    pub fn prefix(self) -> &'static str {
        match self {
            Derived::Scenario => "sc:",
            Derived::Datacenter => "dc:",
            Derived::Vserver => "vs:",
            Derived::Service => "svc:",
        }
    }
}

// === impl Target ===

impl Target {
    pub fn new(address: SocketAddr) -> Target {
        Target::at(Host::Ip(address.ip()), address.port())
    }

    /// From whichever address the system chooses.
    pub fn at(host: Host, port: u16) -> Target {
        Target { host, port, source: None }
    }
}

impl std::fmt::Display for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Host::Ip(ip) => ip.fmt(f),
            Host::Name(name) => f.write_str(name),
        }
    }
}

/// `192.0.2.1:80`, `[2001:db8::1]:80`, `app.example:80`; without a port for PING.
impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.host, self.port) {
            (host, 0) => host.fmt(f),
            (Host::Ip(ip), port) => SocketAddr::new(*ip, port).fmt(f),
            (Host::Name(name), port) => write!(f, "{name}:{port}"),
        }
    }
}

// === impl StatusRange ===

impl StatusRange {
    pub fn one(code: u16) -> StatusRange {
        StatusRange { from: code, to: code }
    }

    pub fn contains(self, code: u16) -> bool {
        (self.from..=self.to).contains(&code)
    }
}
