//! Triggers against a receiver in trouble, and an appliance that is killed: every commit is told, in order, under one
//! key. `BASCULE_TRIGGER_KILLS` asks for more kills than a usual run has.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::box_under_test::{Box, within};

const KILLS: u32 = 4;
/// Long enough for anything, on a busy machine.
const PATIENT: Duration = Duration::from_secs(60);

/// What a receiver was told.
#[derive(Clone, Debug)]
pub struct Told {
    pub key: String,
    signature: String,
    timestamp: String,
    pub body: String,
    accepted: bool,
}

/// Takes two requests of three, and is in trouble with the third: 500 with a wish, no answer, or a reset.
pub struct Receiver {
    pub address: SocketAddr,
    told: Arc<Mutex<Vec<Told>>>,
}

impl Receiver {
    pub fn start(trouble: bool) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let told = Arc::new(Mutex::new(Vec::new()));
        let count = Arc::new(AtomicU32::new(0));
        let shared = Arc::clone(&told);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (told, count) = (Arc::clone(&shared), Arc::clone(&count));
                std::thread::spawn(move || {
                    let _ = serve(stream, &told, &count, trouble);
                });
            }
        });
        Receiver { address, told }
    }

    pub fn accepted(&self) -> Vec<Told> {
        self.told.lock().iter().filter(|told| told.accepted).cloned().collect()
    }
}

fn serve(mut stream: TcpStream, told: &Mutex<Vec<Told>>, count: &AtomicU32, trouble: bool) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut raw = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        let n = stream.read(&mut chunk)?;
        if n == 0 {
            return Ok(());
        }
        raw.extend_from_slice(&chunk[..n]);
        let text = String::from_utf8_lossy(&raw).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let field = |name: &str| {
            let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with(&format!("{name}:")));
            line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
        };
        if body.len() < field("content-length").parse().unwrap_or(0) {
            continue;
        }
        let at = count.fetch_add(1, Ordering::Relaxed);
        let accepted = !trouble || at % 3 != 1;
        told.lock().push(Told {
            key: field("webhook-id"),
            signature: field("webhook-signature"),
            timestamp: field("webhook-timestamp"),
            body: body.to_owned(),
            accepted,
        });
        let answer = match at / 3 % 3 {
            _ if accepted => "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\naccepted",
            0 => "HTTP/1.1 500 No\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n",
            1 => {
                std::thread::sleep(Duration::from_secs(1));
                return Ok(());
            }
            _ => {
                // With unread data, or with linger 0: the other end sees a reset.
                socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO))?;
                return Ok(());
            }
        };
        stream.write_all(answer.as_bytes())?;
        raw.clear();
    }
}

fn config(receiver: SocketAddr, more: &str) -> String {
    format!(
        r#"
        [appliance]
        name = "box"
        [switch.go]
        [trigger.page]
        type = "HTTP"
        uri = "http://{receiver}/incident"
        timeout = "300ms"
        retry = {{ attempts = 1000, first = "5ms", most = "50ms" }}
        expect_body = {{ contains = "accepted" }}
        [scenario.s]
        oscillation = {{ commits = 0, within = "10m" }}
        [scenario.s.activate]
        when = [["sw:go"]]
        triggers = ["page"]
        [scenario.s.deactivate]
        when = [["sw:go!"]]
        triggers = ["page"]
        {more}
        "#
    )
}

