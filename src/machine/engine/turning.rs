//! Which scenarios may be about to change: what the shorter TTL of answers waits for.
//!
//! A scenario is *turning* while a guard of it runs, or while a group of the direction leading out of its state is true
//! and only waits (for `min_dwell`, for another try), or is *under way*: every term of the group is true or on its way,
//! and at least one is on its way. On its way are a hold that counts, a check whose last samples contradict its state, a
//! data-centre signal whose quorum would change with such checks, and a scenario that is turning itself.

use super::Engine;
use crate::machine::board::Dependent;
use crate::machine::datacenter::quorum;
use crate::model::Model;
use crate::model::condition::{Group, Measure, Signal, Subject, Term, Truth};
use crate::model::id::{CheckId, DatacenterId, ScenarioId};
use crate::model::scenario::{AccessList, Direction, Mode};
use crate::model::state::{CheckView, GroupView, TermView};

/// How far a term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Met,
    OnItsWay,
    Not,
}

// === impl Engine ===

impl Engine {
    /// To be called after `Adopt`: nobody looks where no record has a `degraded_ttl`.
    pub(super) fn begin_turning(&mut self, model: &Model) {
        self.looks_at_turning =
            model.zones.iter().flat_map(|zone| &zone.rrsets).any(|rrset| rrset.degraded_ttl.is_some());
    }

    /// A sample of the check came in: whether its last samples contradict its state is no row of the board.
    pub(super) fn contradiction(&mut self, id: CheckId, before: Option<Truth>) {
        if !self.looks_at_turning || before == heading(&self.view.checks[id.index()]) {
            return;
        }
        let run = &self.checks[id.index()];
        let of_signal = run.signal.map(|(datacenter, _)| &self.signal_rows[datacenter.index()]);
        let rows = run.rows.iter().chain(of_signal.into_iter().flatten());
        let dependents = rows.flat_map(|&row| &self.board.get(row).dependents);
        for dependent in dependents {
            if let Dependent::Scenario(scenario) = dependent {
                self.dirty.turning.insert((self.scenarios[scenario.index()].rank, *scenario));
            }
        }
    }

    pub(super) fn heading_of(&self, id: CheckId) -> Option<Truth> {
        heading(&self.view.checks[id.index()])
    }

    pub(super) fn mark_turning(&mut self, id: ScenarioId) {
        if self.looks_at_turning {
            self.dirty.turning.insert((self.scenarios[id.index()].rank, id));
        }
    }

    /// In the order of the scenarios, so that each is looked at after those that it refers to.
    pub(super) fn settle_turning(&mut self, model: &Model) {
        while let Some((_, id)) = self.dirty.turning.pop_first() {
            let turning = self.is_turning(model, id);
            if std::mem::replace(&mut self.view.scenarios[id.index()].turning, turning) == turning {
                continue;
            }
            self.changed = true;
            let row = self.scenarios[id.index()].row;
            for dependent in row.map_or(&[][..], |row| &self.board.get(row).dependents) {
                if let Dependent::Scenario(next) = dependent {
                    self.dirty.turning.insert((self.scenarios[next.index()].rank, *next));
                }
            }
        }
    }

    fn is_turning(&self, model: &Model, id: ScenarioId) -> bool {
        let view = &self.view.scenarios[id.index()];
        if view.attempt.is_some() {
            return true;
        }
        let out = Direction::out_of(view.active);
        if view.modes[out.index()].mode != Mode::Auto || view.stuck || view.oscillating {
            return false;
        }
        let rules = &model.scenario(id).directions[out.index()].when.groups;
        let groups = rules.iter().zip(&view.groups[out.index()]);
        groups.into_iter().any(|(rule, group)| group.armed && self.is_under_way(model, rule, group))
    }

    fn is_under_way(&self, model: &Model, rule: &Group, group: &GroupView) -> bool {
        let progress = |(rule, term)| self.progress(model, rule, term);
        let mut terms = rule.terms.iter().zip(&group.terms).map(progress);
        group.value.is_true() || terms.all(|progress| progress != Progress::Not)
    }

    fn progress(&self, model: &Model, rule: &Term, term: &TermView) -> Progress {
        let wanted = Truth::from(!rule.negated);
        let on_its_way = match &rule.subject {
            _ if term.value.is_true() => return Progress::Met,
            _ if term.hold_ends.is_some() => true,
            Subject::Check(check) => {
                let counts = matches!(rule.measure, None | Some(Measure::Fails(_) | Measure::Passes(_)));
                counts && self.heading_of(*check) == Some(wanted)
            }
            Subject::Datacenter { datacenter, signal, observer } => {
                let here = observer.is_none() || *observer == model.appliance.site;
                here && self.signal_ahead(model, *datacenter, *signal) == wanted
            }
            Subject::Scenario(scenario) => {
                let view = &self.view.scenarios[scenario.index()];
                view.turning && Truth::from(view.active) != wanted
            }
            _ => false,
        };
        if on_its_way { Progress::OnItsWay } else { Progress::Not }
    }

    /// The signal if all checks went where their last samples point.
    fn signal_ahead(&self, model: &Model, id: DatacenterId, signal: Signal) -> Truth {
        let datacenter = &model.datacenters[id.index()];
        let ahead = |list: &Option<AccessList>| {
            let list = list.as_ref()?;
            let state = |check: CheckId| self.heading_of(check).unwrap_or(self.view.checks[check.index()].state);
            Some(quorum(list.targets.iter().map(|target| state(target.check)), list.quorum))
        };
        let (wan, lan) = (ahead(&datacenter.wan), ahead(&datacenter.lan));
        let elsewhere = model.appliance.site.as_deref() != Some(&*datacenter.name);
        let value = match signal {
            Signal::Wan => wan,
            Signal::Lan => lan,
            Signal::Access => wan.into_iter().chain(lan).reduce(Truth::or),
            Signal::Internet => ahead(&datacenter.internet).or(if elsewhere { wan } else { None }),
            Signal::Maintenance => None,
        };
        value.unwrap_or_default()
    }
}

/// Where the last samples of a check point, if that is not where it stands.
fn heading(check: &CheckView) -> Option<Truth> {
    if check.forced.is_some() || check.disabled {
        return None;
    }
    match check.state {
        Truth::True => (check.fails_in_row > 0).then_some(Truth::False),
        Truth::False => (check.passes_in_row > 0).then_some(Truth::True),
        Truth::Unknown => None,
    }
}
