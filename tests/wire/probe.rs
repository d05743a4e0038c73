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

#[path = "probe/dialogue.rs"]
mod dialogue;
#[path = "probe/ecv.rs"]
mod ecv;
#[path = "probe/h2.rs"]
mod h2;
#[path = "probe/http.rs"]
mod http;
#[path = "probe/load.rs"]
mod load;
#[path = "probe/places.rs"]
mod places;
#[path = "probe/real.rs"]
mod real;
#[path = "probe/runner.rs"]
mod runner;
#[path = "probe/tcp.rs"]
mod tcp;
#[path = "probe/thresholds.rs"]
mod thresholds;
#[path = "probe/tls.rs"]
mod tls;
#[path = "probe/udp.rs"]
mod udp;
#[path = "probe/user.rs"]
mod user;

/// Long enough for any answer that comes at all, on a busy machine.
const PATIENT: Duration = Duration::from_secs(20);

/// For peers that never answer.
const SHORT: Duration = Duration::from_millis(500);

fn check(probe: Probe, timeout: Duration) -> Check {
    let schedule = Schedule { interval: timeout * 2, timeout, rise: 1, fall: 1, ..Schedule::default() };
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
