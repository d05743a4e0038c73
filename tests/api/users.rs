use argon2::password_hash::PasswordHasher;
use argon2::password_hash::phc::PasswordHash as Phc;
use argon2::{Algorithm, Argon2, Params, Version};
use bascule::model::{PasswordHash, Role, User};
use serde_json::json;

use super::appliance::{Appliance, model};

/// A user whose password is the name, hashed at the smallest cost.
pub fn user(name: &str, role: Role) -> User {
    let cheap = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, None).unwrap());
    let hash: Phc = cheap.hash_password(name.as_bytes()).unwrap();
    User { name: name.into(), role, password: PasswordHash::Inline(hash.to_string().into()) }
}

fn appliance() -> Appliance {
    let mut model = model();
    model.admin.users =
        vec![user("admin", Role::Superuser), user("guest", Role::ReadOnly), user("oper", Role::Operator)];
    Appliance::with(model)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_users_every_role_may_do_what_it_may_and_health_needs_no_credentials() {
    let appliance = appliance();
    let send = async |user: &str, method: reqwest::Method, path: &str| {
        let request = appliance.http.request(method, format!("{}{path}", appliance.base)).json(&json!({}));
        request.basic_auth(user, Some(user)).send().await.unwrap().status().as_u16()
    };
    use reqwest::Method;
    for (user, method, path, status) in [
        ("guest", Method::GET, "/api/v1/services", 200),
        ("guest", Method::GET, "/metrics", 200),
        ("guest", Method::POST, "/api/v1/services/web1/disable", 403),
        ("oper", Method::POST, "/api/v1/services/web1/disable", 200),
        ("oper", Method::POST, "/api/v1/config/save", 403),
        ("oper", Method::PUT, "/api/v1/config", 403),
        ("admin", Method::POST, "/api/v1/services/web1/enable", 200),
        ("nobody", Method::GET, "/api/v1/services", 401),
    ] {
        assert_eq!(send(user, method.clone(), path).await, status, "{user} {method} {path}");
    }
    for (path, status) in [("/healthz", 200), ("/api/v1/status", 401), ("/metrics", 401), ("/api/v1/openapi.json", 401)]
    {
        let response = appliance.http.get(format!("{}{path}", appliance.base)).send().await.unwrap();
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(response.headers().contains_key("www-authenticate"), status == 401);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_journal_names_the_user() {
    let appliance = appliance();
    let url = format!("{}/api/v1/switches/drill", appliance.base);
    let request = appliance.http.put(url).basic_auth("oper", Some("oper")).json(&json!({"value": true}));
    let switch: serde_json::Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(switch["set_by"]["actor"], "admin:oper");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_who_may_change_the_configuration_sees_its_secrets() {
    let appliance = appliance();
    let get = async |user: &str, path: &str| {
        let request = appliance.http.get(format!("{}{path}", appliance.base)).basic_auth(user, Some(user));
        request.send().await.unwrap().text().await.unwrap()
    };
    for (user, sees) in [("admin", true), ("oper", false), ("guest", false)] {
        for path in ["/api/v1/config", "/api/v1/config?format=json"] {
            let text = get(user, path).await;
            assert_eq!(text.contains("$argon2id$"), sees, "{user} {path}");
            assert!(text.contains("password_hash") && text.contains("read-only"), "the rest stays: {text}");
        }
        let journal: serde_json::Value = serde_json::from_str(&get(user, "/api/v1/journal?kind=config").await).unwrap();
        assert_eq!(journal["items"][0]["body"]["hash"], "h");
        assert_eq!(journal["items"][0]["body"]["sources"].is_array(), sees, "{user}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_are_changed_by_superusers_alone_and_shown_to_others_without_secrets() {
    use reqwest::Method;
    let appliance = appliance();
    let send = async |user: &str, method: Method, path: &str| {
        let request = appliance.http.request(method, format!("{}/api/v1{path}", appliance.base)).json(&json!({}));
        let response = request.basic_auth(user, Some(user)).send().await.unwrap();
        let tagged = response.headers().contains_key("etag");
        (response.status().as_u16(), tagged, response.text().await.unwrap())
    };
    for user in ["guest", "oper"] {
        for (method, path) in [
            (Method::PATCH, "/services/web1"),
            (Method::POST, "/services"),
            (Method::DELETE, "/users/admin"),
            (Method::PUT, "/certificates/x"),
            (Method::POST, "/services/web1/rename"),
            (Method::PATCH, "/config/sections/features"),
        ] {
            assert_eq!(send(user, method.clone(), path).await.0, 403, "{user} {method} {path}");
        }
    }
    for path in ["/users", "/users/guest", "/config/sections/admin", "/config/sections"] {
        let (status, _, text) = send("guest", Method::GET, path).await;
        assert_eq!(status, 200, "{path}");
        assert!(text.contains("password_hash") && !text.contains("$argon2id$"), "{path}: {text}");
        assert!(send("admin", Method::GET, path).await.2.contains("$argon2id$"), "{path}");
    }
    for path in ["/users/guest", "/services/web1", "/config/sections/admin"] {
        assert!(!send("guest", Method::GET, path).await.1, "the hash of a secret is not for everybody: {path}");
        assert!(send("admin", Method::GET, path).await.1, "{path}");
    }
}
