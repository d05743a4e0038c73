//! What loads and is probably not meant: each of these was the cause of an outage somewhere. Warnings never stop a load.

mod adc;
mod admin;
mod datacenter;
mod network;

use std::collections::{HashMap, HashSet};

use super::document::{Entry, Node, Place, Table};
use super::report::Report;
use crate::model::Model;
use crate::model::check::{Host, Origin};
use crate::model::condition::{Condition, Group, Signal, Subject, Term};
use crate::model::id::{CheckId, ScenarioId, VserverId};
use crate::model::limit::{BackupAction, Spillover};
use crate::model::rule::{Action, Route};
use crate::model::scenario::{Direction, GuardStep, OnTimeout};
use crate::model::service::MonitorBinding;
use crate::model::vserver::Role;
use crate::model::zone::{OnEmpty, Rrset};

/// Looks at the whole model. Only called where there are no errors.
pub fn all(report: &mut Report, document: &Table, model: &Model) {
    let cx = &mut Warnings { report, objects: HashMap::new(), document, model };
    admin::doors(cx);
    monitors(cx);
    vservers(cx);
    network::addresses(cx);
    scenarios(cx);
    datacenter::pairs(cx);
    datacenter::peers(cx);
    datacenter::anchors(cx);
    datacenter::backups(cx);
    records(cx);
    unused(cx);
    adc::unused(cx);
    adc::unreached(cx);
}

struct Warnings<'a> {
    report: &'a mut Report,
    /// The objects of a section, filled at its first warning.
    objects: HashMap<&'static str, HashMap<&'a str, &'a Entry>>,
    document: &'a Table,
    model: &'a Model,
}

// === impl Warnings ===

impl<'a> Warnings<'a> {
    fn object(&mut self, section: &'static str, name: &str) -> Option<&'a Entry> {
        let document = self.document;
        let objects = self.objects.entry(section).or_insert_with(|| {
            let table = document.get(section).and_then(Node::table);
            table.map_or_else(HashMap::new, |t| t.entries.iter().map(|e| (&*e.key, e)).collect())
        });
        objects.get(name).copied()
    }

    fn warn(&mut self, section: &'static str, name: &str, key: Option<&str>, what: &str) {
        let object = self.object(section, name);
        let of_key = object.zip(key).and_then(|(object, key)| object.node.table()?.entry(key));
        let place = of_key.or(object).map_or_else(Place::default, |entry| entry.place);
        let path = match key {
            Some(key) => format!("{section}.{name}.{key}"),
            None => format!("{section}.{name}"),
        };
        let text = format!("{path}: {what}");
        self.report.warning(place, path, text);
    }

    /// A scenario is reported where it was written, a generated one at its pair.
    fn warn_scenario(&mut self, id: ScenarioId, what: &str) {
        let model = self.model;
        let scenario = model.scenario(id);
        let object = match scenario.pair {
            Some(pair) => self.object("datacenter_pair", &model.pairs[pair as usize].name),
            None => self.object("scenario", &scenario.name),
        };
        let place = object.map_or_else(Place::default, |entry| entry.place);
        let path = format!("scenario.{}", scenario.name);
        let text = format!("{path}: {what}");
        self.report.warning(place, path, text);
    }
}

/// Services that stay UP whatever happens, although somebody bound monitors to them.
fn monitors(cx: &mut Warnings<'_>) {
    let model = cx.model;
    let decides = |bound: &MonitorBinding| bound.enabled && !bound.passive;
    let mut groups = HashSet::new();
    for service in &model.services {
        if service.monitors.is_empty() || service.monitors.iter().any(decides) {
            continue;
        }
        let (section, name) = match service.group {
            Some(group) if !groups.insert(group) => continue,
            Some(group) => ("service_group", &*model.groups[group.index()].name),
            None => ("service", &*service.name),
        };
        cx.warn(section, name, Some("monitors"), "all of them are passive or disabled; nothing takes it down");
    }
}

fn vservers(cx: &mut Warnings<'_>) {
    let model = cx.model;
    let reached: HashSet<usize> = reached(model).map(|id| id.index()).collect();
    for (index, vserver) in model.vservers.iter().enumerate() {
        if let Role::Cs { targets, .. } = &vserver.role {
            if targets.is_empty() {
                let what = "has neither a `default` nor a rule that routes; it is DOWN for ever";
                cx.warn("cs_vserver", &vserver.name, None, what);
            } else if vserver.address.is_none() {
                cx.warn("cs_vserver", &vserver.name, None, "has no address; nothing reaches it");
            }
            continue;
        }
        let name = &*vserver.name;
        let accepts = |s: &Spillover| s.backup_action == BackupAction::Accept;
        if vserver.backup.is_none() && vserver.spillover.as_ref().is_some_and(accepts) {
            cx.warn("vserver", name, Some("spillover"), "has no effect without a `backup`");
        }
        if vserver.backup.is_none() && vserver.health_threshold > 0 {
            let what = "without a `backup` nobody is served below the threshold, though services are up";
            cx.warn("vserver", name, Some("health_threshold"), what);
        }
        if vserver.address.is_none() && !reached.contains(&index) {
            cx.warn("vserver", name, None, "has no address and is nobody's backup or target; nothing reaches it");
        }
        if vserver.members.is_empty() && vserver.redirect_url.is_none() && vserver.backup.is_none() {
            cx.warn("vserver", name, None, "has no members; it is DOWN for ever");
        }
        if !vserver.members.is_empty() && vserver.members.iter().all(|member| member.weight == 0) {
            cx.warn("vserver", name, None, "all members have weight 0; no new client is served");
        }
        let mut hosts: Vec<&Host> = vserver.members.iter().map(|m| &model.service(m.service).host).collect();
        // Members from DNS are not there yet.
        let more = vserver.groups.iter().any(|group| model.groups[group.index()].auto_scale.is_some());
        let several = hosts.len() > 1 && !more;
        hosts.dedup();
        // On the loopback a whole rehearsal stands on one address.
        let loopback = |host: &Host| matches!(host, Host::Ip(ip) if ip.is_loopback());
        if let [host] = hosts[..]
            && several
            && !loopback(host)
        {
            let what = format!("all members are on {host}; when it fails nothing is left");
            cx.warn("vserver", name, None, &what);
        }
    }
}

/// Vservers that others name.
fn reached(model: &Model) -> impl Iterator<Item = VserverId> + '_ {
    let backups = model.vservers.iter().filter_map(|vserver| vserver.backup);
    let targets = model.vservers.iter().filter_map(|vserver| match &vserver.role {
        Role::Cs { targets, .. } => Some(targets.iter().copied()),
        Role::Lb => None,
    });
    let of_rules = model.rules.iter().filter_map(|rule| match rule.action {
        Action::Route(Route::Vserver(to)) | Action::Mirror { to, .. } => Some(to),
        _ => None,
    });
    backups.chain(targets.flatten()).chain(of_rules)
}

