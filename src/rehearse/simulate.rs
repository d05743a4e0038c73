//! `bascule simulate`: a script as a timeline.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use super::test::{Prepared, prepare};
use super::walk::{Walk, walk};
use super::{fail, timeline};
use crate::model::visible::visible;

/// The same walk as a test, printed as a timeline instead of judged. 1 where it cannot be walked.
pub fn simulate(config: &Path, events: &Path) -> ExitCode {
    let prepared = match prepare(events, Some(config)) {
        Ok(prepared) => prepared,
        Err(lines) => return fail("simulate", &lines.join("\n")),
    };
    let (text, is_whole) = timeline_of(&prepared);
    print!("{}", visible(&text));
    if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The timeline, and whether every step could be carried out.
pub fn timeline_of(prepared: &Prepared) -> (String, bool) {
    let walk = walk(&prepared.script, &prepared.model, &|file| prepared.reload(file), true);
    let mut text = String::new();
    for line in lines(&walk) {
        let _ = writeln!(text, "{line}");
    }
    if let Some(broken) = &walk.broken {
        let at = timeline::stamp(broken.at);
        let _ = writeln!(text, "{at}  {}:{}: {}", prepared.script.path, broken.line, broken.got);
    }
    (text, walk.broken.is_none())
}

fn lines(walk: &Walk) -> impl Iterator<Item = String> + '_ {
    walk.world.history().iter().filter_map(|moment| timeline::line(moment, walk.world.model()))
}
