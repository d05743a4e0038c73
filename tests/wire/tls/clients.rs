//! TLS that ends here.

use std::sync::Arc;

use bascule::model::service::Protocol::{Ssl, SslTcp};
use bascule::model::tls::{ClientAuth, TlsVersion};
use rustls::{HandshakeKind, ProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::pki::{Authority, BOTH, handshake, shown};
use super::{authority, failed, get, handshakes, tls, world};
use crate::world::{PATIENT, Server, connect, eventually};

#[tokio::test]
async fn requests_over_tls_reach_a_server_in_the_clear_in_both_versions() {
    let (ca, server) = (authority(), Server::http("a").await);
    let issued = ca.issue("www", &["www.test"]);
    let world = world(Ssl, &server, &[&issued], |_| ()).await;
    for (versions, spoken) in
        [(BOTH, ProtocolVersion::TLSv1_3), (&[&rustls::version::TLS12][..], ProtocolVersion::TLSv1_2)]
    {
        let client = Arc::new(ca.client(versions));
        let mut stream = handshake(&client, world.vip("web"), "www.test").await.unwrap();
        assert_eq!(stream.get_ref().1.protocol_version(), Some(spoken));
        assert_eq!(get(&mut stream).await, "a");
        assert_eq!(get(&mut stream).await, "a", "the connection is kept");
    }
    assert!(server.seen().contains("X-Forwarded-For: 127.0.0.1"));
    assert_eq!(handshakes(&world), (2, 0, 0));
}

#[tokio::test]
async fn the_name_that_is_asked_for_chooses_the_certificate() {
    let (ca, server) = (authority(), Server::http("a").await);
    let (first, wild, exact) = (
        ca.issue("first", &["first.test"]),
        ca.issue("wild", &["*.example.test"]),
        ca.issue("exact", &["a.example.test"]),
    );
    let mut world = world(Ssl, &server, &[&first, &wild, &exact], |_| ()).await;
    let mut config = ca.client(BOTH);
    config.enable_sni = true;
    let client = Arc::new(config);
    for (name, issued) in [("a.example.test", &exact), ("A.Example.Test", &exact), ("b.example.test", &wild)] {
        let stream = handshake(&client, world.vip("web"), name).await.unwrap();
        assert!(shown(&stream, issued), "{name}");
    }
    // Neither the parent nor two levels below it: the first, which the client does not take for this name.
    for name in ["example.test", "a.b.example.test", "other.test"] {
        let error = handshake(&client, world.vip("web"), name).await.unwrap_err();
        assert!(error.to_string().contains("not valid for name"), "{name}: {error}");
    }
    eventually("the clients' refusals are counted", || failed(&world, "refused_by_client") == 3).await;
    tls(world.vserver("web")).strict_sni = true;
    world.publish().await;
    let error = handshake(&client, world.vip("web"), "other.test").await.unwrap_err();
    assert!(error.to_string().contains("UnrecognisedName"), "{error}");
    assert!(handshake(&client, world.vip("web"), "first.test").await.is_ok());
    assert_eq!(failed(&world, "unknown_name"), 1);
}

#[tokio::test]
async fn versions_outside_the_bounds_have_nothing_in_common() {
    let (ca, server) = (authority(), Server::http("a").await);
    let issued = ca.issue("www", &["www.test"]);
    let mut world = world(Ssl, &server, &[&issued], |v| tls(v).min_version = TlsVersion::V1_3).await;
    let old = Arc::new(ca.client(&[&rustls::version::TLS12]));
    let new = Arc::new(ca.client(&[&rustls::version::TLS13]));
    assert!(handshake(&old, world.vip("web"), "www.test").await.is_err());
    assert!(handshake(&new, world.vip("web"), "www.test").await.is_ok());
    tls(world.vserver("web")).min_version = TlsVersion::V1_2;
    tls(world.vserver("web")).max_version = TlsVersion::V1_2;
    world.publish().await;
    assert!(handshake(&old, world.vip("web"), "www.test").await.is_ok());
    assert!(handshake(&new, world.vip("web"), "www.test").await.is_err());
    assert_eq!(failed(&world, "nothing_in_common"), 2);
}

#[tokio::test]
async fn client_certificates_are_asked_for_verified_and_demanded() {
    let (ca, others, server) = (authority(), Authority::new("Somebody else"), Server::http("a").await);
    let issued = ca.issue("www", &["www.test"]);
    let mut world = world(Ssl, &server, &[&issued], |_| ()).await;
    world.model.certificates.push(ca.certificate("zz-clients"));
    let authority = world.model.certificate_id("zz-clients").unwrap();
    let known = Arc::new(ca.client_as(&ca.issue("client", &["client.test"])));
    let mut stranger = ca.client_as(&others.issue("client", &["client.test"]));
    stranger.resumption = rustls::client::Resumption::disabled();
    let (stranger, nobody) = (Arc::new(stranger), Arc::new(ca.client(BOTH)));
    for (auth, with_none) in [(ClientAuth::Optional { authority }, true), (ClientAuth::Required { authority }, false)] {
        tls(world.vserver("web")).client_auth = auth;
        world.publish().await;
        for (client, welcome) in [(&known, true), (&nobody, with_none), (&stranger, false)] {
            // In TLS 1.3 a client learns of a refusal with its first read.
            let done = async {
                let mut stream = handshake(client, world.vip("web"), "www.test").await?;
                stream.write_all(b"GET / HTTP/1.1\r\nHost: www.test\r\nConnection: close\r\n\r\n").await?;
                let mut answer = Vec::new();
                stream.read_to_end(&mut answer).await.map(|_| answer)
            };
            let done = tokio::time::timeout(PATIENT, done).await.expect("neither answer nor refusal");
            assert_eq!(done.is_ok(), welcome, "{:?}", done.map(|answer| String::from_utf8_lossy(&answer).into_owned()));
        }
    }
    eventually("refusals are counted", || failed(&world, "client_certificate") == 3).await;
}

#[tokio::test]
async fn sessions_are_resumed_also_after_a_new_certificate_and_not_past_new_rules() {
    let (ca, server) = (authority(), Server::http("a").await);
    let old = ca.issue("www", &["www.test"]);
    let mut world = world(Ssl, &server, &[&old], |_| ()).await;
    for versions in [BOTH, &[&rustls::version::TLS12][..]] {
        let client = Arc::new(ca.client(versions));
        let mut open = handshake(&client, world.vip("web"), "www.test").await.unwrap();
        assert_eq!(get(&mut open).await, "a");
        let new = ca.issue("www", &["www.test"]);
        world.model.certificates[0] = new.certificate();
        world.publish().await;
        let mut again = handshake(&client, world.vip("web"), "www.test").await.unwrap();
        assert_eq!(again.get_ref().1.handshake_kind(), Some(HandshakeKind::Resumed));
        assert_eq!(get(&mut again).await, "a");
        let fresh = handshake(&Arc::new(ca.client(versions)), world.vip("web"), "www.test").await.unwrap();
        assert!(shown(&fresh, &new));
        assert_eq!(get(&mut open).await, "a", "open connections stay");
    }
    let client = Arc::new(ca.client(BOTH));
    get(&mut handshake(&client, world.vip("web"), "www.test").await.unwrap()).await;
    world.model.certificates.push(ca.certificate("zz-clients"));
    let authority = world.model.certificate_id("zz-clients").unwrap();
    tls(world.vserver("web")).client_auth = ClientAuth::Optional { authority };
    world.publish().await;
    let stream = handshake(&client, world.vip("web"), "www.test").await.unwrap();
    assert_eq!(stream.get_ref().1.handshake_kind(), Some(HandshakeKind::Full), "other rules for clients");
    tls(world.vserver("web")).resumption = false;
    world.publish().await;
    for _ in 0..2 {
        let mut stream = handshake(&client, world.vip("web"), "www.test").await.unwrap();
        assert_eq!(stream.get_ref().1.handshake_kind(), Some(HandshakeKind::Full), "resumption is off");
        get(&mut stream).await;
    }
}

#[tokio::test]
async fn what_is_no_handshake_is_answered_with_an_alert_and_counted() {
    let (ca, server) = (authority(), Server::http("a").await);
    let world = world(Ssl, &server, &[&ca.issue("www", &["www.test"])], |_| ()).await;
    let mut plain = connect(world.vip("web")).await;
    plain.write_all(b"GET / HTTP/1.1\r\nHost: www.test\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    tokio::time::timeout(PATIENT, plain.read_to_end(&mut answer)).await.unwrap().unwrap();
    assert_eq!(answer.first(), Some(&21), "an alert: {answer:?}");
    drop(connect(world.vip("web")).await);
    eventually("both are counted", || handshakes(&world).2 == 2).await;
    assert_eq!((failed(&world, "malformed"), failed(&world, "client_gone")), (1, 1));
}

#[tokio::test]
async fn any_protocol_goes_through_ssl_tcp_with_half_closes() {
    let (ca, server) = (
        authority(),
        Server::each(|mut stream| async move {
            // Answers only once its client has ended.
            let mut read = Vec::new();
            let _ = stream.read_to_end(&mut read).await;
            let _ = stream.write_all(&read).await;
        })
        .await,
    );
    let world = world(SslTcp, &server, &[&ca.issue("db", &["db.test"])], |_| ()).await;
    let stream = handshake(&Arc::new(ca.client(BOTH)), world.vip("web"), "db.test").await.unwrap();
    let sent: Vec<u8> = (0..300_000u32).map(|n| (n % 251) as u8).collect();
    let (mut reader, mut writer) = tokio::io::split(stream);
    let write = async {
        writer.write_all(&sent).await.unwrap();
        writer.shutdown().await.unwrap();
    };
    let mut got = Vec::new();
    let (_, read) = tokio::join!(write, tokio::time::timeout(PATIENT, reader.read_to_end(&mut got)));
    read.unwrap().unwrap();
    assert!(got == sent, "{} of {} bytes came back", got.len(), sent.len());
    eventually("the connection is over", || world.active("a") == 0).await;
}
