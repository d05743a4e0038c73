//! What an operator does to a running process: ending work, asking why, rotating the log.

use std::time::Duration;

use super::box_under_test::{Backend, Box, http, within};

const SECOND: Duration = Duration::from_secs(1);

fn config(backend: &Backend) -> String {
    format!(
        r#"
        [log]
        access = "access.log"
        [service.a]
        type = "HTTP"
        address = "{}"
        health_monitor = false
        [vserver.web]
        type = "HTTP"
        address = "127.0.0.1:0"
        services = ["a"]
        [vserver.web.client_limits]
        everybody = {{ concurrency = 100 }}
        [criterion.old]
        path = {{ starts_with = "/old" }}
        [rule.old]
        vserver = "web"
        priority = 10
        when = [["old"]]
        action = {{ respond = {{ status = 410 }} }}
        "#,
        backend.address
    )
}

#[test]
fn a_kick_resets_what_is_under_way_and_a_new_request_is_served() {
    let backend = Backend::start("a");
    let box_ = Box::start(&config(&backend));
    let vip = box_.vip("web");
    for by_id in [false, true] {
        let slow = std::thread::spawn(move || http(vip, "GET", "/slow?ms=15000", "", &[]));
        within(SECOND * 5, "it is under way", || box_.get("/services/a")["active"] == 1);
        if by_id {
            let all = box_.get("/connections?service=a");
            let busy = all["items"].as_array().expect("a list").iter().find(|c| c["state"] != "idle").expect("one");
            box_.act("DELETE", &format!("/connections/{}", busy["id"]), "");
        } else {
            let state = box_.path("state").display().to_string();
            let (code, told) = box_.run(&["shell", "--state", &state, "-c", "kill service a"]);
            assert_eq!(code, 0, "{told}");
        }
        assert!(slow.join().expect("the client lives").is_err(), "it got no answer");
        within(SECOND * 5, "nothing is left", || box_.get("/services/a")["active"] == 0);
        assert_eq!(http(vip, "GET", "/", "", &[]).expect("an answer").status, 200);
    }
    let stats = box_.get("/stats/vservers/web");
    let kicked = stats["endings"].as_array().expect("a list").iter().find(|e| e["reason"] == "kicked");
    assert_eq!(kicked.expect("it is counted")["total"], 2, "{stats}");
}

#[test]
fn a_request_is_explained_over_a_whole_process_and_nothing_is_counted() {
    let backend = Backend::start("a");
    let box_ = Box::start(&config(&backend));
    let state = box_.path("state").display().to_string();
    let explain =
        |more: &[&str]| box_.run(&[&["explain", "request", "--vserver", "web", "--state", &state], more].concat());
    let (code, told) = explain(&["--path", "/x", "--client", "192.0.2.7"]);
    assert_eq!(code, 0, "{told}");
    for line in ["limit everybody: not tried", "rule old of web: false", "served by a ("] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    let (_, told) = explain(&["--path", "/old/x"]);
    assert!(told.contains("acts") && told.contains("verdict: respond 410"), "{told}");
    box_.act("POST", "/services/a/disable", "");
    let (_, told) = explain(&[]);
    assert!(told.contains("a OFS") && told.contains("refused: appliance/queue/no_member_up"), "{told}");
    let (code, told) = box_.run(&["explain", "request", "--vserver", "wbe", "--state", &state]);
    assert!(code == 1 && told.contains("did you mean `web`"), "{told}");
    assert_eq!(box_.get("/stats/vservers/web")["requests"]["total"], 0);
}

#[test]
fn a_rotated_access_log_is_left_at_the_next_hangup_and_no_line_is_lost() {
    let backend = Backend::start("a");
    let box_ = Box::start(&config(&backend));
    let vip = box_.vip("web");
    let read = |name: &str| std::fs::read_to_string(box_.path(name)).unwrap_or_default();
    let asked = |path: &str| drop(http(vip, "GET", path, "", &[]).expect("an answer"));
    asked("/one");
    within(SECOND * 5, "its line is written", || read("access.log").contains("/one"));
    std::fs::rename(box_.path("access.log"), box_.path("access.log.1")).expect("it is moved");
    asked("/two");
    within(SECOND * 5, "it goes to the file that is open", || read("access.log.1").contains("/two"));
    box_.signal("HUP");
    within(SECOND * 5, "a new file is there", || box_.path("access.log").exists());
    asked("/three");
    within(SECOND * 5, "its line is in the new file", || read("access.log").contains("/three"));
    assert!(!read("access.log.1").contains("/three") && !read("access.log").contains("/two"));
}

#[test]
fn the_ready_file_follows_what_listens() {
    let backend = Backend::start("a");
    let box_ = Box::start(&config(&backend));
    let read = || -> serde_json::Value {
        let text = std::fs::read_to_string(box_.path("ready.json")).expect("it is always there");
        serde_json::from_str(&text).expect("and whole")
    };
    let (first, web) = (read(), box_.vip("web").to_string());
    let more = "[vserver.more]\ntype = \"HTTP\"\naddress = \"127.0.0.1:0\"\nservices = [\"a\"]\n";
    let apply = |text: &str| {
        std::fs::write(box_.path("box.toml"), text).expect("it is written");
        box_.signal("HUP");
    };
    apply(&(config(&backend) + more));
    within(SECOND * 5, "the new VIP is in it", || read()["vservers"]["more"].is_string());
    let more_at: std::net::SocketAddr = read()["vservers"]["more"].as_str().unwrap().parse().unwrap();
    assert_eq!(read()["vservers"]["web"], web[..]);
    assert_eq!(http(more_at, "GET", "/", "", &[]).expect("it serves").status, 200);
    apply(&config(&backend));
    within(SECOND * 5, "it is gone from it", || read() == first);
    assert!(!box_.path("ready.json.new").exists());
}
