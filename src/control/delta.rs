//! What changed since FILE was read, put into FILE's text: a save touches what somebody changed and nothing else.
//!
//! Two canonical printings (of what FILE meant, and of what runs) are compared key by key, and only the differences go
//! into the document of FILE. Writing the printing itself would spell out every default, and turn `[defaults]` and short
//! forms into long ones. Whether the result means what runs is for the caller to check: short forms can hide a key.

use serde_json::{Map, Value};

use crate::config::edit;

/// `file` with the difference from `before` to `after`. The order of keys goes along: that of services is the order in
/// which they are asked.
pub fn carry(file: &str, before: &str, after: &str) -> Result<String, String> {
    let (mut changed, before, after) = (edit::to_json(file)?, edit::to_json(before)?, edit::to_json(after)?);
    if let (Value::Object(changed), Value::Object(before), Value::Object(after)) = (&mut changed, &before, &after) {
        apply(changed, before, after);
    }
    edit::merge(file, &edit::from_json(&changed)?)
}

fn apply(file: &mut Map<String, Value>, before: &Map<String, Value>, after: &Map<String, Value>) {
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        file.remove(key);
    }
    for (key, new) in after {
        match (before.get(key), new, file.get_mut(key)) {
            (Some(old), new, _) if is_same(old, new) => {}
            (Some(Value::Object(old)), Value::Object(new), Some(Value::Object(file))) => apply(file, old, new),
            // Everything in it is a default, as far as FILE says: only what differs is written.
            (Some(Value::Object(old)), Value::Object(new), None) => {
                let mut table = Map::new();
                apply(&mut table, old, new);
                file.insert(key.clone(), Value::Object(table));
            }
            _ => {
                file.insert(key.clone(), new.clone());
            }
        }
    }
    let common = |map: &Map<String, Value>, other: &Map<String, Value>| -> Vec<String> {
        map.keys().filter(|key| other.contains_key(*key)).cloned().collect()
    };
    if common(before, after) != common(after, before) {
        // They changed places.
        for key in after.keys() {
            if let Some(value) = file.shift_remove(key) {
                file.insert(key.clone(), value);
            }
        }
    }
}

/// Equal, the order of keys included.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && is_same(a, b))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_save_touches_what_changed_and_leaves_defaults_unsaid() {
        let file = "# ours\n[service.web1] # first\nport = 80\n\n[service.web2]\nport = 81\n";
        let before =
            "[service.web1]\nport = 80\nmax = 0\n[service.web2]\nport = 81\nmax = 0\n[journal]\nkeep = \"400d\"\n";
        let after = "[service.web1]\nport = 80\nmax = 5\n[service.web3]\nport = 82\n[journal]\nkeep = \"1d\"\n";
        let saved = carry(file, before, after).unwrap();
        assert!(saved.starts_with("# ours\n[service.web1] # first\nport = 80\nmax = 5\n"), "{saved}");
        let table: toml::Table = saved.parse().unwrap();
        let services: Vec<&String> = table["service"].as_table().unwrap().keys().collect();
        assert_eq!(services, ["web1", "web3"]);
        assert_eq!(table["journal"]["keep"].as_str(), Some("1d"));
    }

    #[test]
    fn the_order_of_services_is_carried_and_nothing_else_moves() {
        let file = "[vserver.web]\nservices = { b = 3, a = 1 }\n# last\n";
        let print = |method: &str, services: &str| {
            format!("[vserver.web]\nlb_method = \"{method}\"\ntimeout = 2\n[vserver.web.services]\n{services}\n")
        };
        let before = print("ROUNDROBIN", "b = 3\na = 1");
        let saved = carry(file, &before, &print("LEASTCONNECTION", "b = 3\na = 1")).unwrap();
        let expected = "[vserver.web]\nservices = { b = 3, a = 1 }\nlb_method = \"LEASTCONNECTION\"\n# last\n";
        assert_eq!(saved, expected);
        let saved = carry(file, &before, &print("ROUNDROBIN", "a = 1\nb = 3")).unwrap();
        assert_eq!(saved, file.replace("b = 3, a = 1", "a = 1, b = 3"));
    }

    #[test]
    fn nothing_changed_means_nothing_written() {
        let file = "# ours\na = 1 # one\n";
        assert_eq!(carry(file, "a = 1\nb = 2\n", "a = 1\nb = 2\n").unwrap(), file);
    }
}
