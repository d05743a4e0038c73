//! Commands of the session itself: what helps, leaves, and reads more of them from a file.

use super::{Command, Request};
use crate::cli::shell::configure::batch_arguments;

pub(super) const HELP: Command = Command {
    words: &["help"],
    least: 0,
    most: usize::MAX,
    options: &[],
    usage: "help [<word>...]",
    names: None,
    build: |arguments| Ok(Request::Help { words: arguments.positional.clone() }),
};

pub(super) const SHELL: Command = Command {
    words: &["shell"],
    least: 0,
    most: usize::MAX,
    options: &[],
    usage: "shell [<command>]",
    names: None,
    build: |arguments| Ok(Request::Leave { command: arguments.positional.clone() }),
};

pub(super) const BATCH: Command = Command {
    words: &["batch"],
    least: 0,
    most: 0,
    options: &["fileName", "outfile"],
    usage: "batch -fileName <file> [-outfile <file>]",
    names: None,
    build: |arguments| {
        let (file, out) = batch_arguments(arguments)?;
        Ok(Request::Batch { file, out })
    },
};
