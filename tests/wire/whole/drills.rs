//! Drills of a running appliance: what resolvers and receivers see before, during and after, and over `kill -9`.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::box_under_test::{Backend, Box, http, within};
use super::outbox::{Receiver, Told};

/// Long enough for anything, on a busy machine.
const PATIENT: Duration = Duration::from_secs(60);

fn config(site: &Backend, page: &Receiver, channel: &Receiver) -> String {
    format!(
        r#"
        [appliance]
        name = "box"
        [check.site]
        type = "HTTP"
        url = "http://{}/health"
        interval = "2s"
        timeout = "1900ms"
        rise = 1
        fall = 1
        [switch.hurt]
        [trigger.page]
        type = "HTTP"
        uri = "http://{}/page"
        [trigger.channel]
        type = "HTTP"
        uri = "http://{}/channel"
        [scenario.dr]
        [scenario.dr.activate]
        when = [["site!"]]
        triggers = ["page"]
        [scenario.dr.deactivate]
        mode = "off"
        when = [["site"]]
        triggers = ["page"]
        [drills.stop_on]
        "customers are hurt" = ["sw:hurt"]
        [dns]
        listen = ["127.0.0.1:0"]
        [zone."example.test"]
        soa = {{ mname = "ns1.example.test.", rname = "hostmaster.example.test." }}
        static = "@ NS ns1.example.test.\n"
        [zone."example.test".rrset."www A"]
        records = [{{ data = "192.0.2.10" }}, {{ data = "198.51.100.10", drCond = "dr" }}]
        "#,
        site.address, page.address, channel.address
    )
}

struct Stage {
    box_: Box,
    state: String,
    site: Backend,
    page: Receiver,
    channel: Receiver,
}

impl Stage {
    fn set() -> Stage {
        let (site, page, channel) = (Backend::start("a"), Receiver::start(false), Receiver::start(false));
        let box_ = Box::start(&config(&site, &page, &channel));
        within(PATIENT, "the site is known", || box_.get("/checks/site")["state"] == "up");
        let state = box_.path("state").display().to_string();
        Stage { box_, state, site, page, channel }
    }

    fn resolve(&self) -> String {
        self.box_.resolve("www.example.test").join(" ")
    }

    /// `bascule drill …`, which must succeed.
    fn drill(&self, arguments: &[&str]) -> String {
        let (status, said) = self.run(arguments);
        assert_eq!(status, 0, "{arguments:?}: {said}");
        said
    }

    fn run(&self, arguments: &[&str]) -> (i32, String) {
        self.box_.run(&[&["drill"], arguments, &["--state", &self.state]].concat())
    }

    fn over(&self, id: u64) -> Value {
        within(PATIENT, "the drill is over", || self.box_.get(&format!("/drills/{id}"))["state"] == "over");
        self.box_.get(&format!("/drills/{id}"))
    }
}

fn bodies(told: &[Told]) -> Vec<Value> {
    told.iter().map(|told| serde_json::from_str(&told.body).expect("JSON")).collect()
}

#[test]
fn a_drill_moves_the_answers_for_its_time_tells_its_own_list_and_leaves_a_report() {
    let stage = Stage::set();
    assert_eq!(stage.resolve(), "192.0.2.10", "before");
    let begun = Instant::now();
    let said = stage.drill(&[
        "start",
        "dr",
        "--for",
        "10s",
        "--reason",
        "CHG1234",
        "--notify",
        "channel",
        "--stop-on",
        "customers are hurt",
    ]);
    assert!(said.contains("Drill 1 of scenario dr: RUNNING") && said.contains("CHG1234"), "{said}");
    assert_eq!(stage.resolve(), "198.51.100.10", "during, from the answer to the call on");
    let status = &stage.box_.get("/status")["drill"];
    assert_eq!((status["scenario"].as_str(), status["state"].as_str()), (Some("dr"), Some("running")), "{status}");
    let scenario = stage.box_.get("/scenarios/dr");
    assert_eq!((scenario["drill"].as_u64(), scenario["shown"].as_str()), (Some(1), Some("pinned")));
    let explained = stage.box_.get("/explain/dns?name=www.example.test&type=A").to_string();
    assert!(explained.contains("dr stands there by drill 1, planned until"), "{explained}");
    let metrics = http(stage.box_.admin, "GET", "/metrics", "", &[]).expect("metrics").body;
    assert!(metrics.contains("bascule_drill_running{scenario=\"dr\"} 1"), "{metrics}");
    let (status, said) = stage.run(&["start", "dr", "--for", "3s", "--reason", "another"]);
    assert!(status != 0 && said.contains("one at a time"), "{said}");

    within(PATIENT, "it is back", || stage.resolve() == "192.0.2.10");
    assert!(begun.elapsed() >= Duration::from_secs(10), "not before its time: {:?}", begun.elapsed());
    within(PATIENT, "both commits are told", || stage.channel.accepted().len() == 2);
    let told = bodies(&stage.channel.accepted());
    let seen: Vec<_> =
        told.iter().map(|b| (b["type"].as_str(), b["drill"].as_bool(), b["drill_id"].as_u64())).collect();
    let expected = ["scenario.activated", "scenario.deactivated"].map(|kind| (Some(kind), Some(true), Some(1)));
    assert_eq!(seen, expected);
    assert_eq!(told[0]["reason"], "CHG1234");
    assert!(stage.page.accepted().is_empty(), "nobody was paged");

    let report = stage.over(1);
    assert_eq!((report["outcome"].as_str(), report["planned"].as_str()), (Some("completed"), Some("10s")), "{report}");
    within(PATIENT, "the report knows how they took it", || {
        let commits = stage.box_.get("/drills/1")["commits"].clone();
        let commits = commits.as_array().cloned().unwrap_or_default();
        commits.len() == 2 && commits.iter().all(|c| c["triggers"][0]["status"] == "delivered")
    });
    assert!(report["modes_before"]["deactivate"].is_null(), "{report}");
    let scenario = stage.box_.get("/scenarios/dr");
    assert_eq!(scenario["modes"], serde_json::json!({ "activate": "auto", "deactivate": "off" }));
    assert_eq!(scenario["seq"], 2);
    let list = stage.drill(&["list"]);
    assert!(list.lines().count() == 2 && list.contains("completed") && list.contains("CHG1234"), "{list}");
    let show = stage.drill(&["show"]);
    assert!(show.contains("Outcome: completed") && show.contains("Trigger channel: delivered"), "{show}");

    // And a real failover pages as ever.
    stage.site.fail();
    within(PATIENT, "it fails over", || stage.resolve() == "198.51.100.10");
    within(PATIENT, "it is told", || stage.page.accepted().len() == 1);
    assert_eq!(bodies(&stage.page.accepted())[0]["drill"], false);
    let (status, text) = stage.box_.run(&["replay", &stage.state]);
    assert_eq!(status, 0, "{text}");
}

