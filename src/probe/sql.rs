//! One SQL statement against one database: what guards ask and triggers do.
//!
//! A statement goes over a connection of its own, with its values bound and never pasted in, and ends in one
//! [`Outcome`] by the time that [`Times`] allows, whatever the server does.
//!
//! | type | spoken by | read-only by |
//! |---|---|---|
//! | POSTGRESQL | tokio-postgres, on our connection | `BEGIN … READ ONLY` |
//! | MYSQL | our own few packets (also MariaDB) | `SET SESSION TRANSACTION READ ONLY`, so that no implicit commit escapes it |
//! | ORACLE | Oracle's thin driver, in a process of its own ([`helper`]) | `SET TRANSACTION READ ONLY`, and only SELECT or WITH |
//!
//! To read ([`Access::Read`]) rolls back; to act ([`Access::Act`]) commits one transaction of this statement alone. Where
//! time runs out while a commit is on its way, nobody here can know whether it took place: triggers carry a key for
//! that.

pub mod helper;
mod mysql;
mod oracle;
mod postgresql;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::dialogue::{Credentials, Peer};
use super::{Deadline, Miss, Surroundings, resolve};
use crate::model::check::TlsProbe;
use crate::model::dialogue::Login;
use crate::model::scenario::Database;
use crate::model::sql::{Dialect, Dsn, Expectation, Text, only_reads};

/// Longest part of a database's own words that is repeated. Characters.
const WORDS_MAX: usize = 200;

/// What to ask whom.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    pub database: &'a Database,
    /// One statement. `:name` stands for a value of `binds`; a name that is not there is an error.
    pub sql: &'a str,
    /// Name and value. What the statement does not name is left out.
    pub binds: &'a [(&'a str, &'a str)],
    pub access: Access,
    /// `<= 60`, `= 'YES'`: of the first value of the first row, or of the number of rows changed. `None`: anything.
    pub expect: Option<&'a str>,
    pub times: Times,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// In a read-only transaction, which is rolled back.
    Read,
    /// In a transaction of its own, which is committed.
    Act,
}

/// How long the parts of it may take. The shortest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Name lookup, connection, TLS, login.
    pub connect: Duration,
    /// From the beginning of the transaction to its end.
    pub statement: Duration,
    /// Everything.
    pub total: Duration,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done, and the answer is as expected; the answer in words.
    Pass(String),
    /// Done (and committed, for [`Access::Act`]), and the answer is another one than expected.
    Refuse(String),
    /// Nothing can be said.
    CannotTell(Trouble, String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// This machine could not ask: no secret, no driver, a statement that cannot be one.
    Here,
    /// No connection, or no login.
    Connect,
    /// A deadline passed.
    TimedOut,
    /// An error of the database's, or of its protocol.
    Database,
    /// An answer that cannot be compared: no row, NULL, no number where one is expected.
    Shape,
}

/// What a database said.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    /// The first value of the first row; `None` is NULL.
    Value(Option<String>),
    NoRow,
    /// Rows changed, by a statement without a result.
    Count(u64),
}

type Failed = (Trouble, String);

/// Runs the statement to its end or its deadline. Secrets are read now. Needs a tokio runtime with I/O and time.
///
/// `program` is the program whose hidden command `sql-probe` speaks to Oracle; `None`: this process's own.
pub async fn run(statement: &Statement<'_>, around: &Surroundings, program: Option<PathBuf>) -> Outcome {
    let judge = match statement.expect.map(Expectation::parse).transpose() {
        Ok(judge) => judge,
        Err(why) => return Outcome::CannotTell(Trouble::Here, why),
    };
    match Box::pin(said(statement, around, program)).await {
        Err((trouble, why)) => Outcome::CannotTell(trouble, why),
        Ok(said) => said.judged(judge.as_ref()),
    }
}

