//! What may go wrong while one process gives its sockets to the next, and who serves then.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::Duration;

use super::box_under_test::{Backend, Box, http, within};
use super::handover::{Load, config, hand_over, holder, journal, replays, script};

/// A server that takes connections and never answers, so that a new process does not know for four seconds what to think
/// of it; and its configuration.
pub fn silent() -> (TcpListener, String) {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let more = format!(
        r#"
        [monitor.patient]
        type = "HTTP"
        request = "GET /health"
        interval = "10s"
        response_timeout = "4s"
        [service.silent]
        type = "HTTP"
        address = "{}"
        monitors = ["patient"]
        "#,
        silent.local_addr().expect("its address")
    );
    (silent, more)
}

pub fn signal(pid: u32, name: &str) {
    let kill = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(kill.expect("kill is there").success());
}

/// The process that has taken the state and does not serve yet.
fn taker(box_: &Box, from: u32) -> u32 {
    let mut heir = None;
    within(Duration::from_secs(20), "another process has the state", || {
        heir = holder(box_).filter(|holder| *holder != from);
        heir.is_some()
    });
    heir.expect("it is there")
}

#[test]
fn two_who_ask_at_once_are_both_told_who_serves_and_no_request_is_lost() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let mut box_ = Box::start(&config(&[&a, &b], ""));
    let load = Load::start(box_.vip("web"));
    let told = std::thread::scope(|scope| {
        let asking = [0, 1, 2].map(|_| scope.spawn(|| hand_over(&box_)));
        asking.map(|one| one.join().expect("it ends"))
    });
    assert!(told.iter().all(|(status, _)| *status == 0), "{told:?}");
    // Whoever came too late for the first process has asked the second one.
    box_.handed_over();
    let last = holder(&box_).expect("it runs");
    assert!(told.iter().any(|(_, text)| text.contains(&format!("process {last} serves"))), "{told:?}");
    within(Duration::from_secs(5), "the last one tells that it is ready", || {
        box_.read_ready_again();
        box_.heir() == last
    });
    box_.act("PUT", "/switches/go", r#"{"value": true}"#);
    let (done, failed) = load.end();
    assert_eq!(failed, Vec::<String>::new(), "of {done}");
    journal(&box_);
    replays(&box_);
}

