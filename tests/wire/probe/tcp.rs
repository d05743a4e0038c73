//! TCP.

use super::*;

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
    assert_verdict(&verdict, Outcome::Fail, "timed out after 500 ms, waiting for a TCP connection to 127.0.0.1:");
}
