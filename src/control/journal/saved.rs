//! What a restart needs, as JSON: saved scenarios, overrides, and intents (acts by name).

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::codec::{
    Reader, Unreadable, decode_act, decode_drill, decode_object, decode_shares, decode_transition, encode_act,
    encode_drill, encode_object, encode_shares, encode_transition, parse_wall, wall_text,
};
use crate::control::command::{Command, Expiry, Note};
use crate::model::lookup::{Answer, Found, Known, KnownNames, Query, Question, Srv};
use crate::model::scenario::Mode;
use crate::model::state::{Override, OverrideKey, OverrideValue, Saved, SavedScenario, Slot};
use crate::model::time::{Wall, micros};

pub fn encode_scenario(s: &SavedScenario) -> Value {
    json!({
        "name": s.name,
        "active": s.active,
        "seq": s.seq,
        "entered_at": wall_text(s.entered_at),
        "forced": s.forced,
        "disarmed": s.disarmed,
        "automatic_commits": s.automatic_commits.iter().map(|at| wall_text(*at)).collect::<Vec<_>>(),
        // As text: JSON readers that keep numbers as doubles would round it.
        "definition": format!("{:016x}", s.definition),
        "last_transition": s.last_transition.as_deref().map(encode_transition),
        "attempts": s.attempts,
        "drill": s.drill,
        "archived": s.archived,
    })
}

pub fn decode_scenario(value: &Value) -> Result<SavedScenario, Unreadable> {
    let v = Reader { value };
    let definition = v.str("definition")?;
    Ok(SavedScenario {
        name: v.name("name")?,
        active: v.bool("active")?,
        seq: v.u64("seq")?,
        entered_at: v.wall("entered_at")?,
        forced: v.bool("forced")?,
        disarmed: v.list("disarmed", |name| text(name).map(Into::into))?,
        automatic_commits: v.list("automatic_commits", |at| parse_wall(text(at)?))?,
        definition: u64::from_str_radix(definition, 16).map_err(|_| "`definition` is not hexadecimal".to_owned())?,
        last_transition: v.optional("last_transition", |r, k| Ok(Arc::new(decode_transition(r.get(k)?)?)))?,
        attempts: v.optional("attempts", |r, k| r.u64(k))?.unwrap_or(0),
        drill: v.optional("drill", |r, k| r.u64(k))?,
        archived: v.bool("archived")?,
    })
}

/// The answers in force, by question.
pub fn encode_answers(names: &KnownNames) -> Value {
    let one = |(question, known): (&Question, &Known)| {
        let answer = known.answer.as_ref()?;
        let found = answer.found.iter().map(|found| match &found.srv {
            None => json!({ "address": found.address }),
            Some(srv) => json!({
                "address": found.address, "target": srv.target, "port": srv.port, "priority": srv.priority,
                "weight": srv.weight,
            }),
        });
        let (name, query) = (&question.name, question.query.word());
        let at = known.answered_at.map(wall_text);
        Some(json!({ "name": name, "query": query, "at": at, "ttl_us": micros(answer.ttl),
            "found": found.collect::<Vec<_>>() }))
    };
    names.iter().filter_map(one).collect()
}

pub fn decode_answers(value: &Value) -> Result<Vec<(Question, Answer, Wall)>, Unreadable> {
    let all = value.as_array().ok_or("answers are no list")?;
    all.iter().map(decode_answer).collect()
}

fn decode_answer(value: &Value) -> Result<(Question, Answer, Wall), Unreadable> {
    let v = Reader { value };
    let word = v.str("query")?;
    let known = [Query::Either, Query::A, Query::Aaaa, Query::Srv].into_iter().find(|query| query.word() == word);
    let query = known.ok_or_else(|| format!("`{word}` is no type of query"))?;
    let found = v.list("found", |value| {
        let v = Reader { value };
        let address = v.str("address")?.parse().map_err(|_| "`address` is no address".to_owned())?;
        let number = |key| v.u64(key).map(|number| u16::try_from(number).unwrap_or(u16::MAX));
        let srv = match value.get("target") {
            None => None,
            Some(_) => Some(Srv {
                target: v.name("target")?,
                port: number("port")?,
                priority: number("priority")?,
                weight: number("weight")?,
            }),
        };
        Ok(Found { address, srv })
    })?;
    let answer = Answer { found, ttl: Duration::from_micros(v.u64("ttl_us")?) };
    Ok((Question { name: v.name("name")?, query }, answer, v.wall("at")?))
}

