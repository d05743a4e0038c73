//! Servers die, sites fail: what clients and resolvers see, and how soon.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::box_under_test::{Backend, Box, http, within};

const SECOND: Duration = Duration::from_secs(1);

fn config(primaries: &[&Backend], spare: &Backend) -> String {
    let mut text = String::from(
        r#"
        [monitor.ok]
        type = "HTTP"
        request = "GET /health"
        interval = "500ms"
        response_timeout = "450ms"
        retries = 2
        down_time = "200ms"
        [defaults.service]
        type = "HTTP"
        monitors = ["ok"]
        "#,
    );
    let mut names = Vec::new();
    for (i, backend) in primaries.iter().enumerate() {
        names.push(format!("\"p{i}\""));
        text += &format!("[service.p{i}]\naddress = \"{}\"\n", backend.address);
    }
    text += &format!(
        "[service.spare]\naddress = \"{}\"\n[vserver.web]\ntype = \"HTTP\"\naddress = \"127.0.0.1:0\"\n\
         services = [{}]\nbackup = \"spare\"\n[vserver.spare]\ntype = \"HTTP\"\nservices = [\"spare\"]\n",
        spare.address,
        names.join(", ")
    );
    text
}

#[test]
fn killed_primaries_cost_only_what_was_in_flight_on_them_and_clients_come_back_with_them() {
    let (mut a, mut b, spare) = (Backend::start("a"), Backend::start("b"), Backend::start("spare"));
    let box_ = Box::start(&config(&[&a, &b], &spare));
    for service in ["p0", "p1", "spare"] {
        box_.expect_service(service, "UP", SECOND * 5);
    }
    let vip = box_.vip("web");
    let stop = Arc::new(AtomicBool::new(false));
    let failed = Arc::new(AtomicUsize::new(0));
    let sent = Arc::new(AtomicUsize::new(0));
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (stop, failed, sent) = (Arc::clone(&stop), Arc::clone(&failed), Arc::clone(&sent));
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    sent.fetch_add(1, Ordering::Relaxed);
                    if !http(vip, "GET", "/", "", &[]).is_ok_and(|answer| answer.status == 200) {
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        })
        .collect();
    within(SECOND * 5, "the clients are a load", || sent.load(Ordering::Relaxed) > 50);
    a.kill();
    b.kill();
    within(SECOND * 3, "the backup serves", || box_.get("/vservers/web")["state"] == "DOWN");
    let vserver = box_.get("/vservers/web");
    assert_eq!((vserver["effective_state"].as_str(), vserver["active_backup"].as_str()), (Some("UP"), Some("spare")));
    assert_eq!(http(vip, "GET", "/", "", &[]).expect("an answer").body.trim(), "spare");
    a.start_again();
    within(SECOND * 3, "the primary serves again", || {
        http(vip, "GET", "/", "", &[]).is_ok_and(|answer| answer.body.trim() == "a")
    });
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().expect("the client lives");
    }
    // Idempotent requests on a killed server are tried again elsewhere: of four clients at most what each had in flight
    // at either kill, after the first byte of an answer, can fail.
    let (failed, sent) = (failed.load(Ordering::Relaxed), sent.load(Ordering::Relaxed));
    assert!(failed <= 8, "{failed} of {sent} requests failed");
}

const STEERED: &str = r#"
    [check.site-a]
    type = "HTTP"
    url = "http://ADDRESS/health"
    interval = "1s"
    timeout = "950ms"
    rise = 1
    fall = 3
    [scenario.a-out.activate]
    when = [["site-a!{fails:1}"]]
    [scenario.a-out.deactivate]
    when = [["site-a{for:2s}"]]
    [dns]
    listen = ["127.0.0.1:0"]
    [zone."example.test"]
    ttl = "30s"
    soa = { mname = "ns1.example.test.", rname = "hostmaster.example.test." }
    static = """
@   NS ns1
ns1 A  127.0.0.1
"""
    [zone."example.test".rrset."www A"]
    records = [{ data = "192.0.2.10" }, { data = "198.51.100.10", drCond = "a-out" }]
