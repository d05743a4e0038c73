//! Commands of the shell against a process: traffic follows them, a save makes them last, and what was not saved goes.

use std::time::Duration;

use serde_json::json;

use super::box_under_test::{Backend, Box, http, within};

#[test]
fn what_is_added_line_by_line_serves_and_lasts_as_far_as_it_was_saved() {
    let (old, new) = (Backend::start("old"), Backend::start("new"));
    let config = format!(
        "# the shop\n[service.old] # first\ntype = \"HTTP\"\naddress = \"{}\"\nhealth_monitor = false\n\n\
         [vserver.web]\ntype = \"HTTP\"\naddress = \"127.0.0.1:0\"\nservices = [\"old\"]\n",
        old.address
    );
    let mut box_ = Box::start(&config);
    let state = box_.path("state").display().to_string();
    let shell = |box_: &Box, lines: &[&str]| {
        let mut arguments = vec!["shell", "--state", &state];
        lines.iter().for_each(|line| arguments.extend(["-c", line]));
        box_.run(&arguments)
    };
    let vip = box_.vip("web");
    let (ip, port) = (new.address.ip(), new.address.port());
    let add = format!("add service new {ip} HTTP {port} -healthMonitor NO");
    let lines = [&add[..], "bind lb vserver web new", "disable service old", "show status", "save config"];
    let (code, told) = shell(&box_, &lines);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("Unsaved changes: `save config` writes them\n"), "{told}");
    assert!(told.contains("\tSaved to ") && told.contains("box.toml\n Done\n"), "{told}");
    let served = http(vip, "GET", "/", "", &[]).expect("an answer");
    assert!(served.body.contains("new"), "{}", served.body);
    let file = std::fs::read_to_string(box_.path("box.toml")).expect("FILE");
    assert!(file.starts_with("# the shop\n[service.old] # first\n") && file.contains("[service.new]"), "{file}");

    let (code, told) = shell(&box_, &["add lb vserver later HTTP", "show ns runningConfig"]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("Warning: there are changes that are not saved: `save ns config` writes them\n"), "{told}");
    // What the command line sets is named, and neither shown nor saved; the text stays the one that was written.
    assert!(told.contains("Warning: `admin.listen` is set on the command line (--set), which wins"), "{told}");
    let (_, toml) = shell(&box_, &["show ns runningConfig -toml"]);
    assert!(toml.starts_with("# the shop\n[service.old] # first\n"), "{toml}");
    assert!(!toml.contains("listen = ") && !file.contains("listen = "), "{toml}\n{file}");
    box_.kill();
    box_.start_again();
    let (code, told) = shell(&box_, &["show service new", "show service old", "show lb vserver later"]);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("State: OUT OF SERVICE"), "what people did lasts without a save: {told}");
    assert!(told.contains("ERROR: No such resource [name, later]"), "{told}");
    let served = http(box_.vip("web"), "GET", "/", "", &[]).expect("an answer");
    assert!(served.body.contains("new"), "{}", served.body);
}

#[test]
fn counters_that_are_cleared_begin_again_for_stat_and_go_on_for_those_who_scrape() {
    let app = Backend::start("app");
    let config = format!(
        "[service.app]\ntype = \"HTTP\"\naddress = \"{}\"\nhealth_monitor = false\n\n\
         [vserver.web]\ntype = \"HTTP\"\naddress = \"127.0.0.1:0\"\nservices = [\"app\"]\n",
        app.address
    );
    let box_ = Box::start(&config);
    let state = box_.path("state").display().to_string();
    let shell = |line: &str| box_.run(&["shell", "--state", &state, "-c", line]).1;
    let hits = |text: &str, what: &str| -> Option<u64> {
        text.lines().find(|line| line.starts_with(what))?.split_whitespace().next_back()?.parse().ok()
    };
    let ask = || assert_eq!(http(box_.vip("web"), "GET", "/", "", &[]).expect("an answer").status, 200);
    (0..3).for_each(|_| ask());
    within(Duration::from_secs(20), "the requests are counted", || {
        hits(&shell("stat lb vserver web"), "Vserver hits") == Some(3)
    });
    let told = shell("stat lb vserver web -clearstats full");
    assert_eq!(hits(&told, "Vserver hits"), Some(3), "what is cleared is told once more: {told}");
    ask();
    within(Duration::from_secs(20), "it is counted", || {
        let told = shell("stat lb vserver web");
        (hits(&told, "Vserver hits"), hits(&told, "Responses")) == (Some(1), Some(1))
    });
    assert_eq!(hits(&shell("stat service app"), "Service hits"), Some(4), "what was not named is not cleared");
    shell("clear ns stats all");
    assert_eq!(hits(&shell("stat service app"), "Service hits"), Some(0));
    assert_eq!(hits(&shell("stat ns"), "HTTP requests"), Some(0));
    assert_eq!(box_.get("/stats/vservers/web")["requests"]["total"], 4, "REST goes on counting");
    let cleared = box_.get("/stats/vservers/web?cleared=true");
    assert!(cleared["requests"]["total"] == 0 && cleared["cleared_at"].is_string(), "{cleared}");
    let journal = box_.get("/journal?kind=access");
    let told: Vec<_> = journal["items"].as_array().expect("a list").iter().map(|item| &item["body"]["of"]).collect();
    assert!(told.contains(&&json!("lbvserver web")) && told.contains(&&json!("nsstats all")), "{told:?}");
}
