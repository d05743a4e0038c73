//! The interactive shell: history, and completion of keywords, options and names.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, ExternalPrinter as _, Helper};

use super::super::terminal::Held;
use super::ahead::{Run, Teller};
use super::commands::{COMMANDS, Command, View};
use super::grammar::{starts_with, unique};
use super::{Ended, Session, configure, print};
use crate::admin::dto::Items;
use crate::netscaler::line;

const HISTORY_MAX: usize = 1_000;

/// Pasted text is not marked any more.
const PASTE_OFF: &str = "\x1b[?2004l";

/// Reads commands until the end of the input. The exit code tells how the last command ended, as a shell's does.
pub(super) fn run(session: &Session) -> ExitCode {
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
        Some(mut printer) => Teller::start(move |text| drop(printer.print(text))),
        None => Teller::start(|text| print(&text)),
    };
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
        let asked = Instant::now();
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
        run.comes(if is_paste { Duration::MAX } else { asked.elapsed() });
        code = ExitCode::SUCCESS;
        for (at, line) in lines.iter().enumerate() {
            let _ = editor.add_history_entry(line.trim());
            let (answer, ended) = session.answer(line);
            let said = if is_paste && !line.trim().is_empty() { format!("> {}\n", line.trim()) } else { String::new() };
            print(&(said + &answer));
            run.count(line, &answer, ended);
            match ended {
                Ended::Well => {}
                Ended::InError => code = ExitCode::FAILURE,
                Ended::Session => return code,
                Ended::Interrupted => {
                    code = ExitCode::FAILURE;
                    let left = lines.len() - at - 1;
                    if left > 0 {
                        print(&format!("{left} more lines were not carried out\n"));
                    }
                    break;
                }
            }
        }
        if is_paste {
            print(&run.summary());
            run = Run::default();
        } else {
            teller.due(run.summary());
        }
    }
}

fn history_file() -> Option<PathBuf> {
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".bascule_history"))
}

/// Completes what stands before the cursor.
struct Words<'a> {
    session: &'a Session,
}

/// What may come next.
#[derive(Debug, PartialEq, Eq)]
enum Expected {
    Words(Vec<&'static str>),
    /// The name of an object of this kind.
    Name(View),
}

/// What may follow the finished words of a line, the word being typed apart.
fn expected(finished: &[String], typed: &str) -> Expected {
    if let Some(view) = configure::named(finished).filter(|_| !typed.starts_with('-')) {
        return Expected::Name(view);
    }
    let of_shell = expected_of_shell(finished, typed);
    match (of_shell, configure::expected(finished, typed)) {
        (Expected::Words(mut words), Some(more)) => {
            words.extend(more.into_iter().filter(|word| !words.contains(word)).collect::<Vec<_>>());
            Expected::Words(words)
        }
        (of_shell, _) => of_shell,
    }
}

fn expected_of_shell(finished: &[String], typed: &str) -> Expected {
    let mut candidates: Vec<&'static Command> = COMMANDS.iter().collect();
    for (depth, word) in finished.iter().enumerate() {
        let deeper: Vec<_> =
            candidates.iter().copied().filter(|c| c.words.get(depth).is_some_and(|w| starts_with(w, word))).collect();
        let whole: Vec<_> = deeper.iter().copied().filter(|c| c.words[depth].eq_ignore_ascii_case(word)).collect();
        let deeper = if whole.is_empty() { deeper } else { whole };
        if deeper.is_empty() && depth == 0 {
            return Expected::Words(Vec::new());
        }
        if deeper.is_empty() {
            break;
        }
        candidates = deeper;
    }
    let words = unique(candidates.iter().filter_map(|c| c.words.get(finished.len()).copied()));
    let command = candidates.iter().find(|c| c.words.len() <= finished.len());
    match command {
        Some(command) if typed.starts_with('-') => Expected::Words(command.options.to_vec()),
        Some(Command { words, names: Some(view), .. }) if words.len() == finished.len() => Expected::Name(*view),
        _ => Expected::Words(words),
    }
}

// === impl Words ===

impl Words<'_> {
    /// Names of a kind; none where the appliance does not answer: completion must not get in the way.
    fn names(&self, view: View) -> Vec<String> {
        #[derive(serde::Deserialize)]
        struct Named {
            name: String,
        }
        let path = format!("/api/v1/{}", view.collection());
        let items = self.session.runtime.block_on(self.session.client.get::<Items<Named>>(&path));
        items.map_or_else(|_| Vec::new(), |list| list.items.into_iter().map(|item| item.name).collect())
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
        let candidates = match expected(&finished, typed) {
            Expected::Words(words) if typed.starts_with('-') => words.into_iter().map(|w| format!("-{w}")).collect(),
            Expected::Words(words) => words.into_iter().map(str::to_owned).collect(),
            Expected::Name(view) => self.names(view),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn after(line: &str, typed: &str) -> Expected {
        let finished: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        expected(&finished, typed)
    }

    #[test]
    fn keywords_then_names_then_options_are_completed() {
        let Expected::Words(first) = after("", "") else { panic!("words come first") };
        assert!(first.contains(&"show") && first.contains(&"disable"));
        assert_eq!(
            after("sh lb", "v"),
            Expected::Words(vec!["vserver", "monitor", "monbindings", "persistentSessions"])
        );
        assert_eq!(after("add lb", "v"), Expected::Words(vec!["group", "monitor", "parameter", "vserver"]));
        assert_eq!(after("rm lb vs", ""), Expected::Name(View::LbVserver));
        assert_eq!(after("disable service", "w"), Expected::Name(View::Service));
        assert_eq!(
            after("disable service web1", "-g"),
            Expected::Words(vec!["graceFul", "delay", "wait", "reason", "expires"])
        );
    }
}
