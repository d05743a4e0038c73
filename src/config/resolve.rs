//! From the document to the model: names become ids, defaults are filled in, and what only shows when objects are seen
//! together is checked (loops, conflicts, types that do not fit).
//!
//! Names of all kinds are collected first, because tables are sorted by name and generated objects (members of groups,
//! monitors bound to services, maintenance switches, scenarios of pairs) stand among the operator's own. After that
//! every kind is built once, in the order below. A problem never stops the walk; a model that was built beside
//! problems is thrown away.

mod access;
mod act;
mod admin;
mod alert;
mod auto_scale;
mod balancing;
mod binding;
mod certificate;
mod check;
mod criterion;
mod dialogue;
mod dns;
mod drill;
mod extract;
mod global;
mod http;
mod limits;
mod monitor;
mod names;
mod network;
pub(in crate::config) mod object;
mod pair;
mod peer;
mod persistence;
mod policy;
pub mod populate;
pub(in crate::config) mod rule;
mod scenario;
mod service;
mod ship;
mod term;
mod tls;
mod trace;
mod vserver;
mod window;
mod zone;

pub use monitor::builtin_names as builtin_monitors;

use std::collections::HashMap;

use super::Files;
use super::document::{Node, Path, Place, Table};
use super::report::Report;
use crate::model::Model;
use crate::model::condition::Term;
use crate::model::id::{Name, WatchedId};
use names::Names;

/// What every step reads and writes.
pub(super) struct Context<'d> {
    pub report: &'d mut Report,
    pub document: &'d Table,
    pub names: Names,
    pub files: &'d dyn Files,
    /// The data centre this box stands in.
    pub site: Option<Name>,
    /// Sites with a box that this one asks.
    pub asked: Vec<Name>,
    watched: Watched,
}

/// Terms that rules, records and the conditions about drills read, each once.
#[derive(Default)]
struct Watched {
    terms: Vec<Term>,
    ids: HashMap<Term, WatchedId>,
}

/// Builds the model. It is sound only where the report has no errors afterwards.
pub fn resolve(report: &mut Report, document: &Table, files: &dyn Files) -> Model {
    let names = Names::collect(report, document);
    let site = document.get("appliance").and_then(Node::table).and_then(|t| t.get("site")).and_then(Node::text);
    let site = site.map(Name::from);
    let cx = &mut Context { report, document, names, files, site, asked: Vec::new(), watched: Watched::default() };
    cx.asked = peer::asked_sites(cx);

    let appliance = global::appliance(cx);
    let features = global::features(cx);
    let journal = global::journal(cx);
    let monitor_scripts = monitor::scripts(cx);
    let network = network::network(cx);
    let time_servers = network::time_servers(cx);
    let log = global::log(cx);
    let trace = trace::trace(cx);
    let resolver = global::resolver(cx);
    let monitors = monitor::all(cx);
    let servers = service::servers(cx);
    let lists = access::all(cx);
    let certificates = certificate::all(cx);
    let admin = admin::admin(cx, &certificates);
    let ships = ship::all(cx, &certificates);
    let services = service::all(cx, &servers, &monitors, &certificates);
    let checks = check::all(cx, &monitors, &services.services, &lists);
    let mut vservers = vserver::all(cx, &services, &certificates);
    let lb_groups = persistence::groups(cx, &mut vservers);
    let (time_windows, switches) = (window::time_windows(cx), window::switches(cx));
    let (triggers, queries) = (act::triggers(cx), act::queries(cx));
    let alerts = alert::all(cx);
    let criteria = criterion::all(cx);
    let datacenters = access::datacenters(cx, lists);
    let peer_link = peer::link(cx, &appliance);
    let peers = peer::all(cx, &peer_link, &appliance);
    let (pairs, generated) = pair::all(cx, &datacenters, &peer_link);
    let scenarios = scenario::all(cx, generated);
    let rules = rule::all(cx, rule::Known { vservers: &vservers, services: &services.services, criteria: &criteria });
    vserver::targets(&mut vservers, &rules);
    let policies = policy::all(cx);
    let drills = drill::drills(cx);
    let gslb_lines = dns::gslb_lines(cx);
    let dns = dns::dns(cx, &certificates);
    let zones = zone::all(cx);

    vserver::addresses(cx, &vservers, &admin, &dns);
    network::interface_of_vservers(cx, network.as_ref(), &vservers);
    let scenario_order = super::order::scenarios(cx.report, cx.document, &scenarios, &checks);
    let (services, groups) = (services.services, services.groups);
    let watched = std::mem::take(&mut cx.watched.terms);
    Model {
        appliance,
        admin,
        features,
        journal,
        ships,
        monitor_scripts,
        network,
        time_servers,
        log,
        trace,
        resolver,
        monitors,
        checks,
        servers,
        services,
        groups,
        vservers,
        lb_groups,
        certificates,
        criteria,
        rules,
        policies,
        time_windows,
        switches,
        triggers,
        queries,
        alerts,
        scenarios,
        scenario_order,
        datacenters,
        pairs,
        peer_link,
        peers,
        drills,
        gslb_lines,
        dns,
        zones,
        watched,
        dns_services: 0,
        dns_checks: 0,
    }
}

// === impl Context ===

impl<'d> Context<'d> {
    /// The objects of a section: key, place of the key, table. Whatever is no table was reported by the walk.
    fn section(&self, name: &str) -> Vec<(&'d str, Place, &'d Table)> {
        section(self.document, name)
    }

    fn section_table(&self, name: &str) -> Option<&'d Table> {
        self.document.get(name)?.table()
    }

    /// `[defaults.NAME]`
    fn defaults(&self, name: &str) -> Option<&'d Table> {
        self.section_table("defaults")?.get(name)?.table()
    }

    /// Puts a term on the board, for rules and records to read.
    fn watch(&mut self, term: Term) -> WatchedId {
        if let Some(&id) = self.watched.ids.get(&term) {
            return id;
        }
        let id = WatchedId::from_index(self.watched.terms.len());
        self.watched.ids.insert(term.clone(), id);
        self.watched.terms.push(term);
        id
    }

    /// Reports a name that nothing bears.
    fn dangling(&mut self, place: Place, path: Path<'_>, what: String, meant: Option<String>) {
        self.report.error_meant(place, path, format!("{path}: {what}"), meant);
    }
}

fn section<'d>(document: &'d Table, name: &str) -> Vec<(&'d str, Place, &'d Table)> {
    let Some(table) = document.get(name).and_then(Node::table) else { return Vec::new() };
    let objects = table.entries.iter();
    objects.filter_map(|entry| Some((entry.key.as_str(), entry.place, entry.node.table()?))).collect()
}
