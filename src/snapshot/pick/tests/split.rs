//! Shares of groups.

use super::*;

#[test]
fn a_split_gives_each_group_exactly_its_share_and_moves_at_once() {
    let members = [("blue1", 1, 1), ("blue2", 1, 1), ("green1", 1, 1), ("green2", 3, 1)];
    for method in [Method::RoundRobin, Method::LeastConnection] {
        let mut world = World::new(&members).group("blue", 95).group("green", 5).method(method);
        let got = shares(world.snapshot(), 4_000, &ask());
        assert_eq!((share(&got, "blue1"), share(&got, "blue2")), (1_900, 1_900), "{method:?}");
        assert_eq!((share(&got, "green1"), share(&got, "green2")), (50, 150), "{method:?}");
        let mut world = world.with(|v| v.balancing.split = vec![0, 100]);
        let got = shares(world.snapshot(), 400, &ask());
        assert_eq!((share(&got, "green1"), share(&got, "green2")), (100, 300), "{method:?}");
    }
}

#[test]
fn a_rule_that_names_a_group_is_not_bound_by_its_share() {
    let mut world = World::new(&[("blue1", 1, 1), ("green1", 1, 1)]).group("blue", 100).group("green", 0);
    let snapshot = world.snapshot();
    let green = |service: ServiceId| (service.index() == 0).then_some(Out::NotWanted);
    let ask = Ask { out: &green, narrowed: true, ..ask() };
    assert_eq!(share(&shares(snapshot, 10, &ask), "green1"), 10);
    assert_eq!(picked(snapshot, &Ask { narrowed: false, ..ask }), None);
}

#[test]
fn the_share_of_a_group_that_is_down_or_full_goes_to_the_others() {
    let mut world = World::new(&[("blue1", 1, 1), ("green1", 1, 1)]).group("blue", 95).group("green", 5);
    let full = |service: ServiceId| (service.index() == 0).then_some(Out::Full);
    assert_eq!(share(&shares(world.snapshot(), 100, &Ask { out: &full, ..ask() }), "green1"), 100);
    let mut world = world.state("blue1", ServiceState::Down, at(1));
    assert_eq!(share(&shares(world.snapshot(), 100, &ask()), "green1"), 100);
}

#[test]
fn a_split_that_moves_by_five_percent_moves_few_keys_and_only_one_way() {
    let members = [("blue1", 1, 1), ("blue2", 1, 1), ("green1", 1, 1)];
    let clients: Vec<String> = (0..4_000).map(|n| format!("10.1.{}.{}:9", n / 250, n % 250)).collect();
    let of = |split: Vec<u8>| {
        let mut world = World::new(&members).group("blue", 0).group("green", 0).method(Method::SourceIpHash);
        world.model.vservers[0].balancing.split = split;
        let snapshot = world.snapshot();
        clients.iter().map(|client| picked(snapshot, &from(client)).unwrap()).collect::<Vec<_>>()
    };
    let (before, after) = (of(vec![95, 5]), of(vec![90, 10]));
    let green = |of: &[Name]| of.iter().filter(|name| name.starts_with("green")).count();
    assert!((140..=260).contains(&green(&before)) && (320..=480).contains(&green(&after)));
    let moved: Vec<_> = before.iter().zip(&after).filter(|(b, a)| b != a).collect();
    assert!(moved.iter().all(|(b, a)| b.starts_with("blue") && a.starts_with("green")));
    assert_eq!(moved.len(), green(&after) - green(&before));
}
