//! An engine on a virtual clock, driven by names. Every step is followed by a check of all invariants.

use std::sync::Arc;
use std::time::Duration;

use bascule::config::{self, Files, Source};
use bascule::control::journal::history::{Adopted, Moment, What};
use bascule::machine::{Effect, Engine, Input, invariant};
use bascule::model::Model;
use bascule::model::event::{
    Act, AdminIntent, AdminTarget, GuardResult, GuardVerdict, Observation, Outcome, Record, Transition, Verdict,
};
use bascule::model::scenario::{Direction, Mode};
use bascule::model::state::{Saved, ScenarioView, ServiceState};
use bascule::model::time::{Now, Tick, Wall};

/// No includes and no zone files.
pub struct NoFiles;

impl Files for NoFiles {
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        Err(format!("no files here: {pattern}"))
    }
    fn read(&self, path: &str) -> Result<String, String> {
        Err(format!("no files here: {path}"))
    }
}

pub struct Rig {
    pub engine: Engine,
    pub now: Now,
    /// All effects since the last `take_*`.
    pub effects: Vec<Effect>,
    /// What a store would hold.
    pub saved: Saved,
    /// What a journal would hold, former processes included.
    pub journal: Vec<Moment>,
    /// How late it is woken for what is due.
    pub late: Duration,
}

/// The model of a configuration that must load.
pub fn model(toml: &str) -> Arc<Model> {
    let root = Source { path: "test.toml".into(), text: toml.into() };
    match config::load(root, &[], &NoFiles) {
        Ok(loaded) => loaded.model,
        Err(problems) => {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            panic!("the configuration does not load:\n{}", lines.join("\n"));
        }
    }
}

fn adopted(origin: &str, toml: &str) -> What {
    let root = Source { path: "test.toml".into(), text: toml.into() };
    let hash = config::load(root.clone(), &[], &NoFiles).expect("it loads").hash;
    What::Config(Adopted { origin: origin.into(), hash, set: Vec::new(), sources: vec![root] })
}

pub fn secs(s: u64) -> Duration {
    Duration::from_secs(s)
}

pub fn mins(m: u64) -> Duration {
    Duration::from_secs(m * 60)
}

impl Rig {
    /// A first start on Monday 2026-01-05T10:00:00Z.
    pub fn new(toml: &str) -> Rig {
        Rig::start(toml, Saved::default(), Now::new(Tick(1_000_000), Wall(1_767_607_200_000_000)))
    }

    /// A start with what was saved before. The monotonic clock of a new process begins anew.
    pub fn start(toml: &str, saved: Saved, now: Now) -> Rig {
        let mut rig = Rig {
            engine: Engine::new(),
            now,
            effects: Vec::new(),
            saved: saved.clone(),
            journal: Vec::new(),
            late: Duration::ZERO,
        };
        rig.note(What::Start { saved: saved.clone() });
        rig.note(adopted("start", toml));
        rig.step(Input::Restore(saved));
        rig.step(Input::Adopt(model(toml)));
        rig
    }

    /// The same state directory after a `kill -9`, `down` later.
    pub fn kill_and_restart(self, toml: &str, down: Duration) -> Rig {
        let mut next = Rig::start(toml, self.saved.clone(), Now::new(Tick(1_000_000), self.now.wall + down));
        let began = next.journal.drain(..).collect::<Vec<_>>();
        (next.journal, next.late) = (self.journal, self.late);
        for moment in began {
            next.journal.push(Moment { number: next.journal.len() as u64 + 1, ..moment });
        }
        next
    }

    fn note(&mut self, what: What) {
        self.journal.push(Moment { number: self.journal.len() as u64 + 1, now: self.now, what });
    }

    pub fn reload(&mut self, toml: &str) {
        self.step(Input::Wake);
        self.note(adopted("reload", toml));
        self.step(Input::Adopt(model(toml)));
    }

    pub fn step(&mut self, input: Input) {
        let from = self.effects.len();
        self.engine.step(self.now, input, &mut self.effects);
        let mut at = self.now;
        for effect in &self.effects[from..] {
            match effect {
                Effect::At(time) => at = *time,
                Effect::Record(record) => {
                    let number = self.journal.len() as u64 + 1;
                    self.journal.push(Moment { number, now: at, what: What::Record(record.clone()) });
                }
                Effect::SaveScenario(saved) => {
                    self.saved.scenarios.retain(|s| s.name != saved.name);
                    self.saved.scenarios.push((**saved).clone());
                }
                Effect::SaveOverride(key, Some(value)) => {
                    self.saved.overrides.insert(key.clone(), value.clone());
                }
                Effect::SaveOverride(key, None) => {
                    self.saved.overrides.remove(key);
                }
                Effect::SaveDrill(drill) => self.saved.drill = Some(Arc::clone(drill)),
                _ => {}
            }
        }
        if !matches!(self.engine.view().generation, 0) {
            let broken = invariant::check(&self.engine);
            assert!(broken.is_empty(), "invariants broken:\n{}", broken.join("\n"));
        }
        assert_eq!(self.saved.overrides, self.engine_overrides(), "what is saved is what is shown");
        if self.engine.view().generation != 0 {
            assert_eq!(self.saved.drill, self.engine.view().drill, "also of a drill");
        }
    }

