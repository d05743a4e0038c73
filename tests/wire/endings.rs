//! Every reason of the closed list, brought about on real sockets and found in the counters and in the access log.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

use bascule::model::AccessTo;
use bascule::model::Model;
use bascule::model::condition::{Condition, Group, Subject, Term};
use bascule::model::ending::{Ending, Phase, Reason, Who};
use bascule::model::id::{CriterionId, VserverId};
use bascule::model::limit::{BackupAction, ClientKey, ClientLimit, Spillover, SpilloverMethod};
use bascule::model::rule::{self, Action, Rule};
use bascule::model::service::Protocol::{Http, Ssl, SslTcp, Tcp};
use bascule::model::state::ServiceState;
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::world::{
    PATIENT, Plan, Server, World, connect, eventually, exchange, get, nobody, read_answer, read_request,
};

type Case = (Ending, Pin<Box<dyn Future<Output = ()>>>);

/// Brings `expected` about in a world of its own, on the vserver `web`, and looks for it.
fn case(who: Who, phase: Phase, reason: Reason, model: Model, act: impl AsyncFnOnce(&mut World) + 'static) -> Case {
    let expected = Ending::new(who, phase, reason);
    (expected, Box::pin(check(expected, model, act)))
}

async fn check(expected: Ending, mut model: Model, act: impl AsyncFnOnce(&mut World)) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access.log");
    model.log.access = AccessTo::File(log.to_str().unwrap().into());
    let mut world = World::of(model).await;
    let live = {
        let snapshot = world.cell.load_full();
        snapshot.vservers[snapshot.model.vserver_id("web").unwrap().index()].live.clone()
    };
    act(&mut world).await;
    let seen = || live.endings.counts();
    eventually("something has ended", || !seen().is_empty()).await;
    let is_it = |(ending, _): &(Ending, u64)| *ending == expected;
    eventually(&format!("{expected} among {:?}", seen()), || seen().iter().any(is_it)).await;
    let words =
        format!("who={} phase={} reason={}", expected.who.word(), expected.phase.word(), expected.reason.word());
    let read = || std::fs::read_to_string(&log).unwrap_or_default();
    eventually(&format!("{words} in the log"), || read().contains(&words)).await;
}

/// `web` in front of one server.
fn one(server: &Server) -> Plan {
    Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"])
}

fn tcp(server: &Server) -> Plan {
    Plan::default().service("a", Tcp, server.at).vserver("web", Tcp, &["a"])
}

/// What silent servers have read.
static SEEN: Mutex<String> = Mutex::new(String::new());

/// Takes connections and says nothing.
async fn silent() -> Server {
    Server::each(|mut stream| async move {
        let mut read = Vec::new();
        while stream.read_buf(&mut read).await.is_ok_and(|read| read > 0) {
            SEEN.lock().push_str(&String::from_utf8_lossy(&std::mem::take(&mut read)));
        }
    })
    .await
}

/// Reads a request, writes this and closes.
async fn answering(answer: &'static [u8]) -> Server {
    Server::each(move |mut stream| async move {
        let _ = read_request(&mut stream).await;
        let _ = stream.write_all(answer).await;
    })
    .await
}

/// A request that a silent server has got.
async fn asked(world: &World) -> TcpStream {
    let mut client = connect(world.vip("web")).await;
    let path = format!("/{}?secret=1", client.local_addr().unwrap().port());
    client.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.unwrap();
    eventually("the server has got it", || SEEN.lock().contains(&format!("GET {path} "))).await;
    client
}

/// With one rule that always acts.
fn ruled(mut model: Model, criterion: Option<u32>, action: Action) -> Model {
    let term = |id| Term {
        text: "".into(),
        subject: Subject::Criterion(CriterionId(id)),
        negated: false,
        measure: None,
        hold: None,
    };
    let terms: Vec<Term> = criterion.into_iter().map(term).collect();
    model.rules.push(Rule {
        name: "r".into(),
        vserver: VserverId(0),
        priority: 1,
        phase: rule::Phase::Request,
        watched: vec![vec![None; terms.len()]],
        when: Condition { groups: vec![Group { name: "".into(), named: false, terms }] },
        action,
        stop: false,
    });
    model
}

/// A server whose queue of connections is full: the next one is neither taken nor refused.
async fn unanswering() -> (TcpListener, TcpStream) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(0).unwrap();
    let waiting = connect(listener.local_addr().unwrap()).await;
    (listener, waiting)
}

