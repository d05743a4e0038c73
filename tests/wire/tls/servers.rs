//! TLS to servers.

use std::sync::Arc;

use bascule::model::service::Protocol::{Http, Ssl, SslTcp, Tcp};
use bascule::model::service::Service;
use bascule::model::tls::ServerTls;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::authority;
use super::pki::{Authority, BOTH, Issued, handshake, tls_server};
use crate::world::{PATIENT, Plan, Server, World, body, connect, exchange, get};

/// A TCP vserver before one server that speaks TLS; `ca` is in the configuration as `ca`, and `own` as `own`.
async fn world(server: &Server, ca: &Authority, own: Option<&Issued>, edit: impl FnOnce(&mut ServerTls)) -> World {
    let plan = Plan::default().service("a", SslTcp, server.at).vserver("db", Tcp, &["a"]);
    let mut model = plan.model();
    model.certificates.push(ca.certificate("ca"));
    model.certificates.extend(own.map(Issued::certificate));
    let service: &mut Service = &mut model.services[0];
    edit(service.settings.tls.as_mut().unwrap());
    World::of(model).await
}

/// What the server says through the VIP: the name it was asked for. `None`: the connection came to nothing.
async fn asked(world: &World) -> Option<String> {
    let mut stream: TcpStream = connect(world.vip("db")).await;
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.ok()?;
    let mut read = vec![0; 1024];
    let length = tokio::time::timeout(PATIENT, stream.read(&mut read)).await.expect("no answer").ok()?;
    (length > 0).then(|| crate::world::body(&String::from_utf8_lossy(&read[..length])).to_owned())
}

fn verified_by_ca(tls: &mut ServerTls, world_ca: usize, name: &str) {
    tls.verify = true;
    tls.authority = Some(bascule::model::id::CertificateId::from_index(world_ca));
    tls.server_name = Some(name.into());
}

#[tokio::test]
async fn a_server_is_spoken_to_in_tls_and_its_sessions_are_resumed() {
    let ca = authority();
    let server = tls_server(ca.issue("db", &["db.test"]).server(None)).await;
    let world = world(&server, &ca, None, |tls| verified_by_ca(tls, 0, "db.test")).await;
    assert_eq!(asked(&world).await.as_deref(), Some("db.test"));
    assert_eq!(asked(&world).await.as_deref(), Some("db.test again"));
}

#[tokio::test]
async fn without_verification_any_certificate_will_do_and_an_address_is_not_sent_as_a_name() {
    let (ca, others) = (authority(), Authority::new("Somebody else"));
    let server = tls_server(others.issue("db", &["other.test"]).server(None)).await;
    let world = world(&server, &ca, None, |_| ()).await;
    assert_eq!(asked(&world).await.as_deref(), Some("-"));
}

#[tokio::test]
async fn a_server_with_the_wrong_name_authority_or_date_is_not_reached() {
    let (ca, others) = (authority(), Authority::new("Somebody else"));
    for (issued, wrong) in [
        (ca.issue("db", &["other.test"]), "the name"),
        (others.issue("db", &["db.test"]), "the authority"),
        (ca.issue_until("db", &["db.test"], 2020), "the date"),
    ] {
        let server = tls_server(issued.server(None)).await;
        let world = world(&server, &ca, None, |tls| verified_by_ca(tls, 0, "db.test")).await;
        assert_eq!(asked(&world).await, None, "{wrong}");
        let snapshot = world.cell.load_full();
        let failures = &snapshot.services[world.service_id("a").index()].live.connect_failures_total;
        assert_eq!(failures.load(std::sync::atomic::Ordering::Relaxed), 1, "{wrong}");
    }
}

