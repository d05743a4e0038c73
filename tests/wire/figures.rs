//! What is measured, against what was: histograms, ids, diagnostics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use bascule::model::AccessTo;
use bascule::model::service::Protocol::Http;
use bascule::model::state::ServiceState;
use bascule::snapshot::live::Interval;
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::world::{Plan, Server, World, body, connect, eventually, get, read_answer, read_request};

/// Connections that ask at once.
const CLIENTS: u32 = 64;

/// Requests altogether: `BASCULE_FIGURES_REQUESTS`, else few enough for every run of the tests.
fn requests() -> u32 {
    std::env::var("BASCULE_FIGURES_REQUESTS").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000)
}

/// What one side saw of each request.
type Saw = Arc<Mutex<Vec<Duration>>>;

fn quantile(sorted: &[Duration], share: f64) -> Duration {
    sorted[((share * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len()) - 1]
}

/// The time to the first byte lies between what the server took for itself and what the client waited, for every
/// request; so do the quantiles. Between the two are loopback and this machine's load, so that both bounds hold on a
/// busy machine, and on an idle one they are close.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quantiles_lie_within_two_percent_of_what_server_and_client_saw() {
    let (server_saw, client_saw): (Saw, Saw) = Default::default();
    let nth = Arc::new(AtomicU32::new(0));
    let record = Arc::clone(&server_saw);
    let server = Server::each(move |mut stream| {
        let (record, nth) = (Arc::clone(&record), Arc::clone(&nth));
        async move {
            while read_request(&mut stream).await.is_some() {
                let began = Instant::now();
                // 5 to 50 ms, in no order, each as often as the next.
                let step = u64::from(nth.fetch_add(1, Ordering::Relaxed).wrapping_mul(2_654_435_761) >> 16) % 451;
                tokio::time::sleep(Duration::from_micros(5_000 + step * 100)).await;
                record.lock().push(began.elapsed());
                if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na").await.is_err() {
                    return;
                }
            }
        }
    })
    .await;
    let world = World::start(Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"])).await;
    let vip = world.vip("web");
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..CLIENTS {
        let record = Arc::clone(&client_saw);
        clients.spawn(async move {
            let (mut stream, mut scrap) = (connect(vip).await, [0; 4096]);
            for _ in 0..requests() / CLIENTS {
                let began = Instant::now();
                stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
                let mut read = Vec::new();
                while !read.ends_with(b"\r\n\r\na") {
                    let more = stream.read(&mut scrap).await.unwrap();
                    assert!(more > 0, "the connection ended");
                    read.extend_from_slice(&scrap[..more]);
                }
                record.lock().push(began.elapsed());
            }
        });
    }
    while let Some(done) = clients.join_next().await {
        done.unwrap();
    }
    let count = u64::from(requests() / CLIENTS * CLIENTS);
    let snapshot = world.cell.load_full();
    let (vserver, service) = (&snapshot.vservers[0], &snapshot.services[0]);
    eventually("all are counted", || {
        vserver.live.measured.counts(Interval::FirstByte).is_some_and(|counts| counts.count == count)
    })
    .await;
    let (mut truth, mut waited) = (server_saw.lock().clone(), client_saw.lock().clone());
    truth.sort_unstable();
    waited.sort_unstable();
    assert_eq!(truth.len() as u64, count);
    for measured in [&vserver.live.measured, &service.live.measured, &vserver.members[0].measured] {
        let counts = measured.counts(Interval::FirstByte).unwrap();
        assert_eq!(counts.count, count);
        for share in [0.5, 0.9, 0.99, 0.999] {
            let told = counts.quantile(share).unwrap();
            let (least, most) = (quantile(&truth, share).mul_f64(0.98), quantile(&waited, share).mul_f64(1.02));
            assert!(least <= told && told <= most, "{share}: {least:?} <= {told:?} <= {most:?}");
        }
    }
    // Neither side was awaited: this is what we add. As a whole a request takes as long as its client waits; of a single
    // one we may learn of the end after its client has, and its next one waits so much longer.
    let own = vserver.live.measured.counts(Interval::Own).unwrap();
    let total = vserver.live.measured.counts(Interval::Total).unwrap();
    assert_eq!((own.count, total.count), (count, count));
    let (served, waited): (Duration, Duration) = (truth.iter().sum(), waited.iter().sum());
    assert!(own.sum <= (waited - served).mul_f64(1.02), "{:?} of {waited:?} - {served:?}", own.sum);
    assert!(total.sum <= waited.mul_f64(1.02), "{:?} of {waited:?}", total.sum);
}

