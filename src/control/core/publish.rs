//! What is published, and when: commits of scenarios wait for the disk, everything else does not.
//!
//! While a commit waits, traffic goes on with the scenario's former state and with all other states as they are. If the
//! disk does not answer within 2 s, an *activation* is published all the same (failing over late does more harm than
//! failing over twice), with the alert `not_durable`; a *deactivation* waits on: what runs, runs.

use std::sync::Arc;

use super::{Core, DISK_PATIENCE};
use crate::control::store::Found;
use crate::model::Model;
use crate::model::condition::{Subject, Truth};
use crate::model::event::{Observation, Transition};
use crate::model::id::{Name, ServiceId};
use crate::model::scenario::Direction;
use crate::model::state::{Override, OverrideKey, OverrideValue, Slot, StateView};
use crate::model::time::{Now, Tick};
use crate::snapshot::Snapshot;
use crate::snapshot::build::{Parts, build, flush_sparing};
use crate::snapshot::live::Registry;
use crate::snapshot::zones::ZoneIndex;

/// A commit that is not published yet.
#[derive(Debug)]
pub struct Held {
    scenario: Name,
    seq: u64,
    direction: Direction,
    /// The order that makes it durable.
    order: u64,
    since: Tick,
}

// === impl Held ===

impl Held {
    fn was_active(&self) -> bool {
        self.direction == Direction::Deactivate
    }
}

/// Before the engine has run: the saved states, so that the first answer is right, and nothing else.
pub(super) fn first_snapshot(
    model: &Arc<Model>,
    zones: &Arc<ZoneIndex>,
    registry: &mut Registry,
    found: &Found,
) -> Snapshot {
    let saved = &found.saved;
    let active = |name: &Name, initial| {
        saved.scenarios.iter().find(|s| s.name == *name && !s.archived).map_or(initial, |s| s.active)
    };
    let first = build(Parts {
        generation: 0,
        model,
        view: &StateView::default(),
        registry,
        zones,
        resolved: &Default::default(),
        previous: None,
        scenario_active: model.scenarios.iter().map(|s| active(&s.name, s.initially_active)).collect(),
        ready: false,
    });
    if found.served {
        // The process before may have answered just now.
        first.caching.assume_handed(model, registry.wall);
    }
    first
}

// === impl Core ===

impl Core {
    pub(super) fn hold(&mut self, now: Now, transition: &Transition) {
        self.held.push(Held {
            scenario: Name::clone(&transition.scenario),
            seq: transition.seq,
            direction: transition.direction,
            order: self.next_order,
            since: now.tick,
        });
    }

    /// Forgets what waits for scenarios that `model` no longer has.
    pub(super) fn held_across(&mut self, model: &Model) {
        self.held.retain(|held| model.scenario_id(&held.scenario).is_some());
    }

    pub(super) fn release_durable(&mut self) {
        let through = self.durable_through;
        self.release(|held| held.order <= through);
    }

    fn release(&mut self, is_over: impl Fn(&Held) -> bool) {
        for held in self.held.extract_if(.., |held| is_over(held)) {
            self.commits.released.push((held.scenario, held.seq));
            self.dirty = true;
        }
    }

    /// Activations do not wait for ever.
    pub(super) fn release_overdue(&mut self, now: Now) {
        if self.writing == super::holding::Writing::NotYet {
            // Whoever serves decides; here nobody looks yet.
            return;
        }
        self.release(|held| held.direction == Direction::Activate && now.tick >= held.since + DISK_PATIENCE);
        self.status.not_durable = self.alert(now);
    }

    fn alert(&self, now: Now) -> Option<String> {
        // While the next process has the store nothing is written, and nothing is wrong.
        let late = self.writes() && self.unwritten_since.is_some_and(|since| now.tick >= since + DISK_PATIENCE);
        let why = match (&self.disk_error, late) {
            (Some(error), _) => error.clone(),
            (None, true) => "the disk has not answered for more than 2 s".to_owned(),
            (None, false) => return None,
        };
        let mut waiting: Vec<&str> = self.held.iter().map(|held| &*held.scenario).collect();
        // A scenario may have committed more than once since.
        waiting.sort_unstable();
        waiting.dedup();
        Some(match waiting.as_slice() {
            [] => why,
            names => format!("{why}; held in their former state until it does: {}", names.join(", ")),
        })
    }

    /// When the patience with the next commit ends.
    pub(super) fn next_hold_end(&self, now: Tick) -> Option<Tick> {
        self.held.iter().map(|held| held.since + DISK_PATIENCE).filter(|end| *end > now).min()
    }

    /// Whether a commit waits that readers must not see yet. Where the disk fails or is late they see the engine's
    /// state, and the alert: a look at a box in trouble must not hang.
    pub(super) fn is_holding(&self, now: Now) -> bool {
        self.status.not_durable.is_none() && self.held.iter().any(|held| now.tick < held.since + DISK_PATIENCE)
    }