fn scenarios(cx: &mut Warnings<'_>) {
    let model = cx.model;
    let own = model.appliance.site.as_deref().and_then(|site| model.datacenter_id(site));
    for (index, scenario) in model.scenarios.iter().enumerate() {
        let id = ScenarioId::from_index(index);
        // Generated groups hold the site's own reachability by construction.
        let replaced = scenario.pair.is_none();
        let groups = &scenario.directions[Direction::Activate.index()].when.groups;
        for group in groups.iter().filter(|_| replaced) {
            if blind(
                group,
                |subject| matches!(subject, Subject::Datacenter { datacenter, .. } if Some(*datacenter) == own),
            ) {
                let site = own.map_or("OWN-SITE", |own| &*model.datacenters[own.index()].name);
                let what = format!(
                    "group `{}` is true as well when this box itself is cut off; add a term such as `dc:{site}.internet`",
                    group.name
                );
                cx.warn_scenario(id, &what);
            }
        }
        for direction in Direction::BOTH {
            let guard = scenario.directions[direction.index()].guard.as_ref();
            if guard.is_some_and(|guard| guard.on_timeout == OnTimeout::Proceed) {
                let what = format!(
                    "the guard of `{}` lets it pass when it cannot tell (`on_timeout = \"proceed\"`)",
                    direction.word()
                );
                cx.warn_scenario(id, &what);
            }
        }
        datacenter::unknown_signals(cx, id);
    }
}

