//! Tokens to a command of the table and its arguments: keywords by unique prefix, options by unique prefix, the rest in
//! order.

use super::commands::{COMMANDS, Command, Request};
use crate::netscaler::line::{self, Token};

/// Commands that a range (`web[1-3]`) makes one of for each.
const RANGED: [&str; 6] = ["show", "stat", "enable", "disable", "set", "kill"];

/// What follows the keywords.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Arguments {
    pub positional: Vec<String>,
    /// By the option's whole name; an option without a value has none.
    options: Vec<(&'static str, Option<String>)>,
}

/// Errors are NetScaler's: no such command, ambiguous, too few or too many arguments, no such argument.
pub(super) fn parse(tokens: &[Token]) -> Result<Request, String> {
    let (command, used) = find(tokens)?;
    if !RANGED.contains(&command.words[0]) {
        return built(command, &tokens[used..]);
    }
    let lines = line::ranges(&tokens[used..]).map_err(|error| error.message)?;
    let requests = lines.iter().map(|line| built(command, line)).collect::<Result<Vec<_>, _>>()?;
    Ok(Request::together(requests))
}

fn built(command: &Command, tokens: &[Token]) -> Result<Request, String> {
    let arguments = arguments(command, tokens)?;
    if arguments.positional.len() < command.least {
        return Err(format!("Too few arguments; {}", command.usage));
    }
    if arguments.positional.len() > command.most {
        return Err(format!("Too many arguments; {}", command.usage));
    }
    (command.build)(&arguments)
}

/// The command that the first tokens name, and how many they are. A whole word wins over words that it begins.
fn find(tokens: &[Token]) -> Result<(&'static Command, usize), String> {
    let mut candidates: Vec<&'static Command> = COMMANDS.iter().collect();
    for (depth, token) in tokens.iter().enumerate() {
        let complete = |c: &&&'static Command| c.words.len() == depth;
        let deeper: Vec<&'static Command> =
            if token.quoted { Vec::new() } else { narrowed(&candidates, depth, &token.text) };
        if deeper.is_empty() {
            // The keywords end here: the rest are arguments.
            return match candidates.iter().find(complete) {
                Some(command) => Ok((command, depth)),
                None => Err(no_such(&candidates, depth, &token.text)),
            };
        }
        let next = unique(deeper.iter().map(|c| c.words[depth]));
        if next.len() > 1 {
            return Err(format!("Ambiguous command: {} can be {}", token.text, next.join(", ")));
        }
        candidates = deeper;
    }
    match candidates.iter().find(|c| c.words.len() == tokens.len()) {
        Some(command) => Ok((command, tokens.len())),
        None => Err(format!("Incomplete command; what follows is one of: {}", following(&candidates, tokens.len()))),
    }
}

