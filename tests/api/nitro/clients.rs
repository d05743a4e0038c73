//! Clients that people have, unmodified: check-netscaler from PyPI, curl.
//!
//! They stand in `target/clients`, which `scripts/install-prerequisites` makes; where they are not there and cannot be
//! had, the tests say so on standard error whatever cargo does with their output, and fail where CI runs them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use super::rig::{CONFIG, Rig, hash};

const CHECK: &str = "check-netscaler==2.7.0";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients")
}

/// The program, installed where it is not there yet.
fn check_netscaler() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let install = || {
        let program = folder().join("bin/check_netscaler");
        if program.exists() {
            return Some(program);
        }
        let run = |program: &Path, arguments: &[&str]| {
            let ended = Command::new(program).args(arguments).output();
            ended.is_ok_and(|output| output.status.success())
        };
        let folder_text = folder().display().to_string();
        let made = run(Path::new("python3"), &["-m", "venv", &folder_text])
            && run(&folder().join("bin/pip"), &["install", "--quiet", CHECK]);
        if made && program.exists() {
            return Some(program);
        }
        assert!(std::env::var_os("CI").is_none(), "{CHECK} is not there; run scripts/install-prerequisites");
        // Not by a macro of print: that would be captured.
        let _ = writeln!(std::io::stderr(), "\nSKIPPED: {CHECK} cannot be installed; NITRO is not tried with it\n");
        None
    };
    FOUND.get_or_init(install).clone()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The exit status of Nagios (0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN) and what it said.
fn check(program: &Path, rig: &Rig, arguments: &[&str]) -> (i32, String) {
    let port = rig.at.port().to_string();
    let usual = ["-H", "127.0.0.1", "--no-ssl", "-P", &port, "-u", "nsroot", "-p", "s3cret"];
    let output = Command::new(program).args(usual).args(arguments).env("NO_PROXY", "*").output().unwrap();
    (output.status.code().unwrap_or(-1), text(&output))
}

fn with_nsroot() -> Rig {
    let hash = hash(b"s3cret");
    Rig::start(&format!("{CONFIG}[admin.user.nsroot]\nrole = \"superuser\"\npassword_hash = \"{hash}\"\n"))
}

#[test]
fn check_netscaler_watches_everything_that_it_knows() {
    let Some(program) = check_netscaler() else { return };
    let rig = with_nsroot();
    let nsroot = vec!["X-NITRO-USER: nsroot".to_owned(), "X-NITRO-PASS: s3cret".to_owned()];
    for (arguments, status, said) in [
        (&["-C", "state", "-o", "lbvserver"][..], 0, "All 2 lbvserver are UP"),
        (&["-C", "state", "-o", "lbvserver", "-n", "web", "-w", "100", "-c", "50"], 0, "web state: UP, Health: 100%"),
        (&["-C", "state", "-o", "service"], 0, "All 2 service are UP"),
        (&["-C", "state", "-o", "server"], 0, "server"),
        (&["-C", "state", "-o", "lbvserver", "-n", "nope"], 2, "not found"),
        // Its monitors are off here, which the plugin minds.
        (&["-C", "servicegroup", "-n", "spare"], 2, "spare healthmonitor is NO"),
        (&["-C", "nsconfig"], 0, ""),
        (&["-C", "hwinfo"], 0, "Bascule"),
        (&["-C", "license", "-w", "30", "-c", "10"], 0, "nslicense"),
        (&["-C", "interfaces", "-f", "^(?!lo)"], 0, "lo"),
        (&["-C", "perfdata", "-o", "ns", "-n", "cpuusagepcnt,memusagepcnt,totrxmbits"], 0, "cpuusagepcnt"),
        (&["-C", "above", "-o", "system", "-n", "memusagepcnt", "-w", "101", "-c", "102"], 0, "memusagepcnt"),
        (&["-C", "hastatus"], 2, "not configured for high availability"),
    ] {
        let (code, text) = check(&program, &rig, arguments);
        assert_eq!(code, status, "{arguments:?}: {text}");
        assert!(text.contains(said), "{arguments:?}: {text}");
    }

    // What people do shows: a drain is a warning, the backup at work is one where it is asked for.
    let disable = |name: &str, more: &str| {
        let body = format!("{{\"service\":{{\"name\":\"{name}\"{more}}}}}");
        let answer = rig.ask("POST /nitro/v1/config/service?action=disable", &nsroot, &body);
        assert!(answer.line.starts_with("200"), "{answer:?}");
    };
    disable("web1", ",\"delay\":300");
    let (code, text) = check(&program, &rig, &["-C", "state", "-o", "service", "-n", "web1"]);
    assert_eq!(code, 1, "going out of service: {text}");
    disable("web1", "");
    disable("web2", "");
    let backup = ["-C", "state", "-o", "lbvserver", "-n", "web", "--check-backup", "warning"];
    let (code, text) = check(&program, &rig, &backup);
    assert!(code == 2 && text.contains("Backup vServer active: web-spare"), "{code} {text}");

    let comment = "{\"lbvserver\":{\"name\":\"web\",\"comment\":\"x\"}}";
    rig.ask("PUT /nitro/v1/config/lbvserver", &nsroot, comment);
    let (code, text) = check(&program, &rig, &["-C", "nsconfig"]);
    assert_eq!(code, 1, "not saved: {text}");
}

