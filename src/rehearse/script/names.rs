//! Names of a script in a model: a slip is found before anything happens.

use super::lex::unknown;
use super::{Act, Action, Expectation, VserverFact};
use crate::model::Model;
use crate::model::check::Probe;
use crate::model::condition::Signal;
use crate::model::id::{CheckId, Kind, Name, ServiceId};
use crate::model::zone::{DnsName, RecordType};

/// The checks that `target` stands for: a check; a service, group or server: all monitors; a signal of a data centre:
/// its targets. Errors: nothing has this name, or what has it is not probed.
pub fn checks_of(model: &Model, target: &str) -> Result<Vec<CheckId>, String> {
    if let Some(check) = model.check_id(target) {
        return match &model.check(check).probe {
            Probe::Derived { term, .. } => Err(format!("`{target}` follows from `{term}`; move that")),
            _ => Ok(vec![check]),
        };
    }
    if let Some(signal) = target.strip_prefix("dc:") {
        return targets_of(model, signal);
    }
    let name = target.strip_prefix("svc:").unwrap_or(target);
    let services: Vec<ServiceId> = if let Some(service) = model.service_id(name) {
        vec![service]
    } else if let Some(group) = model.group_id(target) {
        model.groups[group.index()].members.iter().map(|member| member.service).collect()
    } else if let Some(server) = model.server_id(target) {
        let all = (0..model.services.len()).map(ServiceId::from_index);
        all.filter(|service| model.service(*service).server == Some(server)).collect()
    } else {
        let checks = model.checks.iter().map(|c| &*c.name);
        let services = model.services.iter().map(|s| &*s.name);
        let groups = model.groups.iter().map(|g| &*g.name).chain(model.servers.iter().map(|s| &*s.name));
        return Err(unknown(
            "no check, service, group or server is named",
            target,
            checks.chain(services).chain(groups),
        ));
    };
    let monitors = services.iter().flat_map(|service| &model.service(*service).monitors);
    let mut checks: Vec<CheckId> = monitors.map(|binding| binding.check).collect();
    checks.sort_unstable();
    checks.dedup();
    if checks.is_empty() { Err(format!("nothing of `{target}` is probed")) } else { Ok(checks) }
}

fn targets_of(model: &Model, signal: &str) -> Result<Vec<CheckId>, String> {
    let (name, word) = signal.rsplit_once('.').unwrap_or((signal, ""));
    let datacenter = &model.datacenters[datacenter(model, name)?];
    let list = match Signal::ALL.into_iter().find(|s| s.word() == word) {
        Some(Signal::Wan) => &datacenter.wan,
        Some(Signal::Lan) => &datacenter.lan,
        Some(Signal::Internet) => &datacenter.internet,
        Some(Signal::Access | Signal::Maintenance) => {
            return Err(format!(
                "`dc:{signal}` has no targets of its own; use `.wan`, `.lan`, or `switch {signal} on`"
            ));
        }
        None => return Err(unknown("unknown signal", word, Signal::ALL.map(Signal::word))),
    };
    match list {
        Some(list) => Ok(list.targets.iter().map(|target| target.check).collect()),
        None => Err(format!("data centre {name} has no access list `{word}`")),
    }
}

/// What is wrong with the names of a step under `model`, in words.
pub fn problem(model: &Model, action: &Action) -> Option<String> {
    let result = match action {
        Action::Sample { target, .. } if may_be_a_member(model, target) => Ok(()),
        Action::Sample { target, .. } => checks_of(model, target).map(|_| ()),
        Action::Active { service, .. } => known(model, Kind::Service, service),
        Action::Guard { scenario, .. } => guarded(model, scenario),
        Action::Act { act, .. } => match act {
            Act::Disable { kind, name, .. } | Act::Enable { kind, name } | Act::Force { kind, name, .. } => {
                known(model, *kind, name)
            }
            Act::Modes { scenario, .. } => known(model, Kind::Scenario, scenario),
            Act::StartDrill { scenario, notify, stop_on, .. } => {
                known(model, Kind::Scenario, scenario).and_then(|()| drilled(model, notify, stop_on))
            }
            Act::StopDrill { .. } => Ok(()),
            Act::Switch { name, .. } => known(model, Kind::Switch, name),
        },
        Action::Expect { expectation, .. } => expected(model, expectation),
        Action::PeerSays { site, datacenter: name, .. } => {
            speaks(model, site).and_then(|()| datacenter(model, name).map(|_| ()))
        }
        Action::PeerSilent { site, .. } => speaks(model, site),
        // The world says what is asked.
        Action::Dns { .. } | Action::Restart { .. } | Action::Reload { .. } | Action::Wait(_) => Ok(()),
    };
    result.err()
}

/// Whether a box of `site` is a peer, or `site` is this box's own.
fn speaks(model: &Model, site: &str) -> Result<(), String> {
    let sites: Vec<&str> = model.peers.iter().map(|peer| &*peer.site).collect();
    if sites.contains(&site) || model.appliance.site.as_deref() == Some(site) {
        return Ok(());
    }
    Err(unknown("no peer stands in", site, sites))
}

