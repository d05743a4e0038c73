//! Statements of guards and triggers against databases: real ones where there are any, and peers that misbehave.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bascule::model::scenario::{Database, Secret};
use bascule::probe::Surroundings;
use bascule::probe::sql::{Access, Outcome, Statement, Times, Trouble, run};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::servers::{self, PASSWORD, USER};

#[path = "sql/oracle.rs"]
mod oracle;
#[path = "sql/real.rs"]
mod real;

/// Long enough for any answer that comes at all, on a busy machine.
const PATIENT: Duration = Duration::from_secs(20);

/// A database, and its password in a folder.
pub struct Place {
    database: Database,
    folder: tempfile::TempDir,
}

impl Place {
    pub fn new(kind: &str, at: SocketAddr, name: &str, user: &str, password: &str) -> Place {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("password"), format!("{password}\n")).unwrap();
        let database = Database {
            kind: kind.into(),
            dsn: format!("{at}/{name}").into(),
            user: Some(user.into()),
            password: Some(Secret::File("password".into())),
        };
        Place { database, folder }
    }

    pub async fn ask(
        &self,
        access: Access,
        sql: &str,
        binds: &[(&str, &str)],
        expect: Option<&str>,
        times: Times,
    ) -> Outcome {
        let statement = Statement { database: &self.database, sql, binds, access, expect, times };
        let around = Surroundings { folder: self.folder.path().to_owned() };
        run(&statement, &around, Some(PathBuf::from(env!("CARGO_BIN_EXE_bascule")))).await
    }

    pub async fn read(&self, sql: &str, expect: &str) -> Outcome {
        self.ask(Access::Read, sql, &[], Some(expect), Times::within(PATIENT)).await
    }
}

#[track_caller]
pub fn assert_pass(outcome: &Outcome, part: &str) {
    assert!(matches!(outcome, Outcome::Pass(why) if why.contains(part)), "{outcome:?}, expected {part:?}");
}

#[track_caller]
pub fn assert_refuse(outcome: &Outcome, part: &str) {
    assert!(matches!(outcome, Outcome::Refuse(why) if why.contains(part)), "{outcome:?}, expected {part:?}");
}

#[track_caller]
pub fn assert_trouble(outcome: &Outcome, trouble: Trouble, part: &str) {
    let is_it = matches!(outcome, Outcome::CannotTell(found, why) if *found == trouble && why.contains(part));
    assert!(is_it, "{outcome:?}, expected {trouble:?} with {part:?}");
}

/// A peer that sends `answer` to whoever connects, and then says nothing more.
async fn saying(answer: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(answer).await;
            open.push(stream);
        }
    });
    at
}

#[tokio::test]
async fn a_silent_server_costs_the_time_out_and_garbage_is_said() {
    for kind in ["POSTGRESQL", "MYSQL"] {
        let silent = Place::new(kind, saying(b"").await, "x", "u", "p");
        let times = Times { connect: Duration::from_millis(80), statement: PATIENT, total: PATIENT };
        let begun = Instant::now();
        let outcome = silent.ask(Access::Read, "select 1", &[], Some("= 1"), times).await;
        assert_trouble(&outcome, Trouble::TimedOut, "no connection and login within 80 ms");
        assert!(begun.elapsed() < PATIENT);
        let garbage =
            Place::new(kind, saying(b"HTTP/1.1 400 Bad Request\r\n\r\n\xff\xff\xff\xff").await, "x", "u", "p");
        // What looks like the beginning of something long is waited for.
        let times = Times { connect: Duration::from_secs(1), ..times };
        let outcome = garbage.ask(Access::Read, "select 1", &[], Some("= 1"), times).await;
        let is_it = matches!(outcome, Outcome::CannotTell(Trouble::Connect | Trouble::TimedOut, _));
        assert!(is_it, "{kind}: {outcome:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_asked_is_said_without_a_connection() {
    let place = |kind: &str| Place::new(kind, SocketAddr::from(([127, 0, 0, 1], 1)), "x", "u", "p");
    let ask = |kind: &'static str, sql: &'static str, expect: &'static str| async move {
        place(kind).read(sql, expect).await
    };
    assert_trouble(&ask("DB2", "select 1", "= 1").await, Trouble::Here, "type DB2");
    assert_trouble(&ask("MYSQL", "select :who", "= 1").await, Trouble::Here, ":who, which has no value");
    assert_trouble(&ask("MYSQL", "select 1", "about 1").await, Trouble::Here, "is not a comparison");
    assert_trouble(&ask("ORACLE", "delete from t", "= 1").await, Trouble::Here, "must begin with SELECT or WITH");
    assert_trouble(&ask("POSTGRESQL", "select 1", "= 1").await, Trouble::Connect, "connection refused");
    let mut place = place("MYSQL");
    place.database.password = Some(Secret::File("missing".into()));
    assert_trouble(&place.read("select 1", "= 1").await, Trouble::Here, "missing cannot be read");
}