#[tokio::test]
async fn a_self_signed_certificate_is_good_where_it_is_listed_itself_and_for_its_name_and_dates_alone() {
    let own = super::pki::self_signed("db", &["db.test"], 4096);
    let late = super::pki::self_signed("db", &["db.test"], 2020);
    let other = super::pki::self_signed("db", &["db.test"], 4096);
    for (shown, listed, name, good) in [
        (&own, &own, "db.test", true),
        (&own, &own, "other.test", false),
        (&late, &late, "db.test", false),
        (&own, &other, "db.test", false),
    ] {
        let server = tls_server(shown.server(None)).await;
        let plan = Plan::default().service("a", SslTcp, server.at).vserver("db", Tcp, &["a"]);
        let mut model = plan.model();
        model.certificates.push(bascule::model::tls::Certificate { key: None, ..listed.certificate() });
        verified_by_ca(model.services[0].settings.tls.as_mut().unwrap(), 0, name);
        let world = World::of(model).await;
        assert_eq!(asked(&world).await.is_some(), good, "{name}");
        let snapshot = world.cell.load_full();
        let why = snapshot.services[0].live.connect_failed.lock().clone();
        assert_eq!(why.is_none(), good, "{why:?}");
        assert!(why.is_none_or(|(_, why)| why.starts_with("TLS as ")), "the reason is kept");
    }
}

#[tokio::test]
async fn a_server_that_wants_a_certificate_gets_ours() {
    let ca = authority();
    let server = tls_server(ca.issue("db", &["db.test"]).server(Some(&ca))).await;
    let own = ca.issue("own", &["bascule.test"]);
    let shows = world(&server, &ca, Some(&own), |tls| {
        verified_by_ca(tls, 0, "db.test");
        tls.certificate = Some(bascule::model::id::CertificateId::from_index(1));
    })
    .await;
    assert_eq!(asked(&shows).await.as_deref(), Some("db.test"));
    let without = world(&server, &ca, None, |tls| verified_by_ca(tls, 0, "db.test")).await;
    assert_eq!(asked(&without).await, None);
}

/// An HTTP vserver before one server that speaks TLS.
async fn http_world(server: &Server, ca: &Authority, edit: impl FnOnce(&mut ServerTls)) -> World {
    let plan = Plan::default().service("a", Ssl, server.at).vserver("web", Http, &["a"]);
    let mut model = plan.model();
    model.certificates.push(ca.certificate("ca"));
    edit(model.services[0].settings.tls.as_mut().unwrap());
    World::of(model).await
}

#[tokio::test]
async fn requests_go_to_a_server_in_tls_and_name_it_by_their_host() {
    let ca = authority();
    let server = tls_server(ca.issue("www", &["a.test", "b.test"]).server(None)).await;
    let world = http_world(&server, &ca, |tls| {
        tls.verify = true;
        tls.authority = Some(bascule::model::id::CertificateId::from_index(0));
    })
    .await;
    for host in ["a.test", "b.test", "a.test"] {
        let request = format!("GET / HTTP/1.1\r\nHost: {host}:80\r\nConnection: close\r\n\r\n");
        let answer = exchange(world.vip("web"), &request).await;
        // A kept connection was made for this name too.
        assert!(body(&answer).starts_with(host), "{answer}");
    }
    let wrong = exchange(world.vip("web"), "GET / HTTP/1.1\r\nHost: c.test\r\nConnection: close\r\n\r\n").await;
    assert!(wrong.starts_with("HTTP/1.1 502"), "{wrong}");
}

#[tokio::test]
async fn a_kept_connection_is_not_used_once_it_would_be_made_in_another_way() {
    let ca = authority();
    let server = tls_server(ca.issue("www", &["other.test"]).server(None)).await;
    let mut world = http_world(&server, &ca, |_| ()).await;
    assert!(body(&get(world.vip("web"), "/", "").await).starts_with("t.test"));
    let tls = world.model.services[0].settings.tls.as_mut().unwrap();
    verified_by_ca(tls, 0, "db.test");
    world.publish().await;
    assert!(get(world.vip("web"), "/", "").await.starts_with("HTTP/1.1 502"), "the certificate is not for db.test");
}

#[tokio::test]
async fn tls_goes_in_and_tls_goes_out() {
    let ca = authority();
    let server = tls_server(ca.issue("db", &["db.test"]).server(None)).await;
    let front = ca.issue("front", &["front.test"]);
    let plan = Plan::default().service("a", SslTcp, server.at).vserver("web", SslTcp, &["a"]);
    let world = World::of(super::with_certificates(plan.model(), &[&front])).await;
    let mut stream = handshake(&Arc::new(ca.client(BOTH)), world.vip("web"), "front.test").await.unwrap();
    assert_eq!(super::get(&mut stream).await, "-");
}