"#;

#[test]
fn one_lost_sample_changes_the_answer_and_the_return_waits_for_its_hold() {
    let a = Backend::start("a");
    let box_ = Box::start(&STEERED.replace("ADDRESS", &a.address.to_string()));
    assert_eq!(box_.resolve("www.example.test"), ["192.0.2.10"]);
    a.fail();
    within(SECOND * 2, "the other site answers", || box_.resolve("www.example.test") == ["198.51.100.10"]);
    let scenario = box_.get("/scenarios/a-out");
    assert_eq!((scenario["state"].as_str(), scenario["seq"].as_u64()), (Some("active"), Some(1)));
    assert_eq!(box_.get("/checks/site-a")["state"], "up", "one lost sample of three does not take it down");
    a.heal();
    let healed = std::time::Instant::now();
    within(SECOND * 20, "the site answers again", || box_.resolve("www.example.test") == ["192.0.2.10"]);
    let took = healed.elapsed();
    assert!(took.as_millis() >= 1_600, "returned after {took:?}");
}

#[test]
fn the_answer_changes_within_fifty_milliseconds_of_the_deciding_probe_result() {
    let a = Backend::start("a");
    let toml = STEERED.replace("ADDRESS", &a.address.to_string()).replace("site-a{for:2s}", "site-a{passes:1}");
    let box_ = Box::start(&(toml + "[switch.idle]\n"));
    let (mut delays_ms, mut acts_ms) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        for (act, answer) in
            [(Backend::fail as fn(&Backend), "198.51.100.10"), (Backend::heal as fn(&Backend), "192.0.2.10")]
        {
            act(&a);
            // What an act takes that is answered once it is durable and published.
            let begun = std::time::Instant::now();
            box_.act("PUT", "/switches/idle", r#"{"value": true}"#);
            acts_ms.push(i64::try_from(begun.elapsed().as_millis()).expect("milliseconds"));
            // When the last question was asked that got the former answer.
            let mut former = jiff::Timestamp::now();
            within(SECOND * 20, "the answer changes", || {
                let asked = jiff::Timestamp::now();
                let is_changed = box_.resolve("www.example.test") == [answer];
                former = if is_changed { former } else { asked };
                is_changed
            });
            // The moment at which the engine was told the result.
            let decided = box_.get("/scenarios/a-out")["last_transition"]["evaluated_at"].to_string();
            let decided: jiff::Timestamp = decided.trim_matches('"').parse().expect("a time");
            delays_ms.push(former.as_millisecond() - decided.as_millisecond());
        }
    }
    delays_ms.sort_unstable();
    acts_ms.sort_unstable();
    // The median, since a busy machine may keep a single one waiting, and one that is busy throughout keeps all of them
    // waiting; alone on two cores all are below 10 ms.
    let most = 50_i64.max(2 * acts_ms[acts_ms.len() / 2]);
    assert!(delays_ms[delays_ms.len() / 2] <= most, "milliseconds from result to answer: {delays_ms:?}, {acts_ms:?}");
}

