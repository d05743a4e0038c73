//! MySQL and MariaDB: the greeting; with a login the session, a query and its first value.
//!
//! The packets of protocol 4.1 by hand, because a probe needs six of them. A login by `mysql_native_password` works
//! anywhere; `caching_sha2_password` sends the password itself where the server does not have it in its cache, and that
//! is done over TLS alone.

mod auth;

use super::expected::judge;
use super::{Credentials, Peer};
use crate::model::dialogue::SqlQuery;
use crate::probe::wire::Wire;
use crate::probe::{Answer, Found, Miss, quoted};

/// Longest packet looked at. Bytes.
const PACKET_MAX: usize = 64 * 1024;

/// Packets before the first row: columns and their end.
const COLUMNS_MAX: usize = 512;

/// CLIENT_LONG_PASSWORD, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH.
const CAPABILITIES: u32 = 0x1 | 0x200 | 0x2000 | 0x8000 | 0x8_0000;
const CONNECT_WITH_DB: u32 = 0x8;
const SSL: u32 = 0x800;
/// utf8mb4_general_ci, which both know.
const CHARSET: u8 = 45;

/// What a server says of itself.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::probe) struct Greeting {
    pub version: Vec<u8>,
    capabilities: u32,
    nonce: Vec<u8>,
    plugin: Vec<u8>,
}

/// What a statement gave.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::probe) enum Reply {
    /// Rows changed: there is no result.
    Count(u64),
    NoRow,
    /// The first value of the first row; `None` is NULL.
    Value(Option<Vec<u8>>),
}

/// A session under way: the wire, and the number of the next packet.
pub(in crate::probe) struct Session {
    wire: Wire,
    number: u8,
    is_private: bool,
}

pub(super) async fn probe(
    peer: Peer<'_>,
    login: Option<&Credentials>,
    database: Option<&str>,
    query: Option<&SqlQuery>,
) -> Found {
    let (mut session, greeting) = Session::open(peer, database.is_some()).await?;
    let Some(login) = login else {
        return Ok(Answer::pass(format!("{} is {}", session.wire.address(), quoted(&greeting.version))));
    };
    session.log_in(&greeting, login, database).await?;
    let said = match query {
        Some(query) => session.query(query).await?,
        None => format!("accepted the login of {}", login.user),
    };
    session.quit().await;
    Ok(Answer::pass(format!("{} {said}", session.wire.address())))
}

fn with_database(database: bool) -> u32 {
    if database { CONNECT_WITH_DB } else { 0 }
}

/// The part that TLS request and handshake response share.
fn head(capabilities: u32) -> Vec<u8> {
    let mut bytes = capabilities.to_le_bytes().to_vec();
    bytes.extend((PACKET_MAX as u32).to_le_bytes());
    bytes.push(CHARSET);
    bytes.extend([0; 23]);
    bytes
}

// === impl Session ===

impl Session {
    /// A connection, over TLS where the peer is asked over TLS, and what the server said of itself.
    pub(in crate::probe) async fn open(peer: Peer<'_>, has_database: bool) -> Result<(Session, Greeting), Miss> {
        let mut session = Session { wire: peer.plain().await?, number: 0, is_private: false };
        let bytes = session.receive("a greeting").await?;
        let greeting = Greeting::parse(&bytes).ok_or_else(|| session.unexpected(&bytes, "a greeting"))?;
        if let Some(tls) = peer.tls {
            if greeting.capabilities & SSL == 0 {
                return Err(Miss::Fail(format!("{} does not speak TLS", session.wire.address())));
            }
            session.send(&head(CAPABILITIES | SSL | with_database(has_database))).await?;
            session.wire = peer.encrypt(session.wire, tls).await?;
            session.is_private = true;
        }
        Ok((session, greeting))
    }

    /// Says farewell; whether it is heard does not matter any more.
    pub(in crate::probe) async fn quit(&mut self) {
        self.number = 0;
        let _ = self.send(&[0x01]).await;
    }

    async fn send(&mut self, body: &[u8]) -> Result<(), Miss> {
        if body.len() >= 0xff_ffff {
            return Err(Miss::Void("a statement is longer than a packet may be".to_owned()));
        }
        let mut packet = (body.len() as u32).to_le_bytes()[..3].to_vec();
        packet.push(self.number);
        packet.extend_from_slice(body);
        self.number = self.number.wrapping_add(1);
        self.wire.send(&packet).await
    }

    /// The next packet. An error of the server's is a failure in its words.
    async fn receive(&mut self, what: &str) -> Result<Vec<u8>, Miss> {
        let head = self.wire.exact(4, what).await?;
        let length = usize::from(head[0]) | usize::from(head[1]) << 8 | usize::from(head[2]) << 16;
        if length > PACKET_MAX || length == 0 {
            return Err(self.unexpected(&head, what));
        }
        self.number = head[3].wrapping_add(1);
        let body = self.wire.exact(length, what).await?;
        match body.first() {
            Some(0xff) => Err(Miss::Fail(format!("{} refused: {}", self.wire.address(), error(&body)))),
            _ => Ok(body),
        }
    }

