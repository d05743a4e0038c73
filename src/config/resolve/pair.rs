//! Pairs of data centres and the four scenarios generated for each.

use std::time::Duration;

use super::Context;
use super::names::own_key;
use super::object::Object;
use super::term::{Scope, term};
use crate::config::document::{Node, Path, Place, Table};
use crate::config::pair::{GeneratedScenario, PairSpec, UsedSignal, derived_loss_hold, disputed, generate, signals};
use crate::config::report::nearest;
use crate::model::check::Schedule;
use crate::model::condition::{Signal, Term};
use crate::model::id::{DatacenterId, Name, ScenarioId, WatchedId};
use crate::model::peer::PeerLink;
use crate::model::scenario::{AfterMaintenance, Datacenter, Direction, Pair, PairPlace, PairScenario};

/// A scenario that the pair makes, before its terms are resolved.
pub struct Generated<'d> {
    pub name: Name,
    pub terms: GeneratedScenario,
    /// `[datacenter_pair.main.to-backup]`: fields that replace the generated ones.
    pub overrides: Option<(&'d Table, Place)>,
    /// Index in `Model::pairs`.
    pub pair: u32,
    pub pair_name: &'d str,
    /// Of the pair.
    pub place: Place,
}

pub fn all<'d>(cx: &mut Context<'d>, datacenters: &[Datacenter], link: &PeerLink) -> (Vec<Pair>, Vec<Generated<'d>>) {
    let root = Path::Root;
    let section = root.key("datacenter_pair");
    let mut objects = cx.section("datacenter_pair");
    objects.sort_by_key(|(name, ..)| *name);
    let mut pairs: Vec<Pair> = Vec::new();
    let mut generated = Vec::new();
    for (name, place, table) in objects {
        let object = Object::new(table, None, section.key(name), place);
        let overrides = PairPlace::ALL.map(|at| Some((table.get(at.word())?.table()?, table.get(at.word())?.place)));
        for (at, replaced) in PairPlace::ALL.into_iter().zip(overrides) {
            if let Some((_, place)) = replaced.filter(|_| table.get(own_key(at)).is_some()) {
                let path = object.path.key(at.word());
                let what = format!(
                    "{path}: replaces fields of a generated scenario, but `{}` names one of one's own",
                    own_key(at)
                );
                cx.report.error(place, path, what);
            }
        }
        let Some((pair, spec)) = pair(cx, &object, name, datacenters, overrides, link) else { continue };
        let index = pairs.len() as u32;
        for (terms, (scenario, replaced)) in generate(&spec).into_iter().zip(pair.scenarios.iter().zip(overrides)) {
            if !scenario.own {
                let full = format!("{name}/{}", terms.place.word()).into();
                generated.push(Generated {
                    name: full,
                    terms,
                    overrides: replaced,
                    pair: index,
                    pair_name: name,
                    place,
                });
            }
        }
        pairs.push(pair);
    }
    (pairs, generated)
}

fn pair(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    name: &str,
    datacenters: &[Datacenter],
    overrides: [Option<(&Table, Place)>; 4],
    link: &PeerLink,
) -> Option<(Pair, PairSpec)> {
    let site = |cx: &mut Context<'_>, key: &str| {
        let node = object.own(key)?;
        cx.names
            .datacenters
            .find(cx.report, node.text()?, node.place, object.path.key(key))
            .map(DatacenterId::from_index)
    };
    let defaults = cx.defaults("scenario");
    let active = site(cx, "active");
    let backup = site(cx, "backup");
    let mut scenarios = Vec::with_capacity(4);
    for (place, replaced) in PairPlace::ALL.into_iter().zip(overrides) {
        let own = object.own(own_key(place));
        let scenario_name = own.and_then(Node::text).map_or_else(|| format!("{name}/{}", place.word()), str::to_owned);
        let at = object.place_of(own_key(place));
        let path = object.path.key(own_key(place));
        let id = cx.names.scenarios.find(cx.report, &scenario_name, at, path);
        scenarios.push(PairScenario {
            place,
            scenario: ScenarioId::from_index(id.unwrap_or(0)),
            own: own.is_some(),
            overrides: own.is_none().then(|| replaced_fields(replaced.map(|(table, _)| table), defaults)).flatten(),
        });
    }
    let (active, backup) = (active?, backup?);
    if active == backup {
        object.wrong(cx.report, "backup", "a pair needs two data centres");
        return None;
    }
    let (a, b) = (datacenters.get(active.index())?, datacenters.get(backup.index())?);
    let text = |key: &str| object.text(key);
    let loss_hold = object.duration("loss_hold");
    let mut spec = PairSpec {
        name: name.into(),
        active: a.name.to_string(),
        backup: b.name.to_string(),
        return_hold: object.duration("return_hold").unwrap_or(Duration::from_secs(900)),
        loss_hold: Duration::ZERO,
        after_maintenance: match text("return_after_maintenance") {
            Some("now") => AfterMaintenance::Now,
            _ => AfterMaintenance::Hold,
        },
        access: if text("access") == Some("lan") { Signal::Lan } else { Signal::Wan },
        witness: text("witness").map(str::to_owned),
        here: cx.site.as_deref().map(str::to_owned),
        heard: cx.asked.iter().map(|site| site.to_string()).collect(),
        after: Vec::new(),
        from_active: text("from_active").map_or_else(|| format!("{name}/from-active"), str::to_owned),
        to_backup: text("to_backup").map_or_else(|| format!("{name}/to-backup"), str::to_owned),
        to_active: text("to_active").map_or_else(|| format!("{name}/to-active"), str::to_owned),
        from_backup: text("from_backup").map_or_else(|| format!("{name}/from-backup"), str::to_owned),
    };
    let after = after(cx, object, name, &spec.backup);
    spec.after = after.iter().map(|(_, from_active)| from_active.clone()).collect();
    let derived = derived(cx, object, &spec, datacenters, link);
    spec.loss_hold = loss_hold.unwrap_or(derived);
    if spec.loss_hold < derived && loss_hold.is_some() {
        let [said, derived] = [spec.loss_hold, derived].map(crate::config::units::format_duration);
        let path = object.path.key("loss_hold");
        let what = format!(
            "{path}: {said} is less than the slowest detection among the signals used ({derived}); signals that change together may be judged apart"
        );
        cx.report.warning(object.place_of("loss_hold"), path, what);
    }
    if let Some(witness) = spec.witness.as_deref().filter(|witness| *witness == spec.active || *witness == spec.backup)
    {
        object.wrong(cx.report, "witness", format!("`{witness}` is one of the two; a witness stands elsewhere"));
    }
    if spec.witness.is_none() {
        let path = object.path;
        let what =
            format!("{path}: no `witness`: when the two sites lose sight of each other, both answer for themselves");
        cx.report.warning(object.place, path, what);
    }
    let pair = Pair {
        name: name.into(),
        active,
        backup,
        return_hold: spec.return_hold,
        loss_hold,
        return_after_maintenance: spec.after_maintenance,
        access: spec.access,
        witness: object.name("witness"),
        after: after.into_iter().map(|(pair, _)| pair).collect(),
        disputed: dispute(cx, object, &spec),
        scenarios: scenarios.try_into().ok()?,
    };
    Some((pair, spec))
}

