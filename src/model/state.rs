//! The state of everything, as the engine derives it: what management reads and what the snapshot is built from.
//! Nothing here is decided; each word is computed from inputs that are kept apart (admin intent, probe, drain).

mod history;
mod overrides;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub use history::{History, PastSample, Percentiles, RECENT_MAX};
pub use overrides::{Override, OverrideKey, OverrideValue, Slot};

use super::condition::Truth;
use super::drill::Drill;
use super::event::{Outcome, TargetResult, Transition};
use super::id::{Name, VserverId};
use super::scenario::{Direction, Mode};
use super::time::{Now, Tick, Wall};

/// Everything, by the ids of the adopted model.
#[derive(Clone, Debug, Default)]
pub struct StateView {
    /// Grows with every change that the data plane or an operator could see.
    pub generation: u64,
    pub checks: Vec<CheckView>,
    /// What each check gave lately; shared with whoever still looks at an earlier state.
    pub histories: Vec<Arc<History>>,
    pub services: Vec<ServiceView>,
    pub vservers: Vec<VserverView>,
    pub scenarios: Vec<ScenarioView>,
    pub switches: Vec<bool>,
    pub time_windows: Vec<Truth>,
    /// By data centre, in the order of `Signal::ALL`.
    pub signals: Vec<[Truth; 5]>,
    pub pairs: Vec<PairView>,
    /// The terms that rules and DNS records read.
    pub watched: Vec<Truth>,
    /// What people did, durable.
    pub overrides: BTreeMap<OverrideKey, Override>,
    /// Failures that came together, in the order in which they did.
    pub correlated: Vec<Correlated>,
    /// The last drill, whether it runs or is over.
    pub drill: Option<Arc<Drill>>,
}

/// What fails everywhere at once: `correlated_failure`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correlated {
    pub kind: CorrelatedKind,
    /// Of a monitor, a check, a vserver; of an access list `DATACENTER.SIGNAL`.
    pub name: Name,
    pub since: Wall,
    /// Begins with `correlated_failure`.
    pub text: Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CorrelatedKind {
    Monitor,
    AccessList,
    Check,
    Vserver,
}

/// States of a service (NetScaler facts §1.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServiceState {
    /// No probe result yet, or its server's name does not resolve.
    #[default]
    Unknown,
    Up,
    Down,
    OutOfService,
    /// Going out of service: draining, probes pass.
    Trofs,
    /// Down when going out of service: draining, probes fail.
    TrofsDown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VserverState {
    Up,
    #[default]
    Down,
    OutOfService,
}

#[derive(Clone, Debug, Default)]
pub struct CheckView {
    /// With the force applied.
    pub state: Truth,
    /// Without it.
    pub real: Truth,
    pub forced: Option<bool>,
    pub since: Now,
    pub passes_in_row: u32,
    pub fails_in_row: u32,
    /// The last passed sample asked for a drain.
    pub trofs: bool,
    pub last: Option<Sample>,
    pub samples_total: u64,
    pub failed_total: u64,
    /// The average time to an answer, where it is learned (`Schedule::learn`) and enough was heard.
    pub learned: Option<Duration>,
    /// Neither probed nor counted: by the configuration, or by a person.
    pub disabled: bool,
    /// Enabled again, and nothing heard yet.
    pub joining: bool,
}

#[derive(Clone, Debug)]
pub struct Sample {
    pub at: Now,
    pub outcome: Outcome,
    pub latency: Duration,
    pub detail: Arc<str>,
    /// Of LOAD monitors.
    pub load: Option<u32>,
    /// Of checks with several targets, in their order.
    pub targets: Option<Arc<[TargetResult]>>,
}

#[derive(Clone, Debug, Default)]
pub struct ServiceView {
    pub state: ServiceState,
    /// The state without a force.
    pub real: ServiceState,
    pub since: Now,
    /// What the monitors say, with the force applied.
    pub probe: Truth,
    pub forced: Option<bool>,
    /// Not disabled: neither itself, nor its group, nor its server.
    pub enabled: bool,
    pub drain: Option<Drain>,
    /// Transactions or connections open, as last observed.
    pub active: u32,
}

