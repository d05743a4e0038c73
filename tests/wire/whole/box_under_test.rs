//! A process of the program with its state directory, and back ends that are processes too.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

pub use crate::ports::free_port;

#[path = "resolving.rs"]
mod resolving;
#[path = "successor.rs"]
mod successor;

/// The state of a running appliance; it is killed when dropped.
pub struct Box {
    pub dir: tempfile::TempDir,
    /// Open files that it may have; as many as this process where `None`.
    files: Option<u32>,
    /// The network namespace that it runs in; that of this process where `None`.
    namespace: Option<String>,
    /// Beside what this process has.
    environment: Vec<(String, String)>,
    child: Option<Child>,
    /// The process that the child has handed over to.
    heir: Option<u32>,
    /// Another file than the program's own.
    program: Option<PathBuf>,
    pub admin: SocketAddr,
    ready: Value,
}

/// `bascule demo-backend` on a port of its own.
pub struct Backend {
    child: Option<Child>,
    pub address: SocketAddr,
    name: String,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// What a machine that is busy with other things may need for anything.
const BUSY: Duration = Duration::from_secs(30);

/// Waits for `what`; answers how long it took. A busy machine gets more than `limit`: who must know looks at the answer.
pub fn within(limit: Duration, what: &str, mut holds: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < limit.max(BUSY), "not within {limit:?}, nor within {BUSY:?}: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
    start.elapsed()
}

// === impl Box ===

impl Box {
    /// Starts with `config`; `admin.listen` is set to a free port.
    pub fn start(config: &str) -> Box {
        Box::start_with_files(None, config)
    }

    /// [`start`](Self::start), with a hard limit of open files.
    pub fn start_with_files(files: Option<u32>, config: &str) -> Box {
        Box::start_as(files, &[], &[], config)
    }

    /// [`start`](Self::start), with these variables in its environment.
    pub fn start_with_environment(environment: &[(&str, &str)], config: &str) -> Box {
        Box::start_as(None, environment, &[], config)
    }

    /// [`start`](Self::start), with these files (name, text) beside its configuration.
    pub fn start_beside(beside: &[(&str, &str)], config: &str) -> Box {
        Box::start_as(None, &[], beside, config)
    }

    /// [`start`](Self::start), in a network namespace. What it says is asked for there.
    pub fn start_in(namespace: &str, config: &str) -> Box {
        let mut started = Box::prepared(None, &[], &[], config);
        started.namespace = Some(namespace.to_owned());
        started.start_again();
        started
    }

    fn start_as(files: Option<u32>, environment: &[(&str, &str)], beside: &[(&str, &str)], config: &str) -> Box {
        let mut started = Box::prepared(files, environment, beside, config);
        started.start_again();
        started
    }

    fn prepared(files: Option<u32>, environment: &[(&str, &str)], beside: &[(&str, &str)], config: &str) -> Box {
        let dir = tempfile::tempdir().expect("a folder");
        for (name, text) in beside {
            std::fs::write(dir.path().join(name), text).expect("a file is written");
        }
        std::fs::write(dir.path().join("box.toml"), config).expect("the configuration is written");
        let admin = SocketAddr::from(([127, 0, 0, 1], 0));
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Box {
            dir,
            files,
            namespace: None,
            environment,
            child: None,
            heir: None,
            program: None,
            admin,
            ready: Value::Null,
        }
    }

    /// Starts the process on the same state directory.
    pub fn start_again(&mut self) {
        self.spawn();
        let ready = self.path("ready.json");
        within(2 * BUSY, "the appliance is ready", || {
            let child = self.child.as_mut().expect("it was started");
            assert!(child.try_wait().expect("it can be asked").is_none(), "it ended: {}", self.log());
            ready.exists()
        });
        self.read_ready();
    }

    fn read_ready(&mut self) {
        let text = std::fs::read_to_string(self.path("ready.json")).expect("the ready file");
        self.ready = serde_json::from_str(&text).expect("JSON");
        self.admin = self.ready["admin"].as_str().and_then(|a| a.parse().ok()).expect("the admin address");
    }

    /// Starts the process and does not wait for it.
    pub fn spawn(&mut self) {
        assert!(self.child.is_none());
        let _ = std::fs::remove_file(self.path("ready.json"));
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.path("log")).expect("a log");
        let program = self.program.clone().unwrap_or_else(|| env!("CARGO_BIN_EXE_bascule").into());
        let mut command = match self.files {
            _ if self.namespace.is_some() => {
                let mut inside = Command::new("nsenter");
                let namespace = self.namespace.as_deref().unwrap_or_default();
                inside.arg(format!("--net=/run/netns/{namespace}")).arg(program);
                inside
            }
            None => Command::new(program),
            Some(files) => {
                let mut limited = Command::new("prlimit");
                limited.arg(format!("--nofile={files}:{files}")).arg(program);
                limited
            }
        };
        let child = command
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .args(["run", "--config"])
            .arg(self.path("box.toml"))
            .arg("--state")
            .arg(self.path("state"))
            .arg("--ready-file")
            .arg(self.path("ready.json"))
            .args(["--set", "admin.listen=127.0.0.1:0", "--drain", "2s"])
            .args(self.environment.iter().any(|(name, _)| name == super::logins::LOGINS).then_some("--logins"))
            .stdout(log.try_clone().expect("a handle"))
            .stderr(log)
            .spawn()
            .expect("the program starts");
        self.child = Some(child);
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().expect("it can be killed");
        child.wait().expect("it is gone");
    }

