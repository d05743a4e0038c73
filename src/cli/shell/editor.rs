//! The interactive shell: history, and completion of keywords, options and names.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use nix::sys::signal::Signal;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, ExternalPrinter as _, Helper};

use super::super::terminal::Held;
use super::ahead::{Asked, Run, Teller};
use super::complete::{Expected, Named, expected};
use super::grammar::starts_with;
use super::together::Together;
use super::{Ended, Session, configure, print};
use crate::admin::dto::Items;
use crate::model::visible::visible;
use crate::netscaler::line;

const HISTORY_MAX: usize = 1_000;

/// Pasted text is not marked any more.
const PASTE_OFF: &str = "\x1b[?2004l";

/// Reads commands until the end of the input. The exit code tells how the last command ended, as a shell's does. `setup`:
/// offers first to set the box up, where nobody has.
pub(super) fn run(session: &Session, setup: bool) -> ExitCode {
    let config = rustyline::Config::builder()
        .max_history_size(HISTORY_MAX)
        .map(|builder| builder.completion_type(rustyline::CompletionType::List).bracketed_paste(true).build());
    let editor = config.and_then(Editor::<Words<'_>, DefaultHistory>::with_config);
    let mut editor = match editor {
        Ok(editor) => editor,
        Err(error) => return super::fail(&format!("shell: no terminal: {error}")),
    };
    editor.set_helper(Some(Words { session }));
    let history = history_file();
    if let Some(file) = &history {
        let _ = editor.load_history(file);
    }
    // A terminal that cannot be edited on has none.
    let printer = editor.create_external_printer().ok();
    // What is typed while a command is at work waits as it is: not echoed, and no key means anything yet.
    let held = printer.as_ref().and_then(|_| Held::take(&[Signal::SIGTERM, Signal::SIGHUP], "", PASTE_OFF));
    let teller = match printer {
        Some(mut printer) => Teller::start(move |text| drop(printer.print(visible(&text).into_owned()))),
        None => Teller::start(|text| print(&text)),
    };
    if setup {
        session.offer_setup();
    }
    let code = read(session, &mut editor, &teller);
    drop((teller, held));
    if let Some(file) = &history {
        let _ = editor.save_history(file);
    }
    code
}

fn read(session: &Session, editor: &mut Editor<Words<'_>, DefaultHistory>, teller: &Teller) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    let mut run = Run::default();
    loop {
        let asked = Asked::now();
        let text = match editor.readline("> ") {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return code,
            Err(error) => {
                println!("ERROR: the terminal cannot be read: {error}");
                return ExitCode::FAILURE;
            }
        };
        teller.due(String::new());
        let lines: Vec<&str> = text.lines().collect();
        // A paste is a run of its own.
        let is_paste = lines.len() > 1;
        run.comes(if is_paste { Duration::MAX } else { asked.waited() });
        let is_kept = |line: &&&str| !line::tokens(line).is_ok_and(|tokens| configure::is_of_users(&tokens));
        for line in lines.iter().filter(is_kept) {
            let _ = editor.add_history_entry(line.trim());
        }
        let (failed, ended) = match &lines[..] {
            [] => (false, Ended::Well),
            [line] => {
                let (answer, ended) = session.answer(line);
                print(&answer);
                run.count(line, &answer, ended);
                (ended != Ended::Well && ended != Ended::Session, ended)
            }
            lines => pasted(session, lines, &mut run),
        };
        if ended == Ended::Session {
            return if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
        code = if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        if is_paste {
            print(&run.summary());
            run = Run::default();
        } else {
            teller.due(run.summary());
        }
    }
}

/// Whether one failed, and how the last ended.
fn pasted(session: &Session, lines: &[&str], run: &mut Run) -> (bool, Ended) {
    let (mut failed, mut told) = (false, 0);
    let mut together = Together::of(session);
    let mut tell = |line: &str, answer: String, ended: Ended| {
        told += 1;
        failed |= matches!(ended, Ended::InError | Ended::Interrupted);
        let said = if line.trim().is_empty() { String::new() } else { format!("> {}\n", line.trim()) };
        print(&(said + &answer));
        run.count(line, &answer, ended);
    };
    let mut ended = Ended::Well;
    for line in lines {
        ended = together.take(line, &mut tell);
        if matches!(ended, Ended::Session | Ended::Interrupted) {
            break;
        }
    }
    if ended != Ended::Interrupted {
        let flushed = together.flush(&mut tell);
        ended = if ended == Ended::Session { ended } else { flushed };
    }
    print(&together.warnings());
    if ended == Ended::Interrupted && told < lines.len() {
        print(&format!("{} more lines were not carried out\n", lines.len() - told));
    }
    (failed, ended)
}

fn history_file() -> Option<PathBuf> {
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".bascule_history"))
}

/// Completes what stands before the cursor.
struct Words<'a> {
    session: &'a Session,
}

// === impl Words ===

impl Words<'_> {
    /// Names of a kind; none where the appliance does not answer: completion must not get in the way.
    fn names(&self, named: Named) -> Vec<String> {
        #[derive(serde::Deserialize)]
        struct Item {
            name: String,
            /// Of a service that is a member.
            group: Option<serde_json::Value>,
        }
        let path = format!("/api/v1/{}", named.collection());
        let items = self.session.runtime.block_on(self.session.client.get::<Items<Item>>(&path));
        let items = items.map_or_else(|_| Vec::new(), |list| list.items);
        let meant = items
            .into_iter()
            .filter(|item| named != Named::Services || item.group.as_ref().is_none_or(serde_json::Value::is_null));
        meant.map(|item| item.name).collect()
    }
}

impl Completer for Words<'_> {
    type Candidate = String;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let before = &line[..cursor];
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let typed = &before[start..];
        let Ok(finished) = line::tokens(&before[..start]) else { return Ok((cursor, Vec::new())) };
        let finished: Vec<String> = finished.into_iter().map(|token| token.text).collect();
        let candidates: Vec<String> = match expected(&finished, typed) {
            Expected::Words(words) if typed.starts_with('-') => words.into_iter().map(|w| format!("-{w}")).collect(),
            Expected::Words(words) => words.into_iter().map(str::to_owned).collect(),
            Expected::Names(named) => named.into_iter().flat_map(|named| self.names(named)).collect(),
        };
        let fitting: Vec<String> = candidates.into_iter().filter(|c| starts_with(c, typed)).collect();
        Ok((start, fitting.into_iter().map(|c| c + " ").collect()))
    }
}

impl Hinter for Words<'_> {
    type Hint = String;
}
impl Highlighter for Words<'_> {}
impl Validator for Words<'_> {}
impl Helper for Words<'_> {}
