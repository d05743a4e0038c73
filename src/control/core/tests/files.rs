//! The configuration and its FILE.

use std::fs;
use std::path::PathBuf;

use super::bench::Bench;
use crate::control::command::{Command, Done, Format, Refusal};
use crate::model::id::Name;

const BOX: &str = r#"# ours
schema = 1
[service.web1]   # the first
type = "HTTP"
address = "127.0.0.1:8001"
[vserver.web]
type = "HTTP"
address = "127.0.0.1:0"
services = ["web1"]
"#;

fn world() -> (tempfile::TempDir, PathBuf, Bench) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("box.toml");
    fs::write(&path, BOX).unwrap();
    let bench = Bench::with_file(&path);
    (dir, path, bench)
}

fn run(bench: &mut Bench, command: Command) -> Result<Done, Refusal> {
    bench.command(command).try_recv().expect("answered at once")
}

fn apply(bench: &mut Bench, text: &str, dry_run: bool) -> Result<Done, Refusal> {
    run(bench, Command::ApplyConfig { text: text.to_owned(), format: Format::Toml, dry_run, if_hash: None })
}

fn status(bench: &mut Bench) -> (bool, bool) {
    bench.read(|w| (w.config.unsaved, w.config.hash == w.config.saved_hash)).unwrap()
}

/// What runs as its canonical printing, changed: what `GET /config`, an edit and `PUT /config` come to.
fn edited(bench: &mut Bench, from: &str, to: &str) -> String {
    let text = bench.read(|w| crate::config::render::render(w.model)).unwrap();
    assert!(text.contains(from), "{text}");
    text.replacen(from, to, 1)
}

#[test]
fn what_is_applied_runs_and_is_unsaved_until_it_is_saved() {
    let (_dir, path, mut bench) = world();
    let text = edited(&mut bench, "max_client = 0", "max_client = 7");
    assert_eq!(apply(&mut bench, &text, true).unwrap().changes, ["service web1: changed (max_client: 0 → 7)"]);
    assert_eq!(status(&mut bench), (false, true), "a dry run changes nothing");
    apply(&mut bench, &text, false).unwrap();
    assert_eq!(bench.read(|w| w.model.services[0].settings.max_client), Some(7));
    assert_eq!(status(&mut bench), (true, false));

    assert_eq!(run(&mut bench, Command::Save).unwrap().warnings, Vec::<String>::new());
    assert_eq!(status(&mut bench), (false, true));
    let expected = BOX.replace("address = \"127.0.0.1:8001\"\n", "address = \"127.0.0.1:8001\"\nmax_client = 7\n");
    assert_eq!(fs::read_to_string(&path).unwrap(), expected, "only what changed, and the comments stay");
    assert_eq!(fs::read_to_string(path.with_extension("toml.1")).unwrap(), BOX);
    assert!(run(&mut bench, Command::Reload).unwrap().changes.is_empty());
}

#[test]
fn what_was_added_in_few_words_is_saved_in_few_words() {
    let (_dir, path, mut bench) = world();
    let text = format!("{BOX}\n[service.web2]\ntype = \"HTTP\"\naddress = \"127.0.0.1:8002\"\n");
    apply(&mut bench, &text, false).unwrap();
    run(&mut bench, Command::Save).unwrap();
    let saved = fs::read_to_string(&path).unwrap();
    let web2 = saved.split("[service.web2]").nth(1).unwrap_or_default();
    let keys = web2.lines().skip(1).take_while(|line| line.contains('=')).count();
    assert_eq!(keys, 2, "{saved}");
    assert!(run(&mut bench, Command::Reload).unwrap().changes.is_empty());
}

#[test]
fn services_in_an_order_of_their_own_and_certificates_do_not_make_a_save_write_everything() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("box.toml");
    let signed = rcgen::generate_simple_self_signed(["www.test".to_owned()]).unwrap();
    fs::write(dir.path().join("www.pem"), signed.cert.pem()).unwrap();
    fs::write(dir.path().join("www.key"), signed.signing_key.serialize_pem()).unwrap();
    let services = "# the large one first\nservices = { b = 3, a = 1 }";
    let web2 = "[service.b]\ntype = \"HTTP\"\naddress = \"127.0.0.1:8002\"\n[service.a]\ntype = \"HTTP\"\n\
                address = \"127.0.0.1:8003\"\n[certificate.www]\ncertificate = \"www.pem\"\nkey = \"www.key\"\n[vserver.web]";
    let file = BOX.replace("[vserver.web]", web2).replace("services = [\"web1\"]", services);
    fs::write(&path, &file).unwrap();
    let mut bench = Bench::with_file(&path);
    let text = edited(&mut bench, "lb_method = \"LEASTCONNECTION\"", "lb_method = \"ROUNDROBIN\"");
    apply(&mut bench, &text, false).unwrap();
    assert_eq!(run(&mut bench, Command::Save).unwrap().warnings, Vec::<String>::new());
    let saved = fs::read_to_string(&path).unwrap();
    assert_eq!(saved, format!("{file}lb_method = \"ROUNDROBIN\"\n"));
    assert!(run(&mut bench, Command::Reload).unwrap().changes.is_empty());
}

