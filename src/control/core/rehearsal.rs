//! Dry runs of acts: a copy of the engine takes the act, and what differs is told. The copy is made between two steps;
//! what takes longer is done beside the reactor.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::acts::Reply;
use super::{Core, Output};
use crate::control::apply::{Against, Prepared, confirm, foreseen};
use crate::control::command::{Command, Done, Refusal};
use crate::control::preview::{Preview, PreviewAnswer, PreviewGuard, PreviewLoad, PreviewTransition, PreviewTrigger};
use crate::machine::{Effect, Engine, Input};
use crate::model::Model;
use crate::model::event::{AdminIntent, Cause, GuardResult, GuardVerdict, Observation, Record, Transition};
use crate::model::id::{Name, ServiceId, VserverId};
use crate::model::lookup::KnownNames;
use crate::model::scenario::{Direction, Guard, GuardStep};
use crate::model::state::{NewClients, ServiceState, StateView};
use crate::model::time::Now;
use crate::model::zone::{OnEmpty, Rrset};
use crate::snapshot::Snapshot;
use crate::snapshot::build::{Parts, build};
use crate::snapshot::live::Registry;
use crate::snapshot::zones::ZoneIndex;

/// Guards that are taken to pass, one after the other.
const GUARDS_MOST: usize = 32;

/// A dry run that is to be computed and answered.
pub struct Rehearsal {
    reply: Reply,
    now: Now,
    engine: Engine,
    prepared: Prepared,
    zones: Arc<ZoneIndex>,
    names: KnownNames,
    running: Arc<Snapshot>,
    /// By service; what is open.
    active: Vec<u32>,
    preview: Preview,
}

// === impl Core ===

impl Core {
    pub(super) fn rehearse(&mut self, now: Now, actor: &Name, command: &Command, reply: Reply) {
        let prepared = match self.judge(now, actor, command) {
            Err(refusal) => return self.answer(reply, Err(refusal), None),
            Ok(prepared) => prepared,
        };
        let (model, view) = (self.engine.model(), self.engine.view());
        let world = Against { now, model, view, active: &|_| 0 };
        let level = confirm::level(world, &prepared.intent);
        let object = confirm::object_of(command);
        let preview = Preview {
            changes: foreseen(world, &prepared.intent),
            confirm: level,
            confirm_word: object.as_ref().filter(|_| level == 3).map(|object| Name::clone(&object.name)),
            seq: object.map_or(0, |object| confirm::seq_of(model, view, &object)),
            computed_at: now.wall,
            ..Preview::default()
        };
        self.outputs.push(Output::Rehearse(Box::new(Rehearsal {
            reply,
            now,
            engine: self.engine.clone(),
            prepared,
            zones: Arc::clone(&self.zones),
            names: self.names.known().clone(),
            running: self.cell.load_full(),
            active: self.counters(),
            preview,
        })));
    }

    /// Refuses what was decided on another state than the one that is there, or without the word that it asks for.
    pub(super) fn check_care(&mut self, now: Now, actor: &Name, command: &Command) -> Result<(), Refusal> {
        let Command::Careful { command, if_seq, if_match, confirm: word } = command else { return Ok(()) };
        let prepared = self.judge(now, actor, command)?;
        let (model, view) = (self.engine.model(), self.engine.view());
        let Some(object) = confirm::object_of(command) else { return Ok(()) };
        let seq = confirm::seq_of(model, view, &object);
        let moved = |asked: u64| {
            format!("{object} has changed since: its seq is {seq}, not {asked}; nothing was sent, look again")
        };
        if let Some(asked) = if_seq.filter(|asked| *asked != seq) {
            return Err(Refusal::Conflict(moved(asked)));
        }
        if let Some(asked) = if_match.filter(|asked| *asked != seq) {
            return Err(Refusal::Stale(moved(asked)));
        }
        let level = confirm::level(Against { now, model, view, active: &|_| 0 }, &prepared.intent);
        match word {
            Some(word) if level == 3 && *word != object.name => Err(Refusal::Unconfirmed(format!(
                "this needs `confirm` to be the name of the {}: {}; nothing was sent",
                object.kind.word(),
                object.name
            ))),
            _ => Ok(()),
        }
    }
}

// === impl Rehearsal ===

impl Rehearsal {
    /// Computes and answers.
    pub fn run(mut self) {
        let before = self.engine.view().clone();
        let mut engine = std::mem::take(&mut self.engine);
        self.act(&mut engine);
        self.guards_pass(&mut engine);
        let model = Arc::clone(engine.model());
        let next = build(Parts {
            generation: self.running.generation + 1,
            model: &model,
            view: engine.view(),
            registry: &mut Registry::default(),
            zones: &self.zones,
            resolved: &self.names,
            previous: Some(&self.running),
            scenario_active: engine.view().scenarios.iter().map(|s| s.active).collect(),
            ready: true,
        });
        // Between a new configuration and its first snapshot there is nothing to compare with.
        if Arc::ptr_eq(&self.running.model, &model) {
            self.preview.answers = answers(&self.running, &next);
            self.load(&before, engine.view());
        }
        self.tell_lines();
        let done = Done {
            warnings: std::mem::take(&mut self.prepared.warnings),
            changes: std::mem::take(&mut self.preview.changes),
            generation: self.running.generation,
            preview: Some(Box::new(self.preview)),
            ..Done::default()
        };
        // Who asked may have gone.
        let _ = self.reply.send(Ok(done));
    }

