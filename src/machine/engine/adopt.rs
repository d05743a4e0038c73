//! `Adopt`: a new intention under a running state. Identity is the name. What has not changed keeps everything, also a
//! hold in flight; a check whose target or expectation changed becomes unknown; what is new starts fresh.

mod adc;
mod gtm;
mod successors;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::timers::WallTimer;
use super::{CheckRun, Dirty, Engine, ServiceRun, VserverRun, WatchedRun};
use crate::machine::Effect;
use crate::machine::board::{Board, Dependent, RowId};
use crate::machine::check::CheckMachine;
use crate::machine::scenario::ScenarioMachine;
use crate::machine::service::ServiceMachine;
use crate::model::Model;
use crate::model::check::{Origin, Probe};
use crate::model::condition::{Measure, Subject, Truth};
use crate::model::event::Record;
use crate::model::id::{
    CheckId, DatacenterId, Kind, Name, ObjectRef, ScenarioId, SwitchId, TimeWindowId, VserverId, WatchedId,
};
use crate::model::state::{
    CheckView, History, OverrideKey, OverrideValue, SavedScenario, ScenarioView, ServiceView, Slot, VserverView,
};
use crate::model::time::micros;
use crate::model::vserver::Role;

/// Checks that begin in one step take their first samples so many at a time, and so long after each other: ten thousand
/// begin within a second. The phase that a check gets here it keeps, so they do not crowd later either.
const BEGIN_TOGETHER: u32 = 16;
const BEGIN_APART: Duration = Duration::from_micros(1_600);

/// What the engine was before, by name.
struct Former {
    model: Option<Arc<Model>>,
    board: Board,
    checks: HashMap<Name, (CheckRun, Arc<History>)>,
    services: HashMap<Name, (ServiceMachine, ServiceView)>,
    /// With `VserverRun::was_up`.
    vservers: HashMap<Name, (VserverView, bool)>,
    scenarios: HashMap<Name, ScenarioMachine>,
    saved: HashMap<Name, SavedScenario>,
}

/// Derived checks and the watched terms that they look at.
fn derived(model: &Model) -> HashMap<CheckId, WatchedId> {
    let mut found = HashMap::new();
    for (i, check) in model.checks.iter().enumerate() {
        if let Probe::Derived { term, .. } = &check.probe
            && let Some(at) = model.watched.iter().position(|watched| watched.text == *term)
        {
            found.insert(CheckId::from_index(i), WatchedId::from_index(at));
        }
    }
    found
}

/// How long the first sample of the `nth` new check waits; less than its interval.
fn stagger(nth: u32, interval: Duration) -> Duration {
    let wait = BEGIN_APART * (nth / BEGIN_TOGETHER);
    Duration::from_micros(micros(wait) % micros(interval).max(1))
}

// === impl Engine ===

impl Engine {
    pub(super) fn adopt(&mut self, model: Arc<Model>, effects: &mut Vec<Effect>) {
        let mut former = self.former();
        self.reloaded = former.model.is_some();
        self.model = Some(Arc::clone(&model));
        self.drop_orphans(&model, former.model.as_deref(), effects);
        self.drop_expired(effects);
        self.begin_turning(&model);
        self.adopt_checks(&model, &mut former, effects);
        self.adopt_tables(&model);
        self.adopt_pairs(&model, &former);
        self.adopt_scenarios(&model, &mut former, effects);
        self.adopt_watched(&model);
        self.index_rows(&model);
        self.restore_rows(&model, &former);
        self.refresh_checks();
        self.adopt_services(&model, &former);
        self.adopt_vservers(&model, &former, effects);
        self.arm_wall_timers(&model);
        self.adopt_drill(&model, effects);
        for i in 0..model.scenarios.len() {
            self.refresh_scenario_row(ScenarioId::from_index(i));
            self.touch_scenario(ScenarioId::from_index(i));
        }
        self.dirty.watched.extend((0..model.watched.len()).map(WatchedId::from_index));
        self.count_all_crowds();
        self.changed = true;
    }

