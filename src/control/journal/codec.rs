//! Records of the engine as JSON, and back: what `/journal` shows is what `replay` reads. Times are RFC 3339 with
//! microseconds, durations microseconds with the suffix `_us`; absent values are null.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::model::balancing::Shares;
use crate::model::condition::Truth;
use crate::model::event::{
    Act, BoardRecord, Cause, Change, DeliveryRecord, Failures, GuardOutcome, Record, Transition, TransitionGroup,
    TransitionTrigger,
};
use crate::model::id::{Kind, Name, ObjectRef};
use crate::model::scenario::{Direction, Mode};
use crate::model::time::{Wall, micros};

/// Why a stored value cannot be read.
pub type Unreadable = String;

/// The column `kind` of a record.
pub fn kind(record: &Record) -> &'static str {
    match record {
        Record::Transition(_) => "transition",
        Record::Act { .. } => "act",
        Record::Ended { .. } => "ended",
        Record::State { .. } => "state",
        Record::Board(_) => "board",
        Record::Attempt { .. } => "attempt",
        Record::Warning { .. } => "warning",
        Record::Ejected { .. } => "ejected",
        Record::Delivery(_) => "delivery",
    }
}

/// The column `object` of a record; empty for rows of the board, which have no object of their own.
pub fn object(record: &Record) -> Name {
    match record {
        Record::Transition(t) => format!("scenario {}", t.scenario).into(),
        Record::Attempt { scenario, .. } => format!("scenario {scenario}").into(),
        Record::Act { object, .. }
        | Record::Ended { object, .. }
        | Record::State { object, .. }
        | Record::Warning { object, .. } => object.to_string().into(),
        Record::Ejected { service, .. } => ObjectRef::new(Kind::Service, Name::clone(service)).to_string().into(),
        Record::Delivery(d) if d.scenario.is_empty() => format!("trigger {}", d.trigger).into(),
        Record::Delivery(d) => format!("scenario {}", d.scenario).into(),
        Record::Board(_) => "".into(),
    }
}

/// The column `actor` of a record: who, where a person did it.
pub fn actor(record: &Record) -> Name {
    match record {
        Record::Act { act, .. } => Arc::clone(&act.actor),
        Record::Transition(t) => Arc::clone(&t.actor),
        _ => "system".into(),
    }
}

pub fn encode(record: &Record) -> Value {
    match record {
        Record::Transition(transition) => encode_transition(transition),
        Record::Act { object, act, change } => {
            json!({ "object": encode_object(object), "act": encode_act(act), "change": encode_change(change) })
        }
        Record::Ended { object, what, why } => json!({ "object": encode_object(object), "what": what, "why": why }),
        Record::State { object, from, to, real, cause } => {
            json!({ "object": encode_object(object), "from": from, "to": to, "real": real, "cause": cause })
        }
        Record::Board(row) => json!({
            "row": row.row, "value": row.value.word(), "clean_for_us": row.clean_for.map(micros),
        }),
        Record::Attempt { scenario, direction, attempt, outcome, detail } => json!({
            "scenario": scenario, "direction": direction.word(), "attempt": attempt, "outcome": outcome,
            "detail": detail,
        }),
        Record::Warning { object, text } => json!({ "object": encode_object(object), "text": text }),
        Record::Ejected { service, cause, until, times } => json!({
            "service": service, "cause": cause.word(), "count": cause.count(), "until": wall_text(*until),
            "times": times,
        }),
        Record::Delivery(d) => json!({
            "delivery": d.id, "key": d.key, "trigger": d.trigger, "scenario": d.scenario, "seq": d.seq,
            "direction": d.direction.word(), "status": d.status, "attempts": d.attempts, "error": d.error,
        }),
    }
}

