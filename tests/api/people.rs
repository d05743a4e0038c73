//! The fields that are for people: verdict, what happens next, and what an act would do before it is done.

use reqwest::Method;
use serde_json::{Value, json};

use super::appliance::Appliance;

/// Two sites behind one name. `gone` moves it to the other site while a switch is on, and comes back by hand.
async fn two_sites() -> Appliance {
    let appliance = Appliance::start();
    let config = json!({
        "schema": 1,
        "appliance": {"name": "box-b", "site": "dc-b"},
        "datacenter": {"dc-a": {}, "dc-b": {}},
        "switch": {"out": {}, "back": {"initial": true}},
        "defaults": {"service": {"type": "HTTP", "health_monitor": false}},
        "service": {
            "web1": {"address": "127.0.0.1", "port": 8001},
            "web2": {"address": "127.0.0.1", "port": 8002},
            "only": {"address": "127.0.0.1", "port": 8003},
        },
        "vserver": {
            "web": {"type": "HTTP", "services": {"web1": 3, "web2": 1}},
            "small": {"type": "HTTP", "services": {"only": 1}},
        },
        "trigger": {"page": {"type": "HTTP", "uri": "http://127.0.0.1:9/page"}},
        "scenario": {
            "gone": {
                "about": "Site A does not serve",
                "activate": {"when": {"a is gone": ["sw:out"]}, "triggers": ["page"]},
                "deactivate": {"mode": "off", "when": {"a is back": ["sw:out!", "sw:back{for:15m}"]}},
            },
            "follows": {
                "activate": {"when": [["sc:gone"]]},
                "deactivate": {"when": [["sc:gone!{for:1m}"]]},
            },
        },
        "zone": {"example.test": {
            "soa": {"mname": "ns1.example.test.", "rname": "hostmaster.example.test."},
            "static": "@ NS ns1\nns1 A 192.0.2.53\n",
            "rrset": {"www A": {"records": [
                {"data": "192.0.2.10", "datacenter": "dc-a"},
                {"data": "198.51.100.10", "datacenter": "dc-b", "drCond": "gone"},
            ]}},
        }},
    });
    let (status, answer) = appliance.put("/api/v1/config", config).await;
    assert_eq!(status, 200, "{answer}");
    appliance
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_verdict_says_where_names_go_why_and_who_moves_next() {
    let appliance = two_sites().await;
    let status = appliance.get("/api/v1/status").await;
    assert_eq!(status["verdict"]["text"], "Every name goes where it should.", "{}", status["verdict"]);
    assert_eq!((&status["verdict"]["severity"], &status["verdict"]["next"]), (&json!("ok"), &json!(null)));
    assert_eq!((&status["lab"], &status["faults"]), (&json!(false), &json!([])));

    appliance.put("/api/v1/switches/out", json!({"value": true})).await;
    let verdict = appliance.get("/api/v1/status").await["verdict"].clone();
    assert_eq!(verdict["text"], "dc-b answers for dc-a. The way back is up to you.", "{verdict}");
    let because = verdict["because"].as_str().unwrap();
    assert!(because.starts_with("gone activated at ") && because.contains("because 'a is gone' was true"), "{because}");
    assert_eq!((&verdict["severity"], &verdict["next"]["who"]), (&json!("warning"), &json!("person")));

    appliance.put("/api/v1/switches/out", json!({"value": false})).await;
    let gone = appliance.get("/api/v1/scenarios/gone").await;
    assert_eq!(gone["next"]["needs"], "a person returns it", "{}", gone["next"]);
    assert!(gone["earliest_return"].is_string(), "the hold of sw:back is counted: {}", gone["groups"]);
    assert_eq!(appliance.get("/api/v1/status").await["verdict"]["next"]["at"], gone["earliest_return"]);

    let modes = json!({"activate": "off", "deactivate": "on", "reason": "back"});
    assert_eq!(appliance.put("/api/v1/scenarios/gone/modes", modes).await.0, 200);
    let verdict = appliance.get("/api/v1/status").await["verdict"].clone();
    assert_eq!(verdict["text"], "gone is held by people.", "{verdict}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scenario_shows_every_term_its_hold_and_whom_it_concerns() {
    let appliance = two_sites().await;
    let gone = appliance.get("/api/v1/scenarios/gone").await;
    let term = &gone["groups"]["deactivate"][0]["terms"][1];
    assert_eq!(
        (&term["text"], &term["id"], &term["reading"]),
        (&json!("sw:back{for:15m}"), &json!("sw:back"), &json!("on"))
    );
    assert_eq!(term["hold"]["length"], "15m");
    assert_eq!(gone["affected"], json!([{"zone": "example.test", "rrset": "www A", "records": ["198.51.100.10"]}]));
    assert_eq!(gone["used_by"], json!(["scenario follows"]));
    assert_eq!((&gone["triggers"]["activate"], &gone["gate"]["activate"]), (&json!(["page"]), &json!(null)));
    assert_eq!(gone["next"]["what"], "activates by itself once 'a is gone' is true");
    let listed = appliance.get("/api/v1/scenarios").await;
    let same = listed["items"].as_array().unwrap().iter().find(|item| item["name"] == "gone").unwrap();
    assert_eq!((&same["affected"], &same["used_by"]), (&gone["affected"], &gone["used_by"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dry_run_says_commits_triggers_and_answers_and_changes_nothing() {
    let appliance = two_sites().await;
    let before = appliance.get("/api/v1/scenarios/gone").await;
    let (status, dry) = appliance.put("/api/v1/switches/out?dry_run=true", json!({"value": true})).await;
    assert_eq!((status, &dry["dry_run"], &dry["confirm"]), (200, &json!(true), &json!(2)), "{dry}");
    let commits: Vec<String> = dry["transitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| {
            format!(
                "{} {} {}",
                t["scenario"].as_str().unwrap(),
                t["direction"].as_str().unwrap(),
                t["cause"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(commits.len(), 2, "{commits:?}");
    assert!(commits[0].starts_with("gone activate") && commits[1].starts_with("follows activate"), "{commits:?}");
    assert_eq!(
        dry["triggers"],
        json!([{"name": "page", "scenario": "gone", "direction": "activate", "would": "send"}])
    );
    let answer = &dry["answers"][0];
    assert_eq!((&answer["before"], &answer["after"]), (&json!(["192.0.2.10"]), &json!(["198.51.100.10"])), "{dry}");
    assert_eq!((&answer["site_before"], &answer["site_after"]), (&json!("dc-a"), &json!("dc-b")));
    assert_eq!(answer["left_out"][0]["data"], "192.0.2.10");
    assert_eq!(appliance.get("/api/v1/scenarios/gone").await["seq"], before["seq"]);

    // What the dry run said is what DNS answers after the act.
    appliance.put("/api/v1/switches/out", json!({"value": true})).await;
    let explained = appliance.get("/api/v1/explain/dns?name=www.example.test&type=A").await;
    assert!(explained["answer"][0].as_str().unwrap().ends_with("198.51.100.10"), "{explained}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_decided_on_another_state_is_refused_and_sends_nothing() {
    let appliance = two_sites().await;
    let path = "/api/v1/services/web1/disable";
    let (_, dry) = appliance.post(&format!("{path}?dry_run=true"), json!({"delay": 30})).await;
    let seq = dry["seq"].as_u64().unwrap();
    assert_eq!(dry["confirm"], 1, "others stay UP: {dry}");
    // The other member leaves in between.
    appliance.post("/api/v1/services/web2/disable", json!({})).await;
    let (status, problem) = appliance.post(path, json!({"delay": 30, "if_seq": seq})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("conflict")), "{problem}");
    let request = appliance.http.post(format!("{}{path}", appliance.base)).header("if-match", format!("\"{seq}\""));
    assert_eq!(request.send().await.unwrap().status().as_u16(), 412);
    assert_eq!(appliance.get("/api/v1/services/web1").await["state"], "UP");
    let (_, dry) = appliance.post(&format!("{path}?dry_run=true"), json!({"delay": 30})).await;
    assert_eq!((&dry["confirm"], &dry["confirm_word"]), (&json!(3), &json!("web1")), "the last one: {dry}");
    let body = json!({"delay": 30, "if_seq": dry["seq"], "confirm": "web1"});
    assert_eq!(appliance.post(path, body).await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_says_how_much_care_an_act_asks_for() {
    let appliance = two_sites().await;
    appliance.put("/api/v1/switches/out", json!({"value": true})).await;
    let ask = async |method: Method, path: &str, body: Value| {
        let (status, dry) = appliance.call(method, &format!("/api/v1/{path}?dry_run=true"), Some(body)).await;
        assert_eq!(status, 200, "{path}: {dry}");
        dry["confirm"].as_u64().unwrap()
    };
    let back = json!({"activate": "auto", "deactivate": "on"});
    for (level, method, path, body) in [
        (1, Method::POST, "services/web1/enable", json!({})),
        (1, Method::POST, "services/web1/disable", json!({"delay": 30})),
        (2, Method::POST, "services/web1/disable", json!({})),
        (3, Method::POST, "services/only/disable", json!({"delay": 30})),
        (1, Method::PUT, "services/web1/force", json!({"state": "none"})),
        (2, Method::PUT, "services/web1/force", json!({"state": "up"})),
        (3, Method::PUT, "services/only/force", json!({"state": "down"})),
        (2, Method::PUT, "scenarios/follows/modes", json!({"deactivate": "off"})),
        // The reason for the failover is still there.
        (3, Method::PUT, "scenarios/gone/modes", back.clone()),
        (3, Method::PUT, "scenarios/follows/modes", json!({"activate": "on", "override": true})),
        (2, Method::POST, "services/web1/kick", json!({})),
    ] {
        assert_eq!(ask(method.clone(), path, body.clone()).await, level, "{method} {path} {body}");
    }
    // Whoever sends `confirm` is held to it; a program that sends none is not.
    let path = "/api/v1/scenarios/gone/modes";
    for word in ["", "gnoe"] {
        let body = json!({"activate": "auto", "deactivate": "on", "confirm": word});
        let (status, problem) = appliance.put(path, body).await;
        assert_eq!((status, &problem["code"]), (422, &json!("confirm_needed")), "{problem}");
    }
    assert_eq!(appliance.get("/api/v1/scenarios/gone").await["state"], "active");
    let (status, gone) = appliance.put(path, back).await;
    assert_eq!((status, &gone["state"]), (200, &json!("inactive")), "{gone}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_says_who_asked_for_it_and_for_whom_it_waits() {
    let appliance = two_sites().await;
    let body = json!({"delay": "30s", "reason": "patching"});
    appliance.post("/api/v1/services/web1/disable", body).await;
    let drain = appliance.get("/api/v1/services/web1").await["drain"].clone();
    assert_eq!(
        (&drain["by"], &drain["graceful"], &drain["reason"]),
        (&json!("admin"), &json!(false), &json!("patching"))
    );
    assert_eq!((&drain["actor"], &drain["ends_at"]), (&json!("admin:local"), &drain["deadline"]));
    assert_eq!(drain["waits_for"], json!({"requests": 0, "persistent_clients": 0, "last_expiry": null}));
    let web = appliance.get("/api/v1/vservers/web").await;
    let members = web["members"].as_array().unwrap();
    assert_eq!((&members[0]["eligible"], &members[0]["new_clients"]), (&json!(false), &json!(0)), "{web}");
    assert_eq!((&web["spillover"], &web["rate"], &web["errors"]["total"]), (&json!(null), &json!(0), &json!(0)));
    let me = appliance.get("/api/v1/whoami").await;
    assert_eq!((&me["user"], &me["expires"]), (&json!("local"), &json!(null)));
}
