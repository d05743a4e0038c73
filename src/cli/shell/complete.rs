//! What may come next in a line: keywords, options, values of enumerations, names.

use super::commands::{COMMANDS, Command, View};
use super::configure;
use super::grammar::{starts_with, unique};
use crate::netscaler::choices::choices;
use crate::netscaler::resource::{Attribute, Place, Resource, Shape};

/// What may come next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Words(Vec<&'static str>),
    /// Names of objects of these kinds.
    Names(Vec<Named>),
}

/// Objects by where their names are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// What a view shows.
    Of(View),
    /// Services that are no members of groups: those are bound with their group.
    Services,
    /// A collection below `/api/v1`.
    Listed(&'static str),
}

// === impl Named ===

impl Named {
    /// Its collection below `/api/v1`.
    pub fn collection(self) -> &'static str {
        match self {
            Named::Of(view) => view.collection(),
            Named::Services => View::Service.collection(),
            Named::Listed(collection) => collection,
        }
    }
}

/// Values of the options of commands that are no configuration.
const VALUES: &[(&str, &[&str])] = &[
    ("graceFul", &["YES", "NO"]),
    ("force", &["UP", "DOWN", "NONE"]),
    ("activate", &["auto", "on", "off"]),
    ("deactivate", &["auto", "on", "off"]),
    ("override", &["YES", "NO"]),
    ("dryRun", &["YES", "NO"]),
];

/// What may follow the finished words of a line, the word being typed apart.
pub(super) fn expected(finished: &[String], typed: &str) -> Expected {
    if !typed.starts_with('-') {
        let value = value_of_shell(finished).or_else(|| value_of_configuration(finished));
        if let Some(value) = value {
            return value;
        }
        if let Some(named) = configure::named(finished) {
            return Expected::Names(vec![named]);
        }
    }
    let of_shell = of_shell(finished, typed);
    match (of_shell, configure::expected(finished, typed)) {
        (Expected::Words(mut words), Some(more)) => {
            words.extend(more.into_iter().filter(|word| !words.contains(word)).collect::<Vec<_>>());
            Expected::Words(words)
        }
        (of_shell, _) => of_shell,
    }
}

/// Commands that the words may be the beginning of; a whole word wins over those that it begins.
fn fitting(finished: &[String]) -> Vec<&'static Command> {
    let mut candidates: Vec<&'static Command> = COMMANDS.iter().collect();
    for (depth, word) in finished.iter().enumerate() {
        let deeper: Vec<_> =
            candidates.iter().copied().filter(|c| c.words.get(depth).is_some_and(|w| starts_with(w, word))).collect();
        let whole: Vec<_> = deeper.iter().copied().filter(|c| c.words[depth].eq_ignore_ascii_case(word)).collect();
        let deeper = if whole.is_empty() { deeper } else { whole };
        if deeper.is_empty() {
            // What goes on with another word is none of them; what is whole has its arguments here.
            candidates.retain(|c| c.words.len() <= depth);
            break;
        }
        candidates = deeper;
    }
    candidates
}

fn of_shell(finished: &[String], typed: &str) -> Expected {
    let candidates = fitting(finished);
    let words = unique(candidates.iter().filter_map(|c| c.words.get(finished.len()).copied()));
    let command = candidates.iter().find(|c| c.words.len() <= finished.len());
    match command {
        Some(command) if typed.starts_with('-') => Expected::Words(command.options.to_vec()),
        Some(Command { words, names: Some(view), .. }) if words.len() == finished.len() => {
            Expected::Names(vec![Named::Of(*view)])
        }
        _ => Expected::Words(words),
    }
}

/// The option that the finished words end with.
pub(super) fn option(finished: &[String]) -> Option<&str> {
    finished.last()?.strip_prefix('-').filter(|option| !option.is_empty())
}

fn value_of_shell(finished: &[String]) -> Option<Expected> {
    let option = option(finished)?;
    let command = fitting(finished).into_iter().find(|c| c.words.len() < finished.len())?;
    let mut names = command.options.iter().filter(|name| starts_with(name, option));
    let (name, None) = (names.next()?, names.next()) else { return None };
    let (_, words) = VALUES.iter().find(|(known, _)| known == name)?;
    Some(Expected::Words(words.to_vec()))
}

/// The resource that the words behind the verb name, and what stands behind its own words.
pub(super) fn resource(rest: &[String]) -> Option<(&'static Resource, &[String])> {
    let fits = |resource: &&'static Resource| {
        let words = resource.words;
        !resource.is_binding() && words.len() <= rest.len() && words.iter().zip(rest).all(|(w, t)| starts_with(w, t))
    };
    let whole = |resource: &&'static Resource| resource.words.iter().zip(rest).all(|(w, t)| w.eq_ignore_ascii_case(t));
    let found: Vec<&'static Resource> = Resource::all().filter(fits).collect();
    let found = found.iter().copied().find(whole).or_else(|| found.first().copied())?;
    Some((found, &rest[found.words.len()..]))
}