    pub(in crate::probe) async fn log_in(
        &mut self,
        greeting: &Greeting,
        login: &Credentials,
        database: Option<&str>,
    ) -> Result<(), Miss> {
        if login.user.contains('\0') || database.is_some_and(|name| name.contains('\0')) {
            return Err(Miss::Void("a name has a zero byte".to_owned()));
        }
        let tls = if self.is_private { SSL } else { 0 };
        let mut bytes = head(CAPABILITIES | tls | with_database(database.is_some()));
        bytes.extend_from_slice(login.user.as_bytes());
        bytes.push(0);
        let token = auth::token(&greeting.plugin, &login.password, &greeting.nonce).unwrap_or_default();
        // Tokens are digests of 20 or 32 bytes.
        bytes.push(token.len() as u8);
        bytes.extend(token);
        if let Some(database) = database {
            bytes.extend_from_slice(database.as_bytes());
            bytes.push(0);
        }
        bytes.extend_from_slice(&greeting.plugin);
        bytes.push(0);
        self.send(&bytes).await?;
        let mut plugin = greeting.plugin.clone();
        // A switch, a hint, the word that all is well: no honest server needs more.
        for _ in 0..6 {
            let answer = self.receive("an answer to the login").await?;
            match answer[0] {
                0x00 => return Ok(()),
                0xfe => {
                    let (name, nonce) = zero_ended(&answer[1..]).ok_or_else(|| self.unexpected(&answer, "a switch"))?;
                    plugin = name.to_vec();
                    let token = self.answer_to(&plugin, &login.password, nonce.trim_ascii_end_zero())?;
                    self.send(&token).await?;
                }
                0x01 if plugin == auth::CACHING_SHA2 && answer.get(1) == Some(&3) => {}
                0x01 if plugin == auth::CACHING_SHA2 && answer.get(1) == Some(&4) => {
                    let token = self.answer_to(auth::CLEAR, &login.password, &[])?;
                    self.send(&token).await?;
                }
                _ => return Err(self.unexpected(&answer, "an answer to the login")),
            }
        }
        Err(Miss::Fail(format!("{} does not come to an end with the login", self.wire.address())))
    }

    fn answer_to(&self, plugin: &[u8], password: &str, nonce: &[u8]) -> Result<Vec<u8>, Miss> {
        if plugin == auth::CLEAR {
            let mut clear = password.as_bytes().to_vec();
            clear.push(0);
            return match self.is_private {
                true => Ok(clear),
                false => Err(Miss::Void(format!(
                    "{} wants the password itself, which is sent over TLS alone: make the monitor `secure`",
                    self.wire.address()
                ))),
            };
        }
        auth::token(plugin, password, nonce)
            .ok_or_else(|| Miss::Void(format!("logins by {} are not available in this build", quoted(plugin))))
    }

    /// Runs the query and looks at the first value of its answer.
    async fn query(&mut self, query: &SqlQuery) -> Result<String, Miss> {
        match self.ask(&query.sql, false).await? {
            Reply::Count(_) | Reply::NoRow => Err(Miss::Fail("the query gave no row".to_owned())),
            Reply::Value(value) => judge(value.as_deref(), query.expect.as_deref()),
        }
    }

    /// Sends a statement. `to_the_end`: the rows after the first are read as well, so that another may follow.
    pub(in crate::probe) async fn ask(&mut self, sql: &str, to_the_end: bool) -> Result<Reply, Miss> {
        self.number = 0;
        let mut bytes = vec![0x03];
        bytes.extend_from_slice(sql.as_bytes());
        self.send(&bytes).await?;
        let first = self.receive("the answer to the query").await?;
        if first[0] == 0x00 {
            let count = number(&first[1..]).ok_or_else(|| self.unexpected(&first, "a number of rows"))?;
            return Ok(Reply::Count(count));
        }
        for _ in 0..COLUMNS_MAX {
            if is_end(&self.receive("the columns of the answer").await?) {
                let row = self.receive("a row").await?;
                if is_end(&row) {
                    return Ok(Reply::NoRow);
                }
                let value = value(&row).ok_or_else(|| self.unexpected(&row, "a row"))?.map(<[u8]>::to_vec);
                while to_the_end && !is_end(&self.receive("a row").await?) {}
                return Ok(Reply::Value(value));
            }
        }
        Err(Miss::Fail(format!("{} answered with more than {COLUMNS_MAX} columns", self.wire.address())))
    }

    fn unexpected(&self, bytes: &[u8], what: &str) -> Miss {
        Miss::Fail(format!("{} sent {}, expected {what}", self.wire.address(), quoted(bytes)))
    }
}

