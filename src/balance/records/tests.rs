use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::model::zone::{DnsName, Select, SelectMethod, StaticData};

const A: ScenarioId = ScenarioId(0);
const S1: ScenarioId = ScenarioId(1);
const S2: ScenarioId = ScenarioId(2);

/// A record named by a letter.
fn record(letter: char) -> Record {
    Record {
        data: letter.to_string().into(),
        rtype: RecordType::A,
        rdata: Arc::from([192, 0, 2, letter as u8].as_slice()),
        cond: None,
        dr_cond: None,
        check: None,
        enabled: true,
        weight: 1,
        datacenter: None,
        geo: Vec::new(),
    }
}

fn cond(s: ScenarioId, r: Record) -> Record {
    Record { cond: Some((s, false)), ..r }
}

fn dr(s: ScenarioId, r: Record) -> Record {
    Record { dr_cond: Some(s), ..r }
}

fn rrset(records: Vec<Record>, on_empty: OnEmpty) -> Rrset {
    Rrset {
        key: "www A".into(),
        owner: DnsName::root(),
        rtype: RecordType::A,
        ttl: 30,
        own_ttl: false,
        degraded_ttl: None,
        own_degraded_ttl: false,
        gslb_vserver: None,
        records,
        on_empty,
        select: Select { topology: false, geo: false, method: SelectMethod::Ordered, answers: None },
        datacenter: None,
    }
}

/// What is served while the named scenarios are active, as letters; or the word of the source.
fn served(rrset: &Rrset, active: &[ScenarioId]) -> String {
    served_with(rrset, active, &[], &[])
}

fn served_with(rrset: &Rrset, active: &[ScenarioId], watched: &[Truth], last_good: &[u32]) -> String {
    let mut scenario_active = vec![false; 8];
    active.iter().for_each(|s| scenario_active[s.index()] = true);
    let mut chosen = Vec::new();
    let steering = Steering { scenario_active: &scenario_active, watched };
    let decision = decide(rrset, steering, last_good, &mut chosen);
    match decision.source {
        Source::Records(_) => {
            let letters: Vec<&str> = chosen.iter().map(|&i| &*rrset.records[i as usize].data).collect();
            letters.join(",")
        }
        Source::Static => "static".into(),
        Source::Nothing => "nothing".into(),
        Source::ServFail => "servfail".into(),
    }
}

#[test]
fn the_vectors_of_the_rules_hold() {
    let none: &[ScenarioId] = &[];
    let plain = |on_empty| rrset(vec![cond(A, record('a')), record('b'), dr(S1, record('c'))], on_empty);
    let both =
        |on_empty| rrset(vec![cond(A, record('a')), cond(A, record('b')), dr(S1, cond(S2, record('c')))], on_empty);

    assert_eq!(served(&plain(OnEmpty::ServeAll), none), "a,b");
    assert_eq!(served(&plain(OnEmpty::ServeAll), &[A]), "b");
    assert_eq!(served(&both(OnEmpty::ServeAll), &[A]), "a,b");
    assert_eq!(served(&plain(OnEmpty::ServeAll), &[S1]), "c");
    assert_eq!(served(&both(OnEmpty::ServeAll), &[S1, S2]), "c");
    assert_eq!(served(&both(OnEmpty::OtherSet), &[S1, S2]), "a,b");
    assert_eq!(served(&both(OnEmpty::NoData), &[S1, S2]), "nothing");
    // drCond is over while cond of a is still active.
    assert_eq!(served(&plain(OnEmpty::ServeAll), &[A, S1]), "c");
    assert_eq!(served(&plain(OnEmpty::ServeAll), &[A]), "b");

    let chain = rrset(vec![record('a'), dr(S1, cond(A, record('b'))), dr(S2, record('c'))], OnEmpty::ServeAll);
    assert_eq!(served(&chain, &[S1, S2, A]), "c");
    assert_eq!(served(&chain, &[S1, S2]), "b", "the first of the list wins while it has a record left");
    assert_eq!(served(&chain, &[S2]), "c");
}