#[test]
fn a_killed_appliance_goes_on_with_a_drill_and_ends_one_whose_time_is_over() {
    let mut stage = Stage::set();
    stage.drill(&["start", "dr", "--for", "1h", "--reason", "long"]);
    for _ in 0..2 {
        stage.box_.kill();
        stage.box_.start_again();
        assert_eq!(stage.resolve(), "198.51.100.10", "the first answer after a kill");
        assert_eq!(stage.box_.get("/drills/1")["state"], "running");
    }
    // A condition ends it early: the same as before the kills.
    stage.drill(&["stop", "dr", "--reason", "seen enough"]);
    assert_eq!(stage.resolve(), "192.0.2.10");
    let report = stage.over(1);
    assert_eq!((report["outcome"].as_str(), report["ended_reason"].as_str()), (Some("stopped"), Some("seen enough")));

    let begun = Instant::now();
    stage.drill(&["start", "dr", "--for", "2s", "--reason", "short"]);
    stage.box_.kill();
    std::thread::sleep(Duration::from_secs(2).saturating_sub(begun.elapsed()));
    stage.box_.start_again();
    let report = stage.over(2);
    assert_eq!(report["outcome"], "completed", "{report}");
    within(PATIENT, "it is back", || stage.resolve() == "192.0.2.10");
    let scenario = stage.box_.get("/scenarios/dr");
    assert_eq!(scenario["modes"], serde_json::json!({ "activate": "auto", "deactivate": "off" }));
    let (status, text) = stage.box_.run(&["replay", &stage.state]);
    assert_eq!(status, 0, "{text}");
}

#[test]
fn a_condition_ends_a_drill_early_and_a_real_fault_makes_a_failover_of_it() {
    let stage = Stage::set();
    let body = r#"{"scenario": "dr", "for": "1h", "reason": "CHG1", "stop_on": ["customers are hurt"]}"#;
    let dry = stage.box_.act("POST", "/drills?dry_run=true", body);
    let changes = dry["changes"].to_string();
    for line in [
        "a drill of scenario dr, which would return at",
        "told: nobody; not told: page",
        "scenario dr: would activate",
        "answer www.example.test. A: 192.0.2.10 → 198.51.100.10",
    ] {
        assert!(changes.contains(line), "{changes}");
    }
    assert_eq!(stage.resolve(), "192.0.2.10", "a dry run does nothing");
    stage.box_.act("POST", "/drills", body);
    assert_eq!(stage.resolve(), "198.51.100.10");
    stage.box_.act("PUT", "/switches/hurt", r#"{"value": true}"#);
    assert_eq!(stage.resolve(), "192.0.2.10", "with the answer to the call");
    let report = stage.over(1);
    assert_eq!(
        (report["outcome"].as_str(), report["outcome_detail"].as_str()),
        (Some("stop_on"), Some("customers are hurt"))
    );
    let (status, problem) = stage.box_.send("POST", "/drills", body);
    assert_eq!(status, 409, "{problem}");
    let (status, problem) = stage.box_.send("POST", "/drills", &body.replace("\"dr\"", "\"rd\""));
    assert_eq!((status, problem["did_you_mean"].as_str()), (404, Some("dr")), "{problem}");

    let body = r#"{"scenario": "dr", "for": "1h", "reason": "CHG2"}"#;
    stage.box_.act("POST", "/drills", body);
    let mut wrong = Vec::new();
    stage.site.fail();
    within(PATIENT, "the drill is a failover now", || {
        wrong.extend(Some(stage.resolve()).filter(|answer| answer != "198.51.100.10"));
        stage.box_.get("/drills/2")["state"] == "over"
    });
    assert!(wrong.is_empty(), "nobody was sent back: {wrong:?}");
    assert_eq!(stage.box_.get("/drills/2")["outcome"], "real_fault");
    within(PATIENT, "the page goes out", || stage.page.accepted().len() == 1);
    let page = &bodies(&stage.page.accepted())[0];
    assert_eq!((page["type"].as_str(), page["drill"].as_bool()), (Some("scenario.activated"), Some(false)), "{page}");
    assert_eq!(stage.resolve(), "198.51.100.10");
    let (status, text) = stage.box_.run(&["replay", &stage.state]);
    assert_eq!(status, 0, "{text}");
}
