//! `shell`: out of this command line into the machine's, for whoever may do everything here anyway.
//!
//! What runs there has the rights of the process, not of this session; so it is for superusers, and only where this
//! process and the appliance are on one machine. A session that somebody was given as their login, with a role that may
//! less, has no way out of it.

use std::path::Path;
use std::process::Command;

use reqwest::Method;
use serde_json::json;

use super::super::client::Client;
use super::execute::Answer;
use super::refused::Refused;
use crate::model::access::Role;

/// Not `$SHELL`, which may be this very program.
const SHELLS: [&str; 2] = ["/bin/bash", "/bin/sh"];

/// Whether whoever sits here may leave.
pub(super) async fn allowed(client: &Client) -> Result<(), Refused> {
    if !client.is_here() {
        return Err(Refused::Ours("`shell` is this machine's, and the appliance is another one; log in there".into()));
    }
    let whoami = client.call(Method::GET, "/api/v1/whoami", None).await?;
    if whoami["role"] == Role::Superuser.word() {
        return Ok(());
    }
    Err(Refused::Ours("`shell` is for superusers".into()))
}

/// Runs `command`, or a shell that one ends with `exit`; what it prints goes where ours does.
pub(super) fn run(command: &[String]) -> Result<Answer, Refused> {
    let shell = SHELLS.into_iter().find(|shell| Path::new(shell).exists()).unwrap_or("sh");
    let mut process = Command::new(shell);
    process.env("SHELL", shell);
    if !command.is_empty() {
        process.arg("-c").arg(command.join(" "));
    }
    let status = process.status().map_err(|error| Refused::Ours(format!("{shell}: {error}")))?;
    if status.success() || command.is_empty() {
        return Ok(Answer { text: String::new(), json: json!({ "status": status.code() }), warnings: Vec::new() });
    }
    Err(Refused::Ours(format!("the command ended with {status}")))
}
