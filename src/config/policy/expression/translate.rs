//! Links to tests: what is looked at, how it is read, and what it is compared with.

use regex::escape;
use serde_json::{Map, Value, json};

use super::parse::{Argument, Link, Tree};
use super::{Expression, Named, Refused, Within, read_within};

/// What a test looks at: the key of a criterion.
struct Subject {
    key: &'static str,
    /// Of a field, a cookie, a parameter.
    name: Option<String>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    /// Case never matters.
    LowerText,
    /// What follows the last dot of the path.
    Suffix,
    Method,
    Status,
    Address,
    Port,
    /// True or false by itself.
    Flag,
}

/// What is done with a text before it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    AsIs,
    Ignored,
    Lower,
    Upper,
}

/// How a text is compared.
enum How {
    Equals(Vec<String>),
    Starts(Vec<String>),
    Ends(Vec<String>),
    Contains(Vec<String>),
    Pattern(String),
}

pub(super) fn tree(tree: &Tree, named: &dyn Named, within: &Within<'_>) -> Result<Expression, Refused> {
    let all = |trees: &[Tree]| trees.iter().map(|t| self::tree(t, named, within)).collect::<Result<Vec<_>, _>>();
    match tree {
        Tree::Or(trees) => all(trees).map(Expression::Or),
        Tree::And(trees) => all(trees).map(Expression::And),
        Tree::Not(inner) => Ok(Expression::Not(Box::new(self::tree(inner, named, within)?))),
        Tree::Chain(links) => chain(links, named, within),
    }
}

fn chain(links: &[Link], named: &dyn Named, within: &Within<'_>) -> Result<Expression, Refused> {
    if let [only] = links
        && only.arguments.is_none()
    {
        return match &only.name[..] {
            "TRUE" | "NS_TRUE" => Ok(Expression::Always(true)),
            "FALSE" | "NS_FALSE" => Ok(Expression::Always(false)),
            _ => match named.expression(&only.written) {
                Some(_) if within.depth == 0 => Err(unsupported(links, "named expressions name each other too deep")),
                Some(_) if within.left.get() == 0 => Err(unsupported(links, "too many named expressions are in it")),
                Some(text) => {
                    within.left.set(within.left.get() - 1);
                    read_within(&text, named, &Within { depth: within.depth - 1, left: within.left })
                }
                None => Err(Refused::Unknown("expression", only.written.clone())),
            },
        };
    }
    let (negated, links) = match links.split_last() {
        Some((last, before)) if last.name == "NOT" && !before.is_empty() => (true, before),
        _ => (false, links),
    };
    let (subject, rest) = subject(links)?;
    let expression = match subject {
        Some(subject) => test(links, &subject, rest, named)?,
        None => Expression::Always(true),
    };
    Ok(if negated { Expression::Not(Box::new(expression)) } else { expression })
}

fn unsupported(links: &[Link], why: &'static str) -> Refused {
    let written: Vec<String> = links
        .iter()
        .map(|link| match &link.arguments {
            None => link.written.clone(),
            Some(arguments) => {
                format!("{}({})", link.written, arguments.iter().map(show).collect::<Vec<_>>().join(","))
            }
        })
        .collect();
    Refused::Unsupported(written.join("."), why)
}

fn show(argument: &Argument) -> String {
    match argument {
        Argument::Text(text) => format!("{text:?}"),
        Argument::Pattern(pattern) => format!("re/{pattern}/"),
        Argument::Word(word) => word.clone(),
    }
}

