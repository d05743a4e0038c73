//! L0, nouns: the validated, resolved intention. A [`Model`] cannot be wrong: every reference is an id of its own
//! tables, every number is in range, no chain or scenario loops. `config` makes it from text and prints it back.

pub mod access;
pub mod alert;
pub mod balancing;
pub mod capture;
pub mod check;
pub mod condition;
pub mod delivery;
pub mod dialogue;
pub mod dns;
pub mod dnssec;
pub mod drill;
pub mod ending;
pub mod event;
pub mod fault;
pub mod filled;
pub mod first_boot;
pub mod geo;
pub mod id;
pub mod lateness;
pub mod ldap;
pub mod limit;
pub mod log;
pub mod lookup;
pub mod net;
pub mod network;
pub mod peer;
pub mod persistence;
pub mod person;
pub mod policy;
pub mod rule;
pub mod scenario;
pub mod service;
pub mod ship;
pub mod sql;
pub mod state;
pub mod syslog;
pub mod template;
pub mod time;
pub mod tls;
pub mod trace;
pub mod transfer;
pub mod visible;
pub mod vserver;
pub mod zone;

use std::time::Duration;

pub use access::{Admin, ApiToken, PasswordHash, Role, SessionRules, User};
use alert::Alert;
use balancing::Shares;
use check::{Check, Host, Monitor};
use condition::Term;
use dns::Dns;
use drill::DrillRules;
use id::{
    CertificateId, CheckId, CriterionId, DatacenterId, GroupId, Kind, LbGroupId, MonitorId, Name, QueryId, RuleId,
    ScenarioId, ServerId, ServiceId, SwitchId, TimeWindowId, TriggerId, VserverId, WatchedId,
};
pub use log::{AccessTo, Log, LogFormat};
use lookup::{Lookup, Question, Resolver};
use network::Networking;
use peer::{Peer, PeerLink};
use persistence::LbGroup;
use policy::Policies;
use rule::{Criterion, Rule};
use scenario::{Datacenter, Pair, Query, Scenario, Switch, TimeWindow, Trigger};
use service::{Server, Service, ServiceGroup};
use ship::Ship;
use tls::Certificate;
use trace::Trace;
use vserver::Vserver;
use zone::Zone;

/// The whole appliance as intended. Tables are in the order of the names (maps of the configuration have no order);
/// lists inside objects keep theirs.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub appliance: Appliance,
    pub admin: Admin,
    pub features: Features,
    pub journal: Journal,
    /// Sorted by name.
    pub ships: Vec<Ship>,
    /// `[monitors] scripts`: the folder of the scripts of USER monitors, relative to that of the configuration.
    pub monitor_scripts: Option<Name>,
    /// `None`: the machine's network is left alone.
    pub network: Option<Networking>,
    /// `[time] servers`: whom the machine asks for the time, by address or name. At most 8; none: its own settings are
    /// left alone.
    pub time_servers: Vec<Name>,
    pub log: Log,
    pub trace: Option<Trace>,
    pub resolver: Resolver,
    pub monitors: Vec<Monitor>,
    pub checks: Vec<Check>,
    pub servers: Vec<Server>,
    pub services: Vec<Service>,
    pub groups: Vec<ServiceGroup>,
    pub vservers: Vec<Vserver>,
    pub lb_groups: Vec<LbGroup>,
    pub certificates: Vec<Certificate>,
    pub criteria: Vec<Criterion>,
    pub rules: Vec<Rule>,
    /// What some of the criteria and rules are made of.
    pub policies: Policies,
    pub time_windows: Vec<TimeWindow>,
    pub switches: Vec<Switch>,
    pub triggers: Vec<Trigger>,
    pub queries: Vec<Query>,
    pub alerts: Vec<Alert>,
    pub scenarios: Vec<Scenario>,
    /// All scenarios so that each stands after those that its conditions name.
    pub scenario_order: Vec<ScenarioId>,
    pub datacenters: Vec<Datacenter>,
    pub pairs: Vec<Pair>,
    pub peer_link: PeerLink,
    pub peers: Vec<Peer>,
    pub drills: DrillRules,
    /// `[gslb] lines`: objects of GSLB that no other key says, or not in full, as lines of NetScaler. Nothing is done
    /// with them: NetScaler's commands find here what they made before.
    pub gslb_lines: Vec<Name>,
    pub dns: Dns,
    pub zones: Vec<Zone>,
    /// Terms that rules, records and the conditions about drills read.
    pub watched: Vec<Term>,
    /// Members from DNS at the end of `services`, sorted among themselves: an answer moves no other id.
    pub dns_services: usize,
    /// Their checks, at the end of `checks`.
    pub dns_checks: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appliance {
    /// Part of every id that may travel. Default `bascule`.
    pub name: Name,
    /// The data centre this box stands in.
    pub site: Option<Name>,
}

/// NetScaler's features. A vserver is DOWN while `lb` is off; DNS is not answered while `gslb` is off. Default: on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    pub lb: bool,
    pub gslb: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Journal {
    /// Default 400 d.
    pub keep: Duration,
    /// Bytes; default 1 GiB.
    pub size: u64,
}

