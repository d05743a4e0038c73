//! Users of the appliance, as `systemuser` of NITRO has them: their roles are the policies that are bound to them.

use serde_json::{Value, json};

use super::build::{first, segment};
use super::{Arguments, Command, Request};

const USER: &str = "systemuser";
const BINDING: &str = "systemuser_systemcmdpolicy_binding";

/// Verbs of what follows. The shell has them, for a password must not be kept with the lines that were typed.
pub(in crate::cli::shell) const VERBS: [&str; 5] = ["add", "set", "rm", "bind", "unbind"];

pub(super) const ADD: Command = Command {
    words: &["add", "system", "user"],
    least: 1,
    most: 2,
    options: &["password"],
    usage: "add system user <name> <password>",
    names: None,
    build: |a| {
        let body = json!({ USER: { "username": first(a), "password": password(a)? } });
        Ok(nitro("POST", USER.into(), body))
    },
};

pub(super) const SET: Command = Command {
    words: &["set", "system", "user"],
    least: 1,
    most: 2,
    options: &["password"],
    usage: "set system user <name> <password>",
    names: None,
    build: |a| {
        let body = json!({ USER: { "username": first(a), "password": password(a)? } });
        Ok(nitro("PUT", USER.into(), body))
    },
};

pub(super) const REMOVE: Command = Command {
    words: &["rm", "system", "user"],
    least: 1,
    most: 1,
    options: &[],
    usage: "rm system user <name>",
    names: None,
    build: |a| Ok(nitro("DELETE", format!("{USER}/{}", segment(&first(a))), Value::Null)),
};

pub(super) const BIND: Command = Command {
    words: &["bind", "system", "user"],
    least: 1,
    // NetScaler's priority after the policy says nothing: there is one.
    most: 3,
    options: &["policyName"],
    usage: "bind system user <name> (read-only|operator|superuser)",
    names: None,
    build: |a| {
        let body = json!({ BINDING: { "username": first(a), "policyname": policy(a)?, "priority": 100 } });
        Ok(nitro("PUT", BINDING.into(), body))
    },
};

pub(super) const UNBIND: Command = Command {
    words: &["unbind", "system", "user"],
    least: 1,
    most: 2,
    options: &["policyName"],
    usage: "unbind system user <name> (read-only|operator|superuser)",
    names: None,
    build: |a| {
        let args = format!("args=policyname:{}", segment(&policy(a)?));
        Ok(nitro("DELETE", format!("{BINDING}/{}?{args}", segment(&first(a))), Value::Null))
    },
};

fn nitro(method: &'static str, path: String, body: Value) -> Request {
    Request::Nitro { method, path, body: Some(body).filter(|body| !body.is_null()) }
}

fn password(arguments: &Arguments) -> Result<String, String> {
    said(arguments, "password")
}

fn policy(arguments: &Arguments) -> Result<String, String> {
    said(arguments, "policyName")
}

/// The second word, or the value of the option.
fn said(arguments: &Arguments, option: &str) -> Result<String, String> {
    let value = arguments.value(option)?.or(arguments.positional(1));
    value.map(str::to_owned).ok_or_else(|| format!("Required argument missing [{option}]"))
}
