//! Whether an expectation holds, and what is so instead.

use crate::config::units::format_duration;
use crate::model::condition::Truth;
use crate::model::id::{Name, ScenarioId};
use crate::model::scenario::Direction;
use crate::model::state::{NewClients, ScenarioView, VserverView};
use crate::rehearse::script::{Answer, Expectation, ScenarioFact, VserverFact};
use crate::rehearse::timeline;
use crate::rehearse::world::{Happening, World};

/// Errors: what is so instead, in words.
pub fn judge(world: &World, expectation: &Expectation) -> Result<(), String> {
    let (model, view) = (world.model(), world.view());
    let gone = |kind: &str, name: &str| format!("no {kind} is named `{name}` any more");
    match expectation {
        Expectation::Scenario { name, facts } => {
            let id = model.scenario_id(name).ok_or_else(|| gone("scenario", name))?;
            let state = &view.scenarios[id.index()];
            let holds = facts.iter().all(|(negated, fact)| holds(state, fact) != *negated);
            holds.then_some(()).ok_or_else(|| describe(world, id, state))
        }
        Expectation::Service { name, state } => {
            let id = model.service_id(name).ok_or_else(|| gone("service", name))?;
            equal(view.services[id.index()].state.word(), state.word())
        }
        Expectation::Vserver { name, facts } => {
            let id = model.vserver_id(name).ok_or_else(|| gone("vserver", name))?;
            let state = &view.vservers[id.index()];
            let holds = facts.iter().all(|fact| vserver_holds(world, state, fact));
            holds.then_some(()).ok_or_else(|| describe_vserver(world, state))
        }
        Expectation::Check { name, state } => {
            let id = model.check_id(name).ok_or_else(|| gone("check", name))?;
            let word = |truth| match truth {
                Truth::True => "up",
                Truth::False => "down",
                Truth::Unknown => "unknown",
            };
            equal(word(view.checks[id.index()].state), word(*state))
        }
        Expectation::Signal { datacenter, signal, observer, value } => {
            let id = model.datacenter_id(datacenter).ok_or_else(|| gone("data centre", datacenter))?;
            let seen = match observer {
                Some(site) => world.engine().seen_from(site, id, *signal),
                None => view.signals[id.index()][*signal as usize],
            };
            equal(seen.word(), value.word())
        }
        Expectation::TimeWindow { name, value } => {
            let id = model.time_window_id(name).ok_or_else(|| gone("time window", name))?;
            equal(view.time_windows[id.index()].word(), value.word())
        }
        Expectation::Switch { name, value } => {
            let id = model.switch_id(name).ok_or_else(|| gone("switch", name))?;
            let word = |on| if on { "on" } else { "off" };
            equal(word(view.switches[id.index()]), word(*value))
        }
        Expectation::Dns { name, rtype, client, answer } => {
            let question = crate::rehearse::script::question(model, name, *rtype)?;
            let reply = world.ask(&question, *rtype, *client);
            let got = match reply.code {
                "NOERROR" => reply.records.join(" "),
                code => code.to_owned(),
            };
            let holds = match answer {
                Answer::Records(records) => reply.code == "NOERROR" && reply.records == *records,
                Answer::Code(code) => reply.code == *code,
            };
            holds.then_some(()).ok_or(got)
        }
        Expectation::Trigger { name, suppressed, times } => {
            let (fired, held_back) = fired(world, name);
            let counted = if *suppressed { held_back } else { fired };
            let got = || match (fired, held_back) {
                (fired, 0) => format!("it went off {}", times_word(fired)),
                (fired, held_back) => {
                    format!("it went off {}; held back by a gate: {}", times_word(fired), times_word(held_back))
                }
            };
            (counted == *times).then_some(()).ok_or_else(got)
        }
        Expectation::Journal { text } => {
            let records = world.history().iter().filter(|m| matches!(m.what, Happening::Record(_)));
            let found = records.filter_map(|m| timeline::line(m, world.model())).any(|line| line.contains(text));
            found.then_some(()).ok_or_else(|| "nothing of that was recorded".into())
        }
    }
}