#[test]
fn every_policy_for_an_empty_set_does_what_it_says() {
    let with =
        |on_empty| rrset(vec![cond(A, record('a')), cond(A, record('b')), dr(S1, cond(A, record('c')))], on_empty);
    let data = StaticData { data: "192.0.2.99".into(), rdata: Arc::from([192, 0, 2, 99].as_slice()) };
    assert_eq!(served(&with(OnEmpty::ServeAll), &[A]), "a,b");
    assert_eq!(served(&with(OnEmpty::ServeAll), &[A, S1]), "c", "the base set, never two sets");
    assert_eq!(served(&with(OnEmpty::OtherSet), &[A]), "a,b", "there is no other set");
    assert_eq!(served(&with(OnEmpty::OtherSet), &[A, S1]), "a,b");
    assert_eq!(served(&with(OnEmpty::Static(vec![data])), &[A]), "static");
    assert_eq!(served(&with(OnEmpty::NoData), &[A]), "nothing");
    assert_eq!(served(&with(OnEmpty::ServFail), &[A]), "servfail");
    assert_eq!(served_with(&with(OnEmpty::LastGood), &[A], &[], &[1]), "b");
    assert_eq!(served_with(&with(OnEmpty::LastGood), &[A], &[], &[]), "a,b", "nothing good yet: the base set");
}

#[test]
fn other_set_prefers_what_the_filter_leaves_of_the_primary_set() {
    let set = rrset(vec![cond(A, record('a')), record('b'), dr(S1, cond(S1, record('c')))], OnEmpty::OtherSet);
    assert_eq!(served(&set, &[A, S1]), "b");
}

#[test]
fn the_inverse_of_cond_leaves_out_while_inactive() {
    let inverse = Record { cond: Some((A, true)), ..record('b') };
    let set = rrset(vec![record('a'), inverse], OnEmpty::ServeAll);
    assert_eq!(served(&set, &[]), "a");
    assert_eq!(served(&set, &[A]), "a,b");
}

#[test]
fn a_check_leaves_out_when_false_and_counts_as_up_while_unknown() {
    let checked = Record { check: Some(WatchedId(0)), ..record('a') };
    let set = rrset(vec![checked, record('b')], OnEmpty::ServeAll);
    assert_eq!(served_with(&set, &[], &[Truth::True], &[]), "a,b");
    assert_eq!(served_with(&set, &[], &[Truth::Unknown], &[]), "a,b");
    assert_eq!(served_with(&set, &[], &[Truth::False], &[]), "b");
}

#[test]
fn a_disabled_record_is_in_no_answer_at_all() {
    let off = |r| Record { enabled: false, ..r };
    let set = rrset(vec![off(record('a')), cond(A, record('b')), off(dr(S1, record('c')))], OnEmpty::ServeAll);
    assert_eq!(served(&set, &[]), "b");
    assert_eq!(served(&set, &[A]), "b", "serve_all leaves it out too");
    assert_eq!(served(&set, &[S1]), "b", "a DR set of disabled records is no set");
    assert_eq!(served(&rrset(vec![off(record('a'))], OnEmpty::ServeAll), &[]), "nothing");
    let remembered = rrset(vec![off(record('a')), cond(A, record('b'))], OnEmpty::LastGood);
    assert_eq!(served_with(&remembered, &[A], &[], &[0]), "b");
}

#[test]
fn a_set_may_be_a_cname_where_the_others_are_not() {
    let alias = Record { rtype: RecordType::CNAME, ..record('x') };
    let set = rrset(vec![alias.clone(), Record { data: "y".into(), ..alias }, dr(S1, record('c'))], OnEmpty::ServeAll);
    let mut chosen = Vec::new();
    let decision = decide(&set, Steering { scenario_active: &[], watched: &[] }, &[], &mut chosen);
    assert_eq!(decision.rtype, RecordType::CNAME);
    select(&set, &mut chosen, draw(0));
    assert_eq!(chosen.len(), 1, "a CNAME is alone");
    let active = [false, true];
    let decision = decide(&set, Steering { scenario_active: &active, watched: &[] }, &[], &mut chosen);
    assert_eq!(decision.rtype, RecordType::A);
}

