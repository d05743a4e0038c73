use std::process::{Command, Stdio};

use serde_json::Value;

use super::appliance::Appliance;

/// Output and exit code of the program, pointed at the appliance's state directory.
pub async fn bascule(appliance: &Appliance, arguments: &[&str], stdin: &str) -> (String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bascule"));
    command.args(arguments).arg("--state").arg(appliance.state.path()).env_remove("BASCULE_URL");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let stdin = stdin.to_owned();
    let output = tokio::task::spawn_blocking(move || {
        let mut child = command.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    });
    let output = output.await.unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shell_speaks_over_the_socket_in_netscalers_words() {
    let appliance = Appliance::start();
    let (out, code) = bascule(
        &appliance,
        &["shell", "-c", "disable service web1 30 -graceFul NO", "-c", "sh service web1", "-c", "ENABLE SERVICE web1"],
        "",
    )
    .await;
    assert_eq!(code, 0, "{out}");
    assert!(out.starts_with(" Done\n\tweb1 (127.0.0.1:8001) - HTTP\n"), "{out}");
    assert!(out.contains("State: GOING OUT OF SERVICE (Out Of Service in "), "{out}");
    assert!(out.ends_with(" Done\n Done\n"), "{out}");
    let uid = appliance.get("/api/v1/journal?kind=act").await["items"][0]["actor"].clone();
    assert!(uid.as_str().is_some_and(|actor| actor.starts_with("uid:")), "{uid}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_is_said_and_makes_the_exit_code_one() {
    let appliance = Appliance::start();
    let (out, code) = bascule(&appliance, &["shell", "-c", "show service wbe1", "-c", "show switch drill"], "").await;
    assert_eq!(code, 1);
    assert!(out.starts_with("ERROR: No such resource [name, wbe1]; did you mean `web1`?\n"), "{out}");
    assert!(out.ends_with("\tdrill\tValue: false\n Done\n"), "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_come_through_a_pipe_and_warnings_before_done() {
    let appliance = Appliance::start();
    let lines = "# take both\ndisable service web1\n\ndisable service web2 30\nquit\nshow nonsense\n";
    let (out, code) = bascule(&appliance, &["shell"], lines).await;
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("Warning: ") && out.ends_with(" Done\n"), "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_is_what_rest_answers() {
    let appliance = Appliance::start();
    let (out, code) = bascule(&appliance, &["shell", "--json", "-c", "show lb vserver web"], "").await;
    assert_eq!(code, 0);
    let shown: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(shown["effective_state"], "UP");
    let (out, code) = bascule(&appliance, &["shell", "--json", "-c", "show lb vserver webb"], "").await;
    assert_eq!(code, 1);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["did_you_mean"], "web");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scenario_goes_and_returns() {
    let appliance = Appliance::start();
    let lines = "set scenario dr -activate on -reason \"drill of May\"\nreturn scenario dr\nshow scenario dr\n";
    let (out, code) = bascule(&appliance, &["shell"], lines).await;
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("dr\tState: INACTIVE\tSeq: 2\n"), "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_is_lifted_by_name() {
    let appliance = Appliance::start();
    let (out, code) = bascule(&appliance, &["shell", "-c", "unlock system user \"eve @ x\""], "").await;
    assert_eq!(code, 0, "{out}");
    let journal = appliance.get("/api/v1/journal?kind=access").await;
    assert_eq!(
        journal["items"][0]["body"],
        serde_json::json!({
            "what": "unlock", "user": "eve @ x", "networks": 0, "door": journal["items"][0]["body"]["door"],
        })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn monitors_are_shown_with_their_bindings_and_the_last_response_of_each() {
    let appliance = Appliance::start();
    let config = serde_json::json!({
        "schema": 1,
        "monitor": {"web-ok": {"type": "HTTP", "interval": "7s", "response_timeout": "3s", "response_codes": ["200-204"]}},
        "service": {"one": {"type": "HTTP", "address": "127.0.0.1:1", "monitors": ["web-ok"]}},
        "service_group": {"pool": {
            "type": "HTTP", "monitors": ["web-ok"], "member": {"a": {"address": "127.0.0.1:1", "weight": 3}},
        }},
    });
    let (status, answer) = appliance.put("/api/v1/config", config).await;
    assert_eq!(status, 200, "{answer}");
    let failed = async |path: &str| {
        for _ in 0..200 {
            let checks = appliance.get(path).await;
            if checks["failed_total"].as_u64().is_some_and(|failed| failed > 0) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        panic!("{path} never failed");
    };
    failed("/api/v1/checks/one:web-ok").await;
    failed("/api/v1/checks/pool%2Fa:web-ok").await;
    let (out, code) = bascule(&appliance, &["shell", "-c", "show lb monitor web-ok HTTP"], "").await;
    assert_eq!(code, 0, "{out}");
    for line in [
        "Name.......:         web-ok  Type......:      HTTP  State....:   ENABLED\n",
        "Interval.........:           7 sec\tRetries.............:               3\n",
        "Response timeout.:           3 sec\tDown time...........:          30 sec\n",
        "1)\tService Name: one\n\t\tMonitor Name: web-ok\n",
        "2)\tService Name: pool/a\n",
        "Failed [Total: 1 Current: 1]\n\t\tLast response: Failure - ",
    ] {
        assert!(out.contains(line), "{line:?}\n{out}");
    }
    let (out, _) = bascule(&appliance, &["shell", "-c", "sh servicegroup pool"], "").await;
    for line in [
        "pool - HTTP\n",
        "1)\t127.0.0.1:1\tState: ",
        "Weight: 3\n",
        "Monitor Name: web-ok\tState: ",
        "Last response: Failure - ",
    ] {
        assert!(out.contains(line), "{line:?}\n{out}");
    }
    let (out, code) =
        bascule(&appliance, &["shell", "-c", "show lb monitor", "-c", "show lb monitor wbe-ok"], "").await;
    assert_eq!(code, 1);
    assert!(out.contains("tcp-default  Type......:       TCP  State....:   ENABLED\n"), "{out}");
    assert!(out.contains("did you mean `web-ok`?"), "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_certificates_and_the_whole_are_shown_and_everything_can_be_explained() {
    let appliance = Appliance::start();
    let config = serde_json::json!({
        "schema": 1,
        "service": {"a": {"type": "HTTP", "address": "127.0.0.1:1", "health_monitor": false}},
        "vserver": {"web": {"type": "HTTP", "services": ["a"]}},
        "criterion": {"old": {"path": {"starts_with": "/old"}}},
        "rule": {
            "gone": {"vserver": "web", "priority": 10, "when": [["old"]], "action": {"respond": {"status": 410}}},
            "named": {"vserver": "web", "priority": 20, "action": {"edit": [{"set": "X-Who", "value": "secret"}]}},
        },
        "zone": {"example.test": {"static": "@ NS ns\nns A 192.0.2.1\nwww A 192.0.2.7\n"}},
    });
    let (status, answer) = appliance.put("/api/v1/config", config).await;
    assert_eq!(status, 200, "{answer}");
    let shell = async |line: &str| bascule(&appliance, &["shell", "-c", line], "").await;
    let said = async |line: &str, parts: &[&str]| {
        let (out, code) = shell(line).await;
        assert_eq!(code, 0, "{line}: {out}");
        for part in parts {
            assert!(out.contains(part), "{line}: {part:?}\n{out}");
        }
        out
    };
    let rule =
        "Name: gone\tVserver: web\tPriority: 10\n\tRule: old\tPhase: REQUEST\n\tAction: respond 410\n\tHits: 0\n";
    said("show rule gone", &[rule]).await;
    let all =
        said("show rule", &["1)\tName: gone", "2)\tName: named", "Rule: true", "Action: edit: set X-Who\n"]).await;
    assert!(!all.contains("secret"), "{all}");
    said("stat rule", &["Rule   Vserver  Priority  Action", "gone   web      10        respond 410"]).await;
    said("stat ns", &["READY\n", "Virtual servers: 1 (UP 1)\n", "Services: 1 (UP 1)\n", "Current client connections"])
        .await;
    said("show ssl certKey", &[" Done"]).await;
    let (out, code) = shell("show ssl certkey nobody").await;
    assert!(code == 1 && out.contains("No such resource [certkeyName, nobody]"), "{out}");
    let (out, _) = shell("show rule gon").await;
    assert!(out.contains("did you mean `gone`"), "{out}");
    said("explain request web /old/x -method GET", &["rule gone of web: true, acts", "verdict: respond 410"]).await;
    said("explain request web", &["rule gone of web: false", "served by a (127.0.0.1:1) of web"]).await;
    said("explain service a", &["service a is UP"]).await;
    said("explain dns www.example.test", &["NOERROR", "192.0.2.7"]).await;
    said("explain dns www.example.test AAAA -client 192.0.2.9", &["AAAA for 192.0.2.9", "NOERROR"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_of_vservers_and_what_holds_for_all_of_them_are_shown() {
    let appliance = Appliance::start();
    let lines = "add lb group both -persistenceType SOURCEIP -timeout 7\nbind lb group both web\n";
    let (out, code) = bascule(&appliance, &["shell"], lines).await;
    assert_eq!(code, 0, "{out}");
    let (out, code) = bascule(&appliance, &["shell", "-c", "show lb group both", "-c", "sh lb gro"], "").await;
    assert_eq!(code, 0, "{out}");
    let one = "\tboth\tPersistence: SOURCEIP\tTimeout: 7 min\n\n1)\tVserver Name: web\n Done\n";
    assert_eq!(out, format!("{one}1)\tboth\tPersistence: SOURCEIP\tTimeout: 7 min\n Done\n"));
    let (out, code) = bascule(&appliance, &["shell", "-c", "show lb parameter", "-c", "show lb group none"], "").await;
    assert!(code == 1 && out.starts_with('\t') && out.contains("ERROR: No such resource [name, none]"), "{out}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_are_made_given_roles_and_taken_away() {
    let appliance = Appliance::of("schema = 1\n[appliance]\nname = \"b\"\n");
    let shell = async |line: &str| bascule(&appliance, &["shell", "-c", line], "").await;
    let (out, code) = shell("add system user ada s3cret").await;
    assert!(code == 0 && out.contains("ada is the first who can log in, and so a superuser"), "{out}");
    for line in [
        "add system user bob other",
        "bind system user bob operator 100",
        "set system user bob -password \"an other\"",
        "unbind system user bob operator",
    ] {
        let (out, code) = shell(line).await;
        assert_eq!((&out[..], code), (" Done\n", 0), "{line}");
    }
    let (out, code) = shell("show system user").await;
    assert!(code == 0 && out.contains("ada") && out.contains("bob"), "{out}");
    for (line, why) in [
        ("add system user bob again", "already exists"),
        ("rm system user ada", "the last superuser stays"),
        ("set system user eve other", "No such resource"),
        ("add system user eve", "Required argument missing [password]"),
        ("bind system user bob nonsense", "read-only, operator or superuser"),
    ] {
        let (out, code) = shell(line).await;
        assert!(code == 1 && out.starts_with("ERROR: ") && out.contains(why), "{line}: {out}");
    }
    assert_eq!(shell("rm system user bob").await.1, 0);
}
