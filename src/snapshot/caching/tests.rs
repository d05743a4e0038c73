use std::sync::Arc;
use std::time::Duration;

use super::super::build::{Parts, build};
use super::super::live::Registry;
use super::super::zones::ZoneIndex;
use super::*;
use crate::model::condition::Condition;
use crate::model::scenario::{DirectionRules, Mode, Oscillation, Scenario};
use crate::model::state::ScenarioView;
use crate::model::zone::{Record, Select, Soa, Zone};

/// `www A`: 192.0.2.1 of the primary set, left out while `out` is active, 192.0.2.2 beside it, and 198.51.100.1 of the
/// DR set of `dr`. TTL 60 s, degraded 5 s.
struct World {
    model: Arc<Model>,
    zones: Arc<ZoneIndex>,
    registry: Registry,
    snapshot: Option<Snapshot>,
    active: Vec<bool>,
    turning: Vec<bool>,
}

const OUT: usize = 0;
const DR: usize = 1;

/// Seconds after an arbitrary moment.
fn at(seconds: u32) -> Wall {
    Wall((1_800_000_000 + i64::from(seconds)) * 1_000_000)
}

impl World {
    fn new() -> World {
        let mut model = Model::empty();
        model.scenarios = vec![scenario("out"), scenario("dr")];
        model.zones = vec![zone(vec![rrset(3)])];
        let model = Arc::new(model);
        let zones = Arc::new(ZoneIndex::build(&model));
        let (active, turning) = (vec![false; 2], vec![false; 2]);
        let mut world = World { model, zones, registry: Registry::default(), snapshot: None, active, turning };
        world.publish(at(0));
        world
    }

    fn publish(&mut self, now: Wall) -> &Kept {
        self.registry.wall = now;
        let view = StateView {
            scenarios: self.turning.iter().map(|&turning| ScenarioView { turning, ..Default::default() }).collect(),
            ..StateView::default()
        };
        let next = build(Parts {
            generation: 1,
            model: &self.model,
            view: &view,
            registry: &mut self.registry,
            zones: &self.zones,
            resolved: &Default::default(),
            previous: self.snapshot.as_ref(),
            scenario_active: self.active.clone(),
            ready: true,
        });
        self.snapshot = Some(next);
        self.kept()
    }

    fn set(&mut self, scenario: usize, active: bool, now: Wall) -> &Kept {
        self.active[scenario] = active;
        self.publish(now)
    }

    /// An answer as the data plane gives it.
    fn answer(&self, now: Wall) {
        let kept = self.kept();
        kept.hand(now.seconds(), kept.ttl);
    }

    fn kept(&self) -> &Kept {
        self.snapshot.as_ref().unwrap().caching.of(0, 0)
    }
}

fn scenario(name: &str) -> Scenario {
    let rules = || DirectionRules {
        base_mode: Mode::Auto,
        when: Condition::default(),
        gate: None,
        guard: None,
        triggers: Vec::new(),
    };
    Scenario {
        name: name.into(),
        about: "".into(),
        initially_active: false,
        directions: [rules(), rules()],
        oscillation: Oscillation { commits: 10, within: Duration::from_secs(600) },
        min_dwell: Duration::ZERO,
        renamed_from: None,
        pair: None,
    }
}

fn rrset(last: u8) -> Rrset {
    let record = |data: [u8; 4], cond: Option<usize>, dr: Option<usize>| Record {
        data: format!("{}.{}.{}.{}", data[0], data[1], data[2], data[3]).into(),
        rtype: RecordType::A,
        rdata: data.as_slice().into(),
        cond: cond.map(|at| (ScenarioId::from_index(at), false)),
        dr_cond: dr.map(ScenarioId::from_index),
        check: None,
        enabled: true,
        weight: 1,
        datacenter: None,
        geo: Vec::new(),
    };
    Rrset {
        key: "www A".into(),
        owner: DnsName::parse("www.example.test.", &DnsName::root()).unwrap(),
        rtype: RecordType::A,
        ttl: 60,
        own_ttl: false,
        degraded_ttl: Some(5),
        own_degraded_ttl: true,
        gslb_vserver: None,
        records: vec![
            record([192, 0, 2, 1], Some(OUT), None),
            record([192, 0, 2, last], None, None),
            record([198, 51, 100, 1], None, Some(DR)),
        ],
        on_empty: OnEmpty::ServeAll,
        select: Select::default(),
        datacenter: None,
    }
}

fn zone(rrsets: Vec<Rrset>) -> Zone {
    let origin = DnsName::parse("example.test.", &DnsName::root()).unwrap();
    let second = Duration::from_secs(1);
    Zone {
        name: "example.test".into(),
        ttl: second * 60,
        degraded_ttl: None,
        soa: Soa {
            mname: origin.clone(),
            rname: origin.clone(),
            serial: 1,
            refresh: second,
            retry: second,
            expire: second,
            minimum: second,
        },
        dnssec: None,
        transfer: Default::default(),
        text: None,
        records: Vec::new(),
        rrsets,
        origin,
    }
}

