//! What changed since FILE was read, put into FILE's text: a save touches what somebody changed and nothing else.
//!
//! Two canonical printings (of what FILE meant, and of what runs) are compared key by key, and only the differences go
//! into the document of FILE. Writing the printing itself would spell out every default, and turn `[defaults]` and short
//! forms into long ones. Whether the result means what runs is for the caller to check: short forms can hide a key.

use toml::{Table, Value};

use crate::config::edit;

/// `file` with the difference from `before` to `after`.
pub fn carry(file: &str, before: &str, after: &str) -> Result<String, String> {
    let parse = |text: &str| text.parse::<Table>().map_err(|e| e.message().to_owned());
    let mut changed = parse(file)?;
    apply(&mut changed, &parse(before)?, &parse(after)?);
    let text = toml::to_string(&changed).map_err(|e| e.to_string())?;
    edit::merge(file, &text)
}

fn apply(file: &mut Table, before: &Table, after: &Table) {
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        file.remove(key);
    }
    for (key, new) in after {
        match (before.get(key), new, file.get_mut(key)) {
            (Some(old), new, _) if old == new => {}
            (Some(Value::Table(old)), Value::Table(new), Some(Value::Table(file))) => apply(file, old, new),
            // Everything in it is a default, as far as FILE says: only what differs is written.
            (Some(Value::Table(old)), Value::Table(new), None) => {
                let mut table = Table::new();
                apply(&mut table, old, new);
                file.insert(key.clone(), Value::Table(table));
            }
            _ => {
                file.insert(key.clone(), new.clone());
            }
        }
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
        let table: Table = saved.parse().unwrap();
        let services: Vec<&String> = table["service"].as_table().unwrap().keys().collect();
        assert_eq!(services, ["web1", "web3"]);
        assert_eq!(table["journal"]["keep"].as_str(), Some("1d"));
    }

    #[test]
    fn nothing_changed_means_nothing_written() {
        let file = "# ours\na = 1 # one\n";
        assert_eq!(carry(file, "a = 1\nb = 2\n", "a = 1\nb = 2\n").unwrap(), file);
    }
}
