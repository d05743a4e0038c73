use super::*;
use crate::model::condition::Truth;
use crate::model::peer::{PeerLink, ReportedPair};
use crate::model::scenario::{AfterMaintenance, Datacenter, Pair, PairPlace, PairScenario};
use crate::model::time::Wall;
use crate::model::zone::{DnsName, Soa, Zone};

const SECOND: Duration = Duration::from_secs(1);

fn at(seconds: u64) -> Now {
    Now::new(Tick::from_millis(1_000_000 + seconds * 1_000), Wall(1_700_000_000_000_000) + SECOND * seconds as u32)
}

fn model() -> Model {
    let datacenter = |name: &str| Datacenter {
        name: name.into(),
        wan: None,
        lan: None,
        internet: None,
        networks: Vec::new(),
        maintenance: crate::model::id::SwitchId(0),
    };
    let place = |place| PairScenario { place, scenario: crate::model::id::ScenarioId(0), own: false, overrides: None };
    let mut model = Model::empty();
    model.appliance.name = "box-b".into();
    model.peer_link.cluster = "prod".into();
    model.datacenters = vec![datacenter("dc-a"), datacenter("dc-b")];
    model.pairs = vec![Pair {
        name: "main".into(),
        active: crate::model::id::DatacenterId(0),
        backup: crate::model::id::DatacenterId(1),
        return_hold: SECOND,
        loss_hold: None,
        return_after_maintenance: AfterMaintenance::Hold,
        access: crate::model::condition::Signal::Wan,
        witness: None,
        after: Vec::new(),
        disputed: Vec::new(),
        scenarios: PairPlace::ALL.map(place),
    }];
    model.zones = vec![zone()];
    model.peers = vec![Peer { name: "box-a".into(), site: "dc-a".into(), url: None, tls: None }];
    model
}

fn zone() -> Zone {
    let root = DnsName::root();
    let soa = Soa {
        mname: root.clone(),
        rname: root.clone(),
        serial: 1,
        refresh: SECOND,
        retry: SECOND,
        expire: SECOND,
        minimum: SECOND,
    };
    Zone {
        name: "example.test".into(),
        origin: root,
        ttl: SECOND,
        degraded_ttl: None,
        soa,
        text: None,
        records: Vec::new(),
        rrsets: Vec::new(),
        dnssec: None,
        transfer: Default::default(),
    }
}

fn tables(zone: &str) -> Vec<(Name, Name)> {
    vec![("scenario".into(), "1".into()), ("zone".into(), zone.into())]
}

fn report(now: Now) -> Report {
    Report {
        appliance: "box-a".into(),
        site: Some("dc-a".into()),
        cluster: "prod".into(),
        now: now.wall,
        tables: tables("1"),
        pairs: vec![ReportedPair { name: "main".into(), active: "dc-a".into(), backup: "dc-b".into() }],
        datacenters: vec![("dc-a".into(), [Truth::True; 5])],
        ..Report::default()
    }
}

fn hear(peers: &mut Peers, now: Now, report: Report) -> Vec<Told> {
    let heard = Ok(Heard { report: Arc::new(report), round_trip: Duration::ZERO });
    peers.news(now, News { peer: "box-a".into(), heard })
}

fn peers() -> Peers {
    let mut peers = Peers::default();
    peers.adopt(at(0), &model(), tables("1"));
    peers
}

fn rows(told: &[Told]) -> Vec<bool> {
    told.iter()
        .filter_map(|told| if let Told::Rows { rows, .. } = told { Some(rows.is_some()) } else { None })
        .collect()
}

fn words(told: &[Told]) -> Vec<String> {
    let word = |told: &Told| match told {
        Told::Record(Record::Warning { text, .. }) => Some(text.to_string()),
        Told::Record(Record::Ended { what, .. }) => Some(format!("{what} ended")),
        Told::Record(Record::State { from, to, .. }) => Some(format!("{from} -> {to}")),
        _ => None,
    };
    told.iter().filter_map(word).collect()
}

fn view(peers: &Peers) -> &PeerView {
    &peers.book().peers["box-a"]
}

