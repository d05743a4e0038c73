//! A line of NetScaler's command line, or of an `ns.conf`, as statements.
//!
//! `<verb> <group> [<object>] <argument>… (-<keyword> <value>…)…`. Verbs, groups, keywords and words of enumerations may
//! be shortened as long as they are unambiguous, in any case. A range (`svc[1-3]`, `10.102.27.[53-55]`) makes a statement
//! for each; several ranges of a line go side by side. What is no command of configuration is handed back as tokens.

mod arguments;
mod range;
mod token;

pub use token::{Token, tokens};

use super::error::NsError;
use super::resource::Resource;
use super::statement::{Statement, Verb};
use super::value::shortened;

/// What a line says.
#[derive(Clone, Debug)]
pub enum Parsed {
    /// An empty line or a comment.
    Nothing,
    /// In the order in which they are to be carried out; more than one by ranges.
    Statements(Vec<Statement>),
    /// Another command: `show`, `disable`, `save`, ….
    Other(Vec<Token>),
}

/// Verbs of configuration and of everything else, for telling what an abbreviation means.
const VERBS: [&str; 17] = [
    "add", "set", "unset", "rm", "bind", "unbind", "rename", "link", "unlink", "enable", "disable", "show", "stat",
    "save", "clear", "help", "quit",
];

/// Reads a line.
///
/// Errors: 1088 no such command, 1089 ambiguous, 1090 no such argument, 1091 a value is missing, 1095 an argument is
/// missing, 1099 an ambiguous argument, 278 where a quote does not end or ranges differ in length.
pub fn parse(line: &str) -> Result<Parsed, NsError> {
    let tokens = tokens(line).map_err(|why| NsError::new(278).because(&why))?;
    parse_tokens(&tokens)
}

/// Reads a line that is taken apart already.
pub fn parse_tokens(tokens: &[Token]) -> Result<Parsed, NsError> {
    let Some(first) = tokens.first() else { return Ok(Parsed::Nothing) };
    let other = || Ok(Parsed::Other(tokens.to_vec()));
    if first.quoted {
        return other();
    }
    let word = match shortened(VERBS.iter().copied(), &first.text) {
        Ok(Some(word)) => word,
        Ok(None) => return other(),
        Err(()) => return Err(NsError::with(1089, &[&first.text])),
    };
    if word == "clear"
        && let Some(statement) = clear(tokens)
    {
        return Ok(Parsed::Statements(vec![statement]));
    }
    let verb = match word {
        "enable" | "disable" => {
            let is_feature = |at: usize, whole: &str| tokens.get(at).is_some_and(|t| begins(whole, t));
            if !(is_feature(1, "ns") && is_feature(2, "feature") && tokens[2].text.len() > 1) {
                return other();
            }
            if word == "enable" { Verb::Set } else { Verb::Unset }
        }
        "link" | "unlink" => {
            return Err(NsError::no_such_command(word).because("the chain stands in the certificate's file"));
        }
        _ => match Verb::ALL.into_iter().find(|verb| verb.word() == word) {
            Some(verb) => verb,
            None => return other(),
        },
    };
    let (resource, used) = resource(&tokens[1..], word)?;
    let rest = &tokens[1 + used..];
    let mut statements = Vec::new();
    for line in range::expanded(rest)? {
        statements.push(statement(verb, resource, &line)?);
    }
    Ok(Parsed::Statements(statements))
}

/// A line once for each value of the ranges before its keywords: `svc[1-3]`.
///
/// Errors: 278 where ranges differ in length, 1097 where one is longer than 1000.
pub fn ranges(tokens: &[Token]) -> Result<Vec<Vec<Token>>, NsError> {
    range::expanded(tokens)
}

/// `clear [ns] config [-force] <level>`
fn clear(tokens: &[Token]) -> Option<Statement> {
    let is = |at: usize, word: &str| tokens.get(at).is_some_and(|token| begins(word, token));
    let used = if is(1, "ns") && is(2, "config") { 3 } else { 2 };
    if used == 2 && !is(1, "config") {
        return None;
    }
    let mut statement = Statement::new(Verb::Remove, Resource::find("nsconfig")?);
    for token in &tokens[used..] {
        let is_force = !token.quoted && token.text.len() > 1 && begins("-force", token);
        let key = if is_force { "force" } else { "level" };
        let value = if is_force { true.into() } else { token.text.clone().into() };
        if statement.arguments.insert(key.to_owned(), value).is_some() {
            return None;
        }
    }
    Some(statement)
}

