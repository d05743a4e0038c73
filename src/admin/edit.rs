//! Changing the running configuration object by object: REST, NITRO and whoever else edits go through [`App::edit`].
//!
//! The text that runs is read, changed as JSON, merged back into the text (so that comments and order stay), and applied
//! as a whole, all or nothing. Editors of this process take turns; who replaces the configuration in another way
//! meanwhile makes an edit begin again.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use serde_json::{Map, Value};
use tokio::sync::{Mutex, MutexGuard, Semaphore};

use super::App;
use super::auth::Caller;
use super::problem::Problem;
use crate::config::{self, Source, edit};
use crate::control::command::Format;
use crate::control::{Command, Done, Refusal};
use crate::model::Model;
use crate::model::id::Name;

/// Editors that may wait for their turn; one more is told to try again.
const WAITING_MAX: usize = 64;
/// How long an edit waits for its turn: one before it may be reading a file of a disk that does not answer.
const TURN_TIMEOUT: Duration = Duration::from_secs(30);
/// How often an edit begins anew because the configuration was replaced under it.
const ROUNDS: usize = 5;

/// The turns of editors, and what runs as JSON.
pub(super) struct Turns {
    waiting: Semaphore,
    turn: Mutex<()>,
    read: parking_lot::Mutex<Option<Arc<Read>>>,
}

/// The running configuration as JSON: its tables, keys in the order of the text.
pub(crate) struct Read {
    pub whole: Arc<Map<String, Value>>,
    /// Without what only those may see who may change it.
    pub shown: Arc<Map<String, Value>>,
    hash: Name,
    /// The text that was read, where one was given.
    root: Option<Source>,
}

/// How an edit is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ask {
    /// Only say what would change.
    pub dry_run: bool,
    /// Hashes of which the running configuration must have one; `None`: any.
    pub if_hash: Option<Vec<Name>>,
    /// Apply although the text stays the same: files that it names are read again.
    pub always: bool,
}

/// Why nothing was changed.
#[derive(Debug)]
pub(crate) enum Unedited<E> {
    /// What the editor itself said.
    Declined(E),
    /// The configuration does not load, the caller's hash is not the running one, the disk does not answer, …
    /// Problems of the text have no lines: nobody saw that text.
    Refused(Refusal),
    /// Too many edit at once, or the appliance does not answer in time.
    Busy(Problem),
}

/// What runs, taken along.
struct Running {
    model: Arc<Model>,
    sources: Vec<Source>,
    hash: Name,
    /// As they were told when it was loaded.
    warnings: Vec<String>,
    generation: u64,
}

/// One round, up to what is to be applied.
struct Drafted<T> {
    /// `None`: nothing changes.
    text: Option<String>,
    told: T,
}

// === impl App ===

impl App {
    /// Changes the running configuration, or says what a change would do (`dry_run`).
    ///
    /// `f` gets the root object of the configuration as JSON (the tables of the file, keys in its order) and changes it in
    /// place; it may be called again where the configuration was replaced meanwhile, and must then say the same of the
    /// new one. `if_hash`: hashes of which the running configuration must have one, else [`Refusal::Stale`].
    ///
    /// Answers with what was done and what `f` gave back. Where `f` changed nothing, nothing is applied and `Done` is
    /// empty but for the generation. Of the warnings only those are told that were not there before.
    pub(crate) async fn edit<T, E, F>(
        &self,
        caller: Caller,
        dry_run: bool,
        if_hash: Option<Vec<Name>>,
        f: F,
    ) -> Result<(Done, T), Unedited<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        F: Fn(&mut Map<String, Value>) -> Result<T, E> + Send + Sync + 'static,
    {
        self.edit_as(caller, Ask { dry_run, if_hash, always: false }, f).await
    }

    /// As [`App::edit`], with more to ask for.
    pub(crate) async fn edit_as<T, E, F>(&self, caller: Caller, ask: Ask, f: F) -> Result<(Done, T), Unedited<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        F: Fn(&mut Map<String, Value>) -> Result<T, E> + Send + Sync + 'static,
    {
        let Ask { dry_run, if_hash, always } = ask;
        let _turn = self.0.turns.take().await.map_err(Unedited::Busy)?;
        let f = Arc::new(f);
        let mut round = 1;
        loop {
            let running = self.read(Running::of).await.map_err(Unedited::Busy)?;
            if if_hash.as_ref().is_some_and(|hashes| !hashes.contains(&running.hash)) {
                let hash = &running.hash;
                let text = format!("the running configuration is {hash} by now; nothing was changed");
                return Err(Unedited::Refused(Refusal::Stale(text)));
            }
            let (hash, before, generation) = (running.hash.clone(), running.warnings.clone(), running.generation);
            let editor = Arc::clone(&f);
            let drafted = tokio::task::spawn_blocking(move || draft(&running, always, &*editor)).await;
            let Drafted { text, told } = drafted.map_err(|_| Unedited::Busy(failed("the change came to no end")))??;
            let Some(text) = text else { return Ok((Done { generation, ..Done::default() }, told)) };
            let apply = Command::ApplyConfig { text, format: Format::Toml, dry_run, if_hash: Some(vec![hash]) };
            match self.command(caller.clone(), apply, Duration::ZERO).await {
                Ok(mut done) => {
                    done.warnings.retain(|warning| !before.iter().any(|old| same_warning(old, warning)));
                    return Ok((done, told));
                }
                Err(Refusal::Stale(_)) if round < ROUNDS => round += 1,
                Err(Refusal::Stale(_)) if if_hash.is_none() => {
                    return Err(Unedited::Busy(Problem::busy("the configuration keeps changing; try again")));
                }
                Err(refusal) => return Err(Unedited::Refused(without_lines(refusal))),
            }
        }
    }