fn equal(got: &str, expected: &str) -> Result<(), String> {
    if got == expected { Ok(()) } else { Err(got.to_owned()) }
}

fn holds(state: &ScenarioView, fact: &ScenarioFact) -> bool {
    match fact {
        ScenarioFact::State(word) => state.word() == *word,
        ScenarioFact::Stuck => state.stuck,
        ScenarioFact::ReadyToReturn => state.ready_to_return,
        ScenarioFact::Oscillating => state.oscillating,
        ScenarioFact::Seq(seq) => state.seq == *seq,
        ScenarioFact::Mode(direction, mode) => state.modes[direction.index()].mode == *mode,
    }
}

/// The state, and the terms of the direction that would lead out of it: why it is not what was expected.
fn describe(world: &World, id: ScenarioId, state: &ScenarioView) -> String {
    let mut text = format!("{} (seq {})", state.word(), state.seq);
    for direction in Direction::BOTH {
        let mode = &state.modes[direction.index()];
        if mode.mode != mode.base {
            text += &format!(", {} {}", direction.word(), mode.mode.word());
        }
    }
    for (is_so, word) in
        [(state.stuck, "stuck"), (state.ready_to_return, "ready_to_return"), (state.oscillating, "oscillating")]
    {
        if is_so {
            text += &format!(", {word}");
        }
    }
    if let Some(attempt) = &state.attempt {
        text += &format!("; its guard waits: {}", attempt.detail);
    }
    let out = Direction::out_of(state.active);
    let groups = &world.model().scenario(id).directions[out.index()].when.groups;
    for (group, view) in groups.iter().zip(&state.groups[out.index()]) {
        let terms = group.terms.iter().zip(&view.terms).map(|(term, view)| match view.hold_ends {
            Some(ends) => {
                let left = format_duration(ends.since(world.engine().now().tick));
                format!("{} {} ({left} to go)", term.text, view.value.word())
            }
            None => format!("{} {}", term.text, view.value.word()),
        });
        let disarmed = if view.armed { "" } else { ", waiting for fresh evidence" };
        text += &format!("; to {}: {}{disarmed}", out.word(), terms.collect::<Vec<_>>().join(" and "));
    }
    text
}

fn vserver_holds(world: &World, state: &VserverView, fact: &VserverFact) -> bool {
    match fact {
        VserverFact::State(expected) => state.state == *expected,
        VserverFact::Effective(expected) => state.effective == *expected,
        VserverFact::NewClients(to) => *to == new_clients(world, state),
        VserverFact::Health(percent) => state.health_percent == *percent,
    }
}

fn describe_vserver(world: &World, state: &VserverView) -> String {
    format!(
        "{}, effective {}, new clients {}, health {}",
        state.state.word(),
        state.effective.word(),
        new_clients(world, state),
        state.health_percent
    )
}

fn new_clients(world: &World, state: &VserverView) -> Name {
    match state.new_clients {
        NewClients::Own => "own".into(),
        NewClients::Refused => "refused".into(),
        NewClients::Backup(id) => Name::clone(&world.model().vserver(id).name),
    }
}

/// How often a trigger went off, and how often its gate held it back.
fn fired(world: &World, name: &str) -> (u32, u32) {
    let mut counts = (0, 0);
    for moment in world.history() {
        let Happening::Record(crate::model::event::Record::Transition(transition)) = &moment.what else { continue };
        for trigger in transition.triggers.iter().filter(|trigger| &*trigger.name == name) {
            match &*trigger.status {
                "suppressed" => counts.1 += 1,
                _ => counts.0 += 1,
            }
        }
    }
    counts
}

fn times_word(times: u32) -> String {
    match times {
        0 => "never".into(),
        1 => "once".into(),
        2 => "twice".into(),
        n => format!("{n} times"),
    }
}