    /// Takes everything out, by name.
    fn former(&mut self) -> Former {
        let saved = self.saved.take().unwrap_or_default();
        if self.model.is_none() {
            self.view.overrides = saved.overrides;
            self.view.drill = saved.drill;
        }
        let mut former = Former {
            model: self.model.take(),
            board: std::mem::take(&mut self.board),
            checks: HashMap::new(),
            services: HashMap::new(),
            vservers: HashMap::new(),
            scenarios: HashMap::new(),
            saved: saved.scenarios.into_iter().map(|s| (Name::clone(&s.name), s)).collect(),
        };
        self.timers.clear();
        self.wall_timers.clear();
        self.dirty = Dirty::default();
        let Some(model) = &former.model else { return former };
        let names = model.checks.iter().map(|c| Name::clone(&c.name));
        former.checks = names.zip(self.checks.drain(..).zip(self.view.histories.drain(..))).collect();
        let names = model.services.iter().map(|s| Name::clone(&s.name));
        let machines = self.services.drain(..).map(|run| run.machine);
        former.services = names.zip(machines.zip(self.view.services.drain(..))).collect();
        let names = model.vservers.iter().map(|v| Name::clone(&v.name));
        let was_up = self.vservers.iter().map(|run| run.was_up);
        former.vservers = names.zip(self.view.vservers.drain(..).zip(was_up)).collect();
        let names = model.scenarios.iter().map(|s| Name::clone(&s.name));
        former.scenarios = names.zip(self.scenarios.drain(..).map(|run| run.machine)).collect();
        former
    }

    /// Ends the overrides of objects that are gone; those of a renamed object go with it. A removed scenario is
    /// archived by `adopt_scenarios`.
    fn drop_orphans(&mut self, model: &Model, former: Option<&Model>, effects: &mut Vec<Effect>) {
        let gone: Vec<OverrideKey> =
            self.view.overrides.keys().filter(|k| !model.has(k.object.kind, &k.object.name)).cloned().collect();
        let mut renamed: HashMap<Kind, HashMap<Name, Name>> = HashMap::new();
        for key in gone {
            let value = self.view.overrides.remove(&key);
            effects.push(Effect::SaveOverride(key.clone(), None));
            let (kind, name) = (key.object.kind, &key.object.name);
            let successor = if kind == Kind::Scenario {
                model.scenarios.iter().find(|s| s.renamed_from.as_ref() == Some(name)).map(|s| &s.name)
            } else {
                let of = |former| successors::successors(former, model, kind);
                renamed.entry(kind).or_insert_with(|| former.map(of).unwrap_or_default()).get(name)
            };
            if let Some(successor) = successor {
                let key = OverrideKey { object: ObjectRef::new(kind, Name::clone(successor)), slot: key.slot };
                effects.push(Effect::SaveOverride(key.clone(), value.clone()));
                self.view.overrides.extend(value.map(|value| (key, value)));
            } else {
                let (what, why) = (key.slot.word().into(), "the object was removed".into());
                effects.push(Effect::Record(Record::Ended { object: key.object, what, why }));
            }
        }
    }

