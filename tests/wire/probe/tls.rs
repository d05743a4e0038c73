//! HTTPS and TCP-ECV over TLS.

use super::*;

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
