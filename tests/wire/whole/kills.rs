//! `kill -9` in a loop under load: nothing that was committed or answered is lost, and the journal agrees with itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::box_under_test::{Backend, Box, http};

const KILLS: u32 = 20;

#[test]
fn twenty_kills_under_load_lose_no_commit_and_no_act_and_the_journal_replays() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let mut box_ = Box::start(&format!(
        r#"
        [monitor.ok]
        type = "HTTP"
        request = "GET /health"
        interval = "500ms"
        response_timeout = "450ms"
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
        [switch.go]
        [scenario.s]
        oscillation = {{ commits = 0, within = "10m" }}
        [scenario.s.activate]
        when = [["sw:go"]]
        [scenario.s.deactivate]
        when = [["sw:go!"]]
        [scenario.t]
        oscillation = {{ commits = 0, within = "10m" }}
        [scenario.t.activate]
        when = [["sc:s", "svc:a"]]
        [scenario.t.deactivate]
        when = [["sc:s!"], ["svc:a.fault"]]
        "#,
        a.address, b.address
    ));
    let mut acknowledged_seq = 0;
    let mut value = false;
    for kill in 0..KILLS {
        let stop = Arc::new(AtomicBool::new(false));
        let vip = box_.vip("web");
        let load = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                while !stop.load(Ordering::Relaxed) {
                    let _ = http(vip, "GET", "/", "", &[]);
                }
            }
        });
        // Acts that were answered must be there after the kill; the last one may be cut off in the middle.
        for _ in 0..=(kill % 4) {
            value = !value;
            box_.act("PUT", "/switches/go", &format!(r#"{{"value": {value}}}"#));
            acknowledged_seq += 1;
        }
        let delay = if kill % 2 == 0 { "1h" } else { "2h" };
        box_.act("POST", "/services/b/disable", &format!(r#"{{"delay": "{delay}", "reason": "kill {kill}"}}"#));
        std::thread::sleep(Duration::from_millis(u64::from(kill * 7 % 50)));
        box_.kill();
        stop.store(true, Ordering::Relaxed);
        load.join().expect("the client lives");
        box_.start_again();
        let scenario = box_.get("/scenarios/s");
        assert_eq!(scenario["seq"].as_u64(), Some(acknowledged_seq), "kill {kill}");
        assert_eq!(scenario["state"], if value { "active" } else { "inactive" }, "kill {kill}");
        assert_eq!(box_.get("/switches/go")["value"], value, "kill {kill}");
        let drain = box_.get("/services/b")["drain"].to_string();
        assert!(drain.contains("timed"), "kill {kill}: {drain}");
        let overrides = box_.get("/status")["overrides"].to_string();
        assert!(overrides.contains(&format!("kill {kill}")), "kill {kill}: {overrides}");
    }
    let transitions = box_.get("/scenarios/s/transitions");
    let seqs: Vec<u64> =
        transitions["items"].as_array().expect("a list").iter().map(|t| t["seq"].as_u64().expect("a number")).collect();
    let expected: Vec<u64> = (1..=acknowledged_seq).collect();
    assert_eq!(seqs, expected, "one transition for each commit, in order, none twice");
    // Beside the running appliance, and again when it has stopped.
    let state = box_.path("state").display().to_string();
    let (status, text) = box_.run(&["replay", &state]);
    assert_eq!(status, 0, "{text}");
    assert_eq!(box_.stop(), 0);
    let (status, text) = box_.run(&["replay", &state]);
    assert_eq!(status, 0, "{text}");
}
