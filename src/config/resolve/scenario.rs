//! Scenarios: the operator's own, and those generated for pairs with their replaced fields.

use std::collections::HashMap;
use std::time::Duration;

use super::Context;
use super::object::Object;
use super::pair::Generated;
use super::term::{Scope, condition, term};
use crate::config::document::{Node, Path, Place, Table, Value};
use crate::model::condition::Condition;
use crate::model::id::{Name, QueryId, TriggerId};
use crate::model::scenario::{Direction, DirectionRules, Guard, GuardStep, Mode, OnTimeout, Oscillation, Scenario};

static NOTHING: Table = Table { entries: Vec::new() };

/// All scenarios, sorted.
pub fn all(cx: &mut Context<'_>, generated: Vec<Generated<'_>>) -> Vec<Scenario> {
    let root = Path::Root;
    let section = root.key("scenario");
    let mut scenarios = Vec::new();
    for (name, place, table) in cx.section("scenario") {
        let object = Object::new(table, cx.defaults("scenario"), section.key(name), place);
        scenarios.push(scenario(cx, &object, name.into(), None));
    }
    let section = root.key("datacenter_pair");
    for made in generated {
        let (table, place) = made.overrides.unwrap_or((&NOTHING, made.place));
        let pair = section.key(made.pair_name);
        let object = Object::new(table, cx.defaults("scenario"), pair.key(made.terms.place.word()), place);
        scenarios.push(scenario(cx, &object, made.name.clone(), Some(&made)));
    }
    // One for each name, also where a pair could not make its scenarios: ids must fit for the checks that follow.
    let mut by_name: HashMap<Name, Scenario> = scenarios.into_iter().map(|s| (s.name.clone(), s)).collect();
    let names: Vec<Name> = cx.names.scenarios.iter().cloned().collect();
    let nothing = Object::new(&NOTHING, None, Path::Root, Place::default());
    let mut made = Vec::with_capacity(names.len());
    for name in names {
        made.push(by_name.remove(&name).unwrap_or_else(|| scenario(cx, &nothing, name, None)));
    }
    made
}

fn scenario(cx: &mut Context<'_>, object: &Object<'_>, name: Name, made: Option<&Generated<'_>>) -> Scenario {
    if name.contains(['!', ',']) {
        object.wrong_whole(cx.report, "a scenario's name cannot hold `!` or `,`, which conditions need");
    }
    let renamed_from = object.name("renamed_from");
    if let Some(former) = renamed_from.as_deref().filter(|former| cx.names.scenarios.has(former)) {
        object.wrong(cx.report, "renamed_from", format!("the scenario `{former}` still exists"));
    }
    let rules = Direction::BOTH.map(|direction| {
        let groups = made.map(|made| match direction {
            Direction::Activate => &made.terms.activate[..],
            Direction::Deactivate => &made.terms.deactivate[..],
        });
        direction_rules(cx, object, direction, groups)
    });
    Scenario {
        name,
        about: object.name("about").unwrap_or_else(|| "".into()),
        initially_active: object.text("initial") == Some("active"),
        directions: rules,
        oscillation: oscillation(object),
        min_dwell: object.duration("min_dwell").unwrap_or(Duration::ZERO),
        renamed_from,
        pair: made.map(|made| made.pair),
    }
}

/// More than 10 automatic commits in 10 minutes hold a scenario.
fn oscillation(object: &Object<'_>) -> Oscillation {
    let (table, place) = object.inner("oscillation").unwrap_or((&NOTHING, object.place));
    let inner = Object::new(table, None, object.path, place);
    Oscillation {
        commits: inner.int("commits").unwrap_or(10),
        within: inner.duration("within").unwrap_or(Duration::from_secs(600)),
    }
}

fn direction_rules(
    cx: &mut Context<'_>,
    scenario: &Object<'_>,
    direction: Direction,
    generated: Option<&[Vec<String>]>,
) -> DirectionRules {
    let key = direction.word();
    let own = scenario.own(key).and_then(Node::table);
    let defaults = scenario.defaults.and_then(|table| table.get(key)).and_then(Node::table);
    let place = scenario.table.entry(key).map_or(scenario.place, |entry| entry.place);
    let object = Object::new(own.unwrap_or(&NOTHING), defaults, scenario.path.key(key), place);
    let base_mode = match object.text("mode") {
        Some("off") => Mode::Off,
        Some("on") => {
            object.wrong(cx.report, "mode", "`on` is set at run time; a configuration says `auto` or `off`");
            Mode::Auto
        }
        _ => Mode::Auto,
    };
    let when = match (object.get("when"), generated) {
        (Some(node), _) => condition(cx, node, object.path.key("when"), Scope::Board),
        (None, Some(groups)) => condition(cx, &as_node(groups, place), object.path.key("when"), Scope::Board),
        (None, None) => Condition::default(),
    };
    let gate = object.get("gate").map(|node| condition(cx, node, object.path.key("gate"), Scope::Board));
    if gate.as_ref().is_some_and(|gate| gate.groups.is_empty()) && object.items("gate").is_empty() {
        object.wrong(cx.report, "gate", "a gate without groups is never open; leave it out");
    }
    let guard = guard(cx, &object);
    let triggers = triggers(cx, &object);
    DirectionRules { base_mode, when, gate, guard, triggers }
}

