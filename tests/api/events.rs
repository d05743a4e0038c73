use std::time::Duration;

use serde_json::{Value, json};

use super::appliance::Appliance;

/// Reads events of a stream until one fits.
pub struct Stream {
    response: reqwest::Response,
    text: String,
}

#[derive(Debug)]
pub struct Received {
    pub id: String,
    pub kind: String,
    pub data: Value,
}

impl Stream {
    async fn open(appliance: &Appliance, last: Option<&str>) -> Stream {
        Stream::asking(appliance, "", last).await
    }

    pub async fn asking(appliance: &Appliance, query: &str, last: Option<&str>) -> Stream {
        let mut request = appliance.http.get(format!("{}/api/v1/events{query}", appliance.base));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Stream { response, text: String::new() }
    }

    pub async fn next(&mut self, wanted: impl Fn(&Received) -> bool) -> Received {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let line = event.lines().find_map(|line| line.strip_prefix(name));
                    line.unwrap_or_default().trim_start_matches(':').trim().to_owned()
                };
                let data = serde_json::from_str(&field("data")).unwrap_or(Value::Null);
                let received = Received { id: field("id"), kind: field("event"), data };
                self.text = rest.to_owned();
                if wanted(&received) {
                    return received;
                }
            }
            let chunk = tokio::time::timeout(Duration::from_secs(20), self.response.chunk());
            let chunk = chunk.await.expect("an event comes").unwrap().expect("the stream goes on");
            self.text += std::str::from_utf8(&chunk).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_begins_with_hello_and_tells_what_changes() {
    let appliance = Appliance::start();
    let mut stream = Stream::open(&appliance, None).await;
    let hello = stream.next(|_| true).await;
    assert_eq!(hello.kind, "hello");
    assert!(hello.data["now"].is_string());

    appliance.post("/api/v1/services/web1/disable", json!({"delay": 30})).await;
    let event = stream.next(|e| e.kind == "service").await;
    assert_eq!(event.data["name"], "web1");
    assert_eq!(event.data["object"]["state"], "TROFS");
    assert!(event.data["now"].is_string());

    // Who comes back with an id gets what came since.
    appliance.put("/api/v1/switches/drill", json!({"value": true})).await;
    let mut again = Stream::open(&appliance, Some(&event.id)).await;
    let scenario = again.next(|e| e.kind == "scenario" || e.kind == "reset").await;
    assert_eq!(scenario.data["object"]["state"], "active", "{scenario:?}");
    let mut stranger = Stream::open(&appliance, Some("0123-9")).await;
    assert_eq!(stranger.next(|e| e.kind != "hello").await.kind, "reset");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quiet_stream_has_a_heartbeat() {
    let appliance = Appliance::start();
    let mut stream = Stream::open(&appliance, None).await;
    let beat = stream.next(|e| e.kind == "heartbeat").await;
    assert!(beat.data["now"].is_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rates_come_each_second_for_the_objects_asked_for() {
    let appliance = Appliance::start();
    let mut stream = Stream::asking(&appliance, "?topics=scenario&rates=vserver/web,service/nobody", None).await;
    assert!(stream.next(|e| e.kind == "hello").await.data["snapshot"].is_u64());
    for _ in 0..2 {
        let rates = stream.next(|e| e.kind == "rates").await;
        let items = rates.data["items"].as_array().unwrap();
        assert_eq!(items.len(), 1, "what is not there is left out: {rates:?}");
        assert_eq!((&items[0]["kind"], &items[0]["name"]), (&json!("vserver"), &json!("web")));
        assert_eq!(items[0]["requests"]["total"], 0);
    }
    let refused = appliance.call(reqwest::Method::GET, "/api/v1/events?rates=web", None).await;
    assert_eq!(refused.0, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn topics_choose_and_a_change_of_the_configuration_is_told() {
    let appliance = Appliance::of(super::objects::TEXT);
    let mut stream = Stream::asking(&appliance, "?topics=config,scenario", None).await;
    stream.next(|e| e.kind == "heartbeat").await;
    appliance.post("/api/v1/services/web2/disable", json!({})).await;
    let patch = Some(json!({"port": 9009}));
    appliance.call(reqwest::Method::PATCH, "/api/v1/services/web2", patch).await;
    let told = stream.next(|e| e.kind != "heartbeat").await;
    assert_eq!((told.kind.as_str(), &told.data["object"]["unsaved"]), ("config", &json!(true)), "{told:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_with_too_many_streams_loses_the_oldest_and_is_told_why() {
    let appliance = Appliance::start();
    let mut first = Stream::open(&appliance, None).await;
    let mut others = Vec::new();
    for _ in 0..16 {
        others.push(Stream::open(&appliance, None).await);
    }
    let ended = first.next(|e| e.kind == "ended").await;
    assert!(ended.data["why"].as_str().unwrap().contains("more streams"), "{ended:?}");
    for stream in &mut others {
        stream.next(|e| e.kind == "hello").await;
    }
}
