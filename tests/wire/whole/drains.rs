//! Taking a service out: every form of it, on real connections, and over a `kill -9` in the middle.

use std::time::Duration;

use super::box_under_test::{Backend, Box, http, within};

const SECOND: Duration = Duration::from_secs(1);

fn config(a: &Backend, b: &Backend, more: &str) -> String {
    format!(
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
        [service.a]
        address = "{}"
        [service.b]
        address = "{}"
        [vserver.web]
        type = "HTTP"
        address = "127.0.0.1:0"
        services = ["a", "b"]
        lb_method = "ROUNDROBIN"
        persistence = {{ type = "COOKIEINSERT", timeout = "2m" }}
        {more}
        "#,
        a.address, b.address
    )
}

struct Stage {
    a: Backend,
    _b: Backend,
    appliance: Box,
}

fn stage() -> Stage {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let appliance = Box::start(&config(&a, &b, ""));
    for service in ["a", "b"] {
        appliance.expect_service(service, "UP", SECOND * 5);
    }
    Stage { a, _b: b, appliance }
}

#[test]
fn a_delay_drains_an_idle_service_for_exactly_that_long_also_over_a_kill() {
    for kill in [false, true] {
        let Stage { a: _a, _b, appliance: mut box_ } = stage();
        box_.act("POST", "/services/a/disable", r#"{"delay": "8s", "reason": "test"}"#);
        assert_eq!(box_.service_state("a"), "TROFS");
        assert_eq!(box_.get("/services/a")["drain"]["kind"], "timed");
        if kill {
            box_.kill();
            box_.start_again();
            assert_eq!(box_.service_state("a"), "TROFS", "no probe result is needed to drain");
        }
        box_.expect_service("a", "OFS", SECOND * 20);
        // As the appliance has it: that we hear of it late is of this machine.
        let states = box_.get("/journal?kind=state")["items"].clone();
        let at = |to: &str| -> jiff::Timestamp {
            let mut all = states.as_array().expect("a list").iter();
            let entry = all.find(|entry| entry["object"] == "service a" && entry["body"]["to"] == *to);
            let entry = entry.unwrap_or_else(|| panic!("{to}: {states}"));
            entry["at"].as_str().and_then(|at| at.parse().ok()).expect("a time")
        };
        let took = at("OFS").as_millisecond() - at("TROFS").as_millisecond();
        assert!((7_990..8_010).contains(&took), "out of service after {took} ms: {states}");
        box_.act("POST", "/services/a/enable", "");
        box_.expect_service("a", "UP", SECOND * 3);
    }
}

#[test]
fn a_probe_that_fails_while_draining_shows_trofs_down_and_a_service_that_is_down_drains_as_that() {
    let Stage { a, _b, appliance: box_ } = stage();
    box_.act("POST", "/services/a/disable", r#"{"delay": "1h"}"#);
    a.fail();
    box_.expect_service("a", "TROFS_DOWN", SECOND * 3);
    a.heal();
    box_.expect_service("a", "TROFS", SECOND * 3);
    box_.act("POST", "/services/a/disable", r#"{"delay": 1}"#);
    box_.expect_service("a", "OFS", SECOND * 5);
    a.fail();
    box_.act("POST", "/services/a/enable", "");
    box_.expect_service("a", "DOWN", SECOND * 3);
    box_.act("POST", "/services/a/disable", r#"{"delay": 1}"#);
    assert_eq!(box_.service_state("a"), "TROFS_DOWN");
    box_.expect_service("a", "OFS", SECOND * 3);
}

#[test]
fn a_graceful_drain_waits_for_the_request_that_runs_and_an_idle_one_is_out_at_once() {
    let Stage { a, _b, appliance: box_ } = stage();
    let vip = box_.vip("web");
    // Whose cookie names a, so that the slow request goes there.
    let cookie = cookie_of(&box_, "a");
    let slow = std::thread::spawn({
        let cookie = cookie.clone();
        move || http(vip, "GET", "/slow?ms=5000", "", &[("Cookie", &cookie)])
    });
    within(SECOND * 2, "the slow request is under way", || box_.get("/services/a")["active"] == 1);
    let start = std::time::Instant::now();
    box_.act("POST", "/services/a/disable", r#"{"graceful": true}"#);
    assert_eq!(box_.service_state("a"), "TROFS");
    let answer = slow.join().expect("the client lives").expect("a request that runs is not cut");
    assert_eq!((answer.status, answer.body.trim()), (200, "a after 5000 ms"));
    box_.expect_service("a", "OFS", SECOND * 3);
    assert!(start.elapsed() > Duration::from_millis(500));
    box_.act("POST", "/services/b/disable", r#"{"graceful": "YES"}"#);
    assert_eq!(box_.service_state("b"), "OFS");
    drop(a);
}

#[test]
fn a_graceful_drain_without_a_deadline_is_over_after_a_kill() {
    let Stage { a: _a, _b, appliance: mut box_ } = stage();
    let vip = box_.vip("web");
    let cookie = cookie_of(&box_, "a");
    let slow = std::thread::spawn(move || http(vip, "GET", "/slow?ms=5000", "", &[("Cookie", &cookie)]));
    within(SECOND * 2, "the slow request is under way", || box_.get("/services/a")["active"] == 1);
    box_.act("POST", "/services/a/disable", r#"{"graceful": true}"#);
    assert_eq!(box_.service_state("a"), "TROFS");
    box_.kill();
    box_.start_again();
    assert_eq!(box_.service_state("a"), "OFS", "no transaction is left");
    assert!(slow.join().expect("the client lives").is_err());
}

#[test]
fn persistent_clients_are_honoured_while_draining_and_moved_once_it_is_out() {
    let Stage { a: _a, _b, appliance: box_ } = stage();
    let vip = box_.vip("web");
    let cookie = cookie_of(&box_, "a");
    box_.act("POST", "/services/a/disable", r#"{"delay": "1s"}"#);
    for _ in 0..4 {
        let kept = http(vip, "GET", "/", "", &[("Cookie", &cookie)]).expect("an answer");
        assert_eq!(kept.body.trim(), "a", "a persistent client stays");
        let new = http(vip, "GET", "/", "", &[]).expect("an answer");
        assert_eq!(new.body.trim(), "b", "a new client does not come");
    }
    box_.expect_service("a", "OFS", SECOND * 3);
    let moved = http(vip, "GET", "/", "", &[("Cookie", &cookie)]).expect("an answer");
    assert_eq!(moved.body.trim(), "b");
    assert!(moved.head.to_ascii_lowercase().contains("set-cookie:"), "the cookie is rewritten: {}", moved.head);
}

#[test]
fn taking_the_last_up_member_is_answered_with_a_warning_and_the_backup_is_not_used_while_it_drains() {
    let (a, b, spare) = (Backend::start("a"), Backend::start("b"), Backend::start("spare"));
    let more = format!(
        "backup = \"spare\"\n[service.spare]\naddress = \"{}\"\n[vserver.spare]\ntype = \"HTTP\"\nservices = [\"spare\"]",
        spare.address
    );
    let box_ = Box::start(&config(&a, &b, &more));
    for service in ["a", "b", "spare"] {
        box_.expect_service(service, "UP", SECOND * 5);
    }
    let vip = box_.vip("web");
    assert!(box_.act("POST", "/services/a/disable", r#"{"delay": "20s"}"#)["warnings"].is_null());
    let warned = box_.act("POST", "/services/b/disable", r#"{"delay": "20s"}"#);
    let warnings = warned["warnings"].to_string();
    assert!(warnings.contains("new clients will be refused"), "{warnings}");
    let vserver = box_.get("/vservers/web");
    assert_eq!((vserver["state"].as_str(), vserver["effective_state"].as_str()), (Some("UP"), Some("UP")));
    assert_eq!(http(vip, "GET", "/", "", &[]).expect("an answer").status, 503);
    // Out of service, the backup is used.
    box_.act("POST", "/services/a/disable", "");
    box_.act("POST", "/services/b/disable", "");
    let answer = http(vip, "GET", "/", "", &[]).expect("an answer");
    assert_eq!((answer.status, answer.body.trim()), (200, "spare"));
    let vserver = box_.get("/vservers/web");
    assert_eq!((vserver["state"].as_str(), vserver["effective_state"].as_str()), (Some("DOWN"), Some("UP")));
    assert_eq!(vserver["active_backup"], "spare");
    box_.act("POST", "/services/a/enable", "");
    box_.expect_service("a", "UP", SECOND * 3);
    assert_eq!(http(vip, "GET", "/", "", &[]).expect("an answer").body.trim(), "a");
}

#[test]
fn a_health_threshold_of_sixty_sends_new_connections_to_the_backup_when_one_of_two_draining_ones_fails() {
    let (a, b, spare) = (Backend::start("a"), Backend::start("b"), Backend::start("spare"));
    let more = format!(
        "health_threshold = 60\nbackup = \"spare\"\n[service.spare]\naddress = \"{}\"\n[vserver.spare]\ntype = \"HTTP\"\nservices = [\"spare\"]",
        spare.address
    );
    let box_ = Box::start(&config(&a, &b, &more));
    for service in ["a", "b", "spare"] {
        box_.expect_service(service, "UP", SECOND * 5);
    }
    let vip = box_.vip("web");
    for service in ["a", "b"] {
        box_.act("POST", &format!("/services/{service}/disable"), r#"{"delay": "30s"}"#);
    }
    assert_eq!(box_.get("/vservers/web")["state"], "UP");
    assert_eq!(http(vip, "GET", "/", "", &[]).expect("an answer").status, 503);
    a.fail();
    box_.expect_service("a", "TROFS_DOWN", SECOND * 3);
    assert_eq!(box_.get("/vservers/web")["state"], "DOWN");
    assert_eq!(http(vip, "GET", "/", "", &[]).expect("an answer").body.trim(), "spare");
}

/// A cookie under which the appliance sends a client to `service`.
fn cookie_of(box_: &Box, service: &str) -> String {
    let vip = box_.vip("web");
    for _ in 0..10 {
        let answer = http(vip, "GET", "/", "", &[]).expect("an answer");
        if answer.body.trim() == service {
            let field = answer.head.lines().find(|l| l.to_ascii_lowercase().starts_with("set-cookie:"));
            let value = field.and_then(|f| f.split_once(':')).expect("a cookie").1;
            return value.split(';').next().expect("a pair").trim().to_owned();
        }
    }
    panic!("round robin never chose {service}");
}

#[test]
fn waiting_in_the_shell_says_who_is_left_and_which_cookies_never_end() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let endless = config(&a, &b, "").replace("timeout = \"2m\"", "timeout = \"0s\"");
    let box_ = Box::start(&endless);
    for service in ["a", "b"] {
        box_.expect_service(service, "UP", SECOND * 5);
    }
    let (vip, cookie) = (box_.vip("web"), cookie_of(&box_, "a"));
    let slow = || {
        let cookie = cookie.clone();
        std::thread::spawn(move || http(vip, "GET", "/slow?ms=8000", "", &[("Cookie", &cookie)]))
    };
    let clients = [slow(), slow()];
    within(SECOND * 2, "both are under way", || box_.get("/services/a")["active"] == 2);
    let state = box_.path("state").display().to_string();
    let disable = |wait: &str| {
        let line = format!("disable service a -graceFul YES -wait {wait}");
        box_.run(&["shell", "--state", &state, "-c", &line])
    };
    let (code, told) = disable("200ms");
    assert_eq!(code, 0, "{told}");
    let left = "still draining: a: TROFS with 2 open, of 1 client: 127.0.0.1 (2); \
                session cookies of vserver web never end by themselves";
    assert!(told.contains(left), "{told}");
    let (_, told) = disable("20s");
    assert!(!told.contains("still draining"), "it is out: {told}");
    assert_eq!(box_.service_state("a"), "OFS");
    for client in clients {
        assert_eq!(client.join().expect("it lives").expect("an answer").status, 200);
    }
}
