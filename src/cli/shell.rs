//! `bascule shell`: NetScaler's command line.
//!
//! A line goes: tokens ([`line`](mod@line)) → a command of the table with its arguments ([`commands`], [`grammar`]) →
//! calls to the appliance ([`execute`]) → NetScaler's wording ([`show`]) or, with `--json`, what REST answered. After each
//! command stands `Done` or `ERROR: …`. A line that changes the configuration goes to the appliance as it is
//! ([`configure`]), together with those that came with it ([`together`]). Keywords may be shortened as long as they are unambiguous, in any case.

mod ahead;
mod boxed;
mod commands;
mod complete;
mod configure;
mod editor;
mod execute;
mod follow;
mod grammar;
mod gslb;
mod leave;
mod network;
mod nitro;
mod objects;
mod pipe;
mod policies;
mod refused;
mod setup;
mod show;
mod stat;
mod together;
mod tools;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use tokio::runtime::Runtime;

use super::args::ShellArgs;
use super::client::{Client, runtime};
use super::{aside, fail};
use crate::model::visible::{in_json, visible};
use crate::netscaler::line;
use commands::Request;
use execute::{Answer, Refused};
use pipe::Grep;
use together::{Lines, Next, Together};

/// A line longer than this is no command. Bytes.
const LINE_MAX: usize = 64 << 10;

/// A session: one appliance, one way to print.
struct Session {
    client: Client,
    runtime: Runtime,
    json: bool,
    /// A person sits there, and may interrupt a command.
    interactive: bool,
}

/// What a line led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Well,
    InError,
    /// By the person who waited for it.
    Interrupted,
    /// `quit`
    Session,
}

