//! The trail that leaves the box: shipped as it is written, over crashes of both sides; read back for a review.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rustls::{ServerConnection, StreamOwned};
use serde_json::{Value, json};

use super::box_under_test::{Box, free_port, within};
use crate::tls::pki::{Authority, BOTH};

/// Long enough for anything, on a busy machine.
const PATIENT: Duration = Duration::from_secs(60);

const WORLD: &str = r#"
[appliance]
name = "box-a"
[admin]
listen = "127.0.0.1:0"
[switch.out]
[scenario.dr.activate]
when = [["sw:out"]]
[scenario.dr.deactivate]
when = [["sw:out!"]]
[dns]
listen = ["127.0.0.1:0"]
[zone."example.test"]
ttl = "60s"
soa = { mname = "ns", rname = "hostmaster" }
static = "@ NS ns\nns A 192.0.2.53"
[zone."example.test".rrset."www A"]
degraded_ttl = "5s"
records = ["192.0.2.1", { data = "198.51.100.1", drCond = "dr" }]
"#;

/// Entries by their number; `Err`: one came twice and was another one.
type Trail = Arc<Mutex<BTreeMap<u64, Value>>>;

fn take(trail: &Trail, entry: Value) {
    let number = entry["number"].as_u64().expect("a number");
    let mut trail = trail.lock();
    if let Some(before) = trail.insert(number, entry.clone()) {
        assert_eq!(before["hash"], entry["hash"], "entry {number} came twice, and is another one");
    }
}

/// Whether the trail has every entry up to the newest, each following from the one before.
fn is_whole(trail: &Trail, head: u64) -> bool {
    let trail = trail.lock();
    let numbers: Vec<u64> = trail.keys().copied().collect();
    if numbers != (1..=head).collect::<Vec<u64>>() {
        return false;
    }
    trail.values().zip(trail.values().skip(1)).for_each(|(before, after)| assert_eq!(before["hash"], after["prev"]));
    true
}

fn head(appliance: &Box) -> u64 {
    appliance.get("/journal?newest_first=true&limit=1")["items"][0]["number"].as_u64().expect("a number")
}

/// The program, asking this appliance.
fn ask(appliance: &Box, arguments: &[&str]) -> (i32, String) {
    let url = format!("http://{}", appliance.admin);
    let (command, rest) = arguments.split_at(if arguments[0] == "explain" { 2 } else { 1 });
    appliance.run(&[command, &["--url", &url], rest].concat())
}

