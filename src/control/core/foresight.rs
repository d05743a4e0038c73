//! What a configuration would do if it were applied now: the transitions of its first evaluation and the DNS answers
//! that would change. A copy of the engine takes it; nothing that runs is touched. Of an act: [`rehearsal`](super::rehearsal).

use std::collections::HashMap;
use std::sync::Arc;

use crate::machine::{Effect, Engine, Input};
use crate::model::Model;
use crate::model::event::Record;
use crate::model::lookup::KnownNames;
use crate::model::time::Now;
use crate::model::zone::OnEmpty;
use crate::snapshot::Snapshot;
use crate::snapshot::build::{Parts, build};
use crate::snapshot::live::Registry;
use crate::snapshot::zones::ZoneIndex;

/// One line for each transition and each steered answer that would change.
pub(super) fn foresee(
    engine: &Engine,
    now: Now,
    model: &Arc<Model>,
    zones: &Arc<ZoneIndex>,
    names: &KnownNames,
    running: &Snapshot,
) -> Vec<String> {
    told(engine, now, Input::Adopt(Arc::clone(model)), (zones, names, running))
}

fn told(
    engine: &Engine,
    now: Now,
    input: Input,
    (zones, names, running): (&Arc<ZoneIndex>, &KnownNames, &Snapshot),
) -> Vec<String> {
    let mut trial = engine.clone();
    let mut effects = Vec::new();
    trial.step(now, input, &mut effects);
    let model = &Arc::clone(trial.model());
    let next = build(Parts {
        generation: running.generation + 1,
        model,
        view: trial.view(),
        registry: &mut Registry::default(),
        zones,
        resolved: names,
        previous: Some(running),
        scenario_active: trial.view().scenarios.iter().map(|s| s.active).collect(),
        ready: true,
    });
    let mut lines = transitions(&effects);
    for (scenario, view) in model.scenarios.iter().zip(&trial.view().scenarios) {
        if let Some(attempt) = &view.attempt {
            lines.push(format!("scenario {}: the guard of {} would run", scenario.name, attempt.direction.word()));
        }
    }
    lines.extend(changed_answers(running, &next));
    lines
}

fn transitions(effects: &[Effect]) -> Vec<String> {
    let of = |effect: &Effect| match effect {
        Effect::Record(Record::Transition(t)) => {
            let why = t.cause.group().map(|group| format!(" ({group})")).unwrap_or_default();
            Some(format!("scenario {}: would {}{why}", t.scenario, t.direction.word()))
        }
        _ => None,
    };
    effects.iter().filter_map(of).collect()
}

/// By owner and type, so that a moved RRset is the same one.
fn changed_answers(running: &Snapshot, next: &Snapshot) -> Vec<String> {
    let (before, after) = (answers(running), answers(next));
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    let shown = |answer: Option<&String>| answer.map_or("none", String::as_str).to_owned();
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| format!("answer {name}: {} → {}", shown(before.get(name)), shown(after.get(name))))
        .collect()
}

/// The records that would be answered, before the selection, which may differ from query to query.
fn answers(snapshot: &Snapshot) -> HashMap<String, String> {
    let mut answers = HashMap::new();
    for (z, zone) in snapshot.model.zones.iter().enumerate() {
        for (r, rrset) in zone.rrsets.iter().enumerate() {
            let mut chosen = Vec::new();
            let decision = snapshot.decide(z, r, &mut chosen);
            let mut data: Vec<&str> = chosen.iter().map(|&at| &*rrset.records[at as usize].data).collect();
            if data.is_empty()
                && let OnEmpty::Static(fixed) = &rrset.on_empty
                && decision.fallback.is_some()
            {
                data = fixed.iter().map(|d| &*d.data).collect();
            }
            let text = if data.is_empty() { "no records".to_owned() } else { data.join(", ") };
            answers.insert(format!("{} {}", rrset.owner, rrset.rtype), text);
        }
    }
    answers
}
