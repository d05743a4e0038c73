//! Event scripts: what happens to an appliance, and what is expected of it.
//!
//! Text, one step a line; `#` begins a comment; a name with spaces stands in double quotes. Before the first step a
//! script may say what it is for:
//!
//! | line | means |
//! |---|---|
//! | `config FILE` | the configuration, relative to the script; without it the script's own name with `.toml`, else the only `*.toml` in its folder |
//! | `start 2026-01-05T10:00:00Z` | when the walk begins; without it that Monday morning |
//! | `start unknown` | no check has a result yet, and none is probed until a step says so |
//!
//! A step is an act or an expectation with, before it, its moment: `at 10s` counts from the start, `after 5s` from the
//! step before, nothing is the same moment. Time only runs forward. At the start every check passes, and is probed at
//! its own interval, with all its own rules (`rise`, `fall`, `down_time`, …).
//!
//! | act | means |
//! |---|---|
//! | `fail CHECK`, `pass CHECK`, `trofs CHECK` | a sample now, and from now on every sample like it (also written `keep failing CHECK`, `keep passing CHECK`) |
//! | `fail CHECK once`, `fail CHECK 3 times` | that many samples at the check's interval, then as before |
//! | … `latency 20ms` | and it took so long; a passed sample takes 10 ms |
//! | `disable`, `enable` `service\|server\|servicegroup\|vserver NAME` `[delay 30s] [graceful]` | administration |
//! | `active SERVICE N` | open transactions |
//! | `set scenario NAME [activate MODE] [deactivate MODE] [override]`, `return scenario NAME` | modes |
//! | `drill start SCENARIO for 60m` `[notify TRIGGER] [stop-on CONDITION] [override]`, `drill stop [override]` | a drill, and its early end |
//! | `switch NAME on\|off` | |
//! | `force check\|service NAME up\|down\|none` | |
//! | … `reason TEXT`, `expires 10m` | behind any act of a person |
//! | `dns NAME = 192.0.2.1 192.0.2.2` | what DNS answers about the name of a server from now on; SRV records as `"PRIORITY WEIGHT ADDRESS:PORT"` |
//! | `peer SITE says dc:NAME.wan false` | what a box of another site sees, told over the peer link; also `true`, `unknown` |
//! | `peer SITE silent`, `peer SITE speaks` | it has not been heard for three intervals, or is heard again; at the start all is well there |
//! | `dns NAME fails` | it does not answer any more |
//! | `guard SCENARIO pass\|refuse\|cannot-tell` | what queries and approvals say from now on; `pass` until then |
//! | `restart [down 5s]` | killed, and started from what was saved |
//! | `reload FILE` | another configuration, relative to the script |
//! | `wait 10s` | |
//!
//! For CHECK may stand a service (all its monitors), a service group, a server (those of all its services), or a signal
//! of a data centre (`dc:dc-a.wan`: all its targets).
//!
//! | expectation | |
//! |---|---|
//! | `expect sc:NAME active` | also `inactive`, `activating`, `deactivating`, `stuck`, `ready_to_return`, `oscillating`, `seq 3`, `activate on`, `deactivate auto`; `not` before a word; several words must all hold |
//! | `expect svc:NAME UP` | `DOWN`, `OFS`, `TROFS`, `TROFS_DOWN`, `UNKNOWN` |
//! | `expect vs:NAME UP` | `DOWN`, `OFS`; `effective UP`; `new clients own`, `new clients VSERVER`, `new clients refused`; `health 50` |
//! | `expect check NAME up` | `down`, `unknown` |
//! | `expect dc:NAME.wan true`, `expect dc:NAME.wan@SITE true`, `expect tw:NAME true`, `expect sw:NAME on` | also `false`, `unknown` |
//! | `expect www A = 192.0.2.1 192.0.2.2` | the answer, in any order; the name relative to the only zone, or with a final dot; `from 10.1.2.3` before `=` |
//! | `expect www A is NODATA` | `NXDOMAIN`, `SERVFAIL`, `REFUSED` |
//! | `expect trigger NAME once` | `twice`, `3 times`, `never`: how often it went off since the start; `suppressed once`: held back by its gate |
//! | `expect journal TEXT` | something was recorded whose line in the timeline holds this |
//!
//! `within 2s expect …` waits until it is so, at most that long; `for 10m expect …` wants it at every moment of that time.

mod act;
mod expect;
mod lex;
mod names;
mod parse;

use std::net::IpAddr;
use std::time::Duration;

