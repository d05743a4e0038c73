mod switching;

use std::sync::Arc;

use super::*;
use crate::model::Model;
use crate::model::condition::{Condition, Group, Term};
use crate::model::id::{CriterionId, WatchedId};
use crate::model::rule::{Criterion, CriterionTest, Phase, Rule, TextTest};

const BALANCED: Verdict = Verdict::Balance { only: None };
use crate::model::service::Protocol;
use crate::model::state::StateView;
use crate::model::vserver::Vserver;
use crate::snapshot::build::{Parts, build};
use crate::snapshot::live::Registry;

/// `api` and `lan` as in the example: answer 403 to whoever asks for /api/ from elsewhere, while `watched` is true. The
/// vserver `public` answers 403 to all paths but /public/ and those of /api/ that are not below /api/admin/.
fn snapshot(watched: Option<Truth>) -> Snapshot {
    let mut model = Model::empty();
    model.vservers.push(Vserver::new("web", Protocol::Http));
    model.vservers.push(Vserver::new("public", Protocol::Http));
    let criterion = |name: &str, test| Criterion { name: name.into(), test };
    model.criteria = vec![
        criterion("api", CriterionTest::Path(TextTest::StartsWith("/api/".into()))),
        criterion("host", CriterionTest::Host(TextTest::Regex("^old\\.".into()))),
        criterion("lan", CriterionTest::Client(vec!["10.0.0.0/8".parse().unwrap()])),
        criterion("public", CriterionTest::Path(TextTest::StartsWith("/public/".into()))),
        criterion("admin", CriterionTest::Path(TextTest::StartsWith("/api/admin/".into()))),
    ];
    let term = |id: u32, negated| Term {
        text: "".into(),
        subject: Subject::Criterion(CriterionId(id)),
        negated,
        measure: None,
        hold: None,
    };
    let rule = |name: &str, priority, terms: Vec<Term>, watched, action| Rule {
        name: name.into(),
        vserver: VserverId(0),
        priority,
        phase: Phase::Request,
        when: Condition { groups: vec![Group { name: "".into(), named: false, terms }] },
        watched,
        action,
        stop: false,
    };
    let mut guarded = vec![term(0, false), term(2, true)];
    let mut board = vec![None, None];
    if watched.is_some() {
        // Its value comes from the board, with its `!` applied already.
        guarded.push(term(0, true));
        board.push(Some(WatchedId(0)));
    }
    let forbidden = Action::Respond { status: 403, headers: vec![], body: b"not from here\n".to_vec() };
    let rest = Rule {
        vserver: VserverId(1),
        when: Condition {
            groups: vec![
                Group { name: "".into(), named: false, terms: vec![term(3, true), term(0, true)] },
                Group { name: "".into(), named: false, terms: vec![term(0, false), term(4, false)] },
            ],
        },
        ..rule("rest", 1, vec![], vec![], forbidden.clone())
    };
    let moved = Action::Redirect { status: 301, location: "https://new.test{path}?{query}&{x}{host}".into() };
    model.rules = vec![
        rule("api-only-from-lan", 100, guarded, vec![board], forbidden),
        rule("moved", 10, vec![term(1, false)], vec![vec![None]], moved),
        rest,
    ];
    let view = StateView { watched: watched.into_iter().collect(), ..StateView::default() };
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

fn request<'a>(target: &'a str, host: &'a str, client: &str) -> Request<'a> {
    Request { method: "GET", target, host, ..Request::connection(client.parse().unwrap(), 80, None, false) }
}

#[test]
fn the_rule_of_the_example_answers_who_it_names_and_nobody_else() {
    let snapshot = snapshot(None);
    let decide = |target, client| decide(&snapshot, VserverId(0), &request(target, "x", client)).verdict;
    assert!(matches!(decide("/api/x", "192.0.2.1"), Verdict::Respond { status: 403, .. }));
    assert!(matches!(decide("/y/../%61pi/x", "192.0.2.1"), Verdict::Respond { status: 403, .. }));
    assert_eq!(decide("/api/x", "10.1.2.3"), BALANCED);
    assert_eq!(decide("/", "192.0.2.1"), BALANCED);
}

#[test]
fn a_rule_that_names_all_other_paths_cannot_be_passed_by_another_spelling() {
    let snapshot = snapshot(None);
    let passes = |target| decide(&snapshot, VserverId(1), &request(target, "x", "192.0.2.1")).verdict == BALANCED;
    for target in ["/public/x", "/public//x/./y", "/%70ublic/x;a=b", "/api/x", "/api/../api/x", "/public/../public/"] {
        assert!(passes(target), "{target}");
    }
    for target in [
        "/secret",
        "/public/../secret",
        "/public/%2e%2e/secret",
        "/public/..;/secret",
        "/public\\..\\secret",
        "/public/..%5csecret",
        "/public//../../secret",
        "/api/../secret",
        "/api/admin/x",
        "/api/x/../admin/x",
        "/public/../api/admin/x",
        "/api;a/admin/x",
    ] {
        assert!(!passes(target), "{target}");
    }
}

#[test]
fn explain_shows_the_reading_under_which_a_rule_acts() {
    let snapshot = snapshot(None);
    let evaluated = evaluate(&snapshot, VserverId(1), &request("/public/../secret", "x", "192.0.2.1"));
    assert_eq!(evaluated[0].value, Truth::True);
    assert_eq!(evaluated[0].terms[0], [Truth::True, Truth::True]);
}

#[test]
fn a_board_term_that_is_unknown_fires_nothing() {
    let at = request("/api/x", "x", "192.0.2.1");
    for (value, fires) in [(Truth::True, true), (Truth::Unknown, false), (Truth::False, false)] {
        let decision = decide(&snapshot(Some(value)), VserverId(0), &at);
        assert_eq!(decision.verdict != BALANCED, fires, "{value:?}");
    }
}

#[test]
fn the_lowest_priority_number_is_asked_first_and_a_redirect_is_filled_in_once() {
    let snapshot = snapshot(None);
    let decision = decide(&snapshot, VserverId(0), &request("/api/{host}?a=1", "OLD.x.:80", "192.0.2.1"));
    let Verdict::Redirect { status, location } = decision.verdict.clone() else { panic!("{decision:?}") };
    let rule = decision.rule(&snapshot).unwrap();
    assert_eq!((status, location.as_str()), (301, "https://new.test/api/{host}?a=1&{x}OLD.x.:80"));
    assert_eq!(&*snapshot.model.rules[rule.index()].name, "moved");
    count(&snapshot, &decision);
    assert_eq!(snapshot.rules[rule.index()].hits_total.load(Ordering::Relaxed), 1);
}

#[test]
fn explain_sees_every_rule_up_to_the_one_that_acts() {
    let snapshot = snapshot(None);
    let evaluated = evaluate(&snapshot, VserverId(0), &request("/api/", "x", "10.0.0.1"));
    assert_eq!(evaluated.len(), 2);
    assert_eq!(evaluated[1].terms, [[Truth::True, Truth::False]]);
    assert_eq!(evaluated[1].value, Truth::False);
}
