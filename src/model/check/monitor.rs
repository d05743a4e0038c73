//! Monitors: NetScaler's definitions, from which checks are made.

use std::net::IpAddr;
use std::sync::Arc;

use super::{DnsType, HttpExpect, HttpRequest, Schedule, TlsProbe};
use crate::model::dialogue::{Dialogue, InlineAction, LoadQuery, Script};
use crate::model::id::Name;

/// `[monitor.NAME]`: a definition; it becomes a [`Check`](super::Check) for every service it is bound to. Built-in
/// monitors (`tcp-default`, `ping-default`, …) stand in the same table with `builtin`.
#[derive(Clone, Debug, PartialEq)]
pub struct Monitor {
    pub name: Name,
    pub builtin: bool,
    pub kind: MonitorKind,
    pub schedule: Schedule,
    /// NetScaler's `state`: a disabled monitor is bound and neither probes nor counts.
    pub enabled: bool,
    /// NetScaler's `secure`: the probe speaks TLS (TCP-based kinds).
    pub tls: Option<TlsProbe>,
    /// Probes go here instead of to the service's address and port.
    pub dest_ip: Option<IpAddr>,
    pub dest_port: Option<u16>,
    /// Shown, without effect.
    pub comment: Option<Name>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum MonitorKind {
    Ping,
    Tcp,
    Http {
        request: HttpRequest,
        expect: HttpExpect,
    },
    TcpEcv {
        send: Vec<u8>,
        receive: Vec<u8>,
        trofs: Option<Vec<u8>>,
    },
    HttpEcv {
        request: HttpRequest,
        expect: HttpExpect,
    },
    UdpEcv {
        send: Vec<u8>,
        receive: Vec<u8>,
    },
    Dns {
        tcp: bool,
        query: String,
        qtype: DnsType,
        expect: Vec<IpAddr>,
    },
    Http2 {
        request: HttpRequest,
        expect: HttpExpect,
    },
    HttpInline {
        request: HttpRequest,
        expect: HttpExpect,
        action: InlineAction,
    },
    Dialogue(Dialogue),
    Load(LoadQuery),
    User(Script),
    /// Known to NetScaler and not in this build: accepted, stored, shown; its state is unknown.
    Unavailable {
        kind: Arc<str>,
    },
}

// === impl MonitorKind ===

impl MonitorKind {
    /// NetScaler's word: `HTTP`, `TCP-ECV`, …
    pub fn word(&self) -> &str {
        match self {
            MonitorKind::Ping => "PING",
            MonitorKind::Tcp => "TCP",
            MonitorKind::Http { .. } => "HTTP",
            MonitorKind::TcpEcv { .. } => "TCP-ECV",
            MonitorKind::HttpEcv { .. } => "HTTP-ECV",
            MonitorKind::UdpEcv { .. } => "UDP-ECV",
            MonitorKind::Dns { tcp: false, .. } => "DNS",
            MonitorKind::Dns { tcp: true, .. } => "DNS-TCP",
            MonitorKind::Http2 { .. } => "HTTP2",
            MonitorKind::HttpInline { .. } => "HTTP-INLINE",
            MonitorKind::Dialogue(dialogue) => dialogue.word(),
            MonitorKind::Load(_) => "LOAD",
            MonitorKind::User(_) => "USER",
            MonitorKind::Unavailable { kind } => kind,
        }
    }
}