use crate::model::condition::{Signal, Truth};
use crate::model::event::GuardVerdict;
use crate::model::id::{Kind, Name};
use crate::model::lookup::Found;
use crate::model::scenario::{Direction, Mode};
use crate::model::state::{ServiceState, VserverState};
use crate::model::time::Wall;
use crate::model::zone::RecordType;

pub(crate) use names::question;
pub use names::{checks_of, problem};
pub use parse::parse;

/// Monday 2026-01-05T10:00:00Z.
pub const DEFAULT_START: Wall = Wall(1_767_607_200_000_000);

#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// As it is reported.
    pub path: Name,
    /// As written, relative to the script.
    pub config: Option<String>,
    pub start: Wall,
    /// No check is probed until a step says so.
    pub unknown: bool,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// 1-based.
    pub line: u32,
    pub when: When,
    pub action: Action,
    /// The step without its moment, as written.
    pub text: Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// The moment of the step before.
    Same,
    /// Since the start.
    At(Duration),
    /// Since the step before.
    After(Duration),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Sample {
        target: Name,
        sample: Sample,
        times: Option<u32>,
    },
    Active {
        service: Name,
        active: u32,
    },
    Act {
        act: Act,
        reason: Option<Name>,
        expires: Option<Duration>,
    },
    Guard {
        scenario: Name,
        verdict: GuardVerdict,
    },
    /// `None`: no answer.
    Dns {
        name: Name,
        answer: Option<Vec<Found>>,
    },
    /// What a box of another site sees.
    PeerSays {
        site: Name,
        datacenter: Name,
        signal: Signal,
        value: Truth,
    },
    PeerSilent {
        site: Name,
        silent: bool,
    },
    Restart {
        down: Duration,
    },
    Reload {
        file: String,
    },
    Wait(Duration),
    Expect {
        expectation: Expectation,
        span: Span,
    },
}

/// How a check answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    pub kind: SampleKind,
    /// `None`: as before.
    pub latency: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    Pass,
    Fail,
    Trofs,
}

/// What a person does.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    Disable { kind: Kind, name: Name, delay: Option<Duration>, graceful: bool },
    Enable { kind: Kind, name: Name },
    Modes { scenario: Name, activate: Option<Mode>, deactivate: Option<Mode>, override_guard: bool },
    StartDrill { scenario: Name, lasts: Duration, notify: Vec<Name>, stop_on: Vec<Name>, override_guard: bool },
    StopDrill { override_guard: bool },
    Switch { name: Name, value: bool },
    Force { kind: Kind, name: Name, up: Option<bool> },
}

/// When an expectation must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    Now,
    /// At some moment of this time, which the walk waits for.
    Within(Duration),
    /// At every moment of this time.
    For(Duration),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Expectation {
    Scenario {
        name: Name,
        facts: Vec<(bool, ScenarioFact)>,
    },
    Service {
        name: Name,
        state: ServiceState,
    },
    Vserver {
        name: Name,
        facts: Vec<VserverFact>,
    },
    Check {
        name: Name,
        state: Truth,
    },
    /// `observer`: as another site tells it.
    Signal {
        datacenter: Name,
        signal: Signal,
        observer: Option<Name>,
        value: Truth,
    },
    TimeWindow {
        name: Name,
        value: Truth,
    },
    Switch {
        name: Name,
        value: bool,
    },
    Dns {
        name: String,
        rtype: RecordType,
        client: IpAddr,
        answer: Answer,
    },
    Trigger {
        name: Name,
        suppressed: bool,
        times: u32,
    },
    Journal {
        text: String,
    },
}

/// The flag beside it: `not`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScenarioFact {
    /// `inactive`, `activating`, `active`, `deactivating`.
    State(&'static str),
    Stuck,
    ReadyToReturn,
    Oscillating,
    Seq(u64),
    Mode(Direction, Mode),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VserverFact {
    State(VserverState),
    Effective(VserverState),
    /// `own`, `refused`, or the name of a backup.
    NewClients(Name),
    Health(u8),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// RDATA in presentation format, sorted.
    Records(Vec<String>),
    /// `NODATA`, `NXDOMAIN`, `SERVFAIL`, `REFUSED`.
    Code(&'static str),
}

/// What is wrong with a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    pub line: u32,
    pub what: String,
}

// === impl Script ===

impl Script {
    /// `FILE:LINE: what`.
    pub fn place(&self, wrong: &Wrong) -> String {
        format!("{}:{}: {}", self.path, wrong.line, wrong.what)
    }
}
