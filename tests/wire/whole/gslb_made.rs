//! GSLB and records made over NITRO and in the shell, one object after the other, and what resolvers are told of them.

use std::time::Duration;

use serde_json::{Value, json};

use super::box_under_test::{Backend, Box, http, within};

const SOON: Duration = Duration::from_secs(20);

fn nitro(box_: &Box, method: &str, path: &str, body: &Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let fields = [("Content-Type", "application/json")];
    let answer = http(box_.admin, method, &format!("/nitro/v1/config/{path}"), &body, &fields).expect("NITRO answers");
    assert!(answer.status < 300, "{method} {path}: {} {}", answer.status, answer.body);
}

fn add(box_: &Box, resource: &str, object: &Value) {
    let method = if resource.ends_with("_binding") { "PUT" } else { "POST" };
    nitro(box_, method, resource, &json!({ resource: object }));
}

fn answers(box_: &Box, name: &str) -> Vec<String> {
    let mut answers = box_.resolve(name);
    answers.sort();
    answers
}

#[test]
fn what_nitro_adds_object_by_object_is_answered_survives_a_restart_and_goes_again() {
    let (mut east, west) = (Backend::start("east"), Backend::start("west"));
    let mut box_ = Box::start(
        "[dns]\nlisten = \"127.0.0.1:0\"\n[defaults.monitor]\ninterval = \"1s\"\nresponse_timeout = \"950ms\"\n",
    );
    let service = |name: &str, backend: &Backend, public: &str, site: &str| {
        json!({"servicename": name, "ip": "127.0.0.1", "servicetype": "HTTP", "port": backend.address.port(),
               "publicip": public, "sitename": site})
    };
    add(
        &box_,
        "lbmonitor",
        &json!({"monitorname": "quick", "type": "HTTP", "respcode": "200", "httprequest": "GET /health",
        "interval": "1000", "units3": "MSEC", "resptimeout": "950", "units4": "MSEC", "retries": "2", "downtime": "1"}),
    );
    add(&box_, "gslbsite", &json!({"sitename": "east", "sitetype": "LOCAL", "siteipaddress": "192.0.2.1"}));
    add(&box_, "gslbsite", &json!({"sitename": "west", "siteipaddress": "198.51.100.1"}));
    add(&box_, "gslbservice", &service("gs-east", &east, "192.0.2.10", "east"));
    add(&box_, "gslbservice", &service("gs-west", &west, "198.51.100.10", "west"));
    for name in ["gs-east", "gs-west"] {
        add(&box_, "gslbservice_lbmonitor_binding", &json!({"servicename": name, "monitor_name": "quick"}));
    }
    add(&box_, "gslbvserver", &json!({"name": "gv", "servicetype": "HTTP", "mir": "ENABLED"}));
    add(&box_, "gslbvserver_domain_binding", &json!({"name": "gv", "domainname": "www.made.example.test", "ttl": 5}));
    add(&box_, "gslbvserver_gslbservice_binding", &json!({"name": "gv", "servicename": "gs-east"}));
    within(SOON, "one site answers", || answers(&box_, "www.made.example.test") == ["192.0.2.10"]);
    add(&box_, "gslbvserver_gslbservice_binding", &json!({"name": "gv", "servicename": "gs-west"}));
    within(SOON, "both answer", || answers(&box_, "www.made.example.test") == ["192.0.2.10", "198.51.100.10"]);
    add(&box_, "dnsaddrec", &json!({"hostname": "static.example.test", "ipaddress": "203.0.113.5"}));
    assert_eq!(answers(&box_, "static.example.test"), ["203.0.113.5"]);
    east.kill();
    within(SOON, "a site is out", || answers(&box_, "www.made.example.test") == ["198.51.100.10"]);

    let state = box_.path("state").display().to_string();
    let (code, told) = box_.run(&["shell", "--state", &state, "-c", "show ns runningConfig", "-c", "save ns config"]);
    assert_eq!(code, 0, "{told}");
    for line in [
        "bind gslb vserver gv -domainName www.made.example.test -TTL 5",
        "add dns addRec static.example.test 203.0.113.5",
    ] {
        assert!(told.contains(line), "{line} is not in\n{told}");
    }
    box_.kill();
    box_.start_again();
    within(SOON, "what was saved answers", || answers(&box_, "www.made.example.test") == ["198.51.100.10"]);

    let lines = ["rm gslb vserver gv", "rm gslb service gs-east", "rm dns addRec static.example.test"];
    let mut arguments = vec!["shell", "--state", &state[..]];
    arguments.extend(lines.iter().flat_map(|line| ["-c", *line]));
    let (code, told) = box_.run(&arguments);
    assert_eq!(code, 0, "{told}");
    assert!(answers(&box_, "www.made.example.test").is_empty());
    assert!(answers(&box_, "static.example.test").is_empty());
}
