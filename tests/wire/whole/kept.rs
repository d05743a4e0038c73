//! An appliance kept in one file and brought back, and what it tells of itself to whoever helps.

use std::collections::BTreeMap;
use std::io::Read as _;

use super::box_under_test::{Backend, Box};

const CONFIG: &str = r#"
    [switch.go]
    [service.a]
    type = "HTTP"
    monitors = []
    address = "ADDRESS"
    [vserver.web]
    type = "HTTP"
    address = "127.0.0.1:0"
    services = ["a"]
"#;

/// Secrets of all kinds, each with `hush` in it, or in a file.
const SECRETS: &str = r#"
    # [admin.user.old] password = "hush"
    [admin.user.ops]
    role = "operator"
    password_hash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0$YmFzY3VsZS1zZWNyZXQtaGFzaC1oZXJlIS1zZWNyZXQ"
    [admin.token.ci]
    role = "operator"
    hash = "sha256:5ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2"
    [admin.ldap]
    url = "ldap://127.0.0.1:1"
    bind_dn = "cn=box"
    bind_password = { file = "secret" }
    base = "dc=test"
    roles = { admins = "operator" }
    [trigger.page]
    type = "HTTP"
    uri = "http://127.0.0.1:1/page?key=hush"
    headers = { Authorization = "Bearer hush" }
    body = "hush ${scenario}"
    secret = { file = "secret" }
    [scenario.s]
    oscillation = { commits = 0, within = "10m" }
    [scenario.s.activate]
    when = [["sw:go"]]
    triggers = ["page"]
    [scenario.s.deactivate]
    when = [["sw:go!"]]
    [monitor.ecv]
    type = "HTTP-ECV"
    send = "GET /hush HTTP/1.0"
    receive = "hush"
    custom_headers = "X-Key: hush"
    [service.b]
    type = "HTTP"
    address = "127.0.0.1:1"
    monitors = ["ecv"]
    [responder_action.sorry]
    type = "respondwith"
    target = '"HTTP/1.1 403 No\r\nX-Key: hush\r\n\r\nhush"'
    [dns]
    listen = ["127.0.0.1:0"]
    [dns.tsig."xfr.example"]
    algorithm = "hmac-sha256"
    secret = { file = "tsig" }
    [zone."example.test"]
    ttl = "30s"
    soa = { mname = "ns1.example.test.", rname = "hostmaster.example.test." }
    static = "@ NS ns1\nns1 A 127.0.0.1\n"
    transfer = { allow = ["127.0.0.1"], key = "xfr.example" }
"#;

/// `hush`, thirty-two bytes of it, in Base64.
const TSIG: &str = "aHVzaGh1c2hodXNoaHVzaGh1c2hodXNoaHVzaGh1c2g=";

fn text(path: &std::path::Path) -> String {
    path.display().to_string()
}

