//! People of the appliance on its machine: who is let in there, and what they may do over the local socket.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use bascule::model::person::number;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::box_under_test::{Box, http, within};

/// In the environment of a box: people of the machine may use its socket.
pub const LOGINS: &str = "BASCULE_TEST_LOGINS";

const CONFIG: &str = r#"
    [service.a]
    type = "HTTP"
    monitors = []
    address = "192.0.2.1:80"
    [admin.user.boss]
    role = "superuser"
    password_hash = "HASH"
    [admin.user.alice]
    role = "operator"
    password_hash = "HASH"
"#;
const PASSWORD: &str = "a password of the test";

fn start(environment: &[(&str, &str)]) -> Box {
    let hash = bascule::cli::hash_password(PASSWORD).expect("a hash");
    let box_ = Box::start_with_environment(environment, &CONFIG.replace("HASH", &hash));
    for folder in [box_.path("."), box_.path("state")] {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o711)).expect("it is ours");
    }
    box_
}

/// What PAM asks: whether somebody at the console may come in.
fn check(box_: &Box, user: &str, password: &str, more: &[&str]) -> bool {
    check_from(box_, None, user, password, more)
}

/// The same of somebody whose `ssh` runs there.
fn check_from(box_: &Box, from: Option<&str>, user: &str, password: &str, more: &[&str]) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bascule"));
    command.arg("login-check").arg("--state").arg(box_.path("state")).arg("--config").arg(box_.path("box.toml"));
    command.args(more).env("PAM_USER", user).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env_remove("PAM_RHOST").envs(from.map(|from| ("PAM_RHOST", from)));
    let mut child = command.spawn().expect("the program starts");
    // As PAM ends it.
    child.stdin.take().expect("a pipe").write_all(format!("{password}\0").as_bytes()).expect("it reads");
    child.wait().expect("it ends").success()
}

/// The shell of somebody who is logged in; `None` where this test may not be somebody else.
fn shell(box_: &Box, user: &str, line: &str) -> Option<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bascule"));
    command.arg("shell").arg("--state").arg(box_.path("state")).args(["-c", line]).env_remove("BASCULE_URL");
    let done = command.uid(number(user)).gid(65_534).current_dir("/").output().ok()?;
    Some(String::from_utf8_lossy(&done.stdout).into_owned())
}

#[test]
fn whoever_may_log_in_to_the_appliance_is_let_into_its_machine_and_nobody_else() {
    let box_ = start(&[(LOGINS, "yes")]);
    assert!(check(&box_, "alice", PASSWORD, &[]) && check(&box_, "boss", PASSWORD, &["--superuser"]));
    assert!(!check(&box_, "alice", "another", &[]), "a wrong password");
    assert!(!check(&box_, "alice", PASSWORD, &["--superuser"]), "root's shell is for superusers");
    assert!(!check(&box_, "mallory", PASSWORD, &[]) && !check(&box_, "", PASSWORD, &[]));
    assert!(!check(&box_, "root", PASSWORD, &[]), "a user of the machine's own");
    let closed = start(&[]);
    assert!(!check(&closed, "alice", PASSWORD, &[]), "nobody has said that people log in there");
    drop(closed);
    let open = Box::start_with_environment(&[(LOGINS, "yes")], "[switch.go]");
    assert!(!check(&open, "alice", PASSWORD, &[]), "where nobody has to log in, nobody can");
}

#[test]
fn the_appliance_judges_a_login_as_long_as_it_runs_whoever_may_call_its_management() {
    let hash = bascule::cli::hash_password(PASSWORD).expect("a hash");
    let mut box_ = Box::start_with_environment(
        &[(LOGINS, "yes")],
        &(CONFIG.replace("HASH", &hash) + "[admin]\nallow = [\"192.0.2.0/24\"]\n"),
    );
    assert!(check(&box_, "alice", PASSWORD, &[]), "the machine itself is in no list of callers");
    assert!(!check(&box_, "alice", "another", &[]));
    // A change that nobody has loaded.
    let hash = bascule::cli::hash_password("another").expect("a hash");
    std::fs::write(box_.path("box.toml"), CONFIG.replace("HASH", &hash)).expect("it is ours");
    assert!(!check(&box_, "boss", "another", &[]) && check(&box_, "boss", PASSWORD, &[]));
    // One that runs and does not answer is no reason to believe the file.
    box_.signal("STOP");
    let decided = check(&box_, "boss", "another", &[]);
    box_.signal("CONT");
    assert!(!decided);
    box_.kill();
    assert!(check(&box_, "boss", "another", &[]) && !check(&box_, "boss", PASSWORD, &[]), "the file alone is left");
}

#[test]
fn a_guesser_over_ssh_locks_their_own_address_and_not_the_console() {
    let box_ = start(&[(LOGINS, "yes")]);
    for _ in 0..12 {
        assert!(!check_from(&box_, Some("198.51.100.7"), "boss", "a guess", &[]));
    }
    assert!(!check_from(&box_, Some("198.51.100.7"), "boss", PASSWORD, &[]), "locked there");
    assert!(check(&box_, "boss", PASSWORD, &["--superuser"]), "the console");
    let authorization = format!("Basic {}", STANDARD.encode(format!("boss:{PASSWORD}")));
    let call = |method: &str, path: &str, body: &str| {
        let fields = [("Authorization", &*authorization), ("Content-Type", "application/json")];
        http(box_.admin, method, path, body, &fields).expect("the API answers")
    };
    let told: Value = serde_json::from_str(&call("GET", "/api/v1/logins", "").body).expect("JSON");
    let boss = told["items"].as_array().and_then(|all| all.iter().find(|one| one["name"] == "boss"));
    let boss = boss.expect("a user");
    assert_eq!((&boss["wrong"], &boss["locked_networks"]), (&10.into(), &1.into()), "{told}");
    within(Duration::from_secs(5), "the journal tells of it", || {
        let told = call("GET", "/api/v1/journal", "").body;
        assert!(!told.contains("a guess"), "{told}");
        told.contains("login from 198.51.100.7")
    });
    // Whoever could say where somebody logs in from could lock others out.
    let asked = r#"{"user":"boss","password":"a guess","from":"192.0.2.77"}"#;
    assert_eq!(call("POST", "/api/v1/logins/check", asked).status, 403);
}

#[test]
fn somebody_who_is_logged_in_acts_under_their_name_with_their_role() {
    let box_ = start(&[(LOGINS, "yes")]);
    let Some(told) = shell(&box_, "alice", "show service a") else { return };
    assert!(told.contains("a (192.0.2.1:80) - HTTP"), "{told}");
    let told = shell(&box_, "alice", "disable service a -reason tea").expect("as before");
    assert!(told.contains(" Done"), "{told}");
    let told = shell(&box_, "alice", "add server s 192.0.2.9").expect("as before");
    assert!(told.contains("needs the role superuser"), "{told}");
    let told = shell(&box_, "mallory", "show service a").expect("as before");
    assert!(told.contains("log in to this machine again"), "{told}");
    let state = box_.path("state").display().to_string();
    let (_, told) = box_.run(&["journal", "--state", &state, "--actor", "admin:alice"]);
    assert!(told.contains("tea"), "{told}");
    // Without a word about people the socket is nobody's but the appliance's.
    let closed = start(&[]);
    let told = shell(&closed, "alice", "show service a").expect("as before");
    assert!(!told.contains("192.0.2.1"), "{told}");
}
