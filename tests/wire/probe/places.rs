//! Several targets of one check, and the address that probes leave from.

use super::*;

fn several(targets: &[Target], quorum: u32) -> Probe {
    let probes: Vec<Probe> = targets.iter().map(|target| Probe::Tcp { target: target.clone() }).collect();
    Probe::Several { probes: probes.into(), quorum }
}

fn from(target: Target, source: &str) -> Target {
    Target { source: Some(source.parse().unwrap()), ..target }
}

#[tokio::test]
async fn a_check_with_several_targets_passes_with_its_quorum_and_names_who_is_missing() {
    let targets = [silent().await, dead(), silent().await];
    let verdict = probe(several(&targets, 2), PATIENT).await;
    assert_verdict(&verdict, Outcome::Pass, "2 of 3 targets passed, 2 needed");
    assert_verdict(&verdict, Outcome::Pass, &format!("connection to {}: connection refused", targets[1]));
    let each: Vec<Outcome> = verdict.targets.unwrap().iter().map(|result| result.outcome).collect();
    assert_eq!(each, [Outcome::Pass, Outcome::Fail, Outcome::Pass]);
    let verdict = probe(several(&targets, 3), PATIENT).await;
    assert_verdict(&verdict, Outcome::Fail, "2 of 3 targets passed, 3 needed");
}

#[tokio::test]
async fn several_targets_are_asked_at_once_and_all_within_one_time_out() {
    let hanging = |target| Probe::Http {
        target,
        tls: None,
        request: HttpRequest { method: "GET".into(), path: "/".into(), host: None, headers: vec![], body: vec![] },
        expect: expect_200(),
    };
    let mut probes: Vec<Probe> = Vec::new();
    for _ in 0..8 {
        probes.push(hanging(silent().await));
    }
    let begun = Instant::now();
    let verdict = probe(Probe::Several { probes: probes.into(), quorum: 1 }, Duration::from_secs(2)).await;
    assert_verdict(&verdict, Outcome::Fail, "0 of 8 targets passed");
    assert!(begun.elapsed() < Duration::from_secs(16), "eight time-outs in a row take as long");
}

#[tokio::test]
async fn a_probe_leaves_from_its_source_whatever_it_runs_over() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = from(Target::new(listener.local_addr().unwrap()), "127.0.0.9");
    let seen = tokio::spawn(async move { listener.accept().await.unwrap().1.ip() });
    assert_verdict(&probe(Probe::Tcp { target }, PATIENT).await, Outcome::Pass, "accepted");
    assert_eq!(seen.await.unwrap(), IpAddr::from([127, 0, 0, 9]));

    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let target = from(Target::new(socket.local_addr().unwrap()), "127.0.0.9");
    let seen = tokio::spawn(async move {
        let (_, peer) = socket.recv_from(&mut [0; 16]).await.unwrap();
        socket.send_to(b"pong", peer).await.unwrap();
        peer.ip()
    });
    let udp = Probe::UdpEcv { target, send: b"ping".to_vec(), receive: b"pong".to_vec() };
    assert_verdict(&probe(udp, PATIENT).await, Outcome::Pass, "answered 4 bytes");
    assert_eq!(seen.await.unwrap(), IpAddr::from([127, 0, 0, 9]));
}

#[tokio::test]
async fn a_source_that_is_not_of_this_machine_says_nothing_about_the_peer() {
    let target = from(silent().await, "192.0.2.77");
    let verdict = probe(Probe::Tcp { target }, PATIENT).await;
    assert_verdict(&verdict, Outcome::Void, "the source address 192.0.2.77 is not one of this machine");
    let ping = Probe::Ping { target: from(Target::at(Host::Ip([127, 0, 0, 1].into()), 0), "192.0.2.77") };
    let verdict = probe(ping, PATIENT).await;
    assert_eq!(verdict.outcome, Outcome::Void, "{}", verdict.detail);
}

#[tokio::test]
async fn a_name_is_reached_by_the_family_of_the_source() {
    let target = from(Target::at(Host::Name("localhost".into()), silent().await.port), "127.0.0.9");
    assert_verdict(&probe(Probe::Tcp { target }, PATIENT).await, Outcome::Pass, "127.0.0.1:");
}
