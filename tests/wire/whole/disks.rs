//! Disks that are full, and disks that cannot be written: traffic goes on, what people do is refused with the reason, and
//! all of it comes back by itself.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::box_under_test::{Backend, Box, http, within};

const PATIENT: Duration = Duration::from_secs(10);

/// Set where file systems cannot be mounted, by whoever accepts that this is not shown then.
const WITHOUT_NAMESPACES: &str = "BASCULE_WITHOUT_NAMESPACES";

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

#[test]
fn a_full_disk_and_a_read_only_one_stop_no_traffic_and_refuse_what_people_do_with_the_reason() {
    if std::env::var_os(WITHOUT_NAMESPACES).is_some() {
        eprintln!("NOT SHOWN: disks that are full, since {WITHOUT_NAMESPACES} is set");
        return;
    }
    // Root has namespaces for the asking; others by way of a user namespace, where the machine allows it.
    let own = Command::new("unshare").args(["--mount", "true"]).output().is_ok_and(|done| done.status.success());
    let how: &[&str] = if own { &["--mount"] } else { &["--user", "--map-root-user", "--mount"] };
    let name = module_path!().split_once("::").expect("a path").1;
    std::thread::scope(|scope| {
        for inside in ["on_a_disk_that_is_full", "on_a_disk_that_is_read_only"] {
            scope.spawn(move || {
                let done = Command::new("unshare")
                    .args(how)
                    .arg(std::env::current_exe().expect("this test"))
                    .args(["--ignored", "--exact", &format!("{name}::{inside}")])
                    .output()
                    .expect("unshare: util-linux");
                let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
                assert!(
                    done.status.success() && said.contains("1 passed"),
                    "it needs a mount namespace; where there are none, set {WITHOUT_NAMESPACES}\n{said}"
                );
            });
        }
    });
}

fn mount(arguments: &[&str]) {
    assert!(Command::new("mount").args(arguments).status().expect("mount is there").success());
}

/// A box that people have done something to and that was killed, with its state on a small disk of its own.
fn on_its_own_disk(backend: &Backend) -> Box {
    let mut box_ = Box::start(&CONFIG.replace("ADDRESS", &backend.address.to_string()));
    box_.act("PUT", "/switches/go", r#"{"value": true}"#);
    box_.kill();
    let (state, aside) = (box_.path("state"), box_.path("aside"));
    std::fs::rename(&state, &aside).expect("it is moved");
    std::fs::create_dir(&state).expect("a folder");
    mount(&["-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", &state.display().to_string()]);
    for file in std::fs::read_dir(&aside).expect("files").flatten().filter(|file| file.path().is_file()) {
        std::fs::copy(file.path(), state.join(file.file_name())).expect("it is copied");
    }
    box_
}

fn fill(path: &Path) {
    let mut file = std::fs::File::create(path).expect("a file");
    while file.write_all(&[0; 4096]).is_ok() {}
}

fn serves(box_: &Box) {
    let answer = http(box_.vip("web"), "GET", "/", "", &[]).expect("an answer");
    assert_eq!(answer.status, 200, "{}", answer.body);
}

fn is_refused(box_: &Box, why: &str) {
    let (status, answer) = box_.send("PUT", "/switches/go", r#"{"value": false}"#);
    assert_eq!((status, &answer["code"]), (500, &"disk".into()), "{answer}");
    assert!(answer["detail"].as_str().is_some_and(|text| text.contains(why)), "{answer}");
    let told = box_.get("/status");
    assert!(told["not_durable"].as_str().is_some_and(|text| text.contains(why)), "{told}");
    let problem = told["problems"][0]["text"].as_str().unwrap_or_default();
    assert!(problem.contains("not saved") && problem.contains(why), "{told}");
    assert_eq!(box_.get("/switches/go")["value"], true, "nothing was done");
}

fn is_mended(box_: &Box) {
    within(PATIENT, "it is saved again", || box_.get("/status")["not_durable"].is_null());
    assert_eq!(box_.get("/status")["problems"], serde_json::json!([]));
    box_.act("PUT", "/switches/go", r#"{"value": false}"#);
    let (status, text) = box_.run(&["replay", &box_.path("state").display().to_string()]);
    assert_eq!(status, 0, "{text}");
}

#[test]
#[ignore = "is run by the test of full disks, in a mount namespace"]
fn on_a_disk_that_is_full() {
    let backend = Backend::start("a");
    let mut box_ = on_its_own_disk(&backend);
    box_.start_again();
    let filler = box_.path("state/filler");
    fill(&filler);
    is_refused(&box_, "make room");
    serves(&box_);
    let file = std::fs::read_to_string(box_.path("box.toml")).expect("FILE");
    let fields = [("Content-Type", "application/toml")];
    let more = file.clone() + "[switch.more]\n";
    let applied = http(box_.admin, "PUT", "/api/v1/config", &more, &fields).expect("an answer");
    assert!(applied.status == 200 && applied.body.contains("not in the journal yet"), "{}", applied.body);
    assert!(http(box_.admin, "PUT", "/api/v1/config", &file, &fields).is_ok_and(|answer| answer.status == 200));
    let state = box_.path("state").display().to_string();
    let (status, told) = box_.run(&["handover", "--state", &state]);
    assert!(status == 1 && told.contains("goes on"), "nothing is handed over without its state: {status} {told}");
    is_refused(&box_, "make room");
    // After a power loss too it serves from what is saved.
    box_.kill();
    box_.start_again();
    is_refused(&box_, "make room");
    serves(&box_);
    std::fs::remove_file(&filler).expect("it is there");
    is_mended(&box_);
    let (status, told) = box_.run(&["handover", "--state", &state]);
    assert_eq!(status, 0, "{told}");
}

#[test]
#[ignore = "is run by the test of full disks, in a mount namespace"]
fn on_a_disk_that_is_read_only() {
    let backend = Backend::start("a");
    let mut box_ = on_its_own_disk(&backend);
    let state = box_.path("state").display().to_string();
    mount(&["-o", "remount,ro", &state]);
    box_.start_again();
    is_refused(&box_, "read-only");
    serves(&box_);
    mount(&["-o", "remount,rw", &state]);
    is_mended(&box_);
    box_.kill();
    box_.start_again();
    assert_eq!(box_.get("/switches/go")["value"], false, "what was done then is kept");
}
