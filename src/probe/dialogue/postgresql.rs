//! PostgreSQL, through tokio-postgres on our own connection: its SCRAM is worth a library, its sockets are not needed.
//!
//! Without a login the server is asked whether it speaks TLS, which it answers before anything else; that leaves no
//! line in its log.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls, SimpleQueryMessage};

use super::expected::judge;
use super::{Credentials, Peer};
use crate::model::dialogue::SqlQuery;
use crate::probe::connect::Connection;
use crate::probe::wire::{RECEIVED_MAX, Wire};
use crate::probe::{Answer, Found, Miss, quoted};

/// SSLRequest: its length and its number.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

pub(super) async fn probe(
    peer: Peer<'_>,
    login: Option<&Credentials>,
    database: Option<&str>,
    query: Option<&SqlQuery>,
) -> Found {
    let (wire, address) = open(peer, login.is_none()).await?;
    let Some(login) = login else {
        return Ok(Answer::pass(format!("{address} answers as PostgreSQL does")));
    };
    let mut config = Config::new();
    config.user(&*login.user).password(&*login.password).application_name("bascule").ssl_mode(SslMode::Disable);
    if let Some(database) = database {
        config.dbname(database);
    }
    let stream = Bounded::new(wire);
    let session = async {
        let (client, driver) = config.connect_raw(stream, NoTls).await?;
        let ask = async move {
            match query {
                // The client goes at the end of this, and with it the session ends in order.
                Some(query) => client.simple_query(&query.sql).await.map(Some),
                None => Ok(None),
            }
        };
        match tokio::join!(ask, driver) {
            // The client only knows that the connection is gone; the driver knows why.
            (Err(_), Err(why)) => Err(why),
            (answer, _) => answer,
        }
    };
    let answer = peer.deadline.within(|| format!("the session with {address}"), session).await?;
    let answer = answer.map_err(|error| Miss::Fail(format!("{address} refused: {}", in_words(&error))))?;
    let (Some(rows), Some(query)) = (answer, query) else {
        return Ok(Answer::pass(format!("{address} accepted the login of {}", login.user)));
    };
    let row = rows.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let Some(row) = row.filter(|row| !row.is_empty()) else {
        return Err(Miss::Fail("the query gave no row".to_owned()));
    };
    judge_first(row.try_get(0), query.expect.as_deref()).map(|said| Answer::pass(format!("{address} {said}")))
}

/// Judges the first value. A server whose encoding is SQL_ASCII sends bytes that are no text, whatever the client asked
/// for; the library shows none of them. They are an answer, but nothing that is expected: that is text.
fn judge_first<E>(value: Result<Option<&str>, E>, expect: Option<&str>) -> Result<String, Miss> {
    match (value, expect) {
        (Ok(value), expect) => judge(value.map(str::as_bytes), expect),
        (Err(_), None) => Ok("answered the query with bytes that are not UTF-8".to_owned()),
        (Err(_), Some(expect)) => Err(Miss::Fail(format!(
            "the query gave bytes that are not UTF-8, expected {}; convert the value in the query",
            quoted(expect.as_bytes())
        ))),
    }
}

/// A connection, over TLS where the peer is asked over TLS. `asks`: whether TLS is asked about in any case.
pub(in crate::probe) async fn open(peer: Peer<'_>, asks: bool) -> Result<(Wire, SocketAddr), Miss> {
    let mut wire = peer.plain().await?;
    let address = wire.address();
    if asks || peer.tls.is_some() {
        wire.send(&SSL_REQUEST).await?;
        let answer = wire.exact(1, "an answer to the request for TLS").await?;
        match (&answer[..], peer.tls) {
            (b"S", Some(tls)) => wire = peer.encrypt(wire, tls).await?,
            (b"N", Some(_)) => return Err(Miss::Fail(format!("{address} does not speak TLS"))),
            (b"S" | b"N", None) => {}
            (other, _) => return Err(Miss::Fail(format!("{address} sent {}, expected S or N", quoted(other)))),
        }
    }
    Ok((wire, address))
}

/// The server's words, without the client's around them.
pub(in crate::probe) fn in_words(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("{} {}", error.code().code(), quoted(error.message().as_bytes())),
        None => {
            let source = std::error::Error::source(error).map_or_else(String::new, |why| format!(": {why}"));
            format!("{error}{source}")
        }
    }
}

/// A connection from which no more than so much is read.
pub(in crate::probe) struct Bounded {
    connection: Connection,
    left: usize,
}

// === impl Bounded ===

impl Bounded {
    pub(in crate::probe) fn new(wire: Wire) -> Bounded {
        Bounded { connection: wire.into_connection(), left: RECEIVED_MAX }
    }
}

impl AsyncRead for Bounded {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.left == 0 {
            return Poll::Ready(Err(io::Error::other("the server sends more than a probe looks at")));
        }
        let before = buf.filled().len();
        let polled = Pin::new(&mut this.connection).poll_read(cx, buf);
        // What comes over the bound is at most one buffer of the client's.
        this.left = this.left.saturating_sub(buf.filled().len() - before);
        polled
    }
}

impl AsyncWrite for Bounded {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().connection).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().connection).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().connection).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_an_answer_but_never_the_expected_one() {
        assert!(judge_first(Err(()), None).is_ok_and(|said| said.contains("not UTF-8")));
        for expect in ["", "M\u{fc}n", "!= 'x'", "<= 60"] {
            assert!(matches!(judge_first(Err(()), Some(expect)), Err(Miss::Fail(why)) if why.contains("not UTF-8")));
        }
        assert!(judge_first(Ok::<_, ()>(Some("42")), Some("<= 60")).is_ok());
        assert!(judge_first(Ok::<_, ()>(None), Some("ok")).is_err(), "NULL");
    }
}
