//! L2, the seam: what traffic reads. One immutable [`Snapshot`] at a time, swapped whole through one [`Cell`]. A
//! connection (L4), a request (L7) or a query (DNS) loads it once and passes it down, so that no decision is half old
//! and half new. What must outlive a generation stands in [`live`], keyed by name.

pub mod build;
pub mod caching;
pub mod cell;
pub mod chooser;
pub mod contents;
pub mod limiter;
pub mod live;
pub mod networks;
pub mod pick;
pub mod prepared;
pub mod routing;
pub mod signing;
mod sources;
pub mod steered;
pub mod zones;

use std::sync::Arc;

use crate::balance::persistence::sealed::CookieKey;
use crate::model::Model;
use crate::model::condition::Truth;
use crate::model::state::{NewClients, ServiceState, VserverState};

pub use cell::Cell;

/// Everything a decision on the data path needs. All tables are indexed by the ids of `model`.
#[derive(Debug)]
pub struct Snapshot {
    /// Strictly increasing over publications.
    pub generation: u64,
    pub model: Arc<Model>,
    pub services: Vec<ServiceEntry>,
    pub vservers: Vec<VserverEntry>,
    /// Client connections that are open now.
    pub connections: Arc<live::Connections>,
    pub log: Arc<live::LogLive>,
    /// How shipping the journal goes.
    pub ships: Arc<live::Ships>,
    pub network: Arc<live::NetworkLive>,
    /// Parallel to the source addresses of `model.network`.
    pub sources: Vec<Arc<live::SourceLive>>,
    /// Spans of requests on their way out.
    pub traces: Arc<live::Traces>,
    /// Counters of rules.
    pub rules: Vec<Arc<live::RuleLive>>,
    /// Rules and criteria, prepared once for each model.
    pub routing: Arc<routing::Routing>,
    /// What choosing, persistence and limits need, prepared once for each model.
    pub prepared: Arc<prepared::Prepared>,
    /// What encrypted cookies are sealed with.
    pub cookie_key: Arc<CookieKey>,
    /// Published (that is: durable) state of scenarios.
    pub scenario_active: Vec<bool>,
    /// Values of `model.watched`.
    pub watched: Vec<Truth>,
    /// Prepared once for each model.
    pub zones: Arc<zones::ZoneIndex>,
    /// Of the zones that are transferred; by zone. Read it with [`Snapshot::serial`].
    pub versions: Vec<Option<contents::Version>>,
    /// Names for each steered RRset the last set of records that was not empty after the filter; read where `on_empty`
    /// is `last_good`. By zone, then RRset; positions in `Rrset::records`.
    pub last_good: Arc<zones::LastGood>,
    /// TTLs of steered RRsets, and what caches may hold of them.
    pub caching: caching::Caching,
    /// Counters and sockets of the DNS service.
    pub dns: Arc<live::DnsLive>,
    /// Counters of zones.
    pub zone_live: Vec<Arc<live::ZoneLive>>,
    /// False until the first probe round is over (at most `startup_wait`): DNS answers SERVFAIL (not ready).
    pub ready: bool,
}

#[derive(Debug, Clone)]
pub struct ServiceEntry {
    pub state: ServiceState,
    /// Where connections go; `None` while the server's name does not resolve.
    pub address: Option<std::net::SocketAddr>,
    /// When the state was entered.
    pub since: crate::model::time::Tick,
    /// Stands for it in hash methods.
    pub identity: u64,
    pub live: Arc<live::ServiceLive>,
}

#[derive(Debug, Clone)]
pub struct VserverEntry {
    pub state: VserverState,
    pub effective: VserverState,
    pub new_clients: NewClients,
    /// Fewer of its weights are UP than spillover by health asks for.
    pub spills_by_health: bool,
    /// Positions in `Vserver::members` whose service is UP and has an address.
    pub up: Arc<[u32]>,
    /// Those of them who may get new clients, prepared for the choice.
    pub chooser: Arc<chooser::Chooser>,
    /// By position in `Vserver::members`.
    pub members: Arc<[Arc<live::MemberLive>]>,
    pub live: Arc<live::VserverLive>,
    /// Its persistence entries, or those of its lb group.
    pub sessions: Arc<live::Sessions>,
}
