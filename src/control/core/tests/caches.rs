//! When caches have let go of what a commit replaced.

use std::time::Duration;

use super::bench::Bench;
use crate::model::event::Outcome;
use crate::model::time::Wall;

const TEXT: &str = r#"
schema = 1
[check.api]
type = "TCP"
target = "127.0.0.1:1"
rise = 1
fall = 1
[scenario.dr.activate]
when = [["api!"]]
[scenario.dr.deactivate]
when = [["api"]]
[zone."example.test"]
ttl = "60s"
soa = { mname = "ns", rname = "hostmaster" }
static = "@ NS ns\nns A 192.0.2.53"
[zone."example.test".rrset."www A"]
degraded_ttl = "5s"
records = ["192.0.2.1", { data = "198.51.100.1", drCond = "dr" }]
"#;

impl Bench {
    /// An answer for `www A` as the data plane gives it, now.
    fn answer_www(&self) {
        let snapshot = self.core.cell().load_full();
        let kept = snapshot.caching.of(0, 0);
        kept.hand(u32::try_from(self.now.wall.0 / 1_000_000).unwrap(), kept.ttl);
    }

    fn caches_over(&self) -> Option<Wall> {
        self.core.status.caches.get("dr").and_then(|told| told.until)
    }
}

fn later(bench: &Bench, seconds: u64) -> Wall {
    let whole = Wall(bench.now.wall.0 / 1_000_000 * 1_000_000);
    whole + Duration::from_secs(seconds)
}

#[test]
fn a_published_commit_tells_by_when_caches_have_let_go_from_the_ttls_really_given() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(TEXT, dir.path());
    bench.probe(Outcome::Pass);
    bench.answer_www();
    let expected = later(&bench, 61);
    bench.wait(Duration::from_secs(10));
    bench.probe(Outcome::Fail);
    assert!(bench.published_active());
    assert_eq!(bench.caches_over(), Some(expected), "the last answer with 60 s was given ten seconds ago");
    // While the scenario is active answers are short, and so is the way back.
    bench.answer_www();
    bench.wait(Duration::from_secs(1));
    let expected = later(&bench, 5);
    bench.probe(Outcome::Pass);
    assert_eq!(bench.caches_over(), Some(expected));
    bench.wait(Duration::from_secs(1));
    let entries = bench.journal.query(&Default::default()).unwrap();
    let told: Vec<_> = entries.iter().filter(|entry| &*entry.kind == "caches").collect();
    assert_eq!(told.len(), 2);
    assert_eq!(&*told[0].object, "scenario dr");
    assert_eq!(told[0].body["seq"], 1);
    assert_eq!(told[0].body["rrsets"][0], "www.example.test. A");
    assert_eq!(bench.journal.verify().unwrap().broken, None);
}

#[test]
fn a_commit_that_is_held_by_the_disk_tells_nothing_before_it_is_published() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(TEXT, dir.path());
    bench.probe(Outcome::Pass);
    bench.answer_www();
    bench.hangs = true;
    bench.probe(Outcome::Fail);
    assert!(!bench.published_active() && bench.core.status.caches.is_empty());
    bench.heal();
    assert!(bench.published_active() && bench.caches_over().is_some());
}

#[test]
fn after_a_restart_answers_of_the_process_before_count_as_given_a_moment_ago() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(TEXT, dir.path());
    bench.probe(Outcome::Pass);
    drop(bench);
    let mut bench = Bench::with_text_on(TEXT, dir.path());
    let expected = later(&bench, 61);
    bench.probe(Outcome::Fail);
    assert_eq!(bench.caches_over(), Some(expected));
}

#[test]
fn a_flip_that_nobody_had_asked_for_leaves_nothing_in_caches() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(TEXT, dir.path());
    bench.probe(Outcome::Pass);
    bench.probe(Outcome::Fail);
    assert!(bench.published_active());
    assert_eq!(bench.caches_over(), None);
}