/// The terms that are true while the active site is disputed, on the board.
fn dispute(cx: &mut Context<'_>, object: &Object<'_>, spec: &PairSpec) -> Vec<WatchedId> {
    let texts = disputed(spec).into_iter().flatten();
    let terms = texts.filter_map(|text| term(cx, &text, object.place, object.path, Scope::Board));
    let terms: Vec<Term> = terms.collect();
    terms.into_iter().map(|term| cx.watch(term)).collect()
}

/// Pairs that come before this one in a chain, each with its scenario that says that its active site is out.
fn after(cx: &mut Context<'_>, object: &Object<'_>, name: &str, backup: &str) -> Vec<(Name, String)> {
    let pairs = cx.section("datacenter_pair");
    let mut found: Vec<(Name, String)> = Vec::new();
    let path = object.path.key("after");
    for node in object.items("after") {
        let Some(text) = node.text() else { continue };
        let Some((_, _, table)) = pairs.iter().find(|(pair, ..)| *pair == text) else {
            let meant = nearest(text, pairs.iter().map(|(pair, ..)| *pair)).map(str::to_owned);
            cx.report.error_meant(node.place, path, format!("{path}: there is no data-centre pair `{text}`"), meant);
            continue;
        };
        let of = |key: &str| table.get(key).and_then(Node::text);
        let why = match () {
            () if text == name => Some("a pair cannot come after itself".to_owned()),
            () if of("backup") != Some(backup) => {
                Some(format!("the backup of `{text}` is another one; a chain ends at one backup, here `{backup}`"))
            }
            () if found.iter().any(|(pair, _)| **pair == *text) => Some(format!("`{text}` stands twice")),
            () => None,
        };
        match why {
            Some(why) => cx.report.error(node.place, path, format!("{path}: {why}")),
            None => {
                let from_active = of("from_active").map_or_else(|| format!("{text}/from-active"), str::to_owned);
                found.push((text.into(), from_active));
            }
        }
    }
    found
}

/// What the configuration says about a generated scenario, the defaults for all scenarios included: a rendered model has
/// no defaults any more.
fn replaced_fields(own: Option<&Table>, defaults: Option<&Table>) -> Option<Name> {
    let fields = match (own, defaults) {
        (Some(own), Some(defaults)) => own.over(defaults, &Direction::BOTH.map(Direction::word)),
        (Some(fields), None) | (None, Some(fields)) => fields.clone(),
        (None, None) => return None,
    };
    (!fields.entries.is_empty()).then(|| fields.to_toml().into())
}

/// The loss hold from the schedules of the signals used; a signal without its list never becomes known.
fn derived(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    spec: &PairSpec,
    datacenters: &[Datacenter],
    link: &PeerLink,
) -> Duration {
    let mut schedules: Vec<Schedule> = Vec::new();
    for UsedSignal { datacenter: name, signal, told } in signals(spec) {
        let datacenter = cx.names.datacenters.id(name).and_then(|id| datacenters.get(id));
        let list = datacenter.and_then(|datacenter| match signal {
            Signal::Wan => datacenter.wan.as_ref(),
            Signal::Lan => datacenter.lan.as_ref(),
            _ => datacenter.internet.as_ref(),
        });
        match list {
            Some(list) => {
                let mut schedule = list.schedule.clone();
                if told {
                    schedule.timeout = schedule.timeout.saturating_add(link.stale_after());
                }
                schedules.push(schedule);
            }
            None if told => {
                let what = format!(
                    "{}: the data centre `{name}` has no `{}` list here; boxes of a cluster have one configuration, and its own box needs it",
                    object.path,
                    signal.word()
                );
                cx.report.warning(object.place, object.path, what);
            }
            None => {
                let signal = signal.word();
                let path = object.path;
                let what = format!(
                    "{path}: the data centre `{name}` has no `{signal}` list, so `dc:{name}.{signal}` is never known and the pair cannot act on it"
                );
                cx.report.warning(object.place, path, what);
            }
        }
    }
    derived_loss_hold(&schedules)
}
