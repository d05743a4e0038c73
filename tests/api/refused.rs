//! What nobody should send: each is refused with the right code, and nothing changes.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::appliance::Appliance;
use super::objects::TEXT;

const SERVICES: &str = "/api/v1/services";

/// Sends a body as it is; the status.
async fn raw(appliance: &Appliance, method: Method, path: &str, kind: &str, body: impl Into<Vec<u8>>) -> u16 {
    let body = body.into();
    let mut answer = None;
    // Of what is too large the rest is not read: a client that still writes may find the connection closed before it
    // has read the answer.
    for _ in 0..5 {
        let request = appliance.http.request(method.clone(), format!("{}{path}", appliance.base));
        match request.header("content-type", kind).body(body.clone()).send().await {
            Ok(answered) => {
                answer = Some(answered);
                break;
            }
            Err(error) => assert!(error.is_request(), "{error}"),
        }
    }
    let answer = answer.expect("an answer of five tries");
    let status = answer.status().as_u16();
    if status >= 400 {
        assert_eq!(answer.headers()["content-type"], "application/problem+json", "{path}");
    }
    status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_json_object_or_too_much_is_refused_and_changes_nothing() {
    let appliance = Appliance::of(TEXT);
    let nested = |depth: usize| format!("{{\"name\": \"x\", \"a\": {}1{}}}", "[".repeat(depth), "]".repeat(depth));
    let json = "application/json";
    for (kind, body, status) in [
        (json, "{".to_owned(), 400),
        (json, "[]".to_owned(), 400),
        (json, "\"x\"".to_owned(), 400),
        (json, "{\"name\": \"x\", \"name\": \"y\"}".to_owned(), 400),
        (json, "{\"name\": \"x\", \"port\": NaN}".to_owned(), 400),
        (json, nested(100_000), 400),
        (json, nested(100), 422),
        (json, "{\"name\": \"x\", \"port\": 1e400}".to_owned(), 400),
        (json, "{\"name\": \"x\", \"port\": 18446744073709551615}".to_owned(), 422),
        (json, "{\"name\": \"x\", \"port\": [null]}".to_owned(), 422),
        ("application/xml", "<x/>".to_owned(), 415),
        ("application/toml", "name = \"x\"".to_owned(), 415),
        (json, " ".repeat(9 << 20), 413),
    ] {
        let shown: String = body.chars().take(60).collect();
        assert_eq!(raw(&appliance, Method::POST, SERVICES, kind, body).await, status, "{kind} {shown}");
    }
    assert_eq!(raw(&appliance, Method::PATCH, "/api/v1/services/web1", json, vec![b'"', 0xff]).await, 400);
    assert_eq!(appliance.text("/api/v1/config").await, TEXT);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_that_no_condition_or_header_could_carry_are_refused() {
    let appliance = Appliance::of(TEXT);
    let long = "n".repeat(128);
    for name in ["", " x", "x\r\nLocation: https://evil.example/", "a\"b", "a/b", "\u{0}", &long, "{x}"] {
        let body = json!({"name": name, "type": "HTTP", "server": "app1", "port": 1});
        let (status, problem) = appliance.post(SERVICES, body).await;
        assert_eq!((status, &problem["code"]), (422, &json!("bad_config")), "{name:?}: {problem}");
        let (status, _) = appliance.post(&format!("{SERVICES}/web1/rename"), json!({"to": name})).await;
        assert_eq!(status, 422, "{name:?}");
    }
    assert_eq!(appliance.text("/api/v1/config").await, TEXT);
    // What is strange and fits is one segment of a path.
    let body = json!({"name": "ä ?#%..", "type": "HTTP", "server": "app1", "port": 1});
    let added = appliance.send(Method::POST, SERVICES, Some(body), &[]).await;
    assert_eq!((added.status, added.header("location")), (201, "/api/v1/services/%C3%A4%20%3F%23%25.."));
    assert_eq!(appliance.get(added.header("location")).await["name"], "ä ?#%..");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paths_lead_where_they_say_and_nowhere_else() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let appliance = Appliance::of(TEXT);
    let address = appliance.base.trim_start_matches("http://");
    // As they are on the wire: a client would tidy them up.
    for (path, statuses) in [
        ("/api/v1/services/..%2F..%2Fetc%2Fpasswd", &[404][..]),
        ("/api/v1/services/../users", &[404]),
        ("/api/v1/services/%00", &[404]),
        ("/api/v1/services/%ff", &[400]),
        ("/api/v1/services/%zz", &[400, 404]),
        ("/api/v1//services", &[404]),
        ("/api/v1/services/", &[404]),
        ("/api/v1/config/sections/..%2Fservice", &[404]),
        ("/api/v1/config/sections/service", &[404]),
        ("/api/v1/zones/example.test/rrsets/www%2520A", &[404]),
        ("/api/v1/services?limit=1&limit=2", &[400]),
        ("/api/v1/services?dry_run=maybe", &[400]),
    ] {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status: u16 = answer.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(statuses.contains(&status), "{path}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_another_site_changes_no_object() {
    let appliance = Appliance::of(TEXT);
    for (name, value) in
        [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site"), ("host", "evil.example")]
    {
        for (method, path) in [
            (Method::POST, SERVICES),
            (Method::PATCH, "/api/v1/services/web1"),
            (Method::DELETE, "/api/v1/vservers/site"),
            (Method::PUT, "/api/v1/certificates/x"),
        ] {
            let answer = appliance.send(method.clone(), path, Some(json!({})), &[(name, value)]).await;
            assert_eq!(answer.status, 403, "{name} {method} {path}: {}", answer.body);
        }
    }
    assert_eq!(appliance.text("/api/v1/config").await, TEXT);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_mistakes_are_counted_and_not_all_told() {
    let appliance = Appliance::of(TEXT);
    let took = async |mistakes: usize| {
        let mut body = serde_json::Map::new();
        body.insert("name".into(), "x".into());
        for n in 0..mistakes {
            body.insert(format!("prot{n}"), json!(1));
        }
        let started = Instant::now();
        let (status, problem) = appliance.post(SERVICES, Value::Object(body)).await;
        assert_eq!(status, 422);
        assert!(problem["problems"].as_array().unwrap().len() <= 1_001);
        started.elapsed()
    };
    let few = took(1_000).await.min(took(1_000).await);
    let many = took(10_000).await.min(took(10_000).await);
    // What is quadratic takes a hundred times as long.
    assert!(many < few * 40 + Duration::from_secs(1), "{few:?} {many:?}");
    assert_eq!(appliance.get("/healthz").await["status"], "ok");
}
