//! What becomes durable: records, drafts of the journal, orders for the disk, and its reports.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::acts::{Reply, Waiting};
use super::{CUT_EVERY, Core, DISK_PATIENCE, Output};
use crate::config::edit;
use crate::control::Event;
use crate::control::command::Done;
use crate::control::disk::{Order, Report, ToDisk, WAITING_ENTRIES_MOST, lost_text, shed};
use crate::control::journal::{codec, saved};
use crate::control::store::{Batch, Draft, Found};
use crate::model::event::Record;
use crate::model::id::Name;
use crate::model::time::Now;

/// Differences that an entry of a configuration tells, and the characters of each.
const CHANGES_MOST: usize = 50;
const CHANGE_CHARS: usize = 240;

/// Values beside these words stay out of the entry: addresses with users and queries, what is sent, what is kept.
const MAY_HOLD_SECRETS: [&str; 12] =
    ["://", "dsn", "password", "secret", "token", "header", "cookie", "body", "value =", "args", "environment", "key"];

/// Orders that may wait for a disk that does not answer.
pub(super) const ORDERS_MOST: u64 = 4_096;

// === impl Core ===

impl Core {
    /// `at`: when it happened; earlier than `now` where a timer was worked off late.
    pub(super) fn record(&mut self, now: Now, at: Now, record: Record) {
        super::log::write(&record, &self.engine);
        if let Record::Transition(transition) = &record {
            self.hold(now, transition);
            self.promise_triggers(now, transition);
        }
        let (kind, object, actor) = (codec::kind(&record), codec::object(&record), codec::actor(&record));
        self.draft(at, kind, object, actor, codec::encode(&record));
        self.next_event += 1;
        let event = Event { id: self.next_event, at: at.wall, record: Arc::new(record) };
        self.waiting_events.push_back(Arc::new(event));
    }

    /// With the door that the actor came through, where it is known.
    pub(super) fn draft(
        &mut self,
        now: Now,
        kind: &'static str,
        object: Name,
        actor: Name,
        mut body: serde_json::Value,
    ) {
        if let Some(body) = body.as_object_mut().filter(|_| !self.door.is_empty() && *actor != *"system") {
            body.insert("door".into(), serde_json::Value::String(self.door.to_string()));
        }
        self.batch.entries.push(Draft { at: now.wall, tick: now.tick, kind, object, actor, body });
    }

