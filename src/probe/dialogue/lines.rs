//! Protocols of lines and codes: FTP (RFC 959), SMTP (RFC 5321), POP3 (RFC 1939), NNTP (RFC 3977).

use super::Credentials;
use crate::probe::wire::Wire;
use crate::probe::{Answer, Found, Miss, quoted};

/// Lines that one answer may have.
const LINES_MAX: usize = 256;

pub(super) async fn ftp(wire: &mut Wire, login: Option<&Credentials>, file: Option<&str>) -> Found {
    // 120: ready in a while; the greeting proper follows.
    let mut greeting = coded(wire, "a greeting").await?;
    if greeting.0 == 120 {
        greeting = coded(wire, "a greeting").await?;
    }
    let mut last = want(wire, greeting, &[220])?;
    if let Some(login) = login {
        let user = say(wire, "USER", &login.user, "an answer to USER").await?;
        last = match user.0 {
            230 => user,
            _ => {
                want(wire, user, &[331])?;
                let passed = say(wire, "PASS", &login.password, "an answer to PASS").await?;
                want(wire, passed, &[230, 202])?
            }
        };
    }
    if let Some(file) = file {
        // Sizes are told of binary files only.
        let binary = say(wire, "TYPE", "I", "an answer to TYPE").await?;
        want(wire, binary, &[200])?;
        let size = say(wire, "SIZE", file, "an answer to SIZE").await?;
        last = want(wire, size, &[213])?;
    }
    pass_and_quit(wire, last).await
}

pub(super) async fn smtp(wire: &mut Wire) -> Found {
    let greeting = coded(wire, "a greeting").await?;
    want(wire, greeting, &[220])?;
    let hello = say(wire, "EHLO", "bascule.invalid", "an answer to EHLO").await?;
    let last = match hello.0 {
        // RFC 5321 §3.2: what knows no EHLO is greeted the old way.
        500 | 502 => say(wire, "HELO", "bascule.invalid", "an answer to HELO").await?,
        _ => hello,
    };
    let last = want(wire, last, &[250])?;
    pass_and_quit(wire, last).await
}

pub(super) async fn nntp(wire: &mut Wire, group: Option<&str>) -> Found {
    let greeting = coded(wire, "a greeting").await?;
    let mut last = want(wire, greeting, &[200, 201])?;
    if let Some(group) = group {
        let answer = say(wire, "GROUP", group, "an answer to GROUP").await?;
        last = want(wire, answer, &[211])?;
    }
    pass_and_quit(wire, last).await
}

pub(super) async fn pop3(wire: &mut Wire, login: Option<&Credentials>) -> Found {
    let mut last = okay(wire, "a greeting").await?;
    if let Some(login) = login {
        send(wire, "USER", &login.user).await?;
        okay(wire, "an answer to USER").await?;
        send(wire, "PASS", &login.password).await?;
        last = okay(wire, "an answer to PASS").await?;
    }
    let _ = wire.send(b"QUIT\r\n").await;
    Ok(Answer::pass(format!("{} answered {}", wire.address(), quoted(&last))))
}

/// `+OK …`; anything else is a failure.
async fn okay(wire: &mut Wire, what: &str) -> Result<Vec<u8>, Miss> {
    let line = wire.line(what).await?;
    match line.starts_with(b"+OK") {
        true => Ok(line),
        false => Err(Miss::Fail(format!("{} sent {}, expected +OK as {what}", wire.address(), quoted(&line)))),
    }
}

/// Code and last line of an answer.
type Coded = (u16, Vec<u8>);

/// One answer: lines `NNN-…` and a last one `NNN …`.
async fn coded(wire: &mut Wire, what: &str) -> Result<Coded, Miss> {
    for _ in 0..LINES_MAX {
        let line = wire.line(what).await?;
        let code = line.get(..3).filter(|digits| digits.iter().all(u8::is_ascii_digit));
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        match (code, line.get(3)) {
            (Some(code), None | Some(b' ')) => return Ok((code, line)),
            // In FTP the lines between may be any text.
            _ if line.get(3) == Some(&b'-') || line.first() == Some(&b' ') => {}
            _ => return Err(Miss::Fail(format!("{} sent {}, which is no answer", wire.address(), quoted(&line)))),
        }
    }
    Err(Miss::Fail(format!("{} sent more than {LINES_MAX} lines as {what}", wire.address())))
}

async fn say(wire: &mut Wire, command: &str, argument: &str, what: &str) -> Result<Coded, Miss> {
    send(wire, command, argument).await?;
    coded(wire, what).await
}

async fn send(wire: &mut Wire, command: &str, argument: &str) -> Result<(), Miss> {
    // A secret may hold a line break by accident; it must not become a command.
    if argument.chars().any(char::is_control) {
        return Err(Miss::Void(format!("what {command} says has a control character")));
    }
    wire.send(format!("{command} {argument}\r\n").as_bytes()).await
}

fn want(wire: &Wire, answer: Coded, codes: &[u16]) -> Result<Coded, Miss> {
    if codes.contains(&answer.0) {
        return Ok(answer);
    }
    let words: Vec<String> = codes.iter().map(u16::to_string).collect();
    Err(Miss::Fail(format!("{} answered {}, expected {}", wire.address(), quoted(&answer.1), words.join(" or "))))
}

/// The farewell is not waited for: the server has shown what it was asked for.
async fn pass_and_quit(wire: &mut Wire, last: Coded) -> Found {
    let _ = wire.send(b"QUIT\r\n").await;
    Ok(Answer::pass(format!("{} answered {}", wire.address(), quoted(&last.1))))
}
