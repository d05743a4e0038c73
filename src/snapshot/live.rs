//! What outlives a generation: counters, open work, persistence. Keyed by name in one [`Registry`]; snapshots hold
//! shared references, so that nothing on the data path looks a name up.

mod answers;
mod askers;
pub mod connections;
mod counted;
mod dns;
mod figures;
pub mod histogram;
mod log;
pub mod measured;
mod network;
mod secondary;
mod sessions;
mod ships;
pub mod stats;
mod surge;
mod tls;
mod traces;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::model::ending::Reason;
use crate::model::id::Name;
use crate::model::network::AddressState;
use crate::model::time::{Tick, Wall};

pub use crate::balance::persistence::sealed::CookieKey;
pub use crate::balance::persistence::{Totals, keeps_a_table};
pub use answers::AnswersLive;
pub use askers::{Askers, Seen};
pub use connections::{Connection, Connections};
pub use counted::Counted;
pub use dns::{DnsLive, RrsetLive, Served, ZoneLive};
pub use figures::{Ejector, FirstByte, Meter};
pub use log::LogLive;
pub use measured::{Endings, Interval, Measured};
pub use network::{NetworkLive, SourceLive};
pub use secondary::{SecondaryLive, SecondaryStatus};
pub use sessions::{Clients, Session, Sessions, sessions_asked};
pub use ships::{Shipping, Ships};
pub use stats::{Rates, Stats};
pub use surge::Surging;
pub use tls::{TLS_FAILURES, TlsLive};
pub use traces::{Traced, Traces, Tried};

/// Characters of a reason that are kept.
const WHY_CHARS: usize = 300;

/// All live tables. The control layer owns it; entries are made at the first snapshot that names them and dropped with
/// the last that does.
#[derive(Debug, Default)]
pub struct Registry {
    services: HashMap<Name, Arc<ServiceLive>>,
    vservers: HashMap<Name, Arc<VserverLive>>,
    /// By vserver, then service.
    members: HashMap<Name, HashMap<Name, Arc<MemberLive>>>,
    connections: Arc<Connections>,
    log: Arc<LogLive>,
    ships: Arc<Ships>,
    network: Arc<NetworkLive>,
    sources: HashMap<IpAddr, Arc<SourceLive>>,
    traces: Arc<Traces>,
    lb_groups: HashMap<Name, Arc<Sessions>>,
    cookie_key: Arc<CookieKey>,
    rules: HashMap<Name, Arc<RuleLive>>,
    dns: Arc<DnsLive>,
    zones: HashMap<Name, Arc<ZoneLive>>,
    /// When the next snapshot is built: what serials of zones are counted by. Zero: they count changes only.
    pub wall: Wall,
}

/// Counters of one service. Totals never fall.
#[derive(Debug, Default)]
pub struct ServiceLive {
    /// Requests in flight (HTTP) or open connections (TCP), over all vservers.
    pub active: AtomicU32,
    pub requests_total: AtomicU64,
    /// Answers that the server began.
    pub responses_total: AtomicU64,
    /// Idle connections to it that wait to be used again; those of the engine of common requests.
    pub pooled: AtomicU32,
    pub connect_failures_total: AtomicU64,
    /// When and why it could not be reached the last time.
    pub connect_failed: Mutex<Option<(Tick, String)>>,
    /// From clients to the server.
    pub bytes_in_total: AtomicU64,
    /// From the server to clients.
    pub bytes_out_total: AtomicU64,
    /// Reads from clients; datagrams.
    pub packets_in_total: AtomicU64,
    /// Reads from the server; datagrams.
    pub packets_out_total: AtomicU64,
    /// Answers of the server by the first digit of their status; `[0]`: what has none.
    pub statuses_total: [AtomicU64; 6],
    /// One more than what its LOAD monitor last told; 0: nothing is known. See [`ServiceLive::load`].
    load: AtomicU64,
    /// What users got, for HTTP-INLINE.
    pub answers: AnswersLive,
    pub first_byte: FirstByte,
    pub ejector: Ejector,
    bytes: Meter,
    packets: Meter,
    /// Bumped when connections of this service must end (`downStateFlush`, end of a drain, a kick): whoever carries one
    /// compares, or waits on it.
    pub flush: tokio::sync::watch::Sender<Flush>,
    pub measured: Measured,
    pub rates: Rates,
}

/// One service as a member of one vserver. Outlives neither.
#[derive(Debug)]
pub struct MemberLive {
    /// The vserver that has it as a member.
    pub vserver: Name,
    pub service: Name,
    pub serving: Arc<VserverLive>,
    pub live: Arc<ServiceLive>,
    /// Requests in flight (HTTP) or open connections (L4) of this vserver.
    pub active: AtomicU32,
    /// Requests (HTTP) or connections (L4) of this vserver given to it.
    pub requests_total: AtomicU64,
    /// How fast `requests_total` grows.
    pub rate: Meter,
    pub measured: Measured,
}