/// What the first links look at, and the links behind it. `None`: always true.
fn subject(links: &[Link]) -> Result<(Option<Subject>, &[Link]), Refused> {
    let names: Vec<&str> = links.iter().map(|link| &link.name[..]).collect();
    let named = |at: usize| match links.get(at).and_then(|link| link.arguments.as_deref()) {
        Some([Argument::Text(name) | Argument::Word(name)]) => Ok(Some(name.clone())),
        _ => Err(unsupported(links, "a name in quotes is needed here")),
    };
    let (key, name, kind, length) = match &names[..] {
        ["HTTP", "REQ", "IS_VALID", ..] => return Ok((None, &links[3..])),
        ["HTTP", "REQ", "URL", "PATH", ..] => ("path", None, Kind::Text, 4),
        ["HTTP", "REQ", "URL", "PATH_AND_QUERY", ..] => ("url", None, Kind::Text, 4),
        ["HTTP", "REQ", "URL", "SUFFIX", ..] => ("path", None, Kind::Suffix, 4),
        ["HTTP", "REQ", "URL", "QUERY", "VALUE", ..] => ("query", named(4)?, Kind::Text, 5),
        ["HTTP", "REQ", "URL", "QUERY", ..] => ("query_string", None, Kind::Text, 4),
        ["HTTP", "REQ", "URL", ..] => ("url", None, Kind::Text, 3),
        ["HTTP", "REQ", "HOSTNAME", "SERVER", ..] => ("host", None, Kind::LowerText, 4),
        ["HTTP", "REQ", "HOSTNAME", ..] => ("host", None, Kind::LowerText, 3),
        ["HTTP", "REQ", "HEADER", ..] => ("header", named(2)?, Kind::Text, 3),
        ["HTTP", "REQ", "COOKIE", "VALUE", ..] => ("cookie", named(3)?, Kind::Text, 4),
        ["HTTP", "REQ", "METHOD", ..] => ("method", None, Kind::Method, 3),
        ["HTTP", "RES", "HEADER", ..] => ("response_header", named(2)?, Kind::Text, 3),
        ["HTTP", "RES", "STATUS", ..] => ("status", None, Kind::Status, 3),
        ["CLIENT", "IP" | "IPV6", "SRC", ..] => ("client", None, Kind::Address, 3),
        ["CLIENT", "TCP" | "UDP", "DSTPORT", ..] => ("port", None, Kind::Port, 3),
        ["CLIENT", "SSL", "IS_SSL", ..] => ("tls", None, Kind::Flag, 3),
        ["CLIENT", "SSL", "CLIENT_HELLO", "SNI", ..] => ("sni", None, Kind::LowerText, 4),
        ["REQ" | "RES", ..] => {
            return Err(unsupported(links, "the classic syntax is not read; write it in the advanced one"));
        }
        _ => return Err(unsupported(links, "no criterion looks at this")),
    };
    Ok((Some(Subject { key, name, kind }), &links[length..]))
}

fn test(whole: &[Link], subject: &Subject, rest: &[Link], named: &dyn Named) -> Result<Expression, Refused> {
    let refuse = |why| Err(unsupported(whole, why));
    let one = |value: Value| Expression::Test(Map::from_iter([(subject.key.to_owned(), value)]));
    let (case, rest) = modes(whole, rest)?;
    let (operator, arguments) = match rest {
        [] if subject.kind == Kind::Flag => return Ok(one(true.into())),
        [] => return refuse("a comparison is missing"),
        [link] => (&link.name[..], link.arguments.as_deref().unwrap_or_default()),
        _ => return refuse("more is done with it than a criterion can"),
    };
    let (operator, negated) = if operator == "NE" { ("EQ", true) } else { (operator, false) };
    let expression = match subject.kind {
        Kind::Flag => return refuse("it is true or false by itself"),
        Kind::Method => match (operator, arguments) {
            ("EQ", [argument]) => one(plain(argument).to_ascii_uppercase().into()),
            ("EQUALS_ANY", [argument]) => match pattern_set(argument, named)? {
                methods if methods.is_empty() => Expression::Always(false),
                methods => one(methods.into()),
            },
            _ => return refuse("a method is compared by EQ"),
        },
        Kind::Address => match (operator, arguments) {
            ("EQ", [argument]) => one(json!([plain(argument)])),
            ("IN_SUBNET", [argument]) => one(json!([plain(argument)])),
            _ => return refuse("an address is compared by EQ or IN_SUBNET"),
        },
        Kind::Port => match (operator, arguments.first().and_then(|a| plain(a).parse::<u16>().ok())) {
            ("EQ", Some(port)) => one(json!([port])),
            _ => return refuse("a port is compared by EQ"),
        },
        Kind::Status => one(json!([statuses(whole, operator, arguments)?])),
        Kind::Text | Kind::LowerText | Kind::Suffix => {
            let is_named = subject.name.is_some();
            if operator == "EXISTS" {
                if !is_named {
                    return refuse("EXISTS is asked of a field, a cookie or a parameter");
                }
                one(json!({ "name": subject.name }))
            } else {
                let how = how(whole, operator, arguments, named)?;
                text(whole, subject, how, case)?
            }
        }
    };
    Ok(if negated { Expression::Not(Box::new(expression)) } else { expression })
}

