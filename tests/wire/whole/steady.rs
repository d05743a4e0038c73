//! Requests without end, plain and over TLS, on connections that are kept, while what serves them is changed.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::box_under_test::{Backend, Box, within};
use super::certificates::{connect, install};
use crate::tls::pki::{Authority, BOTH};

/// Requests during each change; `BASCULE_REQUESTS` says otherwise.
const REQUESTS: usize = 10_000;
/// Half of them plain, half of them over TLS.
const CLIENTS: usize = 8;
/// Requests on one connection, where the appliance does not end it before.
const KEPT: usize = 50;
const RELOADS: usize = 50;
const PATIENT: Duration = Duration::from_secs(60);

trait Stream: Read + Write {}
impl<S: Read + Write> Stream for S {}

#[derive(Default)]
struct Load {
    done: AtomicUsize,
    failed: Mutex<Vec<String>>,
    over: AtomicBool,
}

/// How far the requests of one change have come.
struct Progress<'a> {
    load: &'a Load,
    begun: usize,
    wanted: usize,
}

// === impl Load ===

impl Load {
    /// One client: a connection after the other, until all is over.
    fn run(&self, open: impl Fn() -> std::io::Result<std::boxed::Box<dyn Stream>>) {
        while !self.over.load(Ordering::Relaxed) {
            match open().and_then(|mut stream| self.converse(&mut *stream)) {
                Ok(()) => {}
                Err(error) => self.failed.lock().push(error.to_string()),
            }
        }
    }

    fn converse(&self, stream: &mut dyn Stream) -> std::io::Result<()> {
        for nth in 0..KEPT {
            // Every fourth must not be sent twice.
            let request = if nth % 4 == 3 { "POST /heal" } else { "GET /" };
            let length = if nth % 4 == 3 { "Content-Length: 0\r\n" } else { "" };
            stream.write_all(format!("{request} HTTP/1.1\r\nHost: www.test\r\n{length}\r\n").as_bytes())?;
            let head = answer(stream)?;
            self.done.fetch_add(1, Ordering::Relaxed);
            if !head.starts_with("HTTP/1.1 200 ") {
                return Err(std::io::Error::other(format!("{request}: {head}")));
            }
            if head.to_ascii_lowercase().contains("\r\nconnection: close") || self.over.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Makes `change` under so many requests; the failures among them.
    fn during(&self, wanted: usize, change: impl FnOnce(&Progress)) -> Vec<String> {
        let progress = Progress { load: self, begun: self.done.load(Ordering::Relaxed), wanted };
        change(&progress);
        progress.until(100);
        std::mem::take(&mut self.failed.lock())
    }
}

// === impl Progress ===

impl Progress<'_> {
    /// Waits until so many percent of the requests are done.
    fn until(&self, percent: usize) {
        let done = || self.load.done.load(Ordering::Relaxed) - self.begun;
        within(PATIENT, "the requests go on", || done() >= self.wanted * percent / 100);
    }
}

/// The head of an answer whose body has been read.
fn answer(stream: &mut dyn Stream) -> std::io::Result<String> {
    let (mut read, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let length = stream.read(&mut piece)?;
        if length == 0 {
            return Err(std::io::Error::other(format!("cut off after {:?}", String::from_utf8_lossy(&read))));
        }
        read.extend_from_slice(&piece[..length]);
        let text = String::from_utf8_lossy(&read);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let lower = head.to_ascii_lowercase();
        let length = lower.split_once("content-length: ").and_then(|(_, rest)| rest.split("\r\n").next()?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            return Ok(head.to_owned());
        }
    }
}

struct Stage {
    backends: [Backend; 3],
    ca: Authority,
    certs: tempfile::TempDir,
}

impl Stage {
    fn new() -> Stage {
        let stage = Stage {
            backends: ["a", "b", "c"].map(Backend::start),
            ca: Authority::new("Test authority"),
            certs: tempfile::tempdir().expect("a folder"),
        };
        stage.new_certificate();
        stage
    }

    fn new_certificate(&self) {
        install(self.certs.path(), &self.ca.issue("www", &["www.test"]));
    }