/// Failures of others and nothing that says that this box can see.
fn blind(group: &Group, own_site: impl Fn(&Subject) -> bool) -> bool {
    let health = |term: &Term| match term.subject {
        Subject::Check(_) => true,
        Subject::Datacenter { signal, .. } => signal != Signal::Maintenance && !own_site(&term.subject),
        _ => false,
    };
    // A positive term of any remote thing is evidence that this box can see.
    let sees = |term: &Term| {
        !term.negated
            && match term.subject {
                Subject::Check(_) => true,
                Subject::Datacenter { signal, .. } => signal != Signal::Maintenance,
                Subject::Scenario(_) => true,
                _ => false,
            }
    };
    group.terms.iter().any(|term| term.negated && health(term)) && !group.terms.iter().any(sees)
}

fn records(cx: &mut Warnings<'_>) {
    let zones = cx.document.get("zone").and_then(Node::table);
    for zone in &cx.model.zones {
        let named = |entry: &&Entry| entry.key.strip_suffix('.').unwrap_or(&entry.key) == &*zone.name;
        let entry = zones.and_then(|zones| zones.entries.iter().find(named));
        let rrsets = entry.and_then(|entry| entry.node.table()?.get("rrset")?.table());
        let rrsets = rrsets.map_or(&[][..], |table| &table.entries[..]);
        let places: HashMap<&str, Place> = rrsets.iter().map(|entry| (&*entry.key, entry.place)).collect();
        for rrset in zone.rrsets.iter().filter(|rrset| may_vanish(rrset)) {
            let place = places.get(&*rrset.key).copied().unwrap_or_default();
            let path = format!("zone.{:?}.rrset.{:?}", &*zone.name, &*rrset.key);
            let what = format!(
                "{path}: every record has a `cond`; when all are active, `on_empty` decides (`serve_all` unless said)"
            );
            cx.report.warning(place, path, what);
        }
    }
}

/// Every record of the primary set can be left out, and nothing was said about that.
fn may_vanish(rrset: &Rrset) -> bool {
    let mut primary = rrset.records.iter().filter(|r| r.enabled && r.dr_cond.is_none()).peekable();
    rrset.on_empty == OnEmpty::ServeAll && primary.peek().is_some() && primary.all(|record| record.cond.is_some())
}

/// Scenarios that steer nothing and tell nobody; checks that are probed for nobody.
fn unused(cx: &mut Warnings<'_>) {
    let model = cx.model;
    let mut scenarios: HashSet<ScenarioId> = HashSet::new();
    let mut checks: HashSet<CheckId> = HashSet::new();
    let mut note = |term: &Term| match term.subject {
        Subject::Scenario(id) => drop(scenarios.insert(id)),
        Subject::Check(id) => drop(checks.insert(id)),
        _ => {}
    };
    let conditions = |c: &Condition, note: &mut dyn FnMut(&Term)| c.terms().for_each(note);
    for rules in model.scenarios.iter().flat_map(|scenario| &scenario.directions) {
        conditions(&rules.when, &mut note);
        rules.gate.iter().for_each(|gate| conditions(gate, &mut note));
        for step in rules.guard.iter().flat_map(|guard| &guard.run) {
            if let GuardStep::Check(term) = step {
                note(term);
            }
        }
    }
    model.watched.iter().for_each(&mut note);
    let mut steering: HashSet<ScenarioId> = HashSet::new();
    for record in model.zones.iter().flat_map(|zone| &zone.rrsets).flat_map(|rrset| &rrset.records) {
        steering.extend(record.cond.map(|(id, _)| id));
        steering.extend(record.dr_cond);
    }
    scenarios.extend(&steering);
    for pair in &model.pairs {
        if !pair.scenarios.iter().any(|place| steering.contains(&place.scenario)) {
            let name = &*pair.name;
            let what = format!(
                "no DNS record names a scenario of this pair (`cond = \"{name}/from-active\"`, `drCond = \"{name}/to-backup\"`); it moves nothing"
            );
            cx.warn("datacenter_pair", name, None, &what);
        }
        scenarios.extend(pair.scenarios.iter().map(|place| place.scenario));
    }
    for (index, scenario) in model.scenarios.iter().enumerate() {
        let id = ScenarioId::from_index(index);
        let tells = scenario.directions.iter().any(|rules| !rules.triggers.is_empty());
        if !scenarios.contains(&id) && !tells {
            cx.warn_scenario(id, "nothing refers to it and it fires no trigger");
        }
    }
    for (index, check) in model.checks.iter().enumerate() {
        if check.origin == Origin::User && !checks.contains(&CheckId::from_index(index)) {
            cx.warn("check", &check.name, None, "no condition and no record uses it");
        }
    }
}
