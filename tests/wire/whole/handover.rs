//! A process that gives its sockets and its state to the next: nobody outside notices, whatever becomes of the next one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::box_under_test::{Backend, Box, http, within};
use super::handover_attacked::silent;

/// Requests a second of all clients.
const RATE: u32 = 500;
/// Half of them on new connections.
const CLIENTS: u32 = 10;

/// Clients that ask at a steady rate until they are stopped.
pub struct Load {
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    clients: Vec<std::thread::JoinHandle<Vec<String>>>,
}

// === impl Load ===

impl Load {
    pub fn start(vip: SocketAddr) -> Load {
        let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let clients = (0..CLIENTS)
            .map(|client| {
                let (stop, done) = (Arc::clone(&stop), Arc::clone(&done));
                std::thread::spawn(move || steadily(vip, client % 2 == 0, &stop, &done))
            })
            .collect();
        Load { stop, done, clients }
    }

    /// How many requests were made, and what went wrong.
    pub fn end(self) -> (u64, Vec<String>) {
        self.stop.store(true, Ordering::Relaxed);
        let failed = self.clients.into_iter().flat_map(|client| client.join().expect("a client lives")).collect();
        (self.done.load(Ordering::Relaxed), failed)
    }
}

fn steadily(vip: SocketAddr, keeps: bool, stop: &AtomicBool, done: &AtomicU64) -> Vec<String> {
    let every = Duration::from_secs(1) * CLIENTS / RATE;
    let (mut next, mut failed, mut kept) = (Instant::now(), Vec::new(), None);
    while !stop.load(Ordering::Relaxed) {
        let answer = if keeps { ask_on(&mut kept, vip) } else { http(vip, "GET", "/", "", &[]).map(|a| a.status) };
        done.fetch_add(1, Ordering::Relaxed);
        match answer {
            Ok(200) => {}
            other => failed.push(format!("{other:?}, kept: {keeps}")),
        }
        next = (next + every).max(Instant::now() - every);
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    failed
}

/// One request on a connection that is kept until an answer says that it ends.
fn ask_on(kept: &mut Option<BufReader<TcpStream>>, vip: SocketAddr) -> std::io::Result<u16> {
    let mut stream = match kept.take() {
        Some(stream) => stream,
        None => BufReader::new(TcpStream::connect(vip)?),
    };
    stream.get_ref().set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.get_mut().write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    let (mut status, mut length, mut closes, mut line) = (0, 0, false, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let lower = line.trim().to_ascii_lowercase();
        match lower.split_once(": ") {
            _ if lower.starts_with("http/1.1 ") => status = lower[9..12].parse().unwrap_or(0),
            Some(("content-length", value)) => length = value.parse().unwrap_or(0),
            Some(("connection", value)) => closes = value == "close",
            _ if lower.is_empty() => break,
            _ => {}
        }
    }
    stream.read_exact(&mut vec![0; length])?;
    *kept = (!closes).then_some(stream);
    Ok(status)
}

/// A server of datagrams that sends back what it gets.
fn echo() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let at = socket.local_addr().expect("its address");
    std::thread::spawn(move || {
        let mut bytes = [0; 64];
        while let Ok((length, from)) = socket.recv_from(&mut bytes) {
            let _ = socket.send_to(&bytes[..length], from);
        }
    });
    at
}

/// Sends numbered datagrams at a steady rate and counts what does not come back.
fn datagrams(vip: SocketAddr, stop: Arc<AtomicBool>) -> std::thread::JoinHandle<(u32, u32)> {
    std::thread::spawn(move || {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.connect(vip).expect("a VIP");
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("a time-out");
        let (mut sent, mut lost) = (0_u32, 0);
        while !stop.load(Ordering::Relaxed) {
            sent += 1;
            socket.send(&sent.to_be_bytes()).expect("it is sent");
            let mut bytes = [0; 64];
            let came = socket.recv(&mut bytes).map(|length| bytes[..length] == sent.to_be_bytes());
            lost += u32::from(!matches!(came, Ok(true)));
            std::thread::sleep(Duration::from_millis(5));
        }
        (sent, lost)
    })
}

