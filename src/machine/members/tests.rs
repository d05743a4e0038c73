use proptest::prelude::*;

use super::*;
use crate::model::lookup::{Found, Query, Question, Srv};
use crate::model::service::{Protocol, ServiceSettings};
use crate::model::time::Wall;

const SECOND: Duration = Duration::from_secs(1);

fn now(seconds: u32) -> Now {
    Now::new(Tick(1_000_000), Wall(1_800_000_000_000_000)).after(seconds * SECOND)
}

/// One group `g` that is scaled by these sources: name, type, port.
fn model(sources: &[(&str, Query, Option<u16>)], delayed_trofs: bool) -> Model {
    let source = |(name, query, port): &(&str, Query, Option<u16>)| Source {
        name: format!("of-{name}").into(),
        server: None,
        question: Question { name: (*name).into(), query: *query },
        retry: SECOND,
        port: *port,
        weight: 3,
        order: 2,
    };
    let mut model = Model::empty();
    model.groups.push(ServiceGroup {
        name: "g".into(),
        settings: ServiceSettings::new(Protocol::Http),
        members: Vec::new(),
        auto_scale: Some(AutoScale {
            disable_delay: Duration::ZERO,
            disable_graceful: false,
            delayed_trofs,
            sources: sources.iter().map(source).collect(),
        }),
    });
    model
}

struct Stage {
    model: Model,
    names: Names,
    members: Members,
}

impl Stage {
    fn new(sources: &[(&str, Query, Option<u16>)], delayed_trofs: bool) -> Stage {
        let model = model(sources, delayed_trofs);
        let mut names = Names::default();
        names.adopt(now(0), &model, false);
        Stage { model, names, members: Members::default() }
    }

    fn hears(&mut self, at: u32, name: &str, found: Vec<Found>) -> Changes {
        let question = self.names.known().keys().find(|q| *q.name == *name).unwrap().clone();
        self.names.answered(now(at), &question, Ok(Answer { found, ttl: SECOND }));
        let mut all = self.members.decide(now(at), &self.model, &self.names);
        assert!(all.len() <= 1);
        all.pop().unwrap_or_default()
    }

    fn there(&self) -> Vec<String> {
        let members = self.members.membership().get("g");
        let there = members.into_iter().flatten().filter(|(_, member)| member.leaving.is_none());
        there.map(|(address, _)| address.to_string()).collect()
    }
}

fn a(addresses: &[&str]) -> Vec<Found> {
    addresses.iter().map(|address| Found { address: address.parse().unwrap(), srv: None }).collect()
}

fn srv(address: &str, port: u16, priority: u16, weight: u16) -> Found {
    let target = format!("host-{address}").into();
    Found { address: address.parse().unwrap(), srv: Some(Srv { target, port, priority, weight }) }
}

#[test]
fn addresses_join_leave_and_come_back_and_only_what_changed_is_told() {
    let mut stage = Stage::new(&[("app", Query::A, Some(80))], false);
    let first = stage.hears(0, "app", a(&["192.0.2.2", "192.0.2.1"]));
    assert_eq!(first.joined, ["g/192.0.2.1:80".into(), "g/192.0.2.2:80".into()] as [Name; 2], "by address");
    assert!(stage.hears(1, "app", a(&["192.0.2.1", "192.0.2.2"])).is_empty(), "a rotation is no change");
    let second = stage.hears(2, "app", a(&["192.0.2.1", "192.0.2.3"]));
    assert_eq!((second.joined, second.left), (vec!["g/192.0.2.3:80".into()], vec!["g/192.0.2.2:80".into()]));
    assert_eq!(stage.members.drain(now(2)), ["g/192.0.2.2:80".into()] as [Name; 1]);
    assert_eq!(stage.members.drain(now(3)), [] as [Name; 0], "once");
    let back = stage.hears(4, "app", a(&["192.0.2.1", "192.0.2.2", "192.0.2.3"]));
    assert_eq!((back.back, back.joined.len()), (vec!["g/192.0.2.2:80".into()], 0));
    assert_eq!(stage.there(), ["192.0.2.1:80", "192.0.2.2:80", "192.0.2.3:80"]);
}

#[test]
fn no_answer_and_an_empty_one_take_nobody_away() {
    let mut stage = Stage::new(&[("app", Query::A, Some(80)), ("other", Query::A, Some(81))], false);
    stage.hears(0, "app", a(&["192.0.2.1"]));
    assert_eq!(stage.there(), ["192.0.2.1:80"], "nothing is known of the other name");
    assert!(stage.hears(1, "app", Vec::new()).is_empty());
    let question = stage.names.known().keys().next().unwrap().clone();
    stage.names.answered(now(2), &question, Err("SERVFAIL".into()));
    assert!(stage.members.decide(now(2), &stage.model, &stage.names).is_empty());
    assert_eq!(stage.there(), ["192.0.2.1:80"]);
}

