//! TLS through the data plane: to clients, to servers, and passed through.

#[path = "tls/answers.rs"]
mod answers;
#[path = "tls/bridge.rs"]
mod bridge;
#[path = "tls/clients.rs"]
mod clients;
#[path = "tls/pki.rs"]
pub mod pki;
#[path = "tls/proxy.rs"]
mod proxy;
#[path = "tls/real.rs"]
mod real;
#[path = "tls/servers.rs"]
mod servers;

use bascule::model::service::Protocol::{self, Http, Ssl, Tcp};
use bascule::model::tls::ClientTls;
use bascule::model::vserver::Vserver;
use pki::{Authority, Issued};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::world::{PATIENT, Plan, Server, World};

/// A world with these certificates, all of them bound to the vserver `web` in this order.
async fn world(
    protocol: Protocol,
    server: &Server,
    certificates: &[&Issued],
    edit: impl FnOnce(&mut Vserver),
) -> World {
    let back = if protocol == Ssl { Http } else { Tcp };
    let plan = Plan::default().service("a", back, server.at).vserver("web", protocol, &["a"]).with(edit);
    World::of(with_certificates(plan.model(), certificates)).await
}

/// The certificates, and every TLS vserver that has none bound to all of them.
fn with_certificates(mut model: bascule::model::Model, certificates: &[&Issued]) -> bascule::model::Model {
    model.certificates = certificates.iter().map(|issued| issued.certificate()).collect();
    model.certificates.sort_by(|a, b| a.name.cmp(&b.name));
    let bound: Vec<_> = certificates.iter().map(|c| model.certificate_id(&c.name).unwrap()).collect();
    for tls in model.vservers.iter_mut().filter_map(|vserver| vserver.tls.as_mut()) {
        if tls.certificates.is_empty() {
            tls.certificates.clone_from(&bound);
        }
    }
    model
}

fn tls(vserver: &mut Vserver) -> &mut ClientTls {
    vserver.tls.as_mut().unwrap()
}

/// A GET on a connection that is there; the body of the answer.
async fn get(stream: &mut TlsStream<TcpStream>) -> String {
    stream.write_all(b"GET / HTTP/1.1\r\nHost: www.test\r\n\r\n").await.unwrap();
    let mut read = Vec::new();
    let whole = async {
        while !read.windows(4).any(|w| w == b"\r\n\r\n") || read.ends_with(b"\r\n\r\n") {
            assert!(stream.read_buf(&mut read).await.unwrap() > 0, "the connection ended");
        }
    };
    tokio::time::timeout(PATIENT, whole).await.expect("no answer");
    crate::world::body(&String::from_utf8_lossy(&read)).to_owned()
}

/// Handshakes of `web` so far: full, resumed, failed.
fn handshakes(world: &World) -> (u64, u64, u64) {
    use std::sync::atomic::Ordering::Relaxed;
    let snapshot = world.cell.load_full();
    let live = &snapshot.vservers[snapshot.model.vserver_id("web").unwrap().index()].live.tls;
    let failed = live.failed_total.iter().map(|n| n.load(Relaxed)).sum();
    (live.full_total.load(Relaxed), live.resumed_total.load(Relaxed), failed)
}

/// How often handshakes of `web` failed for this reason.
fn failed(world: &World, reason: &str) -> u64 {
    let snapshot = world.cell.load_full();
    let live = &snapshot.vservers[snapshot.model.vserver_id("web").unwrap().index()].live.tls;
    let index = bascule::snapshot::live::TLS_FAILURES.iter().position(|word| *word == reason).unwrap();
    live.failed_total[index].load(std::sync::atomic::Ordering::Relaxed)
}

fn authority() -> Authority {
    Authority::new("Test authority")
}
