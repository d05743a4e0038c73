//! Passive ejection, and saying why.

use super::*;

#[test]
fn an_ejected_member_gets_no_new_clients_until_its_time_is_over() {
    for method in [Method::RoundRobin, Method::LeastConnection, Method::SourceIpHash] {
        let mut world = World::new(&[("a", 1, 1), ("b", 1, 1), ("c", 1, 1)]).method(method).passive(50);
        let snapshot = world.snapshot();
        assert!(snapshot.services[0].live.outcome(at(1000), Outcome::ConnectFailed).is_some());
        let of = |seconds| {
            let clients = (0..100).map(|n| format!("10.0.0.{n}:9"));
            clients.map(|c| picked(snapshot, &Ask { now: at(seconds), ..from(&c) }).unwrap()).collect::<HashSet<_>>()
        };
        assert_eq!(of(1001), HashSet::from(["b".into(), "c".into()]), "{method:?}");
        assert_eq!(of(1030).len(), 3, "{method:?}");
    }
}

#[test]
fn at_most_the_share_is_ejected_and_never_the_last() {
    let mut world =
        World::new(&[("a", 1, 1), ("b", 1, 1), ("c", 1, 1), ("d", 1, 1)]).method(Method::RoundRobin).passive(50);
    let snapshot = world.snapshot();
    for (second, service) in (1000..).zip(&snapshot.services) {
        assert!(service.live.outcome(at(second), Outcome::ConnectFailed).is_some());
    }
    let now = Ask { now: at(1010), ..ask() };
    assert_eq!(snapshot.left_out(WEB, at(1010)), [0, 1], "the two that failed first");
    let got = shares(snapshot, 1_000, &now);
    assert_eq!((share(&got, "a"), share(&got, "b")), (0, 0));
    // All in the choice have been tried in vain: rather one that is ejected than nobody.
    let tried = |service: ServiceId| (service.index() > 1).then_some(Out::Tried);
    assert!(matches!(picked(snapshot, &Ask { out: &tried, ..now }).as_deref(), Some("a" | "b")));
    let mut alone = World::new(&[("a", 1, 1)]).passive(100);
    let snapshot = alone.snapshot();
    assert!(snapshot.services[0].live.outcome(at(1000), Outcome::ConnectFailed).is_some());
    assert_eq!(picked(snapshot, &ask()).as_deref(), Some("a"));
}

#[test]
fn an_ejected_primary_hands_over_to_the_next_order() {
    let mut world = World::new(&[("first", 1, 1), ("second", 1, 2)]).passive(50);
    let snapshot = world.snapshot();
    assert_eq!(picked(snapshot, &ask()).as_deref(), Some("first"));
    assert!(snapshot.services[0].live.outcome(at(1000), Outcome::Reset).is_some());
    assert_eq!(picked(snapshot, &ask()).as_deref(), Some("second"));
}

#[test]
fn a_choice_can_be_explained_member_by_member() {
    let mut world =
        World::new(&[("a", 1, 1), ("b", 2, 1), ("c", 1, 1), ("d", 0, 1), ("e", 1, 2), ("f", 1, 1), ("g", 1, 1)])
            .passive(50)
            .state("c", ServiceState::Down, at(1));
    let snapshot = world.snapshot();
    snapshot.services[0].live.active.store(4, Ordering::SeqCst);
    snapshot.services[1].live.active.store(6, Ordering::SeqCst);
    assert!(snapshot.services[5].live.outcome(at(1000), Outcome::ConnectFailed).is_some());
    let full = |service: ServiceId| (service.index() == 6).then_some(Out::Full);
    let before = snapshot.vservers[0].live.cursor.load(Ordering::SeqCst);
    let (picked, considered) = snapshot.explain_pick(WEB, &Ask { dry: true, out: &full, ..ask() });
    assert_eq!(picked.map(|p| p.position), Some(1));
    assert_eq!(snapshot.vservers[0].live.cursor.load(Ordering::SeqCst), before, "asking moves nothing");
    let said: Vec<String> = considered.iter().map(|c| format!("{}: {}", c.service, c.why)).collect();
    assert_eq!(
        said,
        [
            "a: eligible, with 4 at weight 1",
            "b: chosen by LEASTCONNECTION",
            "c: it is DOWN",
            "d: weight 0: persistent clients only",
            "e: order 2, and order 1 serves",
            "f: ejected: it failed real traffic",
            "g: it is at its limit",
        ]
    );
}

#[test]
fn what_has_not_changed_is_not_prepared_again() {
    let mut world = World::new(&[("a", 1, 1), ("b", 1, 1)]);
    let first = Arc::clone(&world.snapshot().vservers[0].chooser);
    assert!(Arc::ptr_eq(&first, &world.snapshot().vservers[0].chooser));
    let mut world = world.state("a", ServiceState::Down, at(1));
    assert!(!Arc::ptr_eq(&first, &world.snapshot().vservers[0].chooser));
}