    fn act(&mut self, engine: &mut Engine) {
        if matches!(self.prepared.intent, AdminIntent::Disable { graceful: true, .. }) {
            for &service in &self.prepared.services {
                let active = self.active.get(service.index()).copied().unwrap_or(0);
                engine.step(self.now, Input::Observed(Observation::Active { service, active }), &mut Vec::new());
            }
        }
        let mut effects = Vec::new();
        let (act, intent) = (self.prepared.act.clone(), self.prepared.intent.clone());
        engine.step(self.now, Input::Admin { act, intent }, &mut effects);
        self.take(&effects, engine.model(), false);
        if let AdminIntent::DecideGuard { scenario, attempt, approve } = self.prepared.intent {
            let verdict = if approve { GuardVerdict::Pass } else { GuardVerdict::Refuse };
            let result = GuardResult { scenario, attempt, verdict, detail: "decided".into() };
            let mut effects = Vec::new();
            engine.step(self.now, Input::Guard(result), &mut effects);
            self.take(&effects, engine.model(), true);
        }
    }

    /// What follows once each guard that the act has started passes.
    fn guards_pass(&mut self, engine: &mut Engine) {
        let mut passed = 0;
        while passed < self.preview.guards.len().min(GUARDS_MOST) {
            let guard = &self.preview.guards[passed];
            passed += 1;
            let Some(scenario) = engine.model().scenario_id(&guard.scenario) else { continue };
            let Some(attempt) = engine.view().scenarios[scenario.index()].attempt.as_ref().map(|a| a.id) else {
                continue;
            };
            let detail = "taken to pass".into();
            let result = GuardResult { scenario, attempt, verdict: GuardVerdict::Pass, detail };
            let mut effects = Vec::new();
            engine.step(self.now, Input::Guard(result), &mut effects);
            self.take(&effects, engine.model(), true);
        }
    }

    fn take(&mut self, effects: &[Effect], model: &Model, after_guard: bool) {
        for effect in effects {
            match effect {
                Effect::Record(Record::Transition(transition)) => self.commit(transition, model, after_guard),
                Effect::Guard { scenario, direction, .. } => {
                    let rules = model.scenario(*scenario);
                    if let Some(guard) = &rules.directions[direction.index()].guard {
                        self.preview.guards.push(guard_of(model, &rules.name, *direction, guard, false));
                    }
                }
                _ => {}
            }
        }
    }

    fn commit(&mut self, transition: &Transition, model: &Model, after_guard: bool) {
        let (scenario, direction) = (&transition.scenario, transition.direction);
        let overridden = transition.guard.as_ref().is_some_and(|guard| *guard.outcome == *"overridden");
        if overridden
            && let Some(id) = model.scenario_id(scenario)
            && let Some(guard) = &model.scenario(id).directions[direction.index()].guard
        {
            self.preview.guards.push(guard_of(model, scenario, direction, guard, true));
        }
        self.preview.transitions.push(PreviewTransition {
            scenario: Name::clone(scenario),
            direction,
            cause: match transition.cause {
                Cause::Forced => "forced".into(),
                _ => transition.cause_text().into(),
            },
            group: transition.cause.group().map(|group| Name::from(&**group)),
            after_guard: after_guard && !overridden,
        });
        self.preview.triggers.extend(transition.triggers.iter().map(|trigger| PreviewTrigger {
            name: Name::clone(&trigger.name),
            scenario: Name::clone(scenario),
            direction,
            sent: *trigger.status != *"suppressed",
        }));
    }

    /// Who would carry what, of vservers whose members come or go.
    fn load(&mut self, before: &StateView, after: &StateView) {
        let model = Arc::clone(&self.running.model);
        let up = |view: &StateView, id: ServiceId| view.services[id.index()].state == ServiceState::Up;
        let differs = |id: &ServiceId| up(before, *id) != up(after, *id);
        let mut load: BTreeMap<ServiceId, (u64, u64)> = BTreeMap::new();
        for (at, vserver) in model.vservers.iter().enumerate() {
            if !vserver.members.iter().any(|member| differs(&member.service)) {
                continue;
            }
            let id = VserverId::from_index(at);
            let rates: Vec<u64> = self.running.vservers[at]
                .members
                .iter()
                .map(|member| member.rate.per_second(self.now.tick, member.requests_total.load(Relaxed)))
                .collect();
            let all: u64 = rates.iter().sum();
            let takers = takers(&model, after, id);
            let weights: u64 = takers.iter().map(|(_, weight)| weight).sum();
            for (member, rate) in vserver.members.iter().zip(&rates).filter(|(m, _)| up(before, m.service)) {
                load.entry(member.service).or_default().0 += rate;
            }
            for (service, weight) in takers {
                load.entry(service).or_default().1 += (all * weight).checked_div(weights).unwrap_or(0);
            }
        }
        let name = |id: ServiceId| Name::clone(&model.service(id).name);
        self.preview.load = load
            .iter()
            .map(|(id, (now, after))| PreviewLoad { service: name(*id), now: *now, after: *after })
            .collect();
        let leaves = |id: &ServiceId| {
            let left = after.services[id.index()].state;
            before.services[id.index()].state != left && (left.is_draining() || left == ServiceState::OutOfService)
        };
        let leaving = (0..model.services.len()).map(ServiceId::from_index).filter(leaves);
        self.preview.connections = leaving.map(|id| self.active.get(id.index()).copied().unwrap_or(0)).sum();
    }