    pub(super) fn publish_if_due(&mut self, now: Now) {
        if !self.dirty {
            return;
        }
        self.dirty = false;
        let model = Arc::clone(self.engine.model());
        let previous = self.cell.load_full();
        let masked = self.masked_view();
        let view = masked.as_ref().unwrap_or_else(|| self.engine.view());
        self.registry.wall = now.wall;
        let next = build(Parts {
            generation: previous.generation + 1,
            model: &model,
            view,
            registry: &mut self.registry,
            zones: &self.zones,
            resolved: self.names.known(),
            previous: Some(&previous),
            scenario_active: view.scenarios.iter().map(|s| s.active).collect(),
            ready: self.status.ready,
        });
        self.cell.publish(next);
        let next = self.cell.load_full();
        let spared = |service| ended_gracefully(now, &model, self.engine.view(), service);
        flush_sparing(&previous, &next, &spared);
        self.tell_caches(now, &next);
        if !Arc::ptr_eq(&previous.model, &model) {
            self.registry.retain(&model);
        }
    }

    /// The view as traffic may see it: with the former states of what is held. `None`: nothing is.
    fn masked_view(&self) -> Option<StateView> {
        if self.held.is_empty() {
            return None;
        }
        let model = self.engine.model();
        let mut view = self.engine.view().clone();
        // From the newest to the oldest: the oldest commit that waits says what was published last.
        for held in self.held.iter().rev() {
            let Some(scenario) = model.scenario_id(&held.scenario) else { continue };
            let was = held.was_active();
            view.scenarios[scenario.index()].active = was;
            for (value, term) in view.watched.iter_mut().zip(&model.watched) {
                if term.subject == Subject::Scenario(scenario) && term.hold.is_none() {
                    *value = Truth::from(was != term.negated);
                }
            }
        }
        Some(view)
    }

    /// Once a second: who has come back for new answers, and the true counters of everything that drains, so that a lost
    /// hint cannot hold a service in TROFS.
    pub(super) fn look_at_drains(&mut self, now: Now) {
        if now.tick < self.next_look {
            return;
        }
        self.next_look = now.tick + super::SECOND;
        self.dirty |= self.cell.load().versions_are_due(now.wall);
        self.look_at_resolvers(now);
        let services = &self.engine.view().services;
        let draining: Vec<ServiceId> =
            (0..services.len()).filter(|&i| services[i].state.is_draining()).map(ServiceId::from_index).collect();
        for service in draining {
            self.look_at_service(now, service);
        }
    }

    pub(super) fn look_at_service(&mut self, now: Now, service: ServiceId) {
        let Some(known) = self.engine.view().services.get(service.index()).map(|s| s.active) else { return };
        let active = self.active(service);
        if active != known {
            self.step(now, super::Step::Observed(Observation::Active { service, active }));
        }
    }

    /// Transactions open on a service right now.
    pub(super) fn active(&mut self, service: ServiceId) -> u32 {
        let name = Name::clone(&self.engine.model().service(service).name);
        self.registry.service(&name).active.load(std::sync::atomic::Ordering::SeqCst)
    }

    /// Events go out in order, and none before what it tells is published.
    pub(super) fn release_events(&mut self) {
        if self.held.is_empty() || self.status.not_durable.is_some() {
            for event in self.waiting_events.drain(..) {
                // Nobody may be listening.
                let _ = self.events.send(event);
            }
        }
    }

    pub(super) fn run_reads(&mut self, now: Now) {
        if self.reads.is_empty() || self.is_holding(now) {
            return;
        }
        for read in std::mem::take(&mut self.reads) {
            self.world(now, read);
        }
    }
}

/// A graceful drain ended because nothing was open. What begins in that very moment, on the snapshot before, is let
/// finish: ending it would break the promise of graceful.
fn ended_gracefully(now: Now, model: &Model, view: &StateView, service: ServiceId) -> bool {
    use crate::model::id::{Kind, ObjectRef};
    let definition = model.service(service);
    let group = definition.group.map(|g| (Kind::ServiceGroup, &model.groups[g.index()].name));
    let server = definition.server.map(|s| (Kind::Server, &model.servers[s.index()].name));
    let levels = [Some((Kind::Service, &definition.name)), group, server];
    let mut graceful = false;
    for (kind, name) in levels.into_iter().flatten() {
        let key = OverrideKey { object: ObjectRef { kind, name: Name::clone(name) }, slot: Slot::Admin };
        match view.overrides.get(&key) {
            None => {}
            Some(Override { value: OverrideValue::Disabled { deadline, graceful: true }, .. })
                if deadline.is_none_or(|at| now.wall < at) =>
            {
                graceful = true;
            }
            // Out at once, or its time is over.
            Some(_) => return false,
        }
    }
    graceful
}
