//! Requests that are given to another member.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use bascule::dataplane::l7::Carrier;
use bascule::model::service::Protocol::Http;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::{Barrier, Notify};

use super::{one, two};
use crate::world::{
    PATIENT, Plan, Server, World, connect, eventually, exchange, get, read_all, read_answer, read_request,
};

/// Five members that take a request and close, and how many they took.
async fn failing() -> (Vec<Server>, Arc<AtomicUsize>) {
    let taken = Arc::new(AtomicUsize::new(0));
    let mut servers = Vec::new();
    for _ in 0..5 {
        let counted = Arc::clone(&taken);
        let server = Server::each(move |mut stream| {
            let counted = Arc::clone(&counted);
            async move {
                if read_request(&mut stream).await.is_some() {
                    counted.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        servers.push(server.await);
    }
    (servers, taken)
}

fn before(servers: &[Server], max: u32, budget_percent: u8) -> Plan {
    let names = ["a", "b", "c", "d", "e"];
    let services = names.iter().zip(servers).fold(Plan::default(), |plan, (name, s)| plan.service(name, Http, s.at));
    services.vserver("web", Http, &names).with(|v| {
        v.retry.max = max;
        v.retry.budget_percent = budget_percent;
    })
}

#[tokio::test]
async fn a_request_is_tried_on_as_many_more_members_as_the_vserver_says() {
    for max in [0, 1, 3] {
        let (servers, taken) = failing().await;
        let world = World::start(before(&servers, max, 100)).await;
        let answer = get(world.vip("web"), "/", "").await;
        assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
        assert_eq!(taken.load(Ordering::SeqCst), 1 + max as usize);
    }
}

#[tokio::test]
async fn a_back_end_that_fails_altogether_is_not_hit_harder_than_the_budget_allows() {
    let (servers, taken) = failing().await;
    let world = World::start(before(&servers, 2, 10)).await;
    let begun = Instant::now();
    for _ in 0..100 {
        get(world.vip("web"), "/", "").await;
    }
    let most = 10 + 3 * (begun.elapsed().as_secs() + 2);
    // 100 requests, a tenth of retries, and three free in each second that they took.
    let taken = taken.load(Ordering::SeqCst);
    let snapshot = world.cell.load_full();
    let live = &snapshot.vservers[0].live;
    let retries = live.retry.granted_total.load(Ordering::Relaxed);
    assert_eq!(taken as u64, 100 + retries);
    assert!((10..=most).contains(&retries), "{retries} of {most}");
    assert!(live.retry.denied_total.load(Ordering::Relaxed) > 0);
}

/// Answers one request on each connection, `together` of them at once, and closes it at the second, without an answer.
async fn closing_at_the_second(together: usize) -> (Server, Arc<AtomicUsize>) {
    let (answered, first) = (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(together)));
    let counted = Arc::clone(&answered);
    let server = Server::each(move |mut stream| {
        let (counted, first) = (Arc::clone(&counted), Arc::clone(&first));
        async move {
            if read_request(&mut stream).await.is_none() {
                return;
            }
            if counted.load(Ordering::SeqCst) < together {
                first.wait().await;
            }
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
            read_request(&mut stream).await;
        }
    });
    (server.await, answered)
}

#[tokio::test]
async fn many_kept_connections_that_the_server_closes_cost_a_request_one_more_try() {
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let (server, answered) = closing_at_the_second(12).await;
        let world = World::through(one(&server).model(), carrier).await;
        let vip = world.vip("web");
        let request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..12 {
            all.spawn(exchange(vip, request));
        }
        while let Some(answer) = all.join_next().await {
            assert!(answer.unwrap().starts_with("HTTP/1.1 200 "));
        }
        eventually("all are kept", || world.active("a") == 0).await;
        for _ in 0..6 {
            let answer = exchange(vip, request).await;
            assert!(answer.starts_with("HTTP/1.1 200 "), "{carrier:?}: {answer:?}");
        }
        assert_eq!(answered.load(Ordering::SeqCst), 18, "{carrier:?}");
    }
}

#[tokio::test]
async fn a_post_is_not_sent_on_a_kept_connection_that_the_server_has_closed() {
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let closed = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&closed);
        let server = Server::each(move |mut stream| {
            let counted = Arc::clone(&counted);
            async move {
                if read_request(&mut stream).await.is_some() {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
                }
                drop(stream);
                counted.fetch_add(1, Ordering::SeqCst);
            }
        })
        .await;
        let world = World::through(one(&server).model(), carrier).await;
        for done in 1..=100 {
            let post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx";
            let answer = exchange(world.vip("web"), post).await;
            assert!(answer.starts_with("HTTP/1.1 200 "), "{carrier:?}: {answer:?}");
            // Its end lies in the kernel now, noticed or not.
            eventually("it is closed", || closed.load(Ordering::SeqCst) == done).await;
        }
    }
}

