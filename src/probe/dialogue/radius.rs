//! RADIUS (RFC 2865, RFC 2866) over UDP, with Message-Authenticator (RFC 3579 §3.2), which servers have come to demand.

use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use md5::{Digest, Md5};
use subtle::ConstantTimeEq;

use super::{Credentials, Peer};
use crate::probe::{Answer, Found, Miss, quoted, random, udp};

/// Largest packet (RFC 2865 §3).
const PACKET_MAX: usize = 4096;

const MESSAGE_AUTHENTICATOR: u8 = 80;

pub(super) async fn access(
    peer: Peer<'_>,
    login: &Credentials,
    secret: &str,
    nas_ip: Option<IpAddr>,
    codes: &[u8],
) -> Found {
    let address = peer.addresses[0];
    let authenticator: [u8; 16] = random();
    let mut attributes = Vec::new();
    attribute(&mut attributes, 1, login.user.as_bytes())?;
    attribute(&mut attributes, 2, &hidden(&login.password, secret, &authenticator)?)?;
    nas(&mut attributes, nas_ip)?;
    let place = attributes.len() + 2;
    attribute(&mut attributes, MESSAGE_AUTHENTICATOR, &[0; 16])?;
    let mut packet = packet(1, authenticator, &attributes);
    let mac = signed(secret, &packet);
    packet[20 + place..20 + place + 16].copy_from_slice(&mac);
    let code = exchange(peer, &packet, secret).await?;
    match codes.contains(&code) {
        true => Ok(Answer::pass(format!("{address} answered {}", word(code)))),
        false => Err(Miss::Fail(format!("{address} answered {}", word(code)))),
    }
}

/// A session that starts and stops: nothing stays open at the server.
pub(super) async fn accounting(peer: Peer<'_>, user: Option<&str>, secret: &str, nas_ip: Option<IpAddr>) -> Found {
    let address = peer.addresses[0];
    let session = format!("bascule-{:016x}", u64::from_be_bytes(random()));
    for status in [1_u32, 2] {
        let mut attributes = Vec::new();
        attribute(&mut attributes, 40, &status.to_be_bytes())?;
        attribute(&mut attributes, 44, session.as_bytes())?;
        if let Some(user) = user {
            attribute(&mut attributes, 1, user.as_bytes())?;
        }
        nas(&mut attributes, nas_ip)?;
        let mut packet = packet(4, [0; 16], &attributes);
        let digest = Md5::new().chain_update(&packet).chain_update(secret).finalize();
        packet[4..20].copy_from_slice(&digest);
        match exchange(peer, &packet, secret).await? {
            5 => {}
            code => return Err(Miss::Fail(format!("{address} answered {}", word(code)))),
        }
    }
    Ok(Answer::pass(format!("{address} accounted for a session")))
}

/// Sends, and waits for the answer that belongs to the packet: right identifier, right authenticator. Others are passed
/// over; a server that does not know the secret cannot be told from a silent one, and the time-out says so.
async fn exchange(peer: Peer<'_>, packet: &[u8], secret: &str) -> Result<u8, Miss> {
    let (address, deadline) = (peer.addresses[0], peer.deadline);
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::ConnectionRefused => Miss::Fail(format!("{address}: port unreachable")),
        _ => Miss::from_io(&error, &format!("RADIUS to {address}")),
    };
    let socket = udp::connected(address, peer.target.source, failed).await?;
    socket.send(packet).await.map_err(failed)?;
    let mut datagram = [0; PACKET_MAX];
    let mut strays = 0_u32;
    loop {
        let waiting_for = || match strays {
            0 => format!("an answer from {address} (a server also keeps silent where the secret is wrong)"),
            n => format!("an answer from {address} (passed over, with a wrong secret or of another request: {n})"),
        };
        let received = deadline.within(waiting_for, socket.recv(&mut datagram)).await?.map_err(failed)?;
        match genuine(&datagram[..received], packet, secret) {
            Some(code) => return Ok(code),
            None => strays += 1,
        }
    }
}

/// The code of an answer to `request` by somebody who knows the secret.
fn genuine(answer: &[u8], request: &[u8], secret: &str) -> Option<u8> {
    let length = usize::from(u16::from_be_bytes(answer.get(2..4)?.try_into().ok()?));
    let answer = answer.get(..length).filter(|answer| answer.len() >= 20)?;
    if answer[1] != request[1] {
        return None;
    }
    let expected = Md5::new()
        .chain_update(&answer[..4])
        .chain_update(&request[4..20])
        .chain_update(&answer[20..])
        .chain_update(secret)
        .finalize();
    #[allow(deprecated)]
    bool::from(expected.as_slice().ct_eq(&answer[4..20])).then_some(answer[0])
}

