//! A seed's text as a configuration: TOML, all or nothing; or an `ns.conf`, without what cannot be carried.

use std::path::Path;

use serde_json::{Map, Value};

use crate::config::{self, Files, Loaded, Problem, Severity, Source};
use crate::files::DiskFiles;
use crate::model::scenario::Secret;
use crate::netscaler::document::Document;
use crate::netscaler::import::{Fate, Line, import};

/// Taking out what does not load lets other things not load that named it; a chain is no longer than this.
const ROUNDS_MOST: usize = 32;

/// What becomes of a seed.
#[derive(Debug)]
pub struct Prepared {
    /// What FILE is to say, or every problem.
    pub text: Result<String, Vec<String>>,
    /// Lines and objects of an `ns.conf` that are not in it.
    pub left_out: Vec<String>,
}

/// The words that lines of an `ns.conf` begin with.
const VERBS: [&str; 8] = ["add", "set", "bind", "enable", "disable", "unset", "apply", "link"];

/// Reads a seed for a FILE at `config`; `folder` has files that it may name, besides those beside FILE.
pub fn prepare(text: &str, config: &Path, folder: Option<&Path>) -> Prepared {
    if text.starts_with("#cloud-config") || text.starts_with("#!") {
        let what = "it is for cloud-init, which is not here: hand over TOML or an ns.conf";
        return Prepared { text: Err(vec![what.into()]), left_out: Vec::new() };
    }
    if is_ns_conf(text) {
        return from_ns_conf(text, config, folder);
    }
    let problems = problems(text, config, folder);
    let text = if problems.is_empty() { Ok(text.to_owned()) } else { Err(problems) };
    Prepared { text, left_out: Vec::new() }
}

/// Whether most lines begin as NetScaler's do. TOML has none that does.
pub fn is_ns_conf(text: &str) -> bool {
    let says = |line: &&str| {
        let first = line.split_whitespace().next().unwrap_or_default();
        VERBS.iter().any(|verb| first.eq_ignore_ascii_case(verb)) && !line.contains('=')
    };
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).take(1_000);
    let (all, theirs) = (lines().count(), lines().filter(says).count());
    all > 0 && theirs * 2 > all
}

/// What keeps a text from loading as FILE, in words.
pub fn problems(text: &str, config: &Path, folder: Option<&Path>) -> Vec<String> {
    load(text, config, folder).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

/// A text as FILE would be loaded. Errors: what keeps it from that.
pub fn load(text: &str, config: &Path, folder: Option<&Path>) -> Result<Loaded, Vec<Problem>> {
    let root = Source { path: config.display().to_string().into(), text: text.into() };
    let files =
        Layered { seed: folder.map(|folder| DiskFiles::beside(&folder.join("FILE"))), disk: DiskFiles::beside(config) };
    config::load(root, &[], &files)
        .map_err(|problems| problems.into_iter().filter(|problem| problem.severity == Severity::Error).collect())
}

fn from_ns_conf(text: &str, config: &Path, folder: Option<&Path>) -> Prepared {
    let imported = match import(text) {
        Ok(imported) => imported,
        Err(why) => return Prepared { text: Err(vec![why]), left_out: Vec::new() },
    };
    let mut left_out: Vec<String> = imported.lines.iter().filter_map(left_of).collect();
    let coverage = imported.coverage();
    if coverage.carried + coverage.partly == 0 {
        left_out.insert(0, "no line of it can be carried".into());
        return Prepared { text: Err(left_out), left_out: Vec::new() };
    }
    let mut root = imported.document.into_root();
    for _ in 0..ROUNDS_MOST {
        let text = match Document::from_root(root.clone()).to_toml() {
            Ok(text) => text,
            Err(why) => return Prepared { text: Err(vec![why]), left_out: Vec::new() },
        };
        let Err(problems) = load(&text, config, folder) else { return Prepared { text: Ok(text), left_out } };
        let removed: Vec<String> = problems.iter().filter_map(|problem| take_out(&mut root, problem)).collect();
        if removed.is_empty() {
            let problems = problems.iter().map(ToString::to_string).collect();
            return Prepared { text: Err(problems), left_out: Vec::new() };
        }
        left_out.extend(removed);
    }
    Prepared { text: Err(vec!["it does not come to load by leaving out objects".into()]), left_out: Vec::new() }
}

/// What of a line is not carried and would change traffic or is whole.
fn left_of(line: &Line) -> Option<String> {
    match &line.fate {
        Fate::Carried | Fate::Irrelevant(_) => None,
        Fate::Missing { what, whole, .. } => {
            let how = if *whole { "not carried" } else { "carried in part" };
            Some(format!("line {}: {how}: {}", line.number, what.join("; ")))
        }
    }
}

/// Removes the object that a problem is about. `None`: it is about none that is there.
fn take_out(root: &mut Map<String, Value>, problem: &Problem) -> Option<String> {
    let (kind, rest) = problem.path.split_once('.')?;
    let objects = root.get_mut(kind)?.as_object_mut()?;
    // Names may have dots, and stand in quotes then; the longest that fits is meant.
    let begins =
        |name: &str| rest.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    let quoted = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let fits = |name: &&String| begins(name) || begins(&quoted(name));
    let name = objects.keys().filter(fits).max_by_key(|name| name.len())?.clone();
    objects.shift_remove(&name);
    if objects.is_empty() {
        root.shift_remove(kind);
    }
    Some(format!("{kind} {name}: left out: {}", problem.what))
}

/// Files that came with a seed, before those of the disk.
struct Layered {
    seed: Option<DiskFiles>,
    disk: DiskFiles,
}

// === impl Layered ===

impl Layered {
    fn first<T>(&self, ask: impl Fn(&DiskFiles) -> Result<T, String>) -> Result<T, String> {
        self.seed.as_ref().and_then(|seed| ask(seed).ok()).map_or_else(|| ask(&self.disk), Ok)
    }
}

impl Files for Layered {
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        self.disk.glob(pattern)
    }

    fn read(&self, path: &str) -> Result<String, String> {
        self.first(|files| files.read(path))
    }

    fn read_named(&self, path: &str) -> Result<Option<String>, String> {
        self.first(|files| files.read_named(path))
    }

    fn read_key(&self, path: &str) -> Result<Option<String>, String> {
        self.first(|files| files.read_key(path))
    }

    fn read_database(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        self.first(|files| files.read_database(path))
    }

    fn now(&self) -> Option<i64> {
        self.disk.now()
    }

    fn has_secret(&self, secret: &Secret) -> Option<bool> {
        self.disk.has_secret(secret)
    }
}
