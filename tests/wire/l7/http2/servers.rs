//! HTTP/2 and TLS towards servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bascule::model::id::CertificateId;
use bascule::model::service::Protocol::{Http, Ssl};
use bascule::model::service::Service;
use bascule::model::tls::TlsVersion;
use bytes::Bytes;
use h2::server::SendResponse;
use http::{HeaderMap, Request, Response};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

use super::client::{Client, answer_of, request};
use crate::tls::pki::{Authority, tls_server};
use crate::world::{PATIENT, Plan, Server, World, body, connect, eventually, get, read_answer, read_request};

/// What a server of HTTP/2 has seen.
#[derive(Clone, Default)]
struct Seen {
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<http::request::Parts>>>,
}

/// Answers each request with its body and `grpc-status` in trailers, piece by piece as it comes.
async fn echo(seen: &Seen) -> Server {
    let seen = seen.clone();
    Server::each(move |stream| speak(seen.clone(), stream)).await
}

async fn speak(seen: Seen, stream: impl AsyncRead + AsyncWrite + Unpin) {
    seen.connections.fetch_add(1, Ordering::SeqCst);
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, answer))) = connection.accept().await {
        tokio::spawn(piece_by_piece(seen.clone(), request, answer));
    }
}

async fn piece_by_piece(seen: Seen, request: Request<h2::RecvStream>, mut answer: SendResponse<Bytes>) {
    let (head, mut body) = request.into_parts();
    seen.requests.lock().push(head);
    let head = Response::builder().header("content-type", "application/grpc").body(()).unwrap();
    let Ok(mut sender) = answer.send_response(head, false) else { return };
    while let Some(Ok(bytes)) = body.data().await {
        let _ = body.flow_control().release_capacity(bytes.len());
        if sender.send_data(bytes, false).is_err() {
            return;
        }
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", "0".parse().unwrap());
    let _ = sender.send_trailers(trailers);
}

fn plan(server: &Server) -> Plan {
    Plan::default()
        .service("a", Http, server.at)
        .with_service(|s| s.settings.http2 = true)
        .vserver("web", Http, &["a"])
        .with(|v| v.http2 = true)
}

#[tokio::test]
async fn a_call_of_grpc_passes_with_its_trailers() {
    let seen = Seen::default();
    let server = echo(&seen).await;
    let world = World::start(plan(&server)).await;
    let client = Client::connect(world.vip("web")).await;
    let call = request("POST", "/a.B/C").header("te", "trailers").header("content-type", "application/grpc");
    let answer = client.send(call.body(()).unwrap(), Some("\0\0\0\0\u{2}hi")).await;
    assert_eq!((answer.status, answer.text().as_str()), (200, "\0\0\0\0\u{2}hi"));
    assert_eq!(answer.trailers.unwrap()["grpc-status"], "0");
    let asked = seen.requests.lock();
    assert_eq!(asked[0].headers["te"], "trailers");
    assert_eq!(asked[0].uri.authority().unwrap(), "t.test");
    assert_eq!(asked[0].uri.path(), "/a.B/C");
    assert!(!asked[0].headers.contains_key("host"), "{:?}", asked[0].headers);
}

#[tokio::test]
async fn messages_stream_both_ways_as_they_come() {
    let server = echo(&Seen::default()).await;
    let world = World::start(plan(&server)).await;
    let client = Client::connect(world.vip("web")).await;
    let (answer, mut sender) = client.open(request("POST", "/").body(()).unwrap(), false).await;
    let mut body = tokio::time::timeout(PATIENT, answer).await.unwrap().unwrap().into_body();
    for n in 0..5u8 {
        sender.send_data(Bytes::from(vec![n; 3]), false).unwrap();
        let back = tokio::time::timeout(PATIENT, body.data()).await.unwrap().unwrap().unwrap();
        assert_eq!(&back[..], [n; 3]);
    }
    sender.send_data(Bytes::new(), true).unwrap();
    assert!(tokio::time::timeout(PATIENT, body.data()).await.unwrap().is_none());
    assert_eq!(body.trailers().await.unwrap().unwrap()["grpc-status"], "0");
}

/// P6: by default a connection would carry one stream.
#[tokio::test]
async fn streams_share_a_connection_and_clients_of_http_1_are_served_over_it() {
    let seen = Seen::default();
    let server = echo(&seen).await;
    let world = World::start(plan(&server)).await;
    let client = Client::connect(world.vip("web")).await;
    assert_eq!(client.send(request("POST", "/").body(()).unwrap(), Some("x")).await.text(), "x");
    let mut open = Vec::new();
    for _ in 0..20 {
        let (answer, mut sender) = client.open(request("POST", "/").body(()).unwrap(), false).await;
        sender.send_data(Bytes::from_static(b"x"), false).unwrap();
        open.push((answer, sender));
    }
    eventually("all are asked", || world.active("a") == 20 && seen.requests.lock().len() == 21).await;
    assert!(seen.connections.load(Ordering::SeqCst) < 5, "{:?}", seen.connections);
    for (answer, mut sender) in open {
        sender.send_data(Bytes::new(), true).unwrap();
        assert_eq!(answer_of(answer).await.unwrap().text(), "x");
    }
    let mut http1 = connect(world.vip("web")).await;
    http1.write_all(b"POST / HTTP/1.1\r\nHost: one.test\r\nContent-Length: 2\r\n\r\nhi").await.unwrap();
    let mut answer = String::new();
    while !answer.ends_with("0\r\n\r\n") {
        let mut read = [0; 1024];
        let length = tokio::io::AsyncReadExt::read(&mut http1, &mut read).await.unwrap();
        assert!(length > 0, "{answer}");
        answer.push_str(&String::from_utf8_lossy(&read[..length]));
    }
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("\r\n2\r\nhi\r\n"), "{answer}");
    assert_eq!(seen.requests.lock().last().unwrap().uri.authority().unwrap(), "one.test");
}

