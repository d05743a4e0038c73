//! Whose certificate is believed: checks, queries and triggers of a running appliance against servers over TLS whose
//! certificate is in order, signed by a stranger, made for another name, or over. The system's roots are one authority's.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::box_under_test::{Box, within};
use crate::tls::pki::{Authority, BOTH, Issued};

/// Long enough for anything, on a busy machine.
const PATIENT: Duration = Duration::from_secs(60);

/// What is said before TLS begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Https,
    Postgresql,
    Mysql,
}

const KINDS: [Kind; 3] = [Kind::Https, Kind::Postgresql, Kind::Mysql];

/// Servers of every kind with every certificate, and what they got to see behind a handshake.
struct World {
    folder: tempfile::TempDir,
    servers: Vec<(Kind, &'static str, SocketAddr)>,
    /// Handshakes of the servers that nobody should believe that came to their end.
    deceived: Arc<AtomicU32>,
}

/// The certificate by its name, and what is said of it.
const CERTIFICATES: [(&str, &str); 4] = [
    ("good", ""),
    ("stranger", "nobody whom this machine trusts has signed it"),
    ("other", "it is for other.example, and not for 127.0.0.1"),
    ("over", "it expired at 2001-12-31T00:00:00.000Z; to be renewed on the server"),
];

// === impl World ===

impl World {
    fn new() -> World {
        let trusted = Authority::new("trusted");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("roots.pem"), &trusted.pem).expect("the roots are written");
        let (served, deceived) = (Arc::default(), Arc::default());
        let mut servers = Vec::new();
        for (name, _) in CERTIFICATES {
            let issued = match name {
                "good" => trusted.issue(name, &["127.0.0.1"]),
                "stranger" => Authority::new("stranger").issue(name, &["127.0.0.1"]),
                "other" => trusted.issue(name, &["other.example"]),
                _ => trusted.issue_until(name, &["127.0.0.1"], 2001),
            };
            let counter: &Arc<AtomicU32> = if name == "good" { &served } else { &deceived };
            servers.extend(KINDS.map(|kind| (kind, name, serve(kind, &issued, Arc::clone(counter)))));
        }
        World { folder, servers, deceived }
    }

    fn start(&self, config: &str) -> Box {
        let roots = self.folder.path().join("roots.pem");
        let secret = self.folder.path().join("secret");
        std::fs::write(&secret, "secret\n").expect("the secret is written");
        let config = config.replace("SECRET", &secret.display().to_string());
        Box::start_with_environment(&[("SSL_CERT_FILE", &roots.display().to_string())], &config)
    }

    fn at(&self, kind: Kind, certificate: &str) -> SocketAddr {
        let found = self.servers.iter().find(|(k, name, _)| *k == kind && *name == certificate);
        found.expect("there is one of each").2
    }

    /// Nobody said anything to a server that is not what it should be.
    fn assert_nobody_was_deceived(&self) {
        assert_eq!(self.deceived.load(Ordering::SeqCst), 0);
    }
}

fn serve(kind: Kind, issued: &Issued, finished: Arc<AtomicU32>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let config = issued.server_of(BOTH);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (config, finished) = (Arc::clone(&config), Arc::clone(&finished));
            std::thread::spawn(move || {
                let _ = converse(kind, stream, config, &finished);
            });
        }
    });
    address
}

fn converse(
    kind: Kind,
    mut stream: TcpStream,
    config: Arc<rustls::ServerConfig>,
    finished: &AtomicU32,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    match kind {
        Kind::Https => {}
        Kind::Postgresql => {
            stream.read_exact(&mut [0; 8])?;
            stream.write_all(b"S")?;
        }
        Kind::Mysql => {
            stream.write_all(&greeting())?;
            stream.read_exact(&mut [0; 36])?;
        }
    }
    let session = rustls::ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut tls = rustls::StreamOwned::new(session, stream);
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if tls.read(&mut byte)? == 0 {
            return Ok(());
        }
        // The first byte behind the handshake.
        if head.is_empty() {
            finished.fetch_add(1, Ordering::SeqCst);
        }
        head.push(byte[0]);
        if kind != Kind::Https {
            return Ok(());
        }
    }
    tls.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\naccepted")?;
    tls.flush()
}

/// Of a server that speaks TLS.
fn greeting() -> Vec<u8> {
    let mut body = vec![10];
    body.extend(b"8.4.0\0");
    body.extend([1, 0, 0, 0]);
    body.extend(b"abcdefgh\0");
    body.extend([0xff, 0xff, 45, 2, 0, 0xff, 0xdf, 21]);
    body.extend([0; 10]);
    body.extend(b"ijklmnopqrst\0caching_sha2_password\0");
    let mut packet = vec![u8::try_from(body.len()).expect("a short greeting"), 0, 0, 0];
    packet.extend(body);
    packet
}

