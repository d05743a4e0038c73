//! Zones that come from a primary: Knot and NSD, with the whole program between them and `dig`.

use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::box_under_test::{Box, free_port, within};

const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=";
const SOON: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Knot,
    Nsd,
}

/// A name server with `example.test`.
struct Primary {
    kind: Kind,
    dir: tempfile::TempDir,
    at: SocketAddr,
    child: Option<Child>,
}

/// Timers of the SOA, and the last number of `web`.
fn zone(serial: u32, timers: &str, web: u8) -> String {
    format!(
        "$ORIGIN example.test.\n@ 60 IN SOA ns1 hostmaster {serial} {timers} 5\n@ 60 IN NS ns1\nns1 60 IN A 192.0.2.1\n\
         web 60 IN A 192.0.2.{web}\nwww 60 IN A 192.0.2.66\nwww 60 IN AAAA 2001:db8::66\nalso 60 IN CNAME web\n\
         Mixed 60 IN MX 10 Mail.example.test.\nodd 60 IN TYPE65400 \\# 3 010203\n"
    )
}

// === impl Primary ===

impl Primary {
    /// `secondary` is told of changes.
    fn new(kind: Kind, secondary: u16, text: &str) -> Primary {
        let at = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().display();
        let config = match kind {
            Kind::Knot => format!(
                "server:\n  rundir: {folder}\n  listen: 127.0.0.1@{}\ndatabase:\n  storage: {folder}\n\
                 log:\n- target: stderr\n  any: warning\n\
                 key:\n- id: xfr.example\n  algorithm: hmac-sha256\n  secret: {SECRET}\n\
                 remote:\n- id: box\n  address: 127.0.0.1@{secondary}\n  key: xfr.example\n\
                 acl:\n- id: out\n  address: 127.0.0.1\n  key: xfr.example\n  action: transfer\n\
                 zone:\n- domain: example.test\n  storage: {folder}\n  file: example.test.zone\n  notify: box\n  acl: out\n\
                 \x20 zonefile-load: difference\n  journal-content: changes\n  zonefile-sync: -1\n",
                at.port()
            ),
            Kind::Nsd => format!(
                "server:\n  ip-address: 127.0.0.1@{}\n  username: \"\"\n  chroot: \"\"\n  zonesdir: {folder}\n  database: \"\"\n\
                 \x20 zonelistfile: {folder}/zone.list\n  pidfile: {folder}/nsd.pid\n  xfrdfile: {folder}/xfrd.state\n\
                 \x20 xfrdir: {folder}\n  logfile: {folder}/nsd.log\nremote-control:\n  control-enable: no\n\
                 key:\n  name: xfr.example\n  algorithm: hmac-sha256\n  secret: \"{SECRET}\"\n\
                 zone:\n  name: example.test\n  zonefile: example.test.zone\n\
                 \x20 provide-xfr: 127.0.0.1 xfr.example\n  notify: 127.0.0.1@{secondary} xfr.example\n",
                at.port()
            ),
        };
        std::fs::write(dir.path().join("server.conf"), config).unwrap();
        let mut primary = Primary { kind, dir, at, child: None };
        primary.write(text);
        primary.start();
        primary
    }

    fn write(&self, text: &str) {
        std::fs::write(self.path("example.test.zone"), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn start(&mut self) {
        let mut command = match self.kind {
            Kind::Knot => Command::new("knotd"),
            Kind::Nsd => Command::new("nsd"),
        };
        if self.kind == Kind::Nsd {
            command.arg("-d");
        }
        command.arg("-c").arg(self.path("server.conf")).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().expect("scripts/install-prerequisites"));
        let at = self.at;
        within(SOON, "the primary answers", || dig(at, "+short example.test SOA").contains("hostmaster"));
    }

    /// Has it read its zone again.
    fn reload(&self, text: &str) {
        self.write(text);
        let pid = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
    }

    fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // NSD has children of its own, which a kill would leave behind.
            let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
            let _ = child.wait();
        }
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        self.stop();
    }
}

