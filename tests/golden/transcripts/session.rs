//! The appliance of a session: the core in virtual time, a real store, a disk that can be broken, and peers that pass or
//! fail as they are told.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bascule::config::units::parse_duration;
use bascule::config::{Source, load};
use bascule::control::command::{Command, Done, Expiry, Format, Note, Refusal};
use bascule::control::core::{Core, Input, Output, Setup};
use bascule::control::disk::{Queue, ToDisk};
use bascule::control::store::{self, Batch, Limits, ReadJournal, Store, StoreError};
use bascule::control::{Event, Request, World};
use bascule::dataplane::dns::explain::explain;
use bascule::model::check::Check;
use bascule::model::event::{Outcome, Verdict};
use bascule::model::id::{Kind, Name, ObjectRef};
use bascule::model::scenario::Mode;
use bascule::model::time::{Now, Tick, Wall};
use bascule::model::zone::{DnsName, RecordType};
use bascule::probe::Sampled;
use bascule::snapshot::live::Active;
use tokio::sync::{broadcast, oneshot};

use super::print;
use crate::config::Texts;

struct Session {
    config: String,
    dir: tempfile::TempDir,
    core: Core,
    now: Now,
    queue: Queue,
    full: Arc<AtomicBool>,
    hangs: bool,
    events: broadcast::Receiver<Arc<Event>>,
    /// What each check finds; those not named pass.
    health: BTreeMap<Name, Outcome>,
    probes: BTreeMap<Name, (Tick, Arc<Check>)>,
    open: BTreeMap<Name, Vec<Active>>,
    waiting: Vec<oneshot::Receiver<Result<Done, Refusal>>>,
    out: String,
}

struct Disk {
    inner: store::Sqlite,
    full: Arc<AtomicBool>,
}

