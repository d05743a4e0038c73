use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use proptest::prelude::*;

use super::hash::{Key, identity, rendezvous};
use super::least::is_less;
use super::turns::{Turns, round_robin};
use super::*;
use crate::model::time::Tick;

fn members(weights: &[u32]) -> Vec<Candidate> {
    (0..)
        .zip(weights)
        .map(|(position, &weight)| Candidate {
            position,
            weight,
            figure: Some(0),
            identity: identity(None, &format!("member-{position}").into()),
        })
        .collect()
}

fn at(position: u32, weight: u32, figure: u64) -> Candidate {
    Candidate { position, weight, figure: Some(figure), identity: 0 }
}

fn sequence(method: Method, candidates: &[Candidate], choices: u64) -> Vec<u32> {
    (0..choices).map(|cursor| select(method, &mut candidates.to_vec(), cursor).unwrap()).collect()
}

fn turns_of(weights: &[u32]) -> Option<Turns> {
    Turns::new((0..).zip(weights.iter().copied()))
}

#[test]
fn equal_members_take_turns() {
    assert_eq!(sequence(Method::RoundRobin, &members(&[7, 7, 7]), 6), [0, 1, 2, 0, 1, 2]);
}

#[test]
fn a_heavy_member_is_spread_over_the_cycle() {
    assert_eq!(sequence(Method::RoundRobin, &members(&[3, 1]), 8), [0, 0, 1, 0, 0, 0, 1, 0]);
    assert_eq!(sequence(Method::RoundRobin, &members(&[5, 1, 1]), 7), [0, 0, 0, 1, 2, 0, 0]);
}

#[test]
fn a_single_member_gets_everything_and_none_without_weight_gets_anything() {
    assert_eq!(sequence(Method::RoundRobin, &members(&[1]), 3), [0, 0, 0]);
    assert_eq!(select(Method::RoundRobin, &mut [], 5), None);
    assert_eq!(select(Method::RoundRobin, &mut members(&[0, 0]), 5), None);
    assert_eq!(select(Method::LeastConnection, &mut members(&[0]), 5), None);
    assert_eq!(rendezvous(members(&[0, 0]).into_iter(), 7), None);
    assert_eq!(sequence(Method::RoundRobin, &members(&[0, 2]), 3), [1, 1, 1]);
    assert!(turns_of(&[0, 0]).is_none() && turns_of(&[]).is_none());
}

#[test]
fn the_least_loaded_by_weight_is_chosen_and_ties_rotate() {
    assert_eq!(select(Method::LeastConnection, &mut [at(0, 1, 3), at(1, 1, 2)], 0), Some(1));
    assert_eq!(select(Method::LeastConnection, &mut [at(0, 10, 15), at(1, 1, 2)], 0), Some(0));
    let idle = [at(0, 1, 0), at(1, 1, 0), at(2, 1, 1)];
    assert_eq!(sequence(Method::LeastConnection, &idle, 4), [0, 1, 0, 1]);
    // Ties by weight: 3 to 1.
    let idle = [at(0, 3, 0), at(1, 1, 0)];
    assert_eq!(sequence(Method::LeastBandwidth, &idle, 4), [0, 0, 1, 0]);
}

#[test]
fn a_member_without_a_figure_counts_as_the_mean_and_without_any_there_is_nothing_to_go_by() {
    let unknown = |position| Candidate { figure: None, ..at(position, 1, 0) };
    assert_eq!(select(Method::CustomLoad, &mut [unknown(0), unknown(1)], 0), None);
    assert_eq!(select(Method::CustomLoad, &mut [at(0, 1, 10), unknown(1), at(2, 1, 30)], 0), Some(0));
    assert_eq!(select(Method::CustomLoad, &mut [at(0, 1, 10), unknown(1)], 1), Some(1), "as good as the other");
    assert_eq!(select(Method::CustomLoad, &mut [Candidate { weight: 2, ..unknown(0) }, at(1, 1, 9)], 0), Some(0));
}

#[test]
fn the_cycle_written_down_names_the_nth_turn_within_what_was_chosen() {
    let turns = turns_of(&[95, 5]).unwrap();
    let mut next = [0, 0];
    for cursor in 0..1000 {
        let (member, nth) = turns.nth(cursor);
        assert_eq!(nth, next[member as usize], "at {cursor}");
        next[member as usize] += 1;
    }
    assert_eq!(next, [950, 50]);
}