/// A member that says when the head of a request is there, takes all of it, and closes, or answers `b`. What it took.
async fn member(answers: bool, heads: &Arc<Notify>) -> Server {
    let (heads, seen) = (Arc::clone(heads), Arc::<parking_lot::Mutex<Vec<u8>>>::default());
    let record = Arc::clone(&seen);
    let serve = move |mut stream: TcpStream| {
        let (heads, record) = (Arc::clone(&heads), Arc::clone(&record));
        async move {
            while stream.peek(&mut [0; 1]).await.is_ok_and(|read| read > 0) {
                heads.notify_one();
                let Some(request) = read_request(&mut stream).await else { return };
                record.lock().extend_from_slice(request.as_bytes());
                if !answers || stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb").await.is_err() {
                    return;
                }
            }
        }
    };
    let mut server = Server::each(serve).await;
    server.seen = seen;
    server
}

/// Whether a request that meets a member that fails is answered by the next. Its body begins when the member has its head,
/// and another request follows it at once.
async fn is_repeated(method: &str, framing: &str, body: &str, sent_on: &str) -> bool {
    let heads = Arc::<Notify>::default();
    let (fails, answers) = (member(false, &heads).await, member(true, &heads).await);
    let mut model = two(&fails, &answers).with(|v| v.retry.budget_percent = 100).model();
    model.vservers[0].members[1].order = 2;
    let world = World::through(model, Carrier::Relay).await;
    let mut client = connect(world.vip("web")).await;
    client.write_all(format!("{method} /up HTTP/1.1\r\nHost: x\r\n{framing}\r\n\r\n").as_bytes()).await.unwrap();
    tokio::time::timeout(PATIENT, heads.notified()).await.expect("the first member has the head");
    let rest = format!("{body}GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    // It may be answered before it is out.
    let _ = client.write_all(rest.as_bytes()).await;
    let got = read_all(&mut client).await;
    let had = |server: &Server| server.seen().matches(&format!("{method} /up ")).count();
    if got.starts_with("HTTP/1.1 502 ") {
        assert_eq!((had(&fails), had(&answers)), (1, 0), "{got}");
        return false;
    }
    assert_eq!(got.matches("HTTP/1.1 200 ").count(), 2, "{got}");
    assert_eq!((had(&fails), had(&answers)), (1, 1));
    let seen = answers.seen();
    let seen = seen.split_once("\r\n\r\n").unwrap().1;
    assert!(seen.strip_prefix(sent_on).is_some_and(|next| next.starts_with("GET /next ")), "the whole body, once");
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idempotent_request_is_repeated_however_its_body_comes_up_to_64_kib_of_it() {
    let length = |body: &str| format!("Content-Length: {}", body.len());
    for size in [1, 10, 17_000, 65_536] {
        let body = "x".repeat(size);
        assert!(is_repeated("PUT", &length(&body), &body, &body).await, "{size}");
    }
    let body = "x".repeat(65_537);
    assert!(!is_repeated("PUT", &length(&body), &body, &body).await, "it is not kept");
    assert!(!is_repeated("POST", &length("hello"), "hello", "hello").await, "it may have been done");
    let chunked = "Transfer-Encoding: chunked";
    let (few, sent_on) = ("5;a=b\r\nhello\r\n03\r\nabc\r\n0\r\n\r\n", "5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n");
    assert!(is_repeated("PUT", chunked, few, sent_on).await);
    assert!(!is_repeated("POST", chunked, few, sent_on).await);
    let piece = format!("3e8\r\n{}\r\n", "x".repeat(1000));
    let (many, more) = (format!("{}0\r\n\r\n", piece.repeat(60)), format!("{}0\r\n\r\n", piece.repeat(70)));
    assert!(is_repeated("DELETE", chunked, &many, &many).await);
    assert!(!is_repeated("DELETE", chunked, &more, &more).await);
}

/// Each connection is closed behind its second answer: the third request finds it dead, or dying.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idempotent_request_in_chunks_survives_a_kept_connection_that_ends() {
    let server = Server::each(|mut stream| async move {
        for _ in 0..2 {
            let Some(request) = read_request(&mut stream).await else { return };
            assert!(request.ends_with("2\r\nhi\r\n0\r\n\r\n"), "{request}");
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na").await;
        }
    })
    .await;
    let world = World::through(one(&server).model(), Carrier::Relay).await;
    let mut client = connect(world.vip("web")).await;
    for n in 0..60 {
        let put = b"PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
        client.write_all(put).await.unwrap();
        let answer = read_answer(&mut client).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{n}: {answer}");
    }
}