/// The record of an entry of this kind; `None` for entries that no record stands behind (`start`, `config`, …).
pub fn decode(kind: &str, body: &Value) -> Result<Option<Record>, Unreadable> {
    let v = Reader { value: body };
    Ok(Some(match kind {
        "transition" => Record::Transition(Arc::new(decode_transition(body)?)),
        "act" => Record::Act {
            object: decode_object(v.get("object")?)?,
            act: decode_act(v.get("act")?)?,
            change: decode_change(v.get("change")?)?,
        },
        "ended" => {
            Record::Ended { object: decode_object(v.get("object")?)?, what: v.name("what")?, why: v.name("why")? }
        }
        "state" => Record::State {
            object: decode_object(v.get("object")?)?,
            from: v.name("from")?,
            to: v.name("to")?,
            real: v.name("real")?,
            cause: v.name("cause")?,
        },
        "board" => Record::Board(BoardRecord {
            row: v.name("row")?,
            value: v.truth("value")?,
            clean_for: v.optional("clean_for_us", |r, k| r.u64(k))?.map(Duration::from_micros),
        }),
        "attempt" => Record::Attempt {
            scenario: v.name("scenario")?,
            direction: v.direction("direction")?,
            attempt: v.u64("attempt")?,
            outcome: v.name("outcome")?,
            detail: v.name("detail")?,
        },
        "warning" => Record::Warning { object: decode_object(v.get("object")?)?, text: v.name("text")? },
        "ejected" => {
            let count = v.u32("count")?;
            let cause = match v.str("cause")? {
                "connect_failures" => Failures::Connects(count),
                "server_errors" => Failures::Answers(count),
                other => return Err(format!("`{other}` ejects nobody")),
            };
            Record::Ejected { service: v.name("service")?, cause, until: v.wall("until")?, times: v.u32("times")? }
        }
        "delivery" => Record::Delivery(Arc::new(DeliveryRecord {
            id: v.u64("delivery")?,
            key: v.name("key")?,
            trigger: v.name("trigger")?,
            scenario: v.name("scenario")?,
            seq: v.u64("seq")?,
            direction: v.direction("direction")?,
            status: v.name("status")?,
            attempts: v.u32("attempts")?,
            error: v.optional("error", |r, k| r.name(k))?,
        })),
        _ => return Ok(None),
    }))
}

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

pub fn encode_object(object: &ObjectRef) -> Value {
    json!({ "kind": object.kind.word(), "name": object.name })
}

pub fn decode_object(value: &Value) -> Result<ObjectRef, Unreadable> {
    let v = Reader { value };
    let word = v.str("kind")?;
    let kind = Kind::parse(word).ok_or_else(|| format!("`{word}` is not a kind of object"))?;
    Ok(ObjectRef { kind, name: v.name("name")? })
}

pub fn encode_act(act: &Act) -> Value {
    json!({ "actor": act.actor, "reason": act.reason, "expires": act.expires.map(wall_text) })
}

pub fn decode_act(value: &Value) -> Result<Act, Unreadable> {
    let v = Reader { value };
    Ok(Act {
        actor: v.name("actor")?,
        reason: v.optional("reason", |r, k| r.name(k))?,
        expires: v.optional("expires", |r, k| r.wall(k))?,
    })
}

fn encode_change(change: &Change) -> Value {
    match change {
        Change::Disabled { deadline, graceful } => {
            json!({ "what": "disabled", "deadline": deadline.map(wall_text), "graceful": graceful })
        }
        Change::Enabled => json!({ "what": "enabled" }),
        Change::Modes { activate, deactivate, override_guard } => json!({
            "what": "modes", "activate": activate.map(Mode::word), "deactivate": deactivate.map(Mode::word),
            "override": override_guard,
        }),
        Change::Switch(value) => json!({ "what": "switch", "value": value }),
        Change::Forced(up) => json!({ "what": "forced", "up": up }),
        Change::Decided { attempt, approve } => {
            json!({ "what": "decided", "attempt": attempt, "approve": approve })
        }
        Change::Split(shares) => json!({ "what": "split", "shares": shares.as_deref().map(encode_shares) }),
    }
}

fn decode_change(value: &Value) -> Result<Change, Unreadable> {
    let v = Reader { value };
    Ok(match v.str("what")? {
        "disabled" => {
            Change::Disabled { deadline: v.optional("deadline", |r, k| r.wall(k))?, graceful: v.bool("graceful")? }
        }
        "enabled" => Change::Enabled,
        "modes" => Change::Modes {
            activate: v.optional("activate", |r, k| r.mode(k))?,
            deactivate: v.optional("deactivate", |r, k| r.mode(k))?,
            override_guard: v.bool("override")?,
        },
        "switch" => Change::Switch(v.bool("value")?),
        "forced" => Change::Forced(v.optional("up", |r, k| r.bool(k))?),
        "decided" => Change::Decided { attempt: v.u64("attempt")?, approve: v.bool("approve")? },
        "split" => Change::Split(v.optional("shares", |r, k| decode_shares(r.get(k)?))?),
        other => return Err(format!("`{other}` is not a change")),
    })
}

