//! The three standard policies, walked against a real HTTP back end, with answers from `dig`: fast in and slow out,
//! careful in and fast out, automatic in and manual out.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::box_under_test::{Box, within};

/// Long enough for anything, on a busy machine.
const PATIENT: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_secs(1);

const PRIMARY: &str = "192.0.2.10";
const DR: &str = "198.51.100.10";

/// A site whose health answers are decided probe by probe.
struct Site {
    address: SocketAddr,
    plan: Arc<Mutex<Plan>>,
}

/// What the next probes get, and what the ones before got.
#[derive(Default)]
struct Plan {
    /// This many fail, then all pass; `u32::MAX`: until somebody says otherwise.
    failing: u32,
    served: u32,
    failed: u32,
    last_failed: Option<Instant>,
}

impl Site {
    fn start() -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let plan = Arc::new(Mutex::new(Plan::default()));
        let shared = Arc::clone(&plan);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = answer(stream, &shared);
            }
        });
        Site { address, plan }
    }

    fn fail(&self, probes: u32) {
        self.plan.lock().failing = probes;
    }

    fn heal(&self) {
        self.plan.lock().failing = 0;
    }

    /// Waits until the plan is carried out and this many more probes have passed.
    fn see(&self, more: u32) {
        within(PATIENT, "the failures that were ordered are served", || self.plan.lock().failing == 0);
        let from = self.plan.lock().served;
        within(PATIENT, "probes come", || self.plan.lock().served >= from + more);
    }

    fn last_failed(&self) -> Instant {
        self.plan.lock().last_failed.expect("a probe failed")
    }
}

fn answer(mut stream: TcpStream, plan: &Mutex<Plan>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let (mut head, mut chunk) = (Vec::new(), [0; 1024]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let n = stream.read(&mut chunk)?;
        if n == 0 {
            return Ok(());
        }
        head.extend_from_slice(&chunk[..n]);
    }
    let fails = {
        // Counted before it is told: whoever sees what it led to may read the count.
        let mut plan = plan.lock();
        plan.served += 1;
        let fails = plan.failing > 0;
        if fails {
            plan.failed += 1;
            plan.last_failed = Some(Instant::now());
            plan.failing = if plan.failing == u32::MAX { u32::MAX } else { plan.failing - 1 };
        }
        fails
    };
    let status = if fails { "503 Service Unavailable" } else { "200 OK" };
    write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
}

fn start(site: &Site, activate: &str, deactivate: &str, more: &str) -> Box {
    let box_ = Box::start(&format!(
        r#"
        [check.site]
        type = "HTTP"
        url = "http://{}/health"
        interval = "1s"
        timeout = "950ms"
        rise = 1
        fall = 3
        [scenario.dr.activate]
        when = [["{activate}"]]
        [scenario.dr.deactivate]
        when = [["{deactivate}"]]
        {more}
        [dns]
        listen = ["127.0.0.1:0"]
        [zone."example.test"]
        soa = {{ mname = "ns1.example.test.", rname = "hostmaster.example.test." }}
        static = "@ NS ns1.example.test.\n"
        [zone."example.test".rrset."www A"]
        records = [{{ data = "{PRIMARY}" }}, {{ data = "{DR}", drCond = "dr" }}]
        "#,
        site.address
    ));
    within(PATIENT, "the site is known", || box_.get("/checks/site")["state"] == "up");
    box_
}

/// `dig +short`.
fn dig(box_: &Box) -> String {
    let dns = box_.dns();
    let port = dns.port().to_string();
    let at = format!("@{}", dns.ip());
    let arguments = ["+short", "+tries=3", "+time=5", &at, "-p", &port, "www.example.test", "A"];
    let output = Command::new("dig").args(arguments).output().expect("dig is installed");
    assert!(output.status.success(), "dig: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn becomes(box_: &Box, wanted: &str) {
    within(PATIENT, &format!("dig says {wanted}"), || dig(box_) == wanted);
}

fn transitions(box_: &Box) -> Vec<(String, String)> {
    let items = box_.get("/scenarios/dr/transitions")["items"].as_array().cloned().unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    items.iter().map(|t| (text(&t["direction"]), text(&t["group"]))).collect()
}

#[test]
fn fast_in_slow_out_leaves_at_the_first_failure_and_returns_a_whole_hold_after_the_last() {
    const HOLD: Duration = Duration::from_secs(6);
    let site = Site::start();
    let box_ = start(&site, "site!{fails:1}", "site{for:6s}", "");
    assert_eq!(dig(&box_), PRIMARY);
    site.fail(1);
    becomes(&box_, DR);
    assert_eq!(site.plan.lock().failed, 1, "one was enough");
    assert_eq!(box_.get("/checks/site")["state"], "up", "and does not take the check down");

    // A single failure within the hold begins it anew.
    std::thread::sleep(Duration::from_secs(1));
    site.fail(1);
    site.see(1);
    becomes(&box_, PRIMARY);
    let since = site.last_failed().elapsed();
    assert!(since + INTERVAL >= HOLD, "it returned {since:?} after the last failure");
    let expected = [("activate", "site!{fails:1}"), ("deactivate", "site{for:6s}")];
    assert_eq!(transitions(&box_), expected.map(|(direction, group)| (direction.to_owned(), group.to_owned())));
}

#[test]
fn careful_in_fast_out_bears_two_failures_leaves_at_the_third_and_returns_at_the_first_success() {
    let site = Site::start();
    let box_ = start(&site, "site!{fails:3}", "site{passes:1}", "");
    for _ in 0..3 {
        site.fail(2);
        site.see(2);
        assert_eq!(dig(&box_), PRIMARY);
    }
    assert_eq!(box_.get("/scenarios/dr")["seq"], 0, "six failures, never three in a row: nothing has moved");
    site.fail(u32::MAX);
    becomes(&box_, DR);
    assert!(site.plan.lock().failed >= 9, "three in a row");
    site.heal();
    becomes(&box_, PRIMARY);
    let expected = [("activate", "site!{fails:3}"), ("deactivate", "site{passes:1}")];
    assert_eq!(transitions(&box_), expected.map(|(direction, group)| (direction.to_owned(), group.to_owned())));
}

#[test]
fn auto_in_manual_out_stays_until_a_person_returns_it_and_leaves_again_at_the_next_outage() {
    let site = Site::start();
    let box_ = start(&site, "site!{fails:1}", "site", "mode = \"off\"");
    let state = box_.path("state").display().to_string();
    for outage in 1..=2_u64 {
        assert_eq!(dig(&box_), PRIMARY, "before outage {outage}");
        site.fail(1);
        becomes(&box_, DR);
        site.see(5);
        within(PATIENT, "it says that it could return", || box_.get("/scenarios/dr")["ready_to_return"] == true);
        assert_eq!(dig(&box_), DR, "it stays, although the site is well");
        let (status, said) = box_.run(&["shell", "--state", &state, "-c", "return scenario dr -reason reviewed"]);
        assert_eq!(status, 0, "{said}");
        assert_eq!(dig(&box_), PRIMARY, "with the answer to the call");
        assert_eq!(box_.get("/scenarios/dr")["seq"], outage * 2);
    }
}