#[test]
fn what_was_kept_of_a_running_appliance_goes_on_where_it_was_on_another_machine() {
    let a = Backend::start("a");
    let mut box_ = Box::start(&CONFIG.replace("ADDRESS", &a.address.to_string()));
    box_.act("PUT", "/switches/go", r#"{"value": true}"#);
    let (archive, config, state) = (box_.path("kept.tar.gz"), box_.path("box.toml"), box_.path("state"));
    let places = ["--config", &text(&config), "--state", &text(&state)];
    let (status, told) = box_.run(&[&["backup", &text(&archive)], &places[..]].concat());
    assert_eq!(status, 0, "{told}");
    let (status, told) = box_.run(&[&["restore", &text(&archive)], &places[..]].concat());
    assert!(status == 1 && told.contains(&format!("in use by process {}", box_.pid())), "{told}");
    box_.act("PUT", "/switches/go", r#"{"value": false}"#);
    box_.kill();
    std::fs::rename(&state, box_.path("lost")).expect("it is lost");
    std::fs::remove_file(&config).expect("it is lost");
    let (status, told) = box_.run(&[&["restore", &text(&archive)], &places[..]].concat());
    assert_eq!(status, 0, "{told}");
    box_.start_again();
    assert_eq!(box_.get("/switches/go")["value"], true, "as it was when it was kept");
    let (status, told) = box_.run(&["replay", &text(&state)]);
    assert_eq!(status, 0, "{told}");
}

#[test]
fn a_bundle_for_support_holds_states_and_figures_and_no_secret() {
    let a = Backend::start("a");
    let config =
        CONFIG.replace("ADDRESS", &a.address.to_string()).replace("[switch.go]", "[switch.go]\ninitial = true");
    let config = config + SECRETS;
    let box_ = Box::start_beside(&[("secret", "hush"), ("tsig", TSIG)], &config);
    super::box_under_test::within(std::time::Duration::from_secs(5), "the trigger has failed", || {
        box_.log().contains("trigger page failed")
    });
    let archive = box_.path("support.tar.gz");
    let (status, told) = box_.run(&["support", &text(&archive), "--state", &text(&box_.path("state"))]);
    assert_eq!(status, 0, "{told}");
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(std::fs::File::open(archive).expect("it is there")));
    let mut pieces = BTreeMap::new();
    for entry in tar.entries().expect("an archive") {
        let mut entry = entry.expect("a piece");
        let mut content = String::new();
        entry.read_to_string(&mut content).expect("text");
        pieces.insert(entry.path().expect("a name").display().to_string(), content);
    }
    let piece = |name: &str| pieces.get(&format!("bascule-support/{name}")).unwrap_or_else(|| panic!("{name}: {told}"));
    assert!(piece("config.toml").contains("[vserver.web]"));
    assert!(piece("vservers.json").contains("\"UP\""));
    assert!(piece("metrics.txt").contains("bascule_"));
    assert!(piece("journal.json").contains("\"start\""));
    assert!(piece("process/status").contains(&format!("Pid:\t{}", box_.pid())));
    for secret in ["hush", "YmFzY3VsZS1zZWNyZXQ", "5ec2e7", &TSIG[..8]] {
        let told: Vec<_> = pieces.iter().filter(|(_, text)| text.contains(secret)).collect();
        assert!(told.is_empty(), "{secret}: {told:?}");
    }
    assert!(piece("about.json").contains("\"missing\""));
}

#[test]
fn packets_of_both_legs_are_written_or_the_missing_right_is_said() {
    let a = Backend::start("a");
    let box_ = Box::start(&CONFIG.replace("ADDRESS", &a.address.to_string()));
    let (vip, file) = (box_.vip("web"), box_.path("web.pcapng"));
    let state = text(&box_.path("state"));
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let tracing = std::thread::scope(|scope| {
        // However this ends, the client does.
        let _over = super::steady::Raised(&is_over);
        let load = scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = super::box_under_test::http(vip, "GET", "/", "", &[]);
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        });
        let traced = box_.run(&["nstrace", &text(&file), "--vserver", "web", "--time", "2s", "--state", &state]);
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        load.join().expect("the client lives");
        traced
    });
    if tracing.0 == 1 && tracing.1.contains("CAP_NET_RAW") {
        assert!(!file.exists());
        return;
    }
    assert_eq!(tracing.0, 0, "{}", tracing.1);
    let written = std::fs::read(&file).expect("it is there");
    assert_eq!(written[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    for (leg, port) in [("to the VIP", vip.port()), ("to the server", a.address.port())] {
        // A segment to this port over the loopback: from 127.0.0.1 to 127.0.0.1, no options.
        let is_one = |at: &[u8]| at[..8] == [127, 0, 0, 1, 127, 0, 0, 1] && at[10..12] == port.to_be_bytes();
        assert!(written.windows(12).any(is_one), "{leg}: {}", tracing.1);
    }
}

#[test]
fn a_capture_is_begun_by_one_command_and_ended_by_another_and_fetched() {
    let a = Backend::start("a");
    let box_ = Box::start(&CONFIG.replace("ADDRESS", &a.address.to_string()));
    let state = text(&box_.path("state"));
    let shell = |line: &str| box_.run(&["shell", "--state", &state, "-c", line]);
    let begun = shell("start nstrace -time 60 -filter \"CONNECTION.LB_VSERVER.NAME.EQ(\\\"web\\\")\"");
    if begun.1.contains("CAP_NET_RAW") {
        assert!(begun.0 == 1 && shell("show nstrace").1.contains("State: STOPPED"), "{}", begun.1);
        return;
    }
    assert!(begun.0 == 0 && begun.1.contains("Tracing into "), "{}", begun.1);
    assert!(shell("start nstrace").1.contains("stop it first"), "one at a time");
    assert!(shell("show nstrace").1.contains("State: RUNNING"));
    for _ in 0..3 {
        let _ = super::box_under_test::http(box_.vip("web"), "GET", "/", "", &[]);
    }
    let ended = shell("stop nstrace");
    assert!(ended.0 == 0 && ended.1.contains("; it was stopped"), "{}", ended.1);
    let trace = box_.get("/traces")["items"][0].clone();
    assert_eq!(trace["running"], false, "{trace}");
    let path = trace["href"].as_str().expect("a path");
    let mut got = Vec::new();
    fetch(&box_, path, &mut got);
    assert_eq!(got, std::fs::read(trace["path"].as_str().expect("a path")).expect("it is there"));
    assert!(got.len() > 1_000 && got[..4] == [0x0a, 0x0d, 0x0d, 0x0a], "{} bytes", got.len());
    let (_, journal) = box_.run(&["journal", "--state", &state]);
    assert!(journal.contains("nstrace_start") && journal.contains("nstrace_stop"), "{journal}");
    assert!(shell("start nstrace -filter \"CONNECTION.SVCNAME.EQ(nobody)\"").1.contains("no service nobody"));
    assert!(shell("stop nstrace").1.contains("No trace is running."));
}

#[test]
fn an_archive_for_support_is_made_by_the_appliance_and_only_the_last_few_are_kept() {
    let a = Backend::start("a");
    let box_ = Box::start(&CONFIG.replace("ADDRESS", &a.address.to_string()));
    let state = text(&box_.path("state"));
    for _ in 0..6 {
        let (status, told) = box_.run(&["shell", "--state", &state, "-c", "show techsupport"]);
        assert!(status == 0 && told.contains("File: ") && told.contains("bascule-support-"), "{told}");
    }
    let kept = box_.get("/support")["items"].as_array().cloned().unwrap_or_default();
    assert_eq!(kept.len(), 5);
    let mut got = Vec::new();
    fetch(&box_, kept[0]["href"].as_str().expect("a path"), &mut got);
    assert_eq!(got[..2], [0x1f, 0x8b], "packed with gzip");
    let (status, _) = box_.send("GET", "/support/..%2Fbascule.db", "");
    assert_eq!(status, 404, "nothing else is fetched");
}

/// GET, to the last byte.
fn fetch(box_: &Box, path: &str, into: &mut Vec<u8>) {
    use std::io::Write as _;
    let mut stream = std::net::TcpStream::connect(box_.admin).expect("it listens");
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("it reads");
    stream.read_to_end(into).expect("it answers");
    let head = into.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    assert!(into.starts_with(b"HTTP/1.0 200") || into.starts_with(b"HTTP/1.1 200"), "{:?}", &into[..head]);
    into.drain(..head + 4);
}