    pub(super) fn journal_start(&mut self, now: Now, found: &Found) {
        let body = serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"), "pid": std::process::id(), "restart": found.served,
            "tick_us": now.tick.0, "saved": saved::encode_saved(&found.saved),
        });
        self.draft(now, "start", "".into(), "system".into(), body);
    }

    /// `origin`: `start`, `apply`, `reload`; `changes`: a line for each difference, without secrets.
    pub(super) fn journal_config(&mut self, now: Now, actor: &Name, origin: &str, hash: &str, changes: &[String]) {
        let sources: Vec<_> = self
            .sources
            .iter()
            .map(|s| serde_json::json!({ "path": s.path, "text": edit::for_journal(&s.text) }))
            .collect();
        let set: Vec<_> =
            self.overrides.iter().map(|(path, value)| (path, edit::value_for_journal(path, value))).collect();
        let told: Vec<String> = changes.iter().take(CHANGES_MOST).map(|line| in_short(line)).collect();
        let body = serde_json::json!({
            "origin": origin, "hash": hash, "changes": told, "changes_left_out": changes.len() - told.len(), "set": set,
            "sources": sources,
        });
        self.draft(now, "config", "".into(), Name::clone(actor), body);
    }

    /// Gives the disk what this turn has to make durable; a disk that is far behind gets it later, with what the next
    /// turns add.
    pub(super) fn seal(&mut self, now: Now) {
        if self.batch.is_empty() {
            return;
        }
        if self.is_disk_swamped() && self.stopping.is_none() {
            self.condense();
            return;
        }
        if self.lost_entries > 0 {
            let lost = std::mem::take(&mut self.lost_entries);
            let body = serde_json::json!({ "object": null, "text": lost_text(lost) });
            self.draft(now, "warning", "".into(), "system".into(), body);
        }
        let batch = std::mem::take(&mut self.batch);
        self.give_order(now, batch, None);
    }

    /// Whether so much waits for the disk that it gets nothing more for now.
    pub(super) fn is_disk_swamped(&self) -> bool {
        self.next_order - 1 - self.durable_through >= ORDERS_MOST
    }

    /// Bounds what waits for a swamped disk: of what is saved only the last counts, and of the journal the oldest states
    /// go, as in the queue of the disk.
    fn condense(&mut self) {
        if self.batch.entries.len() > WAITING_ENTRIES_MOST {
            self.lost_entries += shed(std::iter::once(&mut self.batch.entries));
        }
        let scenarios = &mut self.batch.scenarios;
        if scenarios.len() > 2 * self.engine.model().scenarios.len() {
            let mut seen = HashSet::new();
            scenarios.reverse();
            scenarios.retain(|saved| seen.insert(Name::clone(&saved.name)));
            scenarios.reverse();
        }
    }

    pub(super) fn give_order(&mut self, now: Now, batch: Batch, given_up: Option<Arc<AtomicBool>>) -> u64 {
        let seq = self.next_order;
        self.next_order += 1;
        self.unwritten_since.get_or_insert(now.tick);
        self.outputs.push(Output::Disk(ToDisk::Write(Order { seq, batch, given_up })));
        seq
    }

    pub(super) fn reported(&mut self, now: Now, report: Report) {
        match report {
            Report::Written { through, journal_head } => {
                self.durable_through = self.durable_through.max(through);
                self.status.journal_entries = journal_head;
                self.disk_error = None;
                self.unwritten_since = (self.durable_through + 1 < self.next_order).then_some(now.tick);
                self.durable_now(now);
            }
            Report::Failed { error, dropped } => {
                tracing::error!(%error, "cannot write the state directory");
                self.refuse_acts(&dropped, &error);
                self.disk_error = Some(error);
            }
        }
    }

    /// Answers once the journal holds what was recorded so far. Readers of a disk in trouble, or of one that another
    /// process writes, see what is there.
    pub(super) fn when_recorded(&mut self, now: Now, reply: Reply) {
        let (done, order) = (Done::default(), self.next_order - u64::from(self.batch.is_empty()));
        if self.status.not_durable.is_some() || !self.writes() || self.stopping.is_some() {
            return self.answer(reply, Ok(done), None);
        }
        self.wait_for(Waiting { reply, done, order, since: now.tick, listeners: false, drain: None });
    }

    /// Everything that waited for the orders written so far.
    pub(super) fn durable_now(&mut self, now: Now) {
        self.release_durable();
        self.outbox.durable(self.durable_through);
        self.carry_out_durable(now);
    }

    pub(super) fn end_if_due(&mut self, now: Now) {
        if let Some(since) = self.stopping
            && (self.durable_through + 1 == self.next_order || !self.writes() || now.tick >= since + DISK_PATIENCE)
        {
            self.refuse_everything();
            self.outputs.push(Output::Stopped);
        }
    }

    pub(super) fn cut_if_due(&mut self, now: Now) {
        if now.tick >= self.next_cut && self.writes() {
            self.next_cut = now.tick + CUT_EVERY;
            let limits = self.engine.model().journal;
            self.outputs.push(Output::Disk(ToDisk::Cut { now: now.wall, limits }));
        }
    }
}

/// A difference as an entry tells it: not too long, and without values where one of them could hold a secret.
fn in_short(line: &str) -> String {
    let lower = line.to_lowercase();
    if let (true, Some((object, _))) = (MAY_HOLD_SECRETS.iter().any(|word| lower.contains(word)), line.split_once(": "))
    {
        return format!("{object}: changed");
    }
    match line.char_indices().nth(CHANGE_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_told_in_short() {
        assert_eq!(in_short("service a: added"), "service a: added");
        let changed = "~ vserver web: backup: none → spare";
        assert_eq!(in_short(changed), changed);
        let url = "~ trigger page: url: http://a/?key=1 → http://u:p@a/";
        assert_eq!(in_short(url), "~ trigger page: changed");
        let edit = "~ rule r: action.edit: [] → [{ set = X-Auth, value = 12 }]";
        assert_eq!(in_short(edit), "~ rule r: changed");
        assert_eq!(in_short(&"ä".repeat(300)).chars().count(), CHANGE_CHARS + 1);
    }
}
