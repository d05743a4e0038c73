//! A handover changes the program alone: what runs goes on, whatever lies on the disk; and the command says who serves.

use std::time::Duration;

use super::box_under_test::{Backend, Box, http, within};
use super::handover::{config, hand_over, holder, journal, replays, script};

fn without_web(text: &str) -> String {
    let (before, rest) = text.split_once("[vserver.web]").expect("it is there");
    let (_, after) = rest.split_once("[switch.go]").expect("it is there");
    format!("{before}[switch.go]{after}")
}

fn web_answers(box_: &Box) -> bool {
    http(box_.vip("web"), "GET", "/", "", &[]).is_ok_and(|answer| answer.status == 200)
}

fn refused(box_: &Box, why: &str) {
    let pid = box_.pid();
    let (status, text) = hand_over(box_);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains(why) && text.contains(&format!("process {pid} goes on")), "{why}: {text}");
    assert_eq!(holder(box_), Some(pid));
    assert!(web_answers(box_), "{why}");
}

#[test]
fn a_file_that_was_edited_and_not_taken_is_refused_until_it_is_taken_or_written_over() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let mut box_ = Box::start(&config(&[&a, &b], ""));
    let state = box_.path("state").display().to_string();
    let file = box_.path("box.toml");
    let good = std::fs::read_to_string(&file).expect("the configuration");
    std::fs::write(&file, without_web(&good)).expect("it is written");
    refused(&box_, "`bascule reload`");
    std::fs::remove_file(&file).expect("it is there");
    refused(&box_, "`save config`");
    // A comment means nothing else, and what people have set is no configuration.
    box_.act("POST", "/services/s1/disable", r#"{"reason": "before"}"#);
    std::fs::write(&file, format!("# the same\n{good}")).expect("it is written");
    let (status, text) = hand_over(&box_);
    assert_eq!(status, 0, "{text}");
    box_.handed_over();
    assert!(web_answers(&box_));
    let edited = good.replace("interval = \"500ms\"", "interval = \"600ms\"");
    std::fs::write(&file, edited).expect("it is written");
    let (status, text) = hand_over(&box_);
    assert!(status == 1 && text.contains("`bascule diff"), "{status} {text}");
    let (status, text) = box_.run(&["reload", "--state", &state]);
    assert_eq!(status, 0, "{text}");
    let (status, text) = hand_over(&box_);
    assert_eq!(status, 0, "{text}");
    within(Duration::from_secs(10), "the newest one is ready", || {
        box_.read_ready_again();
        Some(box_.heir()) == holder(&box_)
    });
    journal(&box_);
    replays(&box_);
}

#[test]
fn a_new_process_that_does_not_have_a_vserver_which_is_up_never_takes_over() {
    let (a, b) = (Backend::start("a"), Backend::start("b"));
    let box_ = Box::start_program(&config(&[&a, &b], ""));
    let (file, other) = (box_.path("box.toml"), box_.path("other.toml"));
    let good = std::fs::read_to_string(&file).expect("the configuration");
    std::fs::write(&other, without_web(&good)).expect("it is written");
    let (file, other) = (file.display().to_string(), other.display().to_string());
    let line = format!("for a in \"$@\"; do shift; [ \"$a\" = '{file}' ] && a='{other}'; set -- \"$@\" \"$a\"; done");
    script(&box_.path("program"), &format!("{line}\nexec '{}' \"$@\"", env!("CARGO_BIN_EXE_bascule")));
    refused(&box_, "has no vserver web");
    replays(&box_);
}

#[test]
fn a_command_whose_process_is_killed_meanwhile_says_who_serves_or_that_nobody_does() {
    for both in [false, true] {
        let (a, b) = (Backend::start("a"), Backend::start("b"));
        let (_silent, more) = super::handover_attacked::silent();
        let mut box_ = Box::start(&config(&[&a, &b], &more));
        let pid = box_.pid();
        let (heir, (status, text)) = std::thread::scope(|scope| {
            let asking = scope.spawn(|| hand_over(&box_));
            let mut heir = None;
            within(Duration::from_secs(20), "another process has the state", || {
                heir = holder(&box_).filter(|holder| *holder != pid);
                heir.is_some()
            });
            let heir = heir.expect("it is there");
            box_.signal("KILL");
            if both {
                super::handover_attacked::signal(heir, "KILL");
            }
            (heir, asking.join().expect("it ends"))
        });
        box_.kill();
        if both {
            assert!(status == 3 && text.contains("no other one serves"), "{status} {text}");
            box_.start_again();
        } else {
            assert_eq!(status, 0, "{text}");
            assert!(text.contains(&format!("process {heir} serves in its place")), "{text}");
            within(Duration::from_secs(10), "it is ready", || {
                box_.read_ready_again();
                box_.heir() == heir
            });
        }
        assert!(web_answers(&box_));
    }
}
