//! What answers of a vserver that speaks TLS say, and who may stand in for it.

use std::sync::Arc;
use std::time::Duration;

use bascule::dataplane::l7::Carrier;
use bascule::model::service::Protocol::{Http, Ssl};
use bascule::model::state::ServiceState;
use bascule::model::tls::Hsts;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;

use super::pki::{Authority, BOTH};
use super::{authority, tls, with_certificates};
use crate::world::{PATIENT, Plan, Server, World, body, connect};

/// The whole answer to a GET.
async fn answer(world: &World, ca: &Authority) -> String {
    let connector = TlsConnector::from(Arc::new(ca.client(BOTH)));
    let stream = connect(world.vip("web")).await;
    let mut stream = connector.connect("www.test".try_into().unwrap(), stream).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: www.test\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut read = Vec::new();
    // An end without a close is an end as well.
    let _ = tokio::time::timeout(PATIENT, stream.read_to_end(&mut read)).await.expect("no end");
    String::from_utf8_lossy(&read).into_owned()
}

#[tokio::test]
async fn clients_are_told_to_come_by_tls_alone_and_a_backup_without_tls_stands_in() {
    let (ca, first, second) = (authority(), Server::http("a").await, Server::http("b").await);
    let hsts = Hsts { max_age: Duration::from_secs(31_536_000), include_subdomains: true, preload: false };
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let plan = Plan::default()
            .service("a", Http, first.at)
            .service("b", Http, second.at)
            .vserver("spare", Http, &["b"])
            .vserver("web", Ssl, &["a"])
            .with(|vserver| tls(vserver).hsts = Some(hsts.clone()))
            .backup("spare");
        let model = with_certificates(plan.model(), &[&ca.issue("www", &["www.test"])]);
        let mut world = World::through(model, carrier).await;
        for (from, state) in [("a", ServiceState::Up), ("b", ServiceState::Down)] {
            world.state("a", state).await;
            let answer = answer(&world, &ca).await;
            assert_eq!(body(&answer), from, "{answer}");
            let lines = answer.lines().map(str::to_ascii_lowercase);
            let told: Vec<String> = lines.filter(|line| line.starts_with("strict-")).collect();
            assert_eq!(told, ["strict-transport-security: max-age=31536000; includesubdomains"], "{answer}");
        }
    }
}