#[test]
fn a_check_over_tls_believes_only_who_is_vouched_for_by_this_name_now_and_says_whose_fault_it_is() {
    let world = World::new();
    let mut config = String::from("[defaults.check]\ninterval = \"30s\"\ntimeout = \"20s\"\nrise = 1\nfall = 1\n");
    for (kind, name, at) in &world.servers {
        let check = format!("{kind:?}-{name}");
        config += &match kind {
            Kind::Https => format!("[check.{check}]\ntype = \"HTTPS\"\nurl = \"https://{at}/\"\n"),
            Kind::Postgresql => format!("[check.{check}]\ntype = \"POSTGRESQL\"\naddress = \"{at}\"\ntls = true\n"),
            Kind::Mysql => format!("[check.{check}]\ntype = \"MYSQL\"\naddress = \"{at}\"\ntls = true\n"),
        };
    }
    let box_ = world.start(&config);
    for (kind, (name, words)) in KINDS.into_iter().flat_map(|kind| CERTIFICATES.map(|certificate| (kind, certificate)))
    {
        let path = format!("/checks/{kind:?}-{name}");
        within(PATIENT, &path, || box_.get(&path)["last_result"].is_string());
        let check = box_.get(&path);
        let error = check["last_error"].as_str().unwrap_or_default();
        assert_eq!(check["state"], if words.is_empty() { "up" } else { "down" }, "{check}");
        assert!(error.contains(words), "{check}");
    }
    world.assert_nobody_was_deceived();
}

#[test]
fn a_trigger_is_not_told_to_a_server_that_nobody_vouches_for_and_says_whose_fault_it_is() {
    let world = World::new();
    let mut config = String::new();
    for (kind, name, at) in &world.servers {
        let (word, more) = match kind {
            Kind::Https => {
                ("HTTPS", format!("uri = \"https://{at}/incident\"\nexpect_body = {{ contains = \"accepted\" }}"))
            }
            Kind::Postgresql | Kind::Mysql => (
                if *kind == Kind::Mysql { "MYSQL" } else { "POSTGRESQL" },
                format!(
                    "dsn = \"tcps://{at}/shop\"\nuser = \"bascule\"\npassword = {{ file = \"SECRET\" }}\n\
                     sql = \"insert into deeds values (:seq)\""
                ),
            ),
        };
        let trigger = format!("{kind:?}-{name}");
        config +=
            &format!("[trigger.{trigger}]\ntype = \"{word}\"\n{more}\nretry = {{ attempts = 1 }}\ntimeout = \"20s\"\n");
    }
    let box_ = world.start(&config);
    for (kind, (name, words)) in KINDS.into_iter().flat_map(|kind| CERTIFICATES.map(|certificate| (kind, certificate)))
    {
        // A database of these speaks no further than TLS.
        if name == "good" && kind != Kind::Https {
            continue;
        }
        let trigger = format!("{kind:?}-{name}");
        let (status, answer) = box_.send("POST", &format!("/triggers/{trigger}/test"), "{}");
        assert!(status < 300, "{answer}");
        let path = format!("/triggers/{trigger}");
        let is_over = |shown: &serde_json::Value| shown["delivered"] == 1 || shown["failed_attempts"] == 1;
        within(PATIENT, &path, || is_over(&box_.get(&path)));
        let shown = box_.get(&path);
        assert_eq!(shown["delivered"], u64::from(words.is_empty()), "{shown}");
        assert!(shown["last_error"].as_str().unwrap_or_default().contains(words), "{shown}");
    }
    world.assert_nobody_was_deceived();
}

#[test]
fn a_guard_cannot_tell_what_a_server_says_that_nobody_vouches_for_and_says_whose_fault_it_is() {
    let world = World::new();
    let mut config = String::from("[switch.go]\n");
    let mut queries = Vec::new();
    for (name, words) in CERTIFICATES.into_iter().skip(1) {
        for kind in [Kind::Https, Kind::Postgresql] {
            let at = world.at(kind, name);
            let query = format!("{kind:?}-{name}");
            config += &match kind {
                Kind::Https => format!("[query.{query}]\ntype = \"HTTPS\"\nuri = \"https://{at}/lag\"\n"),
                _ => format!(
                    "[query.{query}]\ntype = \"POSTGRESQL\"\ndsn = \"tcps://{at}/shop\"\nuser = \"bascule\"\n\
                     password = {{ file = \"SECRET\" }}\nsql = \"select 1\"\nexpect = \"= 1\"\n"
                ),
            };
            config += &format!(
                "timeout = \"20s\"\n[scenario.{query}.activate]\nwhen = [[\"sw:go\"]]\nguard = {{ run = [\"{query}\"], \
                 on_timeout = \"block\", deadline = \"60s\", timeout = \"20s\", retries = 0 }}\n\
                 [scenario.{query}.deactivate]\nwhen = [[\"sw:go!\"]]\n"
            );
            queries.push((query, words));
        }
    }
    let box_ = world.start(&config);
    box_.act("PUT", "/switches/go", r#"{"value": true}"#);
    for (query, words) in queries {
        let path = format!("/queries/{query}");
        within(PATIENT, &path, || box_.get(&path)["undecided"].as_u64() > Some(0));
        let shown = box_.get(&path);
        assert!(shown["last"].as_str().unwrap_or_default().contains(words), "{shown}");
        assert_ne!(box_.get(&format!("/scenarios/{query}"))["state"], "active");
    }
    world.assert_nobody_was_deceived();
}
