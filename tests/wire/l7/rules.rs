//! Traffic rules and content switching on real sockets.

use std::time::Duration;

use bascule::model::Model;
use bascule::model::balancing::Method;
use bascule::model::check::StatusRange;
use bascule::model::condition::{Condition, Group, Subject, Term};
use bascule::model::id::{CriterionId, ServiceId, VserverId};
use bascule::model::rule::{Action, Criterion, CriterionTest, Edit, Phase, Route, Rule, TextTest};
use bascule::model::service::Protocol::{Http, Tcp};
use bascule::model::service::ProxyProtocol;
use bascule::model::state::ServiceState;
use bascule::model::vserver::Role;

use tokio::io::AsyncWriteExt;

use crate::world::{Plan, Server, World, body, connect, exchange, get, read_answer};

/// A rule of `vserver` on one criterion; `None`: always.
pub fn rule(vserver: u32, priority: u32, criterion: Option<u32>, action: Action) -> Rule {
    let terms: Vec<Term> = criterion
        .into_iter()
        .map(|id| Term {
            text: "".into(),
            subject: Subject::Criterion(CriterionId(id)),
            negated: false,
            measure: None,
            hold: None,
        })
        .collect();
    Rule {
        name: format!("r{vserver}-{priority}").into(),
        vserver: VserverId(vserver),
        priority,
        phase: Phase::Request,
        watched: vec![vec![None; terms.len()]],
        when: Condition { groups: vec![Group { name: "".into(), named: false, terms }] },
        action,
        stop: false,
    }
}

pub fn path(start: &str) -> Criterion {
    Criterion { name: start.into(), test: CriterionTest::Path(TextTest::StartsWith(start.into())) }
}

/// `web` switches: /shop/ to `shop`, the rest to `static`. Ids in the order of the names: shop 0, static 1, web 2.
fn switching(shop: &Server, rest: &Server) -> Model {
    let plan = Plan::default()
        .service("a", Http, shop.at)
        .service("b", Http, rest.at)
        .vserver("shop", Http, &["a"])
        .vserver("static", Http, &["b"])
        .vserver("web", Http, &[])
        .with(|v| v.role = Role::Cs { default: Some(VserverId(1)), targets: vec![VserverId(0), VserverId(1)] });
    let mut model = plan.model();
    model.criteria = vec![path("/shop/")];
    model.rules = vec![rule(2, 10, Some(0), Action::Route(Route::Vserver(VserverId(0))))];
    model
}

#[tokio::test]
async fn content_switching_sends_each_request_of_a_connection_where_it_belongs() {
    let (shop, rest) = (Server::http("shop").await, Server::http("rest").await);
    let mut world = World::of(switching(&shop, &rest)).await;
    let vip = world.vip("web");
    for (path, from) in [("/shop/1", "shop"), ("/", "rest"), ("/x/../shop/2", "shop"), ("/shopping", "rest")] {
        assert_eq!(body(&get(vip, path, "").await), from, "{path}");
    }
    world.state("a", ServiceState::Down).await;
    assert!(get(vip, "/shop/1", "").await.starts_with("HTTP/1.1 503 "));
    assert_eq!(body(&get(vip, "/", "").await), "rest", "the other target still serves");
}

#[tokio::test]
async fn edits_change_what_the_server_and_the_client_see() {
    let server = Server::http("a").await;
    let plan = Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"]);
    let mut model = plan.model();
    model.criteria =
        vec![Criterion { name: "ok".into(), test: CriterionTest::Status(vec![StatusRange { from: 200, to: 299 }]) }];
    let text = |text: &str| text.into();
    let request = vec![
        Edit::Set { name: text("X-Who"), value: text("{client} {host}{path}") },
        Edit::Set { name: text("Host"), value: text("inner.test") },
        Edit::Remove { name: text("X-Debug") },
        Edit::RemoveCookie { name: text("track") },
        Edit::Path { pattern: text("^/old/(.*)$"), to: text("/new/$1") },
    ];
    let response = vec![
        Edit::Add { name: text("X-Seen"), value: text("{path}") },
        Edit::SetCookie { name: text("seen"), value: text("1") },
        Edit::Status(201),
    ];
    model.rules = vec![
        rule(0, 10, None, Action::Edit(request)),
        Rule { phase: Phase::Response, ..rule(0, 20, Some(0), Action::Edit(response)) },
    ];
    let world = World::of(model).await;
    let fields = "X-Who: forged\r\nX-Debug: 1\r\nCookie: a=1; track=2; b=3\r\n";
    let answer = get(world.vip("web"), "/old/x?q=1", fields).await;
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    let lower = answer.to_ascii_lowercase();
    assert!(lower.contains("\r\nx-seen: /old/x\r\n") && lower.contains("\r\nset-cookie: seen=1\r\n"), "{answer}");
    let seen = server.seen();
    assert!(seen.contains("GET /new/x?q=1 HTTP/1.1\r\n"), "{seen}");
    let lower = seen.to_ascii_lowercase();
    assert!(lower.contains("x-who: 127.0.0.1 t.test/old/x\r\n"), "{seen}");
    assert!(lower.contains("host: inner.test\r\n") && lower.contains("cookie: a=1; b=3\r\n"), "{seen}");
    assert!(!lower.contains("forged") && !lower.contains("x-debug") && lower.matches("host:").count() == 1, "{seen}");
}

