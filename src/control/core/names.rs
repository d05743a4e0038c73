//! Names of servers, and the members of groups that follow from them. What is asked when, what an answer changes and who
//! joins or leaves is decided in [`machine::names`](crate::machine::names) and
//! [`machine::members`](crate::machine::members); here it is carried out, journalled and made durable.
//!
//! An answer is state: the last one of every name is saved, so that a restart begins with the members there were, also
//! while no name server answers.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Core, Output, Step};
use crate::config::populate;
use crate::control::journal::saved;
use crate::machine::members::{self, ACTOR, Changes};
use crate::model::Model;
use crate::model::event::Observation;
use crate::model::id::{Kind, Name, ObjectRef, ServiceId};
use crate::model::lookup::{Answer, Membership, Question};
use crate::model::state::ServiceState;
use crate::model::time::Now;

/// A member that is out goes when nothing is open on it, and after this time all the same.
const OPEN_MOST: Duration = Duration::from_secs(60);

/// What came of one question; errors in words.
pub type Lookups = Vec<(Question, Result<Answer, Arc<str>>)>;

// === impl Core ===

impl Core {
    pub(super) fn looked_up(&mut self, now: Now, lookups: Lookups) {
        let mut answers = false;
        for (question, answer) in lookups {
            let before = self.names.known().get(&question).and_then(|known| known.error.clone());
            let failed = answer.as_ref().err().cloned();
            let change = self.names.answered(now, &question, answer);
            if failed != before {
                match &failed {
                    Some(error) => tracing::warn!(%error, "{question}: not answered; what was known stays"),
                    None => tracing::info!("{question}: answered again"),
                }
            }
            if change.address {
                self.dirty = true;
                self.tell_resolved(now, &question);
            }
            answers |= change.answer;
        }
        if answers {
            self.batch.answers = Some(saved::encode_answers(self.names.known()));
            self.follow_answers(now);
        }
    }

    /// What is due is asked, drains begin, and who is out goes.
    pub(super) fn look_at_names(&mut self, now: Now) {
        let due = self.names.ask(now);
        if !due.is_empty() {
            self.outputs.push(Output::Ask(due));
        }
        self.begin_drains(now);
        let model = Arc::clone(self.engine.model());
        let draining: Vec<_> = self.members.draining().map(|(g, at, name)| (Name::clone(g), at, name)).collect();
        let mut gone = false;
        for (group, address, name) in draining {
            let is_over = model.service_id(&name).is_none_or(|id| {
                let view = &self.engine.view().services[id.index()];
                let age = now.tick.since(view.since.tick);
                let open = self.registry.service(&name).active.load(Ordering::SeqCst);
                view.state == ServiceState::OutOfService && (age > OPEN_MOST || (open == 0 && !age.is_zero()))
            });
            if is_over {
                self.members.gone(&group, address);
                self.journal_members(now, &group, json!({ "gone": [address.to_string()] }));
                gone = true;
            }
        }
        if gone {
            self.take_members(now);
        }
    }

    pub(super) fn adopt_names(&mut self, now: Now, model: &Model) {
        let anew = self.name_servers != model.resolver.name_servers;
        if anew {
            self.name_servers.clone_from(&model.resolver.name_servers);
            self.outputs.push(Output::NameServers(self.name_servers.clone()));
        }
        self.names.adopt(now, model, anew);
        for changes in self.members.decide(now, model, &self.names) {
            self.journal_changes(now, &changes);
        }
    }

    /// Tells the engine about the services that `question` is about, and has them probed where they are now.
    pub(super) fn tell_resolved(&mut self, now: Now, question: &Question) {
        let model = Arc::clone(self.engine.model());
        let Some(resolved) = self.names.resolves(question) else { return };
        for (index, service) in model.services.iter().enumerate() {
            if model.question(service).is_some_and(|(asked, _)| asked == *question) {
                let id = ServiceId::from_index(index);
                self.step(now, Step::Observed(Observation::Resolved { service: id, resolved }));
                for binding in &service.monitors {
                    if !self.engine.view().checks[binding.check.index()].disabled {
                        self.order_probe(binding.check, now.tick);
                    }
                }
            }
        }
    }

    pub(super) fn tell_all_resolved(&mut self, now: Now) {
        let known: Vec<Question> = self.names.known().keys().cloned().collect();
        for question in known {
            let Some(resolved) = self.names.resolves(&question) else { continue };
            let model = Arc::clone(self.engine.model());
            for (index, service) in model.services.iter().enumerate() {
                if model.question(service).is_some_and(|(asked, _)| asked == question) {
                    let service = ServiceId::from_index(index);
                    self.step(now, Step::Observed(Observation::Resolved { service, resolved }));
                }
            }
        }
    }

    /// The members that there would be under another configuration, as far as answers are known.
    pub(super) fn members_under(&self, now: Now, intended: &Model) -> Membership {
        let mut members = self.members.clone();
        members.decide(now, intended, &self.names);
        members.membership().clone()
    }

    fn follow_answers(&mut self, now: Now) {
        let intended = Arc::clone(&self.intended);
        let all = self.members.decide(now, &intended, &self.names);
        if all.is_empty() {
            return;
        }
        for changes in &all {
            self.journal_changes(now, changes);
        }
        self.take_members(now);
        for name in all.iter().flat_map(|changes| &changes.back) {
            self.call_back(now, name);
        }
        self.begin_drains(now);
    }

    /// The engine, the probes and traffic get the members that there are now.
    fn take_members(&mut self, now: Now) {
        let model = populate(&self.intended, self.members.membership());
        // What was due under the former members happens under them.
        self.step(now, Step::Wake);
        self.take_model(now, model, Step::Populate);
    }

    fn begin_drains(&mut self, now: Now) {
        for name in self.members.drain(now) {
            let model = Arc::clone(self.engine.model());
            if let Some((service, act, intent)) = members::intent(&model, self.engine.view(), &name, true) {
                // Whether anything is open decides between draining and out at once.
                let active = self.active(service);
                self.step(now, Step::Observed(Observation::Active { service, active }));
                self.step(now, Step::Admin { act, intent });
            }
        }
    }

    fn call_back(&mut self, now: Now, name: &Name) {
        let model = Arc::clone(self.engine.model());
        if let Some((_, act, intent)) = members::intent(&model, self.engine.view(), name, false) {
            self.step(now, Step::Admin { act, intent });
        }
    }

    fn journal_changes(&mut self, now: Now, changes: &Changes) {
        let Changes { group, joined, left, back, changed, beyond } = changes;
        if *beyond > 0 {
            tracing::warn!("service group {group}: {beyond} addresses in DNS are more than it may have members");
        }
        let body = json!({ "joined": joined, "left": left, "back": back, "changed": changed, "beyond": beyond });
        self.journal_members(now, group, body);
    }

    fn journal_members(&mut self, now: Now, group: &Name, body: Value) {
        tracing::info!("service group {group}: members from DNS: {body}");
        let object = ObjectRef::new(Kind::ServiceGroup, Name::clone(group));
        self.draft(now, "members", object.to_string().into(), ACTOR.into(), body);
    }
}
