//! Alerts of a real appliance: to a receiver of HTTP and to receivers of syslog, and what a kill leaves of them.

use std::io::Read;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;

use super::box_under_test::{Backend, Box, free_port, within};
use super::outbox::Receiver;

/// Long enough for anything, on a busy machine.
const PATIENT: Duration = Duration::from_secs(60);

/// What came, a message each.
type Lines = Arc<Mutex<Vec<String>>>;

fn udp() -> (String, Lines) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let address = socket.local_addr().expect("its address");
    let lines = Lines::default();
    let heard = Arc::clone(&lines);
    std::thread::spawn(move || {
        let mut datagram = [0; 4096];
        while let Ok(length) = socket.recv(&mut datagram) {
            heard.lock().push(String::from_utf8_lossy(&datagram[..length]).into_owned());
        }
    });
    (format!("udp:{address}"), lines)
}

/// Takes messages by octet counting, as RFC 6587 has it.
fn tcp() -> (String, Lines) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let lines = Lines::default();
    let heard = Arc::clone(&lines);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut text = String::new();
            if stream.read_to_string(&mut text).is_err() {
                continue;
            }
            let mut rest = &text[..];
            while let Some((length, message)) = rest.split_once(' ') {
                let length: usize = length.parse().expect("a count of octets");
                heard.lock().push(message[..length].to_owned());
                rest = &message[length..];
            }
        }
    });
    (format!("tcp:{address}"), lines)
}

fn unix(dir: &std::path::Path) -> (String, Lines) {
    let path = dir.join("log.socket");
    let socket = UnixDatagram::bind(&path).expect("a socket");
    let lines = Lines::default();
    let heard = Arc::clone(&lines);
    std::thread::spawn(move || {
        let mut datagram = [0; 8192];
        while let Ok(length) = socket.recv(&mut datagram) {
            heard.lock().push(String::from_utf8_lossy(&datagram[..length]).into_owned());
        }
    });
    (format!("unix:{}", path.display()), lines)
}

fn config(receiver: &Receiver, syslog: &[&str; 3], backend: &Backend) -> String {
    let [udp, tcp, unix] = syslog;
    format!(
        r#"
        [appliance]
        name = "box"
        [monitor.ok]
        type = "HTTP"
        request = "GET /health"
        interval = "1s"
        response_timeout = "950ms"
        down_time = "200ms"
        retries = 1
        success_retries = 1
        [service.app]
        type = "HTTP"
        address = "{}"
        monitors = ["ok"]
        [trigger.hook]
        type = "HTTP"
        uri = "http://{}/alert"
        timeout = "2s"
        retry = {{ attempts = 1000, first = "5ms", most = "50ms" }}
        [trigger.udp]
        type = "SYSLOG"
        address = "{udp}"
        facility = "local4"
        [trigger.tcp]
        type = "SYSLOG"
        address = "{tcp}"
        body = "${{type}} of ${{object}}"
        [trigger.unix]
        type = "SYSLOG"
        address = "{unix}"
        app_name = "adc"
        [alert.pager]
        on = ["service.down"]
        triggers = ["hook", "udp", "tcp", "unix"]
        "#,
        backend.address, receiver.address
    )
}

/// Keys and bodies of what the receiver took, each key once, in the order they came first.
fn taken(receiver: &Receiver) -> Vec<(String, Value)> {
    let mut taken: Vec<(String, Value)> = Vec::new();
    for told in receiver.accepted() {
        if taken.iter().all(|(key, _)| *key != told.key) {
            let body = serde_json::from_str(&told.body).expect("JSON");
            taken.push((told.key, body));
        }
    }
    taken
}