/// Whether a token is this word, or begins it.
fn begins(word: &str, token: &Token) -> bool {
    let start = word.get(..token.text.len());
    !token.quoted && !token.text.is_empty() && start.is_some_and(|start| start.eq_ignore_ascii_case(&token.text))
}

/// The resource that the first words name, and how many they are.
fn resource(tokens: &[Token], verb: &str) -> Result<(&'static Resource, usize), NsError> {
    let said = |tokens: &[Token]| {
        let words: Vec<&str> = tokens.iter().map(|token| &token.text[..]).collect();
        format!("{verb} {}", words.join(" ")).trim_end().to_owned()
    };
    let Some(first) = tokens.first().filter(|token| !token.quoted) else {
        return Err(NsError::no_such_command(&said(tokens.get(..1).unwrap_or_default())));
    };
    let all = || Resource::all().filter(|resource| !resource.is_binding());
    let mut groups: Vec<&'static str> = all().map(|resource| resource.words[0]).collect();
    groups.sort_unstable();
    groups.dedup();
    let ambiguous = |tokens: &[Token]| NsError::with(1089, &[&said(tokens)]);
    let group = shortened(groups.iter().copied(), &first.text);
    let Some(group) = group.map_err(|()| ambiguous(&tokens[..1]))? else {
        return Err(NsError::no_such_command(&said(&tokens[..tokens.len().min(2)])));
    };
    if let Some(resource) = all().find(|resource| resource.words == [group]) {
        return Ok((resource, 1));
    }
    let objects =
        all().filter(|resource| resource.words[0] == group).filter_map(|resource| resource.words.get(1).copied());
    let objects: Vec<&'static str> = objects.collect();
    let Some(second) = tokens.get(1).filter(|token| !token.quoted) else {
        return Err(NsError::no_such_command(&said(&tokens[..1])));
    };
    let object = shortened(objects.iter().copied(), &second.text).map_err(|()| ambiguous(&tokens[..2]))?;
    let found = object.and_then(|object| Resource::by_words(&[group, object]));
    let unknown = || {
        let error = NsError::no_such_command(&said(&tokens[..2]));
        match (group, &second.text.to_ascii_lowercase()[..]) {
            ("responder" | "rewrite", "global") => {
                error.because("what holds for every vserver stands in `[policy_global]`")
            }
            _ => error,
        }
    };
    found.map(|resource| (resource, 2)).ok_or_else(unknown)
}

fn statement(verb: Verb, resource: &'static Resource, tokens: &[Token]) -> Result<Statement, NsError> {
    // `set serviceGroup g 192.0.2.1 80 -weight 3`
    let names_member = tokens.get(1).is_some_and(|token| token.quoted || !token.text.starts_with('-'));
    if verb == Verb::Set && resource.nitro == "servicegroup" && names_member {
        let binding = Resource::find("servicegroup_servicegroupmember_binding");
        let binding = binding.ok_or_else(|| NsError::no_such_command("set"))?;
        return Ok(Statement { verb, resource: binding, arguments: arguments::of_binding(binding, tokens)? });
    }
    if !matches!(verb, Verb::Bind | Verb::Unbind) {
        let arguments = arguments::of_object(verb, resource, tokens)?;
        return Ok(Statement { verb, resource, arguments });
    }
    // `bind lb monitor m svc`, the other way round.
    if resource.nitro == "lbmonitor" && tokens.len() >= 2 && !tokens[1].text.starts_with('-') {
        let binding = Resource::find("service_lbmonitor_binding").ok_or_else(|| NsError::no_such_command("bind"))?;
        let statement = Statement::new(verb, binding);
        return Ok(statement.with("monitor_name", tokens[0].text.clone()).with("name", tokens[1].text.clone()));
    }
    let mut first_error = None;
    for binding in resource.bindings() {
        match arguments::of_binding(binding, tokens) {
            Ok(arguments) => return Ok(Statement { verb, resource: binding, arguments }),
            // What names an argument tells more than what misses one.
            Err(error) if first_error.as_ref().is_none_or(|old: &NsError| old.code == 1090 && error.code != 1090) => {
                first_error = Some(error);
            }
            Err(_) => {}
        }
    }
    Err(first_error.unwrap_or_else(|| NsError::no_such_command(&format!("{} {}", verb.word(), resource.said()))))
}

#[cfg(test)]
mod tests;