    /// The running configuration as JSON. It is read once and kept until another one runs.
    pub(crate) async fn running_json(&self) -> Result<Arc<Read>, Problem> {
        let running = self.read(Running::of).await?;
        let kept = self.0.turns.read.lock().clone();
        if let Some(kept) = kept.filter(|kept| kept.is_of(&running)) {
            return Ok(kept);
        }
        let read = tokio::task::spawn_blocking(move || Read::of(running));
        let read = read.await.map_err(|_| failed("the running configuration cannot be read"))?;
        let read = Arc::new(read.map_err(|error| failed(&error))?);
        *self.0.turns.read.lock() = Some(Arc::clone(&read));
        Ok(read)
    }
}

/// Lets `f` change what runs and makes a text of it, most of which is as it was.
fn draft<T, E, F>(running: &Running, always: bool, f: &F) -> Result<Drafted<T>, Unedited<E>>
where
    F: Fn(&mut Map<String, Value>) -> Result<T, E>,
{
    let broken = |error: String| Unedited::Busy(failed(&error));
    let (text, _) = edit::running(&running.sources, &running.model);
    let mut root = root_of(&text).map_err(broken)?;
    let told = f(&mut root).map_err(Unedited::Declined)?;
    let changed = match edit::from_json(&Value::Object(root)) {
        Ok(changed) => changed,
        Err(what) => return Err(Unedited::Refused(Refusal::BadConfig(vec![problem(what)]))),
    };
    // A text that is written too strangely to be merged is written anew.
    let merged = edit::merge(&text, &changed).unwrap_or(changed);
    Ok(Drafted { text: (always || merged != text).then_some(merged), told })
}

fn root_of(text: &str) -> Result<Map<String, Value>, String> {
    match edit::to_json(text)? {
        Value::Object(root) => Ok(root),
        _ => Err("a configuration is a table".to_owned()),
    }
}

fn failed(error: &str) -> Problem {
    tracing::error!(error, "the running configuration cannot be edited");
    let detail = "the running configuration cannot be edited: a fault of the appliance; nothing was changed";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
}

/// `a.b: null says nothing`, as the writer of TOML says it, under its path.
fn problem(what: String) -> config::Problem {
    let (path, what) = match what.split_once(": ") {
        Some((path, rest)) => (path.to_owned(), rest.to_owned()),
        None => (String::new(), what),
    };
    config::Problem {
        file: "(configuration)".into(),
        line: 0,
        column: 0,
        severity: config::Severity::Error,
        path,
        what,
        did_you_mean: None,
    }
}

/// Lines of the text that was applied mean nothing to who changed one object.
fn without_lines(refusal: Refusal) -> Refusal {
    let Refusal::BadConfig(mut problems) = refusal else { return refusal };
    problems.iter_mut().for_each(|problem| (problem.line, problem.column) = (0, 0));
    Refusal::BadConfig(problems)
}

/// The same but for the line: `file:12: text`.
pub(crate) fn same_warning(one: &str, other: &str) -> bool {
    fn text(warning: &str) -> &str {
        let Some((place, text)) = warning.split_once(": ") else { return warning };
        let is_line = place.rsplit_once(':').is_some_and(|(_, line)| line.bytes().all(|b| b.is_ascii_digit()));
        if is_line { text } else { warning }
    }
    text(one) == text(other)
}

// === impl Turns ===

impl Default for Turns {
    fn default() -> Turns {
        Turns { waiting: Semaphore::new(WAITING_MAX), turn: Mutex::new(()), read: parking_lot::Mutex::new(None) }
    }
}