/// Why a service is draining. With several levels draining at once: the one that ends first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drain {
    pub kind: DrainKind,
    pub started_at: Wall,
    /// When it ends at the latest; `None`: when the last transaction ends, or when the monitor says so.
    pub deadline: Option<Wall>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DrainKind {
    Timed,
    Graceful,
    /// Timed and graceful: whichever comes first.
    TimedGraceful,
    /// A monitor's TROFS answer; ends when the answer does.
    Monitor,
}

#[derive(Clone, Debug, Default)]
pub struct VserverView {
    pub state: VserverState,
    /// UP as soon as the vserver or one of its chain is UP.
    pub effective: VserverState,
    pub since: Now,
    /// Share of weights UP among services that are not out of service, percent.
    pub health_percent: u8,
    /// Where a new client without persistence goes now (limits by load apart).
    pub new_clients: NewClients,
    /// Out by `disable_primary_on_down` until someone enables it.
    pub held_down: bool,
    /// The split as a person has set it: percent by `Vserver::groups`. `None`: as the configuration has it.
    pub split: Option<Arc<[u8]>>,
}

/// A pair of data centres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairView {
    /// This box cannot reach the active site, which says that it is well: nothing moves.
    pub disputed: bool,
    /// Since it is, or is not.
    pub since: Now,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NewClients {
    /// Own UP services.
    Own,
    /// The first usable vserver of the chain.
    Backup(VserverId),
    #[default]
    Refused,
}

#[derive(Clone, Debug, Default)]
pub struct ScenarioView {
    pub active: bool,
    /// A guard that is running.
    pub attempt: Option<AttemptView>,
    /// 0: never committed.
    pub seq: u64,
    /// When the state was entered.
    pub since: Wall,
    /// By [`Direction`].
    pub modes: [ModeView; 2],
    pub stuck: bool,
    /// The deactivation condition is true and its mode keeps it from acting.
    pub ready_to_return: bool,
    /// Too many automatic commits: held in its state.
    pub oscillating: bool,
    /// The last attempt of its guard did not end in a commit, and the commit is still wanted.
    pub refused: Option<RefusedView>,
    /// A transition is in the making: a guard runs, a hold counts, or samples of a check begin to contradict its state
    /// where that could complete a group. Only kept up where some record has a `degraded_ttl`; else false.
    pub turning: bool,
    /// By [`Direction`], then in the order of the configuration.
    pub groups: [Vec<GroupView>; 2],
    /// The drill by which it is where it is.
    pub drill: Option<u64>,
    pub last_transition: Option<Arc<Transition>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptView {
    pub id: u64,
    pub direction: Direction,
    pub started_at: Wall,
    pub deadline: Tick,
    pub detail: Name,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedView {
    pub direction: Direction,
    /// Of the first of the attempts in a row.
    pub since: Wall,
    /// What the last one said.
    pub detail: Name,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModeView {
    pub mode: Mode,
    pub base: Mode,
    /// An `on` that has acted.
    pub spent: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupView {
    pub value: Truth,
    /// False after a forced commit until there is fresh evidence.
    pub armed: bool,
    pub terms: Vec<TermView>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermView {
    pub value: Truth,
    pub since: Wall,
    /// When a hold that is counting ends.
    pub hold_ends: Option<Tick>,
}

/// A scenario as it is saved.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedScenario {
    pub name: Name,
    pub active: bool,
    pub seq: u64,
    pub entered_at: Wall,
    /// The state was entered by a forced commit.
    pub forced: bool,
    /// Names of the groups of the direction leading out that are not armed.
    pub disarmed: Vec<Name>,
    /// Times of automatic commits within the oscillation window.
    pub automatic_commits: Vec<Wall>,
    /// Fingerprint of the definition that it ran under.
    pub definition: u64,
    pub last_transition: Option<Arc<Transition>>,
    /// The number of the last attempt of a guard that asks a person; later ones are higher, also after a restart.
    pub attempts: u64,
    /// The drill by which it is where it is.
    pub drill: Option<u64>,
    /// Kept for a scenario that the configuration no longer has.
    pub archived: bool,
}

/// What a start finds on disk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saved {
    pub scenarios: Vec<SavedScenario>,
    pub overrides: BTreeMap<OverrideKey, Override>,
    /// The last one.
    pub drill: Option<Arc<Drill>>,
}

// === impl CorrelatedKind ===

impl CorrelatedKind {
    pub fn word(self) -> &'static str {
        match self {
            CorrelatedKind::Monitor => "monitor",
            CorrelatedKind::AccessList => "datacenter",
            CorrelatedKind::Check => "check",
            CorrelatedKind::Vserver => "vserver",
        }
    }
}

// === impl ServiceState ===

impl ServiceState {
    pub const ALL: [ServiceState; 6] = [
        ServiceState::Unknown,
        ServiceState::Up,
        ServiceState::Down,
        ServiceState::OutOfService,
        ServiceState::Trofs,
        ServiceState::TrofsDown,
    ];

    /// The word of REST: `UP`, `DOWN`, `OFS`, `TROFS`, `TROFS_DOWN`, `UNKNOWN`.
    pub fn word(self) -> &'static str {
        match self {
            ServiceState::Unknown => "UNKNOWN",
            ServiceState::Up => "UP",
            ServiceState::Down => "DOWN",
            ServiceState::OutOfService => "OFS",
            ServiceState::Trofs => "TROFS",
            ServiceState::TrofsDown => "TROFS_DOWN",
        }
    }

    /// NetScaler's words in `show`.
    pub fn long_word(self) -> &'static str {
        match self {
            ServiceState::Unknown => "UNKNOWN",
            ServiceState::Up => "UP",
            ServiceState::Down => "DOWN",
            ServiceState::OutOfService => "OUT OF SERVICE",
            ServiceState::Trofs => "GOING OUT OF SERVICE",
            ServiceState::TrofsDown => "DOWN WHEN GOING OUT OF SERVICE",
        }
    }