/// Lookup by name; the tables are sorted, so it is a binary search.
macro_rules! lookup {
    ($($(#[$doc:meta])* $method:ident, $table:ident, $id:ident);+ $(;)?) => {$(
        $(#[$doc])*
        pub fn $method(&self, name: &str) -> Option<$id> {
            self.$table.binary_search_by(|o| (*o.name).cmp(name)).ok().map($id::from_index)
        }
    )+};
}

// === impl Model ===

impl Model {
    /// An appliance with nothing: all tables empty, everything else at its default.
    pub fn empty() -> Model {
        Model {
            appliance: Appliance { name: "bascule".into(), site: None },
            admin: Admin::default(),
            features: Features { lb: true, gslb: true },
            journal: Journal { keep: Duration::from_secs(400 * 86_400), size: 1 << 30 },
            ships: Vec::new(),
            monitor_scripts: None,
            network: None,
            time_servers: Vec::new(),
            log: Log::default(),
            trace: None,
            resolver: Resolver::default(),
            monitors: Vec::new(),
            checks: Vec::new(),
            servers: Vec::new(),
            services: Vec::new(),
            groups: Vec::new(),
            vservers: Vec::new(),
            lb_groups: Vec::new(),
            certificates: Vec::new(),
            criteria: Vec::new(),
            rules: Vec::new(),
            policies: Policies::default(),
            time_windows: Vec::new(),
            switches: Vec::new(),
            triggers: Vec::new(),
            queries: Vec::new(),
            alerts: Vec::new(),
            scenarios: Vec::new(),
            scenario_order: Vec::new(),
            datacenters: Vec::new(),
            pairs: Vec::new(),
            peer_link: PeerLink::default(),
            peers: Vec::new(),
            drills: DrillRules::default(),
            gslb_lines: Vec::new(),
            dns: Dns::default(),
            zones: Vec::new(),
            watched: Vec::new(),
            dns_services: 0,
            dns_checks: 0,
        }
    }

    lookup! {
        monitor_id, monitors, MonitorId;
        server_id, servers, ServerId;
        group_id, groups, GroupId;
        vserver_id, vservers, VserverId;
        lb_group_id, lb_groups, LbGroupId;
        certificate_id, certificates, CertificateId;
        criterion_id, criteria, CriterionId;
        rule_id, rules, RuleId;
        time_window_id, time_windows, TimeWindowId;
        switch_id, switches, SwitchId;
        trigger_id, triggers, TriggerId;
        query_id, queries, QueryId;
        scenario_id, scenarios, ScenarioId;
        datacenter_id, datacenters, DatacenterId;
    }

    /// Members of groups, too.
    pub fn service_id(&self, name: &str) -> Option<ServiceId> {
        in_two(&self.services, self.dns_services, |service| (*service.name).cmp(name)).map(ServiceId::from_index)
    }

    pub fn check_id(&self, name: &str) -> Option<CheckId> {
        in_two(&self.checks, self.dns_checks, |check| (*check.name).cmp(name)).map(CheckId::from_index)
    }

    /// What is asked of DNS for the address of `service`; `None`: it has one.
    pub fn question(&self, service: &Service) -> Option<(Question, Lookup)> {
        let Host::Name(name) = &service.host else { return None };
        let lookup = service.server.map_or_else(Lookup::default, |id| self.servers[id.index()].lookup);
        Some((Question { name: Name::clone(name), query: lookup.query }, lookup))
    }

    pub fn check(&self, id: CheckId) -> &Check {
        &self.checks[id.index()]
    }

    pub fn service(&self, id: ServiceId) -> &Service {
        &self.services[id.index()]
    }

    pub fn vserver(&self, id: VserverId) -> &Vserver {
        &self.vservers[id.index()]
    }

    pub fn scenario(&self, id: ScenarioId) -> &Scenario {
        &self.scenarios[id.index()]
    }

    pub fn peer(&self, name: &str) -> Option<&Peer> {
        self.peers.binary_search_by(|peer| (*peer.name).cmp(name)).ok().map(|at| &self.peers[at])
    }

    pub fn watched_term(&self, id: WatchedId) -> &Term {
        &self.watched[id.index()]
    }

    /// Whether an object of this kind and name exists.
    pub fn has(&self, kind: Kind, name: &str) -> bool {
        match kind {
            Kind::Check => self.check_id(name).is_some(),
            Kind::Server => self.server_id(name).is_some(),
            Kind::Service => self.service_id(name).is_some(),
            Kind::ServiceGroup => self.group_id(name).is_some(),
            Kind::Vserver => self.vserver_id(name).is_some(),
            Kind::Scenario => self.scenario_id(name).is_some(),
            Kind::Switch => self.switch_id(name).is_some(),
            Kind::Peer => self.peer(name).is_some(),
            Kind::Pair => self.pairs.iter().any(|pair| *pair.name == *name),
        }
    }

    /// Shares by name in the order of the vserver's groups; see [`balancing::split_of`].
    pub fn split_of(&self, id: VserverId, shares: &[(Name, u8)]) -> Result<Vec<u8>, String> {
        let groups: Vec<&Name> = self.vserver(id).groups.iter().map(|g| &self.groups[g.index()].name).collect();
        balancing::split_of(&groups, shares)
    }

    /// A split of a vserver with the names of its groups.
    pub fn shares(&self, id: VserverId, split: &[u8]) -> Shares {
        let groups = self.vserver(id).groups.iter().map(|g| Name::clone(&self.groups[g.index()].name));
        groups.zip(split.iter().copied()).collect()
    }

    /// The backups of a vserver in order, itself excluded; at most 10 and without a loop (checked at load).
    pub fn backup_chain(&self, id: VserverId) -> impl Iterator<Item = VserverId> + '_ {
        std::iter::successors(self.vserver(id).backup, |&v| self.vserver(v).backup)
    }
}

/// In a table whose last `tail` entries are sorted by themselves.
fn in_two<T>(table: &[T], tail: usize, compare: impl Fn(&T) -> std::cmp::Ordering) -> Option<usize> {
    let (head, tail) = table.split_at(table.len() - tail);
    let in_tail = || tail.binary_search_by(&compare).ok().map(|at| head.len() + at);
    head.binary_search_by(&compare).ok().or_else(in_tail)
}
