//! What pages show beside the configuration: where policies are bound and how often they acted, and how logins stand.

use bascule::model::Role;
use reqwest::Method;
use serde_json::{Value, json};

use super::appliance::{Appliance, model};
use super::users::user;

const POLICIES: &str = r#"
schema = 1
[appliance]
name = "b"
[defaults.service]
health_monitor = false
[service.one]
type = "HTTP"
address = "127.0.0.1:1"
[vserver.web]
type = "HTTP"
services = ["one"]
rewrite_policies = { tell = 3 }
[cs_vserver.front]
type = "HTTP"
default = "web"
cs_policies = { shop = { priority = 100, target = "web" } }
responder_policies = { away = { priority = 9, goto = "NEXT" } }
rewrite_policies = { tell = { priority = 1, type = "RESPONSE" } }
[cs_policy.shop]
rule = 'HTTP.REQ.URL.EQ("/shop")'
[responder_action.away]
type = "redirect"
target = '"https://secret.example.test/"'
[responder_policy.away]
rule = 'HTTP.REQ.URL.EQ("/old")'
action = "away"
[responder_policy.spare]
rule = "true"
action = "away"
[rewrite_action.tell]
type = "insert_http_header"
target = "X-Box"
value = '"b"'
[rewrite_policy.tell]
rule = "true"
action = "tell"
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn policies_are_told_with_where_they_are_bound_and_in_the_order_in_which_a_vserver_asks_them() {
    let appliance = Appliance::of(POLICIES);
    let told = |answer: &Value| -> Vec<String> {
        let one = |policy: &Value| format!("{}/{}", policy["kind"].as_str().unwrap(), policy["name"].as_str().unwrap());
        answer["items"].as_array().unwrap().iter().map(one).collect()
    };
    let all = appliance.get("/api/v1/policies").await;
    assert_eq!(told(&all), ["responder/away", "responder/spare", "rewrite/tell", "cs/shop"]);
    assert_eq!(
        all["items"][0],
        json!({
            "name": "away", "kind": "responder", "action": "away", "hits": 0, "hits_per_second": 0,
            "bindings": [{
                "vserver": "front", "bank": null, "priority": 9, "goto": "NEXT", "bind_point": "REQUEST", "target": null,
                "hits": 0, "hits_per_second": 0,
            }],
        })
    );
    assert_eq!(all["items"][1]["bindings"], json!([]));
    assert_eq!(all["items"][2]["bindings"].as_array().map(Vec::len), Some(2));
    assert_eq!(all["items"][3]["bindings"][0]["target"], "web");
    assert!(!all.to_string().contains("secret.example.test"), "what they say is in the configuration");

    let front = appliance.get("/api/v1/policies?vserver=front").await;
    assert_eq!(told(&front), ["responder/away", "cs/shop", "rewrite/tell"], "what looks at answers comes last");
    assert_eq!(front["items"][2]["bindings"].as_array().map(Vec::len), Some(1), "its own alone");
    let (status, problem) = appliance.call(Method::GET, "/api/v1/policies?vserver=frnt", None).await;
    assert_eq!((status, &problem["code"]), (404, &json!("unknown_object")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_that_is_bound_for_every_vserver_is_told_so_with_all_hits_of_that_binding() {
    let text = POLICIES.replace("[vserver.web]\n", "[vserver.web]\naddress = \"127.0.0.1:3\"\n");
    let text = text.replace("[cs_vserver.front]\n", "[cs_vserver.front]\naddress = \"127.0.0.1:2\"\n")
        + "[policy_global.responder_policies]\nspare = 7\naway = { priority = 9, type = \"REQ_OVERRIDE\" }\n";
    let appliance = Appliance::of(&text);
    for (binding, times) in [
        (("web", "spare", true), 1),
        (("front", "spare", true), 2),
        (("web", "away", true), 4),
        (("front", "away", true), 8),
        (("front", "away", false), 16),
    ] {
        appliance.meet(binding, times);
    }
    let all = appliance.get("/api/v1/policies").await;
    let (away, spare) = (&all["items"][0], &all["items"][1]);
    let bindings = |policy: &Value| -> Vec<Value> {
        let of = |one: &Value| json!([one["vserver"], one["bank"], one["priority"], one["bind_point"], one["hits"]]);
        policy["bindings"].as_array().unwrap().iter().map(of).collect()
    };
    assert_eq!((&spare["name"], &spare["hits"]), (&json!("spare"), &json!(3)));
    assert_eq!(bindings(spare), [json!(["global", "DEFAULT", 7, "REQUEST", 3])]);
    assert_eq!((&away["name"], &away["hits"]), (&json!("away"), &json!(28)));
    let own = json!(["front", null, 9, "REQUEST", 16]);
    assert_eq!(bindings(away), [json!(["global", "OVERRIDE", 9, "REQUEST", 12]), own.clone()]);
    let front = appliance.get("/api/v1/policies?vserver=front").await;
    assert_eq!(bindings(&front["items"][0]), [own], "its own alone");
}

/// Asks as one of the users, whose passwords are their names.
async fn ask(appliance: &Appliance, who: (&str, &str), method: Method, path: &str, body: Value) -> (u16, Value) {
    let request = appliance.http.request(method, format!("{}/api/v1{path}", appliance.base)).json(&body);
    let response = request.basic_auth(who.0, Some(who.1)).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn how_logins_stand_is_told_of_users_and_of_no_stranger() {
    let mut model = model();
    model.admin.users = vec![user("admin", Role::Superuser), user("guest", Role::ReadOnly)];
    let appliance = Appliance::with(model);
    let admin = ("admin", "admin");
    for name in ["guest", "a password in the wrong field"] {
        for _ in 0..10 {
            assert!(ask(&appliance, (name, "wrong"), Method::GET, "/status", json!({})).await.0 >= 401);
        }
    }
    let login = json!({"username": "admin", "password": "admin"});
    assert_eq!(ask(&appliance, admin, Method::POST, "/login", login).await.0, 200);
    let (status, logins) = ask(&appliance, admin, Method::GET, "/logins", json!({})).await;
    assert_eq!(status, 200, "{logins}");
    let items = logins["items"].as_array().unwrap();
    assert_eq!(items.len(), 2, "{logins}");
    assert_eq!(
        (&items[0]["name"], &items[0]["sessions"], &items[0]["locked_until"]),
        (&json!("admin"), &json!(1), &Value::Null)
    );
    assert_eq!((&items[1]["wrong"], &items[1]["locked_networks"]), (&json!(10), &json!(1)));
    assert!(items[1]["locked_until"].as_str().is_some_and(|at| at.ends_with('Z')), "{logins}");

    let (status, lifted) = ask(&appliance, admin, Method::DELETE, "/users/guest/lock", json!({})).await;
    assert_eq!((status, &lifted["networks"]), (200, &json!(1)), "{lifted}");
    let (_, logins) = ask(&appliance, admin, Method::GET, "/logins", json!({})).await;
    assert_eq!((&logins["items"][1]["wrong"], &logins["items"][1]["locked_networks"]), (&json!(0), &json!(0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_is_set_and_only_its_hash_is_kept() {
    let appliance = Appliance::of("schema = 1\n[appliance]\nname = \"b\"\n");
    let put = async |name: &str, body: Value| {
        appliance.call(Method::PUT, &format!("/api/v1/users/{name}/password"), Some(body)).await
    };
    let (status, problem) = put("ada", json!({"password": "s3cret"})).await;
    assert_eq!(
        (status, &problem["problems"][0]["pointer"]),
        (422, &json!("/role")),
        "nobody could configure: {problem}"
    );
    for bad in [json!({"role": "superuser"}), json!({"password": "", "role": "superuser"}), json!({"password": 7})] {
        let (status, problem) = put("ada", bad).await;
        assert_eq!((status, &problem["problems"][0]["pointer"]), (422, &json!("/password")), "{problem}");
        assert!(!problem.to_string().contains('7'), "what may be a password is not told: {problem}");
    }
    let (status, made) = put("ada", json!({"password": "s3cret", "role": "superuser"})).await;
    assert_eq!((status, &made["name"], &made["role"]), (201, &json!("ada"), &json!("superuser")), "{made}");
    assert!(made["password_hash"].as_str().is_some_and(|hash| hash.starts_with("$argon2id$")), "{made}");

    let ada = ("ada", "s3cret");
    let new = json!({"password": "other"});
    let (status, made) = ask(&appliance, ada, Method::PUT, "/users/bob/password", new).await;
    assert_eq!((status, &made["role"]), (201, &Value::Null), "a new user may only look: {made}");
    assert_eq!(ask(&appliance, ("bob", "other"), Method::GET, "/status", json!({})).await.0, 200);
    let (status, _) =
        ask(&appliance, ("bob", "other"), Method::PUT, "/users/bob/password", json!({"password": "x"})).await;
    assert_eq!(status, 403);
    let (status, changed) = ask(&appliance, ada, Method::PUT, "/users/ada/password", json!({"password": "new"})).await;
    assert_eq!((status, &changed["role"]), (200, &json!("superuser")), "the role stays: {changed}");
    assert_eq!(ask(&appliance, ada, Method::GET, "/status", json!({})).await.0, 401);
    let (_, journal) = ask(&appliance, ("ada", "new"), Method::GET, "/journal", json!({})).await;
    assert!(!journal.to_string().contains("s3cret"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_superuser_stays_whichever_way_they_would_go() {
    let appliance = Appliance::of("schema = 1\n[appliance]\nname = \"b\"\n");
    let first = json!({"password": "s3cret", "role": "superuser"});
    assert_eq!(appliance.put("/api/v1/users/ada/password", first).await.0, 201);
    let ada = ("ada", "s3cret");
    for (method, path, body) in [
        (Method::DELETE, "/users/ada", json!({})),
        (Method::DELETE, "/users/ada?dry_run=true", json!({})),
        (Method::PATCH, "/users/ada", json!({"role": "operator"})),
        (Method::PATCH, "/config/sections/admin", json!({"user": null})),
    ] {
        let (status, problem) = ask(&appliance, ada, method.clone(), path, body).await;
        assert_eq!((status, &problem["code"]), (409, &json!("last_superuser")), "{method} {path}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains("make another first"), "{problem}");
    }
    let second = json!({"password": "other", "role": "superuser"});
    assert_eq!(ask(&appliance, ada, Method::PUT, "/users/bob/password", second).await.0, 201);
    assert_eq!(ask(&appliance, ada, Method::DELETE, "/users/ada", json!({})).await.0, 200);
    let (status, problem) = ask(&appliance, ("bob", "other"), Method::DELETE, "/users/bob", json!({})).await;
    assert_eq!(status, 409, "{problem}");
}