    /// Ends the overrides whose time was over while the appliance was down.
    fn drop_expired(&mut self, effects: &mut Vec<Effect>) {
        let now = self.now.wall;
        let expired = self.view.overrides.iter().filter(|(_, o)| o.act.expires.is_some_and(|at| at <= now));
        for key in expired.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            self.view.overrides.remove(&key);
            effects.push(Effect::SaveOverride(key.clone(), None));
            let (what, why) = (key.slot.word().into(), "its time was over".into());
            effects.push(Effect::Record(Record::Ended { object: key.object, what, why }));
        }
    }

    fn adopt_checks(&mut self, model: &Model, former: &mut Former, effects: &mut Vec<Effect>) {
        self.checks.clear();
        let derived = derived(model);
        let (mut begun, mut orders) = (0, Vec::new());
        for (i, check) in model.checks.iter().enumerate() {
            let id = CheckId::from_index(i);
            let before = former.model.as_ref().and_then(|m| m.check_id(&check.name).map(|id| m.check(id)));
            let same = before.filter(|b| b.probe == check.probe);
            let kept = if same.is_some() { former.checks.remove(&check.name) } else { None };
            let rescheduled = same.is_none_or(|b| b.schedule != check.schedule);
            let (mut machine, mut due, history) = match kept {
                Some((run, history)) => (run.machine, run.due, history),
                None => {
                    begun += 1;
                    let due = self.now.tick + stagger(begun - 1, check.schedule.interval);
                    (CheckMachine::new(self.now), due, Arc::default())
                }
            };
            self.view.histories.push(history);
            if let Some(up) = self.forced(Kind::Check, &check.name)
                && machine.view().forced != Some(up)
            {
                machine.force(self.now, Some(up));
            }
            let off = self.is_disabled(model, id);
            let back = !off && machine.view().disabled;
            if off {
                machine.disable(self.now);
            } else if back {
                machine.enable();
            }
            if (rescheduled || back) && !off {
                due = due.min(self.now.tick + check.schedule.interval).max(self.now.tick);
                orders.push((id, due));
            } else if derived.contains_key(&id) && !off {
                // Timers of the former model are gone.
                orders.push((id, due));
            }
            let (service, signal) = match &check.origin {
                Origin::User => (None, None),
                Origin::Monitor { service, .. } => (Some(*service), None),
                Origin::Target { datacenter, signal, .. } => (None, Some((*datacenter, *signal))),
            };
            let watched = derived.get(&id).copied();
            let rows = Vec::new();
            self.checks.push(CheckRun {
                machine,
                due,
                rows,
                timer: None,
                service,
                signal,
                watched,
                look: None,
                counts: (false, false),
            });
        }
        for (id, due) in orders {
            self.order_sample(id, due, effects);
        }
    }

    /// Tables whose state is configuration, overrides and time only.
    fn adopt_tables(&mut self, model: &Model) {
        let switch = |s: &crate::model::scenario::Switch| {
            let key = OverrideKey { object: ObjectRef::new(Kind::Switch, Name::clone(&s.name)), slot: Slot::Value };
            match self.view.overrides.get(&key).map(|o| &o.value) {
                Some(OverrideValue::Switch { value }) => *value,
                _ => s.initial,
            }
        };
        self.view.switches = model.switches.iter().map(switch).collect();
        self.view.time_windows = vec![Truth::Unknown; model.time_windows.len()];
        self.view.signals = vec![[Truth::Unknown; 5]; model.datacenters.len()];
        self.heard.retain(|name, _| model.peer(name).is_some());
        self.view.watched = vec![Truth::Unknown; model.watched.len()];
        self.view.checks = vec![CheckView::default(); model.checks.len()];
        self.view.services = vec![ServiceView::default(); model.services.len()];
        self.view.vservers = vec![VserverView::default(); model.vservers.len()];
        self.view.scenarios = vec![ScenarioView::default(); model.scenarios.len()];
    }

    fn adopt_watched(&mut self, model: &Model) {
        self.watched.clear();
        for (i, term) in model.watched.iter().enumerate() {
            let dependent = Some(Dependent::Watched(WatchedId::from_index(i)));
            let rows = self.board.register(model, term, dependent, self.now);
            self.watched.push(WatchedRun { rows, timer: None });
        }
    }

    /// Which rows stand for which object, and what each check must remember for its measures.
    fn index_rows(&mut self, model: &Model) {
        let mut services = vec![Vec::new(); model.services.len()];
        let mut vservers = vec![Vec::new(); model.vservers.len()];
        let mut measures: HashMap<CheckId, Vec<Measure>> = HashMap::new();
        self.signal_rows = vec![Vec::new(); model.datacenters.len()];
        self.window_rows = vec![None; model.time_windows.len()];
        self.switch_rows = vec![None; model.switches.len()];
        for (id, row) in self.board.rows() {
            match &row.subject {
                Subject::Check(check) => {
                    self.checks[check.index()].rows.push(id);
                    measures.entry(*check).or_default().extend(row.measure);
                }
                Subject::Service(service, _) => services[service.index()].push(id),
                Subject::Vserver(vserver, _) => vservers[vserver.index()].push(id),
                Subject::Scenario(scenario) => self.scenarios[scenario.index()].row = Some(id),
                Subject::Datacenter { datacenter, .. } => self.signal_rows[datacenter.index()].push(id),
                Subject::TimeWindow(window) => self.window_rows[window.index()] = Some(id),
                Subject::Switch(switch) => self.switch_rows[switch.index()] = Some(id),
                // Request criteria have no row: they are known at the request only.
                Subject::Criterion(_) => {}
            }
        }
        for (check, measures) in measures {
            self.checks[check.index()].machine.remember(&measures);
        }
        self.services = services
            .into_iter()
            .map(|rows| ServiceRun {
                machine: ServiceMachine::default(),
                rows,
                vservers: Vec::new(),
                timer: None,
                fell_at: None,
            })
            .collect();
        self.vservers = vservers.into_iter().map(|rows| VserverRun { rows, ..VserverRun::default() }).collect();
        for (i, vserver) in model.vservers.iter().enumerate() {
            let id = VserverId::from_index(i);
            for member in &vserver.members {
                let of = &mut self.services[member.service.index()].vservers;
                if !of.contains(&id) {
                    of.push(id);
                }
            }
            for backup in model.backup_chain(id) {
                self.vservers[backup.index()].upstream.push(id);
            }
            if let Role::Cs { targets, .. } = &vserver.role {
                for target in targets {
                    self.vservers[target.index()].switched_by.push(id);
                }
            }
        }
    }

    /// Rows that mean the same as before keep their value and the time they have had it. Rows of a check that begins
    /// anew do not.
    fn restore_rows(&mut self, model: &Model, former: &Former) {
        let rows: Vec<(RowId, Name)> = self.board.rows().map(|(id, row)| (id, Name::clone(&row.text))).collect();
        for (id, text) in rows {
            let anew = match self.board.get(id).subject {
                Subject::Check(check) => {
                    let same = former.model.as_ref().and_then(|m| {
                        m.check_id(&model.check(check).name).map(|b| m.check(b).probe == model.check(check).probe)
                    });
                    same != Some(true)
                }
                _ => false,
            };
            if let Some(before) = former.board.find_text(&text)
                && !anew
            {
                let before = former.board.get(before).clone();
                self.board.restore(id, &before);
            }
        }
    }

    fn refresh_checks(&mut self) {
        for i in 0..self.checks.len() {
            self.view.checks[i].clone_from(self.checks[i].machine.view());
            self.refresh_check_rows(CheckId::from_index(i));
        }
    }

    fn arm_wall_timers(&mut self, model: &Model) {
        for i in 0..model.time_windows.len() {
            self.refresh_window(TimeWindowId::from_index(i));
        }
        for i in 0..model.switches.len() {
            let value = self.view.switches[i];
            self.flip(model, SwitchId::from_index(i), value);
        }
        for i in 0..model.datacenters.len() {
            self.refresh_signals(DatacenterId::from_index(i));
        }
        let expiring = self.view.overrides.iter().filter_map(|(key, o)| Some((o.act.expires?, key.clone())));
        self.wall_timers.extend(expiring.map(|(at, key)| (at, WallTimer::Override(key))));
    }

    fn refresh_scenario_row(&mut self, id: ScenarioId) {
        let run = &self.scenarios[id.index()];
        if let Some(row) = run.row {
            let active = run.machine.active;
            self.set_row(row, active.into(), None);
        }
    }

    fn forced(&self, kind: Kind, name: &Name) -> Option<bool> {
        let key = OverrideKey { object: ObjectRef::new(kind, Name::clone(name)), slot: Slot::Force };
        match self.view.overrides.get(&key)?.value {
            OverrideValue::Forced { up } => Some(up),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_new_checks_begin_evenly_within_a_second_and_few_begin_at_once() {
        const INTERVAL: Duration = Duration::from_secs(1);
        assert!((0..BEGIN_TOGETHER).all(|nth| stagger(nth, INTERVAL).is_zero()));
        let mut in_tenth = [0_u32; 10];
        for nth in 0..10_000 {
            in_tenth[(stagger(nth, INTERVAL).as_millis() / 100) as usize] += 1;
        }
        assert!(in_tenth.iter().all(|count| (900..=1_100).contains(count)), "{in_tenth:?}");
        let shortest = Duration::from_millis(20);
        assert!((0..10_000).all(|nth| stagger(nth, shortest) < shortest));
    }
}
