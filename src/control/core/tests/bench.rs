//! A core in virtual time with a disk that can be broken, over one small appliance:
//! checks `api`; services `web1`, `web2` on vserver `web` (always up); scenario `dr` on `api`; switch `drill`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{broadcast, oneshot};

use super::super::{Core, Input, Output, Setup};
use crate::config::{Files, Loaded, Source};
use crate::control::command::{Command, Done, Note, Refusal};
use crate::control::courier::Errand;
use crate::control::disk::{Queue, ToDisk};
use crate::control::store::{self, Batch, Found, Limits, Memory, ReadJournal, Store, StoreError};
use crate::control::{Event, Request, World};
use crate::model::Model;
use crate::model::check::{Check, Origin, Probe, Schedule, Target};
use crate::model::condition::{Condition, Group, Subject, Term};
use crate::model::event::{Outcome, Verdict};
use crate::model::id::{CheckId, Kind, ObjectRef, ScenarioId, ServiceId};
use crate::model::scenario::{DirectionRules, Mode, Oscillation, Scenario, Switch};
use crate::model::service::{Protocol, Service};
use crate::model::time::{Now, Tick, Wall};
use crate::model::vserver::{Member, Vserver};
use crate::probe::Sampled;

pub type Answered = oneshot::Receiver<Result<Done, Refusal>>;

/// 2027-01-15T08:00:00Z
const BEGIN: Wall = Wall(1_800_000_000_000_000);

pub struct Bench {
    pub core: Core,
    pub now: Now,
    pub broken: Arc<AtomicBool>,
    /// The disk takes orders and does not answer.
    pub hangs: bool,
    pub events: broadcast::Receiver<Arc<Event>>,
    /// What was sent off and not taken by the test yet.
    pub errands: Vec<Errand>,
    queue: Queue,
    pub journal: Arc<dyn ReadJournal>,
}

struct Fragile {
    inner: Box<dyn Store>,
    broken: Arc<AtomicBool>,
}

struct Folder(std::path::PathBuf);

impl Files for Folder {
    /// Patterns are plain names here.
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        Ok(self.0.join(pattern).exists().then(|| pattern.to_owned()).into_iter().collect())
    }
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(path)).map_err(|e| e.to_string())
    }
}

impl Store for Fragile {
    fn commit(&mut self, batches: &[&Batch]) -> Result<u64, StoreError> {
        if self.broken.load(Ordering::Relaxed) {
            return Err(StoreError::retryable("the disk is full"));
        }
        self.inner.commit(batches)
    }
    fn cut(&mut self, now: Wall, limits: &Limits) -> Result<u64, StoreError> {
        self.inner.cut(now, limits)
    }
    fn reader(&self) -> Arc<dyn ReadJournal> {
        self.inner.reader()
    }
}

impl Bench {
    pub fn new() -> Bench {
        Bench::over(Box::new(Memory::new()), Found::default())
    }

    /// As a process that starts on `dir`.
    pub fn on(dir: &std::path::Path) -> Bench {
        let (store, found) = store::open(dir).unwrap();
        Bench::over(Box::new(store), found)
    }

    /// With a configuration of its own, read from `path`.
    pub fn with_file(path: &std::path::Path) -> Bench {
        let text = std::fs::read_to_string(path).unwrap();
        let root = Source { path: path.display().to_string().into(), text: text.into() };
        let loaded = crate::config::load(root, &[], &Folder(path.parent().unwrap().to_owned())).unwrap();
        Bench::begin(Box::new(Memory::new()), Found::default(), loaded, Some(path.to_owned()))
    }

    /// As a process that starts on `dir` with a configuration of its own.
    pub fn with_text_on(text: &str, dir: &std::path::Path) -> Bench {
        Bench::with_text_at(text, dir, BEGIN)
    }

    /// At a time of its own.
    pub fn with_text_at(text: &str, dir: &std::path::Path, wall: Wall) -> Bench {
        let (store, found) = store::open(dir).unwrap();
        let root = Source { path: "box.toml".into(), text: text.into() };
        let loaded = crate::config::load(root, &[], &Folder(dir.to_owned())).unwrap();
        Bench::begin_at(Box::new(store), found, loaded, None, wall)
    }

    fn over(inner: Box<dyn Store>, found: Found) -> Bench {
        let text = Source { path: "box.toml".into(), text: "schema = 1\n".into() };
        let loaded = Loaded { model: Arc::new(model()), warnings: Vec::new(), sources: vec![text], hash: "0".into() };
        Bench::begin(inner, found, loaded, None)
    }

    fn begin(inner: Box<dyn Store>, found: Found, loaded: Loaded, path: Option<std::path::PathBuf>) -> Bench {
        Bench::begin_at(inner, found, loaded, path, BEGIN)
    }

    fn begin_at(
        inner: Box<dyn Store>,
        found: Found,
        loaded: Loaded,
        path: Option<std::path::PathBuf>,
        wall: Wall,
    ) -> Bench {
        let broken = Arc::new(AtomicBool::new(false));
        let store = Fragile { inner, broken: Arc::clone(&broken) };
        let journal = store.reader();
        let now = Now { tick: Tick(1_000), wall };
        let (sender, events) = broadcast::channel(256);
        let folder = path.as_deref().and_then(std::path::Path::parent).unwrap_or(std::path::Path::new("."));
        let files: super::super::FileAccess = Arc::new(Folder(folder.to_owned()));
        let setup = Setup { loaded, found, path, state: None, overrides: Vec::new(), files, events: sender };
        let core = Core::start(now, setup);
        let queue = Queue::new(Box::new(store));
        let mut bench = Bench { core, now, broken, hangs: false, events, errands: Vec::new(), queue, journal };
        bench.outputs();
        bench
    }

