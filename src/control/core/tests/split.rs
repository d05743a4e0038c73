//! Shares of groups, moved by a command.

use std::fs;
use std::path::PathBuf;

use super::bench::Bench;
use crate::control::command::{Command, Done, Note, Refusal};
use crate::model::balancing::Shares;
use crate::model::id::Name;

const SHOP: &str = r#"schema = 1
[service_group]
blue  = { type = "HTTP", health_monitor = false, member.one = { address = "127.0.0.1:1" } }
green = { type = "HTTP", health_monitor = false, member.one = { address = "127.0.0.1:2" } }
[vserver.shop]
type   = "HTTP"
address = "127.0.0.1:0"
groups = ["blue", "green"]
split  = { blue = 95, green = 5 }
[vserver.plain]
type   = "HTTP"
address = "127.0.0.1:0"
groups = ["blue", "green"]
"#;

fn world() -> (tempfile::TempDir, PathBuf, Bench) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("box.toml");
    fs::write(&path, SHOP).unwrap();
    let bench = Bench::with_file(&path);
    (dir, path, bench)
}

fn split(vserver: &str, shares: Option<&[(&str, u8)]>) -> Command {
    let shares = shares.map(|s| s.iter().map(|&(group, share)| (Name::from(group), share)).collect::<Shares>());
    Command::SetSplit { vserver: vserver.into(), shares, note: Note::default() }
}

fn run(bench: &mut Bench, command: Command) -> Result<Done, Refusal> {
    bench.command(command).try_recv().expect("answered at once")
}

/// What traffic goes by.
fn published(bench: &mut Bench) -> Vec<u8> {
    let shares = |w: &crate::control::World<'_>| {
        let shop = &w.snapshot.vservers[w.model.vserver_id("shop").unwrap().index()];
        let pools = shop.chooser.tiers[0].pools.as_ref().unwrap();
        pools.iter().map(|pool| pool.share).collect()
    };
    bench.read(shares).unwrap()
}

#[test]
fn a_split_moves_what_traffic_goes_by_and_a_dry_run_only_says_so() {
    let (_dir, _, mut bench) = world();
    let moved = split("shop", Some(&[("green", 40), ("blue", 60)]));
    let done = run(&mut bench, Command::DryRun(Box::new(moved.clone()))).unwrap();
    assert_eq!(done.changes, ["vserver shop: split blue 95, green 5 → blue 60, green 40"]);
    assert_eq!((published(&mut bench), bench.kinds().iter().filter(|k| *k == "act").count()), (vec![95, 5], 0));
    run(&mut bench, moved).unwrap();
    assert_eq!((published(&mut bench), bench.kinds().iter().filter(|k| *k == "act").count()), (vec![60, 40], 1));
    run(&mut bench, split("shop", None)).unwrap();
    assert_eq!(published(&mut bench), [95, 5]);
}

#[test]
fn a_split_that_cannot_be_meant_is_refused_in_words_and_changes_nothing() {
    let (_dir, _, mut bench) = world();
    /// A vserver, its shares, what is wrong with them.
    type Case = (&'static str, &'static [(&'static str, u8)], &'static str);
    let cases: [Case; 5] = [
        ("shop", &[("blue", 60)], "says nothing of `green`"),
        ("shop", &[("blue", 60), ("green", 50)], "are 110 together, not 100"),
        ("shop", &[("blue", 60), ("red", 40)], "`red` is not among the groups of the split: blue, green"),
        ("shop", &[("blue", 60), ("green", 40), ("green", 0)], "names `green` twice"),
        ("plain", &[("blue", 60), ("green", 40)], "has no `split` that could be moved"),
    ];
    for (vserver, shares, why) in cases {
        let refused = run(&mut bench, split(vserver, Some(shares))).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    assert!(matches!(run(&mut bench, split("none", None)), Err(Refusal::Unknown(_))));
    assert_eq!(published(&mut bench), [95, 5]);
}

#[test]
fn a_reload_keeps_a_moved_split_and_says_so_where_the_file_has_another() {
    let (_dir, path, mut bench) = world();
    run(&mut bench, split("shop", Some(&[("blue", 60), ("green", 40)]))).unwrap();
    assert_eq!(run(&mut bench, Command::Reload).unwrap().warnings, Vec::<String>::new());
    fs::write(&path, SHOP.replace("blue = 95, green = 5", "blue = 90, green = 10")).unwrap();
    let warnings = run(&mut bench, Command::Reload).unwrap().warnings;
    assert_eq!(
        warnings,
        [
            "vserver shop: the split that admin:nsroot has set stays in force; set it to none to follow the configuration"
        ]
    );
    assert_eq!(published(&mut bench), [60, 40]);
    run(&mut bench, split("shop", None)).unwrap();
    assert_eq!(published(&mut bench), [90, 10]);
}

#[test]
fn a_share_for_a_group_without_a_member_up_is_warned_of() {
    let (_dir, path, _) = world();
    let text = SHOP.replace("green = { type = \"HTTP\", health_monitor = false,", "green = { type = \"HTTP\",");
    fs::write(&path, text).unwrap();
    let mut bench = Bench::with_file(&path);
    let done = run(&mut bench, split("shop", Some(&[("blue", 60), ("green", 40)]))).unwrap();
    assert_eq!(done.warnings, ["group green has no member UP: its share goes to the others"]);
}