    /// TROFS or TROFS_DOWN.
    pub fn is_draining(self) -> bool {
        matches!(self, ServiceState::Trofs | ServiceState::TrofsDown)
    }
}

// === impl VserverState ===

impl VserverState {
    /// The word of REST: `UP`, `DOWN`, `OFS`.
    pub fn word(self) -> &'static str {
        match self {
            VserverState::Up => "UP",
            VserverState::Down => "DOWN",
            VserverState::OutOfService => "OFS",
        }
    }

    pub fn long_word(self) -> &'static str {
        match self {
            VserverState::Up => "UP",
            VserverState::Down => "DOWN",
            VserverState::OutOfService => "OUT OF SERVICE",
        }
    }
}

// === impl ScenarioView ===

impl ScenarioView {
    /// `inactive`, `activating`, `active`, `deactivating`.
    pub fn word(&self) -> &'static str {
        match (self.active, &self.attempt) {
            (false, None) => "inactive",
            (false, Some(_)) => "activating",
            (true, None) => "active",
            (true, Some(_)) => "deactivating",
        }
    }

    /// The column *shown* of the table of modes; empty where both follow their conditions.
    pub fn shown(&self) -> &'static str {
        match (self.modes[0].mode, self.modes[1].mode) {
            (Mode::Auto, Mode::Auto) => "",
            (Mode::Auto, Mode::Off) => "manual out",
            (Mode::Auto, Mode::On) => "forced return",
            (Mode::On, Mode::Auto) => "forced",
            (Mode::On, Mode::Off) => "pinned",
            (Mode::Off, Mode::Auto) => "failover disabled",
            (Mode::Off, Mode::On) => "pinned",
            (Mode::Off, Mode::Off) => "maintenance",
            (Mode::On, Mode::On) => "stuck",
        }
    }
}
