//! The one writer's thread: waits for whatever comes first, hands everything that is there to the [`Core`], and carries
//! out what it asks for. Nothing is decided here.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, watch};

use super::clock::Clock;
use super::clock_sync;
use super::core::{Answer, ConfigOutcome, Core, FileAccess, Input, Lookups, Output, Setup, ZoneBuilt};
use super::courier::{Courier, Returned};
use super::disk::{Disk, Report};
use super::resolve::Resolver;
use super::store::{Found, Store};
use super::{Event, Handle, Request, ship, trace};
use crate::config::Loaded;
use crate::model::event::Observation;
use crate::probe::inline::Answers;
use crate::probe::{Job, Runner, Sampled, Surroundings, Traffic};
use crate::snapshot::Cell;
use crate::snapshot::live::{Listening, ServiceLive};

/// Commands and reads that may wait; callers beyond it wait themselves.
const REQUESTS_MOST: usize = 1_024;
/// Samples that may wait; beyond it the prober holds back.
const SAMPLES_MOST: usize = 4_096;
/// Hints of the data plane that may wait; beyond it they are lost, which is what hints are for.
const OBSERVATIONS_MOST: usize = 4_096;
/// Outcomes of errands that may wait; beyond it the courier does.
const RETURNED_MOST: usize = 256;
/// Reports of the disk that may wait; beyond it the disk does.
const REPORTS_MOST: usize = 64;
/// Events that a slow listener may be behind.
const EVENTS_MOST: usize = 4_096;
/// Inputs of one kind in one turn, so that a flood of one does not starve the others.
const TURN_MOST: usize = 2_048;

/// How long the answer to a change of the configuration waits for its listeners.
const LISTENERS_PATIENCE: Duration = Duration::from_secs(2);

/// What a reactor begins with.
pub struct Begin {
    pub loaded: Loaded,
    pub store: Box<dyn Store>,
    pub found: Found,
    /// FILE.
    pub path: Option<std::path::PathBuf>,
    /// The state directory; `None`: nothing is kept.
    pub state: Option<std::path::PathBuf>,
    /// `--set PATH=VALUE`
    pub overrides: Vec<(String, String)>,
    pub files: FileAccess,
    pub clock: Clock,
    /// Probes under way at once.
    pub probes: usize,
}

/// A running reactor.
pub struct Reactor {
    pub handle: Handle,
    pub cell: Arc<Cell>,
    /// Where the data plane reports.
    pub observations: mpsc::Sender<Observation>,
    thread: JoinHandle<()>,
    ended: watch::Receiver<bool>,
}

/// What the loop waits for.
struct Inputs {
    requests: mpsc::Receiver<Request>,
    samples: mpsc::Receiver<Sampled>,
    observations: mpsc::Receiver<Observation>,
    reports: mpsc::Receiver<Report>,
    configs: mpsc::Receiver<ConfigOutcome>,
    zones: mpsc::Receiver<Box<ZoneBuilt>>,
    lookups: mpsc::Receiver<Lookups>,
    returned: mpsc::Receiver<Returned>,
    clock_synced: mpsc::Receiver<Option<bool>>,
}

/// What the loop acts on.
struct Shell {
    clock: Clock,
    cell: Arc<Cell>,
    runner: Runner,
    disk: Disk,
    resolver: Resolver,
    courier: Courier,
    configs: mpsc::Sender<ConfigOutcome>,
    zones: mpsc::Sender<Box<ZoneBuilt>>,
}

// === impl Reactor ===

