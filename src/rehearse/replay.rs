//! `bascule replay`: the journal of a state directory, played to an engine.
//!
//! The journal holds what every process began with, the texts of every configuration, what people did, and each change
//! of a board row that a condition uses. Rows are all that scenarios see, so an engine that is fed with them must make
//! the commits that the journal records. It reads one consistent state, so it works beside a running appliance.

mod player;
pub(super) mod texts;

use std::path::Path;
use std::process::ExitCode;

use super::fail;
use crate::control::journal::history::{self, Moment};
use crate::control::store::read_journal;
use crate::model::visible::visible;

pub use player::{Difference, Replayed, play};

/// Runs the journal of a state directory through the engine and compares. 0 when the chain of hashes holds and every
/// commit comes out as recorded; else 1, with the first difference.
pub fn replay(state_dir: &Path) -> ExitCode {
    match compare(state_dir) {
        Ok(lines) => {
            println!("{}", visible(&lines.join("\n")));
            ExitCode::SUCCESS
        }
        Err(what) => fail("replay", &what),
    }
}

fn compare(state_dir: &Path) -> Result<Vec<String>, String> {
    let journal = read_journal(state_dir).map_err(|e| e.to_string())?;
    let verified = journal.verify().map_err(|e| e.to_string())?;
    if let Some(broken) = verified.broken {
        return Err(format!("the chain of hashes is broken: {broken}"));
    }
    let moments: Vec<Moment> = history::read(&*journal).map_err(|e| e.to_string())?;
    let mut lines = vec![match verified.anchor {
        0 => format!("chain: {} entries, every hash follows from the one before", verified.entries),
        cut => format!(
            "chain: {} entries after entry {cut}, where the journal was cut; every hash follows",
            verified.entries
        ),
    }];
    let replayed = play(&moments).map_err(|difference| difference.to_string())?;
    if replayed.skipped > 0 {
        lines.push(format!(
            "not replayed: {} entries before the first start that the journal still holds; what that process began \
             with was cut away",
            replayed.skipped
        ));
    }
    let Replayed { starts, commits, .. } = replayed;
    let runs = if starts == 1 { "one run".to_owned() } else { format!("{starts} runs") };
    lines.push(format!("commits: {commits} in {runs} of the appliance, every one comes out as recorded"));
    lines.extend(replayed.notes);
    Ok(lines)
}
