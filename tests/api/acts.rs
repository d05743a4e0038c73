use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;

use super::appliance::Appliance;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timed_drain_is_visible_at_once_and_ends_with_an_enable() {
    let appliance = Appliance::start();
    let body = json!({"delay": "30s", "reason": "patch"});
    let (status, web1) = appliance.post("/api/v1/services/web1/disable", body).await;
    assert_eq!((status, &web1["state"], &web1["admin"]), (200, &json!("TROFS"), &json!("DISABLED")));
    assert_eq!(web1["drain"]["kind"], "timed");
    let left = web1["drain"]["remaining"].as_str().and_then(|left| left.strip_suffix('s')?.parse::<u32>().ok());
    assert!(left.is_some_and(|left| (1..=30).contains(&left)), "{web1}");
    assert_eq!(web1["disabled_by"]["actor"], "admin:local");
    assert_eq!(web1["disabled_by"]["reason"], "patch");
    assert!(web1.get("warnings").is_none(), "web2 is still UP: {web1}");

    let overrides = appliance.get("/api/v1/status").await["overrides"].clone();
    assert_eq!(overrides[0]["kind"], "service");
    assert_eq!(overrides[0]["object"], "web1");
    assert_eq!(overrides[0]["value"], "DISABLED");

    // An empty body is {}.
    let (status, web1) = appliance.call(Method::POST, "/api/v1/services/web1/enable", None).await;
    assert_eq!((status, &web1["state"]), (200, &json!("UP")));
    assert_eq!(appliance.get("/api/v1/services/web1").await["drain"], json!(null));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rename_takes_a_drain_and_a_disabled_server_and_vserver_along() {
    let appliance = Appliance::start();
    let reason = json!({"delay": "5m", "reason": "patch"});
    for (path, from, to, body) in [
        ("services", "web1", "front", reason),
        ("servers", "app1", "home", json!({"reason": "patch"})),
        ("vservers", "web", "shop", json!({"reason": "patch"})),
    ] {
        let (status, body) = appliance.post(&format!("/api/v1/{path}/{from}/disable"), body).await;
        assert_eq!(status, 200, "{body}");
        let (status, body) = appliance.post(&format!("/api/v1/{path}/{from}/rename"), json!({"to": to})).await;
        assert_eq!(status, 200, "{body}");
        let object = appliance.get(&format!("/api/v1/{path}/{to}")).await;
        assert_eq!(
            (&object["admin"], &object["disabled_by"]["reason"]),
            (&json!("DISABLED"), &json!("patch")),
            "{object}"
        );
        if path == "services" {
            assert_eq!((&object["state"], &object["drain"]["kind"]), (&json!("TROFS"), &json!("timed")), "{object}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn taking_the_last_member_warns() {
    let appliance = Appliance::start();
    appliance.post("/api/v1/services/web1/disable", json!({})).await;
    let (status, web2) = appliance.post("/api/v1/services/web2/disable", json!({"delay": 30})).await;
    assert_eq!(status, 200);
    assert!(web2["warnings"][0].as_str().is_some_and(|w| w.contains("web")), "{web2}");
    // The trap stays visible for as long as it lasts.
    let problems = appliance.get("/api/v1/status").await["problems"].clone();
    let web = problems.as_array().unwrap().iter().find(|p| p["kind"] == "vserver").expect("a problem of the vserver");
    assert_eq!((&web["object"], &web["severity"]), (&json!("web"), &json!("error")));
    assert!(web["text"].as_str().is_some_and(|text| text.contains("new clients are refused")), "{web}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_for_a_drain_answers_when_it_is_over() {
    let appliance = Appliance::start();
    let started = Instant::now();
    let body = json!({"delay": "1s", "wait": true});
    let (status, web1) = appliance.post("/api/v1/services/web1/disable", body).await;
    assert_eq!((status, &web1["state"]), (200, &json!("OFS")), "{web1}");
    assert!(started.elapsed() >= Duration::from_millis(900));
    let body = json!({"delay": "60s", "wait": "100ms"});
    let (_, web2) = appliance.post("/api/v1/services/web2/disable", body).await;
    assert_eq!(web2["state"], "TROFS");
    assert!(!web2["still_draining"].as_array().unwrap().is_empty(), "{web2}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_servers_and_vservers_are_acted_on_by_their_own_paths() {
    let appliance = Appliance::start();
    let (_, member) = appliance.post("/api/v1/service-groups/spare/members/spare1/disable", json!({})).await;
    assert_eq!((&member["name"], &member["state"]), (&json!("spare/spare1"), &json!("OFS")));
    let (_, server) = appliance.post("/api/v1/servers/app1/disable", json!({"delay": 30})).await;
    assert_eq!(server["state"], "DISABLED");
    assert_eq!(appliance.get("/api/v1/services/web1").await["state"], "TROFS");
    let (_, vserver) = appliance.post("/api/v1/vservers/web/disable", json!({})).await;
    assert_eq!(vserver["state"], "OFS");
    let (status, problem) = appliance.post("/api/v1/vservers/web/disable", json!({"delay": 3})).await;
    assert_eq!(status, 400, "{problem}");
    let (status, problem) = appliance.post("/api/v1/service-groups/spare/members/sparse1/enable", json!({})).await;
    assert_eq!((status, &problem["did_you_mean"]), (404, &json!("spare/spare1")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_switch_moves_a_scenario_and_leaves_a_trail() {
    let appliance = Appliance::start();
    let (status, switch) = appliance.put("/api/v1/switches/drill", json!({"value": true, "reason": "drill"})).await;
    assert_eq!((status, &switch["value"]), (200, &json!(true)));
    let dr = appliance.get("/api/v1/scenarios/dr").await;
    assert_eq!((&dr["state"], &dr["seq"]), (&json!("active"), &json!(1)));
    assert_eq!(dr["modes"], json!({"activate": "auto", "deactivate": "auto"}));
    assert_eq!(dr["groups"]["activate"][0]["value"], "true");
    assert_eq!(dr["last_transition"]["group"], "sw:drill");

    let transitions = appliance.get("/api/v1/scenarios/dr/transitions").await;
    assert_eq!(transitions["items"].as_array().unwrap().len(), 1, "{transitions}");
    assert_eq!(transitions["items"][0]["seq"], 1);
    let journal = appliance.get("/api/v1/journal?actor=admin:local").await;
    let entry = journal["items"].as_array().unwrap().iter().find(|e| e["object"] == "switch drill").unwrap();
    assert_eq!((&entry["text"], &entry["details"]), (&json!("switch drill: set to true"), &json!(["reason: drill"])));
    let (status, _) = appliance.call(Method::GET, "/api/v1/scenarios/rd/transitions", None).await;
    assert_eq!(status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn modes_are_set_at_once_and_a_stuck_pair_is_refused_with_the_way_out() {
    let appliance = Appliance::start();
    let (status, dr) = appliance.put("/api/v1/scenarios/dr/modes", json!({"activate": "on", "reason": "test"})).await;
    assert_eq!((status, &dr["state"], &dr["shown"]), (200, &json!("active"), &json!("forced")));
    assert_eq!(dr["mode_details"]["activate"]["spent"], true);
    assert_eq!(dr["mode_details"]["activate"]["actor"], "admin:local");
    let (status, problem) = appliance.put("/api/v1/scenarios/dr/modes", json!({"deactivate": "on"})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("would_be_stuck")));
    let body = json!({"activate": "auto", "deactivate": "on", "if_seq": 1});
    let (status, dr) = appliance.put("/api/v1/scenarios/dr/modes", body).await;
    assert_eq!((status, &dr["state"], &dr["seq"]), (200, &json!("inactive"), &json!(2)));
    for bad in [json!({}), json!({"activate": "maybe"}), json!({"activate": "on", "if_seq": -1})] {
        assert_eq!(appliance.put("/api/v1/scenarios/dr/modes", bad.clone()).await.0, 400, "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_force_names_both_states() {
    let appliance = Appliance::start();
    let (status, web1) = appliance.put("/api/v1/services/web1/force", json!({"state": "down", "expires": "1h"})).await;
    assert_eq!((status, &web1["state"], &web1["real"]), (200, &json!("DOWN"), &json!("UP")));
    assert_eq!(web1["forced"], "down");
    assert!(web1["forced_by"]["expires"].is_string());
    let (_, web1) = appliance.put("/api/v1/services/web1/force", json!({"state": "none"})).await;
    assert_eq!((&web1["state"], &web1["forced"]), (&json!("UP"), &json!(null)));
    assert_eq!(appliance.put("/api/v1/services/web1/force", json!({})).await.0, 400);
    assert_eq!(appliance.put("/api/v1/checks/none/force", json!({"state": "up"})).await.0, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_done_is_refused_and_changes_nothing() {
    let appliance = Appliance::start();
    let (status, problem) = appliance.post("/api/v1/config/save", json!({})).await;
    assert!(status >= 400, "{problem}");
    let (status, problem) = appliance.post("/api/v1/outbox/1/replay?dry_run=true", json!({})).await;
    assert_eq!((status, &problem["code"]), (501, &json!("not_in_this_build")));
    assert_eq!(appliance.get("/api/v1/services/web1").await["state"], "UP");
    assert!(problem["detail"].as_str().is_some_and(|d| !d.is_empty()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_follows_from_an_act_names_its_administrator() {
    let appliance = Appliance::start();
    appliance.post("/api/v1/services/web1/disable", json!({"delay": 30})).await;
    appliance.put("/api/v1/switches/drill", json!({"value": true})).await;
    let journal = appliance.get("/api/v1/journal?kind=state").await;
    let drain = journal["items"].as_array().unwrap().iter().find(|e| e["body"]["to"] == "TROFS").unwrap();
    assert_eq!(drain["body"]["cause"], "admin:local");
    let dr = appliance.get("/api/v1/scenarios/dr").await;
    let last = &dr["last_transition"];
    assert_eq!(
        (&last["cause"], &last["group"], &last["actor"]),
        (&json!("admin:local"), &json!("sw:drill"), &json!("auto"))
    );
    appliance.put("/api/v1/scenarios/dr/modes", json!({"deactivate": "on"})).await;
    let transitions = appliance.get("/api/v1/scenarios/dr/transitions").await;
    let forced = &transitions["items"][1];
    assert_eq!(
        (&forced["cause"], &forced["group"], &forced["actor"]),
        (&json!("admin:local"), &json!(null), &json!("admin:local"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn enabling_what_stands_on_a_disabled_server_says_that_it_stays_out() {
    let appliance = Appliance::start();
    appliance.post("/api/v1/servers/app1/disable", json!({})).await;
    let (status, web1) = appliance.post("/api/v1/services/web1/enable", json!({})).await;
    assert_eq!((status, &web1["state"]), (200, &json!("OFS")));
    assert_eq!(web1["warnings"], json!(["service web1 stays out of service: server app1 is disabled"]));
    let (_, app1) = appliance.post("/api/v1/servers/app1/enable", json!({})).await;
    assert!(app1.get("warnings").is_none(), "{app1}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_comes_twice_in_json_is_refused() {
    let appliance = Appliance::start();
    let service = r#"{"type": "TCP", "address": "127.0.0.1:1"}"#;
    let twice = format!(r#"{{"schema": 1, "service": {{"a": {service}, "a": {service}}}}}"#);
    let url = format!("{}/api/v1/config?dry_run=true", appliance.base);
    let answer = appliance.http.put(url).header("content-type", "application/json").body(twice).send().await.unwrap();
    assert_eq!(answer.status(), 422);
    let problem: serde_json::Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    assert!(problem["problems"][0]["what"].as_str().unwrap().contains("`a` is defined twice"), "{problem}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_split_is_moved_shown_with_its_actor_and_given_back() {
    let appliance = Appliance::start();
    let group = |port: u16| json!({"type": "HTTP", "health_monitor": false, "member": {"one": {"address": format!("127.0.0.1:{port}")}}});
    let config = json!({
        "schema": 1,
        "service_group": {"blue": group(1), "green": group(2)},
        "vserver": {"shop": {"type": "HTTP", "groups": ["blue", "green"], "split": {"blue": 95, "green": 5}}},
    });
    let (status, answer) = appliance.put("/api/v1/config", config).await;
    assert_eq!(status, 200, "{answer}");
    let path = "/api/v1/vservers/shop/split";
    let body = json!({"split": {"blue": 60, "green": 40}, "reason": "canary", "expires": "1h"});
    let configured =
        json!([{"group": "blue", "share": 95, "configured": 95}, {"group": "green", "share": 5, "configured": 5}]);

    let (status, dry) = appliance.put(&format!("{path}?dry_run=true"), body.clone()).await;
    assert_eq!((status, &dry["dry_run"], &dry["split"]), (200, &json!(true), &configured), "{dry}");
    assert_eq!(dry["changes"], json!(["vserver shop: split blue 95, green 5 → blue 60, green 40"]));
    assert_eq!(appliance.get("/api/v1/vservers/shop").await["split"], configured);

    let (status, shop) = appliance.put(path, body).await;
    assert_eq!((status, &shop["split"][1]["share"], &shop["split"][1]["configured"]), (200, &json!(40), &json!(5)));
    assert_eq!((&shop["split_by"]["actor"], &shop["split_by"]["reason"]), (&json!("admin:local"), &json!("canary")));
    let overrides = appliance.get("/api/v1/status").await["overrides"].clone();
    assert_eq!((&overrides[0]["slot"], &overrides[0]["value"]), (&json!("split"), &json!("blue 60, green 40")));
    let journal = appliance.get("/api/v1/journal?kind=act").await;
    let act = &journal["items"].as_array().unwrap().iter().find(|e| e["object"] == "vserver shop").unwrap()["body"];
    assert_eq!(act["change"]["shares"], json!([["blue", 60], ["green", 40]]), "{act}");

    for wrong in [
        json!({}),
        json!({"split": {"blue": 60}}),
        json!({"split": {"blue": 160, "green": 0}}),
        json!({"split": "all"}),
    ] {
        assert_eq!(appliance.put(path, wrong.clone()).await.0, 400, "{wrong}");
    }
    assert_eq!(appliance.put("/api/v1/vservers/shop/split?dryrun=1", json!({})).await.0, 400);
    let (_, shop) = appliance.put(path, json!({"split": "none"})).await;
    assert_eq!((&shop["split"], &shop["split_by"]), (&configured, &json!(null)));
}
