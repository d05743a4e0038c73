//! `bascule token`: makes, lists and revokes API tokens. A token is printed once, alone on stdout, so that a script can take
//! it; everything else is said on stderr.

use std::process::ExitCode;
use std::time::Duration;

use reqwest::Method;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};

use super::args::{Target, TokenCreateArgs, TokenHashArgs, TokenListArgs, TokenRevokeArgs, TokenWhat};
use super::client::{Client, Failure, runtime};
use super::{aside, fail, say, say_json};
use crate::admin::dto::path_segment;
use crate::model::access::token_of;
use crate::model::visible::in_json;

pub(super) fn run(what: &TokenWhat) -> ExitCode {
    match what {
        TokenWhat::Create(args) => create(args),
        TokenWhat::List(args) => list(args),
        TokenWhat::Revoke(args) => revoke(args),
        TokenWhat::Hash(args) => hash(args),
    }
}

/// The token is made here: the appliance is told its hash, and never sees it before it is used.
fn create(args: &TokenCreateArgs) -> ExitCode {
    let (token, hash, expires) = match make(args.ttl) {
        Ok(made) => made,
        Err(error) => return fail(&format!("token create: {error}")),
    };
    let body = json!({ "name": args.name, "role": args.role.role().word(), "hash": hash, "expires": expires });
    let made = ask(&args.target, async |client: &Client| {
        let mut made = client.call(Method::POST, "/api/v1/tokens", Some(&body)).await?;
        made["warnings"] = lasting(client, args.save, made["warnings"].take(), "it is gone").await?;
        Ok(made)
    });
    match made {
        Ok(mut made) if args.json => {
            made["token"] = token.into();
            say_json(&made);
        }
        Ok(made) => {
            let role = args.role.role().word();
            aside(&format!("token {} ({role}) until {expires}; it is not shown again:", args.name));
            say(&token);
            warn(&made);
        }
        Err(error) => return fail(&format!("token create: {error}")),
    }
    ExitCode::SUCCESS
}

/// A token, its hash, and when it ends.
fn make(ttl: Duration) -> Result<(String, String, String), String> {
    let mut random = [0; 32];
    SystemRandom::new().fill(&mut random).map_err(|_| "the system has no random numbers")?;
    let (token, hash) = token_of(random);
    let now = jiff::Timestamp::now().as_second();
    let end = now.saturating_add(i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX));
    let end = jiff::Timestamp::from_second(end).map_err(|_| "--ttl is too long")?;
    Ok((token, hash, end.to_string()))
}

/// Saves, or says what becomes of the change if nobody does.
async fn lasting(client: &Client, save: bool, warnings: Value, otherwise: &str) -> Result<Value, Failure> {
    let mut warnings = warnings.as_array().cloned().unwrap_or_default();
    let otherwise = format!("{otherwise} with the next restart or reload unless the configuration is saved");
    if save {
        // It is in force all the same, and a token that was not told would be lost.
        match client.call(Method::POST, "/api/v1/config/save", Some(&json!({}))).await {
            Ok(saved) => warnings.extend(saved["warnings"].as_array().into_iter().flatten().cloned()),
            Err(error) => warnings.push(format!("not saved: {error}; {otherwise}").into()),
        }
    } else {
        warnings.push(otherwise.into());
    }
    Ok(warnings.into())
}

fn list(args: &TokenListArgs) -> ExitCode {
    match ask(&args.target, async |client: &Client| client.call(Method::GET, "/api/v1/tokens", None).await) {
        Ok(list) if args.json => say_json(&list),
        Ok(list) => say(table(&list, &jiff::Timestamp::now().to_string()).trim_end()),
        Err(error) => return fail(&format!("token list: {error}")),
    }
    ExitCode::SUCCESS
}

fn revoke(args: &TokenRevokeArgs) -> ExitCode {
    let path = format!("/api/v1/tokens/{}", path_segment(&args.name));
    let done = ask(&args.target, async |client: &Client| {
        let mut done = client.call(Method::DELETE, &path, None).await?;
        done["warnings"] = lasting(client, args.save, done["warnings"].take(), "it is back").await?;
        Ok(done)
    });
    match done {
        Ok(done) => {
            say(&format!("token {} is revoked", args.name));
            warn(&done);
            ExitCode::SUCCESS
        }
        Err(error) => fail(&format!("token revoke: {error}")),
    }
}

fn hash(args: &TokenHashArgs) -> ExitCode {
    let (token, hash, expires) = match make(args.ttl) {
        Ok(made) => made,
        Err(error) => return fail(&format!("token hash: {error}")),
    };
    eprintln!("the token, which is not shown again:");
    say(&token);
    eprintln!("for the configuration:");
    // A key of TOML in quotes may be any text that JSON can write.
    let name = in_json(&Value::String(args.name.clone()).to_string()).into_owned();
    let role = args.role.role().word();
    aside(&format!("[admin.token.{name}]\nrole = \"{role}\"\nhash = \"{hash}\"\nexpires = {expires}"));
    ExitCode::SUCCESS
}

/// `now` in the form of the ends, which compares as text.
fn table(list: &Value, now: &str) -> String {
    let items = list["items"].as_array().map_or(&[][..], Vec::as_slice);
    if items.is_empty() {
        return "no tokens".to_owned();
    }
    let line = |token: &Value| {
        let text = |key: &str, otherwise: &str| token[key].as_str().unwrap_or(otherwise).to_owned();
        let ends = match token["expires"].as_str() {
            None => "without end".to_owned(),
            Some(at) if at <= now => format!("EXPIRED {at}"),
            Some(at) => format!("until {at}"),
        };
        format!("{}\t{}\t{ends}\n", text("name", ""), text("role", "read-only"))
    };
    items.iter().map(line).collect()
}

fn warn(answer: &Value) {
    for warning in answer["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        aside(&format!("warning: {warning}"));
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
            { "name": "ci", "role": "operator", "expires": "2027-01-01T00:00:00Z" },
            { "name": "new", "role": "operator", "expires": "2027-03-01T00:00:00Z" },
            { "name": "old" },
        ] });
        let told = table(&list, "2027-02-01T00:00:00.123Z");
        let [ci, new, old] = [
            "ci\toperator\tEXPIRED 2027-01-01T00:00:00Z\n",
            "new\toperator\tuntil 2027-03-01T00:00:00Z\n",
            "old\tread-only\twithout end\n",
        ];
        assert_eq!(told, format!("{ci}{new}{old}"));
        assert_eq!(table(&json!({ "items": [] }), ""), "no tokens");
    }
}
