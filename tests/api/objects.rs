//! The configuration object by object.

use reqwest::Method;
use serde_json::{Value, json};

use super::appliance::{Answered, Appliance};

pub const TEXT: &str = r#"# ours
[appliance]
name = "box"

[defaults.service]
health_monitor = false                # the tests have no servers

[server.app1]                         # a comment that stays
address = "127.0.0.1"

[service.web1]
type   = "HTTP"
server = "app1"
port   = 8001

[service.web2]
type   = "HTTP"
server = "app1"
port   = 8002

[service_group.spare]
type = "HTTP"
member.m1 = { server = "app1", port = 8003 }

[vserver.web]
type     = "HTTP"
services = ["web1", "web2"]           # both

[vserver.site]
type     = "HTTP"
services = { web1 = 3 }
backup   = "web"

[switch.drill]

[scenario.dr.activate]
when = [["sw:drill", "svc:web1"]]
[scenario.dr.deactivate]
when = [["sw:drill!"]]

[zone."example.test"]
ttl    = "30s"
soa    = { mname = "ns1.example.test.", rname = "h.example.test." }
static = """
@    NS  ns1
ns1  A   127.0.0.1
"""

[zone."example.test".rrset."www A"]
records = [
  { data = "192.0.2.10", cond = "dr" },
  { data = "192.0.2.11" },
]
"#;

/// The whole configuration as JSON.
async fn config(appliance: &Appliance) -> Value {
    appliance.get("/api/v1/config?format=json").await
}

async fn hash(appliance: &Appliance) -> String {
    appliance.get("/api/v1/status").await["config"]["hash"].as_str().unwrap().to_owned()
}