fn dig(at: SocketAddr, arguments: &str) -> String {
    let mut command = Command::new("dig");
    command.arg(format!("@{}", at.ip())).args(["-p", &at.port().to_string(), "+tries=1", "+time=2"]);
    let output = command.args(arguments.split(' ')).output().expect("scripts/install-prerequisites");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn config(listen: u16, primary: SocketAddr, secret: &Path) -> String {
    format!(
        "[dns]\nlisten = [\"127.0.0.1:{listen}\"]\n[dns.tsig.\"xfr.example\"]\nsecret = {{ file = \"{}\" }}\n\
         [switch.s]\n[scenario.dr.activate]\nwhen = [[\"sw:s\"]]\n[scenario.dr.deactivate]\nwhen = [[\"sw:s!\"]]\n\
         [zone.\"example.test\".transfer]\nfrom = [\"{primary}\"]\nkey = \"xfr.example\"\n\
         [zone.\"example.test\".rrset.\"www A\"]\n\
         records = [{{ data = \"192.0.2.10\" }}, {{ data = \"198.51.100.10\", drCond = \"dr\" }}]\n\
         [zone.\"example.test\".rrset.\"also A\"]\nrecords = [\"192.0.2.77\"]\n",
        secret.display()
    )
}

fn secret(dir: &Path, text: &str) -> PathBuf {
    let file = dir.join("xfr.secret");
    std::fs::write(&file, text).unwrap();
    file
}

fn shown(appliance: &Box) -> serde_json::Value {
    appliance.get("/zones/example.test")["transfer"].clone()
}

fn has_web(appliance: &Box, last: u8) {
    let wanted = format!("192.0.2.{last}\n");
    within(SOON, &format!("web is .{last}"), || dig(appliance.dns(), "+short web.example.test A") == wanted);
}

const TIMERS: &str = "3600 600 86400";

fn follows(kind: Kind) {
    let port = free_port();
    let mut primary = Primary::new(kind, port, &zone(7, TIMERS, 80));
    let file = secret(primary.dir.path(), SECRET);
    let mut appliance = Box::start(&config(port, primary.at, &file));
    has_web(&appliance, 80);
    let at = appliance.dns();
    for (question, answer) in [
        ("+short www.example.test A", "192.0.2.10\n"),
        ("+short www.example.test AAAA", "2001:db8::66\n"),
        ("+short also.example.test A", "192.0.2.77\n"),
        ("+short mixed.example.test MX", "10 mail.example.test.\n"),
        ("+short odd.example.test TYPE65400", "\\# 3 010203\n"),
        ("+short example.test SOA", "ns1.example.test. hostmaster.example.test. 7 3600 600 86400 5\n"),
    ] {
        // Name servers may write names in small letters.
        assert_eq!(dig(at, question).to_lowercase(), answer, "{question}");
    }
    assert!(dig(at, "nothing.example.test A").contains("NXDOMAIN"));
    appliance.act("PUT", "/switches/s", r#"{"value": true}"#);
    assert_eq!(dig(at, "+short www.example.test A"), "198.51.100.10\n");
    // A change is told and taken; steering stays.
    primary.reload(&zone(8, TIMERS, 81));
    has_web(&appliance, 81);
    assert_eq!(dig(at, "+short www.example.test A"), "198.51.100.10\n");
    let transfer = shown(&appliance);
    assert_eq!((&transfer["state"], &transfer["serial"]), (&"current".into(), &8.into()), "{transfer}");
    assert!(transfer["notifies_total"].as_u64() >= Some(1) && transfer["last_error"].is_null(), "{transfer}");
    if kind == Kind::Knot {
        assert_eq!(transfer["incremental_total"], 1, "{transfer}");
    }
    let whole = appliance.act("POST", "/zones/example.test/transfer", r#"{"whole": true}"#);
    assert_eq!(whole["transfer"]["transfers_total"], 3, "{whole}");
    // Without the primary, over a restart.
    primary.stop();
    appliance.kill();
    appliance.start_again();
    assert_eq!(dig(appliance.dns(), "+short web.example.test A"), "192.0.2.81\n");
    assert_eq!(dig(appliance.dns(), "+short www.example.test A"), "198.51.100.10\n", "the switch is still on");
    let asked = appliance.act("POST", "/zones/example.test/transfer", "");
    let error = asked["transfer"]["last_error"].as_str().unwrap_or_default();
    assert!(error.contains(&primary.at.to_string()), "{asked}");
    let journal = appliance.get("/journal");
    let kinds: Vec<&str> = journal["items"].as_array().unwrap().iter().filter_map(|e| e["kind"].as_str()).collect();
    assert!(kinds.contains(&"zone") && kinds.contains(&"zone_act"), "{kinds:?}");
    let (code, said) = appliance.run(&["replay", &appliance.path("state").to_string_lossy()]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_zone_comes_from_knot_and_follows_it_with_local_steering_laid_over() {
    follows(Kind::Knot);
}

#[test]
fn a_zone_comes_from_nsd_and_follows_it_with_local_steering_laid_over() {
    follows(Kind::Nsd);
}

#[test]
fn a_zone_that_no_primary_confirms_expires_and_is_back_when_one_does() {
    let port = free_port();
    let mut primary = Primary::new(Kind::Knot, port, &zone(7, "1 1 3", 80));
    let file = secret(primary.dir.path(), SECRET);
    let appliance = Box::start(&config(port, primary.at, &file));
    has_web(&appliance, 80);
    primary.stop();
    within(SOON, "it expires", || dig(appliance.dns(), "web.example.test A").contains("SERVFAIL"));
    let printed = dig(appliance.dns(), "www.example.test A");
    assert!(printed.contains("SERVFAIL") && printed.contains("EDE: 24"), "steered names too: {printed}");
    assert_eq!(shown(&appliance)["state"], "expired");
    let problems = appliance.get("/status")["problems"].to_string();
    assert!(problems.contains("expired"), "{problems}");
    primary.start();
    has_web(&appliance, 80);
    assert_eq!(shown(&appliance)["state"], "current");
}

#[test]
fn without_the_right_key_nothing_comes_in_and_it_is_said_why() {
    let port = free_port();
    let primary = Primary::new(Kind::Knot, port, &zone(7, TIMERS, 80));
    let file = secret(primary.dir.path(), "d3Jvbmcgd3Jvbmcgd3Jvbmcgd3Jvbmcgd3Jvbmcgd3I=");
    let appliance = Box::start(&config(port, primary.at, &file));
    within(SOON, "the reason is shown", || shown(&appliance)["last_error"].to_string().contains("BADSIG"));
    let printed = dig(appliance.dns(), "web.example.test A");
    assert!(printed.contains("SERVFAIL") && printed.contains("EDE: 14"), "{printed}");
    assert_eq!(shown(&appliance)["state"], "absent");
}

/// NOTIFY for a name; the RCODE of the answer.
fn notify(at: SocketAddr, from: &str, name: &[u8]) -> u8 {
    let socket = UdpSocket::bind(from).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut message = vec![7, 7, 0x24, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    message.extend_from_slice(name);
    message.extend_from_slice(&[0, 6, 0, 1]);
    socket.send_to(&message, at).unwrap();
    let mut answer = [0; 512];
    let length = socket.recv(&mut answer).unwrap();
    assert!(length >= 12 && answer[..2] == [7, 7] && answer[2] == 0xa4, "{:?}", &answer[..length]);
    answer[3] & 0x0f
}

#[test]
fn only_a_primary_may_tell_of_changes() {
    let port = free_port();
    let primary = Primary::new(Kind::Knot, port, &zone(7, TIMERS, 80));
    let file = secret(primary.dir.path(), SECRET);
    let open = "[zone.\"open.test\".transfer]\nfrom = [{ address = \"127.0.0.1:9\" }]\n\
                [zone.\"own.test\"]\nstatic = \"@ NS ns\\nns A 192.0.2.1\\n\"\n";
    let appliance = Box::start(&format!("{}{open}", config(port, primary.at, &file)));
    has_web(&appliance, 80);
    let at = appliance.dns();
    let keyed = b"\x07example\x04test\x00";
    assert_eq!(notify(at, "127.0.0.1:0", keyed), 5, "the primary signs");
    assert_eq!(notify(at, "127.0.0.1:0", b"\x04open\x04test\x00"), 0);
    assert_eq!(notify(at, "127.0.0.9:0", b"\x04open\x04test\x00"), 5, "a stranger");
    assert_eq!(notify(at, "127.0.0.1:0", b"\x03own\x04test\x00"), 9, "nobody is primary of our own zone");
    assert_eq!(notify(at, "127.0.0.1:0", b"\x05other\x04test\x00"), 9);
    assert_eq!(shown(&appliance)["notifies_refused_total"], 1);
    let open = appliance.get("/zones/open.test")["transfer"].clone();
    assert_eq!((&open["notifies_total"], &open["notifies_refused_total"]), (&1.into(), &1.into()), "{open}");
}
