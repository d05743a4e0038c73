//! Redis: PING, over RESP2, after AUTH where there is a login.

use super::Credentials;
use crate::probe::wire::Wire;
use crate::probe::{Answer, Found, Miss, quoted};

pub(super) async fn probe(wire: &mut Wire, login: Option<&Credentials>) -> Found {
    if let Some(login) = login {
        // Before Redis 6 there were no users: AUTH with the password alone.
        let auth: &[&str] = match &login.user[..] {
            "default" => &["AUTH", &login.password],
            user => &["AUTH", user, &login.password],
        };
        wire.send(&command(auth)).await?;
        expect(wire, b"+OK", "an answer to AUTH").await?;
    }
    wire.send(&command(&["PING"])).await?;
    expect(wire, b"+PONG", "an answer to PING").await?;
    let _ = wire.send(&command(&["QUIT"])).await;
    Ok(Answer::pass(format!("{} answered PONG", wire.address())))
}

async fn expect(wire: &mut Wire, wanted: &[u8], what: &str) -> Result<(), Miss> {
    let line = wire.line(what).await?;
    if line == wanted {
        return Ok(());
    }
    Err(Miss::Fail(format!("{} sent {}, expected {} as {what}", wire.address(), quoted(&line), quoted(wanted))))
}

/// An array of bulk strings, so that no byte of a password has a meaning.
fn command(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n{word}\r\n", word.len()).as_bytes());
    }
    bytes
}