pub fn encode_override(key: &OverrideKey, o: &Override) -> Value {
    let value = match &o.value {
        OverrideValue::Disabled { deadline, graceful } => {
            json!({ "disabled": true, "deadline": deadline.map(wall_text), "graceful": graceful })
        }
        OverrideValue::Split { shares } => json!({ "split": encode_shares(shares) }),
        OverrideValue::Forced { up } => json!({ "forced": up }),
        OverrideValue::Switch { value } => json!({ "switch": value }),
        OverrideValue::Mode { mode, spent, override_guard } => {
            json!({ "mode": mode.word(), "spent": spent, "override": override_guard })
        }
        OverrideValue::HeldDown => json!({ "held_down": true }),
    };
    json!({
        "object": encode_object(&key.object), "slot": key.slot.word(), "since": wall_text(o.since),
        "act": encode_act(&o.act), "value": value,
    })
}

pub fn decode_override(value: &Value) -> Result<(OverrideKey, Override), Unreadable> {
    let v = Reader { value };
    let key = OverrideKey { object: decode_object(v.get("object")?)?, slot: v.word("slot", Slot::parse)? };
    let w = Reader { value: v.get("value")? };
    let has = |key: &str| w.value.get(key).is_some();
    let value = if has("disabled") {
        OverrideValue::Disabled { deadline: w.optional("deadline", |r, k| r.wall(k))?, graceful: w.bool("graceful")? }
    } else if has("forced") {
        OverrideValue::Forced { up: w.bool("forced")? }
    } else if has("switch") {
        OverrideValue::Switch { value: w.bool("switch")? }
    } else if has("mode") {
        OverrideValue::Mode { mode: w.mode("mode")?, spent: w.bool("spent")?, override_guard: w.bool("override")? }
    } else if has("split") {
        OverrideValue::Split { shares: decode_shares(w.get("split")?)? }
    } else if has("held_down") {
        OverrideValue::HeldDown
    } else {
        return Err("an override without a value that this version knows".to_owned());
    };
    Ok((key, Override { value, since: v.wall("since")?, act: decode_act(v.get("act")?)? }))
}

/// Everything that a start restores; part of its journal entry, so that a replay begins as the process did.
pub fn encode_saved(saved: &Saved) -> Value {
    json!({
        "scenarios": saved.scenarios.iter().map(encode_scenario).collect::<Vec<_>>(),
        "overrides": saved.overrides.iter().map(|(key, o)| encode_override(key, o)).collect::<Vec<_>>(),
        "drill": saved.drill.as_deref().map(encode_drill),
    })
}

pub fn decode_saved(value: &Value) -> Result<Saved, Unreadable> {
    let v = Reader { value };
    Ok(Saved {
        scenarios: v.list("scenarios", decode_scenario)?,
        overrides: v.list("overrides", decode_override)?.into_iter().collect(),
        drill: v.optional("drill", |r, k| decode_drill(r.get(k)?).map(Arc::new))?,
    })
}