    /// SIGTERM; answers its exit status.
    pub fn stop(&mut self) -> i32 {
        let mut child = self.child.take().expect("it runs");
        self.signal_to(child.id(), "TERM");
        child.wait().expect("it ends").code().expect("it ends by itself")
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    pub fn signal(&self, signal: &str) {
        self.signal_to(self.child.as_ref().expect("it runs").id(), signal);
    }

    fn signal_to(&self, pid: u32, signal: &str) {
        let kill = Command::new("kill").arg(format!("-{signal}")).arg(pid.to_string()).status();
        assert!(kill.expect("kill is there").success());
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    pub fn vip(&self, vserver: &str) -> SocketAddr {
        self.ready["vservers"][vserver].as_str().and_then(|a| a.parse().ok()).expect("the VIP is bound")
    }

    pub fn dns(&self) -> SocketAddr {
        self.ready["dns"][0].as_str().and_then(|a| a.parse().ok()).expect("DNS listens")
    }

    pub fn get(&self, path: &str) -> Value {
        let answer = self.call("GET", path, "", &[]);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).expect("JSON")
    }

    fn call(&self, method: &str, path: &str, body: &str, fields: &[(&str, &str)]) -> Answer {
        let call = || http(self.admin, method, &format!("/api/v1{path}"), body, fields).expect("the API answers");
        match &self.namespace {
            None => call(),
            Some(namespace) => super::namespaces::within(namespace, call),
        }
    }

    /// Sends JSON; answers the status and the body.
    pub fn send(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let fields = [("Content-Type", "application/json")];
        let answer = self.call(method, path, body, &fields);
        (answer.status, serde_json::from_str(&answer.body).unwrap_or(Value::Null))
    }

    /// An act that must be accepted. A disk that is busy with something else refuses it, and says that nothing was done:
    /// whoever asked asks again.
    pub fn act(&self, method: &str, path: &str, body: &str) -> Value {
        let (mut status, mut answer) = self.send(method, path, body);
        for _ in 0..10 {
            if answer["code"] != "disk" {
                break;
            }
            std::thread::sleep(std::time::Duration::from_secs(1));
            (status, answer) = self.send(method, path, body);
        }
        assert_eq!(status, 200, "{method} {path}: {answer}");
        answer
    }

    pub fn service_state(&self, name: &str) -> String {
        self.get(&format!("/services/{name}"))["state"].as_str().expect("a word").to_owned()
    }

    pub fn expect_service(&self, name: &str, state: &str, limit: Duration) {
        within(limit, &format!("{name} is {state}"), || self.service_state(name) == state);
    }

    /// Runs the program beside the appliance, for instance `replay`.
    pub fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_bascule")).args(arguments).output().expect("the program starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code().expect("it ends by itself"), text)
    }
}

impl Drop for Box {
    fn drop(&mut self) {
        let child = self.child.take().map(|mut child| {
            let _ = child.kill();
            let _ = child.wait();
            child.id()
        });
        // The child of a child, which nobody waits for: known by the lock, where the test ended before it knew it.
        let holder =
            std::fs::read_to_string(self.path("state/bascule.lock")).ok().and_then(|pid| pid.trim().parse().ok());
        let others = [self.heir.take(), holder];
        let is_ours = |pid: &u32| {
            let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            Some(*pid) != child && line.contains(&self.dir.path().display().to_string())
        };
        for pid in others.into_iter().flatten().filter(is_ours) {
            let _ = Command::new("kill").arg("-KILL").arg(pid.to_string()).status();
        }
        if std::thread::panicking() {
            eprintln!("--- log of the appliance\n{}", self.log());
        }
    }
}

// === impl Backend ===

impl Backend {
    pub fn start(name: &str) -> Backend {
        let mut backend = Backend { child: None, address: ([127, 0, 0, 1], free_port()).into(), name: name.to_owned() };
        backend.start_again();
        backend
    }

    pub fn start_again(&mut self) {
        assert!(self.child.is_none());
        let mut child = Command::new(env!("CARGO_BIN_EXE_bascule"))
            .args(["demo-backend", "--listen", &self.address.to_string(), "--name", &self.name])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the back end starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("it says that it listens");
        self.child = Some(child);
    }

    /// `kill -9`: its connections are reset, new ones are refused.
    pub fn kill(&mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().expect("it can be killed");
        child.wait().expect("it is gone");
    }

    /// Its health check fails, its other answers do not.
    pub fn fail(&self) {
        assert!(http(self.address, "POST", "/fail", "", &[]).is_ok());
    }

    pub fn heal(&self) {
        assert!(http(self.address, "POST", "/heal", "", &[]).is_ok());
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
    }
}

/// One request on a connection of its own.
pub fn http(to: SocketAddr, method: &str, path: &str, body: &str, fields: &[(&str, &str)]) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&to, BUSY)?;
    stream.set_read_timeout(Some(BUSY))?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    for (name, value) in fields {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(head.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let broken = || std::io::Error::other(format!("no whole answer: {answer:?}"));
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(broken)?;
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).ok_or_else(broken)?;
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { unchunk(body) } else { body.to_owned() };
    Ok(Answer { status, head: head.to_owned(), body })
}

fn unchunk(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        if size == 0 || after.len() < size {
            break;
        }
        body += &after[..size];
        rest = after[size..].trim_start_matches("\r\n");
    }
    body
}