#[tokio::test]
async fn a_rule_narrows_the_choice_to_one_service_while_it_is_up() {
    let (a, b) = (Server::http("a").await, Server::http("b").await);
    let mut model = super::two(&a, &b).with(|v| v.balancing.method = Method::RoundRobin).model();
    model.rules = vec![rule(0, 10, None, Action::Route(Route::Service(ServiceId(1))))];
    let mut world = World::of(model).await;
    let vip = world.vip("web");
    for _ in 0..4 {
        assert_eq!(body(&get(vip, "/", "").await), "b");
    }
    world.state("b", ServiceState::Down).await;
    assert_eq!(body(&get(vip, "/", "").await), "a", "the rule does not act while its service is down");
}

#[tokio::test]
async fn a_mirror_gets_a_copy_and_the_client_never_notices() {
    let (a, shadow) = (Server::http("a").await, Server::http("shadow").await);
    let plan = Plan::default()
        .service("a", Http, a.at)
        .service("s", Http, shadow.at)
        .vserver("shadow", Http, &["s"])
        .vserver("web", Http, &["a"]);
    let mut model = plan.model();
    model.rules = vec![rule(1, 10, None, Action::Mirror { to: VserverId(0), percent: 50, body_limit: 16 })];
    let mut world = World::of(model).await;
    let vip = world.vip("web");
    for _ in 0..10 {
        assert_eq!(body(&get(vip, "/copied", "X-Mine: 1\r\n").await), "a");
    }
    let copies = || shadow.seen().matches("GET /copied HTTP/1.1\r\n").count();
    for _ in 0..200 {
        if copies() == 5 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(copies(), 5);
    assert!(shadow.seen().to_ascii_lowercase().contains("x-mine: 1\r\n"));
    world.state("s", ServiceState::Down).await;
    assert_eq!(body(&get(vip, "/alone", "").await), "a", "a mirror that is down is nobody's trouble");
}

#[tokio::test]
async fn a_copy_reaches_its_server_as_every_connection_to_it_does() {
    let (a, shadow) = (Server::http("a").await, Server::http("shadow").await);
    let plan = Plan::default()
        .service("a", Http, a.at)
        .service("s", Http, shadow.at)
        .with_service(|s| s.settings.proxy_protocol = Some(ProxyProtocol::V1))
        .vserver("shadow", Http, &["s"])
        .vserver("web", Http, &["a"]);
    let mut model = plan.model();
    model.rules = vec![rule(1, 10, None, Action::Mirror { to: VserverId(0), percent: 100, body_limit: 16 })];
    let world = World::of(model).await;
    assert_eq!(body(&get(world.vip("web"), "/copied", "").await), "a");
    for _ in 0..200 {
        if shadow.seen().contains("/copied") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let seen = shadow.seen();
    assert!(seen.contains("PROXY TCP4 127.0.0.1 127.0.0.1 ") && seen.contains("GET /copied HTTP/1.1"), "{seen}");
}

#[tokio::test]
async fn a_connection_without_http_is_refused_or_routed_by_its_addresses() {
    let (a, b) = (Server::http("a").await, Server::http("b").await);
    let plan = Plan::default().service("a", Tcp, a.at).service("b", Tcp, b.at).vserver("other", Tcp, &["b"]).vserver(
        "raw",
        Tcp,
        &["a"],
    );
    let mut model = plan.model();
    let client =
        |network: &str| Criterion { name: network.into(), test: CriterionTest::Client(vec![network.parse().unwrap()]) };
    model.criteria = vec![client("127.0.0.0/8"), client("192.0.2.0/24")];
    model.rules =
        vec![rule(1, 10, Some(1), Action::Reject), rule(1, 20, Some(0), Action::Route(Route::Vserver(VserverId(0))))];
    let mut world = World::of(model).await;
    let vip = world.vip("raw");
    let mut client = connect(vip).await;
    client.write_all(b"GET / HTTP/1.1\r\nHost: t.test\r\n\r\n").await.unwrap();
    assert_eq!(body(&read_answer(&mut client).await), "b");
    world.model.rules[0].when.groups[0].terms[0].subject = Subject::Criterion(CriterionId(0));
    world.publish().await;
    assert_eq!(exchange(vip, "GET / HTTP/1.1\r\nHost: t.test\r\n\r\n").await, "", "reset");
}