#[test]
fn check_netscaler_reports_a_wrong_password() {
    let Some(program) = check_netscaler() else { return };
    let hash = hash(b"another");
    let rig = Rig::start(&format!("{CONFIG}[admin.user.nsroot]\nrole = \"superuser\"\npassword_hash = \"{hash}\"\n"));
    let (code, text) = check(&program, &rig, &["-C", "state", "-o", "lbvserver"]);
    assert!(code == 3 && text.to_lowercase().contains("authentication failed"), "{code} {text}");
}

/// curl has cookies, forms and reason phrases of its own.
#[test]
fn curl_logs_in_works_with_its_cookie_jar_and_logs_out() {
    let rig = with_nsroot();
    let jar = rig.dir.path().join("jar").display().to_string();
    let curl = |arguments: &[&str]| {
        let base = ["-sS", "-i", "-b", &jar, "-c", &jar, "--noproxy", "*"];
        let output = Command::new("curl").args(base).args(arguments).output().expect("curl is installed");
        assert!(output.status.success(), "{}", text(&output));
        text(&output)
    };
    let url = |path: &str| format!("http://{}/nitro/v1/{path}", rig.at);
    let login = "{\"login\":{\"username\":\"nsroot\",\"password\":\"s3cret\"}}";
    let media = "Content-Type: application/vnd.com.citrix.netscaler.login+json";
    let said = curl(&["-H", media, "-d", login, &url("config/login")]);
    assert!(said.starts_with("HTTP/1.1 201 Created"), "{said}");
    let said = curl(&[&url("config/lbvserver/web")]);
    assert!(said.starts_with("HTTP/1.1 200 OK") && said.contains("\"curstate\":\"UP\""), "{said}");
    // curl calls this a form; it is JSON all the same.
    let said = curl(&["-d", "{\"service\":{\"name\":\"web1\"}}", &url("config/service?action=disable")]);
    assert!(said.starts_with("HTTP/1.1 200 OK"), "{said}");
    let said = curl(&["-X", "DELETE", &url("config/lbvserver/web-spare")]);
    assert!(said.starts_with("HTTP/1.1 599 Netscaler specific error"), "{said}");
    let said = curl(&["-d", "{\"logout\":{}}", &url("config/logout")]);
    assert!(said.starts_with("HTTP/1.1 201 Created"), "{said}");
    let said = curl(&[&url("config/lbvserver/web")]);
    assert!(said.starts_with("HTTP/1.1 401 Unauthorized"), "{said}");
}
