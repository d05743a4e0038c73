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
//! Whatever a hypervisor hands over, the box comes up manageable: a seed that does not load leaves FILE as it is, a
//! FILE that is missing or does not load is replaced by one that does (the old one stays beside it as `FILE.1`), and
//! where no configuration says who may log in, `nsroot` gets a generated password, which the console shows once and
//! nobody keeps.
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

/// A password that nobody sees lets nobody in.
const UNTOLD: &str = "no console takes a word, so no password is made; name one by --console, and boot again";

/// Carries it out. 0 also where a seed was refused: the box is to come up. 1 where FILE or the record cannot be
/// written, and where no console takes what somebody has to be told.
pub fn first_boot(options: &FirstBootOptions) -> ExitCode {
    let mut consoles = console::open(&options.consoles);
    match carry_out(options, now(), &mut |lines| console::tell(&mut consoles, lines) > 0) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            console::tell(&mut consoles, &[format!("first boot: {why}")]);
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

/// `tell`: shows lines to a person; whether anybody could see them.
fn carry_out(options: &FirstBootOptions, now: Wall, tell: &mut dyn FnMut(&[String]) -> bool) -> Result<(), String> {
    let FirstBootOptions { config, state, places, recover, .. } = options;
    let before = record::read(state);
    let is_lost = before.is_none() && record::is_there(state);
    let mut found = places.find();
    let _mounted = found.mounted.take();
    place::make_state(state, beside(config))?;
    // What the service may write, nobody with more rights writes for it: a link that it left there leads nowhere new.
    let _lowered = place::Lowered::to_owner_of(beside(config))?;
    // What was never taken may come later, or be mended.
    let has_had_one = before.as_ref().is_some_and(|before| {
        before.instance == found.instance && matches!(before.outcome, SeedOutcome::Applied | SeedOutcome::AppliedInPart)
    });
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
    let mut told = found.problems.clone();
    let mut taken = None;
    match &found.seed {
        Some(_) if is_lost => {
            told.push(format!(
                "the record in {} cannot be read, so no seed is taken over what is there",
                state.display()
            ));
        }
        Some(text) if !has_had_one => {
            report.instance.clone_from(&found.instance);
            (report.source, report.at, report.seed_hash) = (found.source, now, hash(text));
            taken = take(&mut report, text, config, found.folder.as_deref());
            told.extend(in_words(&report));
        }
        Some(text) if hash(text) != report.seed_hash => told.push(format!(
            "the seed has changed, but instance `{}` has had its own; give it another instance id to have it taken",
            report.instance
        )),
        _ => {}
    }
    let result = let_in(&mut report, config, (taken, *recover, now), &mut told, tell);
    if !told.is_empty() {
        tell(&told);
    }
    let recorded = record::write(state, &report, false).map_err(|error| format!("{}: {error}", state.display()));
    result.and(recorded)
}

/// What FILE is to say by a seed; `None`: nothing, and the report says why. Files that came with it are copied.
fn take(report: &mut FirstBoot, text: &str, config: &Path, folder: Option<&Path>) -> Option<String> {
    let prepared = seed::prepare(text, config, folder);
    let copied = |text: String| match folder.map(|folder| place::copy_files(folder, config, beside(config))) {
        Some(Err(why)) => Err(vec![why]),
        _ => Ok(text),
    };
    match prepared.text.and_then(copied) {
        Err(problems) => {
            report.outcome = SeedOutcome::Refused;
            report.problems = bounded(problems);
            report.left_out.clear();
            None
        }
        Ok(text) => {
            report.left_out = bounded(prepared.left_out);
            report.outcome = if report.left_out.is_empty() { SeedOutcome::Applied } else { SeedOutcome::AppliedInPart };
            report.problems.clear();
            Some(text)
        }
    }
}

/// Sees to it that FILE loads and that somebody may log in, and makes a new password where that is asked for. A
/// password is shown before it counts. FILE is written once, so that one older version of it is kept and not two.
/// `asked`: what a seed wants FILE to say, whether the console asked for a new password, and when.
fn let_in(
    report: &mut FirstBoot,
    config: &Path,
    asked: (Option<String>, bool, Wall),
    told: &mut Vec<String>,
    tell: &mut dyn FnMut(&[String]) -> bool,
) -> Result<(), String> {
    let (taken, recover, now) = asked;
    let mut stays = taken.is_none();
    let text = match taken.map_or_else(|| files::read_text(config), Ok) {
        Ok(text) => text,
        Err(why) => {
            told.push(format!("{}: {why}; the box comes up with a bare one", config.display()));
            stays = false;
            BARE.to_owned()
        }
    };
    let (text, loaded) = match seed::load(&text, config, None) {
        Ok(loaded) => (text, loaded),
        Err(problems) => {
            stays = false;
            told.push(format!("{} does not load; the box comes up without it. It stays as {0}.1:", config.display()));
            let problems = problems.iter().map(ToString::to_string);
            report.problems = bounded(report.problems.drain(..).chain(problems).collect());
            told.extend(report.problems.iter().cloned());
            let bare = seed::load(BARE, config, None).map_err(|_| "a bare configuration does not load".to_owned())?;
            (BARE.to_owned(), bare)
        }
    };
    let text = if recover || account::is_closed(&loaded.model.admin) {
        match opened(&text, config) {
            Ok(account::Opened { text: with_account, password, created }) => {
                let what = if created { "made" } else { "given a new password" };
                let user = account::USER;
                if !tell(&[format!("user {user} is {what}; the password, shown this once: {password}")]) {
                    if !stays {
                        write(config, &text)?;
                    }
                    report.problems.push(UNTOLD.into());
                    return Err(UNTOLD.into());
                }
                stays = false;
                if recover {
                    report.recovered_at = Some(now);
                }
                with_account
            }
            Err(why) => {
                told.push(why.clone());
                report.problems.push(why);
                text
            }
        }
    } else {
        text
    };
    if stays { Ok(()) } else { write(config, &text) }
}

/// The text with the account. Errors: it would not load with it, because an included file says otherwise.
fn opened(text: &str, config: &Path) -> Result<account::Opened, String> {
    for listen in [true, false] {
        let opened = account::open(text, listen)?;
        if seed::load(&opened.text, config, None).is_ok() {
            return Ok(opened);
        }
    }
    Err(format!(
        "{} is not given a password here: another file that the configuration includes speaks of it",
        account::USER
    ))
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
