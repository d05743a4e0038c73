//! An appliance kept in one file and brought back, and what it tells of itself to whoever helps.

use std::collections::BTreeMap;
use std::io::Read as _;

use super::box_under_test::{Backend, Box};

const CONFIG: &str = r#"
    [switch.go]
    [service.a]
    type = "HTTP"
    monitors = []
    address = "ADDRESS"
    [vserver.web]
    type = "HTTP"
    address = "127.0.0.1:0"
    services = ["a"]
"#;

/// Whose hash is a secret.
const USER: &str = r#"
    [admin.user.ops]
    role = "operator"
    password_hash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0$YmFzY3VsZS1zZWNyZXQtaGFzaC1oZXJlIS1zZWNyZXQ"
"#;

fn text(path: &std::path::Path) -> String {
    path.display().to_string()
}

#[test]
fn what_was_kept_of_a_running_appliance_goes_on_where_it_was_on_another_machine() {
    let a = Backend::start("a");
    let mut box_ = Box::start(&CONFIG.replace("ADDRESS", &a.address.to_string()));
    box_.act("PUT", "/switches/go", r#"{"value": true}"#);
    let (archive, config, state) = (box_.path("kept.tar.gz"), box_.path("box.toml"), box_.path("state"));
    let places = ["--config", &text(&config), "--state", &text(&state)];
    let (status, told) = box_.run(&[&["backup", &text(&archive)], &places[..]].concat());
    assert_eq!(status, 0, "{told}");
    let (status, told) = box_.run(&[&["restore", &text(&archive)], &places[..]].concat());
    assert!(status == 1 && told.contains(&format!("in use by process {}", box_.pid())), "{told}");
    box_.act("PUT", "/switches/go", r#"{"value": false}"#);
    box_.kill();
    std::fs::rename(&state, box_.path("lost")).expect("it is lost");
    std::fs::remove_file(&config).expect("it is lost");
    let (status, told) = box_.run(&[&["restore", &text(&archive)], &places[..]].concat());
    assert_eq!(status, 0, "{told}");
    box_.start_again();
    assert_eq!(box_.get("/switches/go")["value"], true, "as it was when it was kept");
    let (status, told) = box_.run(&["replay", &text(&state)]);
    assert_eq!(status, 0, "{told}");
}

#[test]
fn a_bundle_for_support_holds_states_and_figures_and_no_secret() {
    let a = Backend::start("a");
    let box_ = Box::start(&(CONFIG.replace("ADDRESS", &a.address.to_string()) + USER));
    let archive = box_.path("support.tar.gz");
    let (status, told) = box_.run(&["support", &text(&archive), "--state", &text(&box_.path("state"))]);
    assert_eq!(status, 0, "{told}");
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(std::fs::File::open(archive).expect("it is there")));
    let mut pieces = BTreeMap::new();
    for entry in tar.entries().expect("an archive") {
        let mut entry = entry.expect("a piece");
        let mut content = String::new();
        entry.read_to_string(&mut content).expect("text");
        pieces.insert(entry.path().expect("a name").display().to_string(), content);
    }
    let piece = |name: &str| pieces.get(&format!("bascule-support/{name}")).unwrap_or_else(|| panic!("{name}: {told}"));
    assert!(piece("config.toml").contains("[vserver.web]"));
    assert!(piece("vservers.json").contains("\"UP\""));
    assert!(piece("metrics.txt").contains("bascule_"));
    assert!(piece("journal.json").contains("\"start\""));
    assert!(piece("process/status").contains(&format!("Pid:\t{}", box_.pid())));
    let told: Vec<_> = pieces.iter().filter(|(_, text)| text.contains("YmFzY3VsZS1zZWNyZXQ")).collect();
    assert!(told.is_empty(), "{told:?}");
    assert!(piece("about.json").contains("\"missing\""));
}

#[test]
fn packets_of_both_legs_are_written_or_the_missing_right_is_said() {
    let a = Backend::start("a");
    let box_ = Box::start(&CONFIG.replace("ADDRESS", &a.address.to_string()));
    let (vip, file) = (box_.vip("web"), box_.path("web.pcapng"));
    let state = text(&box_.path("state"));
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let tracing = std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = super::box_under_test::http(vip, "GET", "/", "", &[]);
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        });
        let traced = box_.run(&["nstrace", &text(&file), "--vserver", "web", "--time", "2s", "--state", &state]);
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        load.join().expect("the client lives");
        traced
    });
    if tracing.0 == 1 && tracing.1.contains("CAP_NET_RAW") {
        assert!(!file.exists());
        return;
    }
    assert_eq!(tracing.0, 0, "{}", tracing.1);
    let written = std::fs::read(&file).expect("it is there");
    assert_eq!(written[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    for (leg, port) in [("to the VIP", vip.port()), ("to the server", a.address.port())] {
        // A segment to this port over the loopback: from 127.0.0.1 to 127.0.0.1, no options.
        let is_one = |at: &[u8]| at[..8] == [127, 0, 0, 1, 127, 0, 0, 1] && at[10..12] == port.to_be_bytes();
        assert!(written.windows(12).any(is_one), "{leg}: {}", tracing.1);
    }
}
