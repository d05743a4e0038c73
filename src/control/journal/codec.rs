//! Records of the engine as JSON, and back: what `/journal` shows is what `replay` reads. Times are RFC 3339 with
//! microseconds, durations microseconds with the suffix `_us`; absent values are null.

mod alert;
mod drill;
mod reader;
mod transition;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::model::balancing::Shares;
use crate::model::event::{Act, BoardRecord, Change, DeliveryRecord, Failures, Record};
use crate::model::id::{Kind, Name, ObjectRef};
use crate::model::scenario::Mode;
use crate::model::time::{Wall, micros};

pub use alert::{decode_alert, encode_alert};
pub use drill::{decode_drill, encode_drill};
pub use reader::Reader;
pub use transition::{decode_transition, encode_transition};

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
        Record::Alert(_) => "alert",
        Record::Zone { .. } => "zone",
        Record::Address { .. } => "address",
        Record::Drill(_) => "drill",
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
        Record::Alert(a) => a.alert.subject.to_string().into(),
        Record::Zone { zone, .. } => format!("zone {zone}").into(),
        Record::Address { vserver: Some(vserver), .. } => {
            ObjectRef::new(Kind::Vserver, Name::clone(vserver)).to_string().into()
        }
        Record::Address { vserver: None, address, .. } => format!("address {address}").into(),
        Record::Drill(d) => format!("scenario {}", d.scenario).into(),
        Record::Board(_) => "".into(),
    }
}

/// The column `actor` of a record: who, where a person did it.
pub fn actor(record: &Record) -> Name {
    match record {
        Record::Act { act, .. } => Arc::clone(&act.actor),
        Record::Transition(t) => Arc::clone(&t.actor),
        Record::Drill(d) => Arc::clone(&d.ended_by.as_ref().unwrap_or(&d.act).actor),
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
            "delivery": d.id, "key": d.key, "trigger": d.trigger, "scenario": d.scenario, "alert": d.alert,
            "seq": d.seq,
            "direction": d.direction.word(), "status": d.status, "attempts": d.attempts, "error": d.error,
        }),
        Record::Alert(alert) => alert::encode_record(alert),
        Record::Zone { zone, what, serial, detail } => {
            json!({ "zone": zone, "what": what, "serial": serial, "detail": detail })
        }
        Record::Address { vserver, address, what, detail } => {
            json!({ "vserver": vserver, "address": address, "what": what, "detail": detail })
        }
        Record::Drill(drill) => encode_drill(drill),
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
            alert: v.optional("alert", |r, k| r.name(k))?,
            seq: v.u64("seq")?,
            direction: v.direction("direction")?,
            status: v.name("status")?,
            attempts: v.u32("attempts")?,
            error: v.optional("error", |r, k| r.name(k))?,
        })),
        "alert" => Record::Alert(Arc::new(alert::decode_record(body)?)),
        "zone" => Record::Zone {
            zone: v.name("zone")?,
            what: v.name("what")?,
            serial: v.optional("serial", |r, k| r.u32(k))?,
            detail: v.name("detail")?,
        },
        "address" => Record::Address {
            vserver: v.optional("vserver", |r, k| r.name(k))?,
            address: v.name("address")?,
            what: v.name("what")?,
            detail: v.name("detail")?,
        },
        "drill" => Record::Drill(Arc::new(decode_drill(body)?)),
        _ => return Ok(None),
    }))
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
        Change::DrillStarted { id, lasts, ends_at, notify, stop_on, override_guard } => json!({
            "what": "drill_started", "drill": id, "lasts_us": micros(*lasts), "ends_at": wall_text(*ends_at),
            "notify": notify, "stop_on": stop_on, "override": override_guard,
        }),
        Change::DrillStopped { id, override_guard } => {
            json!({ "what": "drill_stopped", "drill": id, "override": override_guard })
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
        "drill_started" => Change::DrillStarted {
            id: v.u64("drill")?,
            lasts: Duration::from_micros(v.u64("lasts_us")?),
            ends_at: v.wall("ends_at")?,
            notify: v.names("notify")?,
            stop_on: v.names("stop_on")?,
            override_guard: v.bool("override")?,
        },
        "drill_stopped" => Change::DrillStopped { id: v.u64("drill")?, override_guard: v.bool("override")? },
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

#[cfg(test)]
mod tests;
