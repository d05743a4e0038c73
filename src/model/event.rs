//! What comes into the engine and what it reports: verdicts, observations, acts of people, and records of what happened.

mod transition;
mod verdict;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::alert::AlertRecord;
use super::balancing::{Shares, shares_text};
use super::condition::Truth;
use super::drill::Drill;
use super::id::{CheckId, GroupId, Name, ObjectRef, ScenarioId, ServerId, ServiceId, SwitchId, VserverId};
use super::network::AddressState;
use super::scenario::{Direction, Mode};
use super::time::Wall;
use super::zone::{DnsName, ZoneNews};

pub use transition::{Cause, GuardOutcome, Transition, TransitionGroup, TransitionTrigger};
pub use verdict::{Outcome, TargetResult, Verdict};

/// What made passive health eject a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failures {
    /// So many in a row: connections refused, not answered, or reset before an answer.
    Connects(u32),
    /// So many in a row: answers 5xx.
    Answers(u32),
}

/// What the data plane tells the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// Transactions (HTTP) or connections (TCP) open on a service right now. Fed before a graceful disable, and while
    /// anything drains.
    Active { service: ServiceId, active: u32 },
    /// Whether the name of a service's server resolves (`false`: UNKNOWN). Fed when that changes.
    Resolved { service: ServiceId, resolved: bool },
    /// Passive health has ejected a service, by name: the data plane may be a model behind. `times`: in a row.
    Ejected { service: Name, cause: Failures, lasts: Duration, times: u32 },
    /// A zone that comes from a primary. No hint: it waits for its place in the queue.
    Zone { origin: DnsName, news: ZoneNews },
    /// How an address stands that is put on the machine's interfaces; fed when that is, or was, trouble. `vserver`: whose
    /// it is; `None`: a source address or an interface's own.
    Address { vserver: Option<Name>, ip: IpAddr, state: AddressState },
}

/// Who did something, why, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// `admin:nsroot`, `admin:local` (no users configured), `uid:0` (Unix socket), `system`.
    pub actor: Name,
    pub reason: Option<Name>,
    /// When it ends by itself.
    pub expires: Option<Wall>,
}

/// An act of a person on the running appliance: state, not configuration, durable at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdminIntent {
    /// `delay` zero is the same as none. A second disable replaces the deadline of the first.
    Disable {
        target: AdminTarget,
        delay: Option<Duration>,
        graceful: bool,
    },
    Enable {
        target: AdminTarget,
    },
    SetModes {
        scenario: ScenarioId,
        activate: Option<Mode>,
        deactivate: Option<Mode>,
        override_guard: bool,
    },
    SetSwitch {
        switch: SwitchId,
        value: bool,
    },
    /// `None` ends the force.
    ForceCheck {
        check: CheckId,
        up: Option<bool>,
    },
    ForceService {
        service: ServiceId,
        up: Option<bool>,
    },
    /// A person lets the attempt of a guard go on, or ends it.
    DecideGuard {
        scenario: ScenarioId,
        attempt: u64,
        approve: bool,
    },
    /// Shares in the order of the vserver's groups; `None`: those of the configuration again.
    SetSplit {
        vserver: VserverId,
        shares: Option<Shares>,
    },
    /// Activates a scenario until `ends_at`, as a drill. Only where none runs.
    StartDrill {
        scenario: ScenarioId,
        /// As asked for.
        lasts: Duration,
        ends_at: Wall,
        notify: Vec<Name>,
        stop_on: Vec<Name>,
        override_guard: bool,
    },
    /// Ends the drill that runs.
    StopDrill {
        /// The guard of the return is not asked.
        override_guard: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdminTarget {
    Service(ServiceId),
    Group(GroupId),
    Server(ServerId),
    /// No delay, not graceful.
    Vserver(VserverId),
    /// A monitor at work on a service (`disable lb monitor SERVICE MONITOR`). No delay, not graceful.
    Check(CheckId),
}

/// The result of a guard's tries, fed by the shell that ran them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardResult {
    pub scenario: ScenarioId,
    pub attempt: u64,
    pub verdict: GuardVerdict,
    pub detail: Arc<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GuardVerdict {
    Pass,
    Refuse,
    /// Time-out, connection, database error, wrong shape, a kind that this build cannot run.
    CannotTell,
}

/// Something that happened, in the order it happened. The control layer writes it to the journal and sends it as an
/// event.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A scenario committed.
    Transition(Arc<Transition>),
    /// A person changed something.
    Act { object: ObjectRef, act: Act, change: Change },
    /// An override ended by itself: its expiry passed, a drain finished, a spent `on` was released.
    Ended { object: ObjectRef, what: Name, why: Name },
    /// A service or vserver changed its state. `real` is the state without forces. `cause`, of a service: `probe`,
    /// `admin`, `drained` (a drain has come to its end), `forced`; of a vserver: `own services`, `admin`, `chain` (its
    /// effective state).
    State { object: ObjectRef, from: Name, to: Name, real: Name, cause: Name },
    /// A board row that a condition uses changed; enough to replay every commit.
    Board(BoardRecord),
    /// A guard's attempt ended without a commit.
    Attempt { scenario: Name, direction: Direction, attempt: u64, outcome: Name, detail: Name },
    /// Something a person should look at: both modes `on`, oscillation, …
    Warning { object: ObjectRef, text: Name },
    /// Passive health keeps new clients from a service. `times`: 1 for the first in a row.
    Ejected { service: Name, cause: Failures, until: Wall, times: u32 },
    /// An attempt of a trigger ended, or its delivery was given up.
    Delivery(Arc<DeliveryRecord>),
    /// An alert was raised, told again, or resolved.
    Alert(Arc<AlertRecord>),
    /// A zone that comes from a primary. `what`: `transferred`, `confirmed` (it had expired), `expired`, `failed`.
    Zone { zone: Name, what: Name, serial: Option<u32>, detail: Name },
    /// An address of this machine is in trouble, or no longer. `what`: `present`, `waiting`, `conflict`, `contested`,
    /// `refused`. `vserver`: that listens there.
    Address { vserver: Option<Name>, address: Name, what: Name, detail: Name },
    /// A drill has come to another phase; with the last one this is its report.
    Drill(Arc<Drill>),
}