/// EOF, or OK in its place.
fn is_end(packet: &[u8]) -> bool {
    packet[0] == 0xfe && packet.len() < 9
}

/// The first value of a row; inner `None` is NULL.
fn value(row: &[u8]) -> Option<Option<&[u8]>> {
    let (length, rest) = match row {
        [0xfb, ..] => return Some(None),
        [length @ 0..=0xfa, rest @ ..] => (usize::from(*length), rest),
        [0xfc, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        _ => return None,
    };
    rest.get(..length).map(Some)
}

/// A number of one to nine bytes, as the protocol packs them.
fn number(bytes: &[u8]) -> Option<u64> {
    let little = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    match bytes {
        [number @ 0..=0xfa, ..] => Some(u64::from(*number)),
        [0xfc, rest @ ..] => rest.get(..2).map(little),
        [0xfd, rest @ ..] => rest.get(..3).map(little),
        [0xfe, rest @ ..] => rest.get(..8).map(little),
        _ => None,
    }
}

/// `1045 "Access denied …"`
fn error(packet: &[u8]) -> String {
    let Some((code, rest)) = packet[1..].split_at_checked(2) else { return quoted(packet) };
    let code = u16::from_le_bytes([code[0], code[1]]);
    // A state of six bytes stands before the text, except in a greeting.
    let text = if rest.first() == Some(&b'#') { rest.get(6..).unwrap_or_default() } else { rest };
    format!("error {code} {}", quoted(text))
}

fn zero_ended(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&b| b == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

trait TrimZero {
    fn trim_ascii_end_zero(&self) -> &[u8];
}

impl TrimZero for [u8] {
    /// Without the zero that ends it.
    fn trim_ascii_end_zero(&self) -> &[u8] {
        self.strip_suffix(&[0]).unwrap_or(self)
    }
}

// === impl Greeting ===

impl Greeting {
    fn parse(bytes: &[u8]) -> Option<Greeting> {
        let (&10, rest) = bytes.split_first()? else { return None };
        let (version, rest) = zero_ended(rest)?;
        // Connection id, first part of the nonce, a filler.
        let (first, rest) = rest.get(4..)?.split_at_checked(8)?;
        let (low, rest) = rest.get(1..)?.split_at_checked(2)?;
        // Character set, status.
        let (high, rest) = rest.get(3..)?.split_at_checked(2)?;
        let capabilities = u32::from_le_bytes([low[0], low[1], high[0], high[1]]);
        let (length, rest) = rest.split_first()?;
        let second = usize::from(*length).saturating_sub(8).max(13);
        let (second, rest) = rest.get(10..)?.split_at_checked(second)?;
        let plugin = zero_ended(rest).map_or(rest, |(plugin, _)| plugin);
        let mut nonce = first.to_vec();
        nonce.extend_from_slice(second.trim_ascii_end_zero());
        Some(Greeting { version: version.to_vec(), capabilities, nonce, plugin: plugin.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_is_read_and_a_broken_one_is_none() {
        let mut bytes = vec![10];
        bytes.extend(b"8.4.0\0");
        bytes.extend([1, 0, 0, 0]);
        bytes.extend(b"abcdefgh\0");
        bytes.extend([0xff, 0xff, 45, 2, 0, 0xff, 0xdf, 21]);
        bytes.extend([0; 10]);
        bytes.extend(b"ijklmnopqrst\0caching_sha2_password\0");
        let greeting = Greeting::parse(&bytes).unwrap();
        assert_eq!(greeting.version, b"8.4.0");
        assert_eq!(greeting.nonce, b"abcdefghijklmnopqrst");
        assert_eq!(greeting.plugin, b"caching_sha2_password");
        assert_eq!(greeting.capabilities & SSL, SSL);
        for length in 0..50 {
            assert_eq!(Greeting::parse(&bytes[..length]), None, "{length}");
        }
    }

    #[test]
    fn values_of_rows_are_read_within_their_bounds() {
        assert_eq!(value(b"\x02ok\x01x"), Some(Some(&b"ok"[..])));
        assert_eq!(value(b"\xfb"), Some(None));
        assert_eq!(value(b"\xfc\x03\x00abc"), Some(Some(&b"abc"[..])));
        for broken in [&b"\x05ok"[..], b"\xfc\x03", b"\xfd\0\0\0", b"\xff", b""] {
            assert_eq!(value(broken), None);
        }
        assert_eq!(number(b"\x07\0"), Some(7));
        assert_eq!((number(b"\xfc\x01\x02"), number(b"\xfd\x01\0\x01")), (Some(513), Some(65_537)));
        assert_eq!((number(b"\xfc\x01"), number(b"\xff"), number(b"")), (None, None, None));
        assert_eq!(error(b"\xff\x15\x04#28000Access denied"), "error 1045 \"Access denied\"");
    }
}
