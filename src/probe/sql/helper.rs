//! The hidden command `sql-probe`: the other side of the statements for ORACLE. One [`Request`] as JSON on standard
//! input; on standard output a [`Line`] once it is logged in, and one when it is done.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Trouble;

/// Longest request. Bytes.
const REQUEST_MAX: u64 = 8 << 20;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    /// As Oracle's clients take it.
    pub dsn: String,
    pub user: String,
    pub password: String,
    pub sql: String,
    pub binds: Vec<(String, String)>,
    /// In a transaction that is committed; otherwise in one that only reads.
    pub commits: bool,
    /// A call to the database is broken off after so long.
    pub call_ms: u64,
    /// The process ends after so long, whatever happens.
    pub life_ms: u64,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    Connected,
    /// The first value of the first row; `None` is NULL.
    Value(Option<String>),
    NoRow,
    /// Rows changed.
    Count(u64),
    Trouble(Trouble, String),
}

/// Answers the request on standard input. A process-wide provider of cryptography must be installed.
pub fn main() -> ExitCode {
    let mut text = String::new();
    let read = std::io::stdin().take(REQUEST_MAX).read_to_string(&mut text);
    let request = read.ok().and_then(|_| serde_json::from_str::<Request>(&text).ok());
    let Some(request) = request else {
        say(&Line::Trouble(Trouble::Here, "standard input holds no request".to_owned()));
        return ExitCode::FAILURE;
    };
    let life = Duration::from_millis(request.life_ms);
    #[allow(
        clippy::disallowed_methods,
        reason = "a process with nothing to write, and a driver that nothing else ends"
    )]
    std::thread::spawn(move || {
        std::thread::sleep(life);
        std::process::exit(3);
    });
    say(&answer(&request));
    ExitCode::SUCCESS
}

fn say(line: &Line) {
    let mut out = std::io::stdout().lock();
    let text = serde_json::to_string(line).unwrap_or_default();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

#[cfg(not(feature = "oracle"))]
fn answer(_: &Request) -> Line {
    Line::Trouble(Trouble::Here, "this build has no driver for ORACLE".to_owned())
}

#[cfg(feature = "oracle")]
fn answer(request: &Request) -> Line {
    driver::answer(request)
}

#[cfg(feature = "oracle")]
mod driver {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Duration;

    use oracledb::{Config, Error, ErrorKind, ToDbValue};

    use super::{Line, Request, Trouble, say};

    /// The driver panics on some answers. What it was about is known from how far it came.
    pub(super) fn answer(request: &Request) -> Line {
        std::panic::set_hook(Box::new(|_| {}));
        let is_connected = Cell::new(false);
        match catch_unwind(AssertUnwindSafe(|| ask(request, &is_connected))) {
            Ok(Ok(line)) => line,
            Ok(Err(error)) => Line::Trouble(trouble(&error, is_connected.get()), error.to_string()),
            Err(_) if is_connected.get() => {
                Line::Trouble(Trouble::Database, "the driver could not make sense of an answer".to_owned())
            }
            Err(_) => Line::Trouble(
                Trouble::Connect,
                "the driver could not make sense of the login; it knows no accounts that have an 11g verifier alone"
                    .to_owned(),
            ),
        }
    }

    fn ask(request: &Request, is_connected: &Cell<bool>) -> Result<Line, Error> {
        let config = Config::default()
            .set_credentials(&request.user, &request.password)
            .set_program("bascule")?
            .set_connect_string(&request.dsn)?;
        let mut connection = oracledb::connect(config)?;
        is_connected.set(true);
        say(&Line::Connected);
        connection.set_call_timeout(Some(Duration::from_millis(request.call_ms)))?;
        if !request.commits {
            connection.execute("set transaction read only", &[])?;
        }
        let binds: Vec<(&str, &dyn ToDbValue)> =
            request.binds.iter().map(|(name, value)| (&**name, value as &dyn ToDbValue)).collect();
        let mut statement = connection.statement(&request.sql)?.fetch_array_size(2).build()?;
        let line = if statement.is_query() {
            match statement.query_named(&binds)?.next().transpose()? {
                None => Line::NoRow,
                Some(row) => match row.get::<Option<String>>(0) {
                    Ok(value) => Line::Value(value),
                    Err(error) => Line::Trouble(Trouble::Shape, format!("{error}; make it text by to_char")),
                },
            }
        } else {
            Line::Count(statement.execute_named(&binds)?.rows_affected())
        };
        if request.commits {
            connection.commit()?;
        } else {
            connection.rollback()?;
        }
        // The answer stands, whether the farewell is heard or not.
        let _ = connection.close();
        Ok(line)
    }

    fn trouble(error: &Error, is_connected: bool) -> Trouble {
        match error.kind() {
            ErrorKind::CallTimeoutExceeded => Trouble::TimedOut,
            _ if !is_connected => Trouble::Connect,
            _ => Trouble::Database,
        }
    }
}