#[test]
fn an_act_answers_after_dns_has_changed() {
    let toml = STEERED
        .replace("ADDRESS", "127.0.0.1:1")
        .replace("site-a!{fails:1}", "sw:go")
        .replace("[scenario.a-out.activate]", "[switch.go]\n[scenario.a-out.activate]");
    let box_ = Box::start(&toml);
    assert_eq!(box_.resolve("www.example.test"), ["192.0.2.10"]);
    box_.act("PUT", "/switches/go", r#"{"value": true}"#);
    // An act answers after it is published, so no waiting is needed.
    assert_eq!(box_.resolve("www.example.test"), ["198.51.100.10"]);
}

#[test]
fn auto_in_manual_out_works_twice_and_a_restart_while_active_answers_the_dr_set_first() {
    let a = Backend::start("a");
    let toml = STEERED
        .replace("ADDRESS", &a.address.to_string())
        .replace("[scenario.a-out.deactivate]", "[scenario.a-out.deactivate]\nmode = \"off\"");
    let mut box_ = Box::start(&toml);
    for outage in 1..=2 {
        a.fail();
        within(SECOND * 2, "over", || box_.resolve("www.example.test") == ["198.51.100.10"]);
        a.heal();
        box_.kill();
        box_.start_again();
        assert_eq!(box_.resolve("www.example.test"), ["198.51.100.10"], "outage {outage}: the first answer");
        within(SECOND * 5, "ready to return", || box_.get("/scenarios/a-out")["ready_to_return"] == true);
        assert_eq!(box_.get("/scenarios/a-out")["state"], "active");
        box_.act("PUT", "/scenarios/a-out/modes", r#"{"deactivate": "on", "reason": "reviewed"}"#);
        assert_eq!(box_.resolve("www.example.test"), ["192.0.2.10"]);
    }
    assert_eq!(box_.get("/scenarios/a-out")["seq"], 4);
}

#[test]
fn both_directions_on_is_stuck_and_a_call_that_would_stick_says_what_was_meant() {
    let box_ = Box::start(&STEERED.replace("ADDRESS", "127.0.0.1:1").replace("site-a!{fails:1}", "site-a"));
    box_.act("PUT", "/scenarios/a-out/modes", r#"{"activate": "on", "reason": "drill"}"#);
    assert_eq!(box_.get("/scenarios/a-out")["state"], "active");
    let (status, problem) = box_.send("PUT", "/scenarios/a-out/modes", r#"{"deactivate": "on"}"#);
    assert_eq!(status, 409, "{problem}");
    assert!(problem.to_string().contains("would_be_stuck"), "{problem}");
    let stuck = box_.act("PUT", "/scenarios/a-out/modes", r#"{"activate": "on", "deactivate": "on"}"#);
    assert!(!stuck["warnings"].is_null(), "{stuck}");
    assert_eq!(box_.get("/scenarios/a-out")["stuck"], true);
    box_.act("PUT", "/scenarios/a-out/modes", r#"{"activate": "auto", "deactivate": "on"}"#);
    assert_eq!(box_.get("/scenarios/a-out")["state"], "inactive");
}

#[test]
fn a_diff_says_which_transitions_and_answers_a_configuration_would_bring_and_changes_nothing() {
    let toml = STEERED
        .replace("ADDRESS", "127.0.0.1:1")
        .replace("site-a!{fails:1}", "sw:go")
        .replace("[scenario.a-out.activate]", "[switch.go]\n[scenario.a-out.activate]");
    let box_ = Box::start(&toml);
    let changed =
        toml.replace("[switch.go]", "[switch.other]\ninitial = true\n[switch.go]").replace("sw:go", "sw:other");
    let fields = [("Content-Type", "application/toml")];
    let diff = http(box_.admin, "POST", "/api/v1/config/diff", &changed, &fields).expect("an answer");
    assert_eq!(diff.status, 200, "{}", diff.body);
    assert!(diff.body.contains("scenario a-out: would activate (sw:other)"), "{}", diff.body);
    assert!(diff.body.contains("answer www.example.test. A: 192.0.2.10 → 198.51.100.10"), "{}", diff.body);
    assert_eq!(box_.resolve("www.example.test"), ["192.0.2.10"]);
    let applied = http(box_.admin, "PUT", "/api/v1/config", &changed, &fields).expect("an answer");
    assert_eq!(applied.status, 200, "{}", applied.body);
    assert_eq!(box_.resolve("www.example.test"), ["198.51.100.10"]);
    assert_eq!(box_.get("/scenarios/a-out")["last_transition"]["cause"], "config");
}
