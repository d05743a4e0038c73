//! Content switching, edits, mirrors and rules of the response, on a small appliance.

use std::sync::Arc;

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::*;
use crate::model::id::{GroupId, ServiceId};
use crate::model::policy::{Policies, PolicyBank};
use crate::model::rule::Edit;
use crate::model::service::Service;
use crate::model::state::{ServiceView, VserverView};
use crate::model::vserver::Member;
use crate::snapshot::Snapshot;

const FRONT: VserverId = VserverId(0);
const BLUE: VserverId = VserverId(1);
const GREEN: VserverId = VserverId(2);

/// `front` switches between `blue` (services b1 of no group, b2 of group 0) and `green`; `default` is where the rest
/// goes. `down`: services that are not UP.
fn world(rules: Vec<Rule>, criteria: Vec<CriterionTest>, default: Option<VserverId>, down: &[u32]) -> Snapshot {
    world_of(rules, criteria, default, down, BTreeMap::new())
}

/// The same, where some rules come from policies.
fn world_of(
    rules: Vec<Rule>,
    criteria: Vec<CriterionTest>,
    default: Option<VserverId>,
    down: &[u32],
    banks: BTreeMap<Name, (PolicyBank, Name)>,
) -> Snapshot {
    built(rules, criteria, default, down, |policies| policies.rules = banks)
}

/// The same, where nothing is down and no criterion is needed.
fn world_with(rules: Vec<Rule>, policies: impl FnOnce(&mut Policies)) -> Snapshot {
    built(rules, Vec::new(), None, &[], policies)
}

fn built(
    rules: Vec<Rule>,
    criteria: Vec<CriterionTest>,
    default: Option<VserverId>,
    down: &[u32],
    policies: impl FnOnce(&mut Policies),
) -> Snapshot {
    let mut model = Model::empty();
    let mut front = Vserver::new("front", Protocol::Http);
    front.role = Role::Cs { default, targets: vec![BLUE, GREEN] };
    let mut blue = Vserver::new("blue", Protocol::Http);
    blue.members = vec![Member::new(ServiceId(0)), Member { group: Some(0), ..Member::new(ServiceId(1)) }];
    blue.groups = vec![GroupId(0)];
    model.vservers = vec![front, blue, Vserver::new("green", Protocol::Http)];
    for (name, group) in [("b1", None), ("b2", Some(GroupId(0)))] {
        let service = Service::new(name, Protocol::Http, "192.0.2.1:80".parse().unwrap());
        model.services.push(Service { group, ..service });
    }
    let named = |(i, test)| Criterion { name: format!("c{i}").into(), test };
    model.criteria = criteria.into_iter().enumerate().map(named).collect();
    model.rules = rules;
    policies(&mut model.policies);
    let state = |i| if down.contains(&i) { ServiceState::Down } else { ServiceState::Up };
    let up = VserverView { state: VserverState::Up, ..VserverView::default() };
    let view = StateView {
        services: (0..2).map(|i| ServiceView { state: state(i), ..ServiceView::default() }).collect(),
        vservers: vec![up; 3],
        ..StateView::default()
    };
    build(Parts {
        generation: 1,
        model: &Arc::new(model),
        view: &view,
        registry: &mut Registry::default(),
        zones: &Arc::default(),
        resolved: &Default::default(),
        previous: None,
        scenario_active: vec![],
        ready: true,
    })
}

/// A rule of `vserver` that acts where all of these criteria are met.
fn rule(vserver: VserverId, priority: u32, criteria: &[u32], action: Action) -> Rule {
    let terms: Vec<Term> = criteria
        .iter()
        .map(|&id| Term {
            text: "".into(),
            subject: Subject::Criterion(CriterionId(id)),
            negated: false,
            measure: None,
            hold: None,
        })
        .collect();
    Rule {
        name: format!("r{priority}").into(),
        vserver,
        priority,
        phase: Phase::Request,
        watched: vec![vec![None; terms.len()]],
        when: Condition { groups: vec![Group { name: "".into(), named: false, terms }] },
        action,
        stop: false,
    }
}

fn path(prefix: &str) -> CriterionTest {
    CriterionTest::Path(TextTest::StartsWith(prefix.into()))
}

fn to(vserver: VserverId) -> Action {
    Action::Route(Route::Vserver(vserver))
}

fn ask<'a>(target: &'a str, fields: &'a [(&'a str, &'a [u8])]) -> Request<'a> {
    Request { fields, ..request(target, "h.test", "192.0.2.7") }
}

