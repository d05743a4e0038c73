//! Persistence of a real process: what is shown, what is cleared, and what outlives a restart.

use std::time::Duration;

use serde_json::json;

use super::box_under_test::{Backend, Box, http};

const PATIENT: Duration = Duration::from_secs(10);

fn config(a: &Backend, b: &Backend) -> String {
    format!(
        r#"
        [defaults.service]
        type = "HTTP"
        health_monitor = false
        [service.a]
        address = "{}"
        [service.b]
        address = "{}"
        [defaults.vserver]
        type = "HTTP"
        lb_method = "ROUNDROBIN"
        [vserver.table]
        address = "127.0.0.1:0"
        services = ["a", "b"]
        persistence = {{ type = "SOURCEIP", timeout = "10m" }}
        [vserver.sealed]
        address = "127.0.0.1:0"
        services = ["a", "b"]
        persistence = {{ type = "COOKIEINSERT", timeout = "10m", cookie_name = "c", encrypted = true }}
        "#,
        a.address, b.address
    )
}

#[test]
fn persistence_is_shown_and_cleared_and_a_sealed_cookie_outlives_a_restart() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let mut box_ = Box::start(&config(&a, &b));
    for service in ["a", "b"] {
        box_.expect_service(service, "UP", PATIENT);
    }
    http(box_.vip("table"), "GET", "/", "", &[]).unwrap();
    let found = box_.get("/persistence?vserver=table&client=127.0.0.1");
    assert_eq!(found["items"].as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!(found["items"][0]["type"], "SOURCEIP");
    assert_eq!(found["items"][0]["client"], "127.0.0.1");
    assert_eq!(box_.get("/vservers/table")["persistence_sessions"], 1);
    assert!(box_.get("/persistence?vserver=sealed")["notes"][0].as_str().unwrap().contains("keeps no table"));
    let (status, problem) = box_.send("GET", "/persistence?vserver=tabel", "");
    assert_eq!((status, &problem["did_you_mean"]), (404, &json!("table")));

    // A member that drains says who is left.
    let service = found["items"][0]["service"].as_str().unwrap().to_owned();
    box_.act("POST", &format!("/services/{service}/disable"), r#"{"delay": "60s"}"#);
    let drain = box_.get(&format!("/services/{service}"))["drain"].clone();
    assert_eq!(drain["persistent_clients"], 1, "{drain}");
    assert!(drain["persistent_note"].as_str().unwrap().contains("cookies of vserver sealed end 10m"), "{drain}");
    box_.act("POST", &format!("/services/{service}/enable"), "{}");

    let (_, cleared) = box_.send("DELETE", "/persistence?vserver=table&client=192.0.2.1", "");
    assert_eq!(cleared["cleared"], 0);
    let (_, cleared) = box_.send("DELETE", "/persistence", "");
    assert_eq!(cleared["cleared"], 1, "{cleared}");
    assert_eq!(box_.get("/persistence")["items"], json!([]));

    let answer = http(box_.vip("sealed"), "GET", "/", "", &[]).unwrap();
    let field = answer
        .head
        .lines()
        .find_map(|line| line.split_once(": ").filter(|(n, _)| n.eq_ignore_ascii_case("set-cookie")));
    let cookie = field.expect("a cookie").1.split(';').next().unwrap().to_owned();
    box_.stop();
    box_.start_again();
    for service in ["a", "b"] {
        box_.expect_service(service, "UP", PATIENT);
    }
    for _ in 0..4 {
        let again = http(box_.vip("sealed"), "GET", "/", "", &[("Cookie", &cookie)]).unwrap();
        assert_eq!(again.body, answer.body);
    }
    let key = std::fs::metadata(box_.path("state").join("cookie.key")).expect("the key");
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&key.permissions()) & 0o777, 0o600);
}
