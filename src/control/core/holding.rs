//! Whose the store is while one process hands over to the next; see [`handing`](crate::control::handing).

use super::acts::Reply;
use super::{Core, Output};
use crate::control::command::{Command, Refusal};
use crate::control::disk::ToDisk;
use crate::control::handing::StoreAsk;
use crate::control::store::Found;
use crate::model::time::Now;

/// Who writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    Here,
    /// This process, which is about to give it away: nothing new is sent.
    Hushed,
    /// A former process, which still serves.
    NotYet,
    /// The next process.
    There,
}

const REFUSED: &str =
    "the appliance is being handed over to a new process: nothing was done; try again in a few seconds";

// === impl Writing ===

impl Writing {
    pub fn at_start(found: &Found) -> Writing {
        if found.waits { Writing::NotYet } else { Writing::Here }
    }
}

// === impl Core ===

impl Core {
    pub(super) fn store_asked(&mut self, now: Now, ask: StoreAsk) {
        match ask {
            StoreAsk::Hush { answer } => {
                if self.writing == Writing::Here {
                    self.writing = Writing::Hushed;
                }
                let _ = answer.send(self.outbox.under_way());
            }
            StoreAsk::Give { to, answer } => match self.why_not_given() {
                Some(why) => drop(answer.send(Err(why))),
                None => {
                    self.tell_handover(now, serde_json::json!({ "phase": "begun", "to": to }));
                    self.seal(now);
                    self.writing = Writing::There;
                    self.outputs.push(Output::Disk(ToDisk::Give(answer)));
                }
            },
            StoreAsk::TakeBack { why } => {
                match self.writing {
                    Writing::There => self.write_again(now, ToDisk::TakeBack),
                    Writing::Hushed => self.writing = Writing::Here,
                    Writing::Here | Writing::NotYet => {}
                }
                self.tell_handover(now, serde_json::json!({ "phase": "failed", "why": why }));
            }
            StoreAsk::Begin if self.writing == Writing::NotYet => self.write_again(now, ToDisk::Begin),
            StoreAsk::Begin => {}
        }
    }

    /// What waited does so from now on.
    fn write_again(&mut self, now: Now, order: ToDisk) {
        self.writing = Writing::Here;
        self.outputs.push(Output::Disk(order));
        self.unwritten_since = (self.durable_through + 1 < self.next_order).then_some(now.tick);
    }

    fn why_not_given(&self) -> Option<String> {
        let why = match self.writing {
            Writing::NotYet => "this process is itself not yet the writer",
            Writing::There => "another process has the state already",
            Writing::Here | Writing::Hushed if self.stopping.is_some() => "the appliance is stopping",
            Writing::Here | Writing::Hushed if self.is_changing() => {
                "a change of the configuration is under way: try again"
            }
            Writing::Here | Writing::Hushed if self.is_disk_swamped() => {
                "too much waits for a disk that does not answer"
            }
            Writing::Here | Writing::Hushed => return None,
        };
        Some(why.to_owned())
    }

    fn tell_handover(&mut self, now: Now, body: serde_json::Value) {
        self.draft(now, "handover", "".into(), "system".into(), body);
    }

    /// Whether this process may remember what people do.
    pub(super) fn writes(&self) -> bool {
        matches!(self.writing, Writing::Here | Writing::Hushed)
    }

    /// Whether what is due of the outbox goes out.
    pub(super) fn sends(&self) -> bool {
        self.stopping.is_none() && self.writing == Writing::Here
    }

    /// Refuses what would have to be remembered while another process has the store. `Some`: it is none of that.
    pub(super) fn unless_handing(&mut self, command: Command, reply: Reply) -> Option<(Command, Reply)> {
        if self.writes() || matches!(command, Command::DryRun(_)) {
            return Some((command, reply));
        }
        self.answer(reply, Err(Refusal::Handing(REFUSED)), None);
        None
    }
}