#[tokio::test]
async fn the_id_of_an_error_page_finds_its_line_and_queries_are_not_in_it() {
    let server = Server::http("a").await;
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access.log");
    let mut model = Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"]).model();
    model.log.access = AccessTo::File(log.to_str().unwrap().into());
    let mut world = World::of(model).await;
    get(world.vip("web"), "/good?password=1", "").await;
    world.state("a", ServiceState::Down).await;
    let answer = get(world.vip("web"), "/bad?password=1", "").await;
    let id = body(&answer).lines().find_map(|line| line.strip_prefix("id: ")).expect(&answer).to_owned();
    assert!(answer.to_lowercase().contains(&format!("x-request-id: {id}\r\n")), "{answer}");
    let line = |with: &str| {
        let read = std::fs::read_to_string(&log).unwrap_or_default();
        read.lines().find(|line| line.contains(with)).map(str::to_owned)
    };
    eventually("both lines are written", || line("/good").is_some() && line(&id).is_some()).await;
    let (good, bad) = (line("path=/good").unwrap(), line(&format!("id={id}")).unwrap());
    for words in ["vserver=web", "service=a", "method=GET", "host=t.test", "status=200", "bytes_out=1", "reason=done"] {
        assert!(good.contains(words), "{words}: {good}");
    }
    for words in ["path=/bad", "status=503", "who=appliance phase=queue reason=no_member_up"] {
        assert!(bad.contains(words), "{words}: {bad}");
    }
    assert!(!good.contains("password") && !bad.contains("password"));
}

#[tokio::test]
async fn clients_of_the_networks_named_are_told_how_an_answer_came_about_and_others_are_not() {
    let server = Server::http("a").await;
    for (network, told) in [("127.0.0.0/8", true), ("10.0.0.0/8", false)] {
        let (address, prefix) = network.split_once('/').unwrap();
        let network =
            bascule::model::net::Network { address: address.parse().unwrap(), prefix: prefix.parse().unwrap() };
        let plan = Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"]);
        let mut world = World::start(plan.with(|v| v.diagnostics = vec![network])).await;
        let answer = get(world.vip("web"), "/", "").await.to_lowercase();
        for field in ["x-request-id: ", "x-bascule-member: a\r\n", "server-timing: total;dur="] {
            assert_eq!(answer.contains(field), told, "{field}: {answer}");
        }
        world.state("a", ServiceState::Down).await;
        let answer = get(world.vip("web"), "/", "").await.to_lowercase();
        assert_eq!(answer.contains("x-bascule-ending: appliance/queue/no_member_up\r\n"), told, "{answer}");
        // The id of an error is for everybody.
        assert!(answer.contains("x-request-id: "), "{answer}");
    }
}

#[tokio::test]
async fn what_a_client_does_between_two_requests_is_no_time_of_the_second() {
    const THINKS: Duration = Duration::from_secs(1);
    let server = Server::http("a").await;
    let world = World::start(Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"])).await;
    let mut client = connect(world.vip("web")).await;
    for _ in 0..2 {
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        assert_eq!(body(&read_answer(&mut client).await), "a");
        tokio::time::sleep(THINKS).await;
    }
    let total = || world.cell.load().vservers[0].live.measured.counts(Interval::Total);
    eventually("both are counted", || total().is_some_and(|total| total.count == 2)).await;
    let total = total().unwrap();
    assert!(total.max < THINKS, "{:?}", total.max);
}