    /// With all of the members, or without the last; by one method or another. What the last one has begun may finish.
    fn config(&self, variant: usize) -> String {
        let [a, b, c] = self.backends.each_ref().map(|backend| backend.address);
        let (last, members) = match variant % 2 {
            0 => (format!("[service.c]\naddress = \"{c}\"\ndown_state_flush = false\n"), r#"["a", "b", "c"]"#),
            _ => (String::new(), r#"["a", "b"]"#),
        };
        let method = ["ROUNDROBIN", "LEASTCONNECTION", "LEASTRESPONSETIME"][variant % 3];
        format!(
            r#"
            [log]
            access = "access.log"
            [monitor.ok]
            type = "HTTP"
            request = "GET /health"
            interval = "2s"
            response_timeout = "1900ms"
            retries = 2
            down_time = "200ms"
            [defaults.service]
            type = "HTTP"
            monitors = ["ok"]
            [service.a]
            address = "{a}"
            [service.b]
            address = "{b}"
            {last}
            [certificate.www]
            certificate = "{folder}/www.pem"
            key = "{folder}/www.key"
            [defaults.vserver]
            lb_method = "{method}"
            [vserver.plain]
            type = "HTTP"
            address = "127.0.0.1:0"
            services = {members}
            [vserver.tls]
            type = "SSL"
            address = "127.0.0.1:0"
            services = {members}
            certificates = ["www"]
            "#,
            folder = self.certs.path().display()
        )
    }
}

#[test]
fn ten_thousand_requests_during_each_change_fail_only_where_they_were_under_way_on_a_member_that_was_killed() {
    let wanted = std::env::var("BASCULE_REQUESTS").ok().and_then(|n| n.parse().ok()).unwrap_or(REQUESTS);
    let mut stage = Stage::new();
    let box_ = Box::start(&stage.config(0));
    for service in ["a", "b", "c"] {
        box_.expect_service(service, "UP", PATIENT);
    }
    let (plain, tls, load) = (box_.vip("plain"), box_.vip("tls"), Load::default());
    std::thread::scope(|scope| {
        // However this ends, the clients do.
        let _over = Raised(&load.over);
        for client in 0..CLIENTS {
            let (load, config) = (&load, Arc::new(stage.ca.client(BOTH)));
            scope.spawn(move || {
                load.run(|| {
                    if client % 2 == 0 {
                        let stream = TcpStream::connect(plain)?;
                        stream.set_read_timeout(Some(PATIENT))?;
                        return Ok(std::boxed::Box::new(stream));
                    }
                    Ok(std::boxed::Box::new(connect(tls, &config)?))
                });
            });
        }
        for (how, act) in [("with a delay", r#"{"delay": "1s"}"#), ("gracefully", r#"{"graceful": true}"#)] {
            let failed = load.during(wanted, |progress| {
                progress.until(10);
                box_.act("POST", "/services/a/disable", act);
                box_.expect_service("a", "OFS", PATIENT);
                progress.until(60);
                box_.act("POST", "/services/a/enable", "");
                box_.expect_service("a", "UP", PATIENT);
            });
            assert_eq!(failed, [""; 0], "drained {how}");
        }
        let failed = load.during(wanted, |progress| {
            for replaced in 1..=4 {
                progress.until(20 * replaced);
                stage.new_certificate();
                box_.act("POST", "/config/reload", "");
            }
        });
        assert_eq!(failed, [""; 0], "the certificate replaced");
        let failed = load.during(wanted, |progress| {
            for reload in 1..=RELOADS {
                progress.until(100 * reload / (RELOADS + 1));
                std::fs::write(box_.path("new.toml"), stage.config(reload)).expect("it is written");
                std::fs::rename(box_.path("new.toml"), box_.path("box.toml")).expect("it is in its place");
                box_.act("POST", "/config/reload", "");
            }
        });
        assert_eq!(failed, [""; 0], "{RELOADS} reloads");
        box_.expect_service("c", "UP", PATIENT);
        let before = std::fs::read_to_string(box_.path("access.log")).expect("the log").len();
        let failed = load.during(wanted, |progress| {
            progress.until(20);
            stage.backends[1].kill();
            box_.expect_service("b", "DOWN", PATIENT);
            progress.until(60);
            stage.backends[1].start_again();
            box_.expect_service("b", "UP", PATIENT);
        });
        let log = std::fs::read_to_string(box_.path("access.log")).expect("the log").split_off(before);
        let elsewhere = log.lines().filter(|line| !line.contains("reason=done") && !line.contains("service=b "));
        // An end between two requests is none of a request.
        let elsewhere: Vec<&str> = elsewhere.filter(|line| line.contains("method=")).collect();
        assert!(elsewhere.is_empty(), "{elsewhere:?}");
        println!("killed: {} of {wanted} failed: {failed:?}", failed.len());
        assert!(failed.len() <= CLIENTS, "more than were under way: {failed:?}");
    });
}

/// Raises the flag when dropped.
pub struct Raised<'a>(pub &'a AtomicBool);

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
