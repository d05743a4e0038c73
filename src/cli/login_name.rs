//! `bascule login-name`: tells the login of a machine, in systemd's protocol for user records (varlink,
//! `io.systemd.UserDatabase`), that a name may be somebody's, and under which number they would run. `libnss-systemd`
//! asks it through a socket.
//!
//! A name that may log in at all needs no account: everyone has a number ([`number`]). Whether they are somebody, PAM
//! finds out later, by their password. So the answer depends on nothing but the name, and whoever tries names learns
//! nothing. It is given to the processes of a login alone; for everybody else on the machine (`chown`, the scripts of
//! packages) these users do not exist, and names and numbers of accounts stay what they are.

use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use serde_json::{Value, json};

use super::args::LoginNameArgs;
use super::fail;
use crate::model::person::number;

/// Who asks for a login, as the kernel calls their program.
const LOGINS: [&str; 3] = ["sshd", "login", "sshd-session"];

/// One question.
const QUESTION_MOST: u64 = 64 << 10;

/// Where they are at home: an empty folder that is root's, so that nobody finds a key of SSH there.
const HOME: &str = "/usr/lib/bascule/home";
const SHELL: &str = "/usr/lib/bascule/login";
/// `nogroup`
const GROUP: u32 = 65_534;

const INTERFACE: &str = "io.systemd.UserDatabase";

pub(super) fn run(args: &LoginNameArgs) -> ExitCode {
    let is_login = is_login();
    let (stdin, stdout) = (io::stdin().lock(), io::stdout().lock());
    match serve(stdin, stdout, &args.service, is_login) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&format!("login-name: {error}")),
    }
}

/// Whether the process at the other end of the socket lets people in.
fn is_login() -> bool {
    let Ok(peer) = getsockopt(&io::stdin().as_fd(), PeerCredentials) else { return false };
    let program = std::fs::read_to_string(format!("/proc/{}/comm", peer.pid())).unwrap_or_default();
    peer.uid() == 0 && LOGINS.contains(&program.trim_end())
}

fn serve(mut from: impl BufRead, mut to: impl Write, service: &str, is_login: bool) -> io::Result<()> {
    loop {
        let mut question = Vec::new();
        io::Read::take(&mut from, QUESTION_MOST).read_until(0, &mut question)?;
        let Some(question) = question.strip_suffix(&[0]) else { return Ok(()) };
        let Ok(question) = serde_json::from_slice::<Value>(question) else { return Ok(()) };
        if question["oneway"] == true {
            continue;
        }
        let mut bytes = answer(&question, service, is_login).to_string().into_bytes();
        bytes.push(0);
        to.write_all(&bytes)?;
        to.flush()?;
    }
}

fn answer(question: &Value, service: &str, is_login: bool) -> Value {
    let method = question["method"].as_str().unwrap_or_default();
    let asked = &question["parameters"];
    let error = |name: &str| json!({ "error": format!("{INTERFACE}.{name}"), "parameters": {} });
    let Some(method) = method.strip_prefix(INTERFACE).and_then(|method| method.strip_prefix('.')) else {
        let parameters = json!({ "interface": method });
        return json!({ "error": "org.varlink.service.InterfaceNotFound", "parameters": parameters });
    };
    if asked["service"] != service {
        return error("BadService");
    }
    match (method, asked["userName"].as_str()) {
        ("GetUserRecord", Some(name)) if is_login && may_be_a_name(name) => {
            let uid = number(name);
            if asked["uid"].as_u64().is_some_and(|other| other != u64::from(uid)) {
                return error("ConflictingRecordFound");
            }
            json!({ "parameters": { "incomplete": false, "record": {
                "userName": name,
                "uid": uid,
                "gid": GROUP,
                "disposition": "regular",
                "service": service,
                "homeDirectory": HOME,
                "shell": SHELL,
            } } })
        }
        ("GetUserRecord" | "GetGroupRecord" | "GetMemberships", _) => error("NoRecordFound"),
        _ => json!({ "error": "org.varlink.service.MethodNotFound", "parameters": { "method": question["method"] } }),
    }
}

/// What can be a user's name on this kind of machine, and in no file of it means more than a name.
fn may_be_a_name(name: &str) -> bool {
    let is_good = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '@');
    let first = name.chars().next();
    (1..=64).contains(&name.len()) && name.chars().all(is_good) && first.is_some_and(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVICE: &str = "bascule.login";

    fn ask(method: &str, parameters: Value, is_login: bool) -> Value {
        let mut parameters = parameters;
        parameters["service"] = SERVICE.into();
        answer(&json!({ "method": format!("{INTERFACE}.{method}"), "parameters": parameters }), SERVICE, is_login)
    }

    fn is_none(answer: &Value) -> bool {
        answer["error"] == "io.systemd.UserDatabase.NoRecordFound"
    }

    #[test]
    fn a_login_is_told_the_number_of_whatever_name_somebody_types() {
        let answer = ask("GetUserRecord", json!({ "userName": "alice" }), true);
        let record = &answer["parameters"]["record"];
        assert_eq!((&record["userName"], &record["uid"]), (&json!("alice"), &json!(number("alice"))));
        assert_eq!(answer["parameters"]["incomplete"], false);
        for name in ["", "-rf", "a/b", "a:b", "a b", "0", "x\n", &"x".repeat(65)] {
            assert!(is_none(&ask("GetUserRecord", json!({ "userName": name }), true)), "{name:?}");
        }
    }

    #[test]
    fn for_everybody_else_nobody_is_there_by_name_by_number_or_in_a_list() {
        assert!(is_none(&ask("GetUserRecord", json!({ "userName": "alice" }), false)));
        for is_login in [true, false] {
            assert!(is_none(&ask("GetUserRecord", json!({ "uid": number("alice") }), is_login)));
            assert!(is_none(&ask("GetUserRecord", json!({}), is_login)));
            assert!(is_none(&ask("GetGroupRecord", json!({ "groupName": "alice" }), is_login)));
            assert!(is_none(&ask("GetMemberships", json!({ "userName": "alice" }), is_login)));
        }
    }

    #[test]
    fn questions_come_one_after_the_other_and_a_broken_one_ends_it() {
        let question = |service: &str| {
            let parameters = json!({ "userName": "alice", "service": service });
            json!({ "method": "io.systemd.UserDatabase.GetUserRecord", "parameters": parameters }).to_string() + "\0"
        };
        let asked = question("another") + &question(SERVICE) + "{\0" + &question(SERVICE);
        let mut told = Vec::new();
        serve(asked.as_bytes(), &mut told, SERVICE, true).unwrap();
        let told: Vec<Value> = told.split(|byte| *byte == 0).filter_map(|t| serde_json::from_slice(t).ok()).collect();
        assert_eq!(told.len(), 2);
        assert_eq!(told[0]["error"], "io.systemd.UserDatabase.BadService");
        assert_eq!(told[1]["parameters"]["record"]["shell"], SHELL);
    }
}
