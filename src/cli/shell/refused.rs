//! Why a command did nothing, in NetScaler's words where it has them.

use std::fmt;

use serde_json::{Value, json};

use super::super::client::Failure;
use crate::netscaler::error::NsError;

#[derive(Debug)]
pub(super) enum Refused {
    /// The line itself is wrong.
    Ours(String),
    Theirs(Failure),
    /// NetScaler's number and text.
    NetScaler {
        code: u64,
        message: String,
    },
}

// === impl Refused ===

impl Refused {
    /// By the person who waited.
    pub fn interrupted() -> Refused {
        Refused::Ours("interrupted; what was asked of the appliance may go on".to_owned())
    }

    /// A vserver that is not of the role that was asked for is not there, and is told to be.
    pub fn of_another_role(name: &str, role: &str) -> Refused {
        let error = NsError::no_such_resource("name", name).because(&format!("`{name}` is a {role} vserver"));
        Refused::NetScaler { code: error.code.into(), message: error.message }
    }

    /// What `--json` prints: the appliance's problem document, or one of our own.
    pub fn document(&self) -> Value {
        match self {
            Refused::Theirs(Failure::Declined { document, .. }) if document.is_object() => document.clone(),
            Refused::NetScaler { code, message } => json!({ "code": "netscaler", "number": code, "detail": message }),
            other => json!({ "code": "shell", "detail": other.to_string() }),
        }
    }
}

/// What is not there: `No such resource [name, wbe1]; did you mean web1?`
fn no_such_resource(document: &Value) -> Option<String> {
    if document["code"] != "unknown_object" {
        return None;
    }
    let argument = match document["noun"].as_str()? {
        "service group" => "serviceGroupName",
        "monitor" => "monitorName",
        "certificate" => "certkeyName",
        _ => "name",
    };
    let message = NsError::no_such_resource(argument, document["name"].as_str()?).message;
    Some(match document["did_you_mean"].as_str() {
        Some(meant) => format!("{message}; did you mean `{meant}`?"),
        None => message,
    })
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Refused {
        Refused::Theirs(failure)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Ours(error) | Refused::NetScaler { message: error, .. } => f.write_str(error),
            Refused::Theirs(failure) => match failure {
                Failure::Declined { document, .. } => match no_such_resource(document) {
                    Some(message) => f.write_str(&message),
                    None => failure.fmt(f),
                },
                Failure::Unreachable { .. } => failure.fmt(f),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_told_as_netscaler_does_with_the_nearest_name_behind() {
        let told = |noun: &str, meant: Option<&str>| {
            let mut document = json!({ "code": "unknown_object", "noun": noun, "name": "wbe1" });
            if let Some(meant) = meant {
                document["did_you_mean"] = meant.into();
            }
            no_such_resource(&document)
        };
        let expected = "No such resource [name, wbe1]; did you mean `web1`?";
        assert_eq!(told("service", Some("web1")).as_deref(), Some(expected));
        assert_eq!(told("service group", None).as_deref(), Some("No such resource [serviceGroupName, wbe1]"));
        assert_eq!(no_such_resource(&json!({ "code": "busy" })), None);
    }
}