impl Reactor {
    /// Restores, adopts and publishes before it returns: the first snapshot is there. Errors: the machine refuses a
    /// thread.
    pub fn start(begin: Begin) -> io::Result<Reactor> {
        let Begin { loaded, store, found, path, state, overrides, files, clock, probes } = begin;
        let (requests, request_queue) = mpsc::channel(REQUESTS_MOST);
        let (samples, sample_queue) = mpsc::channel(SAMPLES_MOST);
        let (observations, observation_queue) = mpsc::channel(OBSERVATIONS_MOST);
        let (report, report_queue) = mpsc::channel(REPORTS_MOST);
        let (configs, config_queue) = mpsc::channel(1);
        let (zones, zone_queue) = mpsc::channel(16);
        let (lookups, lookup_queue) = mpsc::channel(16);
        let (returned, returned_queue) = mpsc::channel(RETURNED_MOST);
        let (tell_synced, clock_synced) = mpsc::channel(1);
        let events = broadcast::Sender::<Arc<Event>>::new(EVENTS_MOST);
        let journal = store.reader();

        let folder = path.as_deref().and_then(std::path::Path::parent).map(std::path::Path::to_owned);
        let surroundings = Surroundings { folder: folder.unwrap_or_default() };
        let journal_head = found.journal_head;
        let setup = Setup { loaded, found, path, state, overrides, files, events: events.clone() };
        let core = Core::start(clock.now(), setup);
        let cell = Arc::clone(core.cell());
        let (journal_head, head) = watch::channel(journal_head);
        ship::start(ship::Setup {
            cell: Arc::clone(&cell),
            journal: store.reader(),
            places: store.places(),
            head: head.clone(),
            surroundings: surroundings.clone(),
            clock,
        })?;
        trace::start(Arc::clone(&cell), surroundings.clone(), head)?;
        let disk = Disk::start(store, move |what| {
            if let Report::Written { journal_head: newest, .. } = &what {
                journal_head.send_replace(*newest);
            }
            let _ = report.blocking_send(what);
        })?;
        let courier = Courier::start(surroundings.clone(), clock, returned)?;
        let runner = Runner::start_in(surroundings, samples, probes)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().thread_name("bascule-work").build()?;
        let resolver = Resolver::new(lookups);
        let shell = Shell { clock, cell: Arc::clone(&cell), runner, disk, resolver, courier, configs, zones };
        let inputs = Inputs {
            requests: request_queue,
            samples: sample_queue,
            observations: observation_queue,
            reports: report_queue,
            configs: config_queue,
            zones: zone_queue,
            lookups: lookup_queue,
            returned: returned_queue,
            clock_synced,
        };
        let (end, ended) = watch::channel(false);
        let thread = std::thread::Builder::new().name("bascule-reactor".to_owned()).spawn(move || {
            // Dropped with the thread, also where it panics: whoever waits for the end hears of it.
            let _end = SendOnDrop(end);
            runtime.block_on(async {
                tokio::spawn(clock_sync::watch(tell_synced));
                run(core, inputs, shell).await;
            });
            // A look-up that hangs must not hold up the end of the process.
            runtime.shutdown_background();
        })?;
        let handle = Handle { requests, cell: Arc::clone(&cell), events, journal };
        Ok(Reactor { handle, cell, observations, thread, ended })
    }

    /// Completes when the reactor has ended, for whatever reason.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut ended = self.ended.clone();
        async move {
            let _ = ended.wait_for(|ended| *ended).await;
        }
    }

    /// Writes what is left and ends; at most about two seconds.
    pub async fn stop(self) {
        let _ = self.handle.requests.send(Request::Stop).await;
        self.ended().await;
        let _ = tokio::task::spawn_blocking(move || self.thread.join()).await;
    }
}

/// The answers of a service, as HTTP-INLINE asks for them.
#[derive(Debug)]
struct UserTraffic(Arc<ServiceLive>);

impl Traffic for UserTraffic {
    fn since_last(&self) -> Answers {
        let (accepted, refused, last_refused) = self.0.answers.take();
        Answers { accepted, refused, last_refused }
    }
}

struct SendOnDrop(watch::Sender<bool>);

impl Drop for SendOnDrop {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

async fn run(mut core: Core, mut inputs: Inputs, shell: Shell) {
    loop {
        for output in core.take_outputs() {
            if matches!(output, Output::Stopped) {
                shell.end();
                return;
            }
            shell.carry_out(output);
        }
        let wake = shell.clock.instant(core.wake_at(shell.clock.now().tick));
        let input = inputs.next(wake).await;
        core.handle(shell.clock.now(), input);
        inputs.drain(|input| core.handle(shell.clock.now(), input));
        core.set_punctuality(shell.runner.late_total(), shell.runner.lateness());
        core.settle(shell.clock.now());
    }
}

// === impl Inputs ===

impl Inputs {
    /// The first that comes; `Wake` at the latest.
    async fn next(&mut self, wake: std::time::Instant) -> Input {
        tokio::select! {
            Some(report) = self.reports.recv() => Input::Disk(report),
            Some(request) = self.requests.recv() => Input::Request(request),
            Some(sampled) = self.samples.recv() => Input::Sampled(sampled),
            Some(observation) = self.observations.recv() => Input::Observed(observation),
            Some(outcome) = self.configs.recv() => Input::Config(outcome),
            Some(built) = self.zones.recv() => Input::Zone(built),
            Some(lookups) = self.lookups.recv() => Input::Lookups(lookups),
            Some(returned) = self.returned.recv() => Input::Returned(returned),
            Some(synced) = self.clock_synced.recv() => Input::ClockSynced(synced),
            () = tokio::time::sleep_until(wake.into()) => Input::Wake,
        }
    }