/// A check of type ORACLE: the first value of its query, or of one that every database answers.
pub(super) async fn check(
    peer: &Peer<'_>,
    login: &Login,
    service: &str,
    sql: Option<&str>,
) -> Result<Option<String>, Miss> {
    let database = Database {
        kind: "ORACLE".into(),
        dsn: format!("{}/{service}", peer.addresses[0]).into(),
        user: Some(login.user.clone()),
        password: login.password.clone(),
    };
    let left = peer.deadline.at.saturating_duration_since(Instant::now());
    let (sql, access, times) = (sql.unwrap_or("select 1 from dual"), Access::Read, Times::within(left));
    let statement = Statement { database: &database, sql, binds: &[], access, expect: None, times };
    match said(&statement, peer.around, None).await {
        Ok(Said::Value(value)) => Ok(value),
        Ok(Said::NoRow | Said::Count(_)) => Err(Miss::Fail("the query gave no row".to_owned())),
        Err((Trouble::Here, why)) => Err(Miss::Void(why)),
        Err((_, why)) => Err(Miss::Fail(why)),
    }
}

async fn said(statement: &Statement<'_>, around: &Surroundings, program: Option<PathBuf>) -> Result<Said, Failed> {
    let database = statement.database;
    let here = |why: String| (Trouble::Here, why);
    let dialect = Dialect::of(&database.kind)
        .ok_or_else(|| here(format!("databases of type {} are not available in this build", database.kind)))?;
    let text = Text::new(dialect, statement.sql, statement.binds).map_err(here)?;
    let password = match &database.password {
        Some(secret) => around.secret(secret).await.map_err(|miss| here(words(miss)))?,
        None => String::new(),
    };
    let credentials = Credentials { user: database.user.as_deref().unwrap_or("").to_owned(), password };
    let clock = Clock::new(statement.times);
    if dialect == Dialect::Oracle {
        if statement.access == Access::Read && !only_reads(statement.sql) {
            return Err(here(
                "a query of type ORACLE must begin with SELECT or WITH: Oracle's own read-only \
                             transaction ends with the first statement that commits by itself"
                    .to_owned(),
            ));
        }
        return oracle::ask(statement, &text, &credentials, program, clock).await;
    }
    let dsn = Dsn::parse(&database.dsn, dialect).map_err(here)?;
    let tls = dsn.tls.then_some(TlsProbe { server_name: None, verify: true });
    // Phases end by their own deadlines; this one only bounds what would outlive them.
    let deadline = Deadline::after(statement.times.total + Duration::from_secs(1));
    let addresses = clock.connecting(resolve::lookup(&dsn.target, false, deadline)).await?;
    let addresses = addresses.map_err(|miss| (Trouble::Connect, words(miss)))?;
    let peer = Peer { target: &dsn.target, addresses: &addresses, tls: tls.as_ref(), around, deadline };
    match dialect {
        Dialect::Mysql => mysql::ask(peer, &credentials, &dsn.database, &text, statement.access, clock).await,
        _ => postgresql::ask(peer, &credentials, &dsn.database, &text, statement.access, clock).await,
    }
}

fn words(miss: Miss) -> String {
    match miss {
        Miss::Fail(why) | Miss::Void(why) => why,
    }
}

/// A database's words as they may stand in a log line.
fn tame(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut kept: String = flat.chars().filter(|c| !c.is_control()).take(WORDS_MAX).collect();
    if flat.chars().count() > WORDS_MAX {
        kept.push('…');
    }
    kept
}

/// The deadlines of a statement that has begun.
#[derive(Clone, Copy)]
struct Clock {
    times: Times,
    begun: Instant,
}

// === impl Clock ===

impl Clock {
    fn new(times: Times) -> Clock {
        Clock { times, begun: Instant::now() }
    }

    fn total(self) -> Instant {
        self.begun + self.times.total
    }

    async fn connecting<T>(self, act: impl Future<Output = T>) -> Result<T, Failed> {
        let by = self.total().min(self.begun + self.times.connect);
        tokio::time::timeout_at(by, act)
            .await
            .map_err(|_| self.passed(by, "no connection and login", self.times.connect))
    }

