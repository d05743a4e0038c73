//! What leaves the house in a bundle for support: besides what is hidden from people, no comment, of addresses of HTTP the
//! host alone, since the path of a webhook is its secret, and of SQL no literal.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value as Json;
use toml_edit::{Item, TableLike, Value as Toml};

use super::{HIDDEN, Reader, comments, for_journal, hide, policies, replace};
use crate::config::edit::parse;

/// Tables whose `uri` may be anything that a request is sent to.
const SENDING: [&str; 3] = ["trigger", "query", "ship"];
const URIS: [&str; 2] = ["uri", "url"];
const STATEMENTS: [&str; 2] = ["sql", "sql_query"];

/// An address of HTTP with something behind its host.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)(https?://[a-z0-9._~%@:\[\]${}-]+)[/?#][^\s"'`<>\\]+"#).expect("a constant expression")
});

static LITERAL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"'(?:[^']|'')*'|"(?:[^"]|"")*""#).expect("a constant expression"));

/// Where quotation marks alone do not say what is a literal: escapes, quoting by dollars, comments.
static UNCLEAR: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\\|\$\w*\$|--|/\*|#").expect("a constant expression"));

/// The text of a configuration as a bundle for support may have it. What is no TOML loses hashes, credentials and paths.
pub fn for_support(text: &str) -> String {
    let text = for_journal(text);
    let Ok(mut document) = parse(&text) else { return hosts(&text) };
    policies::hide(document.as_table_mut(), Reader::Person);
    hide(document.as_table_mut(), None, Reader::Person);
    shorten(document.as_table_mut(), false);
    hosts(&comments::without(&document.to_string()))
}

/// An answer of the appliance as a bundle for support may have it: configurations in it as [`for_support`] has them, and
/// all other texts without paths of addresses.
pub fn value_for_support(value: &mut Json) {
    match value {
        Json::String(text) => {
            let is_configuration = text.contains(['\n', '=']) && parse(text).is_ok();
            *text = if is_configuration { for_support(text) } else { hosts(text) };
        }
        Json::Array(items) => items.iter_mut().for_each(value_for_support),
        Json::Object(members) => {
            for (key, value) in members {
                match value {
                    Json::String(text) if STATEMENTS.contains(&&**key) => *text = statement(text),
                    value => value_for_support(value),
                }
            }
        }
        _ => {}
    }
}

fn hosts(text: &str) -> String {
    ADDRESS.replace_all(text, "${1}/(hidden)").into_owned()
}

fn host(uri: &str) -> String {
    let start = uri.find("://").map_or(0, |at| at + 3);
    match uri[start..].find(['/', '?', '#']) {
        Some(at) if uri[start + at..] != *"/" => format!("{}/{HIDDEN}", &uri[..start + at]),
        _ => uri.to_owned(),
    }
}

fn statement(sql: &str) -> String {
    let shown = LITERAL.replace_all(sql, "?");
    if UNCLEAR.is_match(sql) || shown.contains(['\'', '"']) { HIDDEN.to_owned() } else { shown.into_owned() }
}

/// `sends`: in one of [`SENDING`].
fn shorten(table: &mut dyn TableLike, sends: bool) {
    for (key, item) in table.iter_mut() {
        let key = key.get().to_owned();
        let sends = sends || SENDING.contains(&&*key);
        match item {
            Item::None => {}
            Item::Table(table) => shorten(table, sends),
            Item::ArrayOfTables(tables) => tables.iter_mut().for_each(|table| shorten(table, sends)),
            Item::Value(value) => shorten_value(value, &key, sends),
        }
    }
}

fn shorten_value(value: &mut Toml, key: &str, sends: bool) {
    match value {
        Toml::InlineTable(table) => shorten(table, sends),
        Toml::Array(items) => items.iter_mut().for_each(|item| shorten_value(item, key, sends)),
        value => {
            let shown = match value.as_str() {
                Some(uri) if sends && URIS.contains(&key) => host(uri),
                Some(sql) if STATEMENTS.contains(&key) => statement(sql),
                _ => return,
            };
            replace(value, shown);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"schema = 1
# password: hush1
[trigger.chat]
type = "http" # the word is hush2
uri = "https://hooks.example.test/services/hush3/hush4"
[trigger.row]
type = "postgresql"
sql = "insert into t values ('hush5', $1)"
[trigger.escaped]
sql = 'select "a\"hush6"'
[query]
inline = { url = "https://h.example.test?key=hush7", type = "http" }
[journal.ship.far]
uri = "https://\u0068.example.test/hush8"
"#;

    #[test]
    fn a_bundle_has_no_path_of_a_webhook_no_literal_of_sql_and_no_comment() {
        let shown = for_support(TEXT);
        assert!(!shown.contains("hush") && !shown.contains('#'), "{shown}");
        assert!(shown.contains("uri = \"https://hooks.example.test/(hidden)\""), "{shown}");
        assert!(shown.contains("insert into t values (?, $1)"), "{shown}");
        assert_eq!(shown.lines().count(), TEXT.lines().count());
        assert!(shown.parse::<toml::Table>().is_ok(), "{shown}");
        let mut journal = serde_json::json!({ "items": [
            { "body": { "sources": [{ "path": "box.toml", "text": TEXT }] } },
            { "body": { "sql": "select 'hush'", "uri": "https://h.test/hush", "said": "https://h.test/hush: 404" } },
            { "reason": "# urgent", "number": 1, "root": "https://h.test/", "pattern": "https://([^/]+)/(.*)" },
        ] });
        value_for_support(&mut journal);
        assert!(!journal.to_string().contains("hush"), "{journal:#}");
        let last = &journal["items"][2];
        assert_eq!((&last["reason"], &last["root"]), (&"# urgent".into(), &"https://h.test/".into()));
        assert_eq!(last["pattern"], "https://([^/]+)/(.*)");
    }

    #[test]
    fn what_is_hidden_once_stays_as_it_is() {
        let once = for_support("[trigger.a]\nuri = \"https://h.test/a b\"\nsql = \"x 'y'\"\n");
        assert_eq!(for_support(&once), once);
    }
}