impl Store for Disk {
    fn commit(&mut self, batches: &[&Batch]) -> Result<u64, StoreError> {
        if self.full.load(Ordering::Relaxed) {
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

/// The session as it goes: every command with what it gave.
pub fn run(text: &str) -> String {
    let mut parts = text.splitn(3, "---\n");
    let prose = parts.next().unwrap_or_default();
    let config = parts.next().expect("a configuration between lines `---`").to_owned();
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(config, dir, Now { tick: Tick(1_000_000), wall: print::BEGIN }, prose.to_owned());
    for line in parts.next().unwrap_or_default().lines() {
        session.line(line.trim());
    }
    session.out
}

impl Session {
    fn start(config: String, dir: tempfile::TempDir, now: Now, out: String) -> Session {
        let root = Source { path: "box.toml".into(), text: config.as_str().into() };
        let loaded = load(root, &[], &Texts::default()).unwrap_or_else(|problems| panic!("{problems:#?}"));
        let (inner, found) = store::open(Path::new(dir.path())).unwrap();
        let full = Arc::new(AtomicBool::new(false));
        let queue = Queue::new(Box::new(Disk { inner, full: Arc::clone(&full) }));
        let (sender, events) = broadcast::channel(4_096);
        let files = Arc::new(Texts::default());
        let setup = Setup { loaded, found, path: None, state: None, overrides: Vec::new(), files, events: sender };
        let core = Core::start(now, setup);
        let mut session = Session {
            config,
            dir,
            core,
            now,
            queue,
            full,
            hangs: false,
            events,
            health: BTreeMap::new(),
            probes: BTreeMap::new(),
            open: BTreeMap::new(),
            waiting: Vec::new(),
            out,
        };
        session.outputs();
        session.report();
        session
    }

    fn line(&mut self, line: &str) {
        if line.is_empty() || line.starts_with('#') {
            let _ = writeln!(self.out, "{line}");
            return;
        }
        let _ = writeln!(self.out, "> {line}");
        let words: Vec<&str> = line.split_whitespace().collect();
        self.carry_out(line, &words);
        self.report();
    }

    fn carry_out(&mut self, line: &str, words: &[&str]) {
        match words {
            ["wait", time] => self.wait(duration(time)),
            [word @ ("pass" | "fail" | "trofs"), check] => {
                let outcome = match *word {
                    "pass" => Outcome::Pass,
                    "fail" => Outcome::Fail,
                    _ => Outcome::Trofs,
                };
                self.health.insert((*check).into(), outcome);
            }
            ["open", service] => self.begin(service),
            ["close", service] => {
                self.open.get_mut(*service).and_then(Vec::pop).expect("one is open");
            }
            ["disk", "hangs"] => self.hangs = true,
            ["disk", "full"] => self.full.store(true, Ordering::Relaxed),
            ["disk", "heals"] => {
                self.hangs = false;
                self.full.store(false, Ordering::Relaxed);
                self.write();
                self.outputs();
            }
            ["kill", time] => self.kill(duration(time)),
            ["dig", name, rtype] => self.dig(name, rtype),
            ["show", "status"] => self.look(|world| Some(print::status(world))),
            ["show", kind, name] => {
                let (kind, name) = (Kind::parse(kind).expect("a kind"), (*name).to_owned());
                self.look(move |world| print::show(world, kind, &name));
            }
            ["apply", ..] => {
                let (old, new) = line["apply ".len()..].split_once(" => ").expect("OLD => NEW");
                assert!(self.config.contains(old), "the configuration has no `{old}`");
                self.config = self.config.replacen(old, new, 1);
                self.command(Command::ApplyConfig {
                    text: self.config.clone(),
                    format: Format::Toml,
                    dry_run: false,
                    if_hash: None,
                });
            }
            _ => self.command(act(words)),
        }
    }

    fn command(&mut self, command: Command) {
        let (answer, answered) = oneshot::channel();
        self.waiting.push(answered);
        self.feed(Input::Request(Request::Command { actor: "admin:nsroot".into(), door: "".into(), command, answer }));
    }

    fn look(&mut self, look: impl FnOnce(&World<'_>) -> Option<String> + Send + 'static) {
        let (sender, mut text) = oneshot::channel();
        let read = Box::new(move |world: &World<'_>| {
            let _ = sender.send(look(world).unwrap_or_else(|| "nothing of this name".to_owned()));
        });
        self.feed(Input::Request(Request::Read(read)));
        let text = text.try_recv().unwrap_or_else(|_| "(waits for the disk)".to_owned());
        let _ = writeln!(self.out, "{text}");
    }

    fn dig(&mut self, name: &str, rtype: &str) {
        let name = DnsName::parse(name, &DnsName::root()).expect("a name");
        let rtype = RecordType::parse(rtype).expect("a type");
        let client = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let explained = explain(&self.core.cell().load(), &name, rtype, client);
        let _ = writeln!(self.out, "{} {}", explained.rcode, explained.answer.join(" | "));
    }

    fn begin(&mut self, service: &str) {
        let snapshot = self.core.cell().load_full();
        let id = snapshot.model.service_id(service).expect("a service");
        self.open.entry(service.into()).or_default().push(snapshot.services[id.index()].live.begin());
    }

    /// What is not on disk is gone.
    fn kill(&mut self, down: Duration) {
        let text = std::mem::take(&mut self.out);
        let dir = std::mem::replace(&mut self.dir, tempfile::tempdir().unwrap());
        // The lock of the state directory goes with the process that held it.
        self.queue = Queue::new(Box::new(store::Memory::new()));
        let now = Now { tick: Tick(1_000_000), wall: self.now.wall + down };
        let health = std::mem::take(&mut self.health);
        *self = Session::start(self.config.clone(), dir, now, text);
        self.health = health;
    }

    fn wait(&mut self, time: Duration) {
        let end = self.now.after(time);
        while self.now.tick < end.tick {
            let probe = self.probes.values().map(|(due, _)| *due).min().unwrap_or(end.tick);
            let wake = self.core.wake_at(self.now.tick).min(probe).min(end.tick);
            self.now = self.now.after(wake.since(self.now.tick));
            self.sample();
            self.feed(Input::Wake);
            if wake == self.now.tick && self.core.wake_at(self.now.tick) == wake && probe > wake {
                // Nothing came of it: a deadline of the very moment.
                self.now = self.now.after(Duration::from_micros(1));
            }
        }
    }

    /// Takes the samples that are due.
    fn sample(&mut self) {
        let due: Vec<Name> = self
            .probes
            .iter()
            .filter(|(_, (due, _))| *due <= self.now.tick)
            .map(|(name, _)| Name::clone(name))
            .collect();
        for name in due {
            let Some((_, check)) = self.probes.remove(&name) else { continue };
            let outcome = self.health.get(&name).copied().unwrap_or(Outcome::Pass);
            let verdict = Verdict::new(outcome, Duration::from_millis(1), "as told");
            self.feed(Input::Sampled(Sampled { check, verdict, late_by: Duration::ZERO }));
        }
    }

    fn feed(&mut self, input: Input) {
        self.core.handle(self.now, input);
        self.core.settle(self.now);
        self.outputs();
    }

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
            let mut wrote = false;
            for output in outputs {
                match output {
                    Output::Probe { check, due, .. } => {
                        self.probes.insert(Name::clone(&check.name), (due, check));
                    }
                    Output::Checks(names) => self.probes.retain(|name, _| names.contains(name)),
                    Output::Disk(ToDisk::Write(order)) => {
                        self.queue.push(order);
                        wrote = true;
                    }
                    Output::Answer(answer) => {
                        let _ = answer.to.send(answer.result);
                    }
                    Output::Config(job) => {
                        self.core.handle(self.now, Input::Config(job.run()));
                        self.core.settle(self.now);
                    }
                    Output::Zone(job) => {
                        self.core.handle(self.now, Input::Zone(job.run()));
                        self.core.settle(self.now);
                    }
                    Output::Rehearse(rehearsal) => rehearsal.run(),
                    Output::Disk(ToDisk::Cut { .. } | ToDisk::Give(_) | ToDisk::TakeBack | ToDisk::Begin)
                    | Output::Ask(_)
                    | Output::NameServers(_)
                    | Output::Errand(_)
                    | Output::Stopped => {}
                }
            }
            if wrote && !self.hangs {
                self.write();
            }
            self.report();
        }
    }

    /// Events and answers since the last report.
    fn report(&mut self) {
        while let Ok(event) = self.events.try_recv() {
            if let Some(line) = print::record(&event.record) {
                let _ = writeln!(self.out, "{:>12}  {line}", print::at(event.at));
            }
        }
        for mut waiting in std::mem::take(&mut self.waiting) {
            match waiting.try_recv() {
                Ok(Ok(done)) => self.done(&done),
                Ok(Err(refusal)) => {
                    let _ = writeln!(self.out, "refused: {refusal}");
                }
                Err(oneshot::error::TryRecvError::Empty) => self.waiting.push(waiting),
                Err(oneshot::error::TryRecvError::Closed) => self.out.push_str("never answered\n"),
            }
        }
    }

    fn done(&mut self, done: &Done) {
        for change in &done.changes {
            let _ = writeln!(self.out, "change: {change}");
        }
        for warning in &done.warnings {
            let _ = writeln!(self.out, "warning: {warning}");
        }
        for left in &done.still_draining {
            let _ = writeln!(self.out, "still draining: {left}");
        }
        let _ = writeln!(self.out, "done at {}", print::at(self.now.wall));
    }
}

fn act(words: &[&str]) -> Command {
    let mut rest = words.get(2..).unwrap_or_default().iter().copied();
    let object = || ObjectRef::new(Kind::parse(words[1]).expect("a kind"), words[2]);
    let mode = |word: Option<&str>| Mode::parse(word.expect("a mode")).expect("a mode");
    let mut note = Note::default();
    match words[0] {
        "disable" => {
            let (mut delay, mut graceful, mut wait) = (None, false, None);
            rest.next();
            while let Some(word) = rest.next() {
                match word {
                    "delay" => delay = rest.next().map(duration),
                    "wait" => wait = rest.next().map(duration),
                    "graceful" => graceful = true,
                    other => panic!("disable … {other}"),
                }
            }
            Command::Disable { object: object(), delay, graceful, note, wait }
        }
        "enable" => Command::Enable { object: object(), note },
        "switch" => Command::SetSwitch { switch: words[1].into(), value: words[2] == "on", note },
        "force" => {
            let up = match words[3] {
                "up" => Some(true),
                "down" => Some(false),
                _ => None,
            };
            note.expires = words.get(5).map(|time| Expiry::After(duration(time)));
            Command::Force { object: object(), up, note }
        }
        "mode" => {
            let (mut activate, mut deactivate, mut override_guard) = (None, None, false);
            while let Some(word) = rest.next() {
                match word {
                    "activate" => activate = Some(mode(rest.next())),
                    "deactivate" => deactivate = Some(mode(rest.next())),
                    "override" => override_guard = true,
                    other => panic!("mode … {other}"),
                }
            }
            let scenario = words[1].into();
            Command::SetModes { scenario, activate, deactivate, override_guard, if_seq: None, note }
        }
        other => panic!("no command `{other}`"),
    }
}

fn duration(text: &str) -> Duration {
    parse_duration(text).unwrap_or_else(|why| panic!("{why}"))
}
