//! A server that speaks Oracle's protocol as far as a thin client needs it to log on and run a small statement, and that
//! misbehaves on demand. It is no database: it answers the few statements of [`answer`].
//!
//! Oracle's own clients are the judges of whether it speaks the protocol; the field order was learnt from their sources
//! (UPL-1.0 or Apache-2.0).
#![allow(dead_code, reason = "shared by tests of several kinds")]

#[path = "tns/calls.rs"]
mod calls;
#[path = "tns/login.rs"]
mod login;
#[path = "tns/session.rs"]
mod session;
#[path = "tns/wire.rs"]
mod wire;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;

pub use login::Verifier;

pub const USER: &str = "scott";
pub const PASSWORD: &str = "tiger's own";
/// The only service.
pub const SERVICE: &str = "backup";

/// How a server is, and how it is not.
#[derive(Clone, Debug)]
pub struct Manner {
    pub generation: Generation,
    pub verifier: Verifier,
    pub is_locked: bool,
    /// Waited before each packet.
    pub delay: Duration,
    /// From the packet of this number on (the first is 0) this happens instead.
    pub fault: Option<(usize, Fault)>,
    /// Clients are sent on to this address.
    pub redirect: Option<SocketAddr>,
}

/// Which versions of the protocol are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// As Oracle 19: rounds of their own for protocol, types and login.
    Nineteen,
    /// As Oracle 23: all of it at once, and a mark at the end of each answer.
    TwentyThree,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing, for ever.
    Silent,
    /// Half of the packet, and the end of the connection.
    CutOff,
    /// Bytes that are none of the protocol's.
    Garbage,
    /// A packet of the right kind with nonsense in it.
    Nonsense,
    /// A header that announces more than comes.
    Lying,
}

/// What a statement gives.
#[derive(Clone, Debug)]
pub enum Answer {
    Rows(&'static [(&'static str, Column)], &'static [&'static [Option<&'static str>]]),
    Changed(u64),
    /// ORA-…
    Error(u32, &'static str),
    /// One row, after a while in which it may be broken off.
    Sleep(Duration),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Text,
    Number,
}

/// A server that runs as long as the runtime of its test.
pub struct Server {
    pub at: SocketAddr,
    happened: Arc<Mutex<Vec<String>>>,
}

/// What the "database" holds.
pub fn answer(sql: &str) -> Answer {
    use Column::{Number, Text};
    let sql = sql.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    match &*sql {
        "select 1 from dual" => Answer::Rows(&[("1", Number)], &[&[Some("1")]]),
        "select lag from shipping" => Answer::Rows(&[("LAG", Number)], &[&[Some("30")]]),
        "select lag from late_shipping" => Answer::Rows(&[("LAG", Number)], &[&[Some("31.5")]]),
        "select status from failover_gate" => Answer::Rows(&[("STATUS", Text)], &[&[Some("YES")]]),
        "select nothing from dual" => Answer::Rows(&[("NOTHING", Number)], &[&[None]]),
        "select empty from nothing" => Answer::Rows(&[("EMPTY", Text)], &[]),
        "select name, n, note from multi" => Answer::Rows(
            &[("NAME", Text), ("N", Number), ("NOTE", Text)],
            &[
                &[Some("alpha"), Some("42.5"), None],
                &[Some(LONG), Some("-7"), Some("x")],
                &[Some("beta"), Some("-1234567.089"), Some("é")],
                &[Some("gamma"), Some("0.005"), Some("")],
            ],
        ),
        "select sleep from dual" => Answer::Sleep(Duration::from_secs(30)),
        "set transaction read only" => Answer::Changed(0),
        "insert into locked values (1)" => Answer::Error(54, "ORA-00054: resource busy"),
        _ if sql.starts_with("insert into deeds ") => Answer::Changed(1),
        _ if sql.starts_with("update deeds ") => Answer::Changed(3),
        _ => Answer::Error(942, "ORA-00942: table or view does not exist"),
    }
}

/// More than fits into one piece.
const LONG: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\
                    0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\
                    0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

// === impl Server ===

impl Server {
    pub async fn start(manner: Manner) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let happened = Arc::new(Mutex::new(Vec::new()));
        let log = happened.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let log = log.clone();
                let session = session::Session::new(stream, manner.clone(), log.clone());
                tokio::spawn(async move {
                    if let Err(error) = session.run().await {
                        log.lock().unwrap().push(format!("ended: {error}"));
                    }
                });
            }
        });
        Server { at, happened }
    }

    /// What clients did, in order: `connect`, `login scott`, `execute …`, `commit`, `rollback`, `break`, `logoff`.
    pub fn happened(&self) -> Vec<String> {
        self.happened.lock().unwrap().clone()
    }
}

// === impl Manner ===

impl Default for Manner {
    fn default() -> Manner {
        Manner {
            generation: Generation::Nineteen,
            verifier: Verifier::Twelve,
            is_locked: false,
            delay: Duration::ZERO,
            fault: None,
            redirect: None,
        }
    }
}