fn flip(box_: &Box, value: bool) {
    box_.act("PUT", "/switches/go", &format!(r#"{{"value": {value}}}"#));
}

#[test]
fn every_commit_is_told_in_order_under_one_key_whatever_is_killed_and_whatever_the_receiver_does() {
    let kills = std::env::var("BASCULE_TRIGGER_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(KILLS);
    let receiver = Receiver::start(true);
    let mut box_ = Box::start(&config(receiver.address, ""));
    let mut commits: u64 = 0;
    // A fixed walk through moments, so that a failure comes again.
    let mut lot: u32 = 17;
    for _ in 0..kills {
        for _ in 0..3 {
            flip(&box_, commits.is_multiple_of(2));
            commits += 1;
        }
        lot = lot.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        std::thread::sleep(Duration::from_millis(u64::from(lot >> 16) % 120));
        box_.kill();
        box_.start_again();
    }
    assert_eq!(box_.get("/scenarios/s")["seq"], commits);
    let expected: Vec<String> = (1..=commits)
        .map(|seq| format!("box:s:{seq}:{}:page", if seq % 2 == 1 { "activate" } else { "deactivate" }))
        .collect();
    let last = expected.last().expect("there was a commit").clone();
    within(PATIENT, "the last commit is told", || receiver.accepted().iter().any(|told| told.key == last));
    let mut first_of_each = Vec::new();
    for told in receiver.accepted() {
        if !first_of_each.contains(&told.key) {
            first_of_each.push(told.key);
        }
    }
    assert_eq!(first_of_each, expected, "each at least once, in the order of the commits, none under another key");
    let keys: BTreeSet<String> = receiver.told.lock().iter().map(|told| told.key.clone()).collect();
    assert_eq!(keys.len() as u64, commits, "nor was one tried under another");
    within(PATIENT, "the appliance knows", || {
        box_.get("/scenarios/s")["last_transition"]["triggers"][0]["status"] == "delivered"
    });
    assert_eq!(box_.get("/outbox?status=pending")["items"], serde_json::json!([]));
    within(PATIENT, "the journal has it for every commit", || {
        let transitions = box_.get("/scenarios/s/transitions");
        let told = transitions["items"].as_array().expect("a list").iter().map(|t| &t["triggers"][0]["status"]);
        told.clone().count() as u64 == commits && told.into_iter().all(|status| status == "delivered")
    });
}

#[test]
fn a_signed_trigger_can_be_verified_tested_and_replayed_and_its_secret_stands_nowhere() {
    let receiver = Receiver::start(false);
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let text = config(receiver.address, "");
    let text = text.replace("timeout =", "secret = { file = \"hook.secret\" }\ntimeout =");
    let dead = "[trigger.dead]\ntype = \"HTTP\"\nuri = \"http://127.0.0.1:9/\"\nretry = { attempts = 1 }\n";
    let text = text.replace("[scenario.s]", &format!("{dead}[scenario.s]"));
    let text = text.replacen("triggers = [\"page\"]", "triggers = [\"page\", \"dead\"]", 1);
    let mut box_ = Box::start(&text);
    let secret_file = box_.path("hook.secret");
    std::fs::write(&secret_file, format!("{secret}\n")).expect("the secret is written");
    flip(&box_, true);
    within(PATIENT, "it is told", || !receiver.accepted().is_empty());
    let told = receiver.accepted().remove(0);
    let key = base64_decode(secret.strip_prefix("whsec_").expect("its prefix"));
    let signed = format!("{}.{}.{}", told.key, told.timestamp, told.body);
    let tag = ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key), signed.as_bytes());
    assert_eq!(base64_decode(told.signature.strip_prefix("v1,").expect("its version")), tag.as_ref());
    assert!(told.body.contains("\"scenario\":\"s\""));

    let (status, said) =
        box_.run(&["shell", "--state", &box_.path("state").display().to_string(), "-c", "test trigger page"]);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("Status: DELIVERED"), "{said}");
    assert!(receiver.accepted().last().expect("the test").body.contains("\"test\":true"));

    within(PATIENT, "the other one is given up", || {
        box_.get("/outbox?status=dead")["items"].as_array().is_some_and(|items| items.len() == 1)
    });
    let id = box_.get("/outbox?status=dead")["items"][0]["id"].as_u64().expect("an id");
    let again = box_.act("POST", &format!("/outbox/{id}/replay"), "");
    assert_eq!((again["id"].as_u64(), again["key"].as_str()), (Some(id), Some("box:s:1:activate:dead")));
    within(PATIENT, "it is given up again", || box_.get("/triggers/dead")["dead"] == 2);

    let journal = box_.get("/journal?limit=10000").to_string();
    let outbox = box_.get("/outbox").to_string() + &box_.get("/triggers").to_string() + &box_.log();
    assert!(!journal.contains("MfKQ9r8GKY") && !outbox.contains("MfKQ9r8GKY"));
    assert_eq!(box_.stop(), 0);
    let state = std::fs::read(box_.path("state").join("bascule.db")).expect("the state");
    assert!(!String::from_utf8_lossy(&state).contains("MfKQ9r8GKY"));
}

fn base64_decode(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).expect("base64")
}

#[test]
fn a_guard_asks_over_http_and_waits_for_a_person() {
    let receiver = Receiver::start(false);
    let guard = format!(
        r#"
        [query.lag]
        type = "HTTP"
        uri = "http://{}/lag"
        expect_body = {{ contains = "accepted" }}
        [scenario.g.activate]
        when = [["sw:go"]]
        guard = {{ run = ["lag"], approve = true, on_timeout = "block", deadline = "10m" }}
        "#,
        receiver.address
    );
    let box_ = Box::start(&config(receiver.address, &guard));
    flip(&box_, true);
    within(PATIENT, "the query has passed", || {
        box_.get("/scenarios/g")["attempt"]["detail"]
            .as_str()
            .is_some_and(|said| said.contains("waits for the approval"))
    });
    let (status, _) = box_.send("POST", "/scenarios/g/guard", r#"{"decision": "approve", "attempt": 99}"#);
    assert_eq!(status, 409);
    assert_eq!(box_.get("/scenarios/g")["state"], "activating");
    let state = box_.path("state").display().to_string();
    let (status, said) = box_.run(&["shell", "--state", &state, "-c", "approve scenario g 1 -reason 'data is safe'"]);
    assert_eq!(status, 0, "{said}");
    assert_eq!(box_.get("/scenarios/g")["state"], "active");
    assert_eq!(box_.get("/queries/lag")["passed"], 1);
    let (status, text) = box_.run(&["replay", &state]);
    assert_eq!(status, 0, "{text}");
}