pub(super) fn run(args: ShellArgs) -> ExitCode {
    let session = Client::find(&args.target).and_then(|client| Ok((client, runtime()?)));
    let session = match session {
        Ok((client, runtime)) => Session { client, runtime, json: args.json, interactive: false },
        Err(error) => return fail(&format!("shell: {error}")),
    };
    if let [command] = &args.commands[..] {
        let (out, ended) = session.answer(command);
        print(&out);
        return if matches!(ended, Ended::Well | Ended::Session) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if !args.commands.is_empty() {
        return session.run_all(Lines::Given(args.commands.into_iter()), false);
    }
    if std::io::stdin().is_terminal() {
        return editor::run(&Session { interactive: true, ..session }, args.setup);
    }
    session.run_all(Lines::piped(), true)
}

// === impl Session ===

impl Session {
    /// Carries out every line; the exit code tells whether all went well. The first error does not end the session, as
    /// `batch` on a NetScaler does not; `summary`: what failed is told again at the end.
    fn run_all(&self, mut lines: Lines, summary: bool) -> ExitCode {
        let mut batch = Batch::default();
        let mut together = Together::of(self);
        let mut tell = |line: &str, answer: String, ended: Ended| {
            print(&answer);
            batch.count(line, &answer, ended);
        };
        let mut readable = true;
        loop {
            let ended = match lines.next(together.is_empty()) {
                Next::Line(line) => together.take(&line, &mut tell),
                Next::Pause => together.flush(&mut tell),
                Next::End => break,
                Next::Unreadable => {
                    readable = false;
                    break;
                }
            };
            if ended == Ended::Session {
                break;
            }
        }
        together.flush(&mut tell);
        print(&together.warnings());
        if !readable {
            print("ERROR: the input cannot be read: it is no text, or it ended\n");
            return ExitCode::FAILURE;
        }
        if summary && !self.json {
            print(&batch.summary());
        }
        if batch.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// `batch -fileName F [-outfile F]`: what it prints, and how it ended.
    fn batch(&self, file: &str, out: Option<&str>) -> (String, Ended) {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => return (self.refused(&Refused::Ours(format!("{file}: {error}"))), Ended::InError),
        };
        let mut batch = Batch::default();
        let mut told = String::new();
        let mut together = Together::of(self);
        let mut tell = |line: &str, answer: String, ended: Ended| {
            if !answer.is_empty() {
                told += &format!("exec: {}\n{answer}", line.trim());
            }
            batch.count(line, &answer, ended);
            if ended == Ended::Interrupted {
                told += "the rest of the batch was not carried out\n";
            }
        };
        let mut ended = Ended::Well;
        for line in text.lines() {
            ended = match parse(line) {
                // A batch within a batch would never have to end.
                Ok(Some((Request::Batch { .. }, _))) => {
                    let flushed = together.flush(&mut tell);
                    if flushed != Ended::Interrupted {
                        tell(line, self.refused(&Refused::Ours("a batch holds no batch".into())), Ended::InError);
                    }
                    flushed
                }
                _ => together.take(line, &mut tell),
            };
            if matches!(ended, Ended::Session | Ended::Interrupted) {
                break;
            }
        }
        if ended != Ended::Interrupted {
            together.flush(&mut tell);
        }
        told += &together.warnings();
        let summary = batch.summary();
        let ended = if batch.failed.is_empty() { Ended::Well } else { Ended::InError };
        match out.map(|out| std::fs::write(out, &*visible(&told))) {
            None => (told + &summary, ended),
            Some(Ok(())) if ended == Ended::Well => (" Done\n".to_owned(), ended),
            Some(Ok(())) => (summary, ended),
            Some(Err(error)) => {
                (self.refused(&Refused::Ours(format!("the answers are lost: {error}"))), Ended::InError)
            }
        }
    }

    /// The text that a line prints, and how it ended.
    fn answer(&self, line: &str) -> (String, Ended) {
        let (request, greps) = match parse(line) {
            Ok(None) => return (String::new(), Ended::Well),
            Ok(Some((Request::Quit, _))) => return (String::new(), Ended::Session),
            Ok(Some((Request::Leave { command }, _))) => return self.leave(&command),
            Ok(Some((Request::Setup, _))) => return self.setup(),
            Ok(Some((Request::Batch { file, out }, _))) => return self.batch(&file, out.as_deref()),
            Ok(Some((Request::Repeat { request, times, every }, greps))) => {
                return self.repeat(&request, times, every, &greps);
            }
            Ok(Some(parsed)) => parsed,
            Err(error) => return (self.refused(&Refused::Ours(error)), Ended::InError),
        };
        self.carry_out(request, &greps)
    }

    /// `shell`
    fn leave(&self, command: &[String]) -> (String, Ended) {
        match self.runtime.block_on(leave::allowed(&self.client)).and_then(|()| leave::run(command)) {
            Ok(answer) => (self.told(&answer), Ended::Well),
            Err(refused) => (self.refused(&refused), Ended::InError),
        }
    }

    fn carry_out(&self, request: Request, greps: &[Grep]) -> (String, Ended) {
        if let Request::Many(requests) = request {
            return self.all(requests, greps);
        }
        // What is often sent into a file; TOML is to load from it as it stands.
        let is_file = matches!(request, Request::RunningConfig { .. }) && !self.interactive && !self.json;
        let is_toml = is_file && matches!(request, Request::RunningConfig { toml: true });
        let carried_out = self.until_interrupted(execute::execute(&self.client, request));
        match carried_out {
            Some(Ok(mut answer)) => {
                answer.text = greps.iter().fold(answer.text, |text, grep| grep.filter(&text));
                if is_file {
                    answer.warnings.drain(..).for_each(|warning| aside(&format!("Warning: {warning}")));
                }
                if is_toml {
                    return (answer.text, Ended::Well);
                }
                (self.told(&answer), Ended::Well)
            }
            Some(Err(refused)) => (self.refused(&refused), Ended::InError),
            None => (self.refused(&Refused::interrupted()), Ended::Interrupted),
        }
    }

    /// One after the other; one that is refused does not keep the others from being carried out. One `Done` where all
    /// went well, else an error for each that did not.
    fn all(&self, requests: Vec<Request>, greps: &[Grep]) -> (String, Ended) {
        let mut answers: Vec<Answer> = Vec::new();
        let mut refused: Vec<Refused> = Vec::new();
        for request in requests {
            match self.until_interrupted(execute::execute(&self.client, request)) {
                Some(Ok(answer)) => answers.push(answer),
                Some(Err(error)) => refused.push(error),
                None => {
                    return (self.refused(&Refused::interrupted()), Ended::Interrupted);
                }
            }
        }
        let ended = if refused.is_empty() { Ended::Well } else { Ended::InError };
        if self.json {
            let told = answers.into_iter().map(|answer| answer.json);
            let told: Vec<_> = told.chain(refused.iter().map(Refused::document)).collect();
            return (format!("{:#}\n", serde_json::Value::Array(told)), ended);
        }
        let text: String = answers.iter().map(|answer| &answer.text[..]).collect();
        let mut out = greps.iter().fold(text, |text, grep| grep.filter(&text));
        for warning in answers.iter().flat_map(|answer| &answer.warnings) {
            out += &format!("Warning: {warning}\n");
        }
        for error in &refused {
            out += &self.refused(error);
        }
        (if ended == Ended::Well { out + " Done\n" } else { out }, ended)
    }

    /// Prints each answer as it comes; the last is handed back.
    fn repeat(&self, request: &Request, times: u32, every: Duration, greps: &[Grep]) -> (String, Ended) {
        let mut done = 0;
        loop {
            let (answer, ended) = self.carry_out(request.clone(), greps);
            done += 1;
            if ended != Ended::Well || done == times {
                return (answer, ended);
            }
            print(&answer);
            // The clock belongs to the runtime: it is asked within.
            if self.until_interrupted(async { tokio::time::sleep(every).await }).is_none() {
                return (String::new(), Ended::Well);
            }
        }
    }

    /// `None`: the person who sits there did not wait for it.
    fn until_interrupted<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.runtime.block_on(async {
            if !self.interactive {
                return Some(work.await);
            }
            tokio::select! {
                done = work => Some(done),
                _ = tokio::signal::ctrl_c() => None,
            }
        })
    }

    fn told(&self, answer: &Answer) -> String {
        if self.json {
            return in_json(&format!("{:#}\n", answer.json)).into_owned();
        }
        let mut out = answer.text.clone();
        for warning in &answer.warnings {
            out += &format!("Warning: {warning}\n");
        }
        out + " Done\n"
    }

    fn refused(&self, refused: &Refused) -> String {
        if self.json {
            return in_json(&format!("{:#}\n", refused.document())).into_owned();
        }
        format!("ERROR: {refused}\n")
    }
}