#[test]
fn the_ttl_is_short_while_a_scenario_is_active_or_may_be_about_to_change() {
    let mut world = World::new();
    assert_eq!((world.kept().ttl, world.kept().shortened), (60, None));
    world.turning[OUT] = true;
    let kept = world.publish(at(1));
    assert_eq!((kept.ttl, kept.shortened), (5, Some(Shortened::Turning(ScenarioId::from_index(OUT)))));
    world.turning[OUT] = false;
    let kept = world.set(DR, true, at(2));
    assert_eq!((kept.ttl, kept.shortened), (5, Some(Shortened::Active(ScenarioId::from_index(DR)))));
    assert_eq!(world.set(DR, false, at(3)).ttl, 60);
}

#[test]
fn caches_have_let_go_when_the_last_answer_given_before_the_flip_has_expired() {
    let mut world = World::new();
    assert_eq!(world.kept().caches_over_at(at(0)), None, "nobody has asked");
    world.answer(at(10));
    // From here on answers are short: what was given with 60 s lives on all the same.
    world.turning[DR] = true;
    world.publish(at(20));
    world.answer(at(30));
    let kept = world.set(DR, true, at(31));
    assert_eq!(kept.changed_at, Some(at(31)));
    assert_eq!(kept.caches_over_at(at(31)), Some(at(71)), "10 + 60, and a second for its fractions");
    assert_eq!(kept.caches_over_at(at(71)), None);
    assert_eq!(world.snapshot.as_ref().unwrap().caching.flipped(), [(0, 0)]);
}

#[test]
fn a_flip_that_nobody_had_asked_for_before_is_over_at_once() {
    let mut world = World::new();
    assert_eq!(world.set(DR, true, at(5)).caches_over_at(at(5)), None);
}

#[test]
fn what_is_answered_again_is_no_former_answer() {
    let mut world = World::new();
    world.answer(at(0));
    world.set(DR, true, at(10));
    world.answer(at(11));
    let kept = world.set(DR, false, at(12));
    // Those who hold the primary set are right again; those of the DR set are wrong until 11 + 5 + 1.
    assert_eq!(kept.caches_over_at(at(12)), Some(at(17)));
    // And back: now the primary set of the first second is the one to wait for.
    assert_eq!(world.set(DR, true, at(13)).caches_over_at(at(13)), Some(at(61)));
}

#[test]
fn several_flips_in_a_row_wait_for_the_longest_of_all_former_answers() {
    let mut world = World::new();
    world.answer(at(0));
    world.set(OUT, true, at(1));
    world.answer(at(2));
    let kept = world.set(DR, true, at(3));
    assert_eq!(kept.caches_over_at(at(3)), Some(at(61)));
}

#[test]
fn an_answer_under_way_during_the_flip_counts_for_what_it_was() {
    let mut world = World::new();
    let before = world.snapshot.take().unwrap();
    world.snapshot = Some(build_again(&mut world, &before));
    world.active[DR] = true;
    world.publish(at(10));
    // On the snapshot before the flip.
    before.caching.of(0, 0).hand(at(10).seconds(), 60);
    assert_eq!(world.kept().caches_over_at(at(10)), Some(at(71)));
}

fn build_again(world: &mut World, before: &Snapshot) -> Snapshot {
    build(Parts {
        generation: 2,
        model: &world.model,
        view: &StateView::default(),
        registry: &mut world.registry,
        zones: &world.zones,
        resolved: &Default::default(),
        previous: Some(before),
        scenario_active: world.active.clone(),
        ready: true,
    })
}

#[test]
fn a_reload_keeps_what_was_given_and_sees_changed_records_as_a_flip() {
    let mut world = World::new();
    world.answer(at(0));
    let mut model = Model::clone(&world.model);
    model.zones[0].rrsets[0].ttl = 600;
    world.model = Arc::new(model);
    world.zones = Arc::new(ZoneIndex::build(&world.model));
    let kept = world.publish(at(1));
    assert_eq!((kept.ttl, kept.changed_at), (600, None), "the same records: nothing has flipped");
    let mut model = Model::clone(&world.model);
    model.zones[0].rrsets[0] = rrset(4);
    world.model = Arc::new(model);
    world.zones = Arc::new(ZoneIndex::build(&world.model));
    assert_eq!(world.publish(at(2)).caches_over_at(at(2)), Some(at(61)));
}

#[test]
fn a_flip_shares_with_the_snapshot_before_it_all_that_it_does_not_touch() {
    let mut model = Model::empty();
    model.scenarios = vec![scenario("out"), scenario("dr")];
    let rrsets = (0..200u8).map(|i| Rrset {
        owner: DnsName::parse(&format!("h{i}.example.test."), &DnsName::root()).unwrap(),
        records: if i == 70 { rrset(3).records } else { rrset(3).records[1..2].to_vec() },
        ..rrset(3)
    });
    model.zones = vec![zone(rrsets.collect())];
    let mut world = World::new();
    world.model = Arc::new(model);
    world.zones = Arc::new(ZoneIndex::build(&world.model));
    world.publish(at(1));
    let before = world.snapshot.as_ref().unwrap().caching.chunks.clone();
    world.set(DR, true, at(2));
    let caching = &world.snapshot.as_ref().unwrap().caching;
    let shared: Vec<bool> = before.iter().zip(&caching.chunks).map(|(a, b)| Arc::ptr_eq(a, b)).collect();
    assert_eq!(shared, [true, false, true, true]);
    assert_eq!(caching.flipped(), [(0, 70)]);
}
