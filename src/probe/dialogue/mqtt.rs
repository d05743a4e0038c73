//! MQTT 3.1.1: CONNECT, CONNACK, PINGREQ, PINGRESP, DISCONNECT.

use super::Credentials;
use crate::probe::wire::Wire;
use crate::probe::{Answer, Found, Miss, quoted, random};

pub(super) async fn probe(wire: &mut Wire, login: Option<&Credentials>, client_id: Option<&str>) -> Found {
    // Two sessions of one id end each other: without one of the operator's every sample has its own.
    let id = client_id.map_or_else(|| format!("bascule-{:016x}", u64::from_be_bytes(random())), str::to_owned);
    wire.send(&connect(&id, login)?).await?;
    let ack = packet(wire, "a CONNACK").await?;
    match &ack[..] {
        [0x20, _, 0] => {}
        [0x20, _, code] => {
            return Err(Miss::Fail(format!("{} refused the connection: {}", wire.address(), refusal(*code))));
        }
        other => return Err(Miss::Fail(format!("{} sent {}, expected a CONNACK", wire.address(), quoted(other)))),
    }
    wire.send(&[0xc0, 0]).await?;
    let pong = packet(wire, "a PINGRESP").await?;
    if pong != [0xd0] {
        return Err(Miss::Fail(format!("{} sent {}, expected a PINGRESP", wire.address(), quoted(&pong))));
    }
    let _ = wire.send(&[0xe0, 0]).await;
    Ok(Answer::pass(format!("{} accepted an MQTT session and answered a ping", wire.address())))
}

/// The first byte of a packet and its body; only short ones are due.
async fn packet(wire: &mut Wire, what: &str) -> Result<Vec<u8>, Miss> {
    let head = wire.exact(2, what).await?;
    if head[1] > 2 {
        return Err(Miss::Fail(format!("{} sent {}, expected {what}", wire.address(), quoted(&head))));
    }
    let mut packet = vec![head[0]];
    packet.extend(wire.exact(head[1].into(), what).await?);
    Ok(packet)
}

fn connect(id: &str, login: Option<&Credentials>) -> Result<Vec<u8>, Miss> {
    // A clean session, kept alive for 60 s.
    let mut flags = 0x02;
    let mut payload = Vec::new();
    text(&mut payload, id)?;
    if let Some(login) = login {
        flags |= 0x80;
        text(&mut payload, &login.user)?;
        if !login.password.is_empty() {
            flags |= 0x40;
            text(&mut payload, &login.password)?;
        }
    }
    let mut body = vec![0, 4, b'M', b'Q', b'T', b'T', 4, flags, 0, 60];
    body.extend(payload);
    let mut packet = vec![0x10];
    let mut left = body.len();
    loop {
        let (digit, rest) = ((left % 128) as u8, left / 128);
        packet.push(if rest > 0 { digit | 0x80 } else { digit });
        left = rest;
        if left == 0 {
            break;
        }
    }
    packet.extend(body);
    Ok(packet)
}

fn text(out: &mut Vec<u8>, text: &str) -> Result<(), Miss> {
    let length =
        u16::try_from(text.len()).map_err(|_| Miss::Void("a name or password is longer than 64 KiB".into()))?;
    out.extend(length.to_be_bytes());
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

fn refusal(code: u8) -> &'static str {
    match code {
        1 => "the version of the protocol is not spoken",
        2 => "the client identifier is not allowed",
        3 => "the server is not available",
        4 => "wrong user name or password",
        5 => "not authorised",
        _ => "for a reason that MQTT 3.1.1 does not know",
    }
}
