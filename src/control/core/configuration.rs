//! Changes of the configuration: one at a time, built and checked beside the running one, then swapped. Reading and
//! writing files happens in a [`ConfigJob`], away from the reactor.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::acts::{Reply, Waiting};
use super::foresight::foresee;
use super::saving::SaveJob;
use super::{Core, FileAccess, Output};
use crate::config::diff::{Difference, DifferenceKind, diff};
use crate::config::{Loaded, Problem, Severity, Source, edit, load, populate};
use crate::control::apply::outlived;
use crate::control::command::{Command, Done, Format, Refusal};
use crate::files;
use crate::model::Model;
use crate::model::id::Name;
use crate::model::time::Now;
use crate::model::zone::AllContents;
use crate::snapshot::Snapshot;
use crate::snapshot::zones::ZoneIndex;

/// Changes that may wait for the one that is under way.
const QUEUE_MOST: usize = 64;

#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<Change>,
    current: Option<Change>,
}

struct Change {
    actor: Name,
    door: Name,
    command: Command,
    reply: Reply,
}

/// Reads, loads, or writes; may take its time.
pub enum ConfigJob {
    /// `text` `None`: FILE.
    Load {
        path: Option<PathBuf>,
        text: Option<(String, Format)>,
        overrides: Vec<(String, String)>,
        files: FileAccess,
        running: Arc<Model>,
        saved: Arc<Model>,
        /// Zones that do not change are taken from it.
        published: Arc<Snapshot>,
        contents: AllContents,
    },
    Save(SaveJob),
}

pub enum ConfigOutcome {
    Loaded(Result<Box<Built>, Refusal>),
    /// The text that FILE has now, and what to tell.
    Saved(Result<(String, Vec<String>), Refusal>),
}

/// Checked and ready to be adopted.
pub struct Built {
    loaded: Loaded,
    zones: Arc<ZoneIndex>,
    /// Against what is running.
    changes: Vec<String>,
    /// What is running and not in FILE; what a reload drops.
    unsaved: Vec<String>,
}

// === impl Queue ===

impl Queue {
    pub fn take_replies(&mut self) -> Vec<Reply> {
        self.current.take().into_iter().chain(self.waiting.drain(..)).map(|change| change.reply).collect()
    }
}

// === impl Core ===

impl Core {
    pub(super) fn change_config(&mut self, actor: Name, command: Command, reply: Reply) {
        if self.changes.waiting.len() >= QUEUE_MOST {
            let text = format!("{QUEUE_MOST} changes of the configuration are waiting already: try again");
            self.answer(reply, Err(Refusal::Conflict(text)), None);
            return;
        }
        let door = Name::clone(&self.door);
        self.changes.waiting.push_back(Change { actor, door, command, reply });
        self.next_change();
    }

    /// Whether a change is being read, loaded or written.
    pub(super) fn is_changing(&self) -> bool {
        self.changes.current.is_some()
    }

    fn next_change(&mut self) {
        while self.changes.current.is_none() {
            let Some(change) = self.changes.waiting.pop_front() else { return };
            match self.job(&change.command) {
                Ok(job) => {
                    self.outputs.push(Output::Config(job));
                    self.changes.current = Some(change);
                }
                Err(refusal) => self.answer(change.reply, Err(refusal), None),
            }
        }
    }

    fn job(&self, command: &Command) -> Result<ConfigJob, Refusal> {
        // Nothing can change it until this one is over.
        if let Command::ApplyConfig { if_hash: Some(hashes), .. } = command
            && !hashes.iter().any(|hash| **hash == *self.config.hash)
        {
            let hash = &self.config.hash;
            return Err(Refusal::Stale(format!("the running configuration is {hash} by now; nothing was changed")));
        }
        let no_file = || Refusal::Disk("there is no configuration file to read or write".to_owned());
        let text = match command {
            Command::ApplyConfig { text, format, .. } => Some((text.clone(), *format)),
            Command::Reload if self.config.path.is_none() => return Err(no_file()),
            Command::Save => {
                let path = self.config.path.clone().ok_or_else(no_file)?;
                let (text, in_one_text) = edit::running(&self.sources, &self.intended);
                return Ok(ConfigJob::Save(SaveJob {
                    path,
                    text,
                    in_one_text,
                    running: Arc::clone(&self.intended),
                    hash: self.config.hash.clone(),
                    saved: Arc::clone(&self.saved_model),
                    saved_hash: self.config.saved_hash.clone(),
                    overrides: self.overrides.clone(),
                    files: Arc::clone(&self.files),
                }));
            }
            _ => None,
        };
        Ok(ConfigJob::Load {
            path: self.config.path.clone(),
            text,
            overrides: self.overrides.clone(),
            files: Arc::clone(&self.files),
            running: Arc::clone(&self.intended),
            saved: Arc::clone(&self.saved_model),
            published: self.cell.load_full(),
            contents: self.contents.clone(),
        })
    }