#[test]
fn what_was_heard_more_than_three_intervals_ago_is_unknown() {
    let mut peers = peers();
    let told = hear(&mut peers, at(10), report(at(10)));
    assert_eq!((rows(&told), words(&told)), (vec![true], vec!["unknown -> heard".to_owned()]));
    assert_eq!(peers.wake_at(), Some(at(13).tick));
    let just_before = at(13).before(Duration::from_micros(1));
    assert_eq!(peers.wake(just_before), []);
    assert!(view(&peers).current().is_some());
    let told = peers.wake(at(13));
    assert_eq!((rows(&told), words(&told)), (vec![false], vec!["heard -> unknown".to_owned()]));
    assert!(view(&peers).current().is_none());
    assert_eq!(peers.wake_at(), None);
}

#[test]
fn a_box_that_stood_still_itself_gives_its_peers_one_more_attempt_and_then_believes_their_silence() {
    let patience = PeerLink::default().interval + PeerLink::default().timeout;
    for first_is_an_error in [false, true] {
        let mut peers = peers();
        hear(&mut peers, at(10), report(at(10)));
        // Stopped at 11, and going on at 17: what was to be done at 13 is done now.
        let told = match first_is_an_error {
            false => peers.wake(at(17)),
            true => peers.news(at(17), News { peer: "box-a".into(), heard: Err("no answer within 2 s".into()) }),
        };
        assert_eq!(rows(&told), [true; 0]);
        assert_eq!((view(&peers).state, peers.wake_at()), (PeerState::Heard, Some(at(17).tick + patience)));
        // The answer that lay there.
        let told = hear(&mut peers, at(17), report(at(12)));
        assert!(!words(&told).contains(&"unknown -> heard".to_owned()), "{told:?}");
        assert_eq!(peers.wake_at(), Some(at(20).tick));
        assert_eq!(words(&peers.wake(at(20))), ["heard -> unknown"], "in time: that is silence");
    }
    let mut peers = peers();
    hear(&mut peers, at(10), report(at(10)));
    assert_eq!(peers.wake(at(17)), []);
    assert_eq!(words(&peers.wake(at(60))), ["heard -> unknown"], "once for each report, however late the box is");
}

#[test]
fn a_failed_attempt_changes_nothing_before_three_intervals_have_passed() {
    let mut peers = peers();
    hear(&mut peers, at(10), report(at(10)));
    for second in 11..13 {
        let told = peers.news(at(second), News { peer: "box-a".into(), heard: Err("refused".into()) });
        assert_eq!(rows(&told), [true; 0]);
        assert_eq!(view(&peers).state, PeerState::Heard);
    }
    let told = peers.news(at(13), News { peer: "box-a".into(), heard: Err("refused".into()) });
    assert_eq!(rows(&told), [false]);
    let told = hear(&mut peers, at(14), report(at(14)));
    assert_eq!(rows(&told), [true]);
    assert_eq!((view(&peers).error.clone(), view(&peers).failures_total), (None, 3));
}

#[test]
fn whoever_is_not_who_it_should_be_is_refused_and_told_why() {
    type Change = fn(&mut Report);
    let cases: [(Change, &str); 6] = [
        (|r| r.appliance = "box-c".into(), "calls itself `box-c` and not `box-a`"),
        (|r| r.appliance = "box-b".into(), "is called `box-b` as this one is"),
        (|r| r.cluster = "lab".into(), "it is of the cluster `lab`, this box of the cluster `prod`"),
        (|r| r.site = Some("dc-b".into()), "it says that it stands in `dc-b`"),
        (|r| r.pairs[0].active = "dc-x".into(), "its pair `main` leads from `dc-x` to `dc-b`"),
        (|r| r.pairs[0].name = "other".into(), "none of its pairs"),
    ];
    for (change, expected) in cases {
        let mut peers = peers();
        let mut other = report(at(10));
        change(&mut other);
        let told = hear(&mut peers, at(10), other);
        assert_eq!(rows(&told), [true; 0], "{expected}");
        assert_eq!(words(&told).len(), 1);
        assert!(words(&told)[0].contains(expected), "{}", words(&told)[0]);
        assert_eq!(view(&peers).state, PeerState::Unknown);
        assert!(view(&peers).error.as_ref().unwrap().contains(expected));
    }
}

#[test]
fn an_impostor_does_not_end_what_the_true_peer_said_before_its_time() {
    let mut peers = peers();
    hear(&mut peers, at(10), report(at(10)));
    let other = Report { cluster: "lab".into(), ..report(at(11)) };
    assert_eq!(rows(&hear(&mut peers, at(11), other)), [true; 0]);
    assert_eq!(view(&peers).report.as_ref().unwrap().cluster.as_ref(), "prod");
    assert_eq!(rows(&peers.wake(at(13))), [false]);
}

