//! What DNS answers about the names of servers, as the script says it.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use super::World;
use crate::config::populate;
use crate::machine::{Input, members};
use crate::model::Model;
use crate::model::event::Observation;
use crate::model::id::{Name, ServiceId};
use crate::model::lookup::{Answer, Found, Query, Question};
use crate::model::state::ServiceState;

// === impl World ===

impl World {
    pub(super) fn adopt(&mut self, intended: &Arc<Model>) {
        self.names.adopt(self.now, intended, false);
        // Names of servers resolve in a rehearsal, to what, nobody sees; groups wait for what the script says.
        for service in &intended.services {
            if let Some((question, _)) = intended.question(service)
                && self.names.resolves(&question).is_none()
            {
                let found = vec![Found { address: Ipv4Addr::LOCALHOST.into(), srv: None }];
                self.names.answered(self.now, &question, Ok(Answer { found, ttl: Duration::ZERO }));
            }
        }
        self.members.decide(self.now, intended, &self.names);
        self.intended = Arc::clone(intended);
        let model = populate(intended, self.members.membership());
        self.published.prepare(&model);
        self.take_model(&model, Input::Adopt);
        self.tell_peers();
    }

    /// From now on DNS answers this about `name`; `None`: nothing. Errors: nobody asks, or not for this type.
    pub fn answer_dns(&mut self, name: &str, answer: Option<&[Found]>) -> Result<(), String> {
        let of_name = self.names.known().keys().filter(|question| question.name.eq_ignore_ascii_case(name));
        let questions: Vec<Question> = of_name.filter(|q| answer.is_none_or(|all| fits(q, all))).cloned().collect();
        if questions.is_empty() {
            let asked: Vec<String> = self.names.known().keys().map(ToString::to_string).collect();
            return Err(format!("no server asks DNS that of `{name}`; asked are: {}", asked.join(", ")));
        }
        for question in questions {
            let of_type = |found: &&Found| match question.query {
                Query::A => matches!(found.address, IpAddr::V4(_)),
                Query::Aaaa => matches!(found.address, IpAddr::V6(_)),
                Query::Either | Query::Srv => true,
            };
            let answer = match answer {
                Some(found) => {
                    Ok(Answer { found: found.iter().filter(of_type).cloned().collect(), ttl: Duration::ZERO })
                }
                None => Err("DNS does not answer in the script".into()),
            };
            self.names.answered(self.now, &question, answer);
        }
        let intended = Arc::clone(&self.intended);
        let all = self.members.decide(self.now, &intended, &self.names);
        if !all.is_empty() {
            self.take_members();
        }
        for name in all.iter().flat_map(|changes| &changes.back) {
            self.by_dns(name, false);
        }
        self.look_at_members();
        Ok(())
    }

    /// Drains that begin, and members that are out.
    pub(super) fn look_at_members(&mut self) {
        for name in self.members.drain(self.now) {
            self.by_dns(&name, true);
        }
        let is_over = |name: &Name| {
            let id = self.model().service_id(name);
            let out = id.is_none_or(|id| self.view().services[id.index()].state == ServiceState::OutOfService);
            out && self.active.get(name).is_none_or(|open| *open == 0)
        };
        let draining = self.members.draining().filter(|(.., name)| is_over(name));
        let gone: Vec<_> = draining.map(|(group, address, _)| (Name::clone(group), address)).collect();
        for (group, address) in &gone {
            self.members.gone(group, *address);
        }
        if !gone.is_empty() {
            self.take_members();
        }
    }

    fn by_dns(&mut self, name: &Name, leaves: bool) {
        let model = Arc::clone(self.model());
        if let Some((service, act, intent)) = members::intent(&model, self.view(), name, leaves) {
            let active = self.active.get(name).copied().unwrap_or(0);
            self.step(Input::Observed(Observation::Active { service, active }));
            self.step(Input::Admin { act, intent });
        }
    }

    fn take_members(&mut self) {
        let model = populate(&self.intended, self.members.membership());
        self.step(Input::Wake);
        self.published.is_due = true;
        self.take_model(&model, Input::Populate);
    }

    fn take_model(&mut self, model: &Arc<Model>, input: fn(Arc<Model>) -> Input) {
        self.renumber_samples(model);
        self.step(input(Arc::clone(model)));
        for (index, service) in model.services.iter().enumerate() {
            let resolved = model.question(service).and_then(|(question, _)| self.names.resolves(&question));
            if let Some(resolved) = resolved {
                let service = ServiceId::from_index(index);
                self.step(Input::Observed(Observation::Resolved { service, resolved }));
            }
        }
    }
}

/// SRV records answer SRV, addresses the rest.
fn fits(question: &Question, found: &[Found]) -> bool {
    found.iter().all(|found| found.srv.is_some() == (question.query == Query::Srv))
}
