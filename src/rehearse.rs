//! L5: the engine and the pure answers in virtual time.
//!
//! The engine decides and is told the time, so what it would do can be tried without waiting for it: a *script* of
//! events ([`script`]) is played to a *world* ([`world`]), which is an engine with checks that do what the script says.
//! [`test()`] judges the expectations in the script, so that a runbook becomes a test; [`simulate()`] prints the same
//! walk as a timeline; [`replay()`] plays the journal of a real appliance and compares; [`explain`] says why an answer
//! is what it is.

pub mod explain;
pub mod past;
pub mod script;
pub mod world;

mod judge;
mod junit;
mod replay;
mod simulate;
mod test;
mod timeline;
mod walk;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::model::visible::visible;

pub use replay::{Difference, Replayed, play, replay};
pub use simulate::{simulate, timeline_of};
pub use test::{Prepared, prepare, test};
pub use walk::{Failure, Walk, walk};

/// How `test` reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestOptions {
    /// Where a JUnit report goes.
    pub junit: Option<PathBuf>,
}

/// Says what went wrong, on stderr, and fails.
fn fail(command: &str, what: &str) -> ExitCode {
    eprintln!("bascule {command}: {}", visible(what));
    ExitCode::FAILURE
}