pub fn config(backends: &[&Backend], more: &str) -> String {
    let services: String =
        backends.iter().enumerate().map(|(at, b)| format!("[service.s{at}]\naddress = \"{}\"\n", b.address)).collect();
    format!(
        r#"
        [monitor.ok]
        type = "HTTP"
        request = "GET /health"
        interval = "500ms"
        response_timeout = "450ms"
        [defaults.service]
        type = "HTTP"
        monitors = ["ok"]
        {services}
        [vserver.web]
        type = "HTTP"
        address = "127.0.0.1:0"
        services = ["s0", "s1"]
        [switch.go]
        [scenario.s]
        oscillation = {{ commits = 0, within = "10m" }}
        [scenario.s.activate]
        when = [["sw:go"]]
        [scenario.s.deactivate]
        when = [["sw:go!"]]
        {more}
        "#
    )
}

pub fn hand_over(box_: &Box) -> (i32, String) {
    box_.run(&["handover", "--state", &box_.path("state").display().to_string()])
}

/// The process that holds the state directory.
pub fn holder(box_: &Box) -> Option<u32> {
    std::fs::read_to_string(box_.path("state/bascule.lock")).ok()?.trim().parse().ok()
}

/// Numbers of all entries of the journal, which must stand without a gap; and the kinds.
pub fn journal(box_: &Box) -> Vec<String> {
    let entries = box_.get("/journal?limit=10000");
    let entries = entries["items"].as_array().expect("a list");
    let numbers: Vec<u64> = entries.iter().map(|entry| entry["number"].as_u64().expect("a number")).collect();
    let first = numbers.first().copied().unwrap_or(1);
    assert_eq!(numbers, (first..).take(numbers.len()).collect::<Vec<u64>>(), "no gap, none twice");
    entries.iter().map(|entry| entry["kind"].as_str().expect("a word").to_owned()).collect()
}

pub fn replays(box_: &Box) {
    let (status, text) = box_.run(&["replay", &box_.path("state").display().to_string()]);
    assert_eq!(status, 0, "{text}");
}

