//! The configuration object by object, with a real process: what survives, and what does not.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::box_under_test::{Backend, Box, http, within};
use super::certificates::{connect, get, serial};
use crate::tls::pki::{Authority, BOTH};

const TEXT: &str = r#"# kept
[defaults.service]
type = "HTTP"
health_monitor = false

[service.web1]
address = "BACKEND"                  # the first

[vserver.web]
type     = "HTTP"
address  = "127.0.0.1:0"
services = ["web1"]
"#;

#[test]
fn what_is_saved_and_what_people_did_survive_a_kill_and_unsaved_configuration_does_not() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let mut appliance = Box::start(&TEXT.replace("BACKEND", &a.address.to_string()));
    let added = json!({"name": "web2", "address": b.address.to_string()}).to_string();
    assert_eq!(appliance.send("POST", "/services", &added).0, 201);
    appliance.act("PATCH", "/vservers/web", r#"{"services": {"web2": 1}}"#);
    appliance.act("POST", "/services/web1/disable", r#"{"reason": "patch night"}"#);
    let answer = http(appliance.vip("web"), "GET", "/", "", &[]).unwrap();
    assert_eq!(answer.status, 200, "web2 serves as soon as the change is answered: {}", answer.head);
    assert_eq!(appliance.get("/status")["config"]["unsaved"], true);

    appliance.kill();
    appliance.start_again();
    assert_eq!(appliance.send("GET", "/services/web2", "").0, 404, "it was never saved");
    assert_eq!(appliance.service_state("web1"), "OFS", "what people did is durable at once");

    assert_eq!(appliance.send("POST", "/services", &added).0, 201);
    appliance.act("PATCH", "/services/web1", r#"{"max_client": 9}"#);
    appliance.act("POST", "/config/save", "");
    let file = std::fs::read_to_string(appliance.path("box.toml")).unwrap();
    assert!(file.starts_with("# kept\n") && file.contains("# the first") && file.contains("[service.web2]"), "{file}");
    appliance.kill();
    appliance.start_again();
    assert_eq!(appliance.get("/services/web2")["state"], "UP");
    assert_eq!(appliance.get("/services/web1/config")["max_client"], 9);

    let journal = appliance.get("/journal?kind=config&limit=50").to_string();
    assert!(journal.contains("\"origin\":\"apply\"") && journal.contains("admin:local"), "{journal}");
    assert_eq!(appliance.stop(), 0);
    let (status, said) = appliance.run(&["replay", appliance.path("state").to_str().unwrap()]);
    assert_eq!(status, 0, "{said}");
}

#[test]
fn an_uploaded_certificate_serves_at_once_survives_a_restart_and_drops_nobody() {
    let ca = Authority::new("Test authority");
    let backend = Backend::start("a");
    let mut appliance = Box::start(&TEXT.replace("BACKEND", &backend.address.to_string()));
    let upload = |appliance: &Box| {
        let issued = ca.issue("www", &["www.test"]);
        let body = json!({"certificate": issued.chain, "key": issued.key}).to_string();
        appliance.send("PUT", "/certificates/www", &body)
    };
    assert_eq!(upload(&appliance).0, 201);
    let secure = json!({"name": "secure", "type": "SSL", "address": "127.0.0.1:0", "services": ["web1"],
        "certificates": ["www"]});
    let (status, added) = appliance.send("POST", "/vservers", &secure.to_string());
    assert_eq!(status, 201, "{added}");
    let address = added["object"]["address"].as_str().unwrap().to_owned();
    let vip = address.parse().unwrap();
    let client = Arc::new(ca.client(BOTH));
    let mut open = connect(vip, &client).unwrap();
    assert_eq!(get(&mut open).unwrap(), 200);
    let before = serial(&open);
    assert_eq!(upload(&appliance).0, 200);
    let fresh = || {
        // One that resumes nothing: a session that goes on shows the certificate that it began with.
        let mut client = connect(vip, &Arc::new(ca.client(BOTH))).unwrap();
        assert_eq!(get(&mut client).unwrap(), 200);
        serial(&client)
    };
    assert_ne!(fresh(), before, "the next handshake sees the new one");
    assert_eq!(get(&mut open).unwrap(), 200, "a connection of before stays");

    appliance.act("POST", "/config/save", "");
    appliance.kill();
    appliance.start_again();
    let shown = appliance.get("/certificates/www");
    assert_eq!(shown["used_by"], json!(["vserver secure"]));
    let (status, _) = appliance.run(&["check", appliance.path("box.toml").to_str().unwrap()]);
    assert_eq!(status, 0);
    within(Duration::from_secs(5), "the VIP answers", || connect(appliance.vip("secure"), &client).is_ok());
}