/// Answers that come of rules, and what never gets to a server.
async fn of_ourselves() -> Vec<Case> {
    use Phase::{Accept, Head, Queue, Tls};
    use Who::{Appliance, Client};
    let server = Server::http("a").await;
    let said = |request: &'static str| async move |world: &mut World| _ = exchange(world.vip("web"), request).await;
    let plain = async |world: &mut World| _ = get(world.vip("web"), "/", "").await;
    let respond = Action::Respond { status: 200, headers: vec![], body: b"x".to_vec() };
    let redirect = Action::Redirect { status: 302, location: "/y".into() };
    let held = silent().await;
    let second = async |world: &mut World| {
        let _first = asked(world).await;
        get(world.vip("web"), "/", "").await;
    };
    let cases = vec![
        case(Appliance, Phase::Rule, Reason::Responded, ruled(one(&server).model(), None, respond), plain),
        case(Appliance, Phase::Rule, Reason::Redirected, ruled(one(&server).model(), None, redirect), plain),
        case(Appliance, Phase::Rule, Reason::Rejected, ruled(one(&server).model(), None, Action::Reject), plain),
        case(
            Client,
            Head,
            Reason::BadRequest,
            one(&server).model(),
            said("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        ),
        case(
            Client,
            Head,
            Reason::NotSupported,
            one(&server).model(),
            said("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"),
        ),
        case(Client, Head, Reason::TooLarge, one(&server).model(), async |world: &mut World| {
            _ = get(world.vip("web"), &format!("/{}", "a".repeat(9_000)), "").await;
        }),
        case(Client, Head, Reason::HeadTimeout, one(&server).model(), said("GET / HT")),
        case(
            Client,
            Head,
            Reason::KeepAliveTimeout,
            one(&server).with(|v| v.client_timeout = Duration::from_millis(300)).model(),
            async |world: &mut World| {
                let mut client = connect(world.vip("web")).await;
                client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
                read_answer(&mut client).await;
                let mut rest = Vec::new();
                let _ = client.read_to_end(&mut rest).await;
            },
        ),
        case(
            Client,
            Accept,
            Reason::BadProxyHeader,
            one(&server).with(|v| v.proxy_protocol = true).model(),
            said("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
        ),
        case(
            Client,
            Tls,
            Reason::TlsFailed,
            Plan::default().service("a", Http, server.at).vserver("web", Ssl, &["a"]).model(),
            said("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
        ),
        case(Appliance, Queue, Reason::NoMemberUp, one(&server).model(), async |world: &mut World| {
            world.state("a", ServiceState::Down).await;
            get(world.vip("web"), "/", "").await;
        }),
        case(Appliance, Queue, Reason::AllDraining, one(&server).model(), async |world: &mut World| {
            world.state("a", ServiceState::Trofs).await;
            get(world.vip("web"), "/", "").await;
        }),
        case(
            Appliance,
            Queue,
            Reason::QueueFull,
            one(&held).with_service(|s| s.settings.max_client = 1).with(|v| v.surge.max = 0).model(),
            second,
        ),
        case(
            Appliance,
            Queue,
            Reason::QueueTimeout,
            one(&held)
                .with_service(|s| s.settings.max_client = 1)
                .with(|v| v.surge.timeout = Duration::from_millis(300))
                .model(),
            second,
        ),
        case(
            Appliance,
            Queue,
            Reason::Spilled,
            one(&held)
                .with(|v| {
                    let spillover = Spillover::new(SpilloverMethod::Connection { threshold: 1 });
                    v.spillover = Some(Spillover { backup_action: BackupAction::Drop, ..spillover });
                })
                .model(),
            second,
        ),
        case(
            Appliance,
            Phase::Rule,
            Reason::ClientLimit,
            one(&held)
                .with(|v| {
                    v.client_limits.push(ClientLimit {
                        name: "one".into(),
                        key: ClientKey::Address { prefix_v4: 32, prefix_v6: 128 },
                        rate_per_s: None,
                        burst: 0,
                        concurrency: Some(1),
                    });
                })
                .model(),
            second,
        ),
        // A fault of ours: a rule that names a criterion that is not there, which no configuration can make.
        case(Appliance, Queue, Reason::Internal, one(&server).model(), async |world: &mut World| {
            let model = ruled(world.model.clone(), Some(99), Action::Reject);
            world.model = model;
            world.publish().await;
            get(world.vip("web"), "/", "").await;
        }),
    ];
    std::mem::forget((server, held));
    cases
}

/// What servers and clients do to what is under way.
async fn of_the_others() -> Vec<Case> {
    use Phase::{Body, Connect, Send, Wait};
    use Who::{Appliance, Client};
    let (good, held) = (Server::http("a").await, silent().await);
    let plain = async |world: &mut World| _ = get(world.vip("web"), "/", "").await;
    let post = async |world: &mut World| {
        let request = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx";
        exchange(world.vip("web"), request).await;
    };
    let nobody = nobody().await;
    let full = unanswering().await;
    let full_at = full.0.local_addr().unwrap();
    let closing = answering(b"").await;
    let garbage = answering(b"who are you\r\n\r\n").await;
    let no_tls = Server::each(|mut stream| async move { _ = stream.write_all(b"220 who are you\r\n").await }).await;
    let partial = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nten bytes.").await;
    let endless = Server::each(|mut stream| async move {
        let _ = read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n").await;
        while stream.write_all(&[b'x'; 65_536]).await.is_ok() {}
    })
    .await;
    let short = Duration::from_millis(300);
    let cases = vec![
        case(Who::Server, Body, Reason::Done, one(&good).model(), plain),
        case(
            Who::Server,
            Connect,
            Reason::ConnectFailed,
            Plan::default().service("a", Http, nobody).vserver("web", Http, &["a"]).model(),
            plain,
        ),
        case(
            Who::Server,
            Connect,
            Reason::ConnectTimeout,
            Plan::default()
                .service("a", Http, full_at)
                .with_service(move |s| s.settings.connect_timeout = short)
                .vserver("web", Http, &["a"])
                .model(),
            plain,
        ),
        case(
            Who::Server,
            Connect,
            Reason::ServerTlsFailed,
            Plan::default()
                .service("a", SslTcp, no_tls.at)
                .with_service(|s| s.settings.connect_timeout = 10 * PATIENT)
                .vserver("web", Tcp, &["a"])
                .model(),
            async |world: &mut World| _ = exchange(world.vip("web"), "hello").await,
        ),
        case(Who::Server, Wait, Reason::ResetBeforeHead, one(&closing).model(), post),
        case(
            Who::Server,
            Wait,
            Reason::AnswerTimeout,
            one(&held).with_service(move |s| s.settings.server_timeout = short).model(),
            plain,
        ),
        case(Who::Server, Wait, Reason::BadAnswer, one(&garbage).model(), post),
        case(Who::Server, Body, Reason::ResetInBody, one(&partial).model(), post),
        case(Client, Wait, Reason::ClientGone, one(&held).model(), async |world: &mut World| {
            let client = asked(world).await;
            socket2::SockRef::from(&client).set_linger(Some(Duration::ZERO)).unwrap();
        }),
        case(
            Client,
            Body,
            Reason::ClientSlow,
            one(&endless).with(move |v| v.client_timeout = short).model(),
            async |world: &mut World| {
                let mut client = connect(world.vip("web")).await;
                client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
                let endings = &world.cell.load_full().vservers[0].live.endings;
                eventually("it was given up", || !endings.counts().is_empty()).await;
            },
        ),
        case(
            Appliance,
            Send,
            Reason::IdleTimeout,
            tcp(&held).with(move |v| v.client_timeout = short).model(),
            async |world: &mut World| _ = connect(world.vip("web")).await.read(&mut [0; 1]).await,
        ),
        case(Appliance, Wait, Reason::Flushed, one(&held).model(), async |world: &mut World| {
            let _client = asked(world).await;
            world.state("a", ServiceState::Down).await;
        }),
        case(Appliance, Wait, Reason::DrainedFlush, one(&held).model(), async |world: &mut World| {
            let _client = asked(world).await;
            world.state("a", ServiceState::Trofs).await;
            world.state("a", ServiceState::OutOfService).await;
        }),
        case(Appliance, Wait, Reason::Kicked, one(&held).model(), async |world: &mut World| {
            let mut client = asked(world).await;
            let table = world.cell.load_full().connections.list();
            assert_eq!(table.len(), 1);
            assert_eq!(table[0].client(), client.local_addr().unwrap());
            assert_eq!(table[0].member().map(|m| m.service.to_string()).as_deref(), Some("a"));
            table[0].cut(Reason::Kicked);
            let error = client.read(&mut [0; 1]).await.unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
            drop(table);
            let connections = world.cell.load_full().connections.clone();
            eventually("it has left the table", || connections.list().is_empty()).await;
        }),
        case(Appliance, Wait, Reason::Shutdown, one(&held).model(), async |world: &mut World| {
            let _client = asked(world).await;
            world.plane.take().unwrap().drain(Duration::from_millis(50)).await;
        }),
        case(Appliance, Wait, Reason::Removed, tcp(&held).model(), async |world: &mut World| {
            // What has passed shows that the two ends are connected.
            let _client = asked(world).await;
            world.model.vservers.clear();
            world.publish().await;
        }),
    ];
    std::mem::forget((good, held, full, closing, garbage, no_tls, partial, endless));
    cases
}

#[tokio::test]
async fn every_reason_is_produced_counted_and_logged() {
    let mut cases = of_ourselves().await;
    cases.extend(of_the_others().await);
    // What is used up is used up for a whole process, other tests included, so those have one of their own.
    let used_up = crate::whole::used_up::CASES.iter().map(|case| case.ending.reason);
    let produced: BTreeSet<Reason> = cases.iter().map(|(ending, _)| ending.reason).chain(used_up).collect();
    assert_eq!(produced, Reason::ALL.iter().copied().collect());
    // All at once: most of them wait for a time-out.
    let at_once = tokio::task::LocalSet::new();
    let tasks: Vec<_> = cases.into_iter().map(|(ending, case)| (ending, at_once.spawn_local(case))).collect();
    let broken = at_once.run_until(async {
        let mut broken = Vec::new();
        for (ending, task) in tasks {
            if task.await.is_err() {
                broken.push(ending.to_string());
            }
        }
        broken
    });
    assert_eq!(broken.await, Vec::<String>::new());
}