impl Turns {
    /// A turn, over when dropped. Errors: 503, too many wait, or the one before takes too long.
    async fn take(&self) -> Result<MutexGuard<'_, ()>, Problem> {
        let full = || Problem::busy(format!("{WAITING_MAX} changes of the configuration are waiting; try again"));
        let _place = self.waiting.try_acquire().map_err(|_| full())?;
        let waited = tokio::time::timeout(TURN_TIMEOUT, self.turn.lock()).await;
        waited.map_err(|_| {
            let detail = "another change of the configuration is still under way: a file that it names may be on a disk \
                          that does not answer; nothing was changed, try again";
            Problem::busy(detail)
        })
    }
}

// === impl Running ===

impl Running {
    fn of(world: &crate::control::World<'_>) -> Running {
        Running {
            model: Arc::clone(world.model),
            sources: world.sources.to_vec(),
            hash: world.config.hash.as_str().into(),
            warnings: world.config.warnings.clone(),
            generation: world.snapshot.generation,
        }
    }
}

// === impl Read ===

impl Read {
    fn of(running: Running) -> Result<Read, String> {
        let (text, _) = edit::running(&running.sources, &running.model);
        let whole = Arc::new(root_of(&text)?);
        let shown = Arc::new(root_of(&edit::redact(&text)?)?);
        Ok(Read { whole, shown, hash: running.hash, root: running.sources.into_iter().next() })
    }

    /// Two texts may mean the same and say it in other ways.
    fn is_of(&self, running: &Running) -> bool {
        let same = match (&self.root, running.sources.first()) {
            (Some(one), Some(other)) => Arc::ptr_eq(&one.text, &other.text),
            (None, None) => true,
            _ => false,
        };
        same && self.hash == running.hash
    }
}

// === impl Unedited ===

impl<E> From<Unedited<E>> for Problem
where
    Problem: From<E>,
{
    fn from(unedited: Unedited<E>) -> Problem {
        match unedited {
            Unedited::Declined(error) => error.into(),
            Unedited::Refused(refusal) => refusal.into(),
            Unedited::Busy(problem) => problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(text: &str) -> Running {
        let source = Source { path: "x.toml".into(), text: text.into() };
        Running {
            model: Arc::new(Model::empty()),
            sources: vec![source],
            hash: "h".into(),
            warnings: Vec::new(),
            generation: 1,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_an_edit_that_comes_to_no_end_is_told_so_and_so_is_one_too_many() {
        let turns = Turns::default();
        let stuck = turns.take().await.unwrap();
        let refused = turns.take().await.map(|_| ()).unwrap_err();
        assert!(refused.status == 503 && refused.detail.contains("does not answer"), "{}", refused.detail);
        let waiting = futures_util::future::join_all((0..WAITING_MAX + 1).map(|_| turns.take()));
        let told = waiting.await.into_iter().map(|turn| turn.map(|_| ()).unwrap_err().detail);
        assert_eq!(told.filter(|detail| detail.contains("64 changes")).count(), 1);
        drop(stuck);
        assert!(turns.take().await.is_ok());
    }

    #[test]
    fn an_edit_touches_what_it_changes_and_keeps_every_comment() {
        let text = "# ours\n[service.a] # first\nport = 80\n\n[service.b]\nport = 81 # why\n";
        let drafted = draft::<(), (), _>(&running(text), false, &|root| {
            root["service"]["a"]["port"] = 90.into();
            Ok(())
        });
        assert_eq!(drafted.unwrap().text.unwrap(), text.replace("80", "90"));
    }

    #[test]
    fn an_edit_that_changes_nothing_applies_nothing() {
        let drafted = draft::<u8, (), _>(&running("[service.a]\nport = 80\n"), false, &|_| Ok(7)).unwrap();
        assert_eq!((drafted.text, drafted.told), (None, 7));
        let drafted = draft::<u8, (), _>(&running("a = 1\n"), true, &|_| Ok(7)).unwrap();
        assert_eq!(drafted.text.as_deref(), Some("a = 1\n"), "files that it names may say something else by now");
    }

    #[test]
    fn what_the_editor_declines_and_what_no_toml_can_hold_changes_nothing() {
        let declined = draft::<(), u8, _>(&running("a = 1\n"), false, &|_| Err(4));
        assert!(matches!(declined, Err(Unedited::Declined(4))));
        let null = draft::<(), (), _>(&running("a = 1\n"), false, &|root| {
            root.insert("b".into(), Value::Null);
            Ok(())
        });
        let Err(Unedited::Refused(Refusal::BadConfig(problems))) = null else { panic!("null is not TOML") };
        assert_eq!(problems[0].path, "b");
    }

    #[test]
    fn a_warning_is_the_same_wherever_it_stands() {
        assert!(same_warning("/a/b.toml:12: `x` is never used", "/a/b.toml:14: `x` is never used"));
        assert!(!same_warning("/a/b.toml:12: `x` is never used", "/a/b.toml:12: `y` is never used"));
        assert!(!same_warning("`a: b`", "`c: b`"));
    }
}