    pub(super) fn config_outcome(&mut self, now: Now, outcome: ConfigOutcome) {
        let Some(change) = self.changes.current.take() else { return };
        match outcome {
            ConfigOutcome::Loaded(Err(refusal)) | ConfigOutcome::Saved(Err(refusal)) => {
                if matches!(change.command, Command::Reload) {
                    self.config.reload_failed = Some((now.wall, in_short(&refusal)));
                }
                self.answer(change.reply, Err(refusal), None);
            }
            ConfigOutcome::Loaded(Ok(built)) => self.loaded(now, change, *built),
            ConfigOutcome::Saved(Ok((text, warnings))) => {
                self.config.saved_hash.clone_from(&self.config.hash);
                self.config.unsaved = false;
                self.config.reload_failed = None;
                self.saved_model = Arc::clone(&self.intended);
                if let Some(root) = self.sources.first_mut() {
                    root.text = text.into();
                }
                self.answer_saved(now, change, warnings);
            }
        }
        self.next_change();
    }

    fn answer_saved(&mut self, now: Now, change: Change, warnings: Vec<String>) {
        let hash = self.config.hash.clone();
        self.door = change.door;
        self.draft(now, "config", "".into(), change.actor, serde_json::json!({ "origin": "save", "hash": hash }));
        self.door = "".into();
        self.wait_for(Waiting {
            reply: change.reply,
            done: Done { warnings, ..Done::default() },
            order: self.next_order,
            since: now.tick,
            listeners: false,
            drain: None,
        });
    }

    fn loaded(&mut self, now: Now, change: Change, built: Built) {
        let Built { loaded, zones, changes, unsaved } = built;
        let mut warnings: Vec<String> = loaded.warnings.iter().map(Problem::plain).collect();
        if loaded.model.admin.listen != self.engine.model().admin.listen {
            warnings.push("`admin.listen` takes effect at the next start".to_owned());
        }
        warnings.extend(outlived(self.engine.view(), self.engine.model(), &loaded.model));
        let (origin, dry_run) = match change.command {
            Command::ApplyConfig { dry_run, .. } => ("apply", dry_run),
            _ => ("reload", false),
        };
        if origin == "reload" {
            warnings.extend(unsaved.into_iter().map(|line| format!("unsaved change dropped: {line}")));
        }
        let mut done = Done { warnings, changes, ..Done::default() };
        if dry_run {
            let running = self.cell.load_full();
            let members = self.members_under(now, &loaded.model);
            let model = populate(&loaded.model, &members);
            done.changes.extend(foresee(&self.engine, now, &model, &zones, self.names.known(), &running));
            self.answer(change.reply, Ok(done), None);
            return;
        }
        let status = &mut self.config;
        status.hash = loaded.hash.to_string();
        status.warnings = loaded.warnings.iter().map(Problem::plain).collect();
        status.loaded_at = now.wall;
        if origin == "reload" {
            status.saved_hash.clone_from(&status.hash);
            status.reload_failed = None;
            self.saved_model = Arc::clone(&loaded.model);
        }
        status.unsaved = status.hash != status.saved_hash;
        self.sources.clone_from(&loaded.sources);
        // What was due under the former model stands before the new one in the journal.
        self.step(now, super::Step::Wake);
        self.door = Name::clone(&change.door);
        self.journal_config(now, &change.actor, origin, &loaded.hash, &done.changes);
        self.door = "".into();
        // An equal model keeps its ids and everything that hangs on them.
        if *loaded.model != *self.intended {
            self.zones = zones;
            self.adopt(now, loaded.model);
            self.catch_up_zones();
        } else {
            // A rotated access log is left all the same.
            self.cell.load().log.reopened_total.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.dirty = true;
        }
        tracing::info!(origin, actor = %change.actor, changes = done.changes.len(), "configuration");
        self.wait_for(Waiting {
            reply: change.reply,
            done,
            order: self.next_order,
            since: now.tick,
            listeners: true,
            drain: None,
        });
    }
}