/// How often connections had to end, and why the last time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flush {
    pub generation: u64,
    pub why: Option<Reason>,
}

/// Counters and tables of one vserver.
#[derive(Debug, Default)]
pub struct VserverLive {
    /// Open client connections.
    pub connections: AtomicU32,
    /// Requests whose head was complete (HTTP), or connections (L4).
    pub requests_total: AtomicU64,
    /// Answers that servers began.
    pub responses_total: AtomicU64,
    /// From clients.
    pub bytes_in_total: AtomicU64,
    /// To clients.
    pub bytes_out_total: AtomicU64,
    /// Reads from clients; datagrams.
    pub packets_in_total: AtomicU64,
    /// Reads from servers; datagrams.
    pub packets_out_total: AtomicU64,
    /// Answers to clients by the first digit of their status; `[0]`: what has none.
    pub statuses_total: [AtomicU64; 6],
    /// New clients that went to the backup although it is UP: by spillover, or because nobody of its own could be
    /// reached.
    pub spilled_total: AtomicU64,
    /// New clients that went to the backup while it was DOWN.
    pub backup_hits_total: AtomicU64,
    /// Requests or connections refused because nothing was usable.
    pub refused_total: AtomicU64,
    /// Connections closed because their PROXY protocol header was missing, malformed or late.
    pub bad_proxy_headers_total: AtomicU64,
    /// Times that a connection could not be accepted for want of a file descriptor.
    pub no_descriptor_total: AtomicU64,
    pub tls: TlsLive,
    /// What may be retried, and how often it was.
    pub retry: crate::balance::retry::Budget,
    /// The cursor of round robin.
    pub cursor: AtomicU64,
    /// Bumped when its client connections must end (`downStateFlush` of the vserver).
    pub flush: tokio::sync::watch::Sender<Flush>,
    pub measured: Measured,
    pub rates: Rates,
    pub endings: Endings,
    pub listen: Mutex<Listening>,
    /// Its address on the machine.
    pub vip: Mutex<AddressState>,
    /// Its own persistence entries; those of an lb group stand with the group. See `VserverEntry::sessions`.
    pub persistence: Arc<Sessions>,
    /// Clients that spilled, and to which vserver (`Spillover::persistence`).
    pub spilled_clients: Sessions,
    /// What its own members have to do for it: open connections, or requests in flight (HTTP).
    pub serving: AtomicU32,
    pub surge: Surging,
    pub clients: Clients,
    /// Requests or connections over a limit of their client.
    pub limited_total: AtomicU64,
    /// How fast answers 5xx and refused clients grow together.
    pub errors: Meter,
    bytes: Meter,
}

#[derive(Debug, Default)]
pub struct RuleLive {
    pub hits_total: AtomicU64,
    /// How fast they grow.
    pub rate: Meter,
    /// Requests that a rule which mirrors acted on; of them its percentage is copied.
    pub mirror_asked_total: AtomicU64,
    /// Copies that were not sent: body over the limit, or too many under way.
    pub mirror_dropped_total: AtomicU64,
    /// Copies that got no answer.
    pub mirror_failed_total: AtomicU64,
}

/// How the VIP of a vserver stands.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum Listening {
    /// No address, or not yet.
    #[default]
    None,
    /// `local` false: the address is not on this machine (yet).
    Bound {
        address: SocketAddr,
        local: bool,
    },
    Failed {
        error: String,
    },
}

// === impl Registry ===

impl Registry {
    pub fn service(&mut self, name: &Name) -> Arc<ServiceLive> {
        Arc::clone(self.services.entry(Arc::clone(name)).or_default())
    }

    pub fn vserver(&mut self, name: &Name) -> Arc<VserverLive> {
        Arc::clone(self.vservers.entry(Arc::clone(name)).or_default())
    }

    /// `service` as a member of `vserver`.
    pub fn member(&mut self, vserver: &Name, service: &Name) -> Arc<MemberLive> {
        if let Some(member) = self.members.get(vserver).and_then(|members| members.get(service)) {
            return Arc::clone(member);
        }
        let member = Arc::new(MemberLive {
            vserver: Arc::clone(vserver),
            service: Arc::clone(service),
            serving: self.vserver(vserver),
            live: self.service(service),
            active: AtomicU32::new(0),
            requests_total: AtomicU64::new(0),
            rate: Meter::default(),
            measured: Measured::default(),
        });
        self.members.entry(Arc::clone(vserver)).or_default().insert(Arc::clone(service), Arc::clone(&member));
        member
    }

