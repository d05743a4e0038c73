use super::*;
use crate::model::check::Host;
use crate::model::lookup::{Found, Lookup, Query};
use crate::model::service::{Protocol, Server, Service};

const SECOND: Duration = Duration::from_secs(1);

fn model(names: &[&str]) -> Model {
    let mut model = Model::empty();
    for name in names {
        let mut service = Service::new(*name, Protocol::Http, ([127, 0, 0, 1], 80).into());
        service.host = Host::Name((*name).into());
        model.services.push(service);
    }
    model
}

fn question(name: &str) -> Question {
    Question { name: name.into(), query: Query::Either }
}

fn answer(addresses: &[&str], ttl: u64) -> Result<Answer, Arc<str>> {
    let found = addresses.iter().map(|a| Found { address: a.parse().unwrap(), srv: None });
    Ok(Answer { found: found.collect(), ttl: Duration::from_secs(ttl) })
}

fn failed() -> Result<Answer, Arc<str>> {
    Err("SERVFAIL".into())
}

fn start() -> Now {
    Now::new(Tick(1_000_000), Wall(1_800_000_000_000_000))
}

fn names(of: &[&str]) -> Names {
    let mut names = Names::default();
    names.adopt(start(), &model(of), false);
    names
}

/// How long after an answer with this TTL the question is asked again.
fn asked_again(ttl: u64) -> Duration {
    let mut names = names(&["app"]);
    assert_eq!(names.ask(start()), [question("app")]);
    names.answered(start(), &question("app"), answer(&["192.0.2.1"], ttl));
    let at = names.wake_at().unwrap();
    assert_eq!(names.ask(Now { tick: Tick(at.0 - 1), ..start() }), [], "not a moment earlier");
    assert_eq!(names.ask(Now { tick: at, ..start() }), [question("app")]);
    at.since(start().tick)
}

#[test]
fn a_name_is_asked_again_when_its_ttl_is_over_and_not_sooner_than_a_second_nor_later_than_five_minutes() {
    assert_eq!(asked_again(30), 30 * SECOND);
    assert_eq!(asked_again(0), TTL_LEAST);
    assert_eq!(asked_again(86_400), TTL_MOST);
}

#[test]
fn a_question_that_is_under_way_is_not_asked_twice() {
    let mut names = names(&["app"]);
    assert_eq!(names.ask(start()).len(), 1);
    assert_eq!(names.ask(start().after(100 * SECOND)), []);
    assert_eq!(names.wake_at(), None);
    names.answered(start(), &question("app"), failed());
    assert_eq!(names.wake_at(), Some(start().tick + 5 * SECOND), "`domain_resolve_retry`");
}

#[test]
fn an_address_survives_any_number_of_failures_and_an_empty_answer() {
    let mut names = names(&["app"]);
    let app = question("app");
    assert_eq!(names.answered(start(), &app, answer(&["192.0.2.1"], 1)), Change { answer: true, address: true });
    for seconds in 1..100 {
        let now = start().after(seconds * SECOND);
        let what = if seconds % 2 == 0 { failed() } else { answer(&[], 60) };
        assert_eq!(names.answered(now, &app, what), Change::default());
    }
    let known = &names.known()[&app];
    assert_eq!(known.address, Some("192.0.2.1".parse().unwrap()));
    assert_eq!((known.failures, known.failing_since), (99, Some(start().after(SECOND).wall)), "and it shows");
    assert!(known.error.is_some());
    names.answered(start().after(200 * SECOND), &app, answer(&["192.0.2.1"], 1));
    let known = &names.known()[&app];
    assert_eq!((known.failures, known.failing_since, known.error.clone()), (0, None, None));
}

#[test]
fn a_rotating_answer_changes_nothing_and_an_address_in_use_stays_while_it_is_in_the_answer() {
    let mut names = names(&["app"]);
    let app = question("app");
    names.answered(start(), &app, answer(&["192.0.2.1", "192.0.2.2"], 1));
    assert_eq!(names.answered(start(), &app, answer(&["192.0.2.2", "192.0.2.1"], 9)), Change::default());
    let grown = names.answered(start(), &app, answer(&["192.0.2.3", "192.0.2.1"], 9));
    assert_eq!(grown, Change { answer: true, address: false });
    let moved = names.answered(start(), &app, answer(&["192.0.2.3"], 9));
    assert_eq!(moved, Change { answer: true, address: true });
    assert_eq!(names.known()[&app].address, Some("192.0.2.3".parse().unwrap()));
}

#[test]
fn a_name_that_never_answered_does_not_resolve_and_that_is_told_once() {
    let mut names = names(&["nowhere"]);
    let nowhere = question("nowhere");
    assert_eq!(names.resolves(&nowhere), None);
    assert!(names.answered(start(), &nowhere, failed()).address);
    assert_eq!(names.resolves(&nowhere), Some(false));
    assert!(!names.answered(start(), &nowhere, failed()).address);
}

#[test]
fn a_restart_begins_with_what_was_known_and_asks_at_once() {
    let mut names = Names::default();
    let saved = answer(&["192.0.2.1"], 60).unwrap();
    names.restore(vec![(question("app"), saved.clone(), Wall(5)), (question("gone"), saved, Wall(5))]);
    names.adopt(start(), &model(&["app"]), false);
    assert_eq!(names.resolves(&question("app")), Some(true));
    assert_eq!(names.known()[&question("app")].answered_at, Some(Wall(5)), "its age shows");
    assert_eq!(names.ask(start()), [question("app")]);
    names.adopt(start(), &model(&["gone"]), false);
    assert_eq!(names.resolves(&question("gone")), None, "nobody wanted it at the start");
}

#[test]
fn a_reload_keeps_what_is_known_and_other_name_servers_are_asked_at_once() {
    let mut names = names(&["app"]);
    names.ask(start());
    names.answered(start(), &question("app"), answer(&["192.0.2.1"], 60));
    names.adopt(start().after(SECOND), &model(&["app", "new"]), false);
    assert_eq!(names.ask(start().after(SECOND)), [question("new")]);
    assert_eq!(names.resolves(&question("app")), Some(true));
    names.adopt(start().after(2 * SECOND), &model(&["app", "new"]), true);
    assert_eq!(names.ask(start().after(2 * SECOND)), [question("app"), question("new")]);
}

#[test]
fn of_servers_with_one_name_the_shortest_wait_counts_and_types_are_asked_apart() {
    let mut model = model(&["app", "app", "app"]);
    for (at, (query, retry)) in [(Query::A, 30), (Query::A, 7), (Query::Aaaa, 9)].into_iter().enumerate() {
        let lookup = Lookup { query, retry: Duration::from_secs(retry) };
        model.servers.push(Server {
            name: format!("s{at}").into(),
            address: Host::Name("app".into()),
            lookup,
            comment: None,
        });
        model.services[at].server = Some(crate::model::id::ServerId::from_index(at));
    }
    let mut names = Names::default();
    names.adopt(start(), &model, false);
    let asked = names.ask(start());
    assert_eq!(asked.iter().map(|q| q.query).collect::<Vec<_>>(), [Query::A, Query::Aaaa]);
    for question in &asked {
        names.answered(start(), question, failed());
    }
    let due: Vec<Duration> = names.known().values().map(|known| known.due.since(start().tick)).collect();
    assert_eq!(due, [7 * SECOND, 9 * SECOND]);
}
