//! What only those who may change a configuration see of it: hashes of passwords, which can be tried at leisure, and of tokens, and
//! the values of header fields and bodies of requests and answers (those that policies give too) and what scripts are given, where
//! tokens stand, what is compared with such fields ([`policies`]), and users, passwords and queries of addresses.
//!
//! [`redact`] is for people, [`for_journal`] for the journal, whose texts still load so that they can be replayed.

mod comments;
mod outside;
mod policies;

use std::sync::LazyLock;

use regex::Regex;
use toml_edit::{Item, TableLike, Value as Toml};

use crate::config::values::without_userinfo;

pub use outside::{for_support, value_for_support};
pub(in crate::config) use policies::is_told;

/// Keys whose values are hidden, with everything below them; also as aliases.
const KEYS: [&str; 11] = [
    "password_hash",
    "hash",
    "headers",
    "custom_headers",
    "environment",
    "script_args",
    "scriptargs",
    "body",
    "send",
    "receive",
    "recv",
];

/// Keys of a request that is sent: its query is hidden.
const REQUESTS: [&str; 2] = ["request", "http_request"];

/// Stands for a hidden value.
const HIDDEN: &str = "(hidden)";

/// Stands for a hash in the journal: loads like any and fits no password.
const NO_PASSWORD: &str = "$argon2id$v=19$m=8,t=1,p=1$cmVkYWN0ZWQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

static HASH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$argon2[A-Za-z0-9$+/=,._-]*").expect("a constant expression"));

/// The hash of an API token.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| Regex::new("sha256:[0-9a-f]{64}").expect("a constant expression"));

/// What stands before the `@` of an address with a scheme, and of a `dsn`.
static USERINFO: LazyLock<Regex> = LazyLock::new(|| {
    let [schemed, dsn] = [r#"://)[^\s"'/?#]*@"#, r#"\bdsn["']?\s*=\s*["'](?:[a-z+]+://)?)[^\n"']*@"#];
    Regex::new(&format!("({dsn}|({schemed}")).expect("a constant expression")
});

/// An address with a query, and nothing else: no template of a pattern.
static QUERY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^([A-Za-z][A-Za-z0-9+.-]*://[^\s?(\\^*|"'`]*)\?.*$"#).expect("a constant expression")
});

/// `GET /health?key=x`: what stands before the query.
static REQUEST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*([A-Za-z]+\s+/[^\s?]*)\?").expect("a constant expression"));

/// Who reads it.
#[derive(Clone, Copy, PartialEq)]
enum Reader {
    Person,
    Journal,
}

/// Stands in the journal for an answer that a policy gives: loads like any.
const ANSWER: &str = r#""HTTP/1.1 200 OK\r\n\r\n(hidden)""#;

/// Whether the value at `path`, keys joined by dots, is hidden.
pub(in crate::config) fn is_hidden(path: &str) -> bool {
    path.split('.').any(is_secret) || may_be_answer(path)
}

/// Where a policy's answer stands, with its header fields and its body, or the place that it sends clients to.
fn may_be_answer(path: &str) -> bool {
    path.starts_with("responder_action.") && path.ends_with(".target")
}

/// Whether an action of a responder gives an answer, by its `type`.
pub fn gives_answer(kind: &str) -> bool {
    kind.eq_ignore_ascii_case("respondwith")
}

/// Whether secrets stand in what a key of this name holds.
pub fn is_secret(key: &str) -> bool {
    KEYS.contains(&key)
}

/// A request without its query, where keys stand; `None`: it has none.
pub fn request_without_query(text: &str) -> Option<String> {
    Some(REQUEST.captures(text)?[1].to_owned())
}

/// `text` without what is hidden; names of header fields stay.
pub fn redact(text: &str) -> Result<String, String> {
    let mut document = super::parse(text)?;
    policies::hide(document.as_table_mut(), Reader::Person);
    hide(document.as_table_mut(), None, Reader::Person);
    Ok(document.to_string())
}

/// The text of a configuration as the journal may have it: without what is hidden, and without comments in which
/// settings stand. It still loads, lines keep their numbers but behind a hidden text of several lines, and what is no
/// TOML, such as a zone file, loses hashes and credentials alone.
pub fn for_journal(text: &str) -> String {
    let text = without_hashes(text);
    match super::parse(&text) {
        Ok(mut document) => {
            policies::hide(document.as_table_mut(), Reader::Journal);
            hide(document.as_table_mut(), None, Reader::Journal);
            comments::without_settings(&document.to_string())
        }
        Err(_) => text,
    }
}

