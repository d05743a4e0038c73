//! `help WORD…` and `?` behind any words: the commands that begin so, and what can follow them.

use serde_json::json;

use super::commands::COMMANDS;
use super::complete::{Expected, expected, option, resource, value};
use super::configure;
use super::execute::{Answer, Refused};
use super::grammar::starts_with;
use crate::netscaler::resource::{Attribute, Joint, Place, Resource};

/// What `words` lead to; they may be shortened as in a command, and what follows the keywords may be anything.
pub(super) fn help(words: &[String]) -> Result<Answer, Refused> {
    let usages = usages(words);
    let follows = follows(words);
    if usages.is_empty() && follows.is_empty() {
        return Err(Refused::Ours(format!("No such command: {}; `help` lists what there is", words.join(" "))));
    }
    let text = usages.iter().chain(&follows).map(|line| format!("\t{line}\n")).collect();
    Ok(Answer { text, json: json!({ "commands": usages, "follows": follows }), warnings: Vec::new() })
}

/// Of commands that begin with these words.
fn usages(words: &[String]) -> Vec<String> {
    let mut usages: Vec<String> = COMMANDS.iter().map(|command| command.usage.to_owned()).collect();
    usages.extend(configure::usages());
    for (depth, word) in words.iter().enumerate() {
        let at = |usage: &String| usage.split(' ').nth(depth).unwrap_or_default().to_owned();
        // What stands for an argument may be anything.
        let fits = |usage: &String| {
            let part = at(usage);
            part.is_empty() || part.starts_with(['<', '[', '(', '-']) || starts_with(&part, word)
        };
        usages.retain(fits);
        // A whole word wins over those that it begins.
        if usages.iter().any(|usage| at(usage).eq_ignore_ascii_case(word)) {
            usages.retain(|usage| at(usage).eq_ignore_ascii_case(word));
        }
    }
    usages
}

/// Arguments and keywords of a command of configuration whose object the words name; the values of the keyword that
/// they end with.
fn follows(words: &[String]) -> Vec<String> {
    let Some((verb, rest)) = words.split_first() else { return Vec::new() };
    let known = ["add", "set", "unset", "bind", "unbind"];
    let Some(verb) = known.into_iter().find(|known| verb.len() >= 2 && starts_with(known, verb)) else {
        return Vec::new();
    };
    let Some((owner, arguments)) = resource(rest) else { return Vec::new() };
    let binds = matches!(verb, "bind" | "unbind");
    let parts: Vec<&'static Resource> = if binds { owner.bindings().collect() } else { vec![owner] };
    if let Some(option) = option(words) {
        let of_option = || {
            let attributes = parts.iter().flat_map(|part| part.attributes().map(move |attribute| (*part, attribute)));
            attributes.filter(|(_, attribute)| starts_with(attribute.cli, option))
        };
        return match expected(words, "") {
            Expected::Words(values) if verb != "unset" && of_option().next().is_some() => {
                let known = of_option().any(|(part, attribute)| value(part, attribute).is_some());
                if known { values.into_iter().map(str::to_owned).collect() } else { vec!["<value>".to_owned()] }
            }
            Expected::Names(_) => vec!["<name>".to_owned()],
            Expected::Words(_) => Vec::new(),
        };
    }
    let given = |attribute: &Attribute| {
        let options = arguments.iter().filter_map(|argument| argument.strip_prefix('-'));
        options.into_iter().any(|option| attribute.cli.eq_ignore_ascii_case(option))
    };
    let mut lines = Vec::new();
    let mut add = |line: String| {
        if !lines.contains(&line) {
            lines.push(line);
        }
    };
    if !arguments.iter().any(|argument| argument.starts_with('-')) {
        for part in &parts {
            let named = [part.key];
            let all =
                if matches!(verb, "set" | "unset") && !part.key.is_empty() { &named[..] } else { part.positional };
            if let Some(position) = all.get(arguments.len()) {
                add(said(part, position));
            }
        }
    }
    for part in &parts {
        let taken = |a: &&'static Attribute| !matches!(a.place, Place::Refused(_) | Place::Only(_) | Place::Name);
        // What stands in a line without a keyword is told above.
        // Of an object that is there already.
        let is_later = |a: &Attribute| verb == "add" && matches!(a.place, Place::With(Joint::Rebind));
        let by_position = |a: &Attribute| !matches!(verb, "set" | "unset") && is_position(part, a);
        for attribute in part.attributes().filter(taken).filter(|a| !given(a) && !by_position(a) && !is_later(a)) {
            add(match verb {
                "unset" => format!("-{}", attribute.cli),
                _ => format!("-{} {}", attribute.cli, takes(part, attribute)),
            });
        }
    }
    lines
}

