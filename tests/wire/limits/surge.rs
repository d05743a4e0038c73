//! The surge queue and the limits of one client.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bascule::dataplane::l7::Carrier;
use bascule::model::ending::{Ending, Phase, Reason, Who};
use bascule::model::limit::{ClientKey, ClientLimit, Surge};
use bascule::model::service::Protocol::{Http, Tcp};
use bascule::model::state::ServiceState;
use tokio::io::AsyncWriteExt;

use super::{ask, first_byte, held, is_silent, live, tcp};
use crate::world::{Plan, Server, World, body, connect, eventually, get, read_all, read_answer};

#[tokio::test(flavor = "multi_thread")]
async fn who_came_first_is_served_first_and_nobody_is_lost() {
    let held = held("a").await;
    let plan = Plan::default().service("a", Http, held.server.at).with_service(|s| s.settings.max_client = 1);
    let world = World::start(plan.vserver("web", Http, &["a"])).await;
    let web = live(&world, "web");
    let mut clients = vec![ask(&world, "web", "/0").await];
    eventually("it is served", || world.active("a") == 1).await;
    for n in 1..6 {
        clients.push(ask(&world, "web", &format!("/{n}")).await);
        eventually("it waits", || web.surge.depth() == n).await;
    }
    held.gate.add_permits(6);
    for client in &mut clients {
        assert_eq!(body(&read_all(client).await), "a");
    }
    let seen = held.server.seen();
    let order: Vec<&str> = seen.lines().filter_map(|l| l.strip_prefix("GET ")?.strip_suffix(" HTTP/1.1")).collect();
    assert_eq!(order, ["/0", "/1", "/2", "/3", "/4", "/5"]);
    assert_eq!((web.surge.depth(), web.surge.depth_max.load(Ordering::Relaxed)), (0, 5));
    assert_eq!(web.surge.waited_total.load(Ordering::Relaxed), 5);
}

#[tokio::test]
async fn a_full_queue_and_a_long_wait_are_503() {
    let held = held("a").await;
    let plan = Plan::default().service("a", Http, held.server.at).with_service(|s| s.settings.max_client = 1);
    let plan = plan.vserver("web", Http, &["a"]);
    let mut world = World::start(plan.with(|v| v.surge.max = 1)).await;
    let web = live(&world, "web");
    let mut first = ask(&world, "web", "/").await;
    eventually("it is served", || world.active("a") == 1).await;
    let mut second = ask(&world, "web", "/").await;
    eventually("it waits", || web.surge.depth() == 1).await;
    assert!(get(world.vip("web"), "/", "").await.starts_with("HTTP/1.1 503 "), "the queue is full");
    assert_eq!(web.surge.full_total.load(Ordering::Relaxed), 1);
    held.gate.add_permits(2);
    for client in [&mut first, &mut second] {
        assert_eq!(body(&read_all(client).await), "a");
    }

    world.vserver("web").surge = Surge { max: 1, timeout: Duration::from_millis(400) };
    world.publish().await;
    eventually("all is over", || world.active("a") == 0).await;
    let _first = ask(&world, "web", "/").await;
    eventually("it is served", || world.active("a") == 1).await;
    let began = Instant::now();
    let mut second = ask(&world, "web", "/").await;
    assert!(read_all(&mut second).await.starts_with("HTTP/1.1 503 "), "its time is over");
    assert!(began.elapsed() >= Duration::from_millis(400));
    assert_eq!(web.surge.timeout_total.load(Ordering::Relaxed), 1);
    assert_eq!(world.active("a"), 1);
}

#[tokio::test]
async fn a_connection_waits_for_its_place_and_leaves_when_its_client_goes() {
    let server = tcp("a").await;
    let plan = Plan::default().service("a", Tcp, server.at).with_service(|s| s.settings.max_client = 1);
    let world = World::start(plan.vserver("db", Tcp, &["a"])).await;
    let db = live(&world, "db");
    let mut first = connect(world.vip("db")).await;
    assert_eq!(first_byte(&mut first).await, Some('a'));
    let gives_up = connect(world.vip("db")).await;
    eventually("it waits", || db.surge.depth() == 1).await;
    let mut second = connect(world.vip("db")).await;
    eventually("both wait", || db.surge.depth() == 2).await;
    socket2::SockRef::from(&gives_up).set_linger(Some(Duration::ZERO)).unwrap();
    drop(gives_up);
    eventually("it has left", || db.surge.depth() == 1).await;
    assert!(is_silent(&mut second).await);
    drop(first);
    assert_eq!(first_byte(&mut second).await, Some('a'));
}

