//! API tokens, by the program's own commands: made, used, listed, revoked.

use std::process::{Command, Output};

use bascule::model::Role;
use serde_json::Value;

use super::appliance::{Appliance, model};
use super::users::user;

fn appliance() -> Appliance {
    let mut model = model();
    model.admin.users = vec![user("root", Role::Superuser)];
    Appliance::with(model)
}

/// `bascule …` against the appliance, as `root` or with a token.
async fn bascule(appliance: &Appliance, token: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bascule"));
    command.args(arguments).args(["--url", &appliance.base]);
    match token {
        Some(token) => command.env("BASCULE_TOKEN", token),
        None => command.env("BASCULE_USER", "root").env("BASCULE_PASSWORD", "root"),
    };
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_made_used_by_every_command_listed_and_revoked() {
    let appliance = appliance();
    let made = bascule(&appliance, None, &["token", "create", "ci", "--role", "operator", "--ttl", "1h"]).await;
    assert!(made.status.success(), "{}", text(&made.stderr));
    let token = text(&made.stdout).trim_end().to_owned();
    assert!(token.starts_with("bascule_") && token.len() == 51, "alone on stdout: {token}");
    assert!(text(&made.stderr).contains("gone with the next restart"), "{}", text(&made.stderr));

    let shown = bascule(&appliance, Some(&token), &["shell", "-c", "disable service web1"]).await;
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    assert!(text(&shown.stderr).contains("warning: the token of BASCULE_TOKEN expires at"), "within an hour");
    let denied = bascule(&appliance, Some(&token), &["token", "create", "x", "--role", "superuser"]).await;
    assert!(text(&denied.stderr).contains("needs the role superuser"), "{}", text(&denied.stderr));
    let left = bascule(&appliance, Some(&token), &["shell", "-c", "shell \"echo out\""]).await;
    assert_eq!(left.status.code(), Some(1), "a session of an operator has no way out");
    assert_eq!(text(&left.stdout), "ERROR: `shell` is for superusers\n");
    let left = bascule(&appliance, None, &["shell", "-c", "shell \"echo out\"", "-c", "shell exit 3"]).await;
    assert!(text(&left.stdout).starts_with("out\n Done\nERROR: the command ended with exit status: 3\n"));
    let twice = bascule(&appliance, None, &["token", "create", "ci", "--role", "operator"]).await;
    assert!(text(&twice.stderr).contains("ci"), "{}", text(&twice.stderr));

    let listed = text(&bascule(&appliance, Some(&token), &["token", "list"]).await.stdout);
    assert!(listed.starts_with("ci\toperator\tuntil "), "{listed}");
    let journal = appliance.http.get(format!("{}/api/v1/journal?kind=act", appliance.base)).bearer_auth(&token);
    let journal: Value = journal.send().await.unwrap().json().await.unwrap();
    let act = &journal["items"][0];
    assert_eq!(
        (act["actor"].as_str(), act["body"]["door"].as_str()),
        (Some("token:ci"), Some("token ci from 127.0.0.1"))
    );

    let revoked = bascule(&appliance, None, &["token", "revoke", "ci"]).await;
    assert!(revoked.status.success(), "{}", text(&revoked.stderr));
    let refused = bascule(&appliance, Some(&token), &["shell", "-c", "show service web1"]).await;
    assert!(!refused.status.success());
    let said = text(&refused.stderr) + &text(&refused.stdout);
    assert!(said.contains("revoked"), "{said}");
}

#[test]
fn a_token_is_made_without_an_appliance_and_its_table_loads() {
    let output = Command::new(env!("CARGO_BIN_EXE_bascule"))
        .args(["token", "hash", "c.i \"1\"", "--role", "read-only", "--ttl", "30d"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let told = text(&output.stderr);
    let (_, table) = told.split_once("for the configuration:\n").unwrap();
    let table: toml::Table = table.parse().unwrap();
    let token = &table["admin"]["token"]["c.i \"1\""];
    assert_eq!(token["role"].as_str(), Some("read-only"));
    let expected = bascule::model::access::token_hash(text(&output.stdout).trim_end());
    assert_eq!(token["hash"].as_str(), Some(&*expected));
}
