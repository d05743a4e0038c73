//! `bascule test`: scripts with expectations, judged.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use super::script::{self, Script};
use super::walk::{Failure, Walk, check_names, walk};
use super::{TestOptions, fail, junit, timeline};
use crate::files;
use crate::model::Model;
use crate::model::visible::visible;

/// How deep folders are searched.
const DEPTH_MOST: usize = 16;

/// A script with its configuration, names checked.
#[derive(Debug)]
pub struct Prepared {
    pub script: Script,
    pub model: Arc<Model>,
    folder: PathBuf,
}

/// What became of one file.
#[derive(Debug)]
pub(super) struct Tested {
    pub path: PathBuf,
    /// Errors: the script or its configuration has problems, a line each.
    pub result: Result<Walk, Vec<String>>,
}

/// Runs event scripts with expectations through the engine in virtual time. A path is a script, or a folder with
/// scripts (`*.events`) in it, or a configuration with a script beside it. 1 with a difference or a problem.
pub fn test(paths: &[PathBuf], options: &TestOptions) -> ExitCode {
    let scripts = match find(paths) {
        Ok(scripts) => scripts,
        Err(what) => return fail("test", &what),
    };
    let tested: Vec<Tested> = scripts.iter().map(|path| run(path)).collect();
    for tested in &tested {
        print!("{}", visible(&report(tested)));
    }
    let failed = tested.iter().filter(|tested| !tested.is_good()).count();
    let expectations: usize = tested.iter().map(Tested::expectations).sum();
    println!("{}, {}, {failed} failed", counted(tested.len(), "script"), counted(expectations, "expectation"));
    if let Some(path) = &options.junit
        && let Err(error) = std::fs::write(path, junit::report(&tested))
    {
        return fail("test", &format!("cannot write {}: {error}", path.display()));
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One script, walked.
pub(super) fn run(path: &Path) -> Tested {
    let result = prepare(path, None)
        .map(|prepared| walk(&prepared.script, &prepared.model, &|file| prepared.reload(file), false));
    Tested { path: path.to_owned(), result }
}

/// Reads a script and the configuration it speaks of (`config`, else what it names, else the file beside it), and
/// checks every name. Errors: everything that is wrong, a line each.
pub fn prepare(path: &Path, config: Option<&Path>) -> Result<Prepared, Vec<String>> {
    let shown = path.display().to_string();
    let text = files::read_text(path).map_err(|e| vec![format!("{shown}: cannot be read: {e}")])?;
    let place = |wrong: &script::Wrong| format!("{shown}:{}: {}", wrong.line, wrong.what);
    let script = script::parse(&shown, &text).map_err(|wrong| wrong.iter().map(place).collect::<Vec<_>>())?;
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    let config = match (config, &script.config) {
        (Some(config), _) => config.to_owned(),
        (None, Some(named)) => folder.join(named),
        (None, None) => beside(path).map_err(|what| vec![format!("{shown}: {what}")])?,
    };
    let model = load(&config)?;
    let prepared = Prepared { script, model, folder };
    let wrong = check_names(&prepared.script, &prepared.model, &|file| prepared.reload(file));
    if wrong.is_empty() { Ok(prepared) } else { Err(wrong.iter().map(place).collect()) }
}

/// The model of a configuration. Errors: every problem, a line each.
fn load(config: &Path) -> Result<Arc<Model>, Vec<String>> {
    match files::load(config, &[]) {
        Ok(loaded) => Ok(loaded.model),
        Err(problems) => Err(problems.iter().map(ToString::to_string).collect()),
    }
}

/// The configuration of a script that names none: of the same name, else the only one in its folder.
fn beside(script: &Path) -> Result<PathBuf, String> {
    let same = script.with_extension("toml");
    if same.is_file() {
        return Ok(same);
    }
    let folder = script.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.is_file() && path.extension().is_some_and(|e| e == "toml")).collect();
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        _ => Err(format!("there is no {}; say `config FILE` in the first line", same.display())),
    }
}

fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut scripts = Vec::new();
    for path in paths {
        if !path.is_dir() {
            // A configuration stands for the script beside it.
            let is_config = path.extension().is_some_and(|extension| extension == "toml");
            scripts.push(if is_config { path.with_extension("events") } else { path.clone() });
            continue;
        }
        let before = scripts.len();
        search(path, DEPTH_MOST, &mut scripts).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        if scripts.len() == before {
            return Err(format!("{} has no scripts (*.events)", path.display()));
        }
    }
    if scripts.is_empty() { Err("name a script or a folder with scripts (*.events)".into()) } else { Ok(scripts) }
}

fn search(folder: &Path, depth: usize, scripts: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() && depth > 0 {
            search(&path, depth - 1, scripts)?;
        } else if path.extension().is_some_and(|extension| extension == "events") {
            scripts.push(path);
        }
    }
    Ok(())
}

fn report(tested: &Tested) -> String {
    let path = tested.path.display();
    match &tested.result {
        Err(problems) => problems.iter().map(|line| format!("{line}\n")).collect(),
        Ok(_) if tested.is_good() => format!("{path}: {} met\n", counted(tested.expectations(), "expectation")),
        Ok(walk) => walk.failures().map(|failure| difference(&path.to_string(), failure)).collect(),
    }
}

/// Where, what was expected, what was so instead, and what had happened before.
pub(super) fn difference(path: &str, failure: &Failure) -> String {
    let Failure { line, expected, got, at, before } = failure;
    let mut text = format!("{path}:{line}: {expected}\n");
    // Behind a step that could not be carried out there is nothing to expect.
    if let Some((_, expectation)) = expected.split_once("expect ") {
        text += &format!("  expected  {expectation}\n");
    }
    text += &format!("  got       {got}\n  at        {}\n", timeline::stamp(*at));
    for (index, line) in before.iter().enumerate() {
        text += &format!("  {}  {line}\n", if index == 0 { "before  " } else { "        " });
    }
    text
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

// === impl Prepared ===

impl Prepared {
    /// The configuration that a `reload` of the script names.
    pub fn reload(&self, file: &str) -> Result<Arc<Model>, String> {
        load(&self.folder.join(file)).map_err(|lines| lines.join("\n"))
    }
}

// === impl Tested ===

impl Tested {
    pub fn is_good(&self) -> bool {
        self.result.as_ref().is_ok_and(|walk| walk.failures().next().is_none())
    }

    fn expectations(&self) -> usize {
        self.result.as_ref().map_or(0, |walk| walk.verdicts.len())
    }
}
