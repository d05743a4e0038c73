//! An appliance with a file, a state directory and no data plane, spoken to in plain HTTP/1.1.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use argon2::password_hash::PasswordHasher;
use argon2::password_hash::phc::PasswordHash as Phc;
use argon2::{Algorithm, Argon2, Params, Version};
use bascule::control::clock::Clock;
use bascule::control::reactor::{Begin, Reactor};
use bascule::control::store::{Found, Memory};
use bascule::files::DiskFiles;
use serde_json::Value;
use tokio::sync::watch;

/// Services are UP without probes, because none run.
pub const CONFIG: &str = r#"schema = 1
[defaults.service]
health_monitor = false
[server.app1]
address = "127.0.0.1"
[service.web1]
type = "HTTP"
server = "app1"
port = 8001
[service.web2]
type = "HTTP"
address = "127.0.0.1:8002"
[service_group.spare]
type = "HTTP"
member.spare1 = { server = "app1", port = 8003, weight = 2 }
member.spare2 = { address = "127.0.0.1:8004" }
[vserver.web]
type = "HTTP"
address = "127.0.0.1:8080"
services = { web1 = 3, web2 = 1 }
persistence = { type = "COOKIEINSERT", timeout = "4m" }
backup = "web-spare"
[vserver.web-spare]
type = "HTTP"
groups = ["spare"]
"#;

pub struct Rig {
    pub at: SocketAddr,
    pub dir: tempfile::TempDir,
    _stop: watch::Sender<bool>,
    _reactor: Reactor,
    _runtime: tokio::runtime::Runtime,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Behind `HTTP/1.1 `.
    pub line: String,
    /// As it came.
    pub head: String,
    pub body: String,
}

/// At the smallest cost.
pub fn hash(password: &[u8]) -> String {
    let cheap = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, None).unwrap());
    let hash: Phc = cheap.hash_password(password).unwrap();
    hash.to_string()
}

// === impl Rig ===

impl Rig {
    pub fn start(config: &str) -> Rig {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bascule.toml");
        std::fs::write(&path, config).unwrap();
        let loaded = bascule::files::load(&path, &[]).unwrap_or_else(|problems| panic!("{problems:?}"));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let _guard = runtime.enter();
        bascule::app::install_crypto();
        let reactor = Reactor::start(Begin {
            loaded,
            store: Box::new(Memory::new()),
            found: Found::default(),
            path: Some(path.clone()),
            state: Some(dir.path().to_owned()),
            overrides: Vec::new(),
            files: Arc::new(DiskFiles::beside(&path)),
            clock: Clock::start(),
            probes: 8,
        })
        .unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = tcp.local_addr().unwrap();
        let (stop, stopping) = watch::channel(false);
        // Nobody binds anything, so that no change waits for listeners.
        reactor.cell.set_reconciled(u64::MAX);
        bascule::admin::serve(reactor.handle.clone(), Some(tcp), None, stopping);
        drop(_guard);
        Rig { at, dir, _stop: stop, _reactor: reactor, _runtime: runtime }
    }

    pub fn file(&self) -> PathBuf {
        self.dir.path().join("bascule.toml")
    }

    /// `GET /path` and lines of header fields; the answer to the end of the connection.
    pub fn ask(&self, request: &str, fields: &[String], body: &str) -> Answer {
        let mut text = format!("{request} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.at);
        for field in fields {
            text += &format!("{field}\r\n");
        }
        if !body.is_empty() || request.starts_with('P') {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        self.raw(&format!("{text}\r\n{body}"))
    }

    pub fn raw(&self, text: &str) -> Answer {
        let mut stream = TcpStream::connect(self.at).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // Whoever refuses a long body closes before all of it is sent.
        let _ = stream.write_all(text.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let line = head.lines().next().unwrap_or_default();
        let line = line.strip_prefix("HTTP/1.1 ").unwrap_or(line).to_owned();
        Answer { line, head: head.to_owned(), body: body.to_owned() }
    }

    /// The JSON of a GET that succeeds.
    pub fn get(&self, path: &str) -> Value {
        let answer = self.ask(&format!("GET /nitro/v1/{path}"), &[], "");
        assert_eq!(answer.line, "200 OK", "{path}: {}", answer.body);
        answer.json()
    }

    /// Status line and number of a call that may fail.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> (String, u64) {
        let answer = self.ask(&format!("{method} /nitro/v1/{path}"), &[], &body.to_string());
        (answer.line.clone(), answer.json()["errorcode"].as_u64().unwrap_or(u64::MAX))
    }

    /// What the configuration says, of which a refused request changes nothing.
    pub fn running(&self) -> String {
        self.ask("GET /api/v1/config", &[], "").body
    }
}

// === impl Answer ===

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The value of a header field; empty: it is not there.
    pub fn field(&self, name: &str) -> &str {
        let fields = self.head.lines().filter_map(|line| line.split_once(": "));
        fields.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next().unwrap_or("")
    }
}
