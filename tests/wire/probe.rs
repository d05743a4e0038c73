//! Every kind of probe against peers that behave, that fail, and that misbehave.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bascule::model::check::{
    BodyMatch, Check, DnsType, Host, HttpExpect, HttpRequest, Origin, Probe, Schedule, StatusRange, Target, TlsProbe,
};
use bascule::model::event::{Outcome, Verdict};
use bascule::model::id::{MonitorId, ServiceId};
use bascule::probe::{Job, Runner, sample};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

/// Long enough for any answer that comes at all, on a busy machine.
const PATIENT: Duration = Duration::from_secs(20);

/// For peers that never answer.
const SHORT: Duration = Duration::from_millis(60);

fn check(probe: Probe, timeout: Duration) -> Check {
    let schedule = Schedule {
        interval: timeout * 2,
        timeout,
        rise: 1,
        fall: 1,
        fall_among: None,
        down_time: None,
        reverse: false,
    };
    Check { name: "c".into(), origin: Origin::User, probe, schedule }
}

async fn probe(probe: Probe, timeout: Duration) -> Verdict {
    sample(&check(probe, timeout)).await
}

/// Asserts outcome and a part of the detail.
#[track_caller]
fn assert_verdict(verdict: &Verdict, outcome: Outcome, part: &str) {
    assert_eq!(verdict.outcome, outcome, "{}", verdict.detail);
    assert!(verdict.detail.contains(part), "{:?} does not contain {part:?}", verdict.detail);
}

/// A peer that treats every connection with `serve`.
async fn peer<F, T>(serve: F) -> Target
where
    F: Fn(TcpStream) -> T + Send + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = Target::new(listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    target
}

/// A peer that reads a request's head, sends `answer` and closes.
async fn answering(answer: &'static [u8]) -> Target {
    peer(move |mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(answer).await;
    })
    .await
}

