//! What a trigger tells its receiver: JSON. Pure.

mod alert;

use serde_json::{Map, Value, json};

use super::journal::codec;
use crate::config::edit::{for_journal, is_secret};
use crate::config::render::render;
use crate::model::Model;
use crate::model::condition::{Condition, Subject};
use crate::model::delivery::{Delivery, DeliveryStatus, key};
use crate::model::event::{Cause, Transition};
use crate::model::id::{Name, ScenarioId};
use crate::model::scenario::{Direction, GuardStep, Scenario};
use crate::model::time::Wall;

pub use alert::of_alert;

/// Largest payload. One that would be larger goes without `config`, and then without `groups`.
const PAYLOAD_MOST: usize = 256 * 1024;

/// Values that receivers must not see, beside what nobody may see who may not change the configuration.
const HIDDEN: [&str; 4] = ["password", "secret", "user", "dsn"];

/// The running configuration as a tree, made once for each.
#[derive(Clone, Debug)]
pub struct ConfigTree {
    tree: toml::Table,
    hash: String,
}

/// A delivery before the outbox has it, of a commit.
pub fn of_commit(model: &Model, config: &ConfigTree, transition: &Transition, trigger: &Name, id: u64) -> Delivery {
    let (scenario, direction) = (&transition.scenario, transition.direction);
    let seq = transition.seq.to_string();
    let key = key([&model.appliance.name, scenario, &seq, direction.word(), trigger]);
    let payload = payload(model, config, transition, &key);
    Delivery {
        id,
        key,
        trigger: Name::clone(trigger),
        scenario: Name::clone(scenario),
        seq: transition.seq,
        direction,
        alert: None,
        test: false,
        since: transition.committed_at,
        payload: payload.into(),
        attempts: 0,
        last_error: None,
        tries: Default::default(),
        status: DeliveryStatus::Pending { next: transition.committed_at },
        changed: transition.committed_at,
    }
}

/// A delivery that a person asked for, to see whether the receiver takes it. The same members, marked.
pub fn of_test(model: &Model, config: &ConfigTree, trigger: &Name, actor: &Name, now: Wall, id: u64) -> Delivery {
    let key = key([&model.appliance.name, "", &id.to_string(), "test", trigger]);
    let payload = json!({
        "type": "trigger.test", "id": key, "test": true, "appliance": model.appliance.name, "trigger": trigger,
        "scenario": "", "about": "a test that a person asked for; nothing has changed", "seq": 0,
        "direction": "activate", "evaluated_at": now.to_string(), "committed_at": now.to_string(), "cause": "test",
        "actor": actor, "reason": null, "drill": true, "drill_id": null, "groups": [], "gate": null, "guard": null, "affected": [],
        "config_hash": config.hash, "config": null,
    });
    Delivery {
        id,
        key,
        trigger: Name::clone(trigger),
        scenario: "".into(),
        seq: 0,
        direction: Direction::Activate,
        alert: None,
        test: true,
        since: now,
        payload: payload.to_string().into(),
        attempts: 0,
        last_error: None,
        tries: Default::default(),
        status: DeliveryStatus::Pending { next: now },
        changed: now,
    }
}

fn payload(model: &Model, config: &ConfigTree, transition: &Transition, key: &str) -> String {
    let id = model.scenario_id(&transition.scenario);
    let recorded = codec::encode_transition(transition);
    let kind = format!("scenario.{}", transition.direction.participle());
    let mut payload = json!({
        "type": kind, "id": key, "test": false, "appliance": model.appliance.name,
        "scenario": transition.scenario, "about": id.map(|id| &*model.scenario(id).about),
        "seq": transition.seq, "direction": transition.direction.word(),
        "evaluated_at": transition.evaluated_at.to_string(), "committed_at": transition.committed_at.to_string(),
        "cause": transition.cause_text(), "group": transition.cause.group(), "actor": transition.actor,
        "reason": transition.reason, "drill": is_drill(transition), "drill_id": transition.drill, "groups": recorded["groups"],
        "gate": recorded["gate"], "guard": recorded["guard"],
        "affected": id.map(|id| affected(model, id)).unwrap_or_default(),
        "config_hash": config.hash, "config": id.map(|id| config.of(model, id)),
    });
    for too_much in ["config", "groups", "affected"] {
        let text = payload.to_string();
        if text.len() <= PAYLOAD_MOST {
            return text;
        }
        payload[too_much] = Value::Null;
    }
    payload.to_string()
}