#[test]
fn a_request_goes_where_the_first_true_rule_sends_it_and_else_to_the_default() {
    let rules = vec![rule(FRONT, 10, &[0], to(BLUE)), rule(FRONT, 20, &[1], to(GREEN))];
    let world = world(rules, vec![path("/b"), path("/")], Some(GREEN), &[]);
    assert_eq!(decide(&world, FRONT, &ask("/b/x", &[])).vserver, BLUE);
    assert_eq!(decide(&world, FRONT, &ask("/g", &[])).vserver, GREEN);
    // Asked directly, a target is itself.
    assert_eq!(decide(&world, BLUE, &ask("/g", &[])).vserver, BLUE);
}

#[test]
fn what_no_rule_takes_stays_with_content_switching_that_has_no_default() {
    let world = world(vec![rule(FRONT, 10, &[0], to(BLUE))], vec![path("/b")], None, &[]);
    let decision = decide(&world, FRONT, &ask("/other", &[]));
    assert_eq!((decision.vserver, decision.verdict), (FRONT, BALANCED));
}

#[test]
fn the_rules_of_the_vserver_that_it_was_handed_to_are_asked_next() {
    let teapot = Action::Respond { status: 418, headers: vec![], body: vec![] };
    let rules = vec![rule(FRONT, 10, &[0], to(BLUE)), rule(BLUE, 10, &[1], teapot)];
    let world = world(rules, vec![path("/"), path("/tea")], None, &[]);
    assert_eq!(decide(&world, FRONT, &ask("/", &[])).verdict, BALANCED);
    let decision = decide(&world, FRONT, &ask("/tea", &[]));
    assert!(matches!(decision.verdict, Verdict::Respond { status: 418, .. }));
    assert_eq!(decision.acted, [RuleId(0), RuleId(1)]);
}

#[test]
fn vservers_that_hand_to_each_other_come_to_an_end() {
    let rules = vec![rule(BLUE, 10, &[], to(GREEN)), rule(GREEN, 11, &[], to(BLUE))];
    let decision = decide(&world(rules, vec![], None, &[]), BLUE, &ask("/", &[]));
    assert_eq!(decision.verdict, BALANCED);
}

#[test]
fn a_route_to_a_service_or_group_holds_while_a_member_of_it_is_up() {
    for (route, service) in [(Route::Service(ServiceId(1)), 1), (Route::Group(GroupId(0)), 1)] {
        let rules = || vec![rule(BLUE, 10, &[], Action::Route(route))];
        let up = decide(&world(rules(), vec![], None, &[]), BLUE, &ask("/", &[]));
        assert_eq!(up.verdict, Verdict::Balance { only: Some(route) });
        let down = decide(&world(rules(), vec![], None, &[service]), BLUE, &ask("/", &[]));
        assert_eq!((down.verdict, down.acted), (BALANCED, vec![]));
    }
}

#[test]
fn edits_and_mirrors_go_on_and_are_folded_in_their_order() {
    let edit = |edits| Action::Edit(edits);
    let text = |text: &str| Name::from(text);
    let rules = vec![
        rule(
            BLUE,
            10,
            &[],
            edit(vec![
                Edit::Add { name: text("X-A"), value: text("1 {client} {path}") },
                Edit::Remove { name: text("x-secret") },
                Edit::RemoveCookie { name: text("track") },
                Edit::Path { pattern: text("^/old/([0-9]+)"), to: text("/new/$1") },
            ]),
        ),
        rule(BLUE, 20, &[], Action::Mirror { to: GREEN, percent: 5, body_limit: 0 }),
        rule(BLUE, 30, &[], edit(vec![Edit::Set { name: text("x-a"), value: text("2") }])),
    ];
    let decision = decide(&world(rules, vec![], None, &[]), BLUE, &ask("/old/42?q={path}", &[]));
    assert_eq!((decision.vserver, decision.verdict), (BLUE, BALANCED));
    assert_eq!((decision.acted.len(), decision.mirrors.as_slice()), (3, &[RuleId(1)][..]));
    let edits = &decision.edits;
    assert_eq!(edits.added().collect::<Vec<_>>(), [("x-a", "2")]);
    assert!(edits.removes("X-Secret") && edits.removes("X-A") && !edits.removes("Cookie"));
    assert_eq!(edits.target.as_deref(), Some("/new/42?q={path}"));
    assert_eq!(edits.cookie(b"a=1; track=9; b=2"), Some(Cow::Owned(b"a=1; b=2".to_vec())));
    assert_eq!(edits.cookie(b"track=9"), None);
}