#[test]
fn the_last_good_set_is_kept_while_nothing_is_left() {
    let set = rrset(vec![cond(A, record('a')), cond(S2, record('b'))], OnEmpty::LastGood);
    let steering = |active: &'static [bool]| Steering { scenario_active: active, watched: &[] };
    let good = last_good(&set, steering(&[true, false, false]), &[]);
    assert_eq!(good, [1]);
    assert_eq!(last_good(&set, steering(&[true, false, true]), &good), [1]);
}

fn draw(entropy: u64) -> Draw<'static> {
    Draw {
        entropy,
        turn: entropy,
        client: IpAddr::V4(Ipv4Addr::from(entropy as u32)),
        datacenter: None,
        place: Default::default(),
    }
}

fn chosen_first(method: SelectMethod, weights: &[u32], queries: u64) -> HashMap<u32, u64> {
    let records = weights.iter().zip('a'..).map(|(&weight, c)| Record { weight, ..record(c) }).collect();
    let mut set = rrset(records, OnEmpty::ServeAll);
    set.select = Select { topology: false, geo: false, method, answers: Some(1) };
    let mut counts = HashMap::new();
    for query in 0..queries {
        let mut chosen: Vec<u32> = (0..weights.len() as u32).collect();
        select(&set, &mut chosen, draw(query));
        assert_eq!(chosen.len(), 1);
        *counts.entry(chosen[0]).or_default() += 1;
    }
    counts
}

#[test]
fn round_robin_gives_every_record_its_turn() {
    let counts = chosen_first(SelectMethod::RoundRobin, &[1, 5, 1], 99);
    assert!((0..3).all(|i| counts[&i] == 33), "{counts:?}");
}

#[test]
fn shares_follow_the_weights_within_one_percent() {
    for method in [SelectMethod::Weighted, SelectMethod::Hash] {
        let counts = chosen_first(method, &[1, 2, 0, 5], 100_000);
        assert!(!counts.contains_key(&2), "weight 0 is left out");
        for (at, weight) in [(0, 1.0), (1, 2.0), (3, 5.0)] {
            let share = counts[&at] as f64 / 100_000.0;
            assert!((share - weight / 8.0).abs() < 0.01, "{method:?} gives record {at} {share}");
        }
        let square = |at, weight: f64| {
            let expected = 100_000.0 * weight / 8.0;
            (counts[&at] as f64 - expected).powi(2) / expected
        };
        let chi = square(0, 1.0) + square(1, 2.0) + square(3, 5.0);
        assert!(chi < 13.82, "chi-square with two degrees of freedom, one in a thousand: {method:?} has {chi}");
    }
}

#[test]
fn weights_of_zero_everywhere_are_equal_weights() {
    let counts = chosen_first(SelectMethod::Weighted, &[0, 0], 10_000);
    assert!((counts[&0] as f64 / 10_000.0 - 0.5).abs() < 0.03);
}

#[test]
fn removing_a_record_moves_only_the_clients_it_had() {
    let mut set = rrset(('a'..='e').map(record).collect(), OnEmpty::ServeAll);
    set.select = Select { topology: false, geo: false, method: SelectMethod::Hash, answers: Some(1) };
    for client in 0..2_000 {
        let pick = |mut chosen: Vec<u32>| {
            select(&set, &mut chosen, draw(client));
            chosen[0]
        };
        let before = pick(vec![0, 1, 2, 3, 4]);
        let after = pick(vec![0, 1, 3, 4]);
        assert!(before == after || before == 2, "client {client} moved from {before} to {after}");
    }
}

fn any_record() -> impl Strategy<Value = Record> {
    let scenario = || (0u32..4).prop_map(ScenarioId);
    (
        proptest::option::of((scenario(), any::<bool>())),
        proptest::option::of(scenario()),
        proptest::option::of((0u32..3).prop_map(WatchedId)),
        proptest::bool::weighted(0.85),
    )
        .prop_map(|(cond, dr_cond, check, enabled)| Record { cond, dr_cond, check, enabled, ..record('r') })
}

