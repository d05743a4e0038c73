//! The one writer, without its thread: inputs and the time in, outputs out. The [`reactor`](super::reactor) around it
//! does the waiting; here nothing waits, so that a transcript can drive it in virtual time.
//!
//! A turn: [`Core::handle`] for every input that is there, then [`Core::settle`] once. Settling seals what must become
//! durable into one order for the disk, publishes at most one snapshot, and answers whoever can be answered. So a flap
//! storm costs one build and one `fsync`.
//!
//! What waits for the disk, and what does not:
//!
//! | what | is shown |
//! |---|---|
//! | states of services and vservers | at once |
//! | a commit of a scenario | when it is durable; an activation after 2 s anyway, with the alert `not_durable` |
//! | an act of a person | its intent is durable *before* the engine sees it ([`acts`]); answered when its effects are |
//! | a drill | as what it does: its start is an act, what it moves are commits |
//! | a delivery of a trigger | written with its commit; sent when that is durable ([`outbox`]) |
//! | a change of the configuration | at once; answered when it is journalled (it is state only once saved to FILE) |

mod acts;
mod addresses;
mod alerts;
mod caches;
mod configuration;
mod durable;
mod foresight;
mod guard;
mod holding;
mod io;
mod left;
mod log;
mod names;
mod outbox;
mod peers;
mod probing;
mod publish;
mod rehearsal;
mod saving;
mod stepping;
mod transfers;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast;

use super::payload::ConfigTree;
use super::store::Batch;
use super::{ConfigStatus, Event, Request, RunStatus, World};
use crate::config::{Files, Problem, Source};
use crate::machine::alert::Alerts;
use crate::machine::members::Members;
use crate::machine::names::Names;
use crate::machine::outbox::Outbox;
use crate::machine::peers::Peers;
use crate::machine::{Effect, Engine, Input as Step};
use crate::model::Model;
use crate::model::check::{Check, Probe};
use crate::model::delivery::QueryBook;
use crate::model::drill::DrillBook;
use crate::model::event::Observation;
use crate::model::id::Name;
use crate::model::state::CheckView;
use crate::model::time::{Now, Tick};
use crate::model::zone::AllContents;
use crate::probe::Sampled;
use crate::snapshot::Cell;
use crate::snapshot::live::Registry;
use crate::snapshot::zones::ZoneIndex;

pub use configuration::{ConfigJob, ConfigOutcome};
pub use io::{Answer, Input, Output, Setup};
pub use names::Lookups;
pub use rehearsal::Rehearsal;
pub use transfers::{ZoneBuilt, ZoneJob};

/// How long a commit or an act waits for the disk.
pub const DISK_PATIENCE: Duration = Duration::from_secs(2);

/// On a first start DNS waits at most this long for the first round of probes.
pub const STARTUP_WAIT: Duration = Duration::from_secs(5);

/// Between two looks at the counters of what drains, and between two wakes for clocks that were set.
const SECOND: Duration = Duration::from_secs(1);

/// Between two cuts of the journal.
const CUT_EVERY: Duration = Duration::from_secs(600);

/// Where texts come from.
pub type FileAccess = Arc<dyn Files + Send + Sync>;