#[tokio::test]
async fn a_server_that_says_goaway_or_refuses_a_stream_is_asked_again() {
    let seen = Seen::default();
    let counted = seen.clone();
    // Each connection refuses its first stream, serves the second, then says GOAWAY.
    let server = Server::each(move |stream| {
        let seen = counted.clone();
        async move {
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let mut nth = 0;
            while let Some(Ok((request, mut answer))) = connection.accept().await {
                nth += 1;
                if nth == 1 {
                    answer.send_reset(h2::Reason::REFUSED_STREAM);
                } else {
                    tokio::spawn(piece_by_piece(seen.clone(), request, answer));
                    connection.graceful_shutdown();
                }
            }
        }
    })
    .await;
    let world = World::start(plan(&server)).await;
    let client = Client::connect(world.vip("web")).await;
    for _ in 0..6 {
        assert_eq!(client.send(request("POST", "/").body(()).unwrap(), Some("x")).await.text(), "x");
    }
}

#[tokio::test]
async fn a_server_that_speaks_no_http_2_is_a_bad_gateway() {
    let server = Server::http("a").await;
    let world = World::start(plan(&server).with_service(|s| s.settings.server_timeout = Duration::from_secs(2))).await;
    let client = Client::connect(world.vip("web")).await;
    assert!(matches!(client.get("/").await.status, 502 | 504));
    eventually("nothing is active", || world.active("a") == 0).await;
}

/// It could not be asked at all: no stream may be opened, and nothing says that one ever may.
#[tokio::test]
async fn a_server_that_allows_no_stream_is_given_up_in_time() {
    let server = Server::each(|stream| async move {
        let mut builder = h2::server::Builder::new();
        let Ok(mut connection) = builder.max_concurrent_streams(0).handshake::<_, Bytes>(stream).await else { return };
        while connection.accept().await.is_some() {}
    })
    .await;
    let limit = Duration::from_secs(1);
    let world = World::start(plan(&server).with_service(|s| s.settings.server_timeout = limit)).await;
    let client = Client::connect(world.vip("web")).await;
    for _ in 0..3 {
        let began = std::time::Instant::now();
        assert_eq!(client.get("/").await.status, 504);
        assert!(began.elapsed() < limit * 4, "{:?}", began.elapsed());
    }
    eventually("nothing is active", || world.active("a") == 0).await;
    let snapshot = world.cell.load_full();
    let counts = snapshot.vservers[0].live.endings.counts();
    let seen: Vec<String> = counts.iter().map(|(ending, n)| format!("{ending} {n}")).collect();
    assert_eq!(seen, ["server/wait/answer_timeout 3"]);
}

/// A vserver before a server that speaks TLS; `ca` is in the configuration as `ca`.
async fn tls_world(server: &Server, ca: &Authority, edit: impl FnOnce(&mut Service)) -> World {
    let plan = Plan::default().service("a", Ssl, server.at).vserver("web", Http, &["a"]).with(|v| v.http2 = true);
    let mut model = plan.model();
    model.certificates.push(ca.certificate("ca"));
    let service = &mut model.services[0];
    let tls = service.settings.tls.as_mut().unwrap();
    tls.verify = true;
    tls.authority = Some(CertificateId::from_index(0));
    edit(service);
    World::of(model).await
}

#[tokio::test]
async fn a_server_is_spoken_to_in_tls_verified_by_the_name_of_the_request_and_its_connections_are_kept() {
    let ca = Authority::new("ca");
    let server = tls_server(ca.issue("a", &["t.test"]).server(None)).await;
    let world = tls_world(&server, &ca, |_| ()).await;
    let client = Client::connect(world.vip("web")).await;
    for _ in 0..3 {
        let answer = client.get("/").await;
        // Another handshake would say `again`, or not be there.
        assert_eq!((answer.status, answer.text().as_str()), (200, "t.test"));
    }
    assert_eq!(body(&get(world.vip("web"), "/", "").await), "t.test");
}