/// A peer that takes connections and says nothing.
async fn silent() -> Target {
    peer(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// A port of loopback that nobody listens on: bound, so that nobody else gets it either.
fn dead() -> Target {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
    let target = Target::new(socket.local_addr().unwrap().as_socket().unwrap());
    std::mem::forget(socket);
    target
}

fn expect_200() -> HttpExpect {
    HttpExpect {
        status: vec![StatusRange::one(200)],
        headers: Vec::new(),
        body: None,
        trofs_code: None,
        trofs_body: None,
    }
}

fn http(target: Target, expect: HttpExpect) -> Probe {
    https(target, None, expect)
}

fn https(target: Target, tls: Option<TlsProbe>, expect: HttpExpect) -> Probe {
    let request = HttpRequest {
        method: "GET".into(),
        path: "/health".into(),
        host: None,
        headers: vec![("Authorization".into(), "Bearer secret-token".into())],
        body: Vec::new(),
    };
    Probe::Http { target, tls, request, expect }
}

fn ecv(target: Target, receive: &[u8], trofs: Option<&[u8]>) -> Probe {
    Probe::TcpEcv {
        target,
        tls: None,
        send: b"PING\r\n".to_vec(),
        receive: receive.to_vec(),
        trofs: trofs.map(<[u8]>::to_vec),
    }
}

// --- TCP ---

#[tokio::test]
async fn tcp_is_up_where_a_connection_is_accepted() {
    let target = silent().await;
    let verdict = probe(Probe::Tcp { target: target.clone() }, PATIENT).await;
    assert_verdict(&verdict, Outcome::Pass, &target.to_string());
}

#[tokio::test]
async fn tcp_is_down_at_once_where_a_connection_is_refused() {
    let target = dead();
    let verdict = probe(Probe::Tcp { target: target.clone() }, PATIENT).await;
    assert_verdict(&verdict, Outcome::Fail, &format!("connection to {target}: connection refused"));
    assert!(verdict.latency < PATIENT / 2);
}

#[tokio::test]
async fn tcp_times_out_where_nobody_answers() {
    // With its queue full the kernel drops further SYNs.
    let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    listener.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
    listener.listen(0).unwrap();
    let address = listener.local_addr().unwrap().as_socket().unwrap();
    let _queued: Vec<_> = (0..4)
        .map(|_| {
            let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
            socket.set_nonblocking(true).unwrap();
            let _ = socket.connect(&address.into());
            socket
        })
        .collect();
    let verdict = probe(Probe::Tcp { target: Target::new(address) }, SHORT).await;
    assert_verdict(&verdict, Outcome::Fail, "timed out after 60 ms, waiting for a TCP connection to 127.0.0.1:");
}

// --- HTTP ---

#[tokio::test]
async fn http_is_up_with_the_expected_status() {
    let target = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n").await;
    assert_verdict(&probe(http(target, expect_200()), PATIENT).await, Outcome::Pass, "200 OK");
}

#[tokio::test]
async fn an_http_probe_is_one_complete_request_of_its_own() {
    let (heads, mut received) = tokio::sync::mpsc::unbounded_channel();
    let target = peer(move |mut stream| {
        let heads = heads.clone();
        async move {
            heads.send(read_head(&mut stream).await).unwrap();
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
            // The probe must not wait for our close.
            std::future::pending::<()>().await;
        }
    })
    .await;
    for _ in 0..2 {
        let verdict = probe(http(target.clone(), expect_200()), PATIENT).await;
        assert_eq!(verdict.outcome, Outcome::Pass);
    }
    for _ in 0..2 {
        let head = received.recv().await.unwrap();
        assert!(head.starts_with(&format!("GET /health HTTP/1.1\r\nHost: {target}\r\n")), "{head}");
        assert!(head.contains("\r\nConnection: close\r\n"), "{head}");
    }
}

#[tokio::test]
async fn http_fails_with_its_reason_for_whatever_a_server_does_wrong() {
    let contains_ok = HttpExpect { body: Some(BodyMatch::Contains(b"ok".to_vec())), ..expect_200() };
    let rows: [(&'static [u8], &HttpExpect, &str); 12] = [
        (b"HTTP/1.1 500 Internal Server Error\r\n\r\n", &expect_200(), "500 Internal Server Error, expected 200"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsick", &contains_ok, "no \"ok\" in the body of 4 bytes"),
        (b"", &expect_200(), "connection closed without an answer"),
        (b"\0\x01\x02garbage\xff", &expect_200(), "not an answer in HTTP/1: \"\\x00\\x01\\x02garbage\\xff\""),
        (b"+OK POP3 ready\r\n", &expect_200(), "not an answer in HTTP/1"),
        (b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", &expect_200(), "malformed head"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", &expect_200(), "closed within the head"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok", &contains_ok, "98 bytes of the announced length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nok", &contains_ok, "\"many\" is not a number"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", &contains_ok, "within its chunked coding"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nok", &contains_ok, "broken chunked coding"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok", &contains_ok, "\"gzip\" is not understood"),
    ];
    for (answer, expect, why) in rows {
        let target = answering(answer).await;
        let verdict = probe(http(target.clone(), expect.clone()), PATIENT).await;
        assert_verdict(&verdict, Outcome::Fail, why);
        assert!(verdict.detail.contains(&target.to_string()), "{}", verdict.detail);
        assert!(!verdict.detail.contains("secret"), "{}", verdict.detail);
    }
}

#[tokio::test]
async fn a_body_may_come_in_chunks_and_in_pieces() {
    let target = peer(|mut stream| async move {
        read_head(&mut stream).await;
        for byte in b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nall\r\n3\r\n ok\r\n0\r\n\r\n" {
            stream.write_all(&[*byte]).await.unwrap();
        }
        std::future::pending::<()>().await;
    })
    .await;
    let expect = HttpExpect { body: Some(BodyMatch::Regex("^all ok$".into())), ..expect_200() };
    assert_verdict(&probe(http(target, expect), PATIENT).await, Outcome::Pass, "200 OK");
}

#[tokio::test]
async fn a_server_that_sends_without_end_is_judged_by_the_beginning_or_the_bound() {
    async fn flood(mut stream: TcpStream, head: &'static [u8], more: &'static [u8]) {
        read_head(&mut stream).await;
        let _ = stream.write_all(head).await;
        while stream.write_all(more).await.is_ok() {}
    }
    let body = peer(|stream| flood(stream, b"HTTP/1.1 200 OK\r\n\r\nok", &[b'x'; 4096])).await;
    let contains = |text: &[u8]| HttpExpect { body: Some(BodyMatch::Contains(text.to_vec())), ..expect_200() };
    assert_verdict(&probe(http(body.clone(), contains(b"ok")), PATIENT).await, Outcome::Pass, "200 OK");
    let verdict = probe(http(body, contains(b"y")), PATIENT).await;
    assert_verdict(&verdict, Outcome::Fail, "no \"y\" in the first 65536 bytes of the body");
    let head = peer(|stream| flood(stream, b"HTTP/1.1 200 OK\r\n", b"X-Fill: abcdefgh\r\n")).await;
    assert_verdict(&probe(http(head, expect_200()), PATIENT).await, Outcome::Fail, "larger than 16 KiB");
}

#[tokio::test]
async fn the_time_out_covers_everything_up_to_the_last_byte() {
    let verdict = probe(http(silent().await, expect_200()), SHORT).await;
    assert_verdict(&verdict, Outcome::Fail, "timed out after 60 ms, waiting for an answer from 127.0.0.1:");
    let dripping = peer(|mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok").await;
        std::future::pending::<()>().await;
    })
    .await;
    let verdict = probe(http(dripping, expect_200()), SHORT).await;
    assert_verdict(&verdict, Outcome::Fail, "waiting for the last 7 bytes of the body from");
}

#[tokio::test]
async fn a_reset_is_a_failed_sample() {
    let target = peer(|mut stream| async move {
        read_head(&mut stream).await;
        let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
    })
    .await;
    assert_verdict(&probe(http(target, expect_200()), PATIENT).await, Outcome::Fail, "connection reset");
    let target = dead();
    assert_verdict(&probe(http(target, expect_200()), PATIENT).await, Outcome::Fail, "connection refused");
}

#[tokio::test]
async fn a_drain_code_asks_to_be_drained() {
    let target = answering(b"HTTP/1.1 503 Leaving\r\nContent-Length: 0\r\n\r\n").await;
    let expect = HttpExpect { trofs_code: Some(503), ..expect_200() };
    assert_verdict(&probe(http(target, expect), PATIENT).await, Outcome::Trofs, "503 Leaving");
}

// --- TLS ---

/// A TLS server with a certificate for `localhost` that nobody vouches for.
async fn tls_server() -> Target {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = rustls_pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    peer(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            let mut buffer = [0; 1024];
            let _ = stream.read(&mut buffer).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nPONG").await;
            let _ = stream.shutdown().await;
        }
    })
    .await
}

