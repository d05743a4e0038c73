//! Persistence of every kind, across the states of the member.

use std::time::Duration;

use bascule::model::balancing::{Extract, Method};
use bascule::model::id::{LbGroupId, VserverId};
use bascule::model::persistence::{LbGroup, Persistence, PersistenceKind, SkipPersistency};
use bascule::model::service::Protocol::{Http, Tcp};
use bascule::model::state::ServiceState;
use tokio::io::AsyncWriteExt;

use super::{ask, first_byte, held, live, tcp};
use crate::world::{Plan, Server, World, body, connect, eventually, get, read_all, read_request};

fn web(a: &Server, b: &Server, persistence: Persistence) -> Plan {
    let plan = Plan::default().service("a", Http, a.at).with_service(|s| s.custom_server_id = Some("id-a".into()));
    let plan = plan.service("b", Http, b.at).with_service(|s| s.custom_server_id = Some("id-b".into()));
    plan.vserver("web", Http, &["a", "b"]).with(|v| {
        v.balancing.method = Method::RoundRobin;
        v.persistence = Some(persistence);
    })
}

fn query(name: &str) -> Extract {
    Extract::Query(name.into())
}

/// Who answers `count` such requests, each once.
async fn who(world: &World, path: &str, fields: &str, count: usize) -> String {
    let mut names = String::new();
    for _ in 0..count {
        let answer = get(world.vip("web"), path, fields).await;
        names.push_str(body(&answer));
    }
    let mut names: Vec<char> = names.chars().collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().collect()
}

#[tokio::test]
async fn a_member_that_the_request_names_serves_it() {
    let (a, b) = (Server::http("a").await, Server::http("b").await);
    let kind = PersistenceKind::CustomServerId { request: query("s") };
    let mut world = World::start(web(&a, &b, Persistence::new(kind))).await;
    assert_eq!(who(&world, "/?s=id-b", "", 3).await, "b");
    assert_eq!(who(&world, "/?s=id-a", "", 3).await, "a");
    assert_eq!(who(&world, "/?s=other", "", 4).await, "ab");
    world.state("b", ServiceState::Trofs).await;
    assert_eq!(who(&world, "/?s=id-b", "", 3).await, "b", "trofs_persistence is on");
    world.vserver("web").trofs_persistence = false;
    world.publish().await;
    assert_eq!(who(&world, "/?s=id-b", "", 3).await, "a");
    world.state("b", ServiceState::Up).await;
    world.vserver("web").persistence = Some(Persistence::new(PersistenceKind::UrlPassive { request: query("s") }));
    world.publish().await;
    let named = format!("/?s={}-{}", b.at.ip(), b.at.port());
    assert_eq!(who(&world, &named, "", 3).await, "b");
    assert_eq!(who(&world, "/?s=id-a", "", 3).await, "a");
}