/// It belongs to a drill; or somebody forced it by hand and said so: the reason begins with the word.
fn is_drill(transition: &Transition) -> bool {
    if transition.drill.is_some() {
        return true;
    }
    if transition.cause != Cause::Forced {
        return false;
    }
    let reason = transition.reason.as_deref().unwrap_or_default().trim_start();
    let word: String = reason.chars().take_while(|c| c.is_alphabetic()).collect();
    word.eq_ignore_ascii_case("drill") || word.eq_ignore_ascii_case("test")
}

/// The steered sets that the scenario decides about.
fn affected(model: &Model, scenario: ScenarioId) -> Value {
    let mut affected = Vec::new();
    for zone in &model.zones {
        for set in &zone.rrsets {
            let decides = |record: &crate::model::zone::Record| {
                record.cond.is_some_and(|(of, _)| of == scenario) || record.dr_cond == Some(scenario)
            };
            let data: Vec<&str> = set.records.iter().filter(|r| decides(r)).map(|r| &*r.data).collect();
            if !data.is_empty() {
                affected.push(json!({ "zone": zone.name, "rrset": set.key, "records": data }));
            }
        }
    }
    affected.into()
}

// === impl ConfigTree ===

impl ConfigTree {
    pub fn new(model: &Model, hash: &str) -> ConfigTree {
        let mut tree: toml::Table = for_journal(&render(model)).parse().unwrap_or_default();
        tree.retain(|key, _| matches!(key, "scenario" | "check" | "datacenter_pair"));
        ConfigTree { tree, hash: hash.to_owned() }
    }

    /// The scenario, or the pair that it was generated for, and the checks that it names.
    fn of(&self, model: &Model, id: ScenarioId) -> Value {
        let scenario = model.scenario(id);
        let shown = |table: &str, name: &str| {
            let found = self.tree.get(table).and_then(|table| table.get(name));
            found.map(|found| hidden(serde_json::to_value(found).unwrap_or_default()))
        };
        let checks: Map<String, Value> = checks_of(scenario)
            .filter_map(|check| {
                let name = &model.check(check).name;
                Some((name.to_string(), shown("check", name)?))
            })
            .collect();
        match scenario.pair.and_then(|at| model.pairs.get(at as usize)) {
            Some(pair) => json!({ "datacenter_pair": shown("datacenter_pair", &pair.name), "checks": checks }),
            None => json!({ "scenario": shown("scenario", &scenario.name), "checks": checks }),
        }
    }
}

fn checks_of(scenario: &Scenario) -> impl Iterator<Item = crate::model::id::CheckId> + '_ {
    let conditions = |condition: &Condition| {
        condition.groups.iter().flat_map(|g| &g.terms).map(|t| t.subject.clone()).collect::<Vec<_>>()
    };
    scenario
        .directions
        .iter()
        .flat_map(move |rules| {
            let mut subjects = conditions(&rules.when);
            subjects.extend(rules.gate.iter().flat_map(conditions));
            for step in rules.guard.iter().flat_map(|guard| &guard.run) {
                if let GuardStep::Check(term) = step {
                    subjects.push(term.subject.clone());
                }
            }
            subjects
        })
        .filter_map(|subject| match subject {
            Subject::Check(check) => Some(check),
            _ => None,
        })
}

fn hidden(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| {
                let hide = (is_secret(&name) || HIDDEN.contains(&&*name)) && !is_nothing(&value);
                (name, if hide { "…".into() } else { hidden(value) })
            })
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(values) => values.into_iter().map(hidden).collect(),
        other => other,
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Null => true,
        _ => false,
    }
}