/// An act by name. `None` for commands that are no acts (configuration).
pub fn encode_command(command: &Command) -> Option<Value> {
    Some(match command {
        Command::Disable { object, delay, graceful, note, wait: _ } => json!({
            "do": "disable", "object": encode_object(object), "delay_us": delay.map(micros), "graceful": graceful,
            "note": encode_note(note),
        }),
        Command::Enable { object, note } => {
            json!({ "do": "enable", "object": encode_object(object), "note": encode_note(note) })
        }
        Command::SetModes { scenario, activate, deactivate, override_guard, if_seq: _, note } => json!({
            "do": "modes", "scenario": scenario, "activate": activate.map(Mode::word),
            "deactivate": deactivate.map(Mode::word), "override": override_guard, "note": encode_note(note),
        }),
        Command::SetSwitch { switch, value, note } => {
            json!({ "do": "switch", "switch": switch, "value": value, "note": encode_note(note) })
        }
        Command::Force { object, up, note } => {
            json!({ "do": "force", "object": encode_object(object), "up": up, "note": encode_note(note) })
        }
        Command::SetSplit { vserver, shares, note } => json!({
            "do": "split", "vserver": vserver, "shares": shares.as_deref().map(encode_shares),
            "note": encode_note(note),
        }),
        Command::DecideGuard { scenario, approve, attempt, note } => json!({
            "do": "decide", "scenario": scenario, "approve": approve, "attempt": attempt, "note": encode_note(note),
        }),
        Command::StartDrill { scenario, lasts, notify, stop_on, override_guard, note } => json!({
            "do": "start_drill", "scenario": scenario, "lasts_us": micros(*lasts), "notify": notify, "stop_on": stop_on,
            "override": override_guard, "note": encode_note(note),
        }),
        Command::StopDrill { drill, override_guard, note } => json!({
            "do": "stop_drill", "drill": drill, "override": override_guard, "note": encode_note(note),
        }),
        Command::DryRun(_)
        | Command::Careful { .. }
        | Command::ApplyConfig { .. }
        | Command::Reload
        | Command::Save
        | Command::Replay { .. }
        | Command::Discard { .. }
        | Command::TestTrigger { .. }
        | Command::TransferZone { .. } => return None,
    })
}

pub fn decode_command(value: &Value) -> Result<Command, Unreadable> {
    let v = Reader { value };
    let note = decode_note(v.get("note")?)?;
    Ok(match v.str("do")? {
        "disable" => Command::Disable {
            object: decode_object(v.get("object")?)?,
            delay: v.optional("delay_us", |r, k| r.u64(k))?.map(Duration::from_micros),
            graceful: v.bool("graceful")?,
            note,
            wait: None,
        },
        "enable" => Command::Enable { object: decode_object(v.get("object")?)?, note },
        "modes" => Command::SetModes {
            scenario: v.name("scenario")?,
            activate: v.optional("activate", |r, k| r.mode(k))?,
            deactivate: v.optional("deactivate", |r, k| r.mode(k))?,
            override_guard: v.bool("override")?,
            if_seq: None,
            note,
        },
        "switch" => Command::SetSwitch { switch: v.name("switch")?, value: v.bool("value")?, note },
        "force" => {
            Command::Force { object: decode_object(v.get("object")?)?, up: v.optional("up", |r, k| r.bool(k))?, note }
        }
        "split" => Command::SetSplit {
            vserver: v.name("vserver")?,
            shares: v.optional("shares", |r, k| decode_shares(r.get(k)?))?,
            note,
        },
        "decide" => Command::DecideGuard {
            scenario: v.name("scenario")?,
            approve: v.bool("approve")?,
            attempt: v.optional("attempt", |r, k| r.u64(k))?,
            note,
        },
        "start_drill" => Command::StartDrill {
            scenario: v.name("scenario")?,
            lasts: Duration::from_micros(v.u64("lasts_us")?),
            notify: v.names("notify")?,
            stop_on: v.names("stop_on")?,
            override_guard: v.bool("override")?,
            note,
        },
        "stop_drill" => Command::StopDrill {
            drill: v.optional("drill", |r, k| r.u64(k))?,
            override_guard: v.bool("override")?,
            note,
        },
        other => return Err(format!("`{other}` is not an act")),
    })
}

fn encode_note(note: &Note) -> Value {
    let (at, after): (Option<Wall>, Option<Duration>) = match note.expires {
        None => (None, None),
        Some(Expiry::At(at)) => (Some(at), None),
        Some(Expiry::After(after)) => (None, Some(after)),
    };
    json!({ "reason": note.reason, "expires": at.map(wall_text), "expires_after_us": after.map(micros) })
}