/// Generated terms as if they were written in the pair.
fn as_node(groups: &[Vec<String>], place: Place) -> Node {
    let text = |term: &String| Node { place, value: Value::Text(term.clone()) };
    let list = |items| Node { place, value: Value::List(items) };
    list(groups.iter().map(|group| list(group.iter().map(text).collect())).collect())
}

/// The triggers that an object names, each once.
pub fn triggers(cx: &mut Context<'_>, object: &Object<'_>) -> Vec<TriggerId> {
    let path = object.path.key("triggers");
    let mut ids: Vec<TriggerId> = Vec::new();
    for node in object.items("triggers") {
        let Some(name) = node.text() else { continue };
        if cx.names.queries.has(name) && !cx.names.triggers.has(name) {
            cx.dangling(node.place, path, format!("`{name}` is a query, which only reads; a guard may run it"), None);
            continue;
        }
        let Some(id) = cx.names.triggers.find(cx.report, name, node.place, path) else { continue };
        let id = TriggerId::from_index(id);
        if ids.contains(&id) {
            cx.report.error(node.place, path, format!("{path}: `{name}` stands twice"));
            continue;
        }
        ids.push(id);
    }
    ids
}

fn guard(cx: &mut Context<'_>, direction: &Object<'_>) -> Option<Guard> {
    let (table, place) = direction.inner("guard")?;
    let object = Object::new(table, None, direction.path.key("guard"), place);
    let path = object.path.key("run");
    let mut run = Vec::new();
    for (index, node) in object.items("run").into_iter().enumerate() {
        let Some(text) = node.text() else { continue };
        run.extend(guard_step(cx, text, node.place, path.item(index)));
    }
    let approve = object.bool("approve").unwrap_or(false);
    if object.items("run").is_empty() && !approve && !cx.report.has_syntax_errors() {
        object.wrong_whole(cx.report, "a guard needs something to `run`, or `approve = true`");
    }
    let deadline = object.duration("deadline").unwrap_or(Duration::from_secs(60));
    let guard = Guard {
        run,
        approve,
        // Said nowhere, a try is as long as the deadline lets it be.
        timeout: object.duration("timeout").unwrap_or(Duration::from_secs(10).min(deadline)),
        retries: object.int("retries").unwrap_or(2),
        backoff: object.duration("backoff").unwrap_or(Duration::from_secs(5)),
        deadline,
        on_timeout: match object.text("on_timeout") {
            Some("proceed") => OnTimeout::Proceed,
            _ => OnTimeout::Block,
        },
    };
    if guard.timeout > guard.deadline {
        object.wrong(cx.report, "timeout", "`timeout` (one try) must not be more than `deadline` (all tries)");
    }
    Some(guard)
}

/// A query by name, else a term that must be true.
fn guard_step(cx: &mut Context<'_>, text: &str, place: Place, path: Path<'_>) -> Option<GuardStep> {
    if let Some(id) = cx.names.queries.id(text) {
        if cx.names.checks.has(text) {
            let what = format!("{path}: `{text}` is a query and a check; a guard could not tell which");
            cx.report.error(place, path, what);
        }
        return Some(GuardStep::Query(QueryId::from_index(id)));
    }
    if cx.names.triggers.has(text) && !cx.names.checks.has(text) {
        cx.dangling(place, path, format!("`{text}` is a trigger, which acts; guards only read"), None);
        return None;
    }
    let bare = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if bare && !cx.names.checks.has(text) {
        let meant = cx.names.queries.nearest(cx.report, text).or_else(|| cx.names.checks.nearest(cx.report, text));
        cx.dangling(place, path, format!("there is no query or check `{text}`"), meant);
        return None;
    }
    term(cx, text, place, path, Scope::Board).map(GuardStep::Check)
}