#[test]
fn a_rule_that_says_stop_leaves_out_the_rest_of_its_bank_and_nothing_else() {
    let set = |value: &str| Action::Edit(vec![Edit::Add { name: "X".into(), value: value.into() }]);
    let all = |phase: Phase| {
        let stopped = Rule { stop: true, ..rule(BLUE, 10, &[0], set("10")) };
        let counted = Rule { stop: true, ..rule(BLUE, 30, &[0], Action::Count) };
        let rules = [stopped, rule(BLUE, 20, &[], set("20")), counted, rule(BLUE, 40, &[], set("40"))];
        let rules = rules.into_iter().chain([rule(BLUE, 50, &[], set("50"))]);
        rules.map(|rule| Rule { phase, ..rule }).collect::<Vec<_>>()
    };
    // Those from 30 on are of another bank, and that of 50 of a third one.
    let banks = [("r30", PolicyBank::Rewrite), ("r40", PolicyBank::Rewrite), ("r50", PolicyBank::Cs)];
    let banks: BTreeMap<Name, _> = banks.into_iter().map(|(rule, bank)| (rule.into(), (bank, "p".into()))).collect();
    let world = |phase| world_of(all(phase), vec![path("/stop")], None, &[], banks.clone());
    let numbers = |edits: &HeadEdits| edits.added().map(|(_, value)| value.to_owned()).collect::<Vec<_>>();
    let asked = world(Phase::Request);
    let decision = decide(&asked, BLUE, &ask("/stop", &[]));
    assert_eq!((numbers(&decision.edits), decision.acted.len()), (vec!["10".to_owned(), "50".to_owned()], 3));
    assert_eq!(numbers(&decide(&asked, BLUE, &ask("/", &[])).edits), ["20", "40", "50"]);
    let answering = world(Phase::Response);
    let told = |target: &str| {
        let decision = decide(&answering, BLUE, &ask(target, &[]));
        decision.answer.ask(&answering, &answer::Answer { status: 200, fields: &[] })
    };
    let (edits, acted) = told("/stop");
    assert_eq!((numbers(&edits), acted.len()), (vec!["10".to_owned(), "50".to_owned()], 3));
    assert_eq!(numbers(&told("/").0), ["20", "40", "50"]);
}

#[test]
fn what_holds_for_every_vserver_is_asked_of_a_request_once_however_often_it_is_handed_over() {
    let set = |value: &str| Action::Edit(vec![Edit::Add { name: "X".into(), value: value.into() }]);
    let named = |name: &str, rule: Rule| Rule { name: name.into(), ..rule };
    let all = |phase| {
        let rules = vec![
            named("everywhere-front", rule(FRONT, 10, &[], set("all"))),
            named("everywhere-blue", Rule { stop: true, ..rule(BLUE, 10, &[], set("all")) }),
            named("blue", rule(BLUE, 20, &[], set("blue"))),
        ];
        let mut rules: Vec<Rule> = rules.into_iter().map(|rule| Rule { phase, ..rule }).collect();
        rules.push(rule(FRONT, 90, &[], to(BLUE)));
        let everywhere = ["everywhere-front", "everywhere-blue"].map(Name::from).into_iter().collect();
        world_with(rules, |policies| policies.global_rules = everywhere)
    };
    let values = |edits: &HeadEdits| edits.added().map(|(_, value)| value.to_owned()).collect::<Vec<_>>();
    let asked = all(Phase::Request);
    assert_eq!(values(&decide(&asked, FRONT, &ask("/", &[])).edits), ["all", "blue"]);
    assert_eq!(values(&decide(&asked, BLUE, &ask("/", &[])).edits), ["all"], "addressed itself, its bank ends");
    let answering = all(Phase::Response);
    let told = |vserver| {
        let decision = decide(&answering, vserver, &ask("/", &[]));
        values(&decision.answer.ask(&answering, &answer::Answer { status: 200, fields: &[] }).0)
    };
    assert_eq!(told(FRONT), ["all", "blue"]);
    assert_eq!(told(BLUE), ["all"]);
}

