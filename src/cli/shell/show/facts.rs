//! What NITRO says of an object: its settings and counters under NetScaler's names.

use serde_json::{Map, Value};

use crate::model::visible::on_one_line;

/// Attributes by their names; none where the appliance said nothing.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Facts(pub Map<String, Value>);

// === impl Facts ===

impl Facts {
    /// The list under `resource` in an answer of NITRO, or the one object.
    pub fn list(answer: &Value, resource: &str) -> Vec<Facts> {
        match answer.get(resource) {
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_object).cloned().map(Facts).collect(),
            Some(Value::Object(one)) => vec![Facts(one.clone())],
            _ => Vec::new(),
        }
    }

    /// The attribute as text, on one line; `otherwise` where it is not there.
    pub fn said(&self, key: &str, otherwise: &str) -> String {
        match self.0.get(key) {
            Some(Value::String(text)) => on_one_line(text),
            Some(Value::Null) | None => otherwise.to_owned(),
            Some(other) => other.to_string(),
        }
    }

    /// The attribute as text, `0` where it is not there.
    pub fn count(&self, key: &str) -> String {
        self.said(key, "0")
    }

    /// The objects in the list that this attribute is.
    pub fn inner(&self, key: &str) -> Vec<Facts> {
        Facts::list(&Value::Object(self.0.clone()), key)
    }

    /// The same under another name.
    pub fn named(&self, name: &str) -> Facts {
        let mut facts = self.clone();
        facts.0.insert("name".to_owned(), name.into());
        facts
    }

    /// The one of this name, or nothing.
    pub fn of(list: &[Facts], key: &str, name: &str) -> Facts {
        list.iter().find(|facts| facts.0.get(key).is_some_and(|value| value == name)).cloned().unwrap_or_default()
    }
}
