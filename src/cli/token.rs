//! `bascule token`: makes, lists and revokes API tokens. A token is printed once, alone on stdout, so that a script can take
//! it; everything else is said on stderr.

use std::process::ExitCode;

use reqwest::Method;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};

use super::args::{Target, TokenCreateArgs, TokenHashArgs, TokenListArgs, TokenRevokeArgs, TokenWhat};
use super::client::{Client, Failure, runtime};
use super::{fail, say};
use crate::admin::dto::path_segment;
use crate::config::units::format_duration;
use crate::model::access::token_of;

pub(super) fn run(what: &TokenWhat) -> ExitCode {
    match what {
        TokenWhat::Create(args) => create(args),
        TokenWhat::List(args) => list(args),
        TokenWhat::Revoke(args) => revoke(args),
        TokenWhat::Hash(args) => hash(args),
    }
}

fn create(args: &TokenCreateArgs) -> ExitCode {
    let body = json!({
        "name": args.name, "role": args.role.role().word(), "expires": format_duration(args.ttl), "save": args.save,
    });
    let made =
        ask(&args.target, async |client: &Client| client.call(Method::POST, "/api/v1/tokens", Some(&body)).await);
    match made {
        Ok(made) if args.json => say(&format!("{made:#}")),
        Ok(made) => {
            let text = |key: &str| made[key].as_str().unwrap_or_default().to_owned();
            eprintln!("token {} ({}) until {}; it is not shown again:", text("name"), text("role"), text("expires"));
            say(&text("token"));
            warn(&made);
        }
        Err(error) => return fail(&format!("token create: {error}")),
    }
    ExitCode::SUCCESS
}

fn list(args: &TokenListArgs) -> ExitCode {
    match ask(&args.target, async |client: &Client| client.call(Method::GET, "/api/v1/tokens", None).await) {
        Ok(list) if args.json => say(&format!("{list:#}")),
        Ok(list) => say(table(&list).trim_end()),
        Err(error) => return fail(&format!("token list: {error}")),
    }
    ExitCode::SUCCESS
}

fn revoke(args: &TokenRevokeArgs) -> ExitCode {
    let save = if args.save { "?save=true" } else { "" };
    let path = format!("/api/v1/tokens/{}{save}", path_segment(&args.name));
    match ask(&args.target, async |client: &Client| client.call(Method::DELETE, &path, None).await) {
        Ok(done) => {
            say(&format!("token {} is revoked", args.name));
            warn(&done);
            ExitCode::SUCCESS
        }
        Err(error) => fail(&format!("token revoke: {error}")),
    }
}

fn hash(args: &TokenHashArgs) -> ExitCode {
    let mut random = [0; 32];
    if SystemRandom::new().fill(&mut random).is_err() {
        return fail("token hash: the system has no random numbers");
    }
    let (token, hash) = token_of(random);
    eprintln!("the token, which is not shown again:");
    say(&token);
    eprintln!("for the configuration:");
    let now = jiff::Timestamp::now().as_second();
    let ttl = i64::try_from(args.ttl.as_secs()).unwrap_or(i64::MAX);
    let Ok(expires) = jiff::Timestamp::from_second(now.saturating_add(ttl)) else {
        return fail("token hash: --ttl is too long");
    };
    // A key of TOML in quotes may be any text that JSON can write.
    let name = Value::String(args.name.clone());
    eprintln!("[admin.token.{name}]\nrole = \"{}\"\nhash = \"{hash}\"\nexpires = {expires}", args.role.role().word());
    ExitCode::SUCCESS
}

fn table(list: &Value) -> String {
    let items = list["items"].as_array().map_or(&[][..], Vec::as_slice);
    if items.is_empty() {
        return "no tokens".to_owned();
    }
    let line = |token: &Value| {
        let text = |key: &str, otherwise: &str| token[key].as_str().unwrap_or(otherwise).to_owned();
        let ends = match (token["expired"].as_bool(), token["expires"].as_str()) {
            (_, None) => "without end".to_owned(),
            (Some(true), Some(at)) => format!("EXPIRED {at}"),
            (_, Some(at)) => format!("until {at}"),
        };
        format!(
            "{}\t{}\t{ends}\tlast used: {}\n",
            text("name", ""),
            text("role", ""),
            text("last_used", "not since start")
        )
    };
    items.iter().map(line).collect()
}

fn warn(answer: &Value) {
    for warning in answer["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        eprintln!("warning: {warning}");
    }
}

fn ask(target: &Target, call: impl AsyncFnOnce(&Client) -> Result<Value, Failure>) -> Result<Value, String> {
    let client = Client::find(target)?;
    runtime()?.block_on(call(&client)).map_err(|failure| failure.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_read_as_lines() {
        let list = json!({ "items": [
            { "name": "ci", "role": "operator", "expires": "T", "expired": true, "last_used": null },
            { "name": "old", "role": "read-only", "expires": null, "expired": false, "last_used": "U" },
        ] });
        let told = table(&list);
        assert_eq!(
            told,
            "ci\toperator\tEXPIRED T\tlast used: not since start\nold\tread-only\twithout end\tlast used: U\n"
        );
        assert_eq!(table(&json!({ "items": [] })), "no tokens");
    }
}