#[test]
fn a_configuration_that_differs_for_more_than_a_minute_is_told_once_and_its_end_too() {
    let mut peers = peers();
    let other = |now| Report { tables: tables("2"), ..report(now) };
    let mut told = Vec::new();
    for second in 10..70 {
        told.extend(words(&hear(&mut peers, at(second), other(at(second)))));
    }
    assert_eq!(told, ["unknown -> heard"]);
    assert!(!view(&peers).config_differs);
    assert_eq!(view(&peers).differs, ["zone".into()]);
    let told = words(&hear(&mut peers, at(70), other(at(70))));
    assert_eq!(told, ["peer_config_differs: not the same here and at `box-a`: zone; apply one configuration to both"]);
    assert!(view(&peers).config_differs);
    assert_eq!(words(&hear(&mut peers, at(71), other(at(71)))), [""; 0]);
    assert_eq!(words(&hear(&mut peers, at(72), report(at(72)))), ["peer_config_differs ended"]);
    assert!(!view(&peers).config_differs);
    // Rolled out within the minute: nobody hears of it.
    for second in 73..120 {
        assert_eq!(words(&hear(&mut peers, at(second), other(at(second)))), [""; 0]);
    }
    assert_eq!(words(&peers.adopt(at(120), &model(), tables("2"))), [""; 0]);
    assert_eq!(view(&peers).differs_since, None);
}

#[test]
fn a_witness_has_another_configuration_and_that_is_as_it_should_be() {
    let mut peers = peers();
    let witness = |now| Report { tables: tables("2"), witness: true, pairs: Vec::new(), ..report(now) };
    for second in 10..100 {
        hear(&mut peers, at(second), witness(at(second)));
    }
    assert!(view(&peers).differs.is_empty());
    assert_eq!(view(&peers).state, PeerState::Heard);
}

#[test]
fn a_clock_that_is_off_is_told_with_half_a_round_trip_allowed_for() {
    let mut peers = peers();
    let off = |now: Now, millis: i64| Report { now: Wall(now.wall.0 + millis * 1_000), ..report(now) };
    hear(&mut peers, at(10), off(at(10), 1_900));
    assert!(!view(&peers).clock_is_off);
    let told = words(&hear(&mut peers, at(11), off(at(11), -2_500)));
    assert_eq!(told, ["clock_differs: the clock of `box-a` is 2.5 s behind this box's; set both by NTP"]);
    assert_eq!(words(&hear(&mut peers, at(12), off(at(12), -1_500))), [""; 0], "half the limit lets it go");
    assert_eq!(words(&hear(&mut peers, at(13), off(at(13), -900))), ["clock_differs ended"]);
    let slow = Heard { report: Arc::new(off(at(14), -1_000)), round_trip: Duration::from_secs(2) };
    peers.news(at(14), News { peer: "box-a".into(), heard: Ok(slow) });
    assert_eq!(view(&peers).clock_offset_us, Some(0));
}

#[test]
fn the_same_error_is_told_once_and_another_one_at_most_once_a_minute() {
    let mut peers = peers();
    let mut fail =
        |second, why: &str| words(&peers.news(at(second), News { peer: "box-a".into(), heard: Err(why.into()) })).len();
    assert_eq!(fail(10, "no route"), 1);
    assert_eq!(fail(80, "no route"), 0);
    assert_eq!(fail(81, "wrong CA"), 1);
    assert_eq!(fail(82, "no route"), 0);
    assert_eq!(fail(142, "no route"), 1);
}

#[test]
fn a_reload_keeps_what_is_known_of_a_peer_that_is_the_same_and_forgets_the_others() {
    let mut peers = peers();
    hear(&mut peers, at(10), report(at(10)));
    let mut next = model();
    next.peers.push(Peer { name: "box-w".into(), site: "dc-w".into(), url: None, tls: None });
    let told = peers.adopt(at(11), &next, tables("1"));
    assert_eq!(told, [Told::Rows { peer: "box-w".into(), rows: None }]);
    assert_eq!(view(&peers).state, PeerState::Heard);
    next.peers[0].site = "dc-b".into();
    peers.adopt(at(12), &next, tables("1"));
    assert_eq!(view(&peers).state, PeerState::Unknown);
    next.peers.clear();
    peers.adopt(at(12), &next, tables("1"));
    assert!(peers.book().peers.is_empty());
}
