//! `bascule shell`: NetScaler's command line.
//!
//! A line goes: tokens ([`line`]) → a command of the table with its arguments ([`commands`], [`grammar`]) → calls to the
//! appliance ([`execute`]) → NetScaler's wording ([`show`]) or, with `--json`, what REST answered. After each command
//! stands `Done` or `ERROR: …`. Keywords may be shortened as long as they are unambiguous, in any case.

mod commands;
mod editor;
mod execute;
mod grammar;
mod show;

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;

use tokio::runtime::Runtime;

use super::args::ShellArgs;
use super::client::{Client, runtime};
use super::fail;
use crate::netscaler::line;
use commands::Request;
use execute::{Answer, Refused};

/// A line longer than this is no command. Bytes.
const LINE_MAX: usize = 64 << 10;

/// A session: one appliance, one way to print.
struct Session {
    client: Client,
    runtime: Runtime,
    json: bool,
}

/// What a line led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Well,
    InError,
    /// `quit`
    Session,
}

pub(super) fn run(args: ShellArgs) -> ExitCode {
    let session = Client::find(&args.target).and_then(|client| Ok((client, runtime()?)));
    let session = match session {
        Ok((client, runtime)) => Session { client, runtime, json: args.json },
        Err(error) => return fail(&format!("shell: {error}")),
    };
    if !args.commands.is_empty() {
        return session.run_all(args.commands.into_iter().map(Ok));
    }
    if std::io::stdin().is_terminal() {
        return editor::run(&session);
    }
    session.run_all(std::io::stdin().lock().lines())
}

// === impl Session ===

impl Session {
    /// Carries out every line; the exit code tells whether all went well. The first error does not end the session, as
    /// `batch` on a NetScaler does not.
    fn run_all(&self, lines: impl Iterator<Item = std::io::Result<String>>) -> ExitCode {
        let mut code = ExitCode::SUCCESS;
        for line in lines {
            let ended = match line {
                Ok(line) => self.run_line(&line),
                Err(error) => {
                    println!("ERROR: the input cannot be read: {error}");
                    return ExitCode::FAILURE;
                }
            };
            match ended {
                Ended::Well => {}
                Ended::InError => code = ExitCode::FAILURE,
                Ended::Session => break,
            }
        }
        code
    }

    fn run_line(&self, line: &str) -> Ended {
        let (out, ended) = self.answer(line);
        // A reader that is gone (`| head`) is no error of ours.
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(out.as_bytes()).and_then(|()| stdout.flush());
        ended
    }

    /// The text that a line prints, and how it ended.
    fn answer(&self, line: &str) -> (String, Ended) {
        let request = match parse(line) {
            Ok(None) => return (String::new(), Ended::Well),
            Ok(Some(Request::Quit)) => return (String::new(), Ended::Session),
            Ok(Some(request)) => request,
            Err(error) => return (self.refused(&Refused::Ours(error)), Ended::InError),
        };
        match self.runtime.block_on(execute::execute(&self.client, request)) {
            Ok(answer) => (self.told(&answer), Ended::Well),
            Err(refused) => (self.refused(&refused), Ended::InError),
        }
    }

    fn told(&self, answer: &Answer) -> String {
        if self.json {
            return format!("{:#}\n", answer.json);
        }
        let mut out = answer.text.clone();
        for warning in &answer.warnings {
            out += &format!("Warning: {warning}\n");
        }
        out + " Done\n"
    }

    fn refused(&self, refused: &Refused) -> String {
        if self.json {
            return format!("{:#}\n", refused.document());
        }
        format!("ERROR: {refused}\n")
    }
}

/// `None` for an empty line or a comment.
fn parse(line: &str) -> Result<Option<Request>, String> {
    if line.len() > LINE_MAX {
        return Err("the line is too long".into());
    }
    let tokens = line::tokens(line)?;
    if tokens.is_empty() {
        return Ok(None);
    }
    grammar::parse(&tokens).map(Some)
}
