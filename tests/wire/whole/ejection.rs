//! Passive health, from a server that refuses to what an operator reads of it.

use std::time::Duration;

use super::box_under_test::{Backend, Box, free_port, http, within};

#[test]
fn an_ejection_is_told_with_its_cause_and_its_end_wherever_one_looks() {
    let good = Backend::start("good");
    let appliance = Box::start(&format!(
        r#"
        [defaults.service]
        type = "HTTP"
        health_monitor = false
        passive = {{ connect_failures = 3, eject_time = "1m" }}
        [service.bad]
        address = "127.0.0.1:{}"
        [service.good]
        address = "{}"
        [vserver.web]
        type = "HTTP"
        address = "127.0.0.1:0"
        services = ["bad", "good"]
        lb_method = "ROUNDROBIN"
        "#,
        free_port(),
        good.address
    ));
    let vip = appliance.vip("web");
    for _ in 0..8 {
        assert_eq!(http(vip, "GET", "/", "", &[]).expect("an answer").status, 200, "another member answers");
    }
    let journal = || appliance.get("/journal?kind=ejected")["items"].clone();
    within(Duration::from_secs(5), "the journal has it", || journal().as_array().is_some_and(|all| all.len() == 1));
    let entry = &journal()[0];
    assert_eq!(entry["object"], "service bad");
    assert_eq!((&entry["body"]["cause"], &entry["body"]["count"]), (&"connect_failures".into(), &3.into()));
    assert!(entry["body"]["until"].as_str().is_some_and(|until| until > entry["at"].as_str().unwrap()), "{entry}");

    let bad = appliance.get("/services/bad");
    assert_eq!((&bad["state"], &bad["passive"]), (&"UP".into(), &"ejected".into()));
    assert_eq!(bad["ejected_because"], "3 failed connects in a row");
    let state = appliance.path("state").display().to_string();
    let (code, told) = appliance.run(&["explain", "service", "bad", "--state", &state]);
    assert_eq!(code, 0, "{told}");
    for line in ["service bad is UP\n", "  passive ejected: until ", ": 3 failed connects in a row\n"] {
        assert!(told.contains(line), "{line:?}\n{told}");
    }
    assert!(told.contains("  vserver web: gives it no new clients: ejected: it failed real traffic"), "{told}");
    let (_, told) = appliance.run(&["shell", "-c", "explain service good", "--state", &state]);
    assert!(told.contains("service good is UP\n  vserver web: gives it new clients\n"), "{told}");
    let (code, told) = appliance.run(&["explain", "service", "bda", "--state", &state]);
    assert!(code == 1 && told.contains("did you mean `bad`"), "{told}");
}
