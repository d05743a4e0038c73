//! Records and states as lines. Times are counted from the start of the session.

use bascule::control::World;
use bascule::model::event::{Change, Record, Transition};
use bascule::model::id::Kind;
use bascule::model::state::NewClients;
use bascule::model::time::Wall;

/// The first moment of every session: Monday 2026-01-05T10:00:00Z.
pub const BEGIN: Wall = Wall(1_767_607_200_000_000);

/// `T+10.000s`
pub fn at(wall: Wall) -> String {
    let ms = wall.since(BEGIN).as_millis();
    format!("T+{}.{:03}s", ms / 1_000, ms % 1_000)
}

/// `None`: not for people (rows of the board).
pub fn record(record: &Record) -> Option<String> {
    Some(match record {
        Record::Board(_) => return None,
        Record::Transition(t) => transition(t),
        Record::Act { object, act, change } => {
            let expires = act.expires.map_or(String::new(), |e| format!(", until {}", at(e)));
            format!("{object}: {} by {}{expires}", changed(change), act.actor)
        }
        Record::Ended { object, what, why } => format!("{object}: {what} ended, {why}"),
        Record::State { object, from, to, real, cause } => {
            let real = if real == to { String::new() } else { format!(", really {real}") };
            format!("{object}: {from} → {to} ({cause}{real})")
        }
        Record::Attempt { scenario, direction, attempt, outcome, detail } => {
            format!("scenario {scenario}: guard of {} #{attempt}: {outcome} ({detail})", direction.word())
        }
        Record::Ejected { service, cause, until, .. } => {
            format!("service {service}: ejected until {}, {cause}", at(*until))
        }
        Record::Drill(d) => {
            let why = d.ending.as_ref().map_or(String::new(), |ending| format!(", {}", ending.text()));
            format!("drill {} of scenario {}: {}{why}", d.id, d.scenario, d.phase.word())
        }
        Record::Delivery(d) => format!("trigger {}: {} after {} attempts", d.trigger, d.status, d.attempts),
        Record::Alert(a) => {
            let (alert, what) = (&a.alert, a.what.word());
            format!("alert {} {what}: {} {}: {}", alert.alert, alert.subject.kind.word(), alert.subject, alert.text)
        }
        Record::Address { address, what, detail, .. } => format!("address {address}: {what} {detail}"),
        Record::Zone { zone, what, detail, .. } => format!("zone {zone}: {what} {detail}"),
        Record::Warning { object, text } => format!("{object}: warning: {text}"),
    })
}

fn transition(t: &Transition) -> String {
    let why = t.cause.group().map_or_else(|| format!("forced by {}", t.actor), |group| format!("{group} is true"));
    let guard = t.guard.as_ref().map_or(String::new(), |g| format!("; guard {}", g.outcome));
    let triggers: Vec<String> = t.triggers.iter().map(|t| format!("; trigger {} {}", t.name, t.status)).collect();
    let drill = t.drill.map_or(String::new(), |id| format!("; drill {id}"));
    format!("scenario {}: {} #{} ({why}{guard}{drill}{})", t.scenario, t.direction.word(), t.seq, triggers.concat())
}

fn changed(change: &Change) -> String {
    match change {
        Change::Disabled { deadline, graceful } => {
            let graceful = if *graceful { " gracefully" } else { "" };
            deadline.map_or(format!("disabled{graceful}"), |d| format!("disabled{graceful}, out at {}", at(d)))
        }
        Change::Enabled => "enabled".to_owned(),
        Change::Modes { activate, deactivate, override_guard } => {
            let mode = |name, mode: &Option<bascule::model::scenario::Mode>| {
                mode.map_or(String::new(), |mode| format!(" {name} {}", mode.word()))
            };
            let past = if *override_guard { " past the guard" } else { "" };
            format!("modes{}{}{past}", mode("activate", activate), mode("deactivate", deactivate))
        }
        Change::Switch(value) => format!("switched {}", if *value { "on" } else { "off" }),
        Change::DrillStarted { id, .. } => format!("drill {id} begins"),
        Change::Split(_) | Change::Decided { .. } | Change::DrillStopped { .. } => change.to_string(),
        Change::Forced(None) => "no longer forced".to_owned(),
        Change::Forced(Some(up)) => format!("forced {}", if *up { "up" } else { "down" }),
    }
}

/// What `show KIND NAME` says; traffic's side from the snapshot, so that what is held shows as it is served.
pub fn show(world: &World<'_>, kind: Kind, name: &str) -> Option<String> {
    let (model, view, snapshot) = (world.model, world.view, world.snapshot);
    Some(match kind {
        Kind::Service => {
            let id = model.service_id(name)?;
            let service = &view.services[id.index()];
            let drain = service.drain.as_ref().map_or(String::new(), |d| {
                format!(", draining ({:?}) until {}", d.kind, d.deadline.map_or("the last ends".to_owned(), at))
            });
            format!("{} since {}, {} open{drain}", service.state.long_word(), at(service.since.wall), service.active)
        }
        Kind::Vserver => {
            let id = model.vserver_id(name)?;
            let entry = &snapshot.vservers[id.index()];
            let clients = match entry.new_clients {
                NewClients::Own => "to its own services".to_owned(),
                NewClients::Backup(backup) => format!("to {}", model.vserver(backup).name),
                NewClients::Refused => "refused".to_owned(),
            };
            let health = view.vservers[id.index()].health_percent;
            format!(
                "{}, effective {}, health {health} %, new clients {clients}",
                entry.state.word(),
                entry.effective.word()
            )
        }
        Kind::Scenario => {
            let id = model.scenario_id(name)?;
            let scenario = &view.scenarios[id.index()];
            let served =
                if snapshot.scenario_active[id.index()] == scenario.active { "" } else { ", not yet published" };
            let modes = scenario.modes.clone().map(|m| format!("{}{}", m.mode.word(), if m.spent { "*" } else { "" }));
            let mut words = vec![scenario.shown()];
            words.extend(
                [(scenario.stuck, "stuck"), (scenario.ready_to_return, "ready to return")]
                    .iter()
                    .filter(|w| w.0)
                    .map(|w| w.1),
            );
            words.retain(|word| !word.is_empty());
            words.dedup();
            let notes = if words.is_empty() { String::new() } else { format!(" [{}]", words.join(", ")) };
            format!("{} #{}, {}/{}{notes}{served}", scenario.word(), scenario.seq, modes[0], modes[1])
        }
        Kind::Check => {
            let check = &view.checks[model.check_id(name)?.index()];
            format!("{} since {}", check.state.word(), at(check.since.wall))
        }
        Kind::Switch => (if view.switches[model.switch_id(name)?.index()] { "on" } else { "off" }).to_owned(),
        Kind::Server | Kind::ServiceGroup | Kind::Peer | Kind::Pair => return None,
    })
}

pub fn status(world: &World<'_>) -> String {
    let alert = world.status.not_durable.as_deref().unwrap_or("none");
    let acts: Vec<String> = world.view.overrides.keys().map(|k| format!("{} ({})", k.object, k.slot.word())).collect();
    let acts = if acts.is_empty() { "none".to_owned() } else { acts.join(", ") };
    let unsaved = if world.config.unsaved { "unsaved changes" } else { "saved" };
    format!("ready {}; {unsaved}; overrides: {acts}; alert: {alert}", world.status.ready)
}
