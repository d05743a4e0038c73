//! Acts of people.
//!
//! ```text
//!  command ──▶ judged ──▶ intent to the disk ──▶ durable ──▶ judged again, engine step ──▶ published
//!                │              │                                      │
//!             refused     cannot be written:              its effects to the disk ──▶ durable ──▶ answered
//!                         refused, nothing done                                        (or 2 s: with a warning)
//! ```
//!
//! Why the intent first: the engine cannot be rolled back, so an act that the disk refuses must not have reached it.
//! Killed between the two writes, the next start finds the intent and carries it out; it is removed in the transaction
//! that writes its effects, so it acts once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;

use super::{Answer, Core, DISK_PATIENCE, Output, Step};
use crate::control::apply::{Against, Prepared, prepare};
use crate::control::command::{Command, Done, Expiry, Note, Refusal};
use crate::control::journal::saved::{decode_command, encode_command};
use crate::control::store::{Batch, Intent};
use crate::model::event::{AdminIntent, AdminTarget, Observation};
use crate::model::id::{Name, ServiceId};
use crate::model::time::{Now, Tick};

/// Callers that may wait for drains at once.
const WAITERS_MOST: usize = 1_024;

/// The longest `wait`.
const WAIT_MOST: Duration = Duration::from_secs(86_400);

pub(super) type Reply = oneshot::Sender<Result<Done, Refusal>>;

#[derive(Debug, Default)]
pub(super) struct Acts {
    next_intent: u64,
    /// By the order that makes the intent durable.
    promised: BTreeMap<u64, Promised>,
    /// Carried out, and waiting for the effects to be durable.
    done: Vec<Waiting>,
    /// Durable, and waiting for a drain.
    draining: Vec<Draining>,
}

#[derive(Debug)]
struct Promised {
    intent: u64,
    actor: Name,
    door: Name,
    command: Command,
    reply: Reply,
    since: Tick,
    given_up: Arc<AtomicBool>,
}

#[derive(Debug)]
pub(super) struct Waiting {
    pub reply: Reply,
    pub done: Done,
    /// The order of the effects.
    pub order: u64,
    pub since: Tick,
    /// Answered only after the listeners are bound.
    pub listeners: bool,
    /// Services to wait for, and until when.
    pub drain: Option<(Vec<Name>, Tick)>,
}

#[derive(Debug)]
struct Draining {
    reply: Reply,
    done: Done,
    services: Vec<Name>,
    until: Tick,
}

// === impl Acts ===

impl Acts {
    pub fn new(intents: &[Intent]) -> Acts {
        let next_intent = intents.iter().map(|i| i.id + 1).max().unwrap_or(1);
        Acts { next_intent, ..Acts::default() }
    }

    pub fn next_deadline(&self) -> Option<Tick> {
        let promised = self.promised.values().map(|p| p.since + DISK_PATIENCE);
        let done = self.done.iter().map(|w| w.since + DISK_PATIENCE);
        promised.chain(done).chain(self.draining.iter().map(|d| d.until)).min()
    }
}

// === impl Core ===

impl Core {
    pub(super) fn command(&mut self, now: Now, actor: Name, command: Command, reply: Reply) {
        if self.stopping.is_some() {
            self.answer(reply, Err(Refusal::Stopping), None);
            return;
        }
        let Some((command, reply)) = self.unless_handing(command, reply) else { return };
        if matches!(command, Command::ApplyConfig { .. } | Command::Reload | Command::Save) {
            self.change_config(actor, command, reply);
            return;
        }
        if let Command::TransferZone { zone, whole } = &command {
            match self.transfer_zone(now, &actor, zone, *whole) {
                Err(refusal) => self.answer(reply, Err(refusal), None),
                Ok(done) => {
                    let order = self.next_order;
                    self.wait_for(Waiting { reply, done, order, since: now.tick, listeners: false, drain: None });
                }
            }
            return;
        }
        if matches!(command, Command::Replay { .. } | Command::Discard { .. } | Command::TestTrigger { .. }) {
            self.outbox_act(now, actor, &command, reply);
            return;
        }
        if let Command::DryRun(command) = command {
            return self.rehearse(now, &actor, &with_fixed_expiry(now, *command), reply);
        }
        if let Err(refusal) = self.check_care(now, &actor, &command) {
            return self.answer(reply, Err(refusal), None);
        }
        let command = match command {
            Command::Careful { command, .. } => *command,
            command => command,
        };
        let command = with_fixed_expiry(now, command);
        match self.judge(now, &actor, &command) {
            Err(refusal) => self.answer(reply, Err(refusal), None),
            Ok(_) if self.is_disk_swamped() => {
                let text = "the act was not carried out, because too much waits for a disk that does not answer";
                self.answer(reply, Err(Refusal::Disk(text.to_owned())), None);
            }
            Ok(_) => self.promise(now, actor, command, reply),
        }
    }

