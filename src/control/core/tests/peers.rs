//! Other boxes, in virtual time: what the writer makes of their reports.

use std::sync::Arc;
use std::time::Duration;

use super::bench::Bench;
use crate::control::core::Input;
use crate::control::{Request, peers};
use crate::model::condition::{Signal, Truth};
use crate::model::id::Name;
use crate::model::peer::{Heard, News, PeerState, Report};
use crate::model::time::Wall;

const SECOND: Duration = Duration::from_secs(1);

const BOX: &str = r#"
schema = 1
[appliance]
name = "box-b"
site = "dc-b"
[peer.box-a]
site = "dc-a"
[datacenter.dc-a]
wan = { targets = ["tcp:192.0.2.1:443"] }
[datacenter.dc-b]
internet = { targets = ["tcp:203.0.113.1:53"] }
[scenario.gone.activate]
when = [["dc:dc-a.internet@dc-a!"]]
[scenario.well.activate]
when = [["dc:dc-a.internet@dc-a{for:1s}"]]
[zone."example.test"]
soa = { mname = "ns1.example.test.", rname = "hostmaster.example.test." }
static = "@ NS ns1.example.test."
[zone."example.test".rrset."www A"]
records = [{ data = "192.0.2.10", cond = "gone" }, { data = "192.0.2.11" }]
"#;

fn bench() -> (tempfile::TempDir, Bench) {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::with_text_on(BOX, dir.path());
    (dir, bench)
}

/// What this box would say, said by the other one.
fn report(bench: &mut Bench, internet: Truth) -> Report {
    let own = bench.read(peers::report).unwrap();
    let mut signals = [Truth::Unknown; 5];
    signals[Signal::Internet as usize] = internet;
    Report { appliance: "box-a".into(), site: Some("dc-a".into()), datacenters: vec![("dc-a".into(), signals)], ..own }
}

fn hear(bench: &mut Bench, report: Report) {
    let heard = Ok(Heard { report: Arc::new(report), round_trip: Duration::ZERO });
    bench.feed(Input::Request(Request::Peer(News { peer: "box-a".into(), heard })));
}

fn active(bench: &mut Bench, scenario: &str) -> bool {
    let scenario = scenario.to_owned();
    bench.read(move |w| w.view.scenarios[w.model.scenario_id(&scenario).unwrap().index()].active).unwrap()
}

#[test]
fn what_a_peer_sees_decides_while_it_is_heard_and_is_unknown_after_three_intervals_of_silence() {
    let (_dir, mut bench) = bench();
    let said = report(&mut bench, Truth::True);
    hear(&mut bench, said);
    bench.wait(SECOND);
    assert!(active(&mut bench, "well"));
    bench.wait(2 * SECOND - Duration::from_millis(1));
    let heard = |bench: &mut Bench| bench.read(|w| w.peers.peers["box-a"].state).unwrap();
    assert_eq!(heard(&mut bench), PeerState::Heard);
    bench.wait(Duration::from_millis(1));
    assert_eq!(heard(&mut bench), PeerState::Unknown);
    bench.wait(60 * SECOND);
    assert!(!active(&mut bench, "gone"), "unknown is not false");
    let said = report(&mut bench, Truth::False);
    hear(&mut bench, said);
    assert!(active(&mut bench, "gone"));
    assert!(bench.kinds().contains(&"board".to_owned()), "its word is in the journal, so that a replay decides alike");
}

#[test]
fn another_configuration_is_told_after_a_minute_and_with_the_names_of_the_tables() {
    let (_dir, mut bench) = bench();
    let flagged = |bench: &mut Bench| {
        bench.read(|w| (w.peers.peers["box-a"].config_differs, w.peers.peers["box-a"].differs.clone())).unwrap()
    };
    for second in 0..62 {
        let mut said = report(&mut bench, Truth::True);
        said.tables.iter_mut().filter(|(table, _)| &**table == "zone").for_each(|(_, hash)| *hash = "other".into());
        hear(&mut bench, said);
        assert_eq!(flagged(&mut bench), (second >= 60, vec![Name::from("zone")]), "after {second} s");
        bench.wait(SECOND);
    }
    let said = report(&mut bench, Truth::True);
    assert_eq!(said.tables.len(), 9);
    hear(&mut bench, said);
    assert_eq!(flagged(&mut bench), (false, Vec::new()));
}

#[test]
fn a_clock_that_is_off_is_told() {
    let (_dir, mut bench) = bench();
    let said = report(&mut bench, Truth::True);
    let ahead = Report { now: Wall(said.now.0 + 5_000_000), ..said };
    hear(&mut bench, ahead);
    assert_eq!(bench.read(|w| w.peers.peers["box-a"].clock_is_off), Some(true));
}