/// `(status, did something change)`.
async fn tried(appliance: &Appliance, method: Method, path: &str, body: Value) -> (u16, Value) {
    let before = hash(appliance).await;
    let answer = appliance.call(method, path, Some(body)).await;
    assert_eq!(hash(appliance).await, before, "{path} must change nothing: {}", answer.1);
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_is_added_changed_and_taken_away() {
    let appliance = Appliance::of(TEXT);
    let new = json!({"name": "web3", "type": "HTTP", "server": "app1", "port": 8004});
    let added: Answered = appliance.send(Method::POST, "/api/v1/services", Some(new), &[]).await;
    assert_eq!(added.status, 201, "{}", added.body);
    assert_eq!(added.header("location"), "/api/v1/services/web3");
    assert_eq!((&added.body["name"], &added.body["port"]), (&json!("web3"), &json!(8004)));
    assert_eq!(added.body["object"]["state"], "UP");
    assert_eq!(added.body["changes"], json!(["service web3: added"]));
    assert_eq!(appliance.get(added.header("location")).await["state"], "UP");

    let (status, changed) =
        appliance.call(Method::PATCH, "/api/v1/services/web3", Some(json!({"max_client": 7}))).await;
    assert_eq!((status, &changed["max_client"], &changed["port"]), (200, &json!(7), &json!(8004)), "{changed}");
    let (_, changed) = appliance.call(Method::PATCH, "/api/v1/services/web3", Some(json!({"max_client": null}))).await;
    assert!(changed.get("max_client").is_none(), "null takes a key away: {changed}");
    let put = json!({"type": "HTTP", "server": "app1", "port": 8005, "cip": true});
    let (status, replaced) = appliance.call(Method::PUT, "/api/v1/services/web3", Some(put)).await;
    assert_eq!((status, &replaced["port"], &replaced["cip"]), (200, &json!(8005), &json!(true)));

    let (status, gone) = appliance.call(Method::DELETE, "/api/v1/services/web3", None).await;
    assert_eq!((status, &gone["deleted"]), (200, &json!(true)), "{gone}");
    assert_eq!(appliance.call(Method::GET, "/api/v1/services/web3", None).await.0, 404);
    assert_eq!(appliance.call(Method::DELETE, "/api/v1/services/web3", None).await.0, 404);
    let text = appliance.text("/api/v1/config").await;
    assert_eq!(text, TEXT, "what was added and taken away leaves the text as it was");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_keeps_comments_and_touches_nothing_else() {
    let appliance = Appliance::of(TEXT);
    let (status, _) = appliance.call(Method::PATCH, "/api/v1/services/web2", Some(json!({"port": 9002}))).await;
    assert_eq!(status, 200);
    assert_eq!(appliance.text("/api/v1/config").await, TEXT.replace("8002", "9002"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patching_one_member_of_a_short_list_keeps_the_others() {
    let appliance = Appliance::of(TEXT);
    let patch = json!({"services": {"web2": 5}});
    let (status, web) = appliance.call(Method::PATCH, "/api/v1/vservers/web", Some(patch)).await;
    assert_eq!((status, &web["services"]), (200, &json!({"web1": 1, "web2": 5})), "{web}");
    let members = appliance.get("/api/v1/vservers/web").await["members"].clone();
    assert_eq!((&members[0]["weight"], &members[1]["weight"]), (&json!(1), &json!(5)), "{members}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_told_with_a_pointer_into_the_body_and_changes_nothing() {
    let appliance = Appliance::of(TEXT);
    for (method, path, body, status, pointer, meant) in [
        (
            Method::POST,
            "services",
            json!({"name": "x", "type": "HTTP", "server": "app1", "prot": 1}),
            422,
            "/prot",
            "port",
        ),
        (Method::POST, "services", json!({"name": "x", "server": "app1", "port": "y"}), 422, "/port", ""),
        (Method::POST, "services", json!({"name": "x", "server": "app2", "port": 1}), 422, "/server", "app1"),
        (Method::POST, "services", json!({"server": "app1", "port": 1}), 422, "/name", ""),
        (Method::POST, "services", json!({"name": 3, "port": 1}), 422, "/name", ""),
        (Method::PATCH, "vservers/web", json!({"services": {"wbe1": 1}}), 422, "/services", "web1"),
        (Method::PATCH, "servers/app1", json!({"ip_address": 7}), 422, "/ip_address", ""),
        (Method::PATCH, "services/web1", json!({"name": "web9"}), 422, "/name", ""),
        (
            Method::PATCH,
            "zones/example.test/rrsets/www%20A",
            json!({"records": [{"data": "192.0.2.1", "cond": "rd"}]}),
            422,
            "/records/0/cond",
            "dr",
        ),
        (Method::PATCH, "config/sections/features", json!({"lb": "maybe"}), 422, "/lb", ""),
    ] {
        let path = format!("/api/v1/{path}");
        let (found, problem) = tried(&appliance, method, &path, body).await;
        assert_eq!(found, status, "{path}: {problem}");
        let told = problem["problems"].as_array().unwrap();
        let at = told.iter().find(|p| p["pointer"].as_str().is_some_and(|p| p.starts_with(pointer)));
        let at = at.unwrap_or_else(|| panic!("{path}: {problem}"));
        if !meant.is_empty() {
            assert_eq!(at["did_you_mean"], meant, "{path}: {problem}");
        }
    }
    let (status, problem) =
        tried(&appliance, Method::POST, "/api/v1/services", json!({"name": "web1", "port": 1})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("exists")));
    let (status, problem) = tried(&appliance, Method::PATCH, "/api/v1/services/wbe1", json!({"port": 1})).await;
    assert_eq!((status, &problem["did_you_mean"]), (404, &json!("web1")));
    let nobody = json!({"name": "m2", "server": "app1", "port": 1});
    assert_eq!(tried(&appliance, Method::POST, "/api/v1/service-groups/none/members", nobody).await.0, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_in_use_stays_and_its_users_are_named() {
    let appliance = Appliance::of(TEXT);
    for (path, users) in [
        ("services/web1", vec!["vserver web", "vserver site", "scenario dr"]),
        ("servers/app1", vec!["service web1", "service web2", "service_group spare"]),
        ("vservers/web", vec!["vserver site"]),
        ("scenarios/dr", vec!["zone example.test"]),
        ("switches/drill", vec!["scenario dr"]),
    ] {
        let path = format!("/api/v1/{path}");
        let (status, problem) = tried(&appliance, Method::DELETE, &path, json!({})).await;
        assert_eq!((status, &problem["code"]), (409, &json!("in_use")), "{path}: {problem}");
        let mut found: Vec<&str> = problem["used_by"].as_array().unwrap().iter().map(|u| u.as_str().unwrap()).collect();
        found.sort_unstable();
        let mut users = users;
        users.sort_unstable();
        assert_eq!(found, users, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dry_run_says_what_would_follow_and_does_nothing() {
    let appliance = Appliance::of(TEXT);
    let before = hash(&appliance).await;
    let patch = json!({"activate": {"when": [["svc:web2"]]}});
    let path = "/api/v1/scenarios/dr?dry_run=true";
    let (status, told) = appliance.call(Method::PATCH, path, Some(patch)).await;
    assert_eq!((status, &told["dry_run"]), (200, &json!(true)), "{told}");
    let changes = told["changes"].to_string();
    assert!(changes.contains("scenario dr: changed"), "{told}");
    assert!(changes.contains("192.0.2.10"), "the answers of www that would change: {told}");
    let new = json!({"name": "x", "type": "HTTP", "server": "app1", "port": 1});
    let (status, _) = appliance.call(Method::POST, "/api/v1/services?dry_run=true", Some(new)).await;
    assert_eq!(status, 200);
    let (status, told) = appliance.call(Method::DELETE, "/api/v1/vservers/site?dry_run=true", None).await;
    assert_eq!((status, &told["deleted"]), (200, &json!(false)));
    assert_eq!(hash(&appliance).await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn if_match_takes_the_objects_tag_or_the_hash_of_the_whole() {
    let appliance = Appliance::of(TEXT);
    let read = appliance.send(Method::GET, "/api/v1/services/web1", None, &[]).await;
    let tag = read.header("etag").to_owned();
    assert_eq!(appliance.send(Method::GET, "/api/v1/services/web1/config", None, &[]).await.header("etag"), tag);
    let patch = |port: u16| Some(json!({"port": port}));
    let send = async |tag: &str, port| {
        let path = "/api/v1/services/web1";
        appliance.send(Method::PATCH, path, patch(port), &[("if-match", tag)]).await
    };
    // Another object may change meanwhile.
    appliance.call(Method::PATCH, "/api/v1/services/web2", patch(9000)).await;
    let first = send(&tag, 9001).await;
    assert_eq!(first.status, 200, "{}", first.body);
    assert_ne!(first.header("etag"), tag);
    let stale = send(&tag, 9002).await;
    assert_eq!((stale.status, &stale.body["code"]), (412, &json!("changed_meanwhile")));
    assert_eq!(send(first.header("etag"), 9003).await.status, 200);
    let whole = hash(&appliance).await;
    assert_eq!(send(&format!("\"{whole}\""), 9004).await.status, 200);
    assert_eq!(send(&format!("\"{whole}\""), 9005).await.status, 412);
    assert_eq!(send("*", 9006).await.status, 200);
    let absent = [("if-none-match", "*")];
    let put = Some(json!({"type": "HTTP", "server": "app1", "port": 1}));
    assert_eq!(appliance.send(Method::PUT, "/api/v1/services/web1", put.clone(), &absent).await.status, 412);
    assert_eq!(appliance.send(Method::PUT, "/api/v1/services/new", put, &absent).await.status, 201);
    assert_eq!(appliance.get("/api/v1/services/web1/config").await["port"], 9006);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_name_follows_wherever_the_old_one_stood() {
    let appliance = Appliance::of(TEXT);
    let to = |name: &str| Some(json!({"to": name}));
    let renamed = appliance.send(Method::POST, "/api/v1/services/web1/rename", to("front"), &[]).await;
    assert_eq!((renamed.status, renamed.header("location")), (200, "/api/v1/services/front"), "{}", renamed.body);
    let text = appliance.text("/api/v1/config").await;
    assert!(text.contains(r#"services = ["front", "web2"]           # both"#), "{text}");
    assert!(text.contains("services = { front = 3 }") && text.contains(r#""svc:front""#), "{text}");
    assert!(!text.contains("web1"), "{text}");

    assert_eq!(appliance.call(Method::POST, "/api/v1/scenarios/dr/rename", to("site-a")).await.0, 200);
    assert_eq!(appliance.get("/api/v1/scenarios/site-a").await["state"], "inactive");
    assert_eq!(appliance.call(Method::POST, "/api/v1/servers/app1/rename", to("app2")).await.0, 200);
    let (status, problem) = appliance.call(Method::POST, "/api/v1/services/front/rename", to("web2")).await;
    assert_eq!((status, &problem["code"]), (409, &json!("exists")));
    let (status, _) = appliance.call(Method::POST, "/api/v1/services/front/rename", Some(json!({}))).await;
    assert_eq!(status, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_collection_and_every_section_is_reachable() {
    let appliance = Appliance::of(TEXT);
    for (collection, new) in [
        ("criteria", json!({"name": "api", "path": "/api"})),
        ("lb-groups", json!({"name": "g", "vservers": ["web"], "persistence": {"type": "SOURCEIP"}})),
        ("cs-vservers", json!({"name": "front", "type": "HTTP", "default": "web"})),
        ("pattern-sets", json!({"name": "hosts", "patterns": ["a.test", "b.test"]})),
        ("policy-expressions", json!({"name": "is-api", "value": "HTTP.REQ.URL.STARTSWITH(\"/api\")"})),
        ("cs-actions", json!({"name": "to-web", "target": "web"})),
        ("cs-policies", json!({"name": "p", "rule": "HTTP.REQ.HOSTNAME.EQUALS_ANY(\"hosts\")", "action": "to-web"})),
        ("responder-actions", json!({"name": "away", "type": "redirect", "target": "\"/x\"", "status": 301})),
        ("responder-policies", json!({"name": "p", "rule": "is-api", "action": "away"})),
        ("rewrite-actions", json!({"name": "tell", "type": "delete_http_header", "target": "X"})),
        ("rewrite-policies", json!({"name": "p", "rule": "true", "action": "tell"})),
        ("rules", json!({"name": "r", "vserver": "web", "priority": 1, "action": {"reject": true}})),
        ("monitors", json!({"name": "m", "type": "HTTP"})),
        ("time-windows", json!({"name": "office", "days": ["mon"], "hours": "08:00-18:00", "zone": "UTC"})),
        ("service-groups/spare/members", json!({"name": "m2", "server": "app1", "port": 8009})),
        ("zones/example.test/rrsets", json!({"name": "api A", "records": [{"data": "192.0.2.12"}]})),
        ("tsig-keys", json!({"name": "k", "secret": {"env": "KEY"}})),
        ("alert-rules", json!({"name": "down", "on": ["service.down"]})),
        ("network-interfaces", json!({"name": "eth9", "addresses": ["192.0.2.5/24"]})),
        ("journal-receivers", json!({"name": "noc", "type": "SYSLOG", "address": "tcp:127.0.0.1:514"})),
        ("datacenters", json!({"name": "dc-a", "wan": {"targets": ["tcp:127.0.0.1:1"]}})),
        ("switches", json!({"name": "s"})),
        ("triggers", json!({"name": "t", "type": "HTTP", "uri": "http://127.0.0.1:1/"})),
        ("checks", json!({"name": "c", "type": "TCP", "address": "127.0.0.1:1"})),
    ] {
        let path = format!("/api/v1/{collection}");
        let name = new["name"].as_str().unwrap().replace(' ', "%20");
        let (status, body) = appliance.post(&path, new.clone()).await;
        assert_eq!(status, 201, "{path}: {body}");
        let one = format!("{path}/{name}");
        let config =
            if appliance.call(Method::GET, &format!("{one}/config"), None).await.0 == 200 { "/config" } else { "" };
        let read = appliance.get(&format!("{one}{config}")).await;
        for (key, value) in new.as_object().unwrap() {
            assert_eq!(&read[key], value, "{one}: {read}");
        }
        let (status, body) = appliance.call(Method::PATCH, &one, Some(json!({}))).await;
        assert_eq!((status, &body["changes"]), (200, &json!([])), "an empty patch changes nothing: {body}");
    }
    for (path, to) in [("pattern-sets/hosts", "names"), ("policy-expressions/is-api", "v2")] {
        let (status, body) =
            appliance.call(Method::POST, &format!("/api/v1/{path}/rename"), Some(json!({"to": to}))).await;
        assert_eq!(status, 200, "{body}");
    }
    assert_eq!(appliance.get("/api/v1/cs-policies/p").await["rule"], "HTTP.REQ.HOSTNAME.EQUALS_ANY(\"names\")");
    assert_eq!(appliance.get("/api/v1/responder-policies/p").await["rule"], "v2");
    let listed = appliance.get("/api/v1/cs-vservers").await;
    assert_eq!((&listed["items"][0]["name"], &listed["total"]), (&json!("front"), &json!(1)));
    // A content switching vserver is a vserver.
    let (status, _) = appliance.call(Method::PATCH, "/api/v1/vservers/front", Some(json!({"comment": true}))).await;
    assert!(matches!(status, 200 | 422));
    let (status, problem) = appliance.post("/api/v1/vservers", json!({"name": "front", "type": "HTTP"})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("exists")));

    let (status, section) =
        appliance.call(Method::PATCH, "/api/v1/config/sections/features", Some(json!({"lb": false}))).await;
    assert_eq!((status, &section["lb"]), (200, &json!(false)), "{section}");
    assert_eq!(appliance.get("/api/v1/config/sections/features").await, json!({"lb": false}));
    assert_eq!(appliance.get("/api/v1/config/sections/dns").await["tsig"]["k"]["secret"]["env"], "KEY");
    let sections = appliance.get("/api/v1/config/sections").await;
    assert!(sections["items"].as_array().unwrap().iter().any(|s| s["name"] == "defaults"));
    assert_eq!(config(&appliance).await["features"]["lb"], false);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn editors_that_come_together_lose_nothing() {
    let appliance = std::sync::Arc::new(Appliance::of(TEXT));
    let add = |n: usize| {
        let appliance = std::sync::Arc::clone(&appliance);
        tokio::spawn(async move {
            let new = json!({"name": format!("s{n:02}"), "type": "HTTP", "server": "app1", "port": 9000 + n});
            loop {
                let (status, _) = appliance.post("/api/v1/services", new.clone()).await;
                // On a machine that is busy with something else: nothing was done, try again.
                if status != 503 {
                    return status;
                }
            }
        })
    };
    let tasks: Vec<_> = (0..20).map(add).collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), 201);
    }
    assert_eq!(appliance.get("/api/v1/services?q=s&limit=100").await["total"], 21);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_in_the_journal_with_who_made_it() {
    let appliance = Appliance::of(TEXT);
    appliance.call(Method::PATCH, "/api/v1/services/web1", Some(json!({"port": 9001}))).await;
    let journal = appliance.get("/api/v1/journal?kind=config").await;
    let last = journal["items"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["actor"], &last["body"]["origin"]), (&json!("admin:local"), &json!("apply")), "{last}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_of_included_files_and_zone_files_are_changed_like_any_other() {
    let zone = "@ SOA ns1 h 1 1h 1h 1d 30s\n@ NS ns1\nns1 A 127.0.0.1\n";
    let service = "[service.web1]\naddress = \"127.0.0.1:1\"\n";
    let root = "include = [\"web.toml\"]\n[defaults.service]\nhealth_monitor = false\ntype = \"HTTP\"\n\
                [zone.\"example.test\"]\nfile = \"example.zone\"\n";
    let appliance = Appliance::beside(root, &[("web.toml", service), ("example.zone", zone)]);
    let (status, web1) = appliance.call(Method::PATCH, "/api/v1/services/web1", Some(json!({"max_client": 3}))).await;
    assert_eq!((status, &web1["max_client"]), (200, &json!(3)), "{web1}");
    assert_eq!(web1["changes"], json!(["service web1: changed (max_client: 0 → 3)"]));
    let rrset = json!({"name": "www A", "records": [{"data": "192.0.2.1"}]});
    let (status, added) = appliance.post("/api/v1/zones/example.test/rrsets", rrset).await;
    assert_eq!(status, 201, "{added}");
    let records = appliance.get("/api/v1/zones/example.test").await["static_records"].as_u64();
    assert!(records.is_some_and(|count| count >= 2), "the records of the file are there: {records:?}");
}