/// Whether case matters, by the links before the comparison.
fn modes<'a>(whole: &[Link], mut rest: &'a [Link]) -> Result<(Case, &'a [Link]), Refused> {
    let mut case = Case::AsIs;
    while let [link, after @ ..] = rest {
        match (&link.name[..], link.arguments.as_deref().unwrap_or_default()) {
            ("TO_LOWER", []) => case = Case::Lower,
            ("TO_UPPER", []) => case = Case::Upper,
            ("SET_TEXT_MODE", modes) => {
                for mode in modes {
                    match &plain(mode).to_ascii_uppercase()[..] {
                        "IGNORECASE" => case = Case::Ignored,
                        "NOIGNORECASE" => case = Case::AsIs,
                        "NOURLENCODED" | "NO_PLUS_AS_SPACE" => {}
                        "URLENCODED" | "PLUS_AS_SPACE" => {
                            let why =
                                "paths and parameters are decoded anyhow, and other texts never; leave the mode out";
                            return Err(unsupported(whole, why));
                        }
                        _ => return Err(unsupported(whole, "no criterion has this text mode")),
                    }
                }
            }
            _ => break,
        }
        rest = after;
    }
    Ok((case, rest))
}

fn plain(argument: &Argument) -> &str {
    match argument {
        Argument::Text(text) | Argument::Word(text) | Argument::Pattern(text) => text,
    }
}

fn pattern_set(argument: &Argument, named: &dyn Named) -> Result<Vec<String>, Refused> {
    named.pattern_set(plain(argument)).ok_or_else(|| Refused::Unknown("pattern set", plain(argument).to_owned()))
}

fn how(whole: &[Link], operator: &str, arguments: &[Argument], named: &dyn Named) -> Result<How, Refused> {
    let [argument] = arguments else {
        return Err(unsupported(whole, "one argument is needed"));
    };
    let text = || vec![plain(argument).to_owned()];
    let set = || pattern_set(argument, named);
    Ok(match operator {
        "EQ" => How::Equals(text()),
        "STARTSWITH" => How::Starts(text()),
        "ENDSWITH" => How::Ends(text()),
        "CONTAINS" => How::Contains(text()),
        "EQUALS_ANY" => How::Equals(set()?),
        "STARTSWITH_ANY" => How::Starts(set()?),
        "ENDSWITH_ANY" => How::Ends(set()?),
        "CONTAINS_ANY" => How::Contains(set()?),
        "REGEX_MATCH" => match argument {
            Argument::Pattern(pattern) | Argument::Text(pattern) => How::Pattern(pattern.clone()),
            Argument::Word(_) => return Err(unsupported(whole, "a pattern is written re/…/")),
        },
        _ => return Err(unsupported(whole, "no criterion compares like this")),
    })
}

fn text(whole: &[Link], subject: &Subject, how: How, case: Case) -> Result<Expression, Refused> {
    let mut key = subject.key;
    if let How::Equals(texts) | How::Starts(texts) | How::Ends(texts) | How::Contains(texts) = &how
        && texts.is_empty()
    {
        // Nothing is bound to the set.
        return Ok(Expression::Always(false));
    }
    let is_never = |text: &String| match case {
        Case::Lower => text.contains(|c: char| c.is_uppercase()),
        Case::Upper => text.contains(|c: char| c.is_lowercase()),
        Case::AsIs | Case::Ignored => false,
    };
    match &how {
        How::Pattern(_) if matches!(case, Case::Lower | Case::Upper) => {
            return Err(unsupported(whole, "a pattern on a text in other case; write (?i)"));
        }
        How::Equals(texts) | How::Starts(texts) | How::Ends(texts) | How::Contains(texts)
            if texts.iter().any(is_never) =>
        {
            return Err(unsupported(whole, "the text is never found in this case"));
        }
        _ => {}
    }
    if let How::Equals(texts) | How::Starts(texts) | How::Ends(texts) | How::Contains(texts) = &how {
        findable(whole, subject.key, texts)?;
    }
    let how = match (subject.kind, how) {
        (Kind::Suffix, How::Equals(endings)) => How::Ends(endings.into_iter().map(|e| format!(".{e}")).collect()),
        (Kind::Suffix, _) => return Err(unsupported(whole, "a suffix is compared by EQ")),
        // No query stands before the path: the path alone says the same.
        (_, How::Starts(texts)) if key == "url" && texts.iter().all(|text| !text.contains('?')) => {
            key = "path";
            How::Starts(texts)
        }
        (_, how) => how,
    };
    let any_case = case != Case::AsIs && subject.kind != Kind::LowerText;
    let (test, value) = match how {
        How::Pattern(pattern) => {
            let pattern = if any_case { format!("(?i){pattern}") } else { pattern };
            if regex::Regex::new(&pattern).is_err() {
                return Err(unsupported(whole, "the pattern is none, or needs look-around or references back"));
            }
            ("regex", pattern.into())
        }
        How::Equals(texts) if !any_case => match &texts[..] {
            [text] => ("equals", text.clone().into()),
            _ => ("one_of", texts.into()),
        },
        How::Starts(texts) if !any_case && texts.len() == 1 => ("starts_with", texts[0].clone().into()),
        How::Ends(texts) if !any_case && texts.len() == 1 => ("ends_with", texts[0].clone().into()),
        How::Contains(texts) if !any_case && texts.len() == 1 => ("contains", texts[0].clone().into()),
        How::Equals(texts) => ("regex", alternatives(any_case, "\\A", &texts, "\\z").into()),
        How::Starts(texts) => ("regex", alternatives(any_case, "\\A", &texts, "").into()),
        How::Ends(texts) => ("regex", alternatives(any_case, "", &texts, "\\z").into()),
        How::Contains(texts) => ("regex", alternatives(any_case, "", &texts, "").into()),
    };
    if value == "" && test != "equals" {
        return Err(unsupported(whole, "an empty text is in everything"));
    }
    let mut table = Map::new();
    if let Some(name) = &subject.name {
        table.insert("name".into(), name.clone().into());
    }
    table.insert(test.into(), value);
    Ok(Expression::Test(Map::from_iter([(key.to_owned(), Value::Object(table))])))
}