#[test]
fn a_path_that_the_pattern_does_not_meet_stays_and_a_new_one_is_always_a_path() {
    let replace = |pattern: &str, to: &str| {
        let edits = vec![Edit::Path { pattern: pattern.into(), to: to.into() }];
        vec![rule(BLUE, 10, &[], Action::Edit(edits))]
    };
    let target = |rules, target| decide(&world(rules, vec![], None, &[]), BLUE, &ask(target, &[])).edits.target;
    assert_eq!(target(replace("^/x", "/y"), "/a"), None);
    assert_eq!(target(replace("^/", ""), "/a?b"), Some("/a?b".into()));
    let long = format!("/{}", "x".repeat(8000));
    assert!(target(replace("x", &"x".repeat(50)), &long).is_some());
    let longer = format!("/{}", "x".repeat(8190));
    assert_eq!(target(replace("x", "xxxxx"), &longer), None, "over the bound of a target");
}

#[test]
fn rules_of_the_response_see_the_request_and_the_answer() {
    let edits = vec![
        Edit::Set { name: "X-Was".into(), value: "{path}".into() },
        Edit::RemoveCookie { name: "inner".into() },
        Edit::Status(404),
    ];
    let rules = vec![Rule { phase: Phase::Response, ..rule(BLUE, 10, &[0, 1], Action::Edit(edits)) }];
    let criteria =
        vec![path("/api"), CriterionTest::Status(vec![crate::model::check::StatusRange { from: 500, to: 599 }])];
    let world = world(rules, criteria, None, &[]);
    let answered = |target: &str, status| {
        let decision = decide(&world, BLUE, &ask(target, &[]));
        assert!(decision.acted.is_empty());
        decision.answer.ask(&world, &answer::Answer { status, fields: &[] })
    };
    let (edits, acted) = answered("/x/../api/y", 503);
    assert_eq!((edits.status, acted.as_slice()), (Some(404), &[RuleId(0)][..]));
    assert_eq!(edits.added().collect::<Vec<_>>(), [("X-Was", "/x/../api/y")]);
    assert!(!edits.keeps_set_cookie(b"inner=1; Path=/") && edits.keeps_set_cookie(b"outer=1"));
    assert!(answered("/api/y", 200).0.is_empty());
    assert!(answered("/y", 503).0.is_empty());
    assert!(decide(&world, GREEN, &ask("/api", &[])).answer.is_empty());
}

#[test]
fn criteria_look_at_cookies_parameters_ports_and_the_handshake() {
    let one_of = |words: &[&str]| TextTest::OneOf(words.iter().map(|&w| w.into()).collect());
    let equals = |text: &str| TextTest::Equals(text.into());
    let tests: [(CriterionTest, bool); 15] = [
        (CriterionTest::Cookie { name: "a".into(), test: Some(equals("1")) }, true),
        (CriterionTest::Cookie { name: "A".into(), test: None }, false),
        (CriterionTest::Cookie { name: "b".into(), test: Some(one_of(&["x", "2"])) }, true),
        (CriterionTest::Query { name: "q".into(), test: Some(equals("a b/c")) }, true),
        (CriterionTest::Query { name: "none".into(), test: None }, false),
        (CriterionTest::Query { name: "flag".into(), test: None }, true),
        (CriterionTest::Url(TextTest::EndsWith("?q=a+b%2Fc&flag".into())), true),
        (CriterionTest::Url(equals("/p")), false),
        (CriterionTest::QueryString(equals("q=a+b%2Fc&flag")), true),
        (CriterionTest::QueryString(TextTest::Contains("p?".into())), false),
        (CriterionTest::Url(TextTest::StartsWith("/p?q".into())), true),
        (CriterionTest::Port(vec![80, 8443]), true),
        (CriterionTest::Tls, true),
        (CriterionTest::Sni(equals("WWW.example.test")), true),
        (CriterionTest::Path(one_of(&["/p", "/q"])), true),
    ];
    for (i, (test, met)) in tests.into_iter().enumerate() {
        let world = world(vec![rule(BLUE, 10, &[0], Action::Reject)], vec![test.clone()], None, &[]);
        let fields: [(&str, &[u8]); 2] = [("Cookie", b"a=1; c=3"), ("cookie", b"b=\"2\"")];
        let asked = Request {
            port: 8443,
            tls: true,
            server_name: Some("www.example.test"),
            ..ask("/p?q=a+b%2Fc&flag", &fields)
        };
        assert_eq!(decide(&world, BLUE, &asked).verdict == Verdict::Reject, met, "{i}: {test:?}");
    }
}
