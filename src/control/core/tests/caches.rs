//! When caches have let go of what a commit replaced.

use std::net::IpAddr;
use std::time::Duration;

use super::super::Input;
use super::bench::Bench;
use crate::control::Request;
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
        self.answer_www_to(53);
    }

    /// The same, to the resolver 192.0.2.N.
    fn answer_www_to(&self, n: u8) {
        let snapshot = self.core.cell().load_full();
        let kept = snapshot.caching.of(0, 0);
        kept.give(&snapshot.dns.askers, IpAddr::from([192, 0, 2, n]), self.now.wall, kept.ttl);
    }

    /// How far resolvers are: had asked, have asked again, are missing; and when the first new answer was given.
    fn resolvers(&self) -> Option<(u32, u32, Vec<String>, Option<Wall>)> {
        let told = self.core.status.caches.get("dr")?;
        let resolvers = told.resolvers()?;
        let missing = resolvers.missing.iter().map(ToString::to_string).collect();
        Some((resolvers.asked_before, resolvers.asked_again, missing, told.first_answer_at()))
    }

    fn journalled(&self, kind: &str) -> Vec<serde_json::Value> {
        let entries = self.journal.query(&Default::default()).unwrap();
        entries.into_iter().filter(|entry| &*entry.kind == kind).map(|entry| entry.body).collect()
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

#[test]
fn resolvers_that_held_the_former_answer_are_counted_as_they_come_back_and_the_rest_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(TEXT, dir.path());
    bench.probe(Outcome::Pass);
    assert_eq!(bench.resolvers(), None, "nothing has moved");
    // This one has let go of it when the scenario moves, the others have not.
    bench.answer_www_to(9);
    bench.wait(Duration::from_secs(70));
    for n in [1, 2, 1, 3] {
        bench.answer_www_to(n);
        bench.wait(Duration::from_secs(1));
    }
    bench.probe(Outcome::Fail);
    let missing = |ns: &[u8]| ns.iter().map(|n| format!("192.0.2.{n}")).collect::<Vec<_>>();
    // That which was answered last may hold it longest.
    assert_eq!(bench.resolvers(), Some((3, 0, missing(&[3, 1, 2]), None)));
    bench.wait(Duration::from_millis(1_500));
    let first = bench.now.wall;
    // One that had never asked brings the first answer, and counts for nothing else.
    bench.answer_www_to(7);
    bench.wait(Duration::from_secs(1));
    bench.answer_www_to(1);
    bench.answer_www_to(3);
    assert_eq!(bench.resolvers(), Some((3, 2, missing(&[2]), Some(first))));
    assert!(bench.journalled("resolvers").is_empty(), "the last one is waited for");
    bench.answer_www_to(2);
    bench.wait(Duration::from_secs(2));
    assert_eq!(bench.resolvers(), Some((3, 3, Vec::new(), Some(first))));
    let told = bench.journalled("resolvers");
    assert_eq!(told.len(), 1);
    assert_eq!((&told[0]["scenario"], &told[0]["seq"]), (&"dr".into(), &1.into()));
    assert_eq!(told[0]["first_answer_at"], crate::control::journal::codec::wall_text(first));
    assert_eq!((&told[0]["resolvers"]["asked_before"], &told[0]["resolvers"]["asked_again"]), (&3.into(), &3.into()));
    assert_eq!(bench.journal.verify().unwrap().broken, None);
}

#[test]
fn nobody_is_waited_for_much_longer_than_caches_hold_an_answer() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(TEXT, dir.path());
    bench.probe(Outcome::Pass);
    bench.answer_www_to(1);
    bench.answer_www_to(2);
    bench.probe(Outcome::Fail);
    bench.answer_www_to(1);
    bench.wait(Duration::from_secs(125));
    let told = bench.journalled("resolvers");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["resolvers"]["missing"], serde_json::json!(["192.0.2.2"]));
    // What comes later is not counted any more: the figures are those of the journal.
    bench.answer_www_to(2);
    assert_eq!(bench.resolvers().map(|(_, again, ..)| again), Some(1));
}

#[test]
fn a_move_back_counts_anew_and_the_end_of_the_process_tells_what_is_known() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(TEXT, dir.path());
    bench.probe(Outcome::Pass);
    bench.answer_www_to(1);
    bench.probe(Outcome::Fail);
    bench.probe(Outcome::Pass);
    let told = bench.journalled("resolvers");
    assert_eq!((told.len(), &told[0]["seq"], &told[0]["resolvers"]["asked_again"]), (1, &1.into(), &0.into()));
    assert_eq!(told[0]["first_answer_at"], serde_json::Value::Null);
    // It holds what is answered again: nobody held what was answered in between.
    assert_eq!(bench.resolvers().map(|(before, ..)| before), Some(1));
    bench.feed(Input::Request(Request::Stop));
    assert_eq!(bench.journalled("resolvers").len(), 2);
}