/// Texts that are never found, since what is looked at is read first.
fn findable(whole: &[Link], key: &str, texts: &[String]) -> Result<(), Refused> {
    // A set that has the name alone too finds both.
    let is_port = |text: &&String| match text.rsplit_once(']') {
        Some((_, after)) => after.contains(':'),
        None => text.matches(':').count() == 1 && !text.starts_with('['),
    };
    let alone = |text: &str| texts.iter().any(|other| text.rsplit_once(':').is_some_and(|(name, _)| name == other));
    let is_encoded = |text: &&String| {
        let read = if key == "url" { text.split('?').next().unwrap_or_default() } else { text };
        let hex = |pair: &str| pair.len() >= 2 && pair.bytes().take(2).all(|b| b.is_ascii_hexdigit());
        read.match_indices('%').any(|(at, _)| read.get(at + 1..).is_some_and(hex))
    };
    match key {
        "host" if texts.iter().filter(is_port).any(|text| !alone(text)) => {
            let why = "hosts are compared without their port; leave it out, and ask CLIENT.TCP.DSTPORT for the port";
            Err(unsupported(whole, why))
        }
        "path" | "url" | "query" if texts.iter().any(|text| is_encoded(&text)) => {
            let why = "paths and parameters are decoded before they are compared; write the text as it is decoded";
            Err(unsupported(whole, why))
        }
        _ => Ok(()),
    }
}

fn alternatives(any_case: bool, before: &str, texts: &[String], after: &str) -> String {
    let all: Vec<String> = texts.iter().map(|text| escape(text)).collect();
    format!("{}{before}(?:{}){after}", if any_case { "(?i)" } else { "" }, all.join("|"))
}

/// `500-599`, as a criterion has it.
fn statuses(whole: &[Link], operator: &str, arguments: &[Argument]) -> Result<String, Refused> {
    let numbers: Vec<u16> = arguments.iter().filter_map(|a| plain(a).parse().ok()).collect();
    let (least, most) = match (operator, &numbers[..]) {
        ("EQ", [status]) => (*status, *status),
        ("BETWEEN", [least, most]) => (*least, *most),
        ("GE", [least]) => (*least, 599),
        ("GT", [least]) => (least.saturating_add(1), 599),
        ("LE", [most]) => (100, *most),
        ("LT", [most]) => (100, most.saturating_sub(1)),
        _ => return Err(unsupported(whole, "a status is compared by EQ, NE, BETWEEN, GE, GT, LE or LT")),
    };
    if !(100..=599).contains(&least) || !(least..=599).contains(&most) {
        return Err(unsupported(whole, "a status is 100 to 599"));
    }
    Ok(if least == most { least.to_string() } else { format!("{least}-{most}") })
}
