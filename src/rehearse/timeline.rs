//! What happened, a line each: `T+10.000s  scenario a-is-out activated (group "WAN of A is gone")`.

use std::time::Duration;

use crate::model::Model;
use crate::model::condition::Truth;
use crate::model::drill::Drill;
use crate::model::event::{BoardRecord, Cause, Record, Transition};
use crate::model::id::{Kind, ObjectRef};
use crate::rehearse::world::{Happening, Moment};

/// `T+10.000s`
pub fn stamp(at: Duration) -> String {
    format!("T+{}.{:03}s", at.as_secs(), at.subsec_millis())
}

/// The moment and what happened; `None`: nothing that a reader needs to see.
pub fn line(moment: &Moment, model: &Model) -> Option<String> {
    Some(format!("{}  {}", stamp(moment.at), words(&moment.what, model)?))
}

/// Whether the reader of a failed expectation needs it: what was done, and what the appliance decided.
pub fn is_decision(happening: &Happening) -> bool {
    match happening {
        Happening::Step(_) | Happening::Note(_) => true,
        Happening::Record(record) => !matches!(record, Record::Board(_) | Record::Act { .. }),
        Happening::Answer { .. } => false,
    }
}

fn words(happening: &Happening, model: &Model) -> Option<String> {
    match happening {
        Happening::Step(text) => Some(format!("> {text}")),
        Happening::Note(text) => Some(format!("note: {text}")),
        Happening::Answer { name, records } => {
            let records = if records.is_empty() { "nothing".to_owned() } else { records.join(" ") };
            Some(format!("answer {name} = {records}"))
        }
        Happening::Record(record) => record_words(record, model),
    }
}

fn record_words(record: &Record, model: &Model) -> Option<String> {
    Some(match record {
        Record::Transition(transition) => transition_words(transition),
        // The step of the script says it.
        Record::Act { .. } => return None,
        Record::Ended { object, what, why } => format!("{}: {what} ended, {why}", shown(object)),
        Record::State { object, from, to, real, cause } => {
            let forced = if real == to { String::new() } else { format!(", in truth {real}") };
            format!("{} {from} -> {to} ({cause}{forced})", shown(object))
        }
        Record::Board(row) => board_words(row, model),
        Record::Attempt { scenario, direction, attempt, outcome, detail } => {
            let direction = direction.word();
            format!("scenario {scenario} {direction} {outcome}: {detail} (attempt {attempt} of its guard)")
        }
        Record::Ejected { service, cause, until, .. } => format!("service {service}: ejected until {until}, {cause}"),
        // Nothing is sent in a rehearsal.
        Record::Delivery(_) | Record::Alert(_) | Record::Zone { .. } | Record::Address { .. } => return None,
        Record::Drill(drill) => drill_words(drill),
        Record::Warning { object, text } => format!("warning: {}: {text}", shown(object)),
    })
}

fn drill_words(drill: &Drill) -> String {
    let (id, scenario) = (drill.id, &drill.scenario);
    match &drill.ending {
        Some(ending) => format!("drill {id} of scenario {scenario} is {}: {}", drill.phase.word(), ending.text()),
        None => format!("drill {id} of scenario {scenario} is {}", drill.phase.word()),
    }
}

fn transition_words(transition: &Transition) -> String {
    let done = transition.direction.participle();
    let mut text = format!("scenario {} {done} (", transition.scenario);
    match &transition.cause {
        Cause::Condition(group) => text += &format!("group \"{group}\""),
        Cause::Config(group) => text += &format!("group \"{group}\", by the configuration"),
        Cause::Forced => text += &format!("forced by {}", transition.actor),
    }
    if let Some(reason) = &transition.reason {
        text += &format!(", reason {reason}");
    }
    if let Some(guard) = &transition.guard {
        text += &format!(", guard {}", guard.outcome);
    }
    text += &format!(", seq {})", transition.seq);
    if let Some(drill) = transition.drill {
        text += &format!(" in drill {drill}");
    }
    for trigger in &transition.triggers {
        let word = match (&*trigger.status, transition.drill) {
            ("suppressed", None) => "held back by the gate",
            ("suppressed", Some(_)) => "held back by the drill",
            _ => "goes off",
        };
        text += &format!("; trigger {} {word}", trigger.name);
    }
    text
}

/// The id as a condition would write it where that is a state, and what its value means.
fn board_words(row: &BoardRecord, model: &Model) -> String {
    let is_check = model.check_id(&row.row).is_some();
    let value = match (row.value, is_check) {
        (Truth::True, true) => "up",
        (Truth::False, true) => "down",
        (value, _) => value.word(),
    };
    let kind = if is_check { "check " } else { "" };
    let anew = match row.clean_for {
        Some(age) if row.value.is_true() && age.is_zero() => ", its holds begin now",
        _ => "",
    };
    format!("{kind}{} is {value}{anew}", row.row)
}

fn shown(object: &ObjectRef) -> String {
    let kind = match object.kind {
        Kind::ServiceGroup => "service group",
        kind => kind.word(),
    };
    format!("{kind} {}", object.name)
}