fn decode_note(value: &Value) -> Result<Note, Unreadable> {
    let v = Reader { value };
    let at = v.optional("expires", |r, k| r.wall(k))?.map(Expiry::At);
    let after = v.optional("expires_after_us", |r, k| r.u64(k))?.map(|us| Expiry::After(Duration::from_micros(us)));
    Ok(Note { reason: v.optional("reason", |r, k| r.name(k))?, expires: at.or(after) })
}

fn text(value: &Value) -> Result<&str, Unreadable> {
    value.as_str().ok_or_else(|| "not a text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::Act;
    use crate::model::id::{Kind, ObjectRef};

    fn note() -> Note {
        Note { reason: Some("drill".into()), expires: Some(Expiry::At(Wall(1_795_992_617_123_456))) }
    }

    #[test]
    fn every_act_reads_back_as_it_was_written() {
        let acts = [
            Command::Disable {
                object: ObjectRef::new(Kind::Service, "spare/spare1"),
                delay: Some(Duration::from_secs(30)),
                graceful: true,
                note: note(),
                wait: None,
            },
            Command::Enable { object: ObjectRef::new(Kind::Server, "app1"), note: Note::default() },
            Command::SetModes {
                scenario: "dr".into(),
                activate: Some(Mode::On),
                deactivate: None,
                override_guard: true,
                if_seq: None,
                note: Note { reason: None, expires: Some(Expiry::After(Duration::from_secs(60))) },
            },
            Command::SetSwitch { switch: "drill".into(), value: true, note: note() },
            Command::Force { object: ObjectRef::new(Kind::Check, "api-a"), up: None, note: Note::default() },
            Command::SetSplit {
                vserver: "shop".into(),
                shares: Some([("green".into(), 10), ("blue".into(), 90)].into()),
                note: note(),
            },
            Command::SetSplit { vserver: "shop".into(), shares: None, note: Note::default() },
            Command::DecideGuard { scenario: "dr".into(), approve: false, attempt: Some(3), note: Note::default() },
            Command::StartDrill {
                scenario: "dr".into(),
                lasts: Duration::from_secs(3_600),
                notify: vec!["drill-channel".into()],
                stop_on: vec!["customers are hurt".into()],
                override_guard: true,
                note: note(),
            },
            Command::StopDrill { drill: Some(3), override_guard: false, note: Note::default() },
        ];
        for act in acts {
            assert_eq!(decode_command(&encode_command(&act).unwrap()).unwrap(), act);
        }
        assert_eq!(encode_command(&Command::Save), None);
    }

    #[test]
    fn every_override_reads_back_as_it_was_written() {
        let values = [
            (Slot::Admin, OverrideValue::Disabled { deadline: Some(Wall(5)), graceful: true }),
            (Slot::Admin, OverrideValue::Disabled { deadline: None, graceful: false }),
            (Slot::Force, OverrideValue::Forced { up: false }),
            (Slot::Value, OverrideValue::Switch { value: true }),
            (Slot::Activate, OverrideValue::Mode { mode: Mode::On, spent: true, override_guard: false }),
            (Slot::HeldDown, OverrideValue::HeldDown),
            (Slot::Split, OverrideValue::Split { shares: [("blue".into(), 100), ("a/b".into(), 0)].into() }),
        ];
        for (slot, value) in values {
            let key = OverrideKey { object: ObjectRef::new(Kind::Service, "web1"), slot };
            let act = Act { actor: "admin:nsroot".into(), reason: None, expires: Some(Wall(9)) };
            let o = Override { value, since: Wall(3), act };
            assert_eq!(decode_override(&encode_override(&key, &o)).unwrap(), (key, o));
        }
    }

    #[test]
    fn a_saved_scenario_reads_back_as_it_was_written() {
        let scenario = SavedScenario {
            name: "a/b".into(),
            active: true,
            seq: 17,
            entered_at: Wall(1_795_992_617_123_456),
            forced: true,
            disarmed: vec!["api-a!".into()],
            automatic_commits: vec![Wall(1), Wall(2)],
            definition: u64::MAX,
            last_transition: None,
            attempts: 4,
            drill: Some(2),
            archived: false,
        };
        assert_eq!(decode_scenario(&encode_scenario(&scenario)).unwrap(), scenario);
    }
}
