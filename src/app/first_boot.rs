//! `bascule first-boot`: once at each boot of an appliance, before the service starts.
//!
//! ```text
//!            ┌ a seed, and its instance is not the recorded one ──▶ it loads? ─yes─▶ FILE := seed ──┐
//!  boot ──▶ ─┤                                                         └──no──▶ FILE stays, told ───┤
//!            ├ a seed of the recorded instance ──▶ FILE stays ──────────────────────────────────────┤
//!            └ no seed ──▶ FILE stays ──────────────────────────────────────────────────────────────┤
//!                                                                                                    ▼
//!  service ◀── record ◀── console ◀── nobody could log in, or the console asked for it: a new password
//! ```
//!
//! Whatever a hypervisor hands over, the box comes up manageable: a seed that does not load leaves FILE as it is, a FILE
//! that is missing or does not load is replaced by one that does (the old one stays beside it as `FILE.1`), and where no
//! configuration says who may log in, `nsroot` gets a generated password, which the console shows once and nobody keeps.
//!
//! Deciding is in [`seed`] and [`account`], over texts; [`place`], [`record`] and [`console`] touch the machine.

mod account;
mod console;
mod place;
mod record;
mod seed;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};

use crate::control::{Handle, save};
use crate::files;
use crate::model::first_boot::{FirstBoot, SeedOutcome, SeedSource, TOLD_MOST};
use crate::model::time::Wall;

pub use place::Places;

/// `bascule first-boot`
#[derive(Clone, Debug)]
pub struct FirstBootOptions {
    /// FILE.
    pub config: PathBuf,
    /// Where the record is kept.
    pub state: PathBuf,
    /// Where to look for a seed.
    pub places: Places,
    /// Give `nsroot` a new password.
    pub recover: bool,
    /// Where people are told; none: every console of the machine.
    pub consoles: Vec<PathBuf>,
}

/// What FILE says where there is none that loads.
const BARE: &str = "\
# The configuration of this appliance. `bascule manual` has the words; `save config` in the shell writes it.
schema = 1
";

