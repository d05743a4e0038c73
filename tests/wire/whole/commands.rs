//! Commands of the shell against a process: traffic follows them, a save makes them last, and what was not saved goes.

use super::box_under_test::{Backend, Box, http};

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
