//! Scenarios, triggers, queries, time windows and switches.

use std::time::Duration;

use super::check::{HttpExpect, Target};
use super::condition::Condition;
use super::id::{DatacenterId, Name, QueryId, TriggerId, WatchedId};
use super::syslog::Syslog;

/// A named state machine with two independent directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    pub name: Name,
    /// Shown beside every page, payload and alert.
    pub about: Name,
    pub initially_active: bool,
    /// Indexed by [`Direction`].
    pub directions: [DirectionRules; 2],
    pub oscillation: Oscillation,
    /// Floor between two automatic transitions; forced acts ignore it. Default 0.
    pub min_dwell: Duration,
    /// The former name; its saved state is carried over once.
    pub renamed_from: Option<Name>,
    /// The index in `Model::pairs` where the scenario was generated for a pair.
    pub pair: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    Activate,
    Deactivate,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DirectionRules {
    /// The mode of the configuration: `Auto` or `Off`. `On` is set at run time only.
    pub base_mode: Mode,
    pub when: Condition,
    /// Evaluated at the commit: not true suppresses the triggers. `None`: no gate.
    pub gate: Option<Condition>,
    /// Runs before the commit and can refuse it.
    pub guard: Option<Guard>,
    pub triggers: Vec<TriggerId>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Follows its condition.
    #[default]
    Auto,
    /// Forces the direction once, whatever the conditions say, and stays visible.
    On,
    /// No automatic firing.
    Off,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// What must pass; all of them.
    pub run: Vec<GuardStep>,
    /// Whether a person must approve.
    pub approve: bool,
    /// One try. Default 10 s.
    pub timeout: Duration,
    /// Further tries after the first. Default 2.
    pub retries: u32,
    /// Between tries, and before the next attempt after a refusal. Default 5 s.
    pub backoff: Duration,
    /// All tries together. Default 60 s.
    pub deadline: Duration,
    /// What "cannot tell" means at the deadline. No default: the author must choose.
    pub on_timeout: OnTimeout,
}

#[derive(Clone, Debug, PartialEq)]
pub enum GuardStep {
    Query(QueryId),
    /// A term that must be true when the guard runs.
    Check(super::condition::Term),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnTimeout {
    Block,
    Proceed,
}

/// More than `commits` automatic commits within `within` hold the scenario in its state (activation excepted).
/// `commits` 0 switches it off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Oscillation {
    pub commits: u32,
    pub within: Duration,
}

/// Acts on a transition. How its deliveries go: [`delivery`](super::delivery).
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    pub name: Name,
    pub kind: TriggerKind,
    pub retry: Retry,
    pub timeout: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TriggerKind {
    Http {
        uri: Name,
        method: Name,
        headers: Vec<(Name, Name)>,
        /// `None`: the payload itself.
        body: Option<Name>,
        expect: HttpExpect,
        secret: Option<Secret>,
    },
    Sql {
        database: Database,
        sql: Name,
        expect: Option<Name>,
    },
    Syslog {
        syslog: Syslog,
        /// `None`: a line that says what happened.
        body: Option<Name>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Retry {
    pub attempts: u32,
    pub first: Duration,
    pub most: Duration,
    pub max_age: Duration,
}

/// Reads and never acts: for guards.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub name: Name,
    pub kind: QueryKind,
    /// `<= 60`, `= 'YES'`.
    pub expect: Option<Name>,
    pub timeout: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub enum QueryKind {
    Sql { database: Database, sql: Name },
    Http { uri: Name, method: Name, headers: Vec<(Name, Name)>, expect: HttpExpect },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Database {
    /// `ORACLE`, `POSTGRESQL`, `MYSQL`.
    pub kind: Name,
    pub dsn: Name,
    pub user: Option<Name>,
    pub password: Option<Secret>,
}

/// Where a secret comes from. The value is never part of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Secret {
    Env(Name),
    File(Name),
}

/// `tw:NAME`: true inside the window.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeWindow {
    pub name: Name,
    /// Weekdays, Monday is bit 0. A window over midnight belongs to the day it begins on.
    pub days: u8,
    /// Spans of minutes of the day, `from < 1440`, `to <= 1440`; `to <= from` runs over midnight. Empty: the whole day.
    pub hours: Vec<(u16, u16)>,
    /// IANA name; default `UTC`.
    pub zone: Name,
    /// `YYYY-MM-DD` on which the window is closed.
    pub holidays: Vec<Name>,
    /// One-off windows `[from, to)` beside the weekly ones.
    pub once: Vec<(super::time::Wall, super::time::Wall)>,
}

/// `sw:NAME`: flipped by people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    pub name: Name,
    pub initial: bool,
    /// Generated for a data centre's maintenance.
    pub maintenance_of: Option<DatacenterId>,
}

/// A site, seen from here.
#[derive(Clone, Debug, PartialEq)]
pub struct Datacenter {
    pub name: Name,
    pub wan: Option<AccessList>,
    pub lan: Option<AccessList>,
    pub internet: Option<AccessList>,
    /// Clients in them are near to it; of several that hold a client, the one with the longest prefix counts.
    pub networks: Vec<super::net::Network>,
    /// The switch `NAME.maintenance`.
    pub maintenance: super::id::SwitchId,
}