#[tokio::test]
async fn who_waits_is_served_by_a_member_that_comes_up_and_refused_when_nobody_is_left() {
    let (a, b) = (tcp("a").await, tcp("b").await);
    let plan = Plan::default().service("a", Tcp, a.at).with_service(|s| s.settings.max_client = 1);
    let plan = plan.service("b", Tcp, b.at).with_service(|s| s.settings.max_client = 1);
    let mut world = World::start(plan.vserver("db", Tcp, &["a", "b"])).await;
    world.state("b", ServiceState::Down).await;
    let mut first = connect(world.vip("db")).await;
    assert_eq!(first_byte(&mut first).await, Some('a'));
    let mut second = connect(world.vip("db")).await;
    let mut third = connect(world.vip("db")).await;
    let db = live(&world, "db");
    eventually("they wait", || db.surge.depth() == 2).await;
    world.state("b", ServiceState::Up).await;
    assert_eq!(first_byte(&mut second).await, Some('b'));
    world.states.insert("a".into(), ServiceState::Down);
    world.state("b", ServiceState::Down).await;
    assert_eq!(first_byte(&mut third).await, None);
    eventually("nobody waits", || db.surge.depth() == 0).await;
}

#[tokio::test]
async fn a_client_over_its_rate_is_told_when_to_come_again() {
    let server = Server::http("a").await;
    let plan = Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"]);
    let key = ClientKey::Address { prefix_v4: 32, prefix_v6: 64 };
    let limit = ClientLimit { name: "l".into(), key, rate_per_s: Some(1), burst: 2, concurrency: None };
    let world = World::start(plan.with(|v| v.client_limits = vec![limit])).await;
    let mut client = connect(world.vip("web")).await;
    let (begun, mut served) = (Instant::now(), 0);
    loop {
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let answer = read_answer(&mut client).await;
        let is_over = answer.starts_with("HTTP/1.1 429 ");
        assert!(is_over || answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert_eq!(answer.to_lowercase().contains("retry-after: 1\r\n"), is_over, "{answer}");
        if is_over {
            break;
        }
        served += 1;
        // The burst, and one for each second that it took.
        assert!(served <= 2 + begun.elapsed().as_secs(), "{served}");
    }
    assert!(served >= 2, "{served}");
    assert_eq!(live(&world, "web").limited_total.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_client_has_so_many_connections_and_more_are_reset() {
    let server = tcp("a").await;
    let plan = Plan::default().service("a", Tcp, server.at).vserver("db", Tcp, &["a"]);
    let key = ClientKey::Address { prefix_v4: 32, prefix_v6: 64 };
    let limit = ClientLimit { name: "l".into(), key, rate_per_s: None, burst: 1, concurrency: Some(1) };
    let world = World::start(plan.with(|v| v.client_limits = vec![limit])).await;
    let mut first = connect(world.vip("db")).await;
    assert_eq!(first_byte(&mut first).await, Some('a'));
    assert_eq!(first_byte(&mut connect(world.vip("db")).await).await, None);
    drop(first);
    eventually("the place is free", || world.active("a") == 0).await;
    assert_eq!(first_byte(&mut connect(world.vip("db")).await).await, Some('a'));
}

#[tokio::test]
async fn an_http_client_that_leaves_while_it_waits_is_noticed_at_once_however_it_leaves() {
    for (reset, body) in [(true, ""), (false, ""), (false, "unread")] {
        let held = held("a").await;
        let plan = Plan::default().service("a", Http, held.server.at).with_service(|s| s.settings.max_client = 1);
        let world = World::through(plan.vserver("web", Http, &["a"]).model(), Carrier::Relay).await;
        let web = live(&world, "web");
        let mut first = ask(&world, "web", "/first").await;
        eventually("it is served", || world.active("a") == 1).await;
        let mut leaves = connect(world.vip("web")).await;
        let request = format!("POST /leaves HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{body}");
        leaves.write_all(request.as_bytes()).await.unwrap();
        eventually("it waits", || web.surge.depth() == 1).await;
        let mut stays = ask(&world, "web", "/stays").await;
        eventually("both wait", || web.surge.depth() == 2).await;
        if reset {
            socket2::SockRef::from(&leaves).set_linger(Some(Duration::ZERO)).unwrap();
        }
        drop(leaves);
        eventually("it has left", || web.surge.depth() == 1).await;
        let gone = Ending::new(Who::Client, Phase::Queue, Reason::ClientGone);
        eventually("it is counted", || web.endings.counts().contains(&(gone, 1))).await;
        held.gate.add_permits(2);
        assert_eq!(body_of(&mut first).await, "a");
        assert_eq!(body_of(&mut stays).await, "a", "its place is the next one's");
        assert!(!held.server.seen().contains("/leaves"), "no server was asked");
    }
}

async fn body_of(client: &mut tokio::net::TcpStream) -> String {
    body(&read_all(client).await).to_owned()
}
