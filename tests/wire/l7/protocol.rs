//! HTTP as clients and servers speak it.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use bascule::dataplane::l7::Carrier;
use bascule::model::service::Protocol::Http;

use super::{one, one_world};
use crate::world::{
    PATIENT, Plan, Server, World, body, connect, eventually, exchange, get, nobody, read_all, read_answer, read_request,
};

/// Answers every request with these bytes and closes.
async fn canned(answer: &'static str) -> Server {
    Server::each(move |mut stream| async move {
        if read_request(&mut stream).await.is_some() {
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    })
    .await
}

#[tokio::test]
async fn a_connection_is_kept_and_a_server_learns_who_asks() {
    let server = Server::http("a").await;
    let world = one_world(&server).await;
    let mut client = connect(world.vip("web")).await;
    for n in 0..3 {
        let request =
            format!("GET /{n}?q HTTP/1.1\r\nHost: t.test\r\nX-Forwarded-For: 192.0.2.1\r\nKeep-Alive: 5\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
        let answer = read_answer(&mut client).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && body(&answer) == "a", "{answer}");
    }
    let seen = server.seen();
    assert!(seen.contains("GET /2?q HTTP/1.1\r\n"), "{seen}");
    assert_eq!(seen.matches("X-Forwarded-For: 192.0.2.1, 127.0.0.1\r\n").count(), 3, "{seen}");
    assert!(!seen.to_lowercase().contains("keep-alive"), "{seen}");
}

#[tokio::test]
async fn requests_sent_ahead_are_answered_in_order() {
    let server = Server::http("a").await;
    let world = one_world(&server).await;
    let mut client = connect(world.vip("web")).await;
    let requests = "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello\
                    GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    client.write_all(requests.as_bytes()).await.unwrap();
    let answers = read_all(&mut client).await;
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3, "{answers}");
    let seen = server.seen();
    let at = |path: &str| seen.find(path).unwrap_or_else(|| panic!("{path} in {seen}"));
    assert!(at("GET /1 ") < at("POST /2 ") && at("POST /2 ") < at("GET /3 "));
    assert!(seen.contains("\r\n\r\nhello"), "{seen}");
}

#[tokio::test]
async fn a_client_that_closes_before_its_answer_begins_has_left_and_one_that_closes_later_has_not() {
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let (answer, answered) = tokio::sync::watch::channel(0);
        let server = Server::each(move |mut stream| {
            let mut answered = answered.clone();
            async move {
                read_request(&mut stream).await;
                let mut scrap = [0; 1];
                for (step, part) in [(1, &b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"[..]), (2, b"b")] {
                    tokio::select! {
                        _ = answered.wait_for(|at| *at >= step) => {}
                        _ = stream.read(&mut scrap) => return,
                    }
                    let _ = stream.write_all(part).await;
                }
            }
        })
        .await;
        let world = World::through(one(&server).model(), carrier).await;
        let mut client = connect(world.vip("web")).await;
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        eventually("it is under way", || world.active("a") == 1).await;
        client.shutdown().await.unwrap();
        eventually("its place is free", || world.active("a") == 0).await;
        assert_eq!(read_all(&mut client).await, "", "{carrier:?}");
        let snapshot = world.cell.load_full();
        let ended = || snapshot.vservers[0].live.endings.counts();
        let gone = || ended().iter().any(|(ending, _)| ending.to_string() == "client/wait/client_gone");
        eventually("it ended as client_gone", gone).await;

        let mut client = connect(world.vip("web")).await;
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        answer.send_replace(1);
        let mut read = Vec::new();
        while !read.ends_with(b"\r\n\r\na") {
            client.read_buf(&mut read).await.unwrap();
        }
        client.shutdown().await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        answer.send_replace(2);
        assert_eq!(read_all(&mut client).await, "b", "{carrier:?}");
    }
}

#[tokio::test]
async fn a_client_that_has_said_everything_is_still_answered_where_the_vserver_wants_it() {
    let server = Server::each(|mut stream| async move {
        read_request(&mut stream).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na").await;
    })
    .await;
    let world = World::start(one(&server).with(|web| web.abort_on_close = false)).await;
    let mut client = connect(world.vip("web")).await;
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    client.shutdown().await.unwrap();
    assert!(read_all(&mut client).await.ends_with("\r\n\r\na"));
}

