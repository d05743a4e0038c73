//! Certificates of a running appliance are replaced under its clients.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::box_under_test::{Backend, Box, http, within};
use crate::tls::pki::{Authority, BOTH, Issued};

/// Requests in all; `BASCULE_REQUESTS` says otherwise.
const REQUESTS: usize = 2_000;
const CLIENTS: usize = 4;
/// Requests on one connection.
const KEPT: usize = 10;

pub type Client = StreamOwned<ClientConnection, TcpStream>;

pub fn install(folder: &Path, issued: &Issued) {
    for (name, text) in [("www.key", &issued.key), ("www.pem", &issued.chain)] {
        // As certificate managers do: beside it, then in its place.
        std::fs::write(folder.join("new"), text).unwrap();
        std::fs::rename(folder.join("new"), folder.join(name)).unwrap();
    }
}

pub fn connect(to: SocketAddr, config: &Arc<ClientConfig>) -> std::io::Result<Client> {
    let socket = TcpStream::connect(to)?;
    socket.set_read_timeout(Some(Duration::from_secs(20)))?;
    let connection = ClientConnection::new(Arc::clone(config), "www.test".try_into().unwrap()).unwrap();
    Ok(StreamOwned::new(connection, socket))
}

/// A GET on a connection that is kept; the status.
pub fn get(client: &mut Client) -> std::io::Result<u16> {
    client.write_all(b"GET / HTTP/1.1\r\nHost: www.test\r\n\r\n")?;
    let mut read = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let length = client.read(&mut piece)?;
        if length == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        read.extend_from_slice(&piece[..length]);
        let text = String::from_utf8_lossy(&read);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.to_ascii_lowercase().split_once("content-length: ").map(|(_, rest)| rest.to_owned());
        let length: usize = length.and_then(|rest| rest.split("\r\n").next()?.parse().ok()).unwrap_or(0);
        if body.len() >= length {
            return Ok(head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0));
        }
    }
}

pub fn serial(client: &Client) -> Vec<u8> {
    client.conn.peer_certificates().unwrap()[0].to_vec()
}

#[test]
fn no_request_fails_while_the_certificate_is_replaced() {
    let ca = Authority::new("Test authority");
    let certs = tempfile::tempdir().unwrap();
    let backend = Backend::start("a");
    install(certs.path(), &ca.issue("www", &["www.test"]));
    let appliance = Box::start(&format!(
        r#"
        [service.a]
        type = "HTTP"
        address = "{}"
        [certificate.www]
        certificate = "{folder}/www.pem"
        key = "{folder}/www.key"
        [vserver.web]
        type = "SSL"
        address = "127.0.0.1:0"
        services = ["a"]
        certificates = ["www"]
        "#,
        backend.address,
        folder = certs.path().display()
    ));
    appliance.expect_service("a", "UP", Duration::from_secs(10));
    let vip = appliance.vip("web");
    let requests: usize = std::env::var("BASCULE_REQUESTS").ok().and_then(|n| n.parse().ok()).unwrap_or(REQUESTS);
    let (done, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut open = connect(vip, &Arc::new(ca.client(BOTH))).unwrap();
    assert_eq!(get(&mut open).unwrap(), 200);
    let before = serial(&open);
    std::thread::scope(|scope| {
        // However this ends, the clients do.
        let _over = super::steady::Raised(&over);
        for number in 0..CLIENTS {
            let (done, over, ca) = (&done, &over, &ca);
            scope.spawn(move || {
                // Two that resume their sessions, two that do not.
                let mut config = ca.client(BOTH);
                if number % 2 == 0 {
                    config.resumption = rustls::client::Resumption::disabled();
                }
                let config = Arc::new(config);
                while !over.load(Ordering::Relaxed) {
                    let mut client = connect(vip, &config).expect("a connection");
                    for _ in 0..KEPT {
                        assert_eq!(get(&mut client).expect("an answer"), 200);
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        let so_far = || done.load(Ordering::Relaxed);
        for replaced in 1..=4 {
            within(Duration::from_secs(60), "a fifth of the requests", || so_far() >= requests * replaced / 5);
            install(certs.path(), &ca.issue("www", &["www.test"]));
            appliance.act("POST", "/config/reload", "");
            let fresh = {
                let mut client = connect(vip, &Arc::new(ca.client(BOTH))).unwrap();
                assert_eq!(get(&mut client).unwrap(), 200);
                serial(&client)
            };
            assert_ne!(fresh, before, "the next handshake sees the new one");
        }
        within(Duration::from_secs(60), "all requests", || so_far() >= requests);
        over.store(true, Ordering::Relaxed);
    });
    assert_eq!(get(&mut open).unwrap(), 200, "a connection of before stays");
    assert!(done.load(Ordering::Relaxed) >= requests);

    // A certificate that does not fit its key changes nothing.
    std::fs::write(certs.path().join("www.key"), ca.issue("www", &["www.test"]).key).unwrap();
    let (status, answer) = appliance.send("POST", "/config/reload", "");
    assert_eq!(status, 422, "{answer}");
    assert!(answer.to_string().contains("is not the key of the certificate"), "{answer}");
    assert_eq!(get(&mut connect(vip, &Arc::new(ca.client(BOTH))).unwrap()).unwrap(), 200);

    let listed = appliance.get("/certificates/www");
    assert_eq!(listed["names"], serde_json::json!(["www.test"]));
    assert_eq!(listed["used_by"], serde_json::json!(["vserver web"]));
    let metrics = http(appliance.admin, "GET", "/metrics", "", &[]).unwrap().body;
    assert!(metrics.contains("bascule_certificate_expires_seconds{certificate=\"www\"}"), "{metrics}");
    assert!(metrics.contains("bascule_vserver_tls_handshakes_total{vserver=\"web\",kind=\"resumed\"}"), "{metrics}");

    // The key is nowhere but in its file.
    let secret = std::fs::read_to_string(certs.path().join("www.key")).unwrap();
    let secret = secret.lines().nth(1).unwrap();
    for file in files_below(appliance.dir.path()) {
        let kept = std::fs::read(&file).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&kept).contains(secret), "{}", file.display());
    }
    assert!(!appliance.get("/certificates").to_string().contains("PRIVATE"));
}

fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found
}