/// Targets of one signal. The signal is true while at least `quorum` are up, false once that cannot be reached.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessList {
    pub targets: Vec<AccessTarget>,
    /// 1..=number of targets; default: a majority.
    pub quorum: u32,
    /// Schedule of all its targets.
    pub schedule: super::check::Schedule,
}

/// `tcp:192.0.2.1:443`, `ping:192.0.2.1`, `http://…`, `https://…`
#[derive(Clone, Debug, PartialEq)]
pub struct AccessTarget {
    pub text: Name,
    pub check: super::id::CheckId,
    pub target: Target,
}

/// Two data centres and the four scenarios between them. Keys as in the configuration; see the manual on pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub name: Name,
    pub active: DatacenterId,
    pub backup: DatacenterId,
    /// H. Default 15 min.
    pub return_hold: Duration,
    /// D as configured; `None`: derived from the signals used.
    pub loss_hold: Option<Duration>,
    pub return_after_maintenance: AfterMaintenance,
    /// Which signal says that a site can be reached: `wan` (default) or `lan`.
    pub access: super::condition::Signal,
    pub witness: Option<Name>,
    /// Pairs with the same backup whose active sites come before it in a chain: it takes over only while they are out,
    /// too.
    pub after: Vec<Name>,
    /// True together: the active site cannot be reached from the backup, and says itself that it is well. Empty
    /// without its word.
    pub disputed: Vec<WatchedId>,
    /// The scenario that stands at each place: generated (`PAIR/from-active` …) or one of the operator's own.
    pub scenarios: [PairScenario; 4],
}

#[derive(Clone, Debug, PartialEq)]
pub struct PairScenario {
    pub place: PairPlace,
    pub scenario: super::id::ScenarioId,
    /// An own scenario named by the operator stands in for the generated one.
    pub own: bool,
    /// Fields of the generated scenario that the configuration replaces, as TOML text.
    pub overrides: Option<Name>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PairPlace {
    FromActive,
    ToBackup,
    ToActive,
    FromBackup,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AfterMaintenance {
    #[default]
    Hold,
    Now,
}

// === impl Direction ===

impl Direction {
    pub const BOTH: [Direction; 2] = [Direction::Activate, Direction::Deactivate];

    pub fn index(self) -> usize {
        self as usize
    }

    pub fn opposite(self) -> Direction {
        match self {
            Direction::Activate => Direction::Deactivate,
            Direction::Deactivate => Direction::Activate,
        }
    }

    /// The direction that leads out of the state.
    pub fn out_of(active: bool) -> Direction {
        if active { Direction::Deactivate } else { Direction::Activate }
    }

    pub fn word(self) -> &'static str {
        match self {
            Direction::Activate => "activate",
            Direction::Deactivate => "deactivate",
        }
    }

    /// What a commit has done.
    pub fn participle(self) -> &'static str {
        match self {
            Direction::Activate => "activated",
            Direction::Deactivate => "deactivated",
        }
    }

    pub fn parse(word: &str) -> Option<Direction> {
        Direction::BOTH.into_iter().find(|d| d.word() == word)
    }
}

// === impl Mode ===

impl Mode {
    pub fn word(self) -> &'static str {
        match self {
            Mode::Auto => "auto",
            Mode::On => "on",
            Mode::Off => "off",
        }
    }

    pub fn parse(word: &str) -> Option<Mode> {
        [Mode::Auto, Mode::On, Mode::Off].into_iter().find(|m| m.word() == word)
    }
}

// === impl Trigger ===

impl Trigger {
    /// What a trigger's circuit breaker stands for: scheme, host and port, the database, or the log host.
    pub fn endpoint(&self) -> Name {
        match &self.kind {
            TriggerKind::Http { uri, .. } => {
                let scheme = uri.find("://").map_or(0, |at| at + 3);
                let end = uri[scheme..].find(['/', '?', '#']).map_or(uri.len(), |at| scheme + at);
                let start = uri[scheme..end].rfind('@').map_or(scheme, |at| scheme + at + 1);
                format!("{}{}", &uri[..scheme], &uri[start..end]).to_ascii_lowercase().into()
            }
            TriggerKind::Sql { database, .. } => {
                let host = database.dsn.rsplit('@').next().unwrap_or_default();
                format!("{} {host}", database.kind).into()
            }
            TriggerKind::Syslog { syslog, .. } => format!("syslog {}", syslog.to).into(),
        }
    }
}

// === impl PairPlace ===

impl PairPlace {
    pub const ALL: [PairPlace; 4] =
        [PairPlace::FromActive, PairPlace::ToBackup, PairPlace::ToActive, PairPlace::FromBackup];

    /// The key of its table, and the last part of the generated name.
    pub fn word(self) -> &'static str {
        match self {
            PairPlace::FromActive => "from-active",
            PairPlace::ToBackup => "to-backup",
            PairPlace::ToActive => "to-active",
            PairPlace::FromBackup => "from-backup",
        }
    }
}
