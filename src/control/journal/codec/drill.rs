//! Drills as JSON, and back: a row of the store, and the journal's entry about each phase; the last one is the report.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Reader, Unreadable, decode_act, encode_act, wall_text};
use crate::control::journal::saved::{decode_override, encode_override};
use crate::model::drill::{Drill, DrillCommit, Ending, Phase};
use crate::model::id::{Kind, Name, ObjectRef};
use crate::model::scenario::Direction;
use crate::model::state::{OverrideKey, Slot};
use crate::model::time::micros;

pub fn encode_drill(d: &Drill) -> Value {
    let commit = |c: &DrillCommit| {
        json!({
            "scenario": c.scenario, "seq": c.seq, "direction": c.direction.word(), "at": wall_text(c.at),
            "guard": c.guard, "marked": c.marked,
        })
    };
    let before = |direction: Direction| {
        let object = ObjectRef::new(Kind::Scenario, Name::clone(&d.scenario));
        let key = OverrideKey { object, slot: Slot::of_direction(direction) };
        d.before[direction.index()].as_ref().map(|set| encode_override(&key, set))
    };
    json!({
        "drill": d.id,
        "scenario": d.scenario,
        "act": encode_act(&d.act),
        "notify": d.notify,
        "stop_on": d.stop_on,
        "override": d.override_guard,
        "before": Direction::BOTH.map(before),
        "phase": d.phase.word(),
        "lasts_us": micros(d.lasts),
        "started_at": wall_text(d.started_at),
        "ends_at": wall_text(d.ends_at),
        "activated_at": d.activated_at.map(wall_text),
        "returning_at": d.returning_at.map(wall_text),
        "returned_at": d.returned_at.map(wall_text),
        "ended_at": d.ended_at.map(wall_text),
        "ending": d.ending.as_ref().map(Ending::word),
        "detail": d.ending.as_ref().and_then(Ending::detail),
        "ended_by": d.ended_by.as_ref().map(encode_act),
        "commits": d.commits.iter().map(commit).collect::<Vec<_>>(),
    })
}

pub fn decode_drill(value: &Value) -> Result<Drill, Unreadable> {
    let v = Reader { value };
    let wall = |key| v.optional(key, |r, k| r.wall(k));
    let set = |set: &Value| if set.is_null() { Ok(None) } else { decode_override(set).map(|(_, set)| Some(set)) };
    let mut before = v.list("before", set)?;
    if before.len() != 2 {
        return Err("`before` is not two modes".to_owned());
    }
    let detail = v.optional("detail", |r, k| r.name(k))?;
    let ending = v.optional("ending", |r, k| r.word(k, |word| Ending::parse(word, detail)))?;
    Ok(Drill {
        id: v.u64("drill")?,
        scenario: v.name("scenario")?,
        act: decode_act(v.get("act")?)?,
        notify: v.names("notify")?,
        stop_on: v.names("stop_on")?,
        override_guard: v.bool("override")?,
        before: [before.remove(0), before.remove(0)],
        phase: v.word("phase", Phase::parse)?,
        lasts: Duration::from_micros(v.u64("lasts_us")?),
        started_at: v.wall("started_at")?,
        ends_at: v.wall("ends_at")?,
        activated_at: wall("activated_at")?,
        returning_at: wall("returning_at")?,
        returned_at: wall("returned_at")?,
        ended_at: wall("ended_at")?,
        ending,
        ended_by: v.optional("ended_by", |r, k| decode_act(r.get(k)?))?,
        commits: v.list("commits", decode_commit)?,
    })
}

fn decode_commit(value: &Value) -> Result<DrillCommit, Unreadable> {
    let v = Reader { value };
    Ok(DrillCommit {
        scenario: v.name("scenario")?,
        seq: v.u64("seq")?,
        direction: v.direction("direction")?,
        at: v.wall("at")?,
        guard: v.optional("guard", |r, k| r.name(k))?,
        marked: v.bool("marked")?,
    })
}