    /// Everything else that is there already. Verdicts and states come before what people ask, so that they see them.
    fn drain(&mut self, mut take: impl FnMut(Input)) {
        fn some<T>(mut next: impl FnMut() -> Option<T>, mut take: impl FnMut(T)) {
            for _ in 0..TURN_MOST {
                match next() {
                    Some(value) => take(value),
                    None => return,
                }
            }
        }
        some(|| self.reports.try_recv().ok(), |v| take(Input::Disk(v)));
        some(|| self.observations.try_recv().ok(), |v| take(Input::Observed(v)));
        some(|| self.samples.try_recv().ok(), |v| take(Input::Sampled(v)));
        some(|| self.lookups.try_recv().ok(), |v| take(Input::Lookups(v)));
        some(|| self.returned.try_recv().ok(), |v| take(Input::Returned(v)));
        some(|| self.zones.try_recv().ok(), |v| take(Input::Zone(v)));
        some(|| self.configs.try_recv().ok(), |v| take(Input::Config(v)));
        some(|| self.requests.try_recv().ok(), |v| take(Input::Request(v)));
    }
}

// === impl Shell ===

impl Shell {
    fn carry_out(&self, output: Output) {
        match output {
            Output::Probe { check, due, traffic, way } => {
                let traffic = traffic.map(|live| Arc::new(UserTraffic(live)) as Arc<dyn Traffic>);
                self.runner.schedule(Job { check, due: self.clock.instant(due), traffic, way });
            }
            Output::Checks(names) => {
                let names: std::collections::HashSet<_> = names.into_iter().collect();
                self.runner.retain(|name| names.contains(name));
            }
            Output::Disk(order) => self.disk.send(order),
            Output::Answer(answer) => self.answer(answer),
            Output::Config(job) => {
                let outcomes = self.configs.clone();
                tokio::task::spawn_blocking(move || {
                    let run = std::panic::AssertUnwindSafe(|| job.run());
                    let outcome = std::panic::catch_unwind(run).unwrap_or_else(|_| ConfigOutcome::failed());
                    let _ = outcomes.blocking_send(outcome);
                });
            }
            Output::Zone(job) => {
                let built = self.zones.clone();
                tokio::task::spawn_blocking(move || {
                    let _ = built.blocking_send(job.run());
                });
            }
            Output::Rehearse(rehearsal) => {
                tokio::task::spawn_blocking(move || rehearsal.run());
            }
            Output::Ask(questions) => self.resolver.ask(questions),
            Output::NameServers(servers) => self.resolver.set_name_servers(servers),
            Output::Errand(errand) => self.courier.send(errand),
            Output::Stopped => {}
        }
    }

    fn answer(&self, answer: Answer) {
        let Answer { to, mut result, after_listeners_of } = answer;
        let Some(generation) = after_listeners_of else {
            // The caller may have gone.
            let _ = to.send(result);
            return;
        };
        let cell = Arc::clone(&self.cell);
        tokio::spawn(async move {
            let bound = tokio::time::timeout(LISTENERS_PATIENCE, cell.reconciled(generation)).await;
            if let Ok(done) = &mut result {
                done.warnings.extend(not_listening(&cell));
                if bound.is_err() {
                    done.warnings.push("listeners are still being bound".to_owned());
                }
            }
            let _ = to.send(result);
        });
    }

    fn end(self) {
        self.runner.stop();
        self.disk.stop();
    }
}

/// A line for each VIP that could not be bound.
fn not_listening(cell: &Cell) -> Vec<String> {
    let snapshot = cell.load_full();
    let vservers = snapshot.model.vservers.iter().zip(&snapshot.vservers);
    vservers
        .filter_map(|(vserver, entry)| match &*entry.live.listen.lock() {
            Listening::Failed { error } => Some(format!("vserver {} does not listen: {error}", vserver.name)),
            Listening::None | Listening::Bound { .. } => None,
        })
        .collect()
}
