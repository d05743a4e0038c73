//! UDP-ECV, DNS and PING.

use super::*;

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
    Probe::Dns { target, tcp: false, query: "www.example.test".to_owned(), qtype: DnsType::A, expect }
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
        let target = Target::at(Host::Ip(ip.parse().unwrap()), 0);
        let verdict = probe(Probe::Ping { target }, PATIENT).await;
        match verdict.outcome {
            Outcome::Pass => assert_verdict(&verdict, Outcome::Pass, &format!("echo reply of {ip}")),
            // A machine without the permission, or without IPv6.
            Outcome::Void => assert!(verdict.detail.contains("permission") || verdict.detail.contains("this machine")),
            _ => assert!(ip == "::1", "{}", verdict.detail),
        }
    }
}