    /// Writes the intent.
    fn promise(&mut self, now: Now, actor: Name, command: Command, reply: Reply) {
        let Some(body) = encode_command(&command) else { return };
        let id = self.acts.next_intent;
        self.acts.next_intent += 1;
        // What this turn has recorded so far stands before the act in the journal.
        self.seal(now);
        let intent = Intent { id, at: now.wall, actor: Name::clone(&actor), body };
        let batch = Batch { intents: vec![intent], ..Batch::default() };
        let given_up = Arc::new(AtomicBool::new(false));
        let order = self.give_order(now, batch, Some(Arc::clone(&given_up)));
        let door = Name::clone(&self.door);
        let promised = Promised { intent: id, actor, door, command, reply, since: now.tick, given_up };
        self.acts.promised.insert(order, promised);
    }

    /// Acts whose intents are durable now.
    pub(super) fn carry_out_durable(&mut self, now: Now) {
        while let Some(entry) = self.acts.promised.first_entry() {
            if *entry.key() > self.durable_through {
                return;
            }
            let promised = entry.remove();
            self.batch.settled.push(promised.intent);
            self.door = Name::clone(&promised.door);
            let carried = self.carry_out(now, &promised.actor, &promised.command);
            self.door = "".into();
            match carried {
                Err(refusal) => self.answer(promised.reply, Err(refusal), None),
                Ok(carried) => self.wait_for_effects(now, promised, carried),
            }
        }
    }

    fn wait_for_effects(&mut self, now: Now, promised: Promised, carried: Prepared) {
        let drain = match &promised.command {
            Command::Disable { wait: Some(wait), .. } if !carried.services.is_empty() => {
                let model = self.engine.model();
                let names = carried.services.iter().map(|&s| Name::clone(&model.service(s).name)).collect();
                Some((names, now.tick + (*wait).min(WAIT_MOST)))
            }
            _ => None,
        };
        let drill = match promised.command {
            Command::StartDrill { .. } | Command::StopDrill { .. } => self.engine.view().drill.as_ref().map(|d| d.id),
            _ => None,
        };
        self.acts.done.push(Waiting {
            reply: promised.reply,
            done: Done { warnings: carried.warnings, drill, ..Done::default() },
            order: self.next_order,
            since: now.tick,
            listeners: false,
            drain,
        });
    }

    /// An entry `access`; whoever waits for it is told once it is on the disk.
    pub(super) fn note_access(&mut self, now: Now, actor: Name, body: serde_json::Value, reply: Option<Reply>) {
        self.draft(now, "access", "".into(), actor, body);
        if let Some(reply) = reply {
            let (done, order) = (Done::default(), self.next_order);
            self.wait_for(Waiting { reply, done, order, since: now.tick, listeners: false, drain: None });
        }
    }

    pub(super) fn wait_for(&mut self, waiting: Waiting) {
        self.acts.done.push(waiting);
    }

    /// Acts that a former process had made durable and did not come to carry out.
    pub(super) fn carry_out_promises(&mut self, now: Now, intents: Vec<Intent>) {
        for intent in intents {
            self.batch.settled.push(intent.id);
            let elapsed = now.wall.since(intent.at);
            let result = decode_command(&intent.body)
                .map_err(Refusal::Invalid)
                .and_then(|command| self.carry_out(now, &intent.actor, &after_elapsed(command, elapsed)));
            if let Err(refusal) = result {
                tracing::warn!(actor = %intent.actor, %refusal, "an act from before the restart no longer applies");
            }
        }
    }

    pub(super) fn judge(&mut self, now: Now, actor: &Name, command: &Command) -> Result<Prepared, Refusal> {
        let counters = self.counters();
        let model = Arc::clone(self.engine.model());
        let active = |service: ServiceId| counters.get(service.index()).copied().unwrap_or(0);
        prepare(Against { now, model: &model, view: self.engine.view(), active: &active }, actor, command)
    }

    fn carry_out(&mut self, now: Now, actor: &Name, command: &Command) -> Result<Prepared, Refusal> {
        let prepared = self.judge(now, actor, command)?;
        if matches!(prepared.intent, AdminIntent::Disable { graceful: true, .. }) {
            // Whether anything is open decides between draining and out at once.
            for &service in &prepared.services {
                let active = self.active(service);
                self.step(now, Step::Observed(Observation::Active { service, active }));
            }
        }
        self.step(now, Step::Admin { act: prepared.act.clone(), intent: prepared.intent.clone() });
        self.decided(now, &prepared);
        use AdminTarget::Check;
        if let AdminIntent::Disable { target: Check(_), .. } | AdminIntent::Enable { target: Check(_) } =
            prepared.intent
        {
            self.tell_traffic();
        }
        Ok(prepared)
    }

    pub(super) fn counters(&self) -> Vec<u32> {
        let snapshot = self.cell.load();
        snapshot.services.iter().map(|s| s.live.active.load(Ordering::SeqCst)).collect()
    }

    /// Intents that the disk refused.
    pub(super) fn refuse_acts(&mut self, dropped: &[u64], error: &str) {
        for order in dropped {
            if let Some(promised) = self.acts.promised.remove(order) {
                let text = format!("the act was not carried out, because it could not be made durable: {error}");
                self.answer(promised.reply, Err(Refusal::Disk(text)), None);
            }
        }
    }