fn flip(appliance: &Box, out: bool) {
    appliance.act("PUT", "/switches/out", &format!(r#"{{"value":{out},"reason":"a <b>test</b> | of it"}}"#));
}

/// Takes framed messages of RFC 5424; while `reads` is false it accepts connections and reads nothing.
fn syslog(listener: TcpListener, trail: Trail, reads: Arc<AtomicBool>) {
    for stream in listener.incoming().flatten() {
        let (trail, reads) = (Arc::clone(&trail), Arc::clone(&reads));
        // Dropped with what it had not read: the other side gets a reset.
        std::thread::spawn(move || messages(BufReader::new(stream), &trail, &reads));
    }
}

fn messages(mut reader: impl BufRead, trail: &Trail, reads: &AtomicBool) {
    while reads.load(Ordering::Relaxed) {
        let mut length = Vec::new();
        if reader.read_until(b' ', &mut length).unwrap_or(0) == 0 {
            return;
        }
        let length: usize = String::from_utf8_lossy(&length).trim().parse().expect("a length");
        let mut message = vec![0; length];
        if reader.read_exact(&mut message).is_err() {
            return;
        }
        let message = String::from_utf8(message).expect("text");
        assert!(message.starts_with("<1") && message.contains(">1 20") && message.contains(" box-a bascule "));
        let json = message.find("] {").map(|at| &message[at + 2..]).expect("the entry");
        take(trail, serde_json::from_str(json).expect("JSON"));
    }
}

#[test]
fn the_journal_goes_to_syslog_as_it_is_written_and_nothing_is_left_out_when_either_side_dies() {
    let port = free_port();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let config = format!("{WORLD}[journal.ship.siem]\ntype = \"SYSLOG\"\naddress = \"tcp:{address}\"\n");
    // Nobody listens yet.
    let mut appliance = Box::start(&config);
    flip(&appliance, true);
    within(PATIENT, "the failure shows", || {
        appliance.get("/journal/shipping")["items"][0]["failing_since"].is_string()
    });
    let waiting = appliance.get("/journal/shipping");
    assert!(waiting["items"][0]["waiting"].as_u64().unwrap() > 0, "{waiting}");
    assert_eq!(appliance.get("/scenarios/dr")["state"], "active", "nothing waits for the destination");

    let (trail, reads) = (Trail::default(), Arc::new(AtomicBool::new(true)));
    let listener = TcpListener::bind(address).expect("the port");
    let (copy, flag) = (Arc::clone(&trail), Arc::clone(&reads));
    std::thread::spawn(move || syslog(listener, copy, flag));
    flip(&appliance, false);
    within(PATIENT, "all of it is there", || is_whole(&trail, head(&appliance)));
    within(PATIENT, "and counts as shipped", || appliance.get("/journal/shipping")["items"][0]["waiting"] == 0);
    // A server that takes connections and dies with what it was sent.
    reads.store(false, Ordering::Relaxed);
    flip(&appliance, true);
    flip(&appliance, false);
    reads.store(true, Ordering::Relaxed);
    for _ in 0..3 {
        flip(&appliance, true);
        flip(&appliance, false);
        appliance.kill();
        appliance.start_again();
    }
    within(PATIENT, "nothing is missing", || is_whole(&trail, head(&appliance)));
    let (code, told) = ask(&appliance, &["journal", "--shipping"]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains(&format!("siem (tcp:{address})")), "{told}");
    let metrics = super::box_under_test::http(appliance.admin, "GET", "/metrics", "", &[]).unwrap().body;
    assert!(metrics.contains("bascule_journal_waiting_entries{destination=\"siem\"}"), "{metrics}");
}

#[test]
fn over_tls_only_a_server_that_the_configured_authority_vouches_for_gets_the_journal() {
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    let server = ours.issue("syslog", &["syslog.test"]).server_of(BOTH);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let trail = Trail::default();
    let copy = Arc::clone(&trail);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (server, trail) = (Arc::clone(&server), Arc::clone(&copy));
            std::thread::spawn(move || {
                let connection = ServerConnection::new(server).expect("a connection");
                messages(BufReader::new(StreamOwned::new(connection, stream)), &trail, &AtomicBool::new(true));
            });
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    let config = |authority: &Authority, name: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, &authority.pem).expect("written");
        format!(
            "{WORLD}[certificate.log-ca]\ncertificate = \"{}\"\n[journal.ship.siem]\ntype = \"SYSLOG\"\n\
             address = \"tls:{address}\"\ntls = {{ ca = \"log-ca\", server_name = \"syslog.test\" }}\n",
            path.display()
        )
    };
    let mut appliance = Box::start(&config(&other, "other.pem"));
    within(PATIENT, "the failure shows", || {
        let shipping = &appliance.get("/journal/shipping")["items"][0];
        shipping["last_error"].as_str().is_some_and(|why| why.contains("certificate"))
    });
    let problems = appliance.get("/status")["problems"].to_string();
    assert!(problems.contains("wait to be shipped"), "{problems}");
    assert!(trail.lock().is_empty());
    appliance.stop();
    std::fs::write(folder.path().join("other.pem"), &ours.pem).expect("replaced");
    appliance.start_again();
    within(PATIENT, "all of it is there", || is_whole(&trail, head(&appliance)));
}

/// Takes every second batch, and answers 503 to the others.
fn collector(listener: TcpListener, trail: Trail, ids: Arc<Mutex<Vec<String>>>) {
    for (n, stream) in listener.incoming().flatten().enumerate() {
        let (trail, ids) = (Arc::clone(&trail), Arc::clone(&ids));
        std::thread::spawn(move || drop(answer(stream, &trail, &ids, n)));
    }
}

