//! What only those who may change a configuration see of it: hashes of passwords, which can be tried at leisure, and of tokens, and
//! the values of header fields and bodies of requests and what scripts are given, where tokens stand, and users, passwords and queries of addresses.

use toml_edit::{Item, TableLike, Value as Toml};

use crate::config::values::without_userinfo;

/// Keys whose values are hidden, with everything below them.
const KEYS: [&str; 6] = ["password_hash", "hash", "headers", "custom_headers", "environment", "script_args"];

/// Stands for a hidden value.
const HIDDEN: &str = "(hidden)";

/// Whether the value at `path`, keys joined by dots, is hidden.
pub(in crate::config) fn is_hidden(path: &str) -> bool {
    path.split('.').any(|key| KEYS.contains(&key))
}

/// `text` without what is hidden; names of header fields stay.
pub fn redact(text: &str) -> Result<String, String> {
    let mut document = super::parse(text)?;
    hide(document.as_table_mut(), false);
    Ok(document.to_string())
}

fn hide(table: &mut dyn TableLike, hidden: bool) {
    for (key, item) in table.iter_mut() {
        let hidden = hidden || KEYS.contains(&key.get()) || key.get() == "body";
        match item {
            Item::None => {}
            Item::Table(table) => hide(table, hidden),
            Item::ArrayOfTables(tables) => tables.iter_mut().for_each(|table| hide(table, hidden)),
            Item::Value(value) => hide_value(value, hidden),
        }
    }
}

fn hide_value(value: &mut Toml, hidden: bool) {
    match value {
        Toml::InlineTable(table) => hide(table, hidden),
        Toml::Array(items) => items.iter_mut().for_each(|item| hide_value(item, hidden)),
        _ if hidden => *value = HIDDEN.into(),
        Toml::String(text) => {
            if let Some(shown) = address_without_secrets(text.value()) {
                *value = shown.into();
            }
        }
        _ => {}
    }
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
mod tests {
    use super::*;

    #[test]
    fn credentials_within_addresses_are_hidden() {
        let text = "[trigger.t]\ndsn = \"postgresql://u:p@db/x\"\n[query.q]\ndsn = \"gtm/pw@db:1521/X\"\n\
                    [zone.z]\nmail = \"ops@example.test\"\n\
                    [trigger.h]\nuri = \"https://a.test/b?key=x\"\nbody = \"token x\"\n";
        let table: toml::Table = redact(text).unwrap().parse().unwrap();
        assert_eq!(table["trigger"]["t"]["dsn"].as_str(), Some("postgresql://…@db/x"));
        assert_eq!(table["query"]["q"]["dsn"].as_str(), Some("…@db:1521/X"));
        assert_eq!(table["trigger"]["h"]["uri"].as_str(), Some("https://a.test/b?…"));
        assert_eq!(table["trigger"]["h"]["body"].as_str(), Some(HIDDEN));
        assert_eq!(table["zone"]["z"]["mail"].as_str(), Some("ops@example.test"));
    }

    #[test]
    fn hashes_and_header_values_are_hidden_wherever_they_stand() {
        let text = "[admin.user.ops]\npassword_hash = \"$argon2id$x\"\nrole = \"operator\"\n\
                    [trigger.t]\nheaders = { Authorization = \"Bearer x\" }\n\
                    [trigger.u.headers]\nX-Token = \"x\"\n[monitor.m]\ncustom_headers = \"X-Key: x\"\n";
        let shown = redact(text).unwrap();
        let table: toml::Table = shown.parse().unwrap();
        assert_eq!(table["admin"]["user"]["ops"]["password_hash"].as_str(), Some(HIDDEN));
        assert_eq!(table["admin"]["user"]["ops"]["role"].as_str(), Some("operator"));
        assert_eq!(table["trigger"]["t"]["headers"]["Authorization"].as_str(), Some(HIDDEN));
        assert_eq!(table["trigger"]["u"]["headers"]["X-Token"].as_str(), Some(HIDDEN));
        assert_eq!(table["monitor"]["m"]["custom_headers"].as_str(), Some(HIDDEN));
    }
}