    /// The lines of `changes`.
    fn tell_lines(&mut self) {
        let preview = &mut self.preview;
        for transition in preview.transitions.iter().filter(|transition| !transition.after_guard) {
            let why = transition.group.as_deref().map(|group| format!(" ({group})")).unwrap_or_default();
            let (scenario, word) = (&transition.scenario, transition.direction.word());
            preview.changes.push(format!("scenario {scenario}: would {word}{why}"));
        }
        for guard in preview.guards.iter().filter(|guard| !guard.overridden) {
            let (scenario, word) = (&guard.scenario, guard.direction.word());
            preview.changes.push(format!("scenario {scenario}: the guard of {word} would run"));
        }
        if preview.transitions.iter().all(|transition| transition.after_guard) && !preview.guards.is_empty() {
            return;
        }
        let shown = |data: &[Name]| if data.is_empty() { "no records".to_owned() } else { data.join(", ") };
        for answer in &preview.answers {
            let (before, after) = (shown(&answer.before), shown(&answer.after));
            preview.changes.push(format!("answer {} {}: {before} → {after}", answer.name, answer.rtype));
        }
    }
}

fn guard_of(model: &Model, scenario: &Name, direction: Direction, guard: &Guard, overridden: bool) -> PreviewGuard {
    let step = |step: &GuardStep| match step {
        GuardStep::Query(query) => Name::clone(&model.queries[query.index()].name),
        GuardStep::Check(term) => Name::clone(&term.text),
    };
    PreviewGuard {
        scenario: Name::clone(scenario),
        direction,
        run: guard.run.iter().map(step).collect(),
        approve: guard.approve,
        overridden,
    }
}

/// Who takes new clients of a vserver, with weights: its own members, or those of the backup in use.
fn takers(model: &Model, view: &StateView, id: VserverId) -> Vec<(ServiceId, u64)> {
    let of = match view.vservers[id.index()].new_clients {
        NewClients::Own => id,
        NewClients::Backup(backup) => backup,
        NewClients::Refused => return Vec::new(),
    };
    let members = model.vserver(of).members.iter();
    let up = members.filter(|member| view.services[member.service.index()].state == ServiceState::Up);
    up.map(|member| (member.service, u64::from(member.weight))).collect()
}

/// Steered answers that differ.
fn answers(running: &Snapshot, next: &Snapshot) -> Vec<PreviewAnswer> {
    let model = &running.model;
    let mut changed = Vec::new();
    for (z, zone) in model.zones.iter().enumerate() {
        for (r, rrset) in zone.rrsets.iter().enumerate() {
            let (before, after) = (served(running, z, r), served(next, z, r));
            if before == after {
                continue;
            }
            let views = next.steered(z, r).records;
            let left_out = rrset.records.iter().zip(views).filter(|(_, view)| !view.served);
            changed.push(PreviewAnswer {
                zone: Name::clone(&zone.name),
                name: rrset.owner.to_string(),
                rtype: rrset.rtype.to_string(),
                left_out: left_out.map(|(record, view)| (Name::clone(&record.data), view.because)).collect(),
                sites_before: sites(rrset, &before),
                sites_after: sites(rrset, &after),
                ttl: running.caching.of(z, r).ttl,
                before: before.0,
                after: after.0,
            });
        }
    }
    changed
}

/// Data that is served, and the places of its records; of static data none.
fn served(snapshot: &Snapshot, zone: usize, at: usize) -> (Vec<Name>, Vec<u32>) {
    let rrset = &snapshot.model.zones[zone].rrsets[at];
    let mut chosen = Vec::new();
    let decision = snapshot.decide(zone, at, &mut chosen);
    if chosen.is_empty()
        && decision.fallback.is_some()
        && let OnEmpty::Static(fixed) = &rrset.on_empty
    {
        return (fixed.iter().map(|data| Name::clone(&data.data)).collect(), Vec::new());
    }
    (chosen.iter().map(|&at| Name::clone(&rrset.records[at as usize].data)).collect(), chosen)
}

fn sites(rrset: &Rrset, (_, places): &(Vec<Name>, Vec<u32>)) -> Vec<Name> {
    let site = |at: &u32| {
        let record = &rrset.records[*at as usize];
        record.datacenter.as_ref().or(rrset.datacenter.as_ref()).map(Name::clone)
    };
    let mut sites: Vec<Name> = places.iter().filter_map(site).collect();
    sites.sort();
    sites.dedup();
    sites
}