#[test]
fn a_bad_configuration_changes_nothing() {
    let (_dir, path, mut bench) = world();
    assert!(matches!(apply(&mut bench, "schema = 1\nnope = 1\n", false), Err(Refusal::BadConfig(_))));
    fs::write(&path, "schema = ").unwrap();
    assert!(matches!(run(&mut bench, Command::Reload), Err(Refusal::BadConfig(_))));
    fs::remove_file(&path).unwrap();
    assert!(matches!(run(&mut bench, Command::Reload), Err(Refusal::Disk(_))));
    assert_eq!(status(&mut bench), (false, true));
    assert_eq!(bench.read(|w| w.model.services.len()), Some(1));
}

#[test]
fn a_reload_that_was_refused_is_remembered_until_one_is_taken_or_the_file_is_written() {
    let (_dir, path, mut bench) = world();
    let failed = |bench: &mut Bench| bench.read(|w| w.config.reload_failed.clone().map(|(_, why)| why)).unwrap();
    for mend in [Command::Reload, Command::Save] {
        fs::write(&path, "schema = 1\nnope = 1\nneither = 2\n").unwrap();
        assert!(run(&mut bench, Command::Reload).is_err());
        let why = failed(&mut bench).expect("remembered");
        assert!(why.contains("nope") && why.contains("more"), "{why}");
        assert!(apply(&mut bench, "nope = 1", false).is_err());
        if matches!(mend, Command::Reload) {
            fs::write(&path, BOX).unwrap();
        }
        run(&mut bench, mend).unwrap();
        assert_eq!(failed(&mut bench), None);
    }
}

#[test]
fn a_reload_says_which_unsaved_changes_it_drops() {
    let (_dir, path, mut bench) = world();
    let text = edited(&mut bench, "max_client = 0", "max_client = 7");
    apply(&mut bench, &text, false).unwrap();
    fs::write(&path, BOX.replace("8001", "8002")).unwrap();
    let done = run(&mut bench, Command::Reload).unwrap();
    assert!(
        done.warnings.iter().any(|w| w == "unsaved change dropped: service web1: changed (max_client: 0 → 7)"),
        "{:?}",
        done.warnings
    );
    assert_eq!(bench.read(|w| (w.model.services[0].port, w.model.services[0].settings.max_client)), Some((8002, 0)));
    assert_eq!(status(&mut bench), (false, true));
}

#[test]
fn a_save_over_a_file_that_somebody_else_changed_keeps_and_names_that_version() {
    let (_dir, path, mut bench) = world();
    let text = edited(&mut bench, "max_client = 0", "max_client = 7");
    apply(&mut bench, &text, false).unwrap();
    let theirs = BOX.replace("8001", "8002");
    fs::write(&path, &theirs).unwrap();
    let done = run(&mut bench, Command::Save).unwrap();
    assert!(done.warnings[0].contains("was changed since it was read"), "{:?}", done.warnings);
    assert_eq!(fs::read_to_string(path.with_extension("toml.1")).unwrap(), theirs);
    assert!(run(&mut bench, Command::Reload).unwrap().changes.is_empty(), "FILE means what runs");
}

#[test]
fn a_save_of_what_stands_in_an_include_says_that_it_moves() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("box.toml");
    let (root, rest) = BOX.split_at(BOX.find("[service").unwrap());
    fs::write(&path, format!("{root}include = [\"apps.toml\"]\n")).unwrap();
    fs::write(dir.path().join("apps.toml"), rest).unwrap();
    let mut bench = Bench::with_file(&path);
    let text = edited(&mut bench, "max_client = 0", "max_client = 7");
    apply(&mut bench, &text, false).unwrap();
    let done = run(&mut bench, Command::Save).unwrap();
    assert!(done.warnings.iter().any(|w| w.contains("no longer includes other files")), "{:?}", done.warnings);
    assert!(run(&mut bench, Command::Reload).unwrap().changes.is_empty());
    assert_eq!(bench.read(|w| w.model.services[0].settings.max_client), Some(7));
}

#[test]
fn a_save_makes_file_mean_what_runs_whether_or_not_anything_was_changed_here() {
    let (_dir, path, mut bench) = world();
    run(&mut bench, Command::Save).unwrap();
    assert!(!path.with_extension("toml.1").exists(), "FILE says so already: nothing is written");

    fs::remove_file(&path).unwrap();
    run(&mut bench, Command::Save).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), BOX);

    let theirs = BOX.replace("8001", "8002");
    fs::write(&path, &theirs).unwrap();
    let done = run(&mut bench, Command::Save).unwrap();
    assert!(done.warnings[0].contains("was changed since it was read"), "{:?}", done.warnings);
    assert_eq!(fs::read_to_string(path.with_extension("toml.1")).unwrap(), theirs);
    assert!(run(&mut bench, Command::Reload).unwrap().changes.is_empty());
}

#[test]
fn of_two_who_edit_the_same_configuration_the_second_is_told() {
    let (_dir, _, mut bench) = world();
    let hash: Name = bench.read(|w| w.config.hash.as_str().into()).unwrap();
    let edit = |port: &str| Command::ApplyConfig {
        text: BOX.replace("8001", port),
        format: Format::Toml,
        dry_run: false,
        if_hash: Some(vec![Name::clone(&hash)]),
    };
    run(&mut bench, edit("8002")).unwrap();
    assert!(matches!(run(&mut bench, edit("8003")), Err(Refusal::Stale(_))));
    assert_eq!(bench.read(|w| w.model.services[0].port), Some(8002));
}
