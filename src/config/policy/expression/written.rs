//! Expressions written anew: under other names, and without what must not be seen.

use super::parse::{self, Argument, Link, Tree, is_of_name};
use super::print::{pattern, quote};

/// Fields in which a caller proves who it is.
const SECRET_FIELDS: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "set-cookie"];

/// Words with which expressions begin, and values that have a name by themselves.
const WORDS: [&str; 22] = [
    "TRUE",
    "FALSE",
    "NS_TRUE",
    "NS_FALSE",
    "HTTP",
    "CLIENT",
    "SERVER",
    "SYS",
    "REQ",
    "RES",
    "TEXT",
    "TARGET",
    "AAA",
    "VPN",
    "DNS",
    "SIP",
    "MYSQL",
    "MSSQL",
    "RADIUS",
    "DIAMETER",
    "ANALYTICS",
    "SUBSCRIBER",
];

/// Whether tokens and passwords stand in the field of this name, whatever its case.
pub fn is_secret_field(name: &str) -> bool {
    SECRET_FIELDS.iter().any(|secret| name.eq_ignore_ascii_case(secret))
}

/// An expression with `stands` wherever it compares a cookie or such a field as [`is_secret_field`] tells; names of
/// pattern sets stay. A text that does not read and speaks of such a field is hidden whole. `None`: nothing is hidden.
pub fn without_secrets(text: &str, stands: &str) -> Option<String> {
    let Ok(mut tree) = parse::tree(text) else {
        let lower = text.to_ascii_lowercase();
        return SECRET_FIELDS.iter().any(|field| lower.contains(field)).then(|| stands.to_owned());
    };
    let mut found = false;
    chains(&mut tree, &mut |links| found |= hide(links, stands));
    found.then(|| write(&tree))
}

/// An expression that names `to` where it named `from`, of a section such as `policy_patset`; `None`: it names it nowhere.
pub fn renamed(text: &str, section: &str, from: &str, to: &str) -> Option<String> {
    let mut tree = parse::tree(text).ok()?;
    let mut found = false;
    chains(&mut tree, &mut |links| match (section, &mut links[..]) {
        ("policy_expression", [only]) if only.arguments.is_none() && only.written == from => {
            *only = Link { name: to.to_ascii_uppercase(), written: to.to_owned(), arguments: None };
            found = true;
        }
        ("policy_patset", links) => {
            let sets = links.iter_mut().filter(|link| link.name.ends_with("_ANY"));
            for argument in sets.filter_map(|link| link.arguments.as_mut()?.first_mut()) {
                if matches!(argument, Argument::Text(name) | Argument::Word(name) if name == from) {
                    *argument = Argument::Text(to.to_owned());
                    found = true;
                }
            }
        }
        _ => {}
    });
    found.then(|| write(&tree))
}

/// Whether an expression can be asked for by this name.
///
/// Errors: why it cannot.
pub fn nameable(name: &str) -> Result<(), &'static str> {
    if name.is_empty() || !name.chars().all(is_of_name) {
        return Err("the name of an expression is one word of letters, digits, `_` and `-`");
    }
    match WORDS.iter().any(|word| word.eq_ignore_ascii_case(name)) {
        true => Err("it is a word of expressions themselves; take another name"),
        false => Ok(()),
    }
}

fn chains(tree: &mut Tree, change: &mut dyn FnMut(&mut Vec<Link>)) {
    match tree {
        Tree::Or(all) | Tree::And(all) => all.iter_mut().for_each(|one| chains(one, change)),
        Tree::Not(inner) => chains(inner, change),
        Tree::Chain(links) => change(links),
    }
}

/// Whether something in it is a secret.
fn hide(links: &mut Vec<Link>, stands: &str) -> bool {
    let is_secret = |link: &Link| match (&link.name[..], link.arguments.as_deref()) {
        ("HEADER", Some([Argument::Text(name) | Argument::Word(name)])) => is_secret_field(name),
        ("COOKIE", _) => true,
        _ => false,
    };
    let Some(at) = links.iter().position(is_secret) else { return false };
    let names_cookie = links[at].name == "COOKIE" && links.get(at + 1).is_some_and(|link| link.name == "VALUE");
    let compared = links.split_off(at + 1 + usize::from(names_cookie));
    let mut found = false;
    for mut link in compared {
        let is_set = link.name == "SET_TEXT_MODE" || link.name.ends_with("_ANY");
        for argument in link.arguments.iter_mut().flatten().filter(|_| !is_set) {
            *argument = match argument {
                Argument::Pattern(_) => Argument::Pattern(stands.to_owned()),
                _ => Argument::Text(stands.to_owned()),
            };
            found = true;
        }
        // What stands there would never be found in another case.
        if !matches!(&link.name[..], "TO_LOWER" | "TO_UPPER") {
            links.push(link);
        }
    }
    found
}

fn write(tree: &Tree) -> String {
    let joined = |all: &[Tree], operator: &str| {
        let one = |tree: &Tree| match tree {
            Tree::Or(_) | Tree::And(_) => format!("({})", write(tree)),
            Tree::Not(_) | Tree::Chain(_) => write(tree),
        };
        all.iter().map(one).collect::<Vec<_>>().join(operator)
    };
    match tree {
        Tree::Or(all) => joined(all, " || "),
        Tree::And(all) => joined(all, " && "),
        Tree::Not(inner) => match **inner {
            Tree::Or(_) | Tree::And(_) => format!("!({})", write(inner)),
            Tree::Not(_) | Tree::Chain(_) => format!("!{}", write(inner)),
        },
        Tree::Chain(links) => links.iter().map(link).collect::<Vec<_>>().join("."),
    }
}

fn link(link: &Link) -> String {
    let Some(arguments) = &link.arguments else { return link.written.clone() };
    let shown = |argument: &Argument| match argument {
        Argument::Text(text) => quote(text),
        Argument::Pattern(text) => pattern(text),
        Argument::Word(word) => word.clone(),
    };
    format!("{}({})", link.written, arguments.iter().map(shown).collect::<Vec<_>>().join(","))
}
