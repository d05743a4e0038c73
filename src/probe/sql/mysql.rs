//! MySQL and MariaDB: `PREPARE` and `EXECUTE … USING`, so that every value is a value. What they are given stands in the
//! statements as hexadecimal digits, in which nothing can be quoted wrongly.

use std::fmt::Write as _;

use super::{Access, Clock, Credentials, Failed, Miss, Peer, Said, Trouble, words};
use crate::model::sql::Text;
use crate::probe::dialogue::mysql::{Greeting, Reply, Session};

/// ER_STATEMENT_TIMEOUT of MariaDB, ER_QUERY_TIMEOUT of MySQL.
const TIMED_OUT: [&str; 2] = ["error 1969 ", "error 3024 "];

pub(super) async fn ask(
    peer: Peer<'_>,
    login: &Credentials,
    database: &str,
    text: &Text<'_>,
    access: Access,
    clock: Clock,
) -> Result<Said, Failed> {
    let connecting = async {
        let (mut session, greeting) = Session::open(peer, true).await?;
        session.log_in(&greeting, login, Some(database)).await?;
        Ok((session, greeting))
    };
    let connected = clock.connecting(Box::pin(connecting)).await?;
    let (mut session, greeting) = connected.map_err(|miss| (Trouble::Connect, words(miss)))?;
    let said = clock.asking(Box::pin(transaction(&mut session, &greeting, text, access, clock))).await?;
    let said = said.map_err(failed)?;
    match said {
        Reply::Count(count) => Ok(Said::Count(count)),
        Reply::NoRow => Ok(Said::NoRow),
        Reply::Value(value) => {
            let text = value.map(String::from_utf8).transpose();
            text.map(Said::Value).map_err(|_| (Trouble::Shape, "gave a value that is no text".to_owned()))
        }
    }
}

async fn transaction(
    session: &mut Session,
    greeting: &Greeting,
    text: &Text<'_>,
    access: Access,
    clock: Clock,
) -> Result<Reply, Miss> {
    // The server ends by itself what we would no longer wait for. Where it does not know the word, it goes on.
    let millis = clock.statement_millis();
    let bound = match greeting.version.windows(7).any(|part| part == b"MariaDB") {
        true => format!("SET SESSION max_statement_time = {}.{:03}", millis / 1_000, millis % 1_000),
        false => format!("SET SESSION max_execution_time = {millis}"),
    };
    let _ = session.ask(&bound, true).await;
    if access == Access::Read {
        session.ask("SET SESSION TRANSACTION READ ONLY", true).await?;
    }
    session.ask(if access == Access::Read { "START TRANSACTION READ ONLY" } else { "START TRANSACTION" }, true).await?;
    let mut using = String::new();
    for (at, (_, value)) in text.values.iter().enumerate() {
        session.ask(&format!("SET @bascule_{at} = {}", literal(value)), true).await?;
        let _ = write!(using, "{} @bascule_{at}", if at == 0 { " USING" } else { "," });
    }
    session.ask(&format!("SET @bascule = {}", literal(&text.sql)), true).await?;
    session.ask("PREPARE bascule FROM @bascule", true).await?;
    let reply = session.ask(&format!("EXECUTE bascule{using}"), access == Access::Act).await?;
    if access == Access::Act {
        session.ask("COMMIT", true).await?;
    }
    // To read leaves nothing to undo: the session ends, and with it the transaction.
    session.quit().await;
    Ok(reply)
}

fn failed(miss: Miss) -> Failed {
    let why = words(miss);
    match TIMED_OUT.iter().any(|code| why.contains(code)) {
        true => (Trouble::TimedOut, why),
        false => (Trouble::Database, why),
    }
}

fn literal(text: &str) -> String {
    let mut literal = String::from("CONVERT(x'");
    for byte in text.bytes() {
        let _ = write!(literal, "{byte:02x}");
    }
    literal.push_str("' USING utf8mb4)");
    literal
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_in_a_value_can_end_it() {
        assert_eq!(super::literal("a';é"), "CONVERT(x'61273bc3a9' USING utf8mb4)");
        assert_eq!(super::literal(""), "CONVERT(x'' USING utf8mb4)");
    }
}