#[tokio::test]
async fn a_value_is_remembered_with_its_member_and_learned_from_answers() {
    async fn gives(name: &'static str) -> Server {
        Server::each(move |mut stream| async move {
            while read_request(&mut stream).await.is_some() {
                let answer =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nSet-Cookie: sid=of-{name}; Path=/\r\n\r\n{name}");
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        })
        .await
    }
    let (a, b) = (gives("a").await, gives("b").await);
    let sid = Extract::Cookie("sid".into());
    let kind = PersistenceKind::Rule { request: sid.clone(), response: Some(sid) };
    let mut world = World::start(web(&a, &b, Persistence::new(kind))).await;
    // Both have given out their value.
    assert_eq!(who(&world, "/", "", 4).await, "ab");
    assert_eq!(who(&world, "/", "Cookie: sid=of-a\r\n", 3).await, "a");
    assert_eq!(who(&world, "/", "Cookie: sid=of-b\r\n", 3).await, "b");
    // A value that nobody gave out stays with who serves it first.
    let first = who(&world, "/", "Cookie: sid=new\r\n", 1).await;
    assert_eq!(who(&world, "/", "Cookie: sid=new\r\n", 3).await, first);
    world.state(&first, ServiceState::OutOfService).await;
    let other = if first == "a" { "b" } else { "a" };
    assert_eq!(who(&world, "/", "Cookie: sid=new\r\n", 2).await, other);
    world.state(&first, ServiceState::Up).await;
    assert_eq!(who(&world, "/", "Cookie: sid=new\r\n", 2).await, other, "the entry was rewritten");
}

#[tokio::test]
async fn an_encrypted_cookie_leads_back_and_only_its_own_does() {
    let (a, b) = (Server::http("a").await, Server::http("b").await);
    let kind = PersistenceKind::CookieInsert { cookie: Some("sticky".into()), encrypted: true };
    let world = World::start(web(&a, &b, Persistence::new(kind))).await;
    let answer = get(world.vip("web"), "/", "").await;
    let cookie = answer.lines().find_map(|l| l.strip_prefix("Set-Cookie: sticky=")).unwrap();
    let value = cookie.split(';').next().unwrap().to_owned();
    assert!(cookie.contains("expires=") && !value.contains("ffffffff"), "{cookie}");
    assert_eq!(who(&world, "/", &format!("Cookie: sticky={value}\r\n"), 3).await, body(&answer));
    // A changed one, and one in the clear, are no cookies.
    let forged = format!("{}AAAA", &value[..value.len() - 4]);
    assert_eq!(who(&world, "/", &format!("Cookie: sticky={forged}\r\n"), 4).await, "ab");
    let clear = bascule::balance::persistence::cookie::value("a", a.at);
    assert_eq!(who(&world, "/", &format!("Cookie: sticky={clear}\r\n"), 4).await, "ab");
}

#[tokio::test]
async fn clients_that_keep_no_cookie_are_known_by_their_address() {
    let (a, b) = (Server::http("a").await, Server::http("b").await);
    let kind = PersistenceKind::CookieInsert { cookie: None, encrypted: false };
    let persistence = Persistence { backup: Some(Duration::from_secs(120)), ..Persistence::new(kind) };
    let world = World::start(web(&a, &b, persistence)).await;
    let first = who(&world, "/", "", 1).await;
    assert_eq!(who(&world, "/", "", 4).await, first);
    assert_eq!(live(&world, "web").persistence.len(), 1);
}

#[tokio::test]
async fn addresses_lead_back_in_every_combination() {
    for kind in [PersistenceKind::SourceIp, PersistenceKind::DestIp, PersistenceKind::SrcIpDestIp] {
        let (a, b) = (Server::http("a").await, Server::http("b").await);
        let mut world = World::start(web(&a, &b, Persistence::new(kind.clone()))).await;
        let first = who(&world, "/", "", 1).await;
        assert_eq!(who(&world, "/", "", 3).await, first, "{kind:?}");
        world.state(&first, ServiceState::Trofs).await;
        assert_eq!(who(&world, "/", "", 2).await, first, "{kind:?}");
        world.state(&first, ServiceState::TrofsDown).await;
        assert_ne!(who(&world, "/", "", 2).await, first, "{kind:?}");
    }
}

#[tokio::test]
async fn vservers_of_a_group_share_their_clients_by_server() {
    let (a, b) = (tcp("a").await, tcp("b").await);
    let plan = Plan::default().service("a", Tcp, a.at).service("b", Tcp, b.at);
    let plan = plan.vserver("one", Tcp, &["a", "b"]).vserver("two", Tcp, &["b", "a"]);
    let mut model = plan.model();
    let persistence = Persistence::new(PersistenceKind::SourceIp);
    let vservers: Vec<VserverId> = (0..2).map(VserverId::from_index).collect();
    for vserver in &mut model.vservers {
        vserver.balancing.method = Method::RoundRobin;
        vserver.persistence = Some(persistence.clone());
        vserver.lb_group = Some(LbGroupId::from_index(0));
    }
    model.lb_groups = vec![LbGroup { name: "g".into(), vservers, persistence }];
    let world = World::of(model).await;
    let first = first_byte(&mut connect(world.vip("one")).await).await;
    for vserver in ["two", "one", "two", "two"] {
        assert_eq!(first_byte(&mut connect(world.vip(vserver)).await).await, first, "{vserver}");
    }
    let sessions = &world.cell.load_full().vservers[1].sessions;
    assert_eq!(sessions.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persistent_client_whose_member_is_full_waits_goes_elsewhere_or_moves() {
    for skip in [SkipPersistency::None, SkipPersistency::Bypass, SkipPersistency::ReLb] {
        let (a, b) = (held("a").await, Server::http("b").await);
        let kind = PersistenceKind::CustomServerId { request: query("s") };
        let plan = Plan::default().service("a", Http, a.server.at).with_service(|s| {
            s.settings.max_client = 1;
            s.custom_server_id = Some("id-a".into());
        });
        let plan = plan.service("b", Http, b.at).vserver("web", Http, &["a", "b"]).with(|v| {
            v.persistence = Some(Persistence::new(kind));
            v.skip_persistency = skip;
        });
        let world = World::start(plan).await;
        let mut first = ask(&world, "web", "/?s=id-a").await;
        eventually("it is served", || world.active("a") == 1).await;
        let mut second = ask(&world, "web", "/?s=id-a").await;
        if skip == SkipPersistency::None {
            let web = live(&world, "web");
            eventually("it waits", || web.surge.depth() == 1).await;
            // Others are served meanwhile.
            assert_eq!(body(&get(world.vip("web"), "/", "").await), "b");
            a.gate.add_permits(2);
            assert_eq!(body(&read_all(&mut second).await), "a");
        } else {
            assert_eq!(body(&read_all(&mut second).await), "b", "{skip:?}");
            a.gate.add_permits(1);
        }
        assert_eq!(body(&read_all(&mut first).await), "a");
    }
}