fn tls(verify: bool) -> Option<TlsProbe> {
    Some(TlsProbe { server_name: Some("localhost".into()), verify })
}

#[tokio::test]
async fn https_without_verification_takes_any_certificate() {
    let target = tls_server().await;
    assert_verdict(&probe(https(target, tls(false), expect_200()), PATIENT).await, Outcome::Pass, "200 OK");
}

#[tokio::test]
async fn https_refuses_a_certificate_that_nobody_vouches_for() {
    let target = tls_server().await;
    let verdict = probe(https(target, tls(true), expect_200()), PATIENT).await;
    // A machine without any root certificates cannot judge.
    match verdict.outcome {
        Outcome::Void => assert_verdict(&verdict, Outcome::Void, "no root certificates"),
        _ => assert_verdict(&verdict, Outcome::Fail, "invalid peer certificate"),
    }
}

#[tokio::test]
async fn https_to_a_server_without_tls_fails_in_the_handshake() {
    let target = peer(|mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        let mut buffer = [0; 1024];
        while matches!(stream.read(&mut buffer).await, Ok(n) if n > 0) {}
    })
    .await;
    let verdict = probe(https(target, tls(false), expect_200()), PATIENT).await;
    assert_verdict(&verdict, Outcome::Fail, "TLS handshake with 127.0.0.1:");
    let verdict = probe(https(silent().await, tls(false), expect_200()), SHORT).await;
    assert_verdict(&verdict, Outcome::Fail, "waiting for the TLS handshake");
}

