//! What operators of other products miss, with real processes and real answers: each test is named after what it
//! promises. The page `complaints` of the manual lists them.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::box_under_test::{Box, free_port, http, within};

/// Long enough for anything, on a busy machine.
const PATIENT: Duration = Duration::from_secs(30);

/// Takes connections, and counts them.
fn counting() -> (SocketAddr, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let count = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
            drop(stream);
        }
    });
    (address, count)
}

fn check(name: &str, target: SocketAddr) -> String {
    format!(
        "[check.{name}]\ntype = \"TCP\"\ntarget = \"{target}\"\ninterval = \"50ms\"\ntimeout = \"40ms\"\n\
         rise = 1\nfall = 1\n"
    )
}

const ZONE: &str = "[dns]\nlisten = [\"127.0.0.1:0\"]\n[zone.\"example.test\"]\nttl = \"30s\"\n\
                    soa = { mname = \"ns\", rname = \"hostmaster\" }\nstatic = \"@ NS ns\\nns A 192.0.2.53\"\n";

fn apply(appliance: &Box, text: &str) {
    let fields = [("Content-Type", "application/toml")];
    let answer = http(appliance.admin, "PUT", "/api/v1/config", text, &fields).expect("the API answers");
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[test]
fn a_check_that_nothing_refers_to_any_more_and_that_was_deleted_is_not_probed_again() {
    let ((kept, kept_count), (gone, gone_count)) = (counting(), counting());
    let without = format!("[admin]\nlisten = \"127.0.0.1:0\"\n{}", check("kept", kept));
    let appliance = Box::start(&format!("{without}{}", check("gone", gone)));
    within(PATIENT, "both are probed", || {
        kept_count.load(Ordering::SeqCst) > 2 && gone_count.load(Ordering::SeqCst) > 2
    });
    let listen = format!("listen = \"{}\"", appliance.admin);
    apply(&appliance, &without.replace("listen = \"127.0.0.1:0\"", &listen));
    // One may have been under way. The other check is the clock.
    let tick = kept_count.load(Ordering::SeqCst);
    within(PATIENT, "an interval passes", || kept_count.load(Ordering::SeqCst) > tick + 2);
    let (tick, before) = (kept_count.load(Ordering::SeqCst), gone_count.load(Ordering::SeqCst));
    within(PATIENT, "ten intervals pass", || kept_count.load(Ordering::SeqCst) > tick + 10);
    assert_eq!(gone_count.load(Ordering::SeqCst), before);
}

#[test]
fn the_first_answer_after_a_start_is_never_the_dr_set_unless_that_was_saved() {
    let (target, _) = counting();
    let dead = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let world = |target| {
        format!(
            "[admin]\nlisten = \"127.0.0.1:0\"\n{}{ZONE}[scenario.dr.activate]\nwhen = [[\"api!{{for:1h}}\", \"sw:never\"], \
             [\"sw:out\"]]\n[scenario.dr.deactivate]\nmode = \"off\"\n[switch.never]\n[switch.out]\n\
             [zone.\"example.test\".rrset.\"www A\"]\nrecords = [\"192.0.2.1\", {{ data = \"198.51.100.1\", drCond = \"dr\" }}]\n",
            check("api", target)
        )
    };
    // Nothing saved, and the check fails from the first sample on.
    let appliance = Box::start(&world(dead));
    assert_eq!(appliance.resolve("www.example.test"), ["192.0.2.1"]);
    drop(appliance);
    // Active when it was killed: the first answer afterwards is the DR set, although the primary is healthy.
    let mut appliance = Box::start(&world(target));
    assert_eq!(appliance.resolve("www.example.test"), ["192.0.2.1"]);
    appliance.act("PUT", "/switches/out", r#"{"value":true}"#);
    assert_eq!(appliance.resolve("www.example.test"), ["198.51.100.1"]);
    appliance.kill();
    appliance.start_again();
    assert_eq!(appliance.resolve("www.example.test"), ["198.51.100.1"]);
}

#[test]
fn a_dead_address_that_is_answered_on_purpose_says_so_in_metric_log_and_explanation() {
    let dead = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let appliance = Box::start(&format!(
        "[admin]\nlisten = \"127.0.0.1:0\"\n{}{ZONE}[zone.\"example.test\".rrset.\"www A\"]\n\
         records = [{{ data = \"192.0.2.1\", check = \"api\" }}]\n",
        check("api", dead)
    ));
    within(PATIENT, "the check is down", || appliance.get("/checks/api")["state"] == "down");
    assert_eq!(appliance.resolve("www.example.test"), ["192.0.2.1"]);
    let metrics = http(appliance.admin, "GET", "/metrics", "", &[]).expect("metrics").body;
    let served = metrics.lines().find(|line| {
        line.starts_with("bascule_rrset_answers_total") && line.contains("serve_all") && line.contains("www A")
    });
    assert!(served.is_some_and(|line| line.ends_with(" 1")), "{metrics}");
    within(PATIENT, "the log says it", || appliance.log().contains("on_empty decides"));
    let told = appliance.get("/explain/dns?name=www.example.test&type=A");
    let steps: Vec<&str> = told["steps"].as_array().unwrap().iter().filter_map(|s| s["because"].as_str()).collect();
    assert!(steps.iter().any(|because| because.contains("on_empty = serve_all")), "{steps:?}");
    assert!(steps.iter().any(|because| because.contains("check: api is false")), "{steps:?}");
}

#[test]
fn an_override_of_something_that_is_not_there_is_refused_and_one_that_is_shows_in_the_explanation() {
    let (target, _) = counting();
    let appliance = Box::start(&format!(
        "[admin]\nlisten = \"127.0.0.1:0\"\n{}{ZONE}[scenario.out.activate]\nmode = \"off\"\nwhen = [[\"api!\"]]\n\
         [zone.\"example.test\".rrset.\"www A\"]\nrecords = [{{ data = \"192.0.2.1\", cond = \"out\" }}, \"192.0.2.2\"]\n",
        check("api", target)
    ));
    for (method, path, body) in [
        ("PUT", "/scenarios/aut/modes", r#"{"activate":"on"}"#),
        ("PUT", "/checks/apa/force", r#"{"state":"down"}"#),
        ("PUT", "/switches/nothing", r#"{"value":true}"#),
        ("POST", "/services/web9/disable", "{}"),
    ] {
        let (status, problem) = appliance.send(method, path, body);
        assert_eq!(status, 404, "{path}: {problem}");
    }
    appliance.act("PUT", "/scenarios/out/modes", r#"{"activate":"on","reason":"test"}"#);
    assert_eq!(appliance.resolve("www.example.test"), ["192.0.2.2"]);
    let told = appliance.get("/explain/dns?name=www.example.test&type=A");
    let step = told["steps"].as_array().unwrap().iter().find(|step| step["name"] == "filter").expect("the step");
    assert_eq!(step["scenario"], "out");
    let overrides = appliance.get("/status");
    assert_eq!(overrides["overrides"][0]["object"], "out", "{overrides}");
}

#[test]
fn two_appliances_with_one_configuration_and_the_same_inputs_answer_alike_and_as_their_own_interfaces_say() {
    let (target, _) = counting();
    let text = format!(
        "[admin]\nlisten = \"127.0.0.1:0\"\n{}{}{ZONE}[scenario.dr.activate]\nwhen = [[\"a!\", \"b!\"]]\n\
         [scenario.dr.deactivate]\nwhen = [[\"a\", \"b\"]]\n\
         [zone.\"example.test\".rrset.\"www A\"]\nrecords = [{{ data = \"192.0.2.1\", check = \"a\" }}, \
         {{ data = \"192.0.2.2\", check = \"b\" }}, {{ data = \"198.51.100.1\", drCond = \"dr\" }}]\n",
        check("a", target),
        check("b", target)
    );
    let boxes = [Box::start(&text), Box::start(&text)];
    let mut dice = 42_u64;
    for round in 0..40 {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (name, up) = (if dice >> 40 & 1 == 0 { "a" } else { "b" }, dice >> 41 & 1 == 0);
        let body = format!(r#"{{"state":"{}"}}"#, if up { "up" } else { "down" });
        let mut answers = Vec::new();
        for appliance in &boxes {
            appliance.act("PUT", &format!("/checks/{name}/force"), &body);
            let answer = appliance.resolve("www.example.test");
            assert!(!answer.is_empty(), "round {round}: nothing is only answered where on_empty says so");
            // What REST shows of records, check and scenario is what DNS answers.
            let rrset = &appliance.get("/zones/example.test")["rrsets"][0];
            let mut shown: Vec<String> = rrset["answers"]
                .as_array()
                .unwrap()
                .iter()
                .map(|record| record["data"].as_str().unwrap().to_owned())
                .collect();
            shown.sort();
            assert_eq!(answer, shown, "round {round}");
            let state = appliance.get(&format!("/checks/{name}"))["state"].as_str().unwrap().to_owned();
            assert_eq!(state == "up", up, "round {round}");
            let of_check = |record: &serde_json::Value| record["check"] == name;
            let record = rrset["records"].as_array().unwrap().iter().find(|record| of_check(record)).unwrap();
            assert_eq!(record["check_value"], if up { "true" } else { "false" }, "the record that uses the check");
            let active = appliance.get("/scenarios/dr")["active"] == true;
            assert_eq!(active, answer == ["198.51.100.1"], "round {round}");
            let metrics = http(appliance.admin, "GET", "/metrics", "", &[]).expect("metrics").body;
            let line = format!("bascule_scenario_active{{scenario=\"dr\"}} {}", u8::from(active));
            assert!(metrics.contains(&line), "round {round}: {line}\n{metrics}");
            answers.push(answer);
        }
        assert_eq!(answers[0], answers[1], "round {round}");
    }
}