fn packet(code: u8, authenticator: [u8; 16], attributes: &[u8]) -> Vec<u8> {
    let [identifier] = random();
    let mut packet = vec![code, identifier];
    // Attributes are bounded by the configuration far below the largest packet.
    packet.extend(((20 + attributes.len()) as u16).to_be_bytes());
    packet.extend(authenticator);
    packet.extend_from_slice(attributes);
    packet
}

fn signed(secret: &str, packet: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Md5>::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length");
    mac.update(packet);
    mac.finalize().into_bytes().to_vec()
}

/// User-Password (RFC 2865 §5.2): 16 bytes at a time, each masked by the secret and what came before.
fn hidden(password: &str, secret: &str, authenticator: &[u8; 16]) -> Result<Vec<u8>, Miss> {
    if password.len() > 128 {
        return Err(Miss::Void("the password is longer than the 128 bytes that RADIUS carries".to_owned()));
    }
    let mut padded = password.as_bytes().to_vec();
    padded.resize(password.len().max(1).next_multiple_of(16), 0);
    let mut before = authenticator.to_vec();
    let mut hidden = Vec::with_capacity(padded.len());
    for block in padded.chunks(16) {
        let mask = Md5::new().chain_update(secret).chain_update(&before).finalize();
        before = block.iter().zip(mask.iter()).map(|(a, b)| a ^ b).collect();
        hidden.extend_from_slice(&before);
    }
    Ok(hidden)
}

/// NAS-IP-Address, NAS-IPv6-Address or NAS-Identifier: one of them must be there.
fn nas(attributes: &mut Vec<u8>, ip: Option<IpAddr>) -> Result<(), Miss> {
    match ip {
        Some(IpAddr::V4(ip)) => attribute(attributes, 4, &ip.octets()),
        Some(IpAddr::V6(ip)) => attribute(attributes, 95, &ip.octets()),
        None => attribute(attributes, 32, b"bascule"),
    }
}

fn attribute(attributes: &mut Vec<u8>, number: u8, value: &[u8]) -> Result<(), Miss> {
    let length = u8::try_from(value.len() + 2);
    let length = length.map_err(|_| Miss::Void(format!("{} is too long for RADIUS", quoted(value))))?;
    attributes.extend([number, length]);
    attributes.extend_from_slice(value);
    Ok(())
}

fn word(code: u8) -> String {
    match code {
        2 => "Access-Accept (2)".to_owned(),
        3 => "Access-Reject (3)".to_owned(),
        5 => "Accounting-Response (5)".to_owned(),
        11 => "Access-Challenge (11)".to_owned(),
        code => format!("code {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 2865 §7.1: user nemo with the password arctangent, and the answer to it.
    #[test]
    fn the_example_of_the_rfc_comes_out_as_it_stands_there() {
        let authenticator =
            [0x0f, 0x40, 0x3f, 0x94, 0x73, 0x97, 0x80, 0x57, 0xbd, 0x83, 0xd5, 0xcb, 0x98, 0xf4, 0x22, 0x7a];
        let expected = [0x0d, 0xbe, 0x70, 0x8d, 0x93, 0xd4, 0x13, 0xce, 0x31, 0x96, 0xe4, 0x3f, 0x78, 0x2a, 0x0a, 0xee];
        assert_eq!(hidden("arctangent", "xyzzy5461", &authenticator).unwrap(), expected);

        let mut request = vec![1, 0, 0, 56];
        request.extend(authenticator);
        let mut answer = vec![
            0x02, 0x00, 0x00, 0x26, 0x86, 0xfe, 0x22, 0x0e, 0x76, 0x24, 0xba, 0x2a, 0x10, 0x05, 0xf6, 0xbf, 0x9b, 0x55,
            0xe0, 0xb2, 0x06, 0x06, 0x00, 0x00, 0x00, 0x01, 0x0f, 0x06, 0x00, 0x00, 0x00, 0x00, 0x0e, 0x06, 0xc0, 0xa8,
            0x01, 0x03,
        ];
        assert_eq!(genuine(&answer, &request, "xyzzy5461"), Some(2));
        assert_eq!(genuine(&answer, &request, "xyzzy"), None, "by somebody who does not know the secret");
        answer[0] = 3;
        assert_eq!(genuine(&answer, &request, "xyzzy5461"), None, "changed on the way");
        assert_eq!(genuine(&answer[..30], &request, "xyzzy5461"), None);
        assert_eq!(genuine(&[], &request, ""), None);
    }
}
