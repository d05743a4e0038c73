use std::time::Duration;

use bascule::model::service::{Protocol, Service};
use reqwest::Method;
use serde_json::json;

use super::appliance::{Appliance, model};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collection_answers_items_and_a_name_answers_itself() {
    let appliance = Appliance::start();
    let services = appliance.get("/api/v1/services").await;
    let names: Vec<&str> = services["items"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["spare/spare1", "web1", "web2"]);

    let web1 = appliance.get("/api/v1/services/web1").await;
    assert_eq!(web1["state"], "UP");
    assert_eq!(web1["admin"], "ENABLED");
    assert_eq!(web1["drain"], json!(null));
    assert_eq!(web1["active"], 0);
    assert_eq!(web1["address"], "127.0.0.1:8001");
    assert_eq!(web1["server"], "app1");
    assert_eq!(web1["vservers"], json!(["web"]));

    let member = appliance.get("/api/v1/services/spare%2Fspare1").await;
    assert_eq!(member["group"], "spare");
    let group = appliance.get("/api/v1/service-groups/spare").await;
    assert_eq!(group["members"][0]["weight"], 2);

    let web = appliance.get("/api/v1/vservers/web").await;
    assert_eq!((&web["state"], &web["effective_state"], &web["health"]), (&json!("UP"), &json!("UP"), &json!(100)));
    assert_eq!(web["active_backup"], json!(null));

    let page = appliance.get("/api/v1/services?offset=1&limit=1").await;
    assert_eq!(page["items"].as_array().unwrap().len(), 1);
    assert_eq!(page["items"][0]["name"], "web1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_collection_of_the_contract_answers() {
    let appliance = Appliance::start();
    for collection in [
        "vservers",
        "services",
        "service-groups",
        "servers",
        "certificates",
        "checks",
        "scenarios",
        "datacenters",
        "zones",
        "triggers",
        "queries",
        "switches",
        "alerts",
    ] {
        assert!(appliance.get(&format!("/api/v1/{collection}")).await["items"].is_array(), "{collection}");
    }
    let status = appliance.get("/api/v1/status").await;
    assert_eq!(status["config"]["hash"], "h");
    assert_eq!(status["overrides"], json!([]));
    assert_eq!(appliance.get("/healthz").await["status"], "ok");
    assert_eq!(appliance.get("/api/v1/whoami").await["role"], "superuser");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_error_is_a_problem_document() {
    let appliance = Appliance::start();
    for (method, path, status, code) in [
        (Method::GET, "/api/v1/services/wbe1", 404, "unknown_object"),
        (Method::GET, "/api/v1/servces", 404, "no_such_path"),
        (Method::GET, "/elsewhere", 404, "no_such_path"),
        (Method::PUT, "/api/v1/status", 405, "method_not_allowed"),
        (Method::GET, "/api/v1/services?limits=1", 400, "invalid_request"),
        (Method::POST, "/api/v1/services", 422, "bad_config"),
        (Method::DELETE, "/api/v1/services/wbe1", 404, "unknown_object"),
        (Method::GET, "/api/v1/outbox?status=lost", 400, "invalid_request"),
        (Method::POST, "/api/v1/outbox/1/replay", 404, "unknown_object"),
        (Method::DELETE, "/api/v1/outbox/1", 404, "unknown_object"),
        (Method::GET, "/api/v1/alerts?kind=service.dwon", 400, "invalid_request"),
        (Method::POST, "/api/v1/triggers/page-rse/test", 404, "unknown_object"),
        (Method::POST, "/api/v1/scenarios/dr/guard", 400, "invalid_request"),
        (Method::GET, "/api/v1/explain/dns", 400, "invalid_request"),
        (Method::GET, "/api/v1/journal?since=soon", 400, "invalid_request"),
    ] {
        let (found, body) = appliance.call(method.clone(), path, None).await;
        assert_eq!((found, body["code"].as_str()), (status, Some(code)), "{method} {path}: {body}");
        assert_eq!(body["status"], status);
    }
    let (_, body) = appliance.call(Method::GET, "/api/v1/services/wbe1", None).await;
    assert_eq!(body["did_you_mean"], "web1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_too_long_malformed_or_of_the_wrong_kind_is_refused() {
    let appliance = Appliance::start();
    let url = format!("{}/api/v1/services/web1/disable", appliance.base);
    let send = async |kind: &str, body: String| {
        let request = appliance.http.post(&url).header("content-type", kind).body(body);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(send("application/json", "{".into()).await, 400);
    assert_eq!(send("application/json", "[]".into()).await, 400);
    assert_eq!(send("application/json", r#"{"delya": 3}"#.into()).await, 400);
    assert_eq!(send("application/xml", "<a/>".into()).await, 415);
    assert_eq!(send("application/json", " ".repeat(70_000)).await, 413);
    assert_eq!(appliance.get("/api/v1/services/web1").await["state"], "UP");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_name_every_state() {
    let appliance = Appliance::start();
    let response = appliance.http.get(format!("{}/metrics", appliance.base)).send().await.unwrap();
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/plain; version=0.0.4"));
    let text = response.text().await.unwrap();
    assert!(text.contains("bascule_service_state{service=\"web1\",state=\"UP\"} 1\n"), "{text}");
    assert!(text.contains("bascule_service_state{service=\"web1\",state=\"TROFS\"} 0\n"));
    assert!(text.contains("bascule_scenario_active{scenario=\"dr\"} 0\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_another_site_or_a_rebound_name_is_refused() {
    let appliance = Appliance::start();
    let with = async |name: &str, value: &str| {
        let request = appliance.http.post(format!("{}/api/v1/services/web1/disable", appliance.base));
        request.header(name, value).send().await.unwrap().status().as_u16()
    };
    assert_eq!(with("origin", "https://evil.example").await, 403);
    assert_eq!(with("host", "evil.example").await, 403);
    assert_eq!(appliance.get("/api/v1/services/web1").await["state"], "UP");
}

/// What is there, a line each: the difference of this list is what a release tells its callers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_of_routes_changes_on_purpose_only() {
    let appliance = Appliance::start();
    let document = appliance.get("/api/v1/openapi.json").await;
    let mut lines = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().unwrap().iter();
            let query: Vec<&str> =
                parameters.filter(|p| p["in"] == "query").map(|p| p["name"].as_str().unwrap()).collect();
            let body = operation["requestBody"]["content"]["application/json"]["schema"]["properties"].as_object();
            let body: Vec<&String> = body.into_iter().flat_map(|properties| properties.keys()).collect();
            let answer = if operation["responses"]["200"].is_object() { "200" } else { "501" };
            let mut line = format!("{} {path} → {answer}", method.to_uppercase());
            if !query.is_empty() {
                line += &format!(" ?{}", query.join("&"));
            }
            if !body.is_empty() {
                line += &format!(" {{{}}}", body.into_iter().map(String::as_str).collect::<Vec<_>>().join(", "));
            }
            lines.push(line);
        }
    }
    lines.sort();
    insta::with_settings!({ snapshot_path => "../golden/api", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("routes", lines.join("\n"));
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_nobody_has_costs_the_one_writer_nothing_however_long_it_is() {
    let mut model = model();
    for i in 0..2_000 {
        let name = format!("z-service-with-a-name-of-some-length-{i:04}");
        model.services.push(Service::new(name, Protocol::Http, ([127, 0, 0, 1], 9).into()));
    }
    let appliance = Appliance::with(model);
    let long = "n".repeat(30_000);
    let asks = async {
        for path in ["services", "scenarios"] {
            let (status, problem) = appliance.call(Method::GET, &format!("/api/v1/{path}/{long}"), None).await;
            assert_eq!((status, &problem["did_you_mean"]), (404, &json!(null)));
        }
        let (status, _) = appliance.post(&format!("/api/v1/services/{long}/disable"), json!({})).await;
        assert_eq!(status, 404);
        let (status, _) = appliance.call(Method::GET, &format!("/api/v1/scenarios/{long}/transitions"), None).await;
        assert_eq!(status, 404);
    };
    // Edit distances to every name would take minutes, and the appliance would stand still meanwhile.
    tokio::time::timeout(Duration::from_secs(20), asks).await.expect("an answer comes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_names_its_host_once() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let appliance = Appliance::start();
    let address = appliance.base.trim_start_matches("http://");
    for (head, status) in [
        ("GET /healthz HTTP/1.1\r\n", "400"),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n", "400"),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\n", "200"),
        ("GET /healthz HTTP/1.0\r\n", "200"),
    ] {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer.split(' ').nth(1), Some(status), "{head}: {answer}");
    }
}