    fn engine_overrides(
        &self,
    ) -> std::collections::BTreeMap<bascule::model::state::OverrideKey, bascule::model::state::Override> {
        if self.engine.view().generation == 0 {
            self.saved.overrides.clone()
        } else {
            self.engine.view().overrides.clone()
        }
    }

    /// Lets time pass; wakes the engine when it asks for it.
    pub fn wait(&mut self, d: Duration) {
        let end = self.now.after(d);
        while let Some(wake) = self.engine.wake_at()
            && wake <= end.tick
        {
            let woken = (wake + self.late).min(end.tick);
            self.now = self.now.after(woken.since(self.now.tick));
            self.step(Input::Wake);
        }
        self.now = end;
        self.step(Input::Wake);
    }

    pub fn verdict(&mut self, check: &str, outcome: Outcome, latency: Duration) {
        let id = self.engine.model().check_id(check).unwrap_or_else(|| panic!("no check {check}"));
        self.step(Input::Verdict { check: id, verdict: Verdict::new(outcome, latency, "test") });
    }

    pub fn pass(&mut self, check: &str) {
        self.verdict(check, Outcome::Pass, Duration::from_millis(10));
    }

    pub fn fail(&mut self, check: &str) {
        self.verdict(check, Outcome::Fail, Duration::from_millis(10));
    }

    /// A sample each second, for `d`.
    pub fn passing(&mut self, check: &str, d: Duration) {
        for _ in 0..d.as_secs() {
            self.wait(secs(1));
            self.pass(check);
        }
    }

    pub fn admin(&mut self, intent: AdminIntent) {
        let act = Act { actor: "admin:test".into(), reason: Some("test".into()), expires: None };
        self.step(Input::Admin { act, intent });
    }

    pub fn modes(&mut self, scenario: &str, activate: Option<Mode>, deactivate: Option<Mode>) {
        let scenario = self.engine.model().scenario_id(scenario).expect("a scenario");
        self.admin(AdminIntent::SetModes { scenario, activate, deactivate, override_guard: false });
    }

    /// Begins a drill whatever stands against it.
    pub fn drill(&mut self, scenario: &str, lasts: Duration, notify: &[&str], stop_on: &[&str]) {
        let scenario = self.engine.model().scenario_id(scenario).expect("a scenario");
        let names = |names: &[&str]| names.iter().map(|name| (*name).into()).collect();
        let (ends_at, notify, stop_on) = (self.now.wall + lasts, names(notify), names(stop_on));
        self.admin(AdminIntent::StartDrill { scenario, lasts, ends_at, notify, stop_on, override_guard: false });
    }

    pub fn switch(&mut self, switch: &str, value: bool) {
        let switch = self.engine.model().switch_id(switch).expect("a switch");
        self.admin(AdminIntent::SetSwitch { switch, value });
    }

    pub fn disable(&mut self, service: &str, delay: Option<Duration>, graceful: bool) {
        let target = AdminTarget::Service(self.engine.model().service_id(service).expect("a service"));
        self.admin(AdminIntent::Disable { target, delay, graceful });
    }

    pub fn enable(&mut self, service: &str) {
        let target = AdminTarget::Service(self.engine.model().service_id(service).expect("a service"));
        self.admin(AdminIntent::Enable { target });
    }

    pub fn active_transactions(&mut self, service: &str, active: u32) {
        let service = self.engine.model().service_id(service).expect("a service");
        self.step(Input::Observed(Observation::Active { service, active }));
    }

    pub fn guard(&mut self, scenario: &str, verdict: GuardVerdict) {
        let id = self.engine.model().scenario_id(scenario).expect("a scenario");
        let attempt = self.scenario(scenario).attempt.as_ref().expect("an attempt runs").id;
        self.step(Input::Guard(GuardResult { scenario: id, attempt, verdict, detail: "test".into() }));
    }

    pub fn scenario(&self, name: &str) -> &ScenarioView {
        let id = self.engine.model().scenario_id(name).unwrap_or_else(|| panic!("no scenario {name}"));
        &self.engine.view().scenarios[id.index()]
    }

    pub fn is_active(&self, scenario: &str) -> bool {
        self.scenario(scenario).active
    }

    pub fn service(&self, name: &str) -> ServiceState {
        let id = self.engine.model().service_id(name).unwrap_or_else(|| panic!("no service {name}"));
        self.engine.view().services[id.index()].state
    }

    pub fn mode(&self, scenario: &str, direction: Direction) -> Mode {
        self.scenario(scenario).modes[direction.index()].mode
    }

    /// Everything recorded since the last call.
    pub fn records(&mut self) -> Vec<Record> {
        let effects = std::mem::take(&mut self.effects);
        effects
            .into_iter()
            .filter_map(|e| match e {
                Effect::Record(record) => Some(record),
                _ => None,
            })
            .collect()
    }

    /// Commits since the last call.
    pub fn transitions(&mut self) -> Vec<Arc<Transition>> {
        let records = self.records().into_iter();
        records.filter_map(|r| if let Record::Transition(t) = r { Some(t) } else { None }).collect()
    }
}
