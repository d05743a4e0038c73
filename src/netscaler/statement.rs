//! One command, whichever way it came in: a line, a NITRO call, a line of an imported file.

use serde_json::{Map, Value};

use super::resource::Resource;
use super::value::text_of;

/// What a command does to a resource. Acts on the running appliance (enable, disable) are no statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Add,
    Set,
    Unset,
    Remove,
    Bind,
    Unbind,
    Rename,
}

/// One command.
#[derive(Clone, Debug)]
pub struct Statement {
    pub verb: Verb,
    pub resource: &'static Resource,
    /// Names of attributes as NITRO spells them → text, number, bool, or a list of those. For `Unset` the name of the
    /// object beside attributes whose values do not matter; for `Rename` the name and `newname`.
    pub arguments: Map<String, Value>,
}

// === impl Verb ===

impl Verb {
    pub const ALL: [Verb; 7] =
        [Verb::Add, Verb::Set, Verb::Unset, Verb::Remove, Verb::Bind, Verb::Unbind, Verb::Rename];

    /// As it is written: `rm`.
    pub fn word(self) -> &'static str {
        match self {
            Verb::Add => "add",
            Verb::Set => "set",
            Verb::Unset => "unset",
            Verb::Remove => "rm",
            Verb::Bind => "bind",
            Verb::Unbind => "unbind",
            Verb::Rename => "rename",
        }
    }
}

// === impl Statement ===

impl Statement {
    pub fn new(verb: Verb, resource: &'static Resource) -> Statement {
        Statement { verb, resource, arguments: Map::new() }
    }

    /// With one more argument.
    #[must_use]
    pub fn with(mut self, attribute: &str, value: impl Into<Value>) -> Statement {
        self.arguments.insert(attribute.to_owned(), value.into());
        self
    }
}

/// `bind ssl vserver web -cipherName DEFAULT`: the suites that are spoken are the default.
pub(super) fn names_default_suites(resource: &Resource, arguments: &Map<String, Value>) -> bool {
    let is_default = |value: &Value| text_of(value).eq_ignore_ascii_case("DEFAULT");
    resource.nitro == "sslvserver_sslcertkey_binding"
        && !arguments.contains_key("certkeyname")
        && arguments.get("ciphername").is_some_and(is_default)
}