/// A list, since the order means something: that of the groups.
pub(super) fn encode_shares(shares: &[(Name, u8)]) -> Value {
    shares.iter().map(|(group, share)| json!([group, share])).collect()
}

pub(super) fn decode_shares(value: &Value) -> Result<Shares, Unreadable> {
    let one = |pair: &Value| {
        let (group, share) = (pair[0].as_str()?, u8::try_from(pair[1].as_u64()?).ok()?);
        Some((group.into(), share))
    };
    let shares: Option<Shares> = value.as_array().and_then(|pairs| pairs.iter().map(one).collect());
    shares.ok_or_else(|| format!("{value} are not the shares of groups"))
}

/// RFC 3339 in UTC with microseconds.
pub fn wall_text(wall: Wall) -> String {
    match jiff::Timestamp::from_microsecond(wall.0) {
        Ok(timestamp) => format!("{timestamp:.6}"),
        // Beyond the years that RFC 3339 can write: the last one that it can.
        Err(_) if wall.0 < 0 => format!("{:.6}", jiff::Timestamp::MIN),
        Err(_) => format!("{:.6}", jiff::Timestamp::MAX),
    }
}

pub fn parse_wall(text: &str) -> Result<Wall, Unreadable> {
    let timestamp: jiff::Timestamp = text.parse().map_err(|e| format!("`{text}` is not a time: {e}"))?;
    Ok(Wall(timestamp.as_microsecond()))
}

/// Typed access to the members of a JSON object.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub value: &'a Value,
}

// === impl Reader ===

impl<'a> Reader<'a> {
    pub fn get(&self, key: &str) -> Result<&'a Value, Unreadable> {
        self.value.get(key).ok_or_else(|| format!("`{key}` is missing"))
    }

    pub fn str(&self, key: &str) -> Result<&'a str, Unreadable> {
        self.get(key)?.as_str().ok_or_else(|| format!("`{key}` is not a text"))
    }

    pub fn name(&self, key: &str) -> Result<Name, Unreadable> {
        Ok(self.str(key)?.into())
    }

    pub fn u64(&self, key: &str) -> Result<u64, Unreadable> {
        self.get(key)?.as_u64().ok_or_else(|| format!("`{key}` is not a whole number"))
    }

    pub fn u32(&self, key: &str) -> Result<u32, Unreadable> {
        u32::try_from(self.u64(key)?).map_err(|_| format!("`{key}` is too large"))
    }

    pub fn bool(&self, key: &str) -> Result<bool, Unreadable> {
        self.get(key)?.as_bool().ok_or_else(|| format!("`{key}` is not true or false"))
    }

    pub fn wall(&self, key: &str) -> Result<Wall, Unreadable> {
        parse_wall(self.str(key)?)
    }

    pub fn truth(&self, key: &str) -> Result<Truth, Unreadable> {
        self.word(key, Truth::parse)
    }

    pub fn direction(&self, key: &str) -> Result<Direction, Unreadable> {
        self.word(key, Direction::parse)
    }

    pub fn mode(&self, key: &str) -> Result<Mode, Unreadable> {
        self.word(key, Mode::parse)
    }

    pub fn word<T>(&self, key: &str, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, Unreadable> {
        let word = self.str(key)?;
        parse(word).ok_or_else(|| format!("`{key}` cannot be `{word}`"))
    }

    /// `None` where the member is absent or null.
    pub fn optional<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Reader<'a>, &str) -> Result<T, Unreadable>,
    ) -> Result<Option<T>, Unreadable> {
        match self.value.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => read(self, key).map(Some),
        }
    }

    pub fn list<T>(
        &self,
        key: &str,
        read: impl FnMut(&'a Value) -> Result<T, Unreadable>,
    ) -> Result<Vec<T>, Unreadable> {
        self.get(key)?.as_array().ok_or_else(|| format!("`{key}` is not a list"))?.iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests;