fn is_position(resource: &Resource, attribute: &Attribute) -> bool {
    resource.positional.iter().flat_map(|position| position.split('|')).any(|name| name == attribute.nitro)
}

/// `<serviceType>: HTTP | SSL | …`, `<IP|serverName>`
fn said(resource: &'static Resource, position: &str) -> String {
    let attributes: Vec<&'static Attribute> = position.split('|').filter_map(|name| resource.attribute(name)).collect();
    let names: Vec<&str> = attributes.iter().map(|attribute| attribute.cli).collect();
    let name = format!("<{}>", names.join("|"));
    match attributes[..] {
        [one] => match value(resource, one) {
            Some(Expected::Words(words)) => format!("{name}: {}", words.join(" | ")),
            _ => name,
        },
        _ => name,
    }
}

/// `(ENABLED | DISABLED)`, `<name>`, `<value>`
fn takes(resource: &'static Resource, attribute: &'static Attribute) -> String {
    match value(resource, attribute) {
        Some(Expected::Words(words)) => format!("({})", words.join(" | ")),
        Some(Expected::Names(_)) => "<name>".to_owned(),
        None => "<value>".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Vec<String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let text = help(&words).unwrap_or_else(|error| panic!("{line}: {error}")).text;
        text.lines().map(|line| line.trim_start().to_owned()).collect()
    }

    fn told(line: &str, expected: &str) {
        let lines = asked(line);
        assert!(lines.iter().any(|told| told.starts_with(expected)), "{line}: {expected}: {lines:#?}");
    }

    #[test]
    fn commands_of_the_configuration_tell_their_arguments_keywords_and_values() {
        told("set lb vserver v1", "set lb vserver <name> -<parameter> <value>...");
        told("set lb vserver v1", "-timeout <value>");
        told("set lb vserver v1", "-backupVServer <name>");
        told("set lb vs", "-downStateFlush (ENABLED | DISABLED)");
        told("unset lb vserver v1", "-timeout");
        told("set lb vserver v1 -lbMethod", "LEASTCONNECTION");
        told("set lb vserver v1 -timeout", "<value>");
        told("bind cs vserver c1", "-policyName <name>");
        told("bind cs vserver", "bind cs vserver <name> -policyName <name>");
        told("bind lb vserver v1", "<serviceName>");
        told("bind lb vserver v1 s1", "-weight <value>");
        told("add service s1 app1", "<serviceType>: HTTP | SSL | TCP");
        told("add", "add lb vserver <name> <servicetype> <ipv46> <port> [-<parameter> <value>]...");
        told("rename", "rename cs policy <name> <newName>");
        told("set ns hostName", "<hostName>");
        told("help", "help [<word>...]");
    }

    #[test]
    fn a_whole_word_wins_and_acts_stand_beside_settings() {
        let lines = asked("set service s1");
        assert!(lines.iter().any(|line| line.starts_with("set service <name> -force ")), "{lines:#?}");
        assert!(lines.iter().any(|line| line.starts_with("-maxClient ")), "{lines:#?}");
        assert!(!lines.iter().any(|line| line.contains("serviceGroup <name>")), "{lines:#?}");
        let lines = asked("set responder action");
        assert!(lines.iter().any(|line| line.starts_with("-type (")), "{lines:#?}");
        assert!(help(&["frobnicate".to_owned()]).is_err());
    }
}