    /// One turn with `input`, and the turns that the disk's answers cause.
    pub fn feed(&mut self, input: Input) {
        self.core.handle(self.now, input);
        self.core.settle(self.now);
        self.outputs();
    }

    /// Lets time pass, waking the core as it asks.
    pub fn wait(&mut self, time: Duration) {
        let end = self.now.after(time);
        while self.now.tick < end.tick {
            let wake = self.core.wake_at(self.now.tick).max(Tick(self.now.tick.0 + 1)).min(end.tick);
            self.now = self.now.after(wake.since(self.now.tick));
            self.feed(Input::Wake);
        }
    }

    pub fn probe(&mut self, outcome: Outcome) {
        let check = Arc::clone(&self.core.checks[0]);
        let verdict = Verdict::new(outcome, Duration::from_millis(1), "said the test");
        self.feed(Input::Sampled(Sampled { check, verdict, late_by: Duration::ZERO }));
    }

    pub fn command(&mut self, command: Command) -> Answered {
        let (answer, answered) = oneshot::channel();
        self.feed(Input::Request(Request::Command { actor: "admin:nsroot".into(), door: "".into(), command, answer }));
        answered
    }

    pub fn read<T: Send + 'static>(&mut self, look: impl FnOnce(&World<'_>) -> T + Send + 'static) -> Option<T> {
        let (sender, mut value) = oneshot::channel();
        let read = Box::new(move |world: &World<'_>| {
            let _ = sender.send(look(world));
        });
        self.feed(Input::Request(Request::Read(read)));
        value.try_recv().ok()
    }

    pub fn published_active(&self) -> bool {
        self.core.cell().load().scenario_active[0]
    }

    pub fn kinds(&self) -> Vec<String> {
        let entries = self.journal.query(&Default::default()).unwrap();
        entries.iter().map(|entry| entry.kind.to_string()).collect()
    }

    pub fn heal(&mut self) {
        self.broken.store(false, Ordering::Relaxed);
        self.hangs = false;
        self.write();
        self.outputs();
    }

    /// Whether what waits was written; the report reaches the core.
    fn write(&mut self) {
        if let Some(report) = self.queue.write() {
            self.core.handle(self.now, Input::Disk(report));
            self.core.settle(self.now);
        }
    }

    fn outputs(&mut self) {
        loop {
            let outputs = self.core.take_outputs();
            if outputs.is_empty() {
                return;
            }
            let (mut wrote, mut jobs) = (false, Vec::new());
            for output in outputs {
                match output {
                    Output::Disk(ToDisk::Write(order)) => {
                        self.queue.push(order);
                        wrote = true;
                    }
                    Output::Answer(answer) => {
                        let _ = answer.to.send(answer.result);
                    }
                    Output::Config(job) => jobs.push(job),
                    Output::Rehearse(rehearsal) => rehearsal.run(),
                    Output::Errand(errand) => self.errands.push(errand),
                    _ => {}
                }
            }
            for job in jobs {
                self.core.handle(self.now, Input::Config(job.run()));
                self.core.settle(self.now);
            }
            if wrote && !self.hangs {
                self.write();
            }
        }
    }
}

pub fn disable(service: &str, delay: Option<u64>, graceful: bool) -> Command {
    Command::Disable {
        object: ObjectRef::new(Kind::Service, service),
        delay: delay.map(Duration::from_secs),
        graceful,
        note: Note::default(),
        wait: None,
    }
}

pub fn modes(activate: Option<Mode>, deactivate: Option<Mode>) -> Command {
    Command::SetModes {
        scenario: "dr".into(),
        activate,
        deactivate,
        override_guard: false,
        if_seq: None,
        note: Note::default(),
    }
}

fn model() -> Model {
    let target = Target::new("127.0.0.1:1".parse().unwrap());
    let schedule = Schedule {
        interval: Duration::from_secs(1),
        timeout: Duration::from_millis(500),
        rise: 1,
        fall: 1,
        ..Schedule::default()
    };
    let check = Check { name: "api".into(), origin: Origin::User, probe: Probe::Tcp { target }, schedule };
    let service = |name: &str| {
        let mut service = Service::new(name, Protocol::Http, "127.0.0.1:2".parse().unwrap());
        service.settings.health_monitor = false;
        service
    };
    let mut web = Vserver::new("web", Protocol::Http);
    for id in [ServiceId(0), ServiceId(1)] {
        web.services.push(Member::new(id));
        web.members.push(Member::new(id));
    }
    let term = |text: &str, negated| Term {
        text: text.into(),
        subject: Subject::Check(CheckId(0)),
        negated,
        measure: None,
        hold: None,
    };
    let when = |text: &str, negated| Condition {
        groups: vec![Group { name: text.into(), named: false, terms: vec![term(text, negated)] }],
    };
    let rules = |when| DirectionRules { base_mode: Mode::Auto, when, gate: None, guard: None, triggers: Vec::new() };
    let scenario = Scenario {
        name: "dr".into(),
        about: "".into(),
        initially_active: false,
        directions: [rules(when("api!", true)), rules(when("api", false))],
        oscillation: Oscillation { commits: 10, within: Duration::from_secs(600) },
        min_dwell: Duration::ZERO,
        renamed_from: None,
        pair: None,
    };
    let watched = Term { subject: Subject::Scenario(ScenarioId(0)), ..term("sc:dr", false) };
    Model {
        checks: vec![check],
        services: vec![service("web1"), service("web2")],
        vservers: vec![web],
        scenarios: vec![scenario],
        scenario_order: vec![ScenarioId(0)],
        switches: vec![Switch { name: "drill".into(), initial: false, maintenance_of: None }],
        watched: vec![watched],
        ..Model::empty()
    }
}
