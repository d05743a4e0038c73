//! The vocabulary of all front ends: commands by name, and why one may be refused.

use std::time::Duration;

use super::preview::Preview;
use crate::config::Problem;
use crate::model::balancing::Shares;
use crate::model::id::{Name, ObjectRef};
use crate::model::scenario::Mode;
use crate::model::time::Wall;

/// What a front end may ask for. Objects by name: ids belong to one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Disable {
        object: ObjectRef,
        delay: Option<Duration>,
        graceful: bool,
        note: Note,
        /// Answer when it is out of service; at most this long.
        wait: Option<Duration>,
    },
    Enable {
        object: ObjectRef,
        note: Note,
    },
    SetModes {
        scenario: Name,
        activate: Option<Mode>,
        deactivate: Option<Mode>,
        override_guard: bool,
        /// Refuse where the state has moved on since the caller looked.
        if_seq: Option<u64>,
        note: Note,
    },
    SetSwitch {
        switch: Name,
        value: bool,
        note: Note,
    },
    /// A check or a service; `None` ends the force.
    Force {
        object: ObjectRef,
        up: Option<bool>,
        note: Note,
    },
    /// Moves the shares of a vserver's groups; `None`: as the configuration has them.
    SetSplit {
        vserver: Name,
        shares: Option<Shares>,
        note: Note,
    },
    /// Lets a guard that waits for a person go on, or ends its attempt.
    DecideGuard {
        scenario: Name,
        approve: bool,
        /// The attempt that the caller looked at; `None`: the one that runs.
        attempt: Option<u64>,
        note: Note,
    },
    /// Activates a scenario as a drill, until `note.expires`.
    StartDrill {
        scenario: Name,
        lasts: Duration,
        /// Triggers that are told in place of the scenario's own.
        notify: Vec<Name>,
        /// Conditions of `[drills.stop_on]` that end it early.
        stop_on: Vec<Name>,
        override_guard: bool,
        note: Note,
    },
    /// Brings the scenario back now. `None`: whichever drill runs.
    StopDrill {
        drill: Option<u64>,
        override_guard: bool,
        note: Note,
    },
    /// Sends a dead delivery of a trigger off again.
    Replay {
        delivery: u64,
    },
    /// Forgets a dead delivery of a trigger.
    Discard {
        delivery: u64,
    },
    /// Sends a delivery that is marked as a test.
    TestTrigger {
        trigger: Name,
    },
    /// Asks the primaries of a zone now. `whole`: for all of it, whatever its serial.
    TransferZone {
        zone: Name,
        whole: bool,
    },
    /// An act that is refused where it was decided on another state than the one that is there, or where it asks for
    /// more than was given.
    Careful {
        command: Box<Command>,
        /// What a dry run called `seq`; another one is a conflict.
        if_seq: Option<u64>,
        /// The same from If-Match; another one is a failed precondition.
        if_match: Option<u64>,
        /// The name that was typed. `None`: the caller is a program that was told to, and nothing is asked of it.
        confirm: Option<Name>,
    },
    /// Judges an act and says what it would change, without doing it.
    DryRun(Box<Command>),
    /// Replaces the whole running configuration; all or nothing.
    ApplyConfig {
        text: String,
        format: Format,
        dry_run: bool,
        /// Refuse where the running configuration has none of these hashes by now.
        if_hash: Option<Vec<Name>>,
    },
    /// Takes FILE again.
    Reload,
    /// Writes the running configuration to FILE.
    Save,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Toml,
    Json,
}

/// Why, and until when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    pub reason: Option<Name>,
    pub expires: Option<Expiry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    At(Wall),
    After(Duration),
}

/// A command that was carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// For the operator: taking the last UP member, forcing against a true condition, …
    pub warnings: Vec<String>,
    /// The generation that shows it.
    pub generation: u64,
    /// `ApplyConfig` and `Reload`: what changed, a line each; `DryRun`: what would.
    pub changes: Vec<String>,
    /// `Disable` with `wait`: still draining when the wait ended.
    pub still_draining: Vec<String>,
    /// `Replay`, `TestTrigger`: the delivery.
    pub delivery: Option<u64>,
    /// `StartDrill`, `StopDrill`: the drill.
    pub drill: Option<u64>,
    /// `DryRun`: what the act would do.
    pub preview: Option<Box<Preview>>,
}

/// A valid request that we decline, or one that names nothing.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Refusal {
    #[error("no {0} of this name")]
    Unknown(ObjectRef),
    /// One direction `on` while the other shows a spent `on`: says what would do what was meant.
    #[error("{0}")]
    WouldBeStuck(String),
    #[error("{0}")]
    Conflict(String),
    /// The configuration is not the one that the caller looked at.
    #[error("{0}")]
    Stale(String),
    #[error("{0}")]
    Invalid(String),
    /// It asks for the name of its object, and that was not given.
    #[error("{0}")]
    Unconfirmed(String),
    #[error("the configuration has {} problems", .0.len())]
    BadConfig(Vec<Problem>),
    /// FILE cannot be read or written, the disk does not answer.
    #[error("{0}")]
    Disk(String),
    /// Another process is about to go on in this one's place, or has failed to.
    #[error("{0}")]
    Handing(&'static str),
    #[error("the appliance is stopping")]
    Stopping,
}
