//! Pages and filters of collections, and requests that are sent again.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::appliance::Appliance;
use super::objects::TEXT;

/// A configuration with this many services.
fn many(count: usize) -> String {
    let mut text = "[defaults.service]\nhealth_monitor = false\ntype = \"HTTP\"\n".to_owned();
    for n in 0..count {
        text += &format!("[service.s{n:05}]\naddress = \"10.{}.{}.1:80\"\n", n / 250 % 250, n % 250);
    }
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_follow_their_links_until_all_is_seen() {
    let appliance = Appliance::of(&many(25));
    let mut seen = Vec::new();
    let mut next = "/api/v1/services?limit=10&fields=state".to_owned();
    let mut pages = 0;
    loop {
        let page = appliance.send(Method::GET, &next, None, &[]).await;
        assert_eq!((page.status, &page.body["total"]), (200, &json!(25)), "{}", page.body);
        for item in page.body["items"].as_array().unwrap() {
            assert_eq!(item.as_object().unwrap().keys().collect::<Vec<_>>(), ["name", "state"]);
            seen.push(item["name"].as_str().unwrap().to_owned());
        }
        pages += 1;
        let Some(link) = page.body["next"].as_str() else { break };
        assert_eq!(page.header("link"), format!("<{link}>; rel=\"next\""));
        next = link.to_owned();
    }
    assert_eq!((pages, seen.len()), (3, 25));
    seen.dedup();
    assert_eq!(seen.len(), 25, "no item comes twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_are_chosen_by_name_and_state() {
    let appliance = Appliance::of(TEXT);
    appliance.post("/api/v1/services/web2/disable", json!({})).await;
    let names = async |query: &str| -> Vec<String> {
        let page = appliance.get(&format!("/api/v1/services?{query}")).await;
        page["items"].as_array().unwrap().iter().map(|i| i["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("q=WEB").await, ["web1", "web2"]);
    assert_eq!(names("state=ofs").await, ["web2"]);
    assert_eq!(names("state=UP,OFS&q=web&limit=1").await, ["web1"]);
    assert_eq!(names("state=unknown").await, Vec::<String>::new());
    for wrong in ["limit=-1", "limit=50001", "cursor=!", "stat=UP", "state=nothing"] {
        let (status, problem) = appliance.call(Method::GET, &format!("/api/v1/services?{wrong}"), None).await;
        assert_eq!((status, &problem["code"]), (400, &json!("invalid_request")), "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_times_as_many_services_are_listed_and_found_in_about_ten_times_as_long() {
    let boxes = [Appliance::of(&many(1_000)), Appliance::of(&many(10_000))];
    let (mut listed, mut found) = ([Duration::MAX; 2], [Duration::MAX; 2]);
    // By turns, and the best of each: whatever else the machine does slows down both.
    for _ in 0..4 {
        for (at, (appliance, count)) in boxes.iter().zip([1_000, 10_000]).enumerate() {
            let started = Instant::now();
            let page = appliance.get("/api/v1/services").await;
            listed[at] = listed[at].min(started.elapsed());
            assert_eq!((page["items"].as_array().unwrap().len(), page.get("next")), (count, None));
            let started = Instant::now();
            assert_eq!(appliance.get("/api/v1/services?q=s00999&fields=state").await["total"], 1);
            found[at] = found[at].min(started.elapsed());
        }
    }
    // What is quadratic takes a hundred times as long.
    for [few, many] in [listed, found] {
        assert!(many < few * 40 + Duration::from_millis(200), "{listed:?} {found:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_post_that_is_sent_again_with_its_key_is_done_once() {
    let appliance = Appliance::of(TEXT);
    let new = |port: u16| Some(json!({"name": "web3", "type": "HTTP", "server": "app1", "port": port}));
    let send = async |key: &str, port| {
        appliance.send(Method::POST, "/api/v1/services", new(port), &[("idempotency-key", key)]).await
    };
    let first = send("k1", 9000).await;
    assert_eq!((first.status, first.header("idempotency-replayed")), (201, ""), "{}", first.body);
    let again = send("k1", 9000).await;
    assert_eq!((again.status, again.header("idempotency-replayed")), (201, "true"));
    assert_eq!((&again.body, again.header("location")), (&first.body, first.header("location")));
    let other = send("k1", 9001).await;
    assert_eq!((other.status, &other.body["code"]), (422, &json!("key_used")));
    assert_eq!(send("k2", 9000).await.status, 409, "another key is another request");
    assert_eq!(send(&"k".repeat(256), 9000).await.status, 400);

    // Acts as well.
    let act = async |key: &str| {
        let body = Some(json!({"delay": "30s"}));
        appliance.send(Method::POST, "/api/v1/services/web1/disable", body, &[("idempotency-key", key)]).await
    };
    let first = act("a").await;
    appliance.post("/api/v1/services/web1/enable", json!({})).await;
    assert_eq!(act("a").await.body, first.body);
    assert_eq!(appliance.get("/api/v1/services/web1").await["state"], "UP", "it was not disabled again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_a_post_that_only_reads_keeps_nothing() {
    let appliance = Appliance::of(TEXT);
    let ask = async |body: Value| {
        let key = [("idempotency-key", "k")];
        appliance.send(Method::POST, "/api/v1/explain/request", Some(body), &key).await
    };
    let first = ask(json!({"vserver": "web"})).await;
    let again = ask(json!({"vserver": "web"})).await;
    assert_eq!((first.status, again.status, again.header("idempotency-replayed")), (200, 200, ""));
    assert_eq!(ask(json!({"vserver": "web", "path": "/x"})).await.status, 200, "another request is no mistake");
}