#[test]
fn srv_says_port_weight_and_order_and_the_first_name_counts_for_an_address() {
    let mut stage = Stage::new(&[("_http._tcp.app", Query::Srv, None)], false);
    let records =
        vec![srv("192.0.2.1", 8080, 20, 500), srv("192.0.2.2", 8081, 10, 1_000), srv("192.0.2.3", 8082, 700, 0)];
    stage.hears(0, "_http._tcp.app", records);
    let members = &stage.members.membership()["g"];
    let told: Vec<_> = members.iter().map(|(at, m)| (at.to_string(), m.weight, m.order, &*m.host)).collect();
    assert_eq!(
        told,
        [
            ("192.0.2.1:8080".to_owned(), 50, 2, "host-192.0.2.1"),
            ("192.0.2.2:8081".to_owned(), 100, 1, "host-192.0.2.2"),
            ("192.0.2.3:8082".to_owned(), 1, 3, "host-192.0.2.3"),
        ],
        "weights in proportion, never none; priorities by rank"
    );
    let lighter = stage.hears(1, "_http._tcp.app", vec![srv("192.0.2.2", 8081, 10, 7)]);
    assert_eq!(lighter.changed, ["g/192.0.2.2:8081".into()] as [Name; 1]);
    assert_eq!(lighter.left.len(), 2);

    let mut stage = Stage::new(&[("b", Query::A, Some(80)), ("a", Query::A, Some(80))], false);
    stage.hears(0, "b", a(&["192.0.2.1"]));
    stage.hears(0, "a", a(&["192.0.2.1"]));
    let members = &stage.members.membership()["g"];
    assert_eq!(members.values().map(|m| (&*m.source, m.weight, m.order)).collect::<Vec<_>>(), [("of-b", 3, 2)]);
}

#[test]
fn with_delayed_trofs_a_member_serves_on_until_the_joining_ones_could_be_probed() {
    let mut stage = Stage::new(&[("app", Query::A, Some(80))], true);
    stage.hears(0, "app", a(&["192.0.2.1"]));
    stage.hears(10, "app", a(&["192.0.2.2"]));
    assert_eq!(stage.members.drain(now(11)), [] as [Name; 0]);
    assert_eq!(stage.members.wake_at(), Some(now(12).tick), "the time-out of the default monitor");
    assert_eq!(stage.members.drain(now(12)), ["g/192.0.2.1:80".into()] as [Name; 1]);
    assert_eq!(stage.members.draining().count(), 1);
    stage.members.gone(&"g".into(), "192.0.2.1:80".parse().unwrap());
    assert_eq!((stage.members.draining().count(), stage.there()), (0, vec!["192.0.2.2:80".to_owned()]));
}

#[test]
fn a_group_has_at_most_so_many_members_and_those_who_are_there_stay() {
    let mut stage = Stage::new(&[("app", Query::A, Some(80))], false);
    stage.hears(0, "app", a(&["203.0.113.1"]));
    let many: Vec<String> = (0..MEMBERS_MOST).map(|n| format!("10.0.{}.{}", n / 256, n % 256)).collect();
    let mut found: Vec<&str> = many.iter().map(String::as_str).collect();
    found.push("203.0.113.1");
    let changes = stage.hears(1, "app", a(&found));
    assert_eq!((changes.joined.len(), changes.beyond), (MEMBERS_MOST - 1, 1));
    assert!(stage.there().contains(&"203.0.113.1:80".to_owned()));
    let changes = stage.hears(2, "app", a(&found[..MEMBERS_MOST]));
    assert_eq!((changes.joined.len(), changes.left.len()), (1, 1), "who leaves makes room");
}

#[test]
fn a_group_that_is_no_longer_scaled_is_forgotten_and_a_source_that_is_gone_lets_its_members_leave() {
    let mut stage = Stage::new(&[("app", Query::A, Some(80)), ("b", Query::A, Some(80))], false);
    stage.hears(0, "app", a(&["192.0.2.1"]));
    stage.hears(0, "b", a(&["192.0.2.2"]));
    stage.model.groups[0].auto_scale.as_mut().unwrap().sources.pop();
    let changes = stage.members.decide(now(1), &stage.model, &stage.names);
    assert_eq!(changes[0].left, ["g/192.0.2.2:80".into()] as [Name; 1]);
    stage.model.groups[0].auto_scale = None;
    stage.members.decide(now(1), &stage.model, &stage.names);
    assert!(stage.members.membership().is_empty());
}

proptest! {
    /// Whatever is answered: the members that do not leave are the last answer (while it fits), the same answers give the
    /// same members, and nobody is told of twice.
    #[test]
    fn members_follow_the_last_answer(answers in proptest::collection::vec(proptest::collection::btree_set(0u8..12, 0..8), 1..20)) {
        let mut stage = Stage::new(&[("app", Query::A, Some(80))], false);
        let mut last: std::collections::BTreeSet<u8> = Default::default();
        for (at, answer) in (0u32..).zip(&answers) {
            let texts: Vec<String> = answer.iter().map(|n| format!("192.0.2.{n}")).collect();
            let changes = stage.hears(at, "app", a(&texts.iter().map(String::as_str).collect::<Vec<_>>()));
            if !answer.is_empty() {
                let joined = answer.difference(&last).count();
                prop_assert_eq!(changes.joined.len() + changes.back.len(), joined);
                prop_assert_eq!(changes.left.len(), last.difference(answer).count());
                last.clone_from(answer);
            } else {
                prop_assert!(changes.is_empty());
            }
            let mut wanted: Vec<std::net::IpAddr> = last.iter().map(|n| format!("192.0.2.{n}").parse().unwrap()).collect();
            wanted.sort();
            let there: Vec<std::net::IpAddr> = stage.there().iter().map(|t| t.parse::<SocketAddr>().unwrap().ip()).collect();
            prop_assert_eq!(there, wanted);
        }
    }
}
