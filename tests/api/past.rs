//! What was: histories, timelines, and the metrics that others keep.

use reqwest::Method;
use serde_json::{Value, json};

use super::appliance::Appliance;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_is_asked_of_one_object_and_says_what_it_cannot_answer() {
    let appliance = Appliance::start();
    let told = appliance.get("/api/v1/history?object=vserver:web&from=1h&step=10s").await;
    assert_eq!((&told["object"], &told["t"], &told["marks"]), (&json!("vserver:web"), &json!([]), &json!([])));
    for (query, status, code) in [
        ("", 400, "invalid_request"),
        ("?object=web", 400, "invalid_request"),
        ("?object=vserver:wbe", 404, "unknown_object"),
        ("?object=vserver:web&metric=reqests", 400, "invalid_request"),
        ("?object=vserver:web&from=1h&to=2h", 400, "invalid_request"),
    ] {
        let (found, problem) = appliance.call(Method::GET, &format!("/api/v1/history{query}"), None).await;
        assert_eq!((found, problem["code"].as_str()), (status, Some(code)), "{query}: {problem}");
    }
    let (_, problem) = appliance.call(Method::GET, "/api/v1/history?object=vserver:web&metric=reqests", None).await;
    assert_eq!(problem["did_you_mean"], "requests");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acts_and_commits_are_marks_and_states_are_a_series() {
    let appliance = Appliance::start();
    appliance.post("/api/v1/services/web1/disable", json!({"reason": "patching"})).await;
    appliance.put("/api/v1/switches/drill", json!({"value": true})).await;
    let marks = appliance.get("/api/v1/history?object=service:web1").await["marks"].clone();
    let kinds: Vec<&str> = marks.as_array().unwrap().iter().map(|m| m["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["act", "transition"], "{marks}");
    assert!(marks[0]["text"].as_str().unwrap().contains("disabled"), "{marks}");
    let states = appliance.get("/api/v1/history?object=service:web1&metric=state").await;
    assert_eq!(states["series"]["state"].as_array().unwrap().last(), Some(&json!("OFS")), "{states}");
    let web1 = appliance.get("/api/v1/services/web1").await;
    assert_eq!(web1["history"].as_array().unwrap().last().unwrap()["state"], "OFS", "{}", web1["history"]);
    assert_eq!(appliance.get("/api/v1/services").await["items"][1]["history"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_incident_is_named_by_its_moment_and_told_around_it() {
    let appliance = Appliance::start();
    appliance.put("/api/v1/switches/drill", json!({"value": true})).await;
    let last = appliance.get("/api/v1/scenarios/dr").await["last_transition"].clone();
    assert_eq!(last["incident"], last["evaluated_at"]);
    assert!(last["detected_at"].is_string(), "{last}");
    let listed = appliance.get("/api/v1/scenarios/dr/transitions").await;
    assert_eq!(listed["items"][0]["incident"], last["incident"]);
    for name in [last["incident"].as_str().unwrap(), "dr%3A1"] {
        let told = appliance.get(&format!("/api/v1/timeline/{name}")).await;
        let events = told["events"].as_array().unwrap();
        let commit = events.iter().find(|event| event["kind"] == "transition").expect("the commit is told");
        assert!(commit["delta"].is_number(), "{commit}");
    }
    let (status, _) = appliance.call(Method::GET, "/api/v1/timeline/dr%3A7", None).await;
    assert_eq!(status, 404);
    let text = appliance.http.get(format!("{}/api/v1/timeline/dr%3A1?format=md", appliance.base));
    assert!(text.send().await.unwrap().text().await.unwrap().starts_with('#'));
}

/// Names of metrics in the expressions of a dashboard.
fn names(dashboard: &Value, found: &mut Vec<String>) {
    match dashboard {
        Value::String(text) => {
            let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            found.extend(words.filter(|word| word.starts_with("bascule_")).map(str::to_owned));
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        Value::Object(members) => members.values().for_each(|member| names(member, found)),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_metric_that_the_dashboard_for_grafana_names_is_exported() {
    let appliance = Appliance::start();
    let page = appliance.http.get(format!("{}/metrics", appliance.base)).send().await.unwrap().text().await.unwrap();
    assert!(page.contains("bascule_scenario_state{scenario=\"dr\",state=\"inactive\"} 1\n"));
    assert!(page.contains("bascule_verdict{severity=\"error\"} 0\n"));
    let dashboard = include_str!("../../appliance/grafana/bascule.json");
    let mut named = Vec::new();
    names(&serde_json::from_str(dashboard).unwrap(), &mut named);
    named.sort();
    named.dedup();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|part| name.strip_suffix(part)).unwrap_or(&name);
        assert!(page.contains(&format!("# TYPE {family} ")), "{name} is not exported");
    }
}