#[test]
fn a_process_that_is_killed_while_it_hands_over_is_followed_by_the_new_one_with_all_that_people_did() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let (_silent, more) = silent();
    let mut box_ = Box::start(&config(&[&a, &b], &more));
    box_.act("PUT", "/switches/go", r#"{"value": true}"#);
    box_.act("POST", "/services/s1/disable", r#"{"reason": "before"}"#);
    let pid = box_.pid();
    box_.signal("USR2");
    let heir = taker(&box_, pid);
    box_.kill();
    within(Duration::from_secs(20), "the new one serves", || {
        box_.read_ready_again();
        box_.heir() == heir
    });
    assert_eq!(http(box_.vip("web"), "GET", "/", "", &[]).map(|answer| answer.status).ok(), Some(200));
    assert_eq!(box_.get("/scenarios/s")["state"], "active");
    assert_eq!(box_.service_state("s1"), "OFS");
    box_.act("PUT", "/switches/go", r#"{"value": false}"#);
    assert_eq!(box_.get("/scenarios/s")["seq"], 2);
    let (status, text) = hand_over(&box_);
    assert_eq!(status, 0, "the next upgrade works too: {text}");
    journal(&box_);
    replays(&box_);
}

#[test]
fn an_old_process_ends_as_a_failure_at_once_where_the_new_one_crashes_so_that_a_manager_starts_another() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let mut box_ = Box::start(&config(&[&a, &b], ""));
    // Something is open, so that the drain lasts.
    let mut idle = TcpStream::connect(box_.vip("web")).expect("a connection");
    idle.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").expect("a request");
    assert!(idle.read(&mut [0; 1024]).expect("an answer") > 0);
    let (status, text) = hand_over(&box_);
    assert_eq!(status, 0, "{text}");
    signal(holder(&box_).expect("it runs"), "KILL");
    assert_eq!(box_.ended(), 1);
    box_.start_again();
    assert_eq!(http(box_.vip("web"), "GET", "/", "", &[]).map(|answer| answer.status).ok(), Some(200));
}

#[test]
fn a_stop_that_comes_meanwhile_ends_both_and_keeps_what_people_did() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let (_silent, more) = silent();
    let mut box_ = Box::start(&config(&[&a, &b], &more));
    box_.act("PUT", "/switches/go", r#"{"value": true}"#);
    let pid = box_.pid();
    box_.signal("USR2");
    let heir = taker(&box_, pid);
    assert_eq!(box_.stop(), 0);
    assert!(!std::path::Path::new(&format!("/proc/{heir}")).exists(), "nobody is left");
    let (status, text) = hand_over(&box_);
    assert!(status == 3 && text.contains("no appliance runs on"), "{status} {text}");
    box_.start_again();
    assert_eq!(box_.get("/scenarios/s")["state"], "active");
    journal(&box_);
    replays(&box_);
}

#[test]
fn a_new_program_of_an_older_version_that_cannot_read_the_state_is_refused_and_nothing_changes() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let box_ = Box::start_program(&config(&[&a, &b], ""));
    let (pid, load) = (box_.pid(), Load::start(box_.vip("web")));
    let own = env!("CARGO_BIN_EXE_bascule");
    let state = box_.path("state").display().to_string();
    // What it would find, had a newer version made the state: it ends with the sentence of `state is newer`.
    let other = box_.path("newer");
    std::fs::create_dir(&other).expect("a folder");
    let db = rusqlite::Connection::open(other.join("bascule.db")).expect("a database");
    db.execute_batch(
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); INSERT INTO meta VALUES ('schema', '9999');",
    )
    .expect("it is made");
    let other = other.display().to_string();
    let line = format!("for a in \"$@\"; do shift; [ \"$a\" = '{state}' ] && a='{other}'; set -- \"$@\" \"$a\"; done");
    script(&box_.path("program"), &format!("{line}\nexec '{own}' \"$@\""));
    let (status, text) = hand_over(&box_);
    assert!(
        status == 1 && text.contains("newer") && text.contains(&format!("process {pid} goes on")),
        "{status} {text}"
    );
    assert_eq!(holder(&box_), Some(pid));
    box_.act("PUT", "/switches/go", r#"{"value": true}"#);
    let (done, failed) = load.end();
    assert_eq!(failed, Vec::<String>::new(), "of {done}");
    replays(&box_);
}

#[test]
fn the_socket_of_the_command_line_answers_before_while_and_after() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let mut box_ = Box::start(&config(&[&a, &b], ""));
    let path = box_.path("state/bascule.sock");
    let stop = std::sync::atomic::AtomicBool::new(false);
    let answers = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let (mut good, mut bad) = (0, Vec::new());
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                match ask_locally(&path) {
                    Ok(answer) if answer.starts_with("HTTP/1.1 200") => good += 1,
                    other => bad.push(format!("{other:?}")),
                }
            }
            (good, bad)
        });
        let (status, text) = hand_over(&box_);
        box_.handed_over();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(status, 0, "{text}");
        asking.join().expect("the client lives")
    });
    assert!(answers.0 > 10 && answers.1.is_empty(), "{answers:?}");
}

#[test]
fn a_connection_to_the_management_that_was_accepted_before_gets_its_first_answer_after() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let mut box_ = Box::start(&config(&[&a, &b], ""));
    let pid = box_.pid();
    let mut early = UnixStream::connect(box_.path("state/bascule.sock")).expect("a connection");
    // Answered on another one behind it: it was accepted.
    assert!(ask_locally(&box_.path("state/bascule.sock")).is_ok());
    box_.signal("USR2");
    taker(&box_, pid);
    within(Duration::from_secs(20), "the new one serves", || box_.log().contains("handed over"));
    early.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("a request");
    let mut answer = String::new();
    early.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(box_.handed_over(), 0);
}

fn ask_locally(path: &std::path::Path) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    stream.write_all(b"GET /api/v1/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
