//! What a name, a comment or an appliance says is text: it moves no cursor of whoever reads it.

use std::io::{Read as _, Write as _};
use std::process::Command;

use bascule::config::edit;
use bascule::model::visible::is_hidden;
use bascule::netscaler::import::import;
use serde_json::{Value, json};

use super::appliance::Appliance;
use super::shell::bascule;

const EVIL: &str = "a\u{1b}[31m\n Done\u{202e}\0\u{9b}2J";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_comment_is_shown_as_text_by_every_command_and_what_is_printed_still_loads() {
    let appliance = Appliance::start();
    let config = json!({
        "schema": 1,
        "service": {"a": {"type": "HTTP", "address": "127.0.0.1:1", "health_monitor": false, "comment": EVIL}},
        "vserver": {"web": {"type": "HTTP", "services": ["a"], "comment": EVIL}},
        "policy_expression": {"e": {"value": "HTTP.REQ.URL.EQ(\"/\")", "comment": EVIL}},
    });
    let (status, answer) = appliance.put("/api/v1/config", config).await;
    assert_eq!(status, 200, "{answer}");
    let shell = async |arguments: &[&str]| {
        let (out, code) = bascule(&appliance, arguments, "").await;
        assert!(code == 0 && !out.contains(is_hidden), "{arguments:?}: {out:?}");
        out
    };
    for line in ["show lb vserver web", "show service a", "show policy expression e"] {
        let out = shell(&["shell", "-c", line]).await;
        assert!(out.contains(r"a\u{1b}[31m\n Done\u{202e}\u{0}\u{9b}2J"), "{line}: {out}");
    }
    let toml = shell(&["shell", "-c", "show ns runningConfig -toml"]).await;
    let toml = edit::to_json(&toml).unwrap();
    assert_eq!(toml["vserver"]["web"]["comment"], EVIL);
    let lines = shell(&["shell", "-c", "show ns runningConfig"]).await;
    let back = import(&lines).unwrap();
    assert_eq!(back.document.root()["vserver"]["web"]["comment"], EVIL, "{lines}");
    let shown: Value = serde_json::from_str(&shell(&["shell", "--json", "-c", "show ns runningConfig"]).await).unwrap();
    assert!(shown["config"].as_str().is_some_and(|lines| lines.contains(r"\u{202e}")), "{shown}");
    shell(&["journal"]).await;
    shell(&["timeline", "--since", "1h"]).await;
}

#[test]
fn what_a_hostile_server_says_went_wrong_is_text() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let body = json!({ "detail": EVIL }).to_string();
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 400 Bad\r\ncontent-type: application/problem+json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
    });
    for arguments in [&["shell", "-c", "show service"][..], &["journal"], &["shell", "--json", "-c", "show service"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bascule"));
        let output = command.args(arguments).args(["--url", &url]).output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(said.contains("[31m") && !said.contains(is_hidden), "{arguments:?}: {said:?}");
    }
}