/// Those whose word at `depth` is `word`, else those whose word begins with it.
fn narrowed(candidates: &[&'static Command], depth: usize, word: &str) -> Vec<&'static Command> {
    let at = |c: &&'static Command| c.words.get(depth).copied().unwrap_or_default();
    let whole: Vec<_> = candidates.iter().copied().filter(|c| at(c).eq_ignore_ascii_case(word)).collect();
    if !whole.is_empty() || word.is_empty() {
        return whole;
    }
    // `serviceg` has always meant the group.
    let is_too_short = |c: &&'static Command| {
        // And `sh` is `show`: what is beside it could be anything.
        at(c) == "serviceGroupMember" && word.len() <= "serviceGroup".len() || at(c) == "shell"
    };
    candidates.iter().copied().filter(|c| starts_with(at(c), word) && !is_too_short(c)).collect()
}

fn no_such(candidates: &[&'static Command], depth: usize, word: &str) -> String {
    if depth == 0 {
        return format!("No such command: {word}; `help` lists what there is");
    }
    format!("No such command: {word}; what follows is one of: {}", following(candidates, depth))
}

fn following(candidates: &[&'static Command], depth: usize) -> String {
    unique(candidates.iter().filter_map(|c| c.words.get(depth).copied())).join(", ")
}

/// Each word once, in the order in which they come.
pub(super) fn unique(words: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut seen = Vec::new();
    for word in words {
        if !seen.contains(&word) {
            seen.push(word);
        }
    }
    seen
}

fn arguments(command: &Command, tokens: &[Token]) -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    let mut rest = tokens.iter().peekable();
    while let Some(token) = rest.next() {
        let option = token.text.strip_prefix('-').filter(|o| !token.quoted && !o.is_empty());
        let Some(option) = option else {
            arguments.positional.push(token.text.clone());
            continue;
        };
        let name = option_name(command, option)?;
        if arguments.options.iter().any(|(known, _)| *known == name) {
            return Err(format!("Argument given twice: -{name}"));
        }
        let value = rest.next_if(|next| next.quoted || !next.text.starts_with('-')).map(|next| next.text.clone());
        arguments.options.push((name, value));
    }
    Ok(arguments)
}

fn option_name(command: &Command, option: &str) -> Result<&'static str, String> {
    if let Some(whole) = command.options.iter().find(|o| o.eq_ignore_ascii_case(option)) {
        return Ok(whole);
    }
    let mut found = command.options.iter().filter(|o| starts_with(o, option));
    match (found.next(), found.next()) {
        (Some(name), None) => Ok(name),
        (Some(one), Some(two)) => Err(format!("Ambiguous argument: -{option} can be -{one}, -{two}")),
        (None, _) => Err(format!("No such argument: -{option}; {}", command.usage)),
    }
}

pub(super) fn starts_with(word: &str, beginning: &str) -> bool {
    word.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
}

// === impl Arguments ===

impl Arguments {
    pub fn positional(&self, at: usize) -> Option<&str> {
        self.positional.get(at).map(|text| &text[..])
    }

    /// The value of an option that must have one where it is given.
    pub fn value(&self, name: &str) -> Result<Option<&str>, String> {
        match self.options.iter().find(|(known, _)| *known == name) {
            None => Ok(None),
            Some((_, Some(value))) => Ok(Some(value)),
            Some((_, None)) => Err(format!("Argument value missing: -{name}")),
        }
    }

    /// `Some` where the option is given; a value may follow it.
    pub fn with_or_without_value(&self, name: &str) -> Option<Option<&str>> {
        self.options.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_deref())
    }

    /// `YES` or `NO`; an option without a value means YES.
    pub fn yes_no(&self, name: &str) -> Result<Option<bool>, String> {
        match self.options.iter().find(|(known, _)| *known == name) {
            None => Ok(None),
            Some((_, None)) => Ok(Some(true)),
            Some((_, Some(value))) => match &value.to_ascii_uppercase()[..] {
                "YES" | "ENABLED" | "ON" | "TRUE" => Ok(Some(true)),
                "NO" | "DISABLED" | "OFF" | "FALSE" => Ok(Some(false)),
                _ => Err(format!("Invalid value: -{name} is YES or NO, not {value}")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::commands::{Request, View};
    use super::super::request as parse;

    fn request(line: &str) -> Result<Request, String> {
        parse(line).map(|r| r.expect("the line is not empty"))
    }

    fn shows(line: &str, view: View, name: Option<&str>) {
        let expected = Request::Show { view, name: name.map(Into::into), statistics: false };
        assert_eq!(request(line), Ok(expected), "{line}");
    }

    #[test]
    fn keywords_may_be_shortened_and_written_in_any_case() {
        shows("show service web1", View::Service, Some("web1"));
        shows("SH SERVICE", View::Service, None);
        shows("sh lb vs web", View::LbVserver, Some("web"));
        shows("sh cs vs", View::CsVserver, None);
        shows("show serviceg spare", View::Group, Some("spare"));
        shows("sh sc", View::Scenario, None);
    }

    #[test]
    fn a_whole_keyword_wins_over_longer_ones_and_an_ambiguous_one_says_so() {
        shows("show service serviceGroup", View::Service, Some("serviceGroup"));
        let error = request("show serv").unwrap_err();
        assert!(error.starts_with("Ambiguous command: serv can be"), "{error}");
        assert!(error.contains("service") && error.contains("server"), "{error}");
    }

    #[test]
    fn what_does_not_exist_is_named() {
        assert!(request("frobnicate x").unwrap_err().starts_with("No such command: frobnicate"));
        assert!(request("show frobs").unwrap_err().contains("what follows is one of"));
        assert!(request("disable service").unwrap_err().starts_with("Too few arguments"));
        assert!(request("show lb").unwrap_err().starts_with("Incomplete command"));
        assert!(request("disable service a -wit 3").unwrap_err().starts_with("No such argument: -wit"));
        assert!(request("show service a b").unwrap_err().starts_with("Too many arguments"));
        assert!(
            request("disable service a 1 -grace YES -GRACEFUL no").unwrap_err().starts_with("Argument given twice")
        );
    }

    #[test]
    fn a_question_mark_asks_what_can_follow() {
        let help = |words: &[&str]| Ok(Request::Help { words: words.iter().map(|w| (*w).to_owned()).collect() });
        assert_eq!(request("?"), help(&[]));
        assert_eq!(request("disable serv ?"), help(&["disable", "serv"]));
        assert_eq!(request("help disable serv"), help(&["disable", "serv"]));
    }

    #[test]
    fn a_range_makes_a_command_for_each() {
        let disable = |at: u32| Request::Act {
            put: false,
            path: format!("services/web{at:02}/disable"),
            body: serde_json::json!({"delay": "30"}),
        };
        assert_eq!(request("disable service web[09-10] 30"), Ok(Request::Many(vec![disable(9), disable(10)])));
        let show = |name: &str| Request::Show { view: View::Service, name: Some(name.into()), statistics: false };
        assert_eq!(request("show service p[1-2]"), Ok(Request::Many(vec![show("p1"), show("p2")])));
        assert_eq!(request("show service \"p[1-2]\""), Ok(show("p[1-2]")));
        let stat = |name: &str| Request::Stat { view: View::Service, name: Some(name.into()), detail: false };
        let Ok(Request::Repeat { request: once, times: 2, .. }) = request("stat service p[1-2] -ntimes 2") else {
            panic!("all of them are told, twice");
        };
        assert_eq!(*once, Request::Many(vec![stat("p1"), stat("p2")]));
        assert!(request("disable serviceGroup g[1-2] app[1-3] 80").unwrap_err().contains("as long as each other"));
    }

    #[test]
    fn a_question_mark_is_never_an_argument() {
        let help = |line: &str, words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(request(line), Ok(Request::Help { words }), "{line}");
        };
        help("set lb vserver v1 ?", &["set", "lb", "vserver", "v1"]);
        help("add server ? 192.0.2.1", &["add", "server"]);
        help("set lb vserver v1 -lbMethod ? | grep -i hash", &["set", "lb", "vserver", "v1", "-lbMethod"]);
        assert!(matches!(request("add policy patset \"?\""), Ok(Request::Line(_))));
    }

    #[test]
    fn a_quoted_word_is_never_a_keyword_or_an_option() {
        shows("show service \"-all\"", View::Service, Some("-all"));
        assert!(request("\"show\" service").is_err());
    }
}