/// How a delivery of a trigger goes, as journal and events tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRecord {
    pub id: u64,
    pub key: Name,
    pub trigger: Name,
    /// Empty for a test and for an alert.
    pub scenario: Name,
    /// The definition of the alert that it tells of.
    pub alert: Option<Name>,
    pub seq: u64,
    pub direction: Direction,
    /// `retrying`, `delivered` or `dead`.
    pub status: Name,
    pub attempts: u32,
    pub error: Option<Name>,
}

/// What an act changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Disabled {
        deadline: Option<Wall>,
        graceful: bool,
    },
    Enabled,
    Modes {
        activate: Option<Mode>,
        deactivate: Option<Mode>,
        override_guard: bool,
    },
    Switch(bool),
    Forced(Option<bool>),
    /// Of the attempt of a guard.
    Decided {
        attempt: u64,
        approve: bool,
    },
    /// `None`: as the configuration has it.
    Split(Option<Shares>),
    DrillStarted {
        id: u64,
        lasts: Duration,
        ends_at: Wall,
        notify: Vec<Name>,
        stop_on: Vec<Name>,
        override_guard: bool,
    },
    DrillStopped {
        id: u64,
        override_guard: bool,
    },
}

/// One row of the board. Ages are relative to the record, so that they mean the same in another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardRecord {
    /// The predicate as a term without `!` and without `for`: `api-a`, `api-a{fails:1}`, `vs:web`, `tw:office`.
    pub row: Name,
    pub value: Truth,
    /// Rows of checks only: time since the later of the last failed sample and the first sample after unknown.
    pub clean_for: Option<Duration>,
}

// === impl Change ===

/// As a log line says it: `disabled, out at 2026-11-29T22:50:17.000Z`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Disabled { deadline: None, graceful: false } => f.write_str("disabled"),
            Change::Disabled { deadline: None, graceful: true } => f.write_str("disabled gracefully"),
            Change::Disabled { deadline: Some(at), graceful: false } => write!(f, "disabled, out at {at}"),
            Change::Disabled { deadline: Some(at), graceful: true } => {
                write!(f, "disabled gracefully, out at {at} at the latest")
            }
            Change::Enabled => f.write_str("enabled"),
            Change::Modes { activate, deactivate, override_guard } => {
                let modes = [(Direction::Activate, activate), (Direction::Deactivate, deactivate)];
                let set = modes.iter().filter_map(|(direction, mode)| Some((direction.word(), mode.as_ref()?.word())));
                for (n, (direction, mode)) in set.enumerate() {
                    write!(f, "{}{direction} {mode}", if n == 0 { "" } else { ", " })?;
                }
                if *override_guard { f.write_str(", past the guard") } else { Ok(()) }
            }
            Change::Switch(value) => write!(f, "set to {value}"),
            Change::Forced(Some(true)) => f.write_str("forced up"),
            Change::Forced(Some(false)) => f.write_str("forced down"),
            Change::Forced(None) => f.write_str("no longer forced"),
            Change::Decided { attempt, approve: true } => write!(f, "attempt {attempt} of the guard approved"),
            Change::Decided { attempt, approve: false } => write!(f, "attempt {attempt} of the guard refused"),
            Change::DrillStarted { id, ends_at, override_guard, .. } => {
                let guard = if *override_guard { ", past the guard" } else { "" };
                write!(f, "drill {id} begins, until {ends_at}{guard}")
            }
            Change::DrillStopped { id, override_guard: false } => write!(f, "drill {id} stopped"),
            Change::DrillStopped { id, override_guard: true } => write!(f, "drill {id} stopped, past the guard"),
            Change::Split(None) => f.write_str("split as configured"),
            Change::Split(Some(shares)) => write!(f, "split {}", shares_text(shares.iter().map(|(g, s)| (g, *s)))),
        }
    }
}

// === impl Failures ===

impl Failures {
    /// `connect_failures`, `server_errors`: the key of `passive` that counts them.
    pub fn word(self) -> &'static str {
        match self {
            Failures::Connects(_) => "connect_failures",
            Failures::Answers(_) => "server_errors",
        }
    }

    pub fn count(self) -> u32 {
        match self {
            Failures::Connects(count) | Failures::Answers(count) => count,
        }
    }
}

/// `5 failed connects in a row`
impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failures::Connects(count) => write!(f, "{count} failed connects in a row"),
            Failures::Answers(count) => write!(f, "{count} answers 5xx in a row"),
        }
    }
}

// === impl Act ===

impl Act {
    /// `admin:<user>`: how an act stands in the causes of what follows from it.
    pub fn as_cause(&self) -> Name {
        admin_cause(&self.actor)
    }
}

/// `admin:<user>` of an actor, however they came in.
pub fn admin_cause(actor: &Name) -> Name {
    if actor.starts_with("admin:") { Name::clone(actor) } else { format!("admin:{actor}").into() }
}

#[cfg(test)]
mod tests;