fn answer(mut stream: TcpStream, trail: &Trail, ids: &Mutex<Vec<String>>, n: usize) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut length, mut id, mut signed) = (0, String::new(), false);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let Some((name, value)) = line.trim_end().split_once(':') else {
            if line.trim().is_empty() {
                break;
            }
            continue;
        };
        match &name.to_ascii_lowercase()[..] {
            "content-length" => length = value.trim().parse().expect("a length"),
            "webhook-id" => value.trim().clone_into(&mut id),
            "webhook-signature" => signed = value.trim().starts_with("v1,"),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    if n.is_multiple_of(2) {
        return stream.write_all(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    assert!(signed, "the batch is signed");
    for line in String::from_utf8(body).expect("text").lines() {
        take(trail, serde_json::from_str(line).expect("JSON"));
    }
    ids.lock().push(id);
    stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
}

#[test]
fn the_journal_goes_to_a_collector_over_http_whole_and_signed_although_it_refuses_every_second_batch() {
    let (trail, ids) = (Trail::default(), Arc::new(Mutex::new(Vec::new())));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let (copy, named) = (Arc::clone(&trail), Arc::clone(&ids));
    std::thread::spawn(move || collector(listener, copy, named));
    let secret = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(secret.path(), "a long secret").expect("written");
    let config = format!(
        "{WORLD}[journal.ship.lake]\ntype = \"HTTP\"\nuri = \"http://{address}/journal?key=TOPSECRET\"\n\
         secret = {{ file = \"{}\" }}\nheaders = {{ Authorization = \"Bearer TOPSECRET\" }}\n\
         [trigger.idle]\ntype = \"HTTP\"\nuri = \"http://{address}/x?key=TOPSECRET\"\nbody = \"TOPSECRET\"\n\
         # headers = {{ Authorization = \"Bearer TOPSECRET\" }}\n",
        secret.path().display()
    );
    let appliance = Box::start(&config);
    flip(&appliance, true);
    flip(&appliance, false);
    within(PATIENT, "all of it is there", || is_whole(&trail, head(&appliance)));
    assert!(ids.lock().iter().all(|id| id.starts_with("box-a:journal:")), "{:?}", ids.lock());
    let text = trail.lock().values().map(ToString::to_string).collect::<String>();
    assert!(!text.contains("a long secret"));
    assert!(!text.contains("TOPSECRET") && text.contains("(hidden)"), "what is hidden from readers goes nowhere");
    let state = appliance.path("state").display().to_string();
    let (status, said) = appliance.run(&["replay", &state]);
    assert_eq!(status, 0, "what stands in its place loads: {said}");
}

#[test]
fn after_a_flip_the_caches_time_stands_in_rest_shell_and_timeline_and_the_past_can_be_asked() {
    let appliance = Box::start(WORLD);
    assert_eq!(appliance.resolve("www.example.test"), ["192.0.2.1"]);
    let before = appliance.get("/status")["now"].as_str().unwrap().to_owned();
    flip(&appliance, true);
    assert_eq!(appliance.resolve("www.example.test"), ["198.51.100.1"]);
    let scenario = appliance.get("/scenarios/dr");
    let over = scenario["last_transition"]["caches_over_at"].as_str().expect("the time").to_owned();
    assert!(over > before, "{over}");
    let zone = appliance.get("/zones/example.test");
    assert_eq!(zone["rrsets"][0]["ttl"], 5);
    assert_eq!(zone["rrsets"][0]["ttl_because"], "scenario dr is active");
    assert_eq!(zone["rrsets"][0]["caches_over_at"], over.as_str());
    let (_, shown) = ask(&appliance, &["shell", "-c", "show scenario dr"]);
    assert!(shown.contains(&format!("Caches may hold what it replaced until {over}")), "{shown}");
    let (_, told) = ask(&appliance, &["explain", "dns", "www.example.test", "A"]);
    assert!(told.contains("may stay in caches until"), "{told}");
    assert!(told.contains("degraded_ttl in place of 60 s: scenario dr is active"), "{told}");
    within(PATIENT, "the journal has it too", || {
        let transitions = appliance.get("/scenarios/dr/transitions");
        transitions["items"][0]["caches_over_at"].as_str().is_some_and(|at| at[..19] == over[..19])
    });
    // The one resolver that had asked has come back, in the second line of this test.
    let moved = &appliance.get("/scenarios/dr/transitions")["items"][0];
    let first = moved["first_answer_at"].as_str().expect("it was answered");
    assert!(moved["published_at"].as_str().is_some_and(|at| at[..19] <= first[..19]), "{moved}");
    let all = json!({ "asked_before": 1, "asked_again": 1, "missing": [], "partial": false });
    assert_eq!(moved["resolvers"], all, "{moved}");
    assert_eq!(appliance.get("/scenarios/dr")["last_transition"]["resolvers"], all);
    assert!(shown.contains("Of 1 resolvers that held the former answer 1 have asked again"), "{shown}");

    // The past, as it was answered.
    let past = appliance.get(&format!("/explain/dns?name=www.example.test&type=A&at={before}"));
    assert_eq!(past["answer"][0], "www.example.test. 60 IN A 192.0.2.1");
    let (_, told) = ask(&appliance, &["explain", "dns", "www.example.test", "A", "--at", &before]);
    assert!(told.contains("192.0.2.1") && told.contains(&format!("at {before}")), "{told}");
    let (status, problem) = appliance.send("GET", "/explain/dns?name=www.example.test&at=2001-01-01T00:00:00Z", "");
    assert_eq!(status, 404, "{problem}");

    // And as a document.
    let (code, markdown) = ask(&appliance, &["timeline", "--since", "10m"]);
    assert_eq!(code, 0, "{markdown}");
    assert!(
        markdown.contains("scenario dr activated") && markdown.contains("may hold the former ones until"),
        "{markdown}"
    );
    assert!(markdown.contains("&lt;b&gt;test&lt;/b&gt; \\| of it"), "{markdown}");
    let (_, html) = ask(&appliance, &["timeline", "--since", "10m", "--format", "html"]);
    assert!(html.contains("&lt;b&gt;test&lt;/b&gt;") && !html.contains("<b>test</b>"), "{html}");
    let (_, entries) = ask(&appliance, &["journal", "--scenario", "dr", "--kind", "transition"]);
    assert_eq!(entries.lines().count(), 1, "{entries}");
    let (_, entries) = ask(&appliance, &["shell", "-c", "show journal -kind act -limit 5"]);
    assert!(entries.contains("switch out"), "{entries}");
}
