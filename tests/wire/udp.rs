//! UDP, DNS and ANY through the data plane.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bascule::model::balancing::Method;
use bascule::model::service::Protocol::{Any, Dns, Tcp, Udp};
use bascule::model::state::ServiceState;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;

use crate::world::{PATIENT, Plan, Server, World, connect, eventually};

/// A server of datagrams: `answer` makes of each what goes back.
struct Datagrams {
    at: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl Datagrams {
    async fn each(answer: impl Fn(&[u8], SocketAddr) -> Vec<Vec<u8>> + Send + 'static) -> Datagrams {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let at = socket.local_addr().unwrap();
        let task = tokio::spawn(async move {
            let mut datagram = vec![0; 65_536];
            loop {
                // Its own answers may meet nobody.
                let Ok((length, from)) = socket.recv_from(&mut datagram).await else { continue };
                for back in answer(&datagram[..length], from) {
                    let _ = socket.send_to(&back, from).await;
                }
            }
        });
        Datagrams { at, task }
    }

    /// Its name, then what it got, then the port that it was asked from.
    async fn named(name: &'static str) -> Datagrams {
        Datagrams::each(move |datagram, from| {
            vec![[name.as_bytes(), datagram, from.port().to_string().as_bytes()].concat()]
        })
        .await
    }
}

impl Drop for Datagrams {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn client(vip: SocketAddr) -> UdpSocket {
    // On one address: a port that is taken on all would be in the way of others.
    let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    client.connect(vip).await.unwrap();
    client
}

async fn receive(client: &UdpSocket) -> Vec<u8> {
    let mut datagram = vec![0; 65_536];
    let length = tokio::time::timeout(PATIENT, client.recv(&mut datagram)).await.expect("no answer").unwrap();
    datagram.truncate(length);
    datagram
}

/// One exchange: the name of the server that answered, and the rest.
async fn ask(client: &UdpSocket, text: &str) -> (char, String) {
    client.send(text.as_bytes()).await.unwrap();
    let answer = String::from_utf8(receive(client).await).unwrap();
    (answer.chars().next().unwrap(), answer[1..].to_owned())
}

fn two(a: SocketAddr, b: SocketAddr) -> Plan {
    let plan = Plan::default().service("a", Udp, a).service("b", Udp, b).vserver("ntp", Udp, &["a", "b"]);
    plan.with(|v| v.balancing.method = Method::RoundRobin)
}

#[tokio::test]
async fn a_session_stays_with_its_member_and_has_a_port_of_its_own_at_the_server() {
    let (a, b) = (Datagrams::named("a").await, Datagrams::named("b").await);
    let world = World::start(two(a.at, b.at)).await;
    let mut seen = Vec::new();
    let mut clients = Vec::new();
    for _ in 0..10 {
        let client = client(world.vip("ntp")).await;
        let first = ask(&client, "x").await;
        for _ in 0..5 {
            assert_eq!(ask(&client, "x").await, first, "the same member, from the same port");
        }
        seen.push(first);
        clients.push(client);
    }
    assert_eq!(seen.iter().filter(|(name, _)| *name == 'a').count(), 5);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 10, "every client has its own");
    assert_eq!((world.active("a"), world.active("b")), (5, 5));
}

#[tokio::test]
async fn datagrams_of_every_size_and_several_answers_to_one_pass_unchanged() {
    let server = Datagrams::each(|datagram, _| vec![datagram.to_vec(); 3]).await;
    let plan = Plan::default().service("a", Udp, server.at).vserver("ntp", Udp, &["a"]);
    let world = World::start(plan).await;
    let client = client(world.vip("ntp")).await;
    for size in [0, 1, 512, 1_472, 9_000, 60_000] {
        let sent: Vec<u8> = (0..size).map(|i| (i % 251) as u8).collect();
        client.send(&sent).await.unwrap();
        for _ in 0..3 {
            assert!(receive(&client).await == sent, "{size} bytes");
        }
    }
}

#[tokio::test]
async fn a_member_that_is_not_there_is_passed_over_with_the_datagram_at_hand() {
    let (gone, b) = (Datagrams::named("a").await, Datagrams::named("b").await);
    let world = World::start(two(gone.at, b.at)).await;
    drop(gone);
    tokio::time::sleep(Duration::from_millis(20)).await;
    // Both turns of the round robin: one meets nobody. The first datagram of that session tells; the second arrives.
    for _ in 0..2 {
        let client = client(world.vip("ntp")).await;
        client.send(b"first").await.unwrap();
        let mut answer = [0; 64];
        if tokio::time::timeout(Duration::from_millis(300), client.recv(&mut answer)).await.is_err() {
            assert_eq!(ask(&client, "x").await.0, 'b');
        }
    }
    eventually("nobody is left at the one that is gone", || world.active("a") == 0).await;
    let snapshot = world.cell.load_full();
    let failures = &snapshot.services[world.service_id("a").index()].live.connect_failures_total;
    assert!(failures.load(std::sync::atomic::Ordering::Relaxed) > 0);
}

#[tokio::test]
async fn a_drain_keeps_sessions_and_a_flush_moves_them() {
    let (a, b) = (Datagrams::named("a").await, Datagrams::named("b").await);
    let mut world = World::start(two(a.at, b.at)).await;
    let (first, second) = (client(world.vip("ntp")).await, client(world.vip("ntp")).await);
    let on_a = if ask(&first, "x").await.0 == 'a' { &first } else { &second };
    ask(&second, "x").await;

    world.state("a", ServiceState::Trofs).await;
    assert_eq!(ask(on_a, "x").await.0, 'a', "a draining service goes on serving");
    let third = client(world.vip("ntp")).await;
    assert_eq!(ask(&third, "x").await.0, 'b', "and takes no new client");

    world.state("a", ServiceState::OutOfService).await;
    eventually("its session is gone", || world.active("a") == 0).await;
    assert_eq!(ask(on_a, "x").await.0, 'b');
}

#[tokio::test]
async fn a_session_that_was_silent_for_the_client_timeout_is_over() {
    let (a, b) = (Datagrams::named("a").await, Datagrams::named("b").await);
    let world = World::start(two(a.at, b.at).with(|v| v.client_timeout = Duration::from_millis(300))).await;
    let client = client(world.vip("ntp")).await;
    let (before, _) = ask(&client, "x").await;
    eventually("no session is left", || world.active("a") + world.active("b") == 0).await;
    let (after, _) = ask(&client, "x").await;
    assert_ne!(before, after, "it is balanced anew");
}

#[tokio::test]
async fn nothing_up_is_silence_and_the_way_back_is_open_at_once() {
    let a = Datagrams::named("a").await;
    let plan = Plan::default().service("a", Udp, a.at).vserver("ntp", Udp, &["a"]);
    let mut world = World::start(plan).await;
    world.state("a", ServiceState::Down).await;
    let client = client(world.vip("ntp")).await;
    client.send(b"x").await.unwrap();
    eventually("it was refused", || {
        let snapshot = world.cell.load_full();
        snapshot.vservers[0].live.refused_total.load(std::sync::atomic::Ordering::Relaxed) == 1
    })
    .await;
    world.state("a", ServiceState::Up).await;
    assert_eq!(ask(&client, "x").await.0, 'a');
}

#[tokio::test]
async fn a_vip_on_all_addresses_answers_from_the_one_that_was_asked() {
    let a = Datagrams::named("a").await;
    let plan = Plan::default().service("a", Udp, a.at).vserver("ntp", Udp, &["a"]);
    let world = World::start(plan.with(|v| v.address = Some("0.0.0.0:0".parse().unwrap()))).await;
    let vip = SocketAddr::from(([127, 0, 0, 3], world.vip("ntp").port()));
    // Connected: an answer from another address would not arrive.
    assert_eq!(ask(&client(vip).await, "x").await.0, 'a');
}

#[tokio::test]
async fn any_serves_streams_and_datagrams_on_one_port() {
    // The same port for datagrams, which another test may have.
    let (stream, socket) = loop {
        let stream = Server::each(|mut stream| async move {
            let mut byte = [0; 1];
            while stream.read_exact(&mut byte).await.is_ok() && stream.write_all(&byte).await.is_ok() {}
        })
        .await;
        if let Ok(socket) = UdpSocket::bind(stream.at).await {
            break (stream, socket);
        }
    };
    tokio::spawn(async move {
        let mut datagram = [0; 64];
        while let Ok((length, from)) = socket.recv_from(&mut datagram).await {
            let _ = socket.send_to(&datagram[..length], from).await;
        }
    });
    let world = World::start(Plan::default().service("a", Any, stream.at).vserver("all", Any, &["a"])).await;
    let vip = world.vip("all");
    let mut tcp = connect(vip).await;
    tcp.write_all(b"t").await.unwrap();
    let mut byte = [0; 1];
    tokio::time::timeout(PATIENT, tcp.read_exact(&mut byte)).await.unwrap().unwrap();
    assert_eq!(&byte, b"t");
    let udp = client(vip).await;
    udp.send(b"u").await.unwrap();
    assert_eq!(receive(&udp).await, b"u");
}

#[tokio::test]
async fn a_vserver_that_changes_its_type_changes_its_sockets() {
    let a = Datagrams::named("a").await;
    let plan = Plan::default().service("a", Udp, a.at).vserver("ntp", Udp, &["a"]);
    let mut world = World::start(plan).await;
    // An address that no other test has: the port that is free for datagrams is free for connections as well.
    let vip = SocketAddr::new([127, 77, 0, 1].into(), world.vip("ntp").port());
    world.vserver("ntp").address = Some(vip);
    world.publish().await;
    // A datagram that comes between the old socket and the new is lost, as datagrams are: its client asks again.
    let asking = client(vip).await;
    let mut answer = [0; 8];
    let answered = async {
        loop {
            let _ = asking.send(b"x").await;
            if let Ok(Ok(came)) = tokio::time::timeout(Duration::from_millis(200), asking.recv(&mut answer)).await {
                return came;
            }
        }
    };
    let came = tokio::time::timeout(PATIENT, answered).await.expect("no answer");
    assert!(answer[..came].starts_with(b"a"));
    world.vserver("ntp").protocol = Tcp;
    world.model.services[0].settings.protocol = Tcp;
    world.publish().await;
    connect(vip).await;
    let client = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    client.connect(vip).unwrap();
    client.set_nonblocking(true).unwrap();
    let is_refused = |done: std::io::Result<usize>| matches!(done, Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused);
    eventually("nobody takes datagrams there", || {
        is_refused(client.send(b"x")) || is_refused(client.recv(&mut [0; 8]))
    })
    .await;
}

/// A query for `name`, or its answer.
fn message(id: u16, is_answer: bool, name: &str) -> Vec<u8> {
    let mut message = id.to_be_bytes().to_vec();
    message.extend_from_slice(&[if is_answer { 0x81 } else { 1 }, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    message.push(name.len() as u8);
    message.extend_from_slice(name.as_bytes());
    message.extend_from_slice(&[0, 0, 1, 0, 1]);
    message
}

/// Answers each query; before it some messages that are no answers to it. Remembers who asked under which identifier.
async fn resolver(seen: &Arc<parking_lot::Mutex<Vec<(SocketAddr, u16)>>>) -> Datagrams {
    let seen = Arc::clone(seen);
    Datagrams::each(move |query, from| {
        let id = u16::from_be_bytes([query[0], query[1]]);
        seen.lock().push((from, id));
        let mut answer = query.to_vec();
        answer[2] |= 0x80;
        let mut other = answer.clone();
        other[1] ^= 1;
        vec![other, message(id, true, "forged"), query.to_vec(), vec![0; 5], answer]
    })
    .await
}

#[tokio::test]
async fn dns_is_balanced_by_query_and_only_the_answer_to_a_question_comes_back_under_its_identifier() {
    let seen: [Arc<parking_lot::Mutex<Vec<_>>>; 2] = Default::default();
    let (a, b) = (resolver(&seen[0]).await, resolver(&seen[1]).await);
    let plan = Plan::default().service("a", Dns, a.at).service("b", Dns, b.at).vserver("dns", Dns, &["a", "b"]);
    let world = World::start(plan.with(|v| v.balancing.method = Method::RoundRobin)).await;
    let client = client(world.vip("dns")).await;
    for id in 0..100_u16 {
        client.send(&message(id, false, &format!("host{id}"))).await.unwrap();
        assert_eq!(receive(&client).await, message(id, true, &format!("host{id}")));
    }
    let (at_a, at_b) = (seen[0].lock().clone(), seen[1].lock().clone());
    assert_eq!((at_a.len(), at_b.len()), (50, 50));
    let ids: std::collections::BTreeSet<u16> = at_a.iter().map(|(_, id)| *id).collect();
    assert!(ids.iter().any(|id| *id > 1_000), "identifiers are drawn anew: {ids:?}");
    let ports: std::collections::BTreeSet<u16> = at_a.iter().map(|(from, _)| from.port()).collect();
    assert!(ports.len() > 1 && ports.len() <= 4, "from a few sockets: {ports:?}");
    assert_eq!((world.active("a"), world.active("b")), (0, 0));
}

#[tokio::test]
async fn dns_queries_of_a_member_that_is_not_there_go_to_another_unasked() {
    let seen = Arc::default();
    let (gone, b) = (resolver(&seen).await, resolver(&seen).await);
    let plan = Plan::default().service("a", Dns, gone.at).service("b", Dns, b.at).vserver("dns", Dns, &["a", "b"]);
    let world = World::start(plan.with(|v| v.balancing.method = Method::RoundRobin)).await;
    drop(gone);
    tokio::time::sleep(Duration::from_millis(20)).await;
    let client = client(world.vip("dns")).await;
    for id in 0..20 {
        client.send(&message(id, false, "www")).await.unwrap();
        assert_eq!(receive(&client).await, message(id, true, "www"));
    }
}

#[tokio::test]
async fn a_vip_whose_port_is_now_asked_for_by_its_number_keeps_its_socket_and_its_sessions() {
    let (a, b) = (Datagrams::named("a").await, Datagrams::named("b").await);
    let mut world = World::start(two(a.at, b.at)).await;
    let vip = world.vip("ntp");
    let client = client(vip).await;
    let first = ask(&client, "x").await;
    world.vserver("ntp").address = Some(vip);
    world.publish().await;
    assert_eq!((world.vip("ntp"), ask(&client, "x").await), (vip, first.clone()));
    // Where it now may be any, another one may have asked for this one.
    world.vserver("ntp").address = Some("127.0.0.1:0".parse().unwrap());
    world.publish().await;
    assert_ne!(world.vip("ntp"), vip);
}

#[tokio::test]
async fn datagrams_of_a_vip_that_becomes_dns_are_carried_as_queries_from_then_on() {
    let seen = Arc::default();
    let server = resolver(&seen).await;
    let plan = Plan::default().service("a", Udp, server.at).vserver("dns", Udp, &["a"]);
    let mut world = World::start(plan).await;
    let vip = world.vip("dns");
    let client = client(vip).await;
    client.send(&message(7, false, "www")).await.unwrap();
    for _ in 0..5 {
        receive(&client).await;
    }
    assert_eq!(seen.lock().last().unwrap().1, 7, "a session passes on what it gets, both ways");
    world.model.services[0].settings.protocol = Dns;
    world.vserver("dns").protocol = Dns;
    world.vserver("dns").address = Some(vip);
    world.publish().await;
    for id in 0..20 {
        client.send(&message(id, false, "www")).await.unwrap();
        assert_eq!(receive(&client).await, message(id, true, "www"));
    }
    let ids: Vec<u16> = seen.lock().iter().map(|(_, id)| *id).collect();
    assert!(ids[1..].iter().any(|id| *id > 1_000), "identifiers are drawn anew: {ids:?}");
}

#[tokio::test]
async fn a_vip_that_goes_lets_go_of_its_address_at_once_also_where_nothing_comes() {
    let server = Datagrams::named("a").await;
    for _ in 0..20 {
        let mut world = World::start(Plan::default().service("a", Udp, server.at).vserver("ntp", Udp, &["a"])).await;
        let vip = world.vip("ntp");
        world.vserver("ntp").address = None;
        world.publish().await;
        eventually("the address is free", || std::net::UdpSocket::bind(vip).is_ok()).await;
    }
}