    /// Nobody waits longer than 2 s for the disk.
    pub(super) fn expire_acts(&mut self, now: Now) {
        let overdue = |p: &Promised| now.tick >= p.since + DISK_PATIENCE;
        let orders: Vec<u64> = self.acts.promised.iter().filter(|(_, p)| overdue(p)).map(|(order, _)| *order).collect();
        for order in orders {
            let Some(promised) = self.acts.promised.remove(&order) else { continue };
            promised.given_up.store(true, Ordering::Release);
            // Where the disk was writing it at this very moment it is there all the same: taken back by the next write.
            self.batch.settled.push(promised.intent);
            let text = "the act was not carried out, because the disk does not answer".to_owned();
            self.answer(promised.reply, Err(Refusal::Disk(text)), None);
        }
        if !self.batch.is_empty() {
            self.seal(now);
        }
    }

    /// Answers what is durable and published, or has waited long enough.
    pub(super) fn answer_due(&mut self, now: Now) {
        for waiting in std::mem::take(&mut self.acts.done) {
            let durable = waiting.order <= self.durable_through;
            if durable || now.tick >= waiting.since + DISK_PATIENCE {
                self.answer_done(waiting, durable);
            } else {
                self.acts.done.push(waiting);
            }
        }
        self.answer_drained(now);
    }

    fn answer_done(&mut self, waiting: Waiting, durable: bool) {
        let Waiting { reply, mut done, listeners, drain, .. } = waiting;
        if !durable {
            let why = self.disk_error.as_deref().unwrap_or("the disk does not answer");
            done.warnings.push(format!("in force, but not in the journal yet: {why}"));
        }
        match drain {
            Some((services, until)) if self.acts.draining.len() < WAITERS_MOST => {
                self.acts.draining.push(Draining { reply, done, services, until });
            }
            Some((services, _)) => {
                done.warnings.push("too many callers wait for drains: answered at once".to_owned());
                done.still_draining = self.still_draining(&services);
                self.answer(reply, Ok(done), None);
            }
            None => self.answer(reply, Ok(done), listeners.then(|| self.cell.load().generation)),
        }
    }

    fn answer_drained(&mut self, now: Now) {
        for mut waiter in std::mem::take(&mut self.acts.draining) {
            let left = self.still_draining(&waiter.services);
            if left.is_empty() || now.tick >= waiter.until {
                waiter.done.still_draining = left;
                self.answer(waiter.reply, Ok(waiter.done), None);
            } else if !waiter.reply.is_closed() {
                self.acts.draining.push(waiter);
            }
        }
    }

    /// Gives an answer out; successes carry the generation that shows them.
    pub(super) fn answer(&mut self, to: Reply, result: Result<Done, Refusal>, after_listeners_of: Option<u64>) {
        let result = result.map(|mut done| {
            done.generation = self.cell.load().generation;
            done
        });
        self.outputs.push(Output::Answer(Answer { to, result, after_listeners_of }));
    }

    /// At the end nobody is left waiting.
    pub(super) fn refuse_everything(&mut self) {
        let promised = std::mem::take(&mut self.acts.promised);
        for promised in promised.into_values() {
            self.answer(promised.reply, Err(Refusal::Stopping), None);
        }
        for waiting in std::mem::take(&mut self.acts.done) {
            self.answer(waiting.reply, Ok(waiting.done), None);
        }
        for mut waiter in std::mem::take(&mut self.acts.draining) {
            waiter.done.still_draining = self.still_draining(&waiter.services);
            self.answer(waiter.reply, Ok(waiter.done), None);
        }
        for reply in self.changes.take_replies() {
            self.answer(reply, Err(Refusal::Stopping), None);
        }
    }
}

/// An expiry counts from when the act was asked for, whenever it is carried out.
fn with_fixed_expiry(now: Now, mut command: Command) -> Command {
    let note: &mut Note = match &mut command {
        Command::Disable { note, .. }
        | Command::Enable { note, .. }
        | Command::SetModes { note, .. }
        | Command::SetSwitch { note, .. }
        | Command::SetSplit { note, .. }
        | Command::Force { note, .. }
        | Command::DecideGuard { note, .. }
        | Command::StartDrill { note, .. }
        | Command::StopDrill { note, .. } => note,
        Command::DryRun(_)
        | Command::Careful { .. }
        | Command::ApplyConfig { .. }
        | Command::Reload
        | Command::Save
        | Command::Replay { .. }
        | Command::Discard { .. }
        | Command::TestTrigger { .. }
        | Command::TransferZone { .. } => return command,
    };
    if let Some(Expiry::After(after)) = note.expires {
        note.expires = Some(Expiry::At(now.wall + after));
    }
    command
}

/// A drain that began `elapsed` ago has that much less to go.
fn after_elapsed(command: Command, elapsed: Duration) -> Command {
    match command {
        Command::Disable { object, delay: Some(delay), graceful, note, wait } => {
            // At least a microsecond: a delay of zero would mean "none", and with `graceful` that is "no limit".
            let left = delay.saturating_sub(elapsed).max(Duration::from_micros(1));
            Command::Disable { object, delay: Some(left), graceful, note, wait }
        }
        other => other,
    }
}
