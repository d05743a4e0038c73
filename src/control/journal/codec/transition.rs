//! Commits of scenarios as JSON, and back.

use serde_json::{Value, json};

use super::{Reader, Unreadable, wall_text};
use crate::model::condition::Truth;
use crate::model::event::{Cause, GuardOutcome, Transition, TransitionGroup, TransitionTrigger};

pub fn encode_transition(t: &Transition) -> Value {
    json!({
        "scenario": t.scenario,
        "seq": t.seq,
        "direction": t.direction.word(),
        "evaluated_at": wall_text(t.evaluated_at),
        "committed_at": wall_text(t.committed_at),
        "cause": t.cause_text(),
        "group": t.cause.group(),
        "actor": t.actor,
        "reason": t.reason,
        "groups": t.groups.iter().map(encode_group).collect::<Vec<_>>(),
        "gate": t.gate.map(Truth::word),
        "guard": t.guard.as_ref().map(|g| json!({
            "attempt": g.attempt, "outcome": g.outcome, "detail": g.detail,
        })),
        "drill": t.drill,
        "triggers": t.triggers.iter().map(|t| json!({ "name": t.name, "status": t.status })).collect::<Vec<_>>(),
    })
}

fn encode_group(group: &TransitionGroup) -> Value {
    let terms: Vec<Value> = group
        .terms
        .iter()
        .map(|(text, value, since)| json!({ "text": text, "value": value.word(), "since": wall_text(*since) }))
        .collect();
    json!({
        "direction": group.direction.word(), "name": group.name, "value": group.value.word(), "armed": group.armed,
        "terms": terms,
    })
}

pub fn decode_transition(value: &Value) -> Result<Transition, Unreadable> {
    let v = Reader { value };
    let group = v.optional("group", |r, k| r.name(k))?;
    let mut act_of = None;
    let cause = match (v.str("cause")?, group) {
        (act, group) if act.starts_with("admin:") => {
            act_of = Some(act.into());
            group.map_or(Cause::Forced, Cause::Condition)
        }
        ("condition", Some(group)) => Cause::Condition(group),
        ("config", Some(group)) => Cause::Config(group),
        ("forced", None) => Cause::Forced,
        (other, _) => return Err(format!("`{other}` is not a cause, or its group is missing")),
    };
    Ok(Transition {
        scenario: v.name("scenario")?,
        seq: v.u64("seq")?,
        direction: v.direction("direction")?,
        evaluated_at: v.wall("evaluated_at")?,
        committed_at: v.wall("committed_at")?,
        cause,
        act_of,
        actor: v.name("actor")?,
        reason: v.optional("reason", |r, k| r.name(k))?,
        groups: v.list("groups", decode_group)?,
        gate: v.optional("gate", |r, k| r.truth(k))?,
        guard: v.optional("guard", |r, k| {
            let g = Reader { value: r.get(k)? };
            Ok(GuardOutcome { attempt: g.u64("attempt")?, outcome: g.name("outcome")?, detail: g.name("detail")? })
        })?,
        drill: v.optional("drill", |r, k| r.u64(k))?,
        triggers: v.list("triggers", |value| {
            let t = Reader { value };
            Ok(TransitionTrigger { name: t.name("name")?, status: t.name("status")? })
        })?,
    })
}

fn decode_group(value: &Value) -> Result<TransitionGroup, Unreadable> {
    let g = Reader { value };
    Ok(TransitionGroup {
        direction: g.direction("direction")?,
        name: g.name("name")?,
        value: g.truth("value")?,
        armed: g.bool("armed")?,
        terms: g.list("terms", |value| {
            let t = Reader { value };
            Ok((t.name("text")?, t.truth("value")?, t.wall("since")?))
        })?,
    })
}