#[tokio::test]
async fn a_server_whose_certificate_is_not_good_gets_no_request() {
    let (ca, other) = (Authority::new("ca"), Authority::new("other"));
    for (issued, wrong) in [
        (ca.issue("a", &["other.test"]), "the name"),
        (other.issue("a", &["t.test"]), "the authority"),
        (ca.issue_until("a", &["t.test"], 2020), "the date"),
    ] {
        let server = tls_server(issued.server(None)).await;
        let world = tls_world(&server, &ca, |_| ()).await;
        let client = Client::connect(world.vip("web")).await;
        assert_eq!(client.get("/").await.status, 502, "{wrong}");
        let unverified = tls_world(&server, &ca, |s| s.settings.tls.as_mut().unwrap().verify = false).await;
        assert_eq!(Client::connect(unverified.vip("web")).await.get("/").await.status, 200, "{wrong}");
    }
}

/// P12, and a hole: without a name the engine would verify nothing.
#[tokio::test]
async fn without_a_name_the_address_is_verified() {
    let ca = Authority::new("ca");
    let request = "GET / HTTP/1.0\r\n\r\n";
    for (host, status) in [("127.0.0.1", "200"), ("t.test", "502")] {
        let server = tls_server(ca.issue("a", &[host]).server(None)).await;
        let world = tls_world(&server, &ca, |_| ()).await;
        let answer = crate::world::exchange(world.vip("web"), request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{host}: {answer}");
    }
}

#[tokio::test]
async fn an_old_version_of_tls_is_refused_where_the_service_says_so() {
    let ca = Authority::new("ca");
    let issued = ca.issue("a", &["t.test"]);
    let old = issued.server_of(&[&rustls::version::TLS12]);
    let server = tls_server(old).await;
    let world = tls_world(&server, &ca, |s| s.settings.tls.as_mut().unwrap().min_version = TlsVersion::V1_3).await;
    assert_eq!(Client::connect(world.vip("web")).await.get("/").await.status, 502);
    let world = tls_world(&server, &ca, |_| ()).await;
    assert_eq!(Client::connect(world.vip("web")).await.get("/").await.status, 200);
}

#[tokio::test]
async fn http_2_is_agreed_on_with_a_server_or_it_is_http_1() {
    let ca = Authority::new("ca");
    let seen = Seen::default();
    let mut config = (*ca.issue("a", &["t.test"]).server(None)).clone();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let (acceptor, counted) = (TlsAcceptor::from(Arc::new(config)), seen.clone());
    let server = Server::each(move |stream| {
        let (acceptor, seen) = (acceptor.clone(), counted.clone());
        async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
            speak(seen, stream).await;
        }
    })
    .await;
    let world = tls_world(&server, &ca, |s| s.settings.http2 = true).await;
    let client = Client::connect(world.vip("web")).await;
    for _ in 0..3 {
        let answer = client.send(request("POST", "/").body(()).unwrap(), Some("x")).await;
        assert_eq!((answer.status, answer.text().as_str()), (200, "x"));
    }
    assert_eq!(seen.connections.load(Ordering::SeqCst), 1);
    assert_eq!(seen.requests.lock()[0].uri.scheme_str(), Some("https"));
    // One that knows no ALPN.
    let server = tls_server(ca.issue("a", &["t.test"]).server(None)).await;
    let world = tls_world(&server, &ca, |s| s.settings.http2 = true).await;
    assert_eq!(Client::connect(world.vip("web")).await.get("/").await.text(), "t.test");
}

#[tokio::test]
async fn a_connection_carries_as_many_requests_as_the_service_says() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let server = Server::each(move |mut stream| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move {
            while read_request(&mut stream).await.is_some() {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na").await;
            }
        }
    })
    .await;
    let world = World::start(super::one(&server).with_service(|s| s.settings.max_requests = 3)).await;
    let client = Client::connect(world.vip("web")).await;
    for nth in 1..=9usize {
        assert_eq!(client.get("/").await.text(), "a");
        assert_eq!(connections.load(Ordering::SeqCst), nth.div_ceil(3), "{nth}");
    }
}

#[tokio::test]
async fn a_websocket_reaches_a_server_in_tls() {
    let ca = Authority::new("ca");
    let acceptor = TlsAcceptor::from(ca.issue("a", &["t.test"]).server(None));
    let server = Server::each(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(byte) = tokio::io::AsyncReadExt::read_u8(&mut stream).await else { return };
                head.push(byte);
            }
            let accept = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
            stream.write_all(accept).await.unwrap();
            let (mut reader, mut writer) = tokio::io::split(stream);
            let _ = tokio::io::copy(&mut reader, &mut writer).await;
        }
    })
    .await;
    let world = tls_world(&server, &ca, |s| s.settings.http2 = true).await;
    for _ in 0..30 {
        let mut client = connect(world.vip("web")).await;
        client
            .write_all(
                b"GET / HTTP/1.1\r\nHost: t.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                  Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            )
            .await
            .unwrap();
        let answer = read_answer(&mut client).await;
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
        client.write_all(b"frame").await.unwrap();
        let mut back = [0; 5];
        let echoed = tokio::io::AsyncReadExt::read_exact(&mut client, &mut back);
        tokio::time::timeout(PATIENT, echoed).await.unwrap().unwrap();
        assert_eq!(&back, b"frame");
    }
}