    /// The statement begins now.
    async fn asking<T>(self, act: impl Future<Output = T>) -> Result<T, Failed> {
        let by = self.total().min(Instant::now() + self.times.statement);
        tokio::time::timeout_at(by, act)
            .await
            .map_err(|_| self.passed(by, "no end of the statement", self.times.statement))
    }

    fn passed(self, by: Instant, what: &str, phase: Duration) -> Failed {
        let limit = if by == self.total() { self.times.total } else { phase };
        (Trouble::TimedOut, format!("{what} within {} ms", limit.as_millis()))
    }

    /// For a server that ends statements by itself. At least a millisecond: 0 means for ever to them.
    fn statement_millis(self) -> u64 {
        let left = self.total().saturating_duration_since(Instant::now()).min(self.times.statement);
        u64::try_from(left.as_millis()).unwrap_or(u64::MAX).clamp(1, 2_147_483_647)
    }
}

// === impl Said ===

impl Said {
    /// Whether it is as expected.
    fn judged(&self, expected: Option<&Expectation<'_>>) -> Outcome {
        let shown = match self {
            Said::Value(Some(value)) => format!("gave `{}`", tame(value)),
            Said::Value(None) => "gave NULL".to_owned(),
            Said::NoRow => "gave no row".to_owned(),
            Said::Count(count) => format!("changed {count} row{}", if *count == 1 { "" } else { "s" }),
        };
        let Some(expected) = expected else { return Outcome::Pass(format!("the statement {shown}")) };
        let text = expected.text;
        let count;
        let value = match self {
            Said::Value(Some(value)) => value,
            Said::Count(number) => {
                count = number.to_string();
                &count
            }
            Said::Value(None) | Said::NoRow => {
                return Outcome::CannotTell(Trouble::Shape, format!("the statement {shown}, expected `{text}`"));
            }
        };
        match expected.holds(value) {
            None => Outcome::CannotTell(Trouble::Shape, format!("the statement {shown}, no number; expected `{text}`")),
            Some(true) => Outcome::Pass(format!("the statement {shown}, as expected: `{text}`")),
            Some(false) => Outcome::Refuse(format!("the statement {shown}, expected `{text}`")),
        }
    }
}

// === impl Trouble ===

impl Trouble {
    /// Two or three words, for records.
    pub fn word(self) -> &'static str {
        match self {
            Trouble::Here => "cannot ask",
            Trouble::Connect => "cannot connect",
            Trouble::TimedOut => "timed out",
            Trouble::Database => "database error",
            Trouble::Shape => "wrong shape",
        }
    }
}

// === impl Times ===

impl Times {
    /// One time-out for everything.
    pub fn within(total: Duration) -> Times {
        Times { connect: total, statement: total, total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_compared_is_never_a_pass_nor_a_refusal() {
        let word = |expect: Option<&str>, said: Said| {
            let expectation = expect.map(|expect| Expectation::parse(expect).unwrap());
            match said.judged(expectation.as_ref()) {
                Outcome::Pass(_) => "pass",
                Outcome::Refuse(_) => "refuse",
                Outcome::CannotTell(trouble, _) => trouble.word(),
            }
        };
        let value = |text: &str| Said::Value(Some(text.to_owned()));
        for said in [Said::Value(None), Said::NoRow, value("thirty"), value(""), value("NaN")] {
            assert_eq!(word(Some("<= 30"), said.clone()), "wrong shape");
            assert_eq!(word(None, said), "pass");
        }
        assert_eq!(word(Some("<= 30"), value("30")), "pass");
        assert_eq!(word(Some("<= 30"), value("31")), "refuse");
        assert_eq!(word(Some("> 0"), Said::Count(1)), "pass");
        assert_eq!(word(Some("= 1"), Said::Count(0)), "refuse");
    }

    #[test]
    fn a_databases_words_stay_in_one_line_and_end() {
        assert_eq!(tame("ORA-1:\n  a\u{1b}[2J\tb"), "ORA-1: a[2J b");
        assert_eq!(tame(&"x".repeat(500)).chars().count(), WORDS_MAX + 1);
    }
}