#[test]
fn a_cycle_that_is_too_long_is_not_written_down() {
    assert!(turns_of(&[100; 1000]).is_some(), "equal weights are one turn each");
    let weights: Vec<u32> = (0..2000).map(|i| 99 + i % 2).collect();
    assert!(turns_of(&weights).is_none());
}

#[test]
fn a_ramp_goes_from_a_tenth_to_all_of_the_weight() {
    let minute = Duration::from_secs(60);
    let weight =
        |seconds: u64| ramp::weight(7, Tick::from_millis(1_000), Tick::from_millis(1_000 + seconds * 1_000), minute);
    assert_eq!(weight(0), 70);
    assert_eq!(weight(5), 70, "never less than a tenth");
    assert_eq!(weight(30), 350);
    assert_eq!(weight(60), 700);
    assert_eq!(weight(6_000), 700);
    assert_eq!(ramp::weight(7, Tick::ZERO, Tick::ZERO, Duration::ZERO), 700, "no slow start");
}

/// Written down once: a release that changes one of these moves every client of every vserver that hashes.
#[test]
fn keys_stay_where_they_are_from_release_to_release() {
    let candidates = members(&[1, 2, 3, 4]);
    let names = ["/", "/index.html", "/a/b/c?d=e", "www.example.test", "x", "y", "z", ""];
    let chosen = names.map(|name| rendezvous(candidates.iter().copied(), Key::new(9).text(name.as_bytes()).end()));
    assert_eq!(chosen.map(Option::unwrap), [0, 0, 3, 2, 2, 1, 3, 2]);
    let ip: IpAddr = "2001:db8::1".parse().unwrap();
    let numbers =
        [identity(None, &"web1".into()), identity(Some(7), &"web1".into()), Key::new(3).address(ip, 32, 64).end()];
    assert_eq!(numbers, [1_959_813_434_685_743_702, 14_720_192_278_103_030_758, 2_593_008_979_988_851_618]);
}

#[test]
fn an_address_is_hashed_by_its_network_and_however_it_is_written() {
    let key = |ip: &str, v4, v6| Key::new(3).address(ip.parse().unwrap(), v4, v6).end();
    assert_eq!(key("192.0.2.1", 24, 128), key("192.0.2.200", 24, 128));
    assert_ne!(key("192.0.2.1", 24, 128), key("192.0.3.1", 24, 128));
    assert_ne!(key("192.0.2.1", 32, 128), key("192.0.2.2", 32, 128));
    assert_eq!(key("::ffff:192.0.2.1", 24, 128), key("192.0.2.9", 24, 128));
    assert_eq!(key("2001:db8::1", 32, 64), key("2001:db8::2", 32, 64));
}

#[test]
fn texts_of_different_length_are_different_keys() {
    let texts: Vec<Vec<u8>> = (0..40).flat_map(|n| [vec![0; n], vec![b'a'; n]]).collect();
    let keys: std::collections::HashSet<u64> = texts.iter().map(|t| Key::new(1).text(t).end()).collect();
    assert_eq!(keys.len(), 79, "only the empty text stands twice");
}

/// With 200 000 keys the standard deviation of a share p is √(p(1−p)/n): five of them are allowed.
#[test]
fn the_share_of_keys_is_the_share_of_weights() {
    for weights in [vec![1; 2], vec![1; 10], vec![1, 2, 3, 4], vec![1, 100], (1..=40).collect()] {
        let candidates = members(&weights);
        let keys = 200_000_u64;
        let mut got: HashMap<u32, u32> = HashMap::new();
        for n in 0..keys {
            *got.entry(rendezvous(candidates.iter().copied(), Key::new(5).number(n).end()).unwrap()).or_default() += 1;
        }
        let total: u32 = weights.iter().sum();
        for (position, &weight) in (0_u32..).zip(&weights) {
            let share = f64::from(weight) / f64::from(total);
            let found = f64::from(got.get(&position).copied().unwrap_or(0)) / keys as f64;
            let allowed = 5.0 * (share * (1.0 - share) / keys as f64).sqrt();
            assert!((found - share).abs() <= allowed, "{position} of {weights:?}: {found} for {share}");
        }
    }
}