#[tokio::test]
async fn tcp_ecv_speaks_tls_where_asked() {
    let target = tls_server().await;
    let probe_tls =
        Probe::TcpEcv { target, tls: tls(false), send: b"PING\r\n".to_vec(), receive: b"PONG".to_vec(), trofs: None };
    assert_verdict(&probe(probe_tls, PATIENT).await, Outcome::Pass, "PONG");
}

// --- TCP-ECV ---

#[tokio::test]
async fn tcp_ecv_finds_its_text_in_pieces() {
    let target = peer(|mut stream| async move {
        for piece in [&b"noise +PO"[..], b"NG and more"] {
            let _ = stream.write_all(piece).await;
            tokio::task::yield_now().await;
        }
        std::future::pending::<()>().await;
    })
    .await;
    assert_verdict(&probe(ecv(target, b"+PONG", None), PATIENT).await, Outcome::Pass, "\"+PONG\"");
}

#[tokio::test]
async fn tcp_ecv_fails_on_other_words_on_silence_and_on_a_flood() {
    let target = peer(|mut stream| async move {
        let _ = stream.read_u8().await;
        let _ = stream.write_all(b"-ERR\n").await;
        let _ = stream.shutdown().await;
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
    })
    .await;
    let verdict = probe(ecv(target, b"+PONG", None), PATIENT).await;
    assert_verdict(&verdict, Outcome::Fail, "closed the connection without \"+PONG\", it sent \"-ERR\\n\"");
    let verdict = probe(ecv(silent().await, b"+PONG", None), SHORT).await;
    assert_verdict(&verdict, Outcome::Fail, "timed out after 60 ms, waiting for \"+PONG\"");
    let flood = peer(|mut stream| async move { while stream.write_all(&[b'x'; 1024]).await.is_ok() {} }).await;
    assert_verdict(&probe(ecv(flood, b"+PONG", None), PATIENT).await, Outcome::Fail, "the first 24 KiB are without");
}

#[tokio::test]
async fn tcp_ecv_without_a_text_passes_once_the_bytes_are_taken() {
    assert_verdict(&probe(ecv(silent().await, b"", None), PATIENT).await, Outcome::Pass, "took 6 bytes");
}

#[tokio::test]
async fn a_drain_text_wins_over_the_expected_one() {
    let target = peer(|mut stream| async move {
        let _ = stream.write_all(b"+PONG draining").await;
        std::future::pending::<()>().await;
    })
    .await;
    let verdict = probe(ecv(target, b"+PONG", Some(b"draining")), PATIENT).await;
    assert_verdict(&verdict, Outcome::Trofs, "asks to be drained");
}

// --- UDP-ECV, DNS, PING ---

/// A UDP peer that answers every datagram with what `answer` makes of it.
async fn udp_peer(answer: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static) -> Target {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let target = Target::new(socket.local_addr().unwrap());
    tokio::spawn(async move {
        let mut datagram = [0; 2048];
        while let Ok((n, from)) = socket.recv_from(&mut datagram).await {
            for bytes in answer(&datagram[..n]) {
                let _ = socket.send_to(&bytes, from).await;
            }
        }
    });
    target
}

/// A port that is taken, by a socket that hears somebody else only.
fn dead_udp() -> Target {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect("127.0.0.1:9").unwrap();
    let target = Target::new(socket.local_addr().unwrap());
    std::mem::forget(socket);
    target
}