fn expected(model: &Model, expectation: &Expectation) -> Result<(), String> {
    match expectation {
        Expectation::Scenario { name, .. } => known(model, Kind::Scenario, name),
        Expectation::Service { name, .. } => known(model, Kind::Service, name),
        Expectation::Vserver { name, facts } => {
            known(model, Kind::Vserver, name)?;
            facts.iter().try_for_each(|fact| match fact {
                VserverFact::NewClients(to) if !matches!(&**to, "own" | "refused") => known(model, Kind::Vserver, to),
                _ => Ok(()),
            })
        }
        Expectation::Check { name, .. } => known(model, Kind::Check, name),
        Expectation::Signal { datacenter: name, observer, .. } => {
            observer.as_deref().map_or(Ok(()), |site| speaks(model, site))?;
            datacenter(model, name).map(|_| ())
        }
        Expectation::TimeWindow { name, .. } => {
            let names = model.time_windows.iter().map(|w| &*w.name);
            model.time_window_id(name).map(|_| ()).ok_or_else(|| unknown("no time window is named", name, names))
        }
        Expectation::Switch { name, .. } => known(model, Kind::Switch, name),
        Expectation::Dns { name, rtype, .. } => question(model, name, *rtype).map(|_| ()),
        Expectation::Trigger { name, .. } => {
            let names = model.triggers.iter().map(|t| &*t.name);
            model.trigger_id(name).map(|_| ()).ok_or_else(|| unknown("no trigger is named", name, names))
        }
        Expectation::Journal { .. } => Ok(()),
    }
}

fn known(model: &Model, kind: Kind, name: &str) -> Result<(), String> {
    if model.has(kind, name) || may_be_a_member(model, name) {
        return Ok(());
    }
    let names: Vec<&str> = match kind {
        Kind::Check => model.checks.iter().map(|o| &*o.name).collect(),
        Kind::Server => model.servers.iter().map(|o| &*o.name).collect(),
        Kind::Service => model.services.iter().map(|o| &*o.name).collect(),
        Kind::ServiceGroup => model.groups.iter().map(|o| &*o.name).collect(),
        Kind::Vserver => model.vservers.iter().map(|o| &*o.name).collect(),
        Kind::Scenario => model.scenarios.iter().map(|o| &*o.name).collect(),
        Kind::Switch => model.switches.iter().map(|o| &*o.name).collect(),
        Kind::Peer => model.peers.iter().map(|o| &*o.name).collect(),
        Kind::Pair => model.pairs.iter().map(|o| &*o.name).collect(),
    };
    Err(unknown(&format!("no {} is named", kind.word().replace('_', " ")), name, names))
}

/// The triggers and the conditions that a drill names.
fn drilled(model: &Model, notify: &[Name], stop_on: &[Name]) -> Result<(), String> {
    if let Some(name) = notify.iter().find(|name| model.trigger_id(name).is_none()) {
        return Err(unknown("no trigger is named", name, model.triggers.iter().map(|t| &*t.name)));
    }
    let conditions = || model.drills.stop_on.names();
    match stop_on.iter().find(|name| !conditions().any(|known| known == *name)) {
        Some(name) => Err(unknown("no condition of [drills.stop_on] is named", name, conditions().map(|n| &**n))),
        None => Ok(()),
    }
}

/// Who the members of some groups are, DNS says: `GROUP/ADDRESS:PORT`, and `…:MONITOR` of its checks.
fn may_be_a_member(model: &Model, name: &str) -> bool {
    let Some((group, member)) = name.split_once('/') else { return false };
    let scaled = model.group_id(group).is_some_and(|id| model.groups[id.index()].auto_scale.is_some());
    scaled && member.contains(':')
}

fn guarded(model: &Model, scenario: &str) -> Result<(), String> {
    known(model, Kind::Scenario, scenario)?;
    let rules = model.scenario_id(scenario).map(|id| model.scenario(id));
    match rules.is_some_and(|rules| rules.directions.iter().any(|direction| direction.guard.is_some())) {
        true => Ok(()),
        false => Err(format!("scenario {scenario} has no guard")),
    }
}

fn datacenter(model: &Model, name: &str) -> Result<usize, String> {
    let names = model.datacenters.iter().map(|d| &*d.name);
    model.datacenter_id(name).map(|id| id.index()).ok_or_else(|| unknown("no data centre is named", name, names))
}

/// The absolute name that a script means: absolute with a final dot, else relative to the only zone.
pub(crate) fn question(model: &Model, name: &str, rtype: RecordType) -> Result<DnsName, String> {
    let not_a_name = || format!("`{name}` is not a domain name");
    if name.ends_with('.') {
        return DnsName::parse(name, &DnsName::root()).ok_or_else(not_a_name);
    }
    match model.zones.as_slice() {
        [zone] => DnsName::parse(name, &zone.origin).ok_or_else(not_a_name),
        [] => Err(format!("`{name} {rtype}` asks for a record, and the configuration has no zone")),
        zones => {
            // Within one of several zones a whole name without its final dot is as good as with it.
            let absolute = DnsName::parse(name, &DnsName::root()).ok_or_else(not_a_name)?;
            match zones.iter().any(|zone| absolute.is_within(&zone.origin)) {
                true => Ok(absolute),
                false => {
                    Err(format!("`{name}` could be in any of {} zones: write it whole, with a final dot", zones.len()))
                }
            }
        }
    }
}
