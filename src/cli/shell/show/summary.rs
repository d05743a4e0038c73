//! `show … -summary`: one object a line.

use serde_json::Value;

use super::long_word;
use super::statistics::table;
use crate::cli::shell::commands::View;
use crate::model::visible::on_one_line;

/// A column: its head, and the member of the object.
type Column = (&'static str, &'static str);

fn columns(view: View) -> &'static [Column] {
    match view {
        View::Service => &[("Service", "name"), ("Address", "address"), ("Type", "type"), ("State", "state")],
        View::Group => &[("Group", "name"), ("Type", "type"), ("State", "admin"), ("Up", "up"), ("Members", "members")],
        View::Server => &[("Server", "name"), ("Address", "address"), ("State", "state")],
        View::Certificate => &[("CertKey", "name"), ("Days left", "days_left"), ("Subject", "subject")],
        _ => &[
            ("Vserver", "name"),
            ("Address", "address"),
            ("Type", "type"),
            ("State", "state"),
            ("Effective", "effective_state"),
        ],
    }
}

/// `objects`: as REST tells them.
pub(in super::super) fn summary(view: View, objects: &[&Value]) -> String {
    let columns = columns(view);
    let cell = |object: &Value, key: &str| match &object[key] {
        Value::String(text) if key.ends_with("state") => long_word(text).to_owned(),
        Value::String(text) => on_one_line(text),
        Value::Array(list) => list.len().to_string(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let rows = objects.iter().map(|object| columns.iter().map(|(_, key)| cell(object, key)).collect());
    let head: Vec<&str> = columns.iter().map(|(head, _)| *head).collect();
    table(&head, rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_a_line() {
        let group = json!({"name": "pool", "type": "HTTP", "admin": "ENABLED", "up": 1, "members": [{}, {}]});
        assert_eq!(summary(View::Group, &[&group]), "Group  Type  State    Up  Members\npool   HTTP  ENABLED  1   2\n");
        let service = json!({"name": "s", "address": null, "type": "HTTP", "state": "OFS"});
        assert!(summary(View::Service, &[&service]).ends_with("OUT OF SERVICE\n"));
    }
}