fn udp_ecv(target: Target, receive: &[u8]) -> Probe {
    Probe::UdpEcv { target, send: b"hi".to_vec(), receive: receive.to_vec() }
}

#[tokio::test]
async fn udp_ecv_without_a_text_passes_unless_the_port_is_unreachable() {
    let quiet = udp_peer(|_| Vec::new()).await;
    assert_verdict(&probe(udp_ecv(quiet, b""), SHORT).await, Outcome::Pass, "did not report");
    assert_verdict(&probe(udp_ecv(dead_udp(), b""), PATIENT).await, Outcome::Fail, "port unreachable");
    let echo = udp_peer(|bytes| vec![bytes.to_vec()]).await;
    assert_verdict(&probe(udp_ecv(echo, b""), PATIENT).await, Outcome::Pass, "answered 2 bytes");
}

#[tokio::test]
async fn udp_ecv_looks_for_its_text() {
    let echo = udp_peer(|bytes| vec![bytes.to_vec()]).await;
    assert_verdict(&probe(udp_ecv(echo.clone(), b"hi"), PATIENT).await, Outcome::Pass, "answered");
    assert_verdict(&probe(udp_ecv(echo, b"ho"), PATIENT).await, Outcome::Fail, "sent \"hi\", expected \"ho\"");
    let quiet = udp_peer(|_| Vec::new()).await;
    assert_verdict(&probe(udp_ecv(quiet, b"hi"), SHORT).await, Outcome::Fail, "timed out");
}

/// The query turned into an answer with 192.0.2.10.
fn dns_answer(query: &[u8]) -> Vec<u8> {
    let mut answer = query.to_vec();
    answer[2] |= 0x80;
    answer[7] = 1;
    answer.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 30, 0, 4, 192, 0, 2, 10]);
    answer
}

fn dns(target: Target, expect: &[&str]) -> Probe {
    let expect: Vec<IpAddr> = expect.iter().map(|ip| ip.parse().unwrap()).collect();
    Probe::Dns { target, query: "www.example.test".to_owned(), qtype: DnsType::A, expect }
}

#[tokio::test]
async fn dns_is_up_where_the_expected_address_is_answered() {
    let server = udp_peer(|query| vec![dns_answer(query)]).await;
    let verdict = probe(dns(server.clone(), &["192.0.2.10"]), PATIENT).await;
    assert_verdict(&verdict, Outcome::Pass, "www.example.test. A: 192.0.2.10");
    assert_verdict(&probe(dns(server, &["192.0.2.9"]), PATIENT).await, Outcome::Fail, "expected 192.0.2.9");
}

#[tokio::test]
async fn dns_passes_over_foreign_answers_and_takes_the_right_one() {
    let server = udp_peer(|query| {
        let mut foreign = dns_answer(query);
        foreign[0] ^= 0xff;
        vec![foreign, b"garbage".to_vec(), dns_answer(query)]
    })
    .await;
    assert_verdict(&probe(dns(server, &[]), PATIENT).await, Outcome::Pass, "192.0.2.10");
}

#[tokio::test]
async fn dns_is_down_on_errors_garbage_silence_and_a_dead_port() {
    let failing = udp_peer(|query| {
        let mut answer = query.to_vec();
        answer[2] |= 0x80;
        answer[3] = 2;
        vec![answer]
    })
    .await;
    assert_verdict(&probe(dns(failing, &[]), PATIENT).await, Outcome::Fail, "Server Failure");
    let cut = udp_peer(|query| vec![dns_answer(query)[..40].to_vec()]).await;
    assert_verdict(&probe(dns(cut, &[]), PATIENT).await, Outcome::Fail, "malformed answer of 40 bytes");
    let foreign = udp_peer(|_| vec![b"garbage".to_vec()]).await;
    assert_verdict(&probe(dns(foreign, &[]), SHORT).await, Outcome::Fail, "strays passed over: 1");
    assert_verdict(&probe(dns(dead_udp(), &[]), PATIENT).await, Outcome::Fail, "port unreachable");
}