fn value_of_configuration(finished: &[String]) -> Option<Expected> {
    let (verb, rest) = finished.split_first()?;
    let is = |whole: &str| verb.len() >= 2 && starts_with(whole, verb);
    let binds = is("bind") || is("unbind");
    if !binds && !is("add") && !is("set") {
        return None;
    }
    let (resource, arguments) = resource(rest)?;
    let parts: Vec<&'static Resource> = if binds { resource.bindings().collect() } else { vec![resource] };
    if let Some(option) = option(finished) {
        let attributes = parts.iter().flat_map(|part| part.attributes().map(move |attribute| (*part, attribute)));
        let found: Vec<_> = attributes.filter(|(_, attribute)| starts_with(attribute.cli, option)).collect();
        let whole = found.iter().find(|(_, attribute)| attribute.cli.eq_ignore_ascii_case(option));
        // Several kinds of bindings may have it: `-policyName`.
        let meant = whole.or_else(|| found.first())?.1.cli;
        if found.iter().any(|(_, attribute)| attribute.cli != meant) && whole.is_none() {
            return None;
        }
        let same = found.iter().filter(|(_, attribute)| attribute.cli == meant);
        return same.filter_map(|(part, attribute)| value(part, attribute)).reduce(together);
    }
    // Behind keywords no more positions follow.
    if arguments.iter().any(|argument| argument.starts_with('-')) || is("set") {
        return None;
    }
    let mut found = parts.iter().filter_map(|part| {
        let names = part.positional.get(arguments.len())?.split('|');
        names.filter_map(|name| part.attribute(name)).find_map(|attribute| value(part, attribute))
    });
    let first = found.next()?;
    Some(found.fold(first, together))
}

fn together(one: Expected, other: Expected) -> Expected {
    match (one, other) {
        (Expected::Names(mut names), Expected::Names(more)) => {
            names.extend(more.into_iter().filter(|view| !names.contains(view)).collect::<Vec<_>>());
            Expected::Names(names)
        }
        (one, _) => one,
    }
}

/// What an attribute takes, where that is known.
pub(super) fn value(resource: &'static Resource, attribute: &'static Attribute) -> Option<Expected> {
    if let (Place::Other, Shape::Binding { to, .. }) = (attribute.place, resource.shape) {
        return configure::names_of(to).map(|named| Expected::Names(vec![named]));
    }
    let named = match attribute.nitro {
        "backupvserver" | "lbvserver" | "targetlbvserver" => Some(Named::Of(View::LbVserver)),
        "servername" => Some(Named::Of(View::Server)),
        "servicename" => Some(Named::Services),
        "servicegroupname" if !matches!(attribute.place, Place::Name) => Some(Named::Of(View::Group)),
        "monitor_name_svc" | "monitorname" if !matches!(attribute.place, Place::Name) => Some(Named::Of(View::Monitor)),
        "action" => match resource.nitro {
            "cspolicy" => Some(Named::Listed("cs-actions")),
            "responderpolicy" => Some(Named::Listed("responder-actions")),
            "rewritepolicy" => Some(Named::Listed("rewrite-actions")),
            _ => None,
        },
        _ => None,
    };
    match named {
        Some(named) => Some(Expected::Names(vec![named])),
        None => Some(choices(resource, attribute)).filter(|words| !words.is_empty()).map(Expected::Words),
    }
}

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
            Expected::Words(vec!["vserver", "monitor", "monbindings", "group", "parameter", "persistentSessions"])
        );
        let Expected::Words(groups) = after("add lb", "v") else { panic!("words") };
        assert!(groups.starts_with(&["group", "monitor", "parameter", "vserver"]));
        assert_eq!(after("rm lb vs", ""), Expected::Names(vec![Named::Of(View::LbVserver)]));
        assert_eq!(after("disable service", "w"), Expected::Names(vec![Named::Of(View::Service)]));
        assert_eq!(
            after("disable service web1", "-g"),
            Expected::Words(vec!["graceFul", "delay", "wait", "reason", "expires"])
        );
    }

    #[test]
    fn values_of_enumerations_are_completed() {
        let words = |line: &str| match after(line, "") {
            Expected::Words(words) => words,
            Expected::Names(names) => panic!("{line}: {names:?}"),
        };
        assert!(words("set lb vserver v1 -persistenceT").contains(&"SOURCEIP"));
        assert!(words("add lb vserver v1").contains(&"HTTP"));
        assert!(words("add service s1 app1").contains(&"TCP"));
        assert!(words("set lb vs v1 -lbMethod").contains(&"ROUNDROBIN"));
        assert_eq!(words("disable service web1 30 -graceFul"), ["YES", "NO"]);
        assert_eq!(words("set check api -force"), ["UP", "DOWN", "NONE"]);
        assert!(words("add lb monitor m").contains(&"HTTP"));
    }

    #[test]
    fn names_of_what_is_bound_or_referred_to_are_completed() {
        let of = |view| Expected::Names(vec![Named::Of(view)]);
        assert_eq!(after("bind lb vserver v1", ""), Expected::Names(vec![Named::Services, Named::Of(View::Group)]));
        assert_eq!(after("bind service s1 -monitorName", ""), of(View::Monitor));
        assert_eq!(after("set lb vserver v1 -backupVServer", ""), of(View::LbVserver));
        assert_eq!(after("add service s1", ""), of(View::Server));
        assert_eq!(after("bind serviceGroup g", ""), of(View::Server));
        assert_eq!(after("bind cs vserver c -lbvserver", ""), of(View::LbVserver));
        let listed = |names: &[&'static str]| Expected::Names(names.iter().map(|name| Named::Listed(name)).collect());
        let policies = ["cs-policies", "responder-policies", "rewrite-policies"];
        assert_eq!(after("bind cs vserver c -policyName", ""), listed(&policies));
        assert_eq!(after("bind lb vserver v1 -policyN", ""), listed(&policies[1..]));
        assert_eq!(after("rm responder policy", ""), listed(&["responder-policies"]));
        assert_eq!(after("add cs policy p -action", ""), listed(&["cs-actions"]));
    }
}