#[tokio::test]
async fn head_has_no_body_and_its_length() {
    let server = canned("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n").await;
    let world = one_world(&server).await;
    let answer = exchange(world.vip("web"), "HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert!(answer.contains("Content-Length: 1000\r\n") && answer.ends_with("\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn http_1_0_gets_no_chunks_and_its_connection_ends() {
    let server = canned("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n").await;
    let world = one_world(&server).await;
    let answer = exchange(world.vip("web"), "GET / HTTP/1.0\r\n\r\n").await;
    assert!(answer.ends_with("\r\n\r\nhello"), "{answer}");
    let answer = get(world.vip("web"), "/", "").await;
    assert!(answer.ends_with("\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn a_body_that_ends_with_the_connection_arrives_whole() {
    let server = canned("HTTP/1.0 200 OK\r\n\r\nall of it").await;
    let world = one_world(&server).await;
    assert!(get(world.vip("web"), "/", "").await.contains("all of it"));
}

#[tokio::test]
async fn the_server_decides_whether_to_continue() {
    let server = Server::each(|mut stream| async move {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
        let mut body = [0; 5];
        stream.read_exact(&mut body).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").await.unwrap();
        stream.write_all(&body).await.unwrap();
    })
    .await;
    let world = one_world(&server).await;
    let mut client = connect(world.vip("web")).await;
    let head = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\nConnection: close\r\n\r\n";
    client.write_all(head.as_bytes()).await.unwrap();
    let interim = read_answer(&mut client).await;
    assert!(interim.starts_with("HTTP/1.1 100 Continue"), "{interim}");
    client.write_all(b"hello").await.unwrap();
    assert!(read_all(&mut client).await.ends_with("\r\n\r\nhello"));
}

#[tokio::test]
async fn large_bodies_pass_both_ways() {
    let server = Server::each(|mut stream| async move {
        while let Some(request) = read_request(&mut stream).await {
            let body = body(&request);
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    })
    .await;
    let world = one_world(&server).await;
    let sent = "0123456789abcdef".repeat(20_000);
    let mut client = connect(world.vip("web")).await;
    for _ in 0..2 {
        let (mut reader, mut writer) = client.split();
        let request = format!("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{sent}", sent.len());
        let write = async { writer.write_all(request.as_bytes()).await.unwrap() };
        let mut got = Vec::new();
        let read = async {
            while !got.ends_with(sent.as_bytes()) {
                assert!(reader.read_buf(&mut got).await.unwrap() > 0, "ended after {} bytes", got.len());
            }
        };
        tokio::time::timeout(crate::world::PATIENT, async { tokio::join!(write, read) }).await.unwrap();
    }
}

#[tokio::test]
async fn errors_of_servers_are_502_and_504_in_our_own_words() {
    let silent = Server::each(|mut stream| async move {
        let mut scrap = Vec::new();
        let _ = stream.read_to_end(&mut scrap).await;
    })
    .await;
    let world =
        World::start(one(&silent).with_service(|s| s.settings.server_timeout = Duration::from_millis(100))).await;
    let answer = get(world.vip("web"), "/", "").await;
    assert!(answer.starts_with("HTTP/1.1 504 ") && body(&answer).starts_with("504 Gateway Timeout\nid: "), "{answer}");

    for broken in ["", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"] {
        let server = canned(broken).await;
        let world = one_world(&server).await;
        let answer = get(world.vip("web"), "/", "").await;
        assert!(answer.starts_with("HTTP/1.1 502 "), "{broken:?}: {answer:?}");
        assert!(!answer.to_lowercase().contains("pingora"), "{answer}");
        let live = Arc::clone(&world.cell.load_full().vservers[0].live);
        let counted = |class: usize| live.statuses_total[class].load(std::sync::atomic::Ordering::Relaxed);
        eventually("it is counted as what the client was told", || (counted(2), counted(5)) == (0, 1)).await;
    }
    let unreachable = Plan::default().service("a", Http, nobody().await).vserver("web", Http, &["a"]);
    let world = World::start(unreachable).await;
    assert!(get(world.vip("web"), "/", "").await.starts_with("HTTP/1.1 502 "));
}

/// Nothing of the answer has gone to the client then. Through pingora the head has.
#[tokio::test]
async fn an_answer_whose_body_is_malformed_from_its_first_chunk_is_502_through_the_relay() {
    for broken in [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nZZ\r\n",
    ] {
        let server = canned(broken).await;
        let world = World::through(one(&server).model(), Carrier::Relay).await;
        let answer = get(world.vip("web"), "/", "").await;
        assert!(answer.starts_with("HTTP/1.1 502 "), "{broken:?}: {answer:?}");
        let live = Arc::clone(&world.cell.load_full().vservers[0].live);
        let counted = |class: usize| live.statuses_total[class].load(std::sync::atomic::Ordering::Relaxed);
        eventually("it is counted as what the client was told", || (counted(2), counted(5)) == (0, 1)).await;
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_not_made_to_look_whole() {
    let server = canned("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\npart").await;
    let world = one_world(&server).await;
    let mut client = connect(world.vip("web")).await;
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let end = tokio::time::timeout(crate::world::PATIENT, client.read_to_end(&mut answer)).await.unwrap();
    assert!(end.is_err() || !answer.ends_with(b"0\r\n\r\n"));
    assert!(answer.len() < 1000);
}

#[tokio::test]
async fn an_answer_that_comes_slowly_reaches_the_client_as_it_comes() {
    for head in [
        "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
    ] {
        let (go, wait) = tokio::sync::watch::channel(0);
        let server = Server::each(move |mut stream| {
            let mut wait = wait.clone();
            async move {
                read_request(&mut stream).await;
                stream.write_all(head.as_bytes()).await.unwrap();
                for piece in 1..=4 {
                    wait.wait_for(|&w| w >= piece).await.unwrap();
                    stream.write_all(b"ab").await.unwrap();
                }
                std::future::pending().await
            }
        })
        .await;
        let world = one_world(&server).await;
        let mut client = connect(world.vip("web")).await;
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut got = Vec::new();
        let mut expect = async |what: &[u8], count: usize| {
            while got.windows(what.len()).filter(|w| *w == what).count() < count {
                let read = tokio::time::timeout(PATIENT, client.read_buf(&mut got)).await.expect("held back").unwrap();
                assert!(read > 0, "{head}: closed");
            }
        };
        expect(b"\r\n\r\n", 1).await;
        for piece in 1..=4 {
            go.send_replace(piece);
            expect(b"ab", piece).await;
        }
    }
}

#[tokio::test]
async fn interim_answers_reach_who_knows_them_and_never_without_end() {
    let server = Server::each(|mut stream| async move {
        while let Some(request) = read_request(&mut stream).await {
            let count = if request.contains("/many") { 100_000 } else { 2 };
            for _ in 0..count {
                if stream.write_all(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n").await.is_err() {
                    return;
                }
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na").await.unwrap();
        }
    })
    .await;
    let world = one_world(&server).await;
    let answer = get(world.vip("web"), "/", "").await;
    assert_eq!(answer.matches("HTTP/1.1 103 ").count(), 2, "{answer}");
    assert!(answer.contains("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\na"), "{answer}");
    let answer = exchange(world.vip("web"), "GET / HTTP/1.0\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\na"), "{answer}");
    let answer = get(world.vip("web"), "/many", "").await;
    assert!(answer.contains("HTTP/1.1 502 ") && answer.matches("HTTP/1.1 103 ").count() <= 100, "{answer}");
    eventually("nothing is active", || world.active("a") == 0).await;
}

#[tokio::test]
async fn a_server_time_out_of_nothing_is_none() {
    let server = Server::http("a").await;
    let world = World::start(one(&server).with_service(|s| s.settings.server_timeout = Duration::ZERO)).await;
    assert!(get(world.vip("web"), "/", "").await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn no_field_can_be_taken_for_the_one_that_names_the_client() {
    let server = Server::http("a").await;
    let world = one_world(&server).await;
    get(world.vip("web"), "/", "X_Forwarded_For: 192.0.2.1\r\nx-forwarded_for: 192.0.2.2\r\nX_Other: 1\r\n").await;
    let seen = server.seen();
    assert!(seen.contains("X-Forwarded-For: 127.0.0.1\r\n") && !seen.contains("192.0.2."), "{seen}");
    assert!(seen.contains("X_Other: 1"), "{seen}");
}

/// A close with bytes of the client unread is a reset, which would take the answer from many clients.
#[tokio::test]
async fn what_is_sent_behind_the_last_answer_takes_nothing_from_it() {
    let server = Server::http("a").await;
    let world = one_world(&server).await;
    let mut client = connect(world.vip("web")).await;
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    client.write_all(b"GET /late HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.expect("an end, no reset");
    assert!(answer.ends_with(b"\r\n\r\na"));
    assert!(!server.seen().contains("late"));
}