// === impl ConfigOutcome ===

impl ConfigOutcome {
    /// The job did not come to its end.
    pub fn failed() -> ConfigOutcome {
        let text = "this text makes the loader fail: a bug in Bascule; nothing was changed".to_owned();
        ConfigOutcome::Loaded(Err(Refusal::Invalid(text)))
    }
}

// === impl ConfigJob ===

impl ConfigJob {
    pub fn run(self) -> ConfigOutcome {
        match self {
            ConfigJob::Load { path, text, overrides, files, running, saved, published, contents } => {
                let name: Name = path.as_deref().map_or("(configuration)".into(), |p| p.display().to_string().into());
                let was_json = matches!(text, Some((_, Format::Json)));
                let text = match text {
                    Some((text, format)) => toml_of(text, format, &name),
                    None => read(path.as_deref()),
                };
                ConfigOutcome::Loaded(text.and_then(|text| {
                    let root = Source { path: Name::clone(&name), text: text.into() };
                    let mut loaded = load(root, &overrides, &*files);
                    if was_json {
                        let problems = loaded.as_mut().map_or_else(|errors| errors, |l| &mut l.warnings);
                        without_lines(problems, &name);
                    }
                    let loaded = loaded.map_err(Refusal::BadConfig)?;
                    Ok(Box::new(Built {
                        zones: Arc::new(ZoneIndex::build_with(
                            &loaded.model,
                            &contents,
                            Some((&published.model, &published.zones)),
                        )),
                        changes: lines(&diff(&running, &loaded.model)),
                        unsaved: if running == saved { Vec::new() } else { lines(&diff(&saved, &running)) },
                        loaded,
                    }))
                }))
            }
            ConfigJob::Save(job) => ConfigOutcome::Saved(job.run()),
        }
    }
}

fn toml_of(text: String, format: Format, name: &Name) -> Result<String, Refusal> {
    match format {
        Format::Toml => Ok(text),
        Format::Json => edit::parse_json(&text)
            .and_then(|json| edit::from_json(&json))
            .map_err(|what| Refusal::BadConfig(vec![problem(name, what)])),
    }
}

/// JSON is read by way of a TOML text that its author never sees: its lines mean nothing to them, its keys do.
fn without_lines(problems: &mut [Problem], file: &Name) {
    for problem in problems.iter_mut().filter(|p| p.file == *file) {
        (problem.line, problem.column) = (0, 0);
    }
}

fn problem(file: &Name, what: String) -> Problem {
    Problem {
        file: Name::clone(file),
        line: 0,
        column: 0,
        severity: Severity::Error,
        path: String::new(),
        what,
        did_you_mean: None,
    }
}

fn read(path: Option<&Path>) -> Result<String, Refusal> {
    let path = path.ok_or_else(|| Refusal::Disk("there is no configuration file to read".to_owned()))?;
    files::read_text(path).map_err(|why| Refusal::Disk(format!("cannot read {}: {why}", path.display())))
}

/// In one line: of many problems the first.
fn in_short(refusal: &Refusal) -> String {
    match refusal {
        Refusal::BadConfig(problems) => match &problems[..] {
            [first, rest @ ..] if !rest.is_empty() => format!("{} (and {} more)", first.plain(), rest.len()),
            [first, ..] => first.plain(),
            [] => refusal.to_string(),
        },
        _ => refusal.to_string(),
    }
}

fn lines(differences: &[Difference]) -> Vec<String> {
    differences
        .iter()
        .map(|difference| {
            let word = match difference.kind {
                DifferenceKind::Added => "added",
                DifferenceKind::Removed => "removed",
                DifferenceKind::Changed => "changed",
            };
            let head = format!("{}: {word}", difference.object);
            if difference.details.is_empty() { head } else { format!("{head} ({})", difference.details.join("; ")) }
        })
        .collect()
}
