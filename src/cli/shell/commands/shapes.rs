//! Commands that look alike.

use super::build::{act, note};
use super::{Arguments, Command, Request, View};

pub(super) const fn enable(
    words: &'static [&'static str],
    usage: &'static str,
    view: View,
    build: fn(&Arguments) -> Result<Request, String>,
) -> Command {
    Command { words, least: 1, most: 1, options: &["reason"], usage, names: Some(view), build }
}

/// Vservers of either role have one collection: who names a role gets those alone for completion.
pub(super) const fn enable_vserver(words: &'static [&'static str], usage: &'static str, view: View) -> Command {
    enable(words, usage, view, |arguments| act("vservers", "enable", arguments, note(arguments)?))
}

pub(super) const fn disable_vserver(words: &'static [&'static str], usage: &'static str, view: View) -> Command {
    let disabled = enable(words, usage, view, |arguments| act("vservers", "disable", arguments, note(arguments)?));
    Command { options: &["reason", "expires"], ..disabled }
}

pub(super) const fn one(
    words: &'static [&'static str],
    usage: &'static str,
    names: Option<View>,
    build: fn(&Arguments) -> Result<Request, String>,
) -> Command {
    Command { words, least: 1, most: 1, options: &[], usage, names, build }
}

pub(super) const fn force(
    words: &'static [&'static str],
    usage: &'static str,
    view: View,
    build: fn(&Arguments) -> Result<Request, String>,
) -> Command {
    let options = &["force", "reason", "expires"];
    Command { words, least: 1, most: 1, options, usage, names: Some(view), build }
}

pub(super) const fn running_config(words: &'static [&'static str], usage: &'static str) -> Command {
    let build: fn(&Arguments) -> Result<Request, String> =
        |arguments| Ok(Request::RunningConfig { toml: arguments.with_or_without_value("toml").is_some() });
    Command { words, least: 0, most: 0, options: &["toml"], usage, names: None, build }
}

pub(super) const fn plain(
    words: &'static [&'static str],
    usage: &'static str,
    build: fn(&Arguments) -> Result<Request, String>,
) -> Command {
    Command { words, least: 0, most: 0, options: &[], usage, names: None, build }
}