#[test]
fn a_service_that_fails_is_told_over_http_and_syslog_once_at_the_beginning_and_once_at_the_end_over_kills() {
    let dir = tempfile::tempdir().expect("a folder");
    let receiver = Receiver::start(false);
    let mut backend = Backend::start("app");
    let (udp, tcp, unix) = (udp(), tcp(), unix(dir.path()));
    let mut box_ = Box::start(&config(&receiver, &[&udp.0, &tcp.0, &unix.0], &backend));
    box_.expect_service("app", "UP", PATIENT);
    backend.kill();
    within(PATIENT, "the beginning is told", || {
        let syslog = [&udp.1, &tcp.1, &unix.1];
        taken(&receiver).len() == 1 && syslog.iter().all(|lines| lines.lock().len() == 1)
    });
    let alerts = box_.get("/alerts")["items"].clone();
    assert_eq!(alerts.as_array().map(Vec::len), Some(1), "{alerts}");
    assert_eq!((&alerts[0]["kind"], &alerts[0]["object"]), (&"service.down".into(), &"app".into()));
    assert_eq!(box_.get("/status")["alerts"][0]["alert"], "pager");
    let state = box_.path("state").display().to_string();
    let (status, said) = box_.run(&["shell", "--state", &state, "-c", "show alerts"]);
    assert!(status == 0 && said.contains("pager: service.down service app"), "{said}");

    // Killed while it stands, twice: nobody is told of a beginning again.
    for _ in 0..2 {
        box_.kill();
        box_.start_again();
        box_.expect_service("app", "DOWN", PATIENT);
    }
    assert_eq!(box_.get("/alerts")["items"][0]["id"], alerts[0]["id"]);
    // Killed, and well again by the time it starts.
    box_.kill();
    backend.start_again();
    box_.start_again();
    within(PATIENT, "the end is told", || {
        taken(&receiver).len() == 2 && udp.1.lock().len() >= 2 && tcp.1.lock().len() >= 2 && unix.1.lock().len() >= 2
    });
    within(PATIENT, "nothing waits", || box_.get("/outbox?status=pending")["items"] == serde_json::json!([]));
    assert_eq!(box_.get("/alerts")["items"], serde_json::json!([]));

    let taken = taken(&receiver);
    let [(began, raised), (ended, resolved)] = &taken[..] else { panic!("{taken:?}") };
    let id = &alerts[0]["id"];
    assert_eq!((began, ended), (&format!("box:alert:{id}:raise:hook"), &format!("box:alert:{id}:resolve:hook")));
    assert_eq!((&raised["type"], &resolved["type"]), (&"alert.raised".into(), &"alert.resolved".into()));
    assert_eq!(raised["dedup_key"], resolved["dedup_key"]);
    // A kill may have come between a message and the note that it is delivered: then it is told once more, as it was.
    let distinct = |lines: &Lines| {
        let text = |line: &String| line.rsplit_once("] ").map(|(_, text)| text.to_owned()).unwrap_or_default();
        let mut texts: Vec<String> = lines.lock().iter().map(text).collect();
        texts.dedup();
        texts
    };
    let told = distinct(&udp.1);
    assert!(told[0].starts_with("alert pager raised: service.down: app: down: "), "{told:?}");
    assert!(told[1].starts_with("alert pager resolved: service.down: app: "), "{told:?}");
    assert_eq!(told.len(), 2);
    assert_eq!(distinct(&tcp.1), ["alert.raised of app", "alert.resolved of app"]);
    let header = |lines: &Lines| lines.lock()[0].split(' ').map(str::to_owned).collect::<Vec<_>>();
    let (of_udp, of_unix) = (header(&udp.1), header(&unix.1));
    // A warning of local4 and of daemon.
    assert_eq!((&*of_udp[0], &*of_udp[2], &*of_udp[3], &*of_udp[5]), ("<164>1", "box", "bascule", "alert.raised"));
    assert_eq!((&*of_unix[0], &*of_unix[3]), ("<28>1", "adc"));
    let (status, text) = box_.run(&["replay", &state]);
    assert_eq!(status, 0, "{text}");
}

#[test]
fn a_log_host_that_is_not_there_leaves_a_dead_letter_which_is_a_problem_until_it_is_discarded() {
    let gone = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let box_ = Box::start(&format!(
        r#"
        [switch.go]
        [trigger.noc]
        type = "SYSLOG"
        address = "udp:{gone}"
        retry = {{ attempts = 1 }}
        [scenario.s.activate]
        when = [["sw:go"]]
        triggers = ["noc"]
        "#
    ));
    box_.act("PUT", "/switches/go", r#"{"value": true}"#);
    let dead = || box_.get("/outbox?status=dead")["items"].clone();
    within(PATIENT, "it is given up", || dead().as_array().is_some_and(|items| items.len() == 1));
    let problems = box_.get("/status")["problems"].clone();
    let found = problems.as_array().expect("a list").iter().find(|p| p["kind"] == "trigger");
    let found = found.unwrap_or_else(|| panic!("{problems}"));
    assert_eq!((&found["object"], &found["severity"]), (&"noc".into(), &"error".into()));
    let id = dead()[0]["id"].clone();
    let state = box_.path("state").display().to_string();
    let (status, said) = box_.run(&["shell", "--state", &state, "-c", &format!("rm outbox {id}")]);
    assert_eq!(status, 0, "{said}");
    assert_eq!(dead(), serde_json::json!([]));
    assert!(!box_.get("/status")["problems"].to_string().contains("\"trigger\""));
    let (status, _) = box_.send("DELETE", &format!("/outbox/{id}"), "");
    assert_eq!(status, 404);
}
