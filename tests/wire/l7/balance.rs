//! Who serves a request.

use std::time::Duration;

use bascule::model::balancing::Method;
use bascule::model::condition::{Condition, Group, Subject, Term};
use bascule::model::id::{CriterionId, VserverId};
use bascule::model::persistence::{Persistence, PersistenceKind};
use bascule::model::rule::{Action, Criterion, CriterionTest, Phase, Rule, TextTest};
use bascule::model::service::Protocol::Http;
use bascule::model::state::ServiceState;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{one, two};
use crate::world::{
    PATIENT, Plan, Server, World, body, connect, eventually, exchange, get, nobody, read_answer, read_request,
};

#[tokio::test]
async fn each_request_of_a_connection_is_balanced_anew() {
    let (a, b) = (Server::http("a").await, Server::http("b").await);
    let world = World::start(two(&a, &b).with(|v| v.balancing.method = Method::RoundRobin)).await;
    let mut client = connect(world.vip("web")).await;
    let mut order = String::new();
    for _ in 0..6 {
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        order.push_str(body(&read_answer(&mut client).await));
    }
    assert_eq!(order, "ababab");
}

#[tokio::test]
async fn nothing_up_is_a_503_and_the_connection_stays_of_use() {
    let a = Server::http("a").await;
    let mut world = World::start(one(&a).with(|v| v.down_state_flush = false)).await;
    world.state("a", ServiceState::Down).await;
    let mut client = connect(world.vip("web")).await;
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let answer = read_answer(&mut client).await;
    assert!(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{answer}");
    assert!(!answer.to_lowercase().contains("server:"), "{answer}");
    world.state("a", ServiceState::Up).await;
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    assert_eq!(body(&read_answer(&mut client).await), "a");
}

#[tokio::test]
async fn a_member_that_cannot_be_reached_costs_no_request_whatever_its_method() {
    let b = Server::http("b").await;
    let plan =
        Plan::default().service("a", Http, nobody().await).service("b", Http, b.at).vserver("web", Http, &["a", "b"]);
    let plan = plan.with(|v| v.balancing.method = Method::RoundRobin).with(|v| v.retry.budget_percent = 100);
    let world = World::start(plan).await;
    for _ in 0..4 {
        assert_eq!(body(&get(world.vip("web"), "/", "").await), "b");
        let post = "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(body(&exchange(world.vip("web"), post).await), "b");
    }
    assert_eq!(b.seen().matches("\r\n\r\nhello").count(), 4);
}

#[tokio::test]
async fn after_its_own_members_the_chain_is_tried() {
    let spare = Server::http("s").await;
    let plan = Plan::default()
        .service("a", Http, nobody().await)
        .service("s", Http, spare.at)
        .vserver("web", Http, &["a"])
        .backup("spare")
        .vserver("spare", Http, &["s"]);
    let mut world = World::start(plan).await;
    assert_eq!(body(&get(world.vip("web"), "/", "").await), "s");
    world.state("a", ServiceState::Down).await;
    assert_eq!(body(&get(world.vip("web"), "/", "").await), "s");
    world.state("s", ServiceState::Down).await;
    assert!(get(world.vip("web"), "/", "").await.starts_with("HTTP/1.1 503 "));
}

#[tokio::test]
async fn a_server_that_dies_before_it_answers_costs_no_idempotent_request() {
    let dying = Server::each(|mut stream| async move {
        read_request(&mut stream).await;
    })
    .await;
    let b = Server::http("b").await;
    let plan = two(&dying, &b).with(|v| v.balancing.method = Method::RoundRobin);
    let world = World::start(plan.with(|v| v.retry.budget_percent = 100)).await;
    for _ in 0..4 {
        assert_eq!(body(&get(world.vip("web"), "/", "").await), "b");
    }
    // A POST may have been acted on: its client must know.
    let post = "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let mut answers = Vec::new();
    for _ in 0..2 {
        answers.push(exchange(world.vip("web"), post).await[9..12].to_owned());
    }
    answers.sort();
    assert_eq!(answers, ["200", "502"]);
}

#[tokio::test]
async fn a_full_member_is_passed_over() {
    let held = Server::each(|mut stream| async move {
        read_request(&mut stream).await;
        let mut scrap = Vec::new();
        let _ = stream.read_to_end(&mut scrap).await;
    })
    .await;
    let plan = one(&held).with_service(|s| s.settings.max_client = 1).with(|v| v.surge.max = 0);
    let world = World::start(plan).await;
    let mut first = connect(world.vip("web")).await;
    first.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    eventually("it is there", || world.active("a") == 1).await;
    assert!(get(world.vip("web"), "/", "").await.starts_with("HTTP/1.1 503 "));
}

fn cookie_persistence(minutes: u64) -> Option<Persistence> {
    let kind = PersistenceKind::CookieInsert { cookie: None, encrypted: false };
    Some(Persistence { timeout: Duration::from_secs(60 * minutes), ..Persistence::new(kind) })
}

fn set_cookie(answer: &str) -> Option<&str> {
    answer.lines().find_map(|l| l.strip_prefix("Set-Cookie: "))
}

#[tokio::test]
async fn a_cookie_keeps_its_member_in_trofs_and_moves_when_it_is_out() {
    let (a, b) = (Server::http("a").await, Server::http("b").await);
    let plan = two(&a, &b).with(|v| {
        v.balancing.method = Method::RoundRobin;
        v.persistence = cookie_persistence(0);
    });
    let mut world = World::start(plan).await;
    let vip = world.vip("web");
    let first = get(vip, "/", "").await;
    assert_eq!(body(&first), "a");
    let cookie = set_cookie(&first).expect(&first);
    assert!(cookie.starts_with("NSC_xfc=ffffffff7c081e10") && cookie.ends_with("; path=/; HttpOnly"), "{cookie}");
    let pair = format!("Cookie: other=1; {}\r\n", cookie.split(';').next().unwrap());
    for state in [ServiceState::Up, ServiceState::Trofs] {
        world.state("a", state).await;
        for _ in 0..2 {
            let answer = get(vip, "/", &pair).await;
            assert_eq!((body(&answer), set_cookie(&answer)), ("a", None), "{state:?}");
        }
    }
    assert_eq!(body(&get(vip, "/", "").await), "b", "a new client is not sent to a draining member");
    for state in [ServiceState::OutOfService, ServiceState::Down, ServiceState::TrofsDown] {
        world.state("a", state).await;
        let moved = get(vip, "/", &pair).await;
        assert_eq!(body(&moved), "b");
        assert!(set_cookie(&moved).is_some_and(|c| !c.starts_with(cookie)), "{moved}");
    }
    world.vserver("web").trofs_persistence = false;
    world.state("a", ServiceState::Trofs).await;
    assert_eq!(body(&get(vip, "/", &pair).await), "b");
}

#[tokio::test]
async fn a_cookie_with_a_time_out_carries_its_expiry() {
    let a = Server::http("a").await;
    let world = World::start(one(&a).with(|v| v.persistence = cookie_persistence(2))).await;
    let answer = get(world.vip("web"), "/", "").await;
    let cookie = set_cookie(&answer).expect(&answer);
    assert!(cookie.contains("; expires=") && cookie.contains(" GMT; path=/; HttpOnly"), "{cookie}");
}

#[tokio::test]
async fn all_members_draining_refuse_new_clients_and_do_not_use_the_backup() {
    let (a, s) = (Server::http("a").await, Server::http("s").await);
    let plan = Plan::default()
        .service("a", Http, a.at)
        .service("s", Http, s.at)
        .vserver("web", Http, &["a"])
        .backup("spare")
        .vserver("spare", Http, &["s"]);
    let mut world = World::start(plan).await;
    world.state("a", ServiceState::Trofs).await;
    assert!(get(world.vip("web"), "/", "").await.starts_with("HTTP/1.1 503 "));
}

#[tokio::test]
async fn rules_answer_redirect_and_reset() {
    let a = Server::http("a").await;
    let mut model = one(&a).model();
    let path = |name: &str, start: &str| Criterion {
        name: name.into(),
        test: CriterionTest::Path(TextTest::StartsWith(start.into())),
    };
    model.criteria = vec![path("api", "/api/"), path("gone", "/gone"), path("old", "/old/")];
    let rule = |name: &str, priority: u32, criterion: u32, action| Rule {
        name: name.into(),
        vserver: VserverId(0),
        priority,
        phase: Phase::Request,
        when: Condition {
            groups: vec![Group {
                name: "".into(),
                named: false,
                terms: vec![Term {
                    text: "".into(),
                    subject: Subject::Criterion(CriterionId(criterion)),
                    negated: false,
                    measure: None,
                    hold: None,
                }],
            }],
        },
        watched: vec![vec![None]],
        action,
        stop: false,
    };
    let headers = vec![("X-Rule".into(), "api".into())];
    model.rules = vec![
        rule("api", 1, 0, Action::Respond { status: 403, headers, body: b"not from here\n".to_vec() }),
        rule("gone", 2, 1, Action::Reject),
        rule("old", 3, 2, Action::Redirect { status: 308, location: "https://new.test{path}?{query}".into() }),
    ];
    let world = World::of(model).await;
    let vip = world.vip("web");
    for path in ["/api/x", "/%61pi/x", "/x/../api/x", "//api/x"] {
        let answer = get(vip, path, "").await;
        assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("X-Rule: api\r\n"), "{path}: {answer}");
        assert_eq!(body(&answer), "not from here\n");
    }
    let answer = get(vip, "/old/a?b=c", "").await;
    assert!(
        answer.starts_with("HTTP/1.1 308 ") && answer.contains("Location: https://new.test/old/a?b=c\r\n"),
        "{answer}"
    );
    let mut client = connect(vip).await;
    client.write_all(b"GET /gone HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut scrap = [0; 1];
    let read = tokio::time::timeout(PATIENT, client.read(&mut scrap)).await.unwrap();
    assert_eq!(read.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    // A rule may answer before a body has come; the connection then ends cleanly.
    let post = format!("POST /api/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{}", "x".repeat(50_000));
    let mut client = connect(vip).await;
    client.write_all(post.as_bytes()).await.unwrap();
    assert!(crate::world::read_all(&mut client).await.starts_with("HTTP/1.1 403 "));
    assert!(!a.seen().contains("api"), "{}", a.seen());
    assert_eq!(body(&get(vip, "/", "").await), "a");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_requests_that_come_at_once_as_many_pass_as_a_member_takes() {
    let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
    let permits = std::sync::Arc::clone(&gate);
    let server = Server::each(move |mut stream| {
        let permits = std::sync::Arc::clone(&permits);
        async move {
            while read_request(&mut stream).await.is_some() {
                permits.acquire().await.unwrap().forget();
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na").await;
            }
        }
    })
    .await;
    let plan = super::one(&server).with_service(|s| s.settings.max_client = 3).with(|v| v.surge.max = 0);
    let world = World::start(plan).await;
    let vip = world.vip("web");
    for _ in 0..3 {
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..12 {
            all.spawn(get(vip, "/", ""));
        }
        // Those that are refused are told so while the others are under way.
        for _ in 0..9 {
            let answer = all.join_next().await.unwrap().unwrap();
            assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
        }
        gate.add_permits(3);
        let answers = all.join_all().await;
        assert_eq!(answers.iter().filter(|a| a.starts_with("HTTP/1.1 200 ")).count(), 3);
        eventually("all are over", || world.active("a") == 0).await;
    }
}