proptest! {
    #[test]
    fn every_cycle_holds_exactly_the_weights(
        weights in prop::collection::vec(1u32..=100, 1..12), start in 0u64..1 << 40,
    ) {
        let candidates = members(&weights);
        let total: u32 = weights.iter().sum();
        let mut seen: HashMap<u32, u32> = HashMap::new();
        // Any run of Σ weights choices, wherever it begins.
        for cursor in start..start + u64::from(total) {
            *seen.entry(round_robin(candidates.iter().copied(), cursor).unwrap()).or_default() += 1;
        }
        for (position, weight) in (0u32..).zip(&weights) {
            prop_assert_eq!(seen.get(&position), Some(weight));
        }
    }

    #[test]
    fn the_cycle_written_down_is_the_one_computed(
        weights in prop::collection::vec(0u32..=100, 1..30), start in 0u64..1 << 40,
    ) {
        let candidates = members(&weights);
        match turns_of(&weights) {
            None => prop_assert!(weights.iter().all(|&w| w == 0)),
            Some(turns) => for cursor in start..start + 300 {
                let computed = round_robin(candidates.iter().copied(), cursor);
                prop_assert_eq!(Some(turns.at(cursor)), computed);
                prop_assert_eq!(turns.nth(cursor).0, turns.at(cursor));
            },
        }
    }

    #[test]
    fn the_least_methods_never_pass_over_a_member_that_is_less_loaded(
        load in prop::collection::vec((0u32..=100, prop::option::of(0u64..1 << 50)), 1..12), cursor: u64,
    ) {
        let mut candidates: Vec<Candidate> = (0..)
            .zip(&load)
            .map(|(position, &(weight, figure))| Candidate { position, weight, figure, identity: 0 })
            .collect();
        match select(Method::LeastResponseTime, &mut candidates, cursor) {
            None => prop_assert!(candidates.iter().all(|c| c.weight == 0) || load.iter().all(|l| l.1.is_none())),
            Some(chosen) => {
                let chosen = candidates[chosen as usize];
                prop_assert!(chosen.weight > 0);
                prop_assert!(candidates.iter().filter(|c| c.weight > 0).all(|&c| !is_less(c, chosen)));
            }
        }
    }

    /// The oracle: the quotient itself, in a type that holds it exactly enough for these ranges.
    #[test]
    fn the_least_methods_choose_the_least_quotient(
        load in prop::collection::vec((1u32..=100, 0u64..100_000), 1..12), cursor: u64,
    ) {
        let mut candidates: Vec<Candidate> =
            (0..).zip(&load).map(|(position, &(weight, figure))| at(position, weight, figure)).collect();
        let chosen = select(Method::LeastRequest, &mut candidates, cursor).unwrap() as usize;
        let quotient = |&(weight, figure): &(u32, u64)| figure as f64 / f64::from(weight);
        let least = load.iter().map(quotient).fold(f64::INFINITY, f64::min);
        prop_assert!(quotient(&load[chosen]) <= least * (1.0 + 1e-12));
    }

    #[test]
    fn a_member_that_goes_moves_its_own_keys_only(
        weights in prop::collection::vec(1u32..=100, 2..20), gone: prop::sample::Index, keys in prop::collection::vec(any::<u64>(), 200),
    ) {
        let all = members(&weights);
        let gone = all[gone.index(all.len())].position;
        for key in keys {
            let before = rendezvous(all.iter().copied(), key).unwrap();
            let after = rendezvous(all.iter().copied().filter(|c| c.position != gone), key).unwrap();
            if before != gone {
                prop_assert_eq!(before, after);
            }
        }
    }

    #[test]
    fn a_change_of_weight_moves_keys_to_or_from_that_member_only(
        weights in prop::collection::vec(1u32..=100, 2..20), changed: prop::sample::Index, to in 1u32..=100,
        keys in prop::collection::vec(any::<u64>(), 200),
    ) {
        let before = members(&weights);
        let at = changed.index(before.len());
        let mut after = before.clone();
        after[at].weight = to;
        let grew = to >= weights[at];
        for key in keys {
            let was = rendezvous(before.iter().copied(), key).unwrap();
            let is = rendezvous(after.iter().copied(), key).unwrap();
            if was != is {
                prop_assert_eq!(if grew { is } else { was }, at as u32);
            }
        }
    }

    #[test]
    fn it_does_not_matter_where_a_member_stands(
        weights in prop::collection::vec(1u32..=100, 2..20), turn in 0usize..20, keys in prop::collection::vec(any::<u64>(), 50),
    ) {
        let before = members(&weights);
        let mut after = before.clone();
        after.rotate_left(turn % before.len());
        for key in keys {
            prop_assert_eq!(rendezvous(before.iter().copied(), key), rendezvous(after.iter().copied(), key));
        }
    }
}