#[test]
fn handovers_under_load_fail_no_request_no_datagram_and_no_query_and_state_and_journal_go_on() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let more = format!(
        r#"
        [service.echo]
        type = "UDP"
        address = "{}"
        monitors = []
        [vserver.udp]
        type = "UDP"
        address = "127.0.0.1:0"
        services = ["echo"]
        [dns]
        listen = ["127.0.0.1:0"]
        [zone."example.test"]
        ttl = "30s"
        soa = {{ mname = "ns1.example.test.", rname = "hostmaster.example.test." }}
        static = "@ NS ns1\nns1 A 127.0.0.1\n"
        [zone."example.test".rrset."www A"]
        records = [{{ data = "192.0.2.1" }}]
        "#,
        echo()
    );
    let mut box_ = Box::start_program(&config(&[&a, &b], &more));
    box_.act("POST", "/services/s1/disable", r#"{"reason": "before"}"#);
    box_.act("PUT", "/switches/go", r#"{"value": true}"#);
    let (web, udp, dns) = (box_.vip("web"), box_.vip("udp"), box_.dns());
    let load = Load::start(web);
    let stop = Arc::new(AtomicBool::new(false));
    let echoes = datagrams(udp, Arc::clone(&stop));
    for round in 0..2 {
        std::thread::sleep(Duration::from_millis(500));
        // As an upgrade does: what the process runs is no longer what its name means.
        box_.restore_program();
        let from = holder(&box_).expect("it runs");
        let (status, text) = hand_over(&box_);
        assert_eq!(status, 0, "{text}");
        let to = holder(&box_).expect("it runs");
        assert_ne!(from, to);
        assert!(text.contains(&format!("process {to} serves in place of {from}")), "{text}");
        for _ in 0..20 {
            assert_eq!(box_.resolve("www.example.test"), ["192.0.2.1"]);
        }
        if round == 0 {
            assert_eq!(box_.handed_over(), 0, "the old one has ended in peace");
        }
        assert_eq!((box_.vip("web"), box_.vip("udp"), box_.dns()), (web, udp, dns), "the same ports");
    }
    within(Duration::from_secs(5), "the clients are a load", || load.done.load(Ordering::Relaxed) > 500);
    let (done, failed) = load.end();
    stop.store(true, Ordering::Relaxed);
    let (sent, lost) = echoes.join().expect("the client lives");
    assert_eq!(failed, Vec::<String>::new(), "of {done}");
    assert_eq!(lost, 0, "of {sent}");
    within(Duration::from_secs(5), "the newest one tells that it is ready", || {
        box_.read_ready_again();
        Some(box_.heir()) == holder(&box_)
    });
    assert_eq!(box_.service_state("s1"), "OFS");
    assert_eq!(box_.get("/scenarios/s")["state"], "active");
    box_.act("PUT", "/switches/go", r#"{"value": false}"#);
    assert_eq!(box_.get("/scenarios/s")["seq"], 2);
    let kinds = journal(&box_);
    assert_eq!(kinds.iter().filter(|kind| *kind == "start").count(), 3);
    assert_eq!(kinds.iter().filter(|kind| *kind == "handover").count(), 2);
    replays(&box_);
}

#[test]
fn a_new_program_that_does_not_start_a_bad_file_and_an_unsaved_change_leave_the_old_process_serving() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let box_ = Box::start_program(&config(&[&a, &b], ""));
    let (pid, web) = (box_.pid(), box_.vip("web"));
    let load = Load::start(web);
    let refused = |why: &str| {
        let (status, text) = hand_over(&box_);
        assert_eq!(status, 1, "{text}");
        assert!(text.contains(why) && text.contains(&format!("process {pid} goes on")), "{why}: {text}");
        assert_eq!(holder(&box_), Some(pid));
        box_.act("PUT", "/switches/go", r#"{"value": true}"#);
        box_.act("PUT", "/switches/go", r#"{"value": false}"#);
    };
    script(&box_.path("program"), "exit 7");
    refused("the new process ended (exit status: 7)");
    std::fs::remove_file(box_.path("program")).expect("it is there");
    refused("cannot start");
    box_.restore_program();
    let file = box_.path("box.toml");
    let good = std::fs::read_to_string(&file).expect("the configuration");
    std::fs::write(&file, format!("{good}\n[vserver.web2]\ntype = \"NONSENSE\"\n")).expect("it is written");
    refused("does not load");
    std::fs::write(&file, &good).expect("it is written");
    let changed = good.replace("interval = \"500ms\"", "interval = \"600ms\"");
    let fields = [("Content-Type", "application/toml")];
    let applied = http(box_.admin, "PUT", "/api/v1/config", &changed, &fields).expect("the API answers");
    assert_eq!(applied.status, 200, "{}", applied.body);
    refused("is not saved");
    box_.act("POST", "/config/save", "{}");
    let (done, failed) = load.end();
    assert_eq!(failed, Vec::<String>::new(), "of {done}");
    let kinds = journal(&box_);
    assert_eq!(kinds.iter().filter(|kind| *kind == "start").count(), 1);
    assert_eq!(kinds.iter().filter(|kind| *kind == "handover").count(), 4, "each that was tried");
    replays(&box_);
}

#[test]
fn a_new_process_that_is_killed_once_it_has_the_state_changes_nothing_and_the_next_one_goes_on() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let (_silent, more) = silent();
    let mut box_ = Box::start(&config(&[&a, &b], &more));
    box_.act("PUT", "/switches/go", r#"{"value": true}"#);
    let load = Load::start(box_.vip("web"));
    let pid = box_.pid();
    box_.signal("USR2");
    let mut heir = None;
    within(Duration::from_secs(20), "another process has the state", || {
        heir = holder(&box_).filter(|holder| *holder != pid);
        heir.is_some()
    });
    let (status, answer) = box_.send("PUT", "/switches/go", r#"{"value": false}"#);
    assert_eq!((status, &answer["code"]), (503, &"stopping".into()), "{answer}");
    let kill = std::process::Command::new("kill").args(["-KILL", &heir.expect("it is there").to_string()]).status();
    assert!(kill.expect("kill is there").success());
    within(Duration::from_secs(10), "the old process has it again", || holder(&box_) == Some(pid));
    box_.act("PUT", "/switches/go", r#"{"value": false}"#);
    assert_eq!(box_.get("/scenarios/s")["seq"], 2);
    let entries = box_.get("/journal?kind=handover");
    assert_eq!(entries["items"][1]["body"]["phase"], "failed", "{entries}");
    let (status, text) = hand_over(&box_);
    assert_eq!(status, 0, "{text}");
    assert_eq!(box_.handed_over(), 0);
    let (done, failed) = load.end();
    assert_eq!(failed, Vec::<String>::new(), "of {done}");
    assert_eq!(box_.get("/scenarios/s")["seq"], 2);
    journal(&box_);
    replays(&box_);
}

pub fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::remove_file(path).expect("it is there");
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("a script is written");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("it can be run");
}
