//! L5: the command line. One program, many commands; what talks to a running appliance does so over REST, through the
//! Unix socket in its state directory or over TCP ([`client`]), so that validation, authorisation and audit are the same
//! as for every other way in. `check`, `test`, `simulate`, `replay` and `passwd` need no running appliance.

pub mod args;
mod check;
mod client;
mod config;
pub mod demo;
mod drill;
mod explain;
mod generated;
mod import;
mod journal;
mod login_check;
mod login_name;
mod manual;
mod named;
mod nstrace;
mod passwd;
mod shell;
mod terminal;
mod token;
mod top;

use std::process::ExitCode;

use clap::Parser as _;

use crate::model::visible::{in_json, visible};
use crate::rehearse;
use args::{Cli, Command, DrillWhat, ExplainWhat, FirstBootArgs, Keep, RunArgs};

pub(crate) use client::{Client, runtime};
pub use client::{SOCKET_NAME, state_directory};
pub use passwd::hashed as hash_password;

/// What the arguments ask for.
#[derive(Debug)]
pub enum Invocation {
    /// Run the appliance: not ours to do.
    Run(RunArgs),
    /// What comes before it on an appliance: not ours either.
    FirstBoot(FirstBootArgs),
    /// Be the process for a statement for ORACLE: not ours to do either.
    SqlProbe,
    /// About the appliance as a whole: not ours to do either.
    Keep(Keep),
    Other(Command),
}

/// Reads the arguments of the process. Prints help, version and errors itself and exits with 0 or 2.
pub fn parse() -> Invocation {
    match Cli::parse().command {
        Command::Run(args) => Invocation::Run(args),
        Command::FirstBoot(args) => Invocation::FirstBoot(args),
        Command::SqlProbe => Invocation::SqlProbe,
        Command::Keep(Keep::Nstrace(args)) => Invocation::Other(Command::Keep(Keep::Nstrace(args))),
        Command::Keep(keep) => Invocation::Keep(keep),
        other => Invocation::Other(other),
    }
}

/// Carries out everything but `run`.
pub fn run(command: Command) -> ExitCode {
    match command {
        Command::Run(_) => absent("run", "it is started by the program itself"),
        Command::FirstBoot(_) => absent("first-boot", "it is started by the program itself"),
        Command::Keep(Keep::Nstrace(args)) => nstrace::run(&args),
        Command::SqlProbe | Command::Keep(_) => absent("this command", "the program itself carries it out"),
        Command::Check(args) => check::run(&args),
        Command::Shell(args) => shell::run(args),
        Command::Import { file, strict, all } => import::run(&file, strict, all),
        Command::Diff(args) => config::diff(&args),
        Command::Apply(args) => config::apply(&args),
        Command::Reload(target) => config::reload(&target),
        Command::Test { paths, junit } => rehearse::test(&paths, &rehearse::TestOptions { junit }),
        Command::Simulate { config, events } => rehearse::simulate(&config, &events),
        Command::Replay { state_dir } => rehearse::replay(&state_dir),
        Command::Journal(args) => journal::journal(&args),
        Command::Timeline(args) => journal::timeline(&args),
        Command::Explain { what: ExplainWhat::Dns(args) } => explain::dns(&args),
        Command::Explain { what: ExplainWhat::Request(args) } => explain::request(&args),
        Command::Explain { what: ExplainWhat::Service(args) } => explain::service(&args),
        Command::Drill { what: DrillWhat::Start(args) } => drill::start(&args),
        Command::Drill { what: DrillWhat::Stop(args) } => drill::stop(&args),
        Command::Drill { what: DrillWhat::List(args) } => drill::list(&args),
        Command::Drill { what: DrillWhat::Show(args) } => drill::show(&args),
        Command::Manual { page } => manual::run(page.as_deref()),
        Command::Top(args) => top::run(&args),
        Command::Passwd => passwd::run(),
        Command::LoginCheck(args) => login_check::run(&args),
        Command::LoginName(args) => login_name::run(&args),
        Command::Token { what } => token::run(&what),
        Command::DemoBackend(args) => demo_backend(args),
        Command::Completion { shell } => generated::completion(shell),
        Command::ManPage => generated::page(),
    }
}

fn demo_backend(args: demo::DemoArgs) -> ExitCode {
    match client::runtime().and_then(|runtime| runtime.block_on(demo::run(args)).map_err(|e| e.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&format!("demo-backend: {error}")),
    }
}

fn absent(command: &str, instead: &str) -> ExitCode {
    fail(&format!("{command}: not available in this build; {instead}"))
}

/// A line on stdout, as people may read it: whatever a name, a comment or another machine says, it is text. A reader that
/// is gone (`| head`) is no error of ours.
fn say(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stdout().lock(), "{}", visible(line));
}

/// The same for programs.
fn say_json(value: &serde_json::Value) {
    say(&in_json(&format!("{value:#}")));
}

/// A line on stderr.
fn aside(line: &str) {
    eprintln!("{}", visible(line));
}

/// Says what went wrong, on stderr, and fails.
fn fail(what: &str) -> ExitCode {
    aside(&format!("bascule {what}"));
    ExitCode::FAILURE
}
