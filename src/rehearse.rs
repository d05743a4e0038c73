//! L5: the engine and the pure answers in virtual time.

pub mod explain;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How `test` reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestOptions {
    /// Where a JUnit report goes.
    pub junit: Option<PathBuf>,
}

/// Runs event scripts with expectations through the engine in virtual time. 1 with a difference.
pub fn test(paths: &[PathBuf], options: &TestOptions) -> ExitCode {
    let _ = (paths, options);
    absent("test")
}

/// The same walk, printed as a timeline instead of judged.
pub fn simulate(config: &Path, events: &Path) -> ExitCode {
    let _ = (config, events);
    absent("simulate")
}

/// Runs the journal of a state directory through the engine and compares. 0 when chain and commits agree.
pub fn replay(state_dir: &Path) -> ExitCode {
    let _ = state_dir;
    absent("replay")
}

fn absent(command: &str) -> ExitCode {
    eprintln!("bascule {command}: not available in this build");
    ExitCode::FAILURE
}