#[tokio::test]
async fn ping_reaches_loopback_or_says_what_it_lacks() {
    for ip in ["127.0.0.1", "::1"] {
        let target = Target { host: Host::Ip(ip.parse().unwrap()), port: 0 };
        let verdict = probe(Probe::Ping { target }, PATIENT).await;
        match verdict.outcome {
            Outcome::Pass => assert_verdict(&verdict, Outcome::Pass, &format!("echo reply of {ip}")),
            // A machine without the permission, or without IPv6.
            Outcome::Void => assert!(verdict.detail.contains("permission") || verdict.detail.contains("this machine")),
            _ => assert!(ip == "::1", "{}", verdict.detail),
        }
    }
}

// --- names, kinds that are not there ---

#[tokio::test]
async fn a_name_is_looked_up_and_any_of_its_addresses_will_do() {
    let target = Target { host: Host::Name("localhost".into()), port: silent().await.port };
    let verdict = probe(Probe::Tcp { target }, PATIENT).await;
    assert_verdict(&verdict, Outcome::Pass, "127.0.0.1:");
}

#[tokio::test]
async fn a_name_without_an_address_fails_a_check_and_is_void_for_a_monitor() {
    let target = Target { host: Host::Name("nothing.invalid".into()), port: 80 };
    let mut check = check(Probe::Tcp { target }, Duration::from_secs(2));
    assert_verdict(&sample(&check).await, Outcome::Fail, "nothing.invalid does not resolve");
    check.origin = Origin::Monitor { monitor: MonitorId(0), service: ServiceId(0) };
    assert_verdict(&sample(&check).await, Outcome::Void, "nothing.invalid does not resolve");
}

#[tokio::test]
async fn a_kind_that_is_not_in_this_build_is_void_and_says_so() {
    let verdict = probe(Probe::Unavailable { kind: "RADIUS".into() }, PATIENT).await;
    assert_verdict(&verdict, Outcome::Void, "RADIUS are not available in this build");
}

// --- the runner ---

#[test]
fn a_refused_connection_is_reported_at_once() {
    let (results, mut receiver) = tokio::sync::mpsc::channel(8);
    let runner = Runner::start(results, 8).unwrap();
    let check = Arc::new(check(Probe::Tcp { target: dead() }, PATIENT));
    let mut fastest = Duration::MAX;
    for _ in 0..20 {
        let due = Instant::now();
        runner.schedule(Job { check: check.clone(), due });
        let sampled = receiver.blocking_recv().unwrap();
        assert_eq!(sampled.verdict.outcome, Outcome::Fail);
        fastest = fastest.min(due.elapsed());
    }
    println!("schedule to report of a refused connection: {fastest:?} at best");
    assert!(fastest < Duration::from_millis(20), "{fastest:?}");
    runner.stop();
}

#[test]
fn a_peer_sees_one_probe_for_one_due_time_however_often_it_is_asked_for() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let target = Target::new(listener.local_addr().unwrap());
    let seen = Arc::new(AtomicUsize::new(0));
    let counter = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            drop(stream);
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    let (results, mut receiver) = tokio::sync::mpsc::channel(8);
    let runner = Runner::start(results, 8).unwrap();
    let check = Arc::new(check(Probe::Tcp { target }, PATIENT));
    let due = Instant::now() + Duration::from_millis(30);
    for _ in 0..100 {
        runner.schedule(Job { check: check.clone(), due });
    }
    let sampled = receiver.blocking_recv().unwrap();
    assert_eq!(sampled.verdict.outcome, Outcome::Pass);
    assert!(Instant::now() >= due, "never early");
    runner.stop();
    assert!(receiver.blocking_recv().is_none());
    assert_eq!(seen.load(Ordering::SeqCst), 1);
}
