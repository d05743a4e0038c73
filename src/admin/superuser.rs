//! Who may configure over the network: the last one stays, whatever a change of users, tokens or the directory says.
//! A whole configuration is taken as it is: whoever applies one has read it.

use serde_json::{Map, Value};

use crate::model::access::Role;

/// Why a change is refused.
pub(super) const LAST: &str =
    "the last superuser stays, or nobody could configure over the network: make another first";

/// Whether a user, a token or a group of the directory may configure; `root` is a configuration.
pub(super) fn is_there(root: &Map<String, Value>) -> bool {
    root.get("admin").and_then(Value::as_object).is_some_and(is_in)
}

/// The same of `[admin]`.
pub(super) fn is_in(admin: &Map<String, Value>) -> bool {
    let is_word = |role: &Value| role.as_str().and_then(Role::parse) == Some(Role::Superuser);
    let entries = |key: &str| admin.get(key).and_then(Value::as_object).into_iter().flat_map(Map::values);
    let of_directory = admin.get("ldap").and_then(|ldap| ldap.get("roles")).and_then(Value::as_object);
    let own = entries("user").chain(entries("token")).filter_map(|entry| entry.get("role"));
    own.chain(of_directory.into_iter().flat_map(Map::values)).any(is_word)
}