    pub fn connections(&self) -> Arc<Connections> {
        Arc::clone(&self.connections)
    }

    pub fn ships(&self) -> Arc<Ships> {
        Arc::clone(&self.ships)
    }

    pub fn traces(&self) -> Arc<Traces> {
        Arc::clone(&self.traces)
    }

    pub fn log(&self) -> Arc<LogLive> {
        Arc::clone(&self.log)
    }

    pub fn lb_group(&mut self, name: &Name) -> Arc<Sessions> {
        Arc::clone(self.lb_groups.entry(Arc::clone(name)).or_default())
    }

    /// A registry whose encrypted cookies are sealed with this key; else with one that is forgotten with the process.
    pub fn with_cookie_key(key: Arc<CookieKey>) -> Registry {
        Registry { cookie_key: key, ..Registry::default() }
    }

    pub fn cookie_key(&self) -> Arc<CookieKey> {
        Arc::clone(&self.cookie_key)
    }

    pub fn rule(&mut self, name: &Name) -> Arc<RuleLive> {
        Arc::clone(self.rules.entry(Arc::clone(name)).or_default())
    }

    pub fn dns(&self) -> Arc<DnsLive> {
        Arc::clone(&self.dns)
    }

    pub fn zone(&mut self, name: &Name) -> Arc<ZoneLive> {
        Arc::clone(self.zones.entry(Arc::clone(name)).or_default())
    }

    /// Drops what `model` no longer names.
    pub fn retain(&mut self, model: &crate::model::Model) {
        self.services.retain(|name, _| model.service_id(name).is_some());
        self.vservers.retain(|name, _| model.vserver_id(name).is_some());
        self.retain_sources(model);
        self.members.retain(|vserver, members| {
            members.retain(|service, _| model.service_id(service).is_some());
            model.vserver_id(vserver).is_some()
        });
        self.lb_groups.retain(|name, _| model.lb_group_id(name).is_some());
        for vserver in &model.vservers {
            if let Some(live) = self.vservers.get(&vserver.name) {
                live.clients.retain(&|name| vserver.client_limits.iter().any(|limit| *limit.name == *name));
            }
        }
        self.rules.retain(|name, _| model.rule_id(name).is_some());
        self.zones.retain(|name, _| model.zones.iter().any(|z| z.name == *name));
        for zone in &model.zones {
            if let Some(live) = self.zones.get(&zone.name) {
                live.retain(zone);
            }
        }
    }
}

// === impl Flush ===

impl Flush {
    pub fn bump(&mut self, why: Reason) {
        *self = Flush { generation: self.generation + 1, why: Some(why) };
    }
}

// === impl VserverLive ===

impl VserverLive {
    /// bit/s of both directions together.
    pub fn bits_per_second(&self, now: Tick) -> u64 {
        let bytes = self.bytes_in_total.load(Ordering::Relaxed) + self.bytes_out_total.load(Ordering::Relaxed);
        self.bytes.per_second(now, bytes).saturating_mul(8)
    }
}

// === impl ServiceLive ===

impl ServiceLive {
    /// How busy the server says it is, as its LOAD monitor heard last; `None` without such a monitor, before its first
    /// answer and after a failed one. For the method CUSTOMLOAD.
    pub fn load(&self) -> Option<u32> {
        let told = self.load.load(Ordering::Relaxed).checked_sub(1)?;
        u32::try_from(told).ok()
    }

    pub fn set_load(&self, load: Option<u32>) {
        self.load.store(load.map_or(0, |load| u64::from(load) + 1), Ordering::Relaxed);
    }

    /// Notes why it could not be reached.
    pub fn cannot_connect(&self, now: Tick, why: &str) {
        *self.connect_failed.lock() = Some((now, why.chars().take(WHY_CHARS).collect()));
    }

    /// Opens one transaction; it ends when the guard is dropped.
    pub fn begin(self: &Arc<Self>) -> Active {
        // SeqCst: the writer reads this counter after publishing that a drain began, and a reader re-checks the
        // snapshot after this increment; one of the two must see the other.
        let before = self.active.fetch_add(1, Ordering::SeqCst);
        Active { service: Arc::clone(self), nth: before.saturating_add(1) }
    }
}

/// One open transaction of a service.
#[derive(Debug)]
pub struct Active {
    service: Arc<ServiceLive>,
    nth: u32,
}

impl Active {
    pub fn service(&self) -> &Arc<ServiceLive> {
        &self.service
    }

    /// How many were open when this one began, itself included. Of those that begin at once each has its own, so that a
    /// limit lets exactly as many through as it says.
    pub fn nth(&self) -> u32 {
        self.nth
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.service.active.fetch_sub(1, Ordering::SeqCst);
    }
}