/// A look at the world that waits for the end of the turn.
type Read = Box<dyn FnOnce(&World<'_>) + Send>;

pub struct Core {
    engine: Engine,
    effects: Vec<Effect>,
    outputs: Vec<Output>,
    cell: Arc<Cell>,
    registry: Registry,
    zones: Arc<ZoneIndex>,
    /// What primaries say that zones hold.
    contents: AllContents,
    checks: Vec<Arc<Check>>,
    /// As configured, without the members from DNS.
    intended: Arc<Model>,
    names: Names,
    members: Members,
    name_servers: Vec<SocketAddr>,
    peers: Peers,

    config: ConfigStatus,
    sources: Vec<Source>,
    /// The model of FILE as last read or written.
    saved_model: Arc<Model>,
    overrides: Vec<(String, String)>,
    files: FileAccess,
    changes: configuration::Queue,

    status: RunStatus,
    started: Tick,
    /// The first round of probes is over: what is known since the start is as good as it gets.
    settled: bool,
    /// A snapshot is due.
    dirty: bool,
    events: broadcast::Sender<Arc<Event>>,
    next_event: u64,
    /// Events wait while a commit before them is not durable.
    waiting_events: VecDeque<Arc<Event>>,

    /// What the next order will hold.
    batch: Batch,
    next_order: u64,
    durable_through: u64,
    /// When the oldest order that is not durable was given.
    unwritten_since: Option<Tick>,
    disk_error: Option<String>,
    held: Vec<publish::Held>,
    commits: caches::Commits,
    /// Entries of the journal that were dropped while the disk did not answer.
    lost_entries: u64,
    acts: acts::Acts,
    /// How the one came in whose command is being carried out; empty: nobody's is.
    door: Name,
    reads: Vec<Read>,

    outbox: Outbox,
    /// For payloads; made when the first one needs it.
    config_tree: Option<Arc<ConfigTree>>,
    queries: QueryBook,
    guards: guard::Guards,
    alerts: Alerts,
    alert_look: alerts::Look,
    drills: Arc<DrillBook>,

    next_look: Tick,
    next_cut: Tick,
    writing: holding::Writing,
    stopping: Option<Tick>,
}

// === impl Core ===

impl Core {
    /// Restores what was saved, adopts the configuration, carries out the acts that a former process had promised, and
    /// publishes the first snapshot.
    pub fn start(now: Now, setup: Setup) -> Core {
        let Setup { loaded, found, path, state, overrides, files, events } = setup;
        let contents = transfers::wanted(&found.zones, &loaded.model);
        let zones = Arc::new(ZoneIndex::build_with(&loaded.model, &contents, None));
        let mut registry = found.cookie_key.clone().map_or_else(Registry::default, Registry::with_cookie_key);
        registry.wall = now.wall;
        let first = publish::first_snapshot(&loaded.model, &zones, &mut registry, &found);
        let mut core = Core {
            engine: Engine::new(),
            effects: Vec::new(),
            outputs: Vec::new(),
            cell: Cell::new(first),
            registry,
            zones,
            contents,
            checks: Vec::new(),
            intended: Arc::clone(&loaded.model),
            names: Names::default(),
            members: Members::default(),
            name_servers: Vec::new(),
            peers: Peers::default(),
            config: ConfigStatus {
                hash: loaded.hash.to_string(),
                saved_hash: loaded.hash.to_string(),
                unsaved: false,
                path,
                state,
                warnings: loaded.warnings.iter().map(Problem::plain).collect(),
                set: overrides.iter().map(|(path, _)| path.clone()).collect(),
                loaded_at: now.wall,
                reload_failed: None,
            },
            sources: loaded.sources.clone(),
            saved_model: Arc::clone(&loaded.model),
            overrides,
            files,
            changes: configuration::Queue::default(),
            status: RunStatus {
                started_at: now.wall,
                ready: found.served,
                journal_entries: found.journal_head,
                ..RunStatus::default()
            },
            started: now.tick,
            settled: false,
            dirty: true,
            events,
            next_event: 0,
            waiting_events: VecDeque::new(),
            batch: Batch::default(),
            next_order: 1,
            durable_through: 0,
            unwritten_since: None,
            disk_error: None,
            held: Vec::new(),
            commits: caches::Commits::default(),
            lost_entries: 0,
            acts: acts::Acts::new(&found.intents),
            door: "".into(),
            reads: Vec::new(),
            outbox: Outbox::restore(now, found.deliveries.clone(), &loaded.model),
            config_tree: None,
            queries: QueryBook::default(),
            guards: guard::Guards::default(),
            alerts: Alerts::restore(now, found.alerts.clone(), alerts::last_id(&found.deliveries)),
            alert_look: alerts::Look::default(),
            drills: Arc::new(found.drills.iter().map(|drill| (drill.id, Arc::clone(drill))).collect()),
            next_look: now.tick + SECOND,
            next_cut: now.tick,
            writing: holding::Writing::at_start(&found),
            stopping: None,
        };
        core.journal_start(now, &found);
        core.journal_config(now, &"system".into(), "start", &loaded.hash, &[]);
        core.names.restore(found.answers);
        core.step(now, Step::Restore(found.saved));
        core.adopt(now, loaded.model);
        core.carry_out_promises(now, found.intents);
        core.settle(now);
        core
    }

    pub fn cell(&self) -> &Arc<Cell> {
        &self.cell
    }

    pub fn handle(&mut self, now: Now, input: Input) {
        match input {
            Input::Sampled(sampled) => self.sampled(now, &sampled),
            // The count in a hint may be old by now: the counter itself is read.
            Input::Observed(Observation::Active { service, .. }) => self.look_at_service(now, service),
            Input::Observed(observed @ (Observation::Resolved { .. } | Observation::Ejected { .. })) => {
                self.step(now, Step::Observed(observed));
            }
            Input::Observed(Observation::Zone { origin, news }) => self.zone_news(now, &origin, news),
            Input::Observed(Observation::Address { vserver, ip, state }) => self.address_news(now, vserver, ip, &state),
            Input::Zone(built) => self.zone_built(now, *built),
            Input::Request(request) => self.request(now, request),
            Input::Disk(report) => self.reported(now, report),
            Input::Config(outcome) => self.config_outcome(now, outcome),
            Input::Lookups(lookups) => self.looked_up(now, lookups),
            Input::Returned(returned) => self.returned(now, returned),
            Input::ClockSynced(synced) => self.clock_synced(synced),
            Input::Wake => {
                self.step(now, Step::Wake);
                self.look_at_drains(now);
            }
        }
    }

    /// Ends a turn. To be called after every batch of inputs.
    pub fn settle(&mut self, now: Now) {
        self.look_at_names(now);
        self.look_at_peers(now);
        self.decide_readiness(now);
        self.look_at_alerts(now);
        self.look_at_outbox(now);
        self.seal(now);
        self.release_overdue(now);
        self.publish_if_due(now);
        self.release_events();
        self.expire_acts(now);
        self.answer_due(now);
        self.run_reads(now);
        self.cut_if_due(now);
        self.end_if_due(now);
    }

    pub fn take_outputs(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.outputs)
    }

    /// When `Input::Wake` has work; at the latest in a second.
    pub fn wake_at(&self, now: Tick) -> Tick {
        let mut at = now + SECOND;
        let engine = self.engine.wake_at();
        let ready = (!self.settled).then_some(self.started + STARTUP_WAIT);
        let names = [self.names.wake_at(), self.members.wake_at(), self.peers.wake_at()];
        let others = [
            engine,
            ready,
            self.next_hold_end(now),
            self.acts.next_deadline(),
            self.outbox.wake_at().filter(|_| self.sends()),
            self.alerts_wake(),
        ];
        for tick in others.into_iter().chain(names).flatten() {
            at = at.min(tick);
        }
        at.max(now)
    }

    /// What reads see.
    pub fn world(&self, now: Now, read: impl FnOnce(&World<'_>)) {
        let snapshot = self.cell.load_full();
        read(&World {
            now,
            model: self.engine.model(),
            view: self.engine.view(),
            names: self.names.known(),
            membership: self.members.membership(),
            config: &self.config,
            sources: &self.sources,
            snapshot: &snapshot,
            status: &self.status,
            peers: self.peers.book(),
            deliveries: self.outbox.book(),
            queries: &self.queries,
            alerts: self.alerts.book(),
            drills: &self.drills,
        });
    }

    fn request(&mut self, now: Now, request: Request) {
        match request {
            Request::Command { actor, door, command, answer } => {
                self.door = door;
                self.command(now, actor, command, answer);
                self.door = "".into();
            }
            Request::Recorded(answer) => self.when_recorded(now, answer),
            Request::Read(read) => self.reads.push(read),
            Request::Peer(news) => self.peer_news(now, news),
            Request::Access { actor, door, body, answer } => {
                self.door = door;
                self.note_access(now, actor, body, answer);
                self.door = "".into();
            }
            Request::PeersRefused(count) => self.peers_refused(count),
            Request::PeerListens(at) => self.peer_listens(at),
            Request::Store(ask) => self.store_asked(now, ask),
            Request::Drain => self.status.draining = true,
            Request::Stop => {
                if self.stopping.is_none() {
                    self.stopping = Some(now.tick);
                    self.tell_all_resolvers(now);
                    self.draft(now, "stop", "".into(), "system".into(), serde_json::json!({}));
                }
            }
        }
    }

    fn sampled(&mut self, now: Now, sampled: &Sampled) {
        let Some(check) = self.engine.model().check_id(&sampled.check.name) else { return };
        // A sample of another target says nothing about this one.
        if self.checks[check.index()].probe != sampled.check.probe {
            return;
        }
        self.note_load(check, &sampled.verdict);
        self.step(now, Step::Verdict { check, verdict: sampled.verdict.clone() });
    }

    fn decide_readiness(&mut self, now: Now) {
        if self.settled {
            return;
        }
        let heard = |view: &CheckView, probe: &Probe| {
            view.last.is_some() || view.disabled || matches!(probe, Probe::Derived { .. } | Probe::Unavailable { .. })
        };
        let probed = self.engine.view().checks.iter().zip(&self.checks).all(|(v, c)| heard(v, &c.probe));
        if probed || now.tick >= self.started + STARTUP_WAIT {
            (self.settled, self.status.settled) = (true, true);
            if !self.status.ready {
                self.status.ready = true;
                self.batch.served = true;
                self.dirty = true;
            }
        }
    }
}