/// Whatever a name, a comment or an appliance says, it is text. A reader that is gone (`| head`) is no error of ours.
fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(visible(text).as_bytes()).and_then(|()| stdout.flush());
}

/// Many lines, and which of them failed.
#[derive(Default)]
struct Batch {
    /// Lines so far, empty ones too: they are counted as an editor counts them.
    lines: usize,
    commands: usize,
    /// Number, line, error.
    failed: Vec<(usize, String, String)>,
}

// === impl Batch ===

impl Batch {
    fn count(&mut self, line: &str, answer: &str, ended: Ended) {
        self.lines += 1;
        self.commands += usize::from(!answer.is_empty());
        if matches!(ended, Ended::InError | Ended::Interrupted) {
            self.failed.push((self.lines, line.trim().to_owned(), answer.trim_end().to_owned()));
        }
    }

    /// Nothing where all went well.
    fn summary(&self) -> String {
        if self.failed.is_empty() || self.commands < 2 {
            return String::new();
        }
        let mut out = format!("{} of {} commands failed:\n", self.failed.len(), self.commands);
        for (number, line, error) in &self.failed {
            out += &format!("\tline {number}: {line}\n\t\t{error}\n");
        }
        out
    }
}

/// What a line asks for, and what the answer goes through; `None` for an empty line or a comment.
fn parse(line: &str) -> Result<Option<(Request, Vec<Grep>)>, String> {
    if line.len() > LINE_MAX {
        return Err("the line is too long".into());
    }
    let tokens = line::tokens(line)?;
    if tokens.is_empty() {
        return Ok(None);
    }
    let is_configuration = configure::is_configuration(&tokens);
    let asked = tokens.iter().position(|token| !token.quoted && token.text == "?");
    let is_piped = |at: usize| tokens[..at].iter().any(|token| !token.quoted && token.text == "|");
    if let Some(at) = asked.filter(|at| is_configuration || !is_piped(*at)) {
        let words = tokens[..at].iter().map(|token| token.text.clone()).collect();
        let (_, greps) = pipe::split(&tokens[at..])?;
        return Ok(Some((Request::Help { words }, greps)));
    }
    if is_configuration {
        return Ok(Some((Request::Line(line.trim().to_owned()), Vec::new())));
    }
    let (command, greps) = pipe::split(&tokens)?;
    grammar::parse(command).map(|request| Some((request, greps)))
}

/// What a line asks for.
#[cfg(test)]
fn request(line: &str) -> Result<Option<Request>, String> {
    parse(line).map(|parsed| parsed.map(|(request, _)| request))
}