/// The value of a `--set` at `path`, keys joined by dots, as the journal may have it.
pub fn value_for_journal(path: &str, value: &str) -> String {
    if may_be_answer(path) && value.contains("HTTP/") {
        return format!("'{ANSWER}'");
    }
    let clean = without_hashes(value);
    let hidden = path.split('.').find(|key| is_secret(key));

    let parsed = super::parse(&format!("value = {clean}")).ok();
    let parsed = parsed.and_then(|document| document.get("value").and_then(Item::as_value).cloned());
    // What is no value is a text without its quotation marks.
    let is_bare = parsed.is_none();
    let mut value = parsed.unwrap_or_else(|| Toml::from(clean));
    let request = |text| shown_request(path.rsplit('.').next()?, text, Reader::Journal);
    if let Some(shown) = value.as_str().and_then(request) {
        value = Toml::from(shown);
    }
    policies::hide_at(path, &mut value, Reader::Journal);
    hide_value(&mut value, hidden, Reader::Journal);
    if let Some(at) = value.as_str().filter(|_| path.ends_with("dsn")).and_then(|dsn| dsn.rfind('@')) {
        let dsn = value.as_str().unwrap_or_default();
        let scheme = dsn.find("://").filter(|end| *end < at).map_or(0, |end| end + 3);
        value = Toml::from(format!("{}{}", &dsn[..scheme], &dsn[at + 1..]));
    }
    match value.as_str() {
        Some(text) if is_bare => text.to_owned(),
        _ => value.to_string().trim().to_owned(),
    }
}

/// Whether something in `text` is hidden from the journal, so that it means something else.
pub fn is_redacted(text: &str) -> bool {
    [HIDDEN, QUERY_HIDDEN, NO_PASSWORD, &no_token()].iter().any(|stands| text.contains(stands))
}

const QUERY_HIDDEN: &str = "?hidden";

fn no_token() -> String {
    format!("sha256:{}", "0".repeat(64))
}

fn without_hashes(text: &str) -> String {
    let text = HASH.replace_all(text, regex::NoExpand(NO_PASSWORD));
    let text = TOKEN.replace_all(&text, no_token());
    USERINFO.replace_all(&text, "$1$2").into_owned()
}

/// What is shown in place of a request with a query.
fn shown_request(key: &str, text: &str, reader: Reader) -> Option<String> {
    let before = request_without_query(text).filter(|_| REQUESTS.contains(&key))?;
    Some(before + if reader == Reader::Person { "?…" } else { QUERY_HIDDEN })
}

/// `hidden`: the key that hides all of it.
fn hide(table: &mut dyn TableLike, hidden: Option<&str>, reader: Reader) {
    if table.get("type").and_then(Item::as_str).is_some_and(gives_answer)
        && let Some(target) = table.get_mut("target").and_then(Item::as_value_mut)
    {
        replace(target, if reader == Reader::Person { HIDDEN } else { ANSWER }.to_owned());
    }
    for (key, item) in table.iter_mut() {
        let key = key.get().to_owned();
        let hidden = hidden.or_else(|| is_secret(&key).then_some(&*key));
        match item {
            Item::None => {}
            Item::Table(table) => hide(table, hidden, reader),
            Item::ArrayOfTables(tables) => tables.iter_mut().for_each(|table| hide(table, hidden, reader)),
            Item::Value(value) => match value.as_str().and_then(|text| shown_request(&key, text, reader)) {
                Some(shown) if hidden.is_none() => replace(value, shown),
                _ => hide_value(value, hidden, reader),
            },
        }
    }
}

fn hide_value(value: &mut Toml, hidden: Option<&str>, reader: Reader) {
    let stands = match (value, hidden, reader) {
        (Toml::InlineTable(table), ..) => return hide(table, hidden, reader),
        (Toml::Array(items), ..) => return items.iter_mut().for_each(|item| hide_value(item, hidden, reader)),
        // They were replaced by such as load.
        (_, Some("password_hash" | "hash"), Reader::Journal) => return,
        // An answer without a body may need to have none.
        (value, Some(_), Reader::Journal) if value.as_str() == Some("") => return,
        (value, Some("custom_headers"), Reader::Journal) => (value, format!("Hidden: {HIDDEN}")),
        // A request where a monitor speaks HTTP, and any bytes elsewhere.
        (value, Some("send"), Reader::Journal) => (value, format!("GET /{HIDDEN}")),
        (value, Some(_), _) => (value, HIDDEN.to_owned()),
        (value, None, Reader::Person) => match value.as_str().and_then(address_without_secrets) {
            Some(shown) => (value, shown),
            None => return,
        },
        (value, None, Reader::Journal) => match value.as_str().and_then(|text| QUERY.captures(text)) {
            Some(found) => {
                let shown = format!("{}{QUERY_HIDDEN}", &found[1]);
                (value, shown)
            }
            None => return,
        },
    };
    let (value, stands) = stands;
    replace(value, stands);
}

/// What stands around it stays.
fn replace(value: &mut Toml, stands: String) {
    let decor = value.decor().clone();
    *value = stands.into();
    *value.decor_mut() = decor;
}

/// An address without credentials and without its query, where keys stand; `None`: nothing of it is hidden.
fn address_without_secrets(text: &str) -> Option<String> {
    let (base, query) = match text.split_once('?') {
        Some((base, _)) if base.contains("://") => (base, "?…"),
        _ => (text, ""),
    };
    let credentials = carries_credentials(base);
    (credentials || !query.is_empty()).then(|| {
        let base = if credentials { without_userinfo(base) } else { base.to_owned() };
        base + query
    })
}

/// `scheme://user:password@host`, and Oracle's `user/password@host`.
fn carries_credentials(text: &str) -> bool {
    let (before, _) = text.rsplit_once('@').unwrap_or_default();
    before.contains("://") || before.split_once('/').is_some_and(|(user, _)| !user.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests;