/// Carries it out. 0 also where a seed was refused: the box is to come up. 1 where FILE or the record cannot be written.
pub fn first_boot(options: &FirstBootOptions) -> ExitCode {
    match carry_out(options, now()) {
        Ok(told) => {
            console::tell(&options.consoles, &told);
            ExitCode::SUCCESS
        }
        Err(why) => {
            console::tell(&options.consoles, &[format!("first boot: {why}")]);
            eprintln!("bascule first-boot: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Tells the journal of a running appliance what came before it, once; what the record says.
pub(super) fn tell(state: &Path, handle: &Handle) -> Option<FirstBoot> {
    let (report, untold) = record::read_untold(state)?;
    for body in untold {
        handle.journal_access("console".into(), "console".into(), body);
    }
    if let Err(error) = record::write(state, &report, true) {
        tracing::warn!(%error, "the record of the first boot cannot be written: the journal is told of it again");
    }
    Some(report)
}

/// What is to be told at the console.
fn carry_out(options: &FirstBootOptions, now: Wall) -> Result<Vec<String>, String> {
    let FirstBootOptions { config, state, places, recover, .. } = options;
    let mut told = Vec::new();
    let before = record::read(state);
    let mut found = places.find();
    let _mounted = found.mounted.take();
    place::make_state(state, beside(config))?;
    // What the service may write, nobody with more rights writes for it: a link that it left there leads nowhere new.
    let _lowered = place::Lowered::to_owner_of(beside(config))?;
    for problem in &found.problems {
        told.push(problem.clone());
    }
    let is_new = before.as_ref().is_none_or(|before| before.instance != found.instance);
    let mut report = before.unwrap_or_else(|| FirstBoot {
        instance: found.instance.clone(),
        source: SeedSource::None,
        outcome: SeedOutcome::None,
        at: now,
        problems: found.problems.clone(),
        left_out: Vec::new(),
        seed_hash: String::new(),
        recovered_at: None,
    });
    let mut taken = None;
    match &found.seed {
        Some(text) if is_new => {
            report = FirstBoot {
                instance: found.instance.clone(),
                source: found.source,
                at: now,
                seed_hash: hash(text),
                recovered_at: report.recovered_at,
                ..report
            };
            taken = take(&mut report, text, config, found.folder.as_deref())?;
            told.extend(in_words(&report));
        }
        Some(text) => {
            if hash(text) != report.seed_hash {
                told.push(format!(
                    "the seed has changed, but instance `{}` has had its own; give it another instance id to have it taken",
                    report.instance
                ));
            }
        }
        None => {}
    }
    told.extend(let_in(&mut report, config, taken, *recover, now)?);
    record::write(state, &report, false).map_err(|error| format!("{}: {error}", state.display()))?;
    Ok(told)
}

/// What FILE is to say by a seed; `None`: nothing, and the report says why.
fn take(report: &mut FirstBoot, text: &str, config: &Path, folder: Option<&Path>) -> Result<Option<String>, String> {
    let prepared = seed::prepare(text, config, folder);
    report.left_out = bounded(prepared.left_out);
    match prepared.text {
        Err(problems) => {
            report.outcome = SeedOutcome::Refused;
            report.problems = bounded(problems);
            report.left_out.clear();
            Ok(None)
        }
        Ok(text) => {
            report.outcome = if report.left_out.is_empty() { SeedOutcome::Applied } else { SeedOutcome::AppliedInPart };
            report.problems.clear();
            if let Some(folder) = folder {
                place::copy_files(folder, beside(config))?;
            }
            Ok(Some(text))
        }
    }
}

/// Sees to it that FILE loads and that somebody may log in, and makes a new password where `recover` asks for it. FILE is
/// written once, so that one older version of it is kept and not two. `taken`: what a seed wants it to say.
fn let_in(
    report: &mut FirstBoot,
    config: &Path,
    taken: Option<String>,
    recover: bool,
    now: Wall,
) -> Result<Vec<String>, String> {
    let mut told = Vec::new();
    let is_taken = taken.is_some();
    let standing = || files::read_text(config).map(|text| (seed::problems(&text, config, None), text));
    let (text, stays) = match taken.map_or_else(standing, |text| Ok((Vec::new(), text))) {
        Ok((problems, text)) if problems.is_empty() => (text, !is_taken),
        Ok((problems, _)) => {
            told.push(format!("{} does not load; the box comes up without it. It stays as {0}.1:", config.display()));
            told.extend(problems.iter().take(TOLD_MOST).cloned());
            report.problems.extend(problems);
            report.problems.truncate(TOLD_MOST);
            (BARE.to_owned(), false)
        }
        Err(why) => {
            told.push(format!("{}: {why}; the box comes up with a bare one", config.display()));
            (BARE.to_owned(), false)
        }
    };
    let opened = account::open(&text, recover)?;
    match opened {
        Some(account::Opened { text, password, created }) => {
            write(config, &text)?;
            if recover {
                report.recovered_at = Some(now);
            }
            let what = if created { "made" } else { "given a new password" };
            told.push(format!("user {} was {what}; the password, shown this once: {password}", account::USER));
        }
        None if !stays => write(config, &text)?,
        None => {}
    }
    Ok(told)
}

fn in_words(report: &FirstBoot) -> Vec<String> {
    let from = match report.source {
        SeedSource::None => return Vec::new(),
        SeedSource::Credential => "the hypervisor's credential",
        SeedSource::Drive => "the drive CIDATA",
    };
    let first = match report.outcome {
        SeedOutcome::Applied => format!("the configuration of {from} is applied"),
        SeedOutcome::AppliedInPart => {
            format!("the configuration of {from} is applied but for {} lines:", report.left_out.len())
        }
        SeedOutcome::Refused => format!("the configuration of {from} does not load, and nothing of it is applied:"),
        SeedOutcome::None => return Vec::new(),
    };
    std::iter::once(first).chain(report.problems.iter().chain(&report.left_out).cloned()).collect()
}

/// FILE, with its older versions beside it.
fn write(config: &Path, text: &str) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", config.display());
    let is_new = !config.exists();
    save::replace(config, text).map_err(said)?;
    if is_new {
        place::make_private(config).map_err(said)?;
    }
    Ok(())
}

fn beside(config: &Path) -> &Path {
    config.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn bounded(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(TOLD_MOST);
    if more > 0 {
        lines.truncate(TOLD_MOST - 1);
        lines.push(format!("and {} more", more + 1));
    }
    lines
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn now() -> Wall {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Wall(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
