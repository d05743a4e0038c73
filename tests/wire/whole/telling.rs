//! What a real appliance tells others of its work: spans of requests over OTLP, its log over syslog.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;

use super::box_under_test::{Backend, Box, http, within};

/// Long enough for anything, on a busy machine.
const PATIENT: Duration = Duration::from_secs(60);

/// Takes OTLP over HTTP, the first time only after it was asked again.
struct Collector {
    address: SocketAddr,
    /// Head and body of each request.
    heard: Arc<Mutex<Vec<(String, String)>>>,
}

impl Collector {
    fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let heard = Arc::default();
        let shared = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let heard = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &heard));
            }
        });
        Collector { address, heard }
    }

    /// All spans that were taken.
    fn spans(&self) -> Vec<Value> {
        let heard = self.heard.lock();
        let taken = heard.iter().skip(1).map(|(_, body)| serde_json::from_str::<Value>(body).expect("JSON"));
        let spans = taken.map(|sent| sent["resourceSpans"][0]["scopeSpans"][0]["spans"].clone());
        spans.flat_map(|spans| spans.as_array().expect("a list").clone()).collect()
    }
}

fn serve(mut stream: TcpStream, heard: &Mutex<Vec<(String, String)>>) -> Option<()> {
    let mut raw = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        let read = stream.read(&mut chunk).ok().filter(|read| *read > 0)?;
        raw.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&raw).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
        if body.len() < length {
            continue;
        }
        let mut heard = heard.lock();
        heard.push((head, body.to_owned()));
        let answer = if heard.len() == 1 {
            "HTTP/1.1 503 Later\r\ncontent-length: 0\r\nretry-after: 0\r\n\r\n"
        } else {
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
        };
        raw.clear();
        stream.write_all(answer.as_bytes()).ok()?;
    }
}

fn config(backend: &Backend, more: &str) -> String {
    format!(
        r#"
        [appliance]
        name = "box-a"
        [service.a]
        type = "HTTP"
        address = "{}"
        health_monitor = false
        [vserver.web]
        type = "HTTP"
        address = "127.0.0.1:0"
        services = ["a"]
        {more}
        "#,
        backend.address
    )
}

#[test]
fn spans_of_requests_reach_a_collector_that_could_not_take_them_at_first() {
    let (backend, collector) = (Backend::start("a"), Collector::start());
    let more = format!(
        r#"
        [trace]
        endpoint = "http://{}/v1/traces"
        headers = {{ Authorization = "Bearer t0ken" }}
        one_in = 1
        service_name = "edge"
        "#,
        collector.address
    );
    let box_ = Box::start(&config(&backend, &more));
    for _ in 0..3 {
        assert_eq!(http(box_.vip("web"), "GET", "/", "", &[]).expect("an answer").status, 200);
    }
    within(PATIENT, "all spans are there", || collector.spans().len() >= 6);
    let spans = collector.spans();
    let kinds = |kind: u64| spans.iter().filter(|span| span["kind"] == kind).count();
    assert_eq!((kinds(2), kinds(3), spans.len()), (3, 3, 6));
    let (head, body) = collector.heard.lock()[0].clone();
    assert!(head.starts_with("post /v1/traces http/1.1") && head.contains("authorization: bearer t0ken"), "{head}");
    assert!(head.contains("content-type: application/json"), "{head}");
    for said in [r#""service.name","value":{"stringValue":"edge"}"#, r#""stringValue":"box-a""#] {
        assert!(body.contains(said), "{said}: {body}");
    }
    let metric = |name: &str| {
        let all = http(box_.admin, "GET", "/metrics", "", &[]).expect("metrics").body;
        let line = all.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        line.unwrap_or_else(|| panic!("{name}"))
    };
    within(PATIENT, "they are counted", || metric("bascule_trace_sent_total") >= 3.0);
    assert_eq!((metric("bascule_trace_requests_total"), metric("bascule_trace_dropped_total")), (3.0, 0.0));
    assert!(metric("bascule_trace_failures_total") >= 1.0);
    // Not for whoever reads the configuration.
    assert!(!box_.log().contains("t0ken"));
}

#[test]
fn a_collector_that_hangs_keeps_no_spans_from_the_one_that_is_configured_in_its_place() {
    let (backend, collector) = (Backend::start("a"), Collector::start());
    let hangs = TcpListener::bind("127.0.0.1:0").expect("a port");
    let trace = |address: SocketAddr| {
        // One attempt would take longer than this test waits.
        format!("[trace]\nendpoint = \"http://{address}/v1/traces\"\none_in = 1\ntimeout = \"60s\"\n")
    };
    let box_ = Box::start(&config(&backend, &trace(hangs.local_addr().expect("its address"))));
    let ask = || assert_eq!(http(box_.vip("web"), "GET", "/", "", &[]).expect("an answer").status, 200);
    ask();
    let (_under_way, _) = hangs.accept().expect("the spans are sent to it");
    std::fs::write(box_.path("box.toml"), config(&backend, &trace(collector.address))).expect("it is written");
    box_.signal("HUP");
    within(PATIENT / 2, "the spans that it kept are there", || collector.spans().len() >= 2);
    ask();
    within(PATIENT / 2, "those of the next request too", || collector.spans().len() >= 4);
}

#[test]
fn the_log_of_the_process_goes_over_syslog_from_the_moment_that_it_is_configured_to_its_last_line() {
    let backend = Backend::start("a");
    let receiver = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    receiver.set_read_timeout(Some(PATIENT)).expect("a time-out");
    let address = receiver.local_addr().expect("its address");
    let mut box_ = Box::start(&config(&backend, ""));
    let more = format!("[log]\nsyslog = {{ address = \"udp:{address}\", facility = \"local5\" }}\n");
    std::fs::write(box_.path("box.toml"), config(&backend, &more)).expect("it is written");
    box_.signal("HUP");
    let mut datagram = [0; 4096];
    let mut until = |words: &str| loop {
        let length = receiver.recv(&mut datagram).unwrap_or_else(|error| panic!("{words}: {error}"));
        let line = String::from_utf8_lossy(&datagram[..length]).into_owned();
        // local5.info, local5.warning, local5.err
        let head = ["<174>1 ", "<172>1 ", "<171>1 "].iter().any(|head| line.starts_with(head));
        assert!(head && line.contains(" box-a bascule ") && line.contains(" log [origin "), "{line}");
        if line.contains(words) {
            break;
        }
    };
    // Whatever is logged until it is followed is on stderr alone.
    within(PATIENT, "it is followed", || {
        box_.act("POST", "/services/a/disable", r#"{"reason": "to be logged"}"#);
        box_.act("POST", "/services/a/enable", r#"{"reason": "to be logged"}"#);
        let metrics = http(box_.admin, "GET", "/metrics", "", &[]).expect("metrics").body;
        let sent = metrics.lines().find_map(|line| line.strip_prefix("bascule_log_syslog_sent_total ")?.parse().ok());
        sent.unwrap_or(0.0) > 0.0
    });
    assert_eq!(box_.stop(), 0);
    until("draining");
    until("stopped");
}