fn any_policy() -> impl Strategy<Value = OnEmpty> {
    let data = StaticData { data: "192.0.2.99".into(), rdata: Arc::from([192, 0, 2, 99].as_slice()) };
    prop_oneof![
        Just(OnEmpty::ServeAll),
        Just(OnEmpty::OtherSet),
        Just(OnEmpty::Static(vec![data])),
        Just(OnEmpty::LastGood),
        Just(OnEmpty::NoData),
        Just(OnEmpty::ServFail),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn decisions_agree_with_the_rules_as_written(
        records in proptest::collection::vec(any_record(), 0..8),
        policy in any_policy(),
        active in proptest::collection::vec(any::<bool>(), 4),
        values in proptest::collection::vec(0u8..3, 3),
    ) {
        let watched: Vec<Truth> = values.iter().map(|v| [Truth::False, Truth::Unknown, Truth::True][*v as usize]).collect();
        let set = rrset(records, policy);
        let steering = Steering { scenario_active: &active, watched: &watched };
        let primary: Vec<u32> = members(&set, Set::Primary).map(|(at, _)| at).take(1).collect();
        let mut chosen = Vec::new();
        let decision = decide(&set, steering, &primary, &mut chosen);
        let expected = oracle::serve(&set, steering, &primary);
        match decision.source {
            Source::Records(served) => {
                prop_assert_eq!(Ok(chosen.clone()), expected);
                prop_assert!(chosen.iter().all(|&at| Set::of(&set.records[at as usize]) == served), "never two sets");
            }
            Source::Static => prop_assert_eq!(expected, Err("static")),
            Source::Nothing => prop_assert_eq!(expected, Err("nodata")),
            Source::ServFail => prop_assert_eq!(expected, Err("servfail")),
        }
        if decision.fallback.is_none() {
            prop_assert!(chosen.iter().all(|&at| steering.dropped(&set.records[at as usize]).is_none()));
        }
    }

    #[test]
    fn selection_only_orders_and_cuts(
        weights in proptest::collection::vec(0u32..4, 1..9),
        answers in proptest::option::of(1u32..10),
        method in prop_oneof![
            Just(SelectMethod::Ordered), Just(SelectMethod::Weighted),
            Just(SelectMethod::RoundRobin), Just(SelectMethod::Hash),
        ],
        entropy in any::<u64>(),
    ) {
        let records: Vec<Record> = weights.iter().zip('a'..).map(|(&weight, c)| Record { weight, ..record(c) }).collect();
        let mut set = rrset(records, OnEmpty::ServeAll);
        set.select = Select { topology: false, geo: false, method, answers };
        let mut chosen: Vec<u32> = (0..weights.len() as u32).collect();
        select(&set, &mut chosen, draw(entropy));
        let weighty = weights.iter().filter(|w| **w > 0).count();
        let available = if weighty == 0 { weights.len() } else { weighty };
        prop_assert_eq!(chosen.len(), available.min(answers.map_or(usize::MAX, |n| n as usize)));
        chosen.sort_unstable();
        chosen.dedup();
        prop_assert_eq!(chosen.len(), available.min(answers.map_or(usize::MAX, |n| n as usize)), "no record twice");
    }
}

#[test]
fn records_of_the_clients_own_data_centre_answer_alone_where_there_are_any() {
    let mut records: Vec<Record> = ('a'..='c').map(record).collect();
    records[1].datacenter = Some("dc-b".into());
    records[2].datacenter = Some("dc-c".into());
    let mut set = rrset(records, OnEmpty::ServeAll);
    set.select.topology = true;
    let near = |set: &Rrset, datacenter: Option<&str>, eligible: &[u32]| {
        let mut chosen = eligible.to_vec();
        select(set, &mut chosen, Draw { datacenter, ..draw(1) });
        chosen
    };
    assert_eq!(near(&set, Some("dc-b"), &[0, 1, 2]), [1]);
    assert_eq!(near(&set, Some("dc-b"), &[0, 2]), [0, 2], "its own is left out");
    assert_eq!(near(&set, Some("dc-x"), &[0, 1, 2]), [0, 1, 2]);
    assert_eq!(near(&set, None, &[0, 1, 2]), [0, 1, 2], "it stands nowhere; that is no place of its own");
    set.select.topology = false;
    assert_eq!(near(&set, Some("dc-b"), &[0, 1, 2]), [0, 1, 2]);
}
