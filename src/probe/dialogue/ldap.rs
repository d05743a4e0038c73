//! LDAP (RFC 4511): a simple bind, a search for one entry, an unbind. As much BER as that takes.

use super::Credentials;
use crate::model::dialogue::LdapSearch;
use crate::model::ldap::Filter;
use crate::probe::wire::{RECEIVED_MAX, Wire};
use crate::probe::{Answer, Found, Miss, quoted};

const SEQUENCE: u8 = 0x30;
const OCTETS: u8 = 0x04;
const INTEGER: u8 = 0x02;
const ENUMERATED: u8 = 0x0a;

pub(super) async fn probe(wire: &mut Wire, login: Option<&Credentials>, search: Option<&LdapSearch>) -> Found {
    wire.send(&message(1, &bind(login))).await?;
    let (tag, body) = answer(wire, 1, "an answer to the bind").await?;
    if tag != 0x61 {
        return Err(Miss::Fail(format!("{} did not answer the bind with a bind response", wire.address())));
    }
    success(wire, &body, "the bind")?;
    let said = match search {
        Some(search) => find(wire, search).await?,
        None if login.is_some() => "accepted the bind".to_owned(),
        None => "accepted an anonymous bind".to_owned(),
    };
    let _ = wire.send(&message(3, &[0x42, 0])).await;
    Ok(Answer::pass(format!("{} {said}", wire.address())))
}

async fn find(wire: &mut Wire, search: &LdapSearch) -> Result<String, Miss> {
    let filter = Filter::parse(&search.filter).map_err(Miss::Void)?;
    wire.send(&message(2, &request(search, &filter))).await?;
    let mut found = None;
    loop {
        let (tag, body) = answer(wire, 2, "the result of the search").await?;
        match tag {
            // An entry; only the first is looked at.
            0x64 if found.is_none() => found = Some(entry(&body, search.attribute.as_deref())),
            // More entries, references to other servers, interim answers.
            0x64 | 0x73 | 0x79 => {}
            0x65 => {
                // With more than one entry the limit that was asked for is what ends the search.
                let limited = found.is_some() && code(&body) == Some(4);
                if !limited {
                    success(wire, &body, "the search")?;
                }
                break;
            }
            _ => return Err(Miss::Fail(format!("{} sent something else than a search result", wire.address()))),
        }
    }
    match found {
        Some(Some(true)) => Ok(format!("found an entry for {}", search.filter)),
        Some(Some(false)) => {
            let attribute = search.attribute.as_deref().unwrap_or_default();
            Err(Miss::Fail(format!("{}: the entry found has no {attribute}", wire.address())))
        }
        Some(None) => Err(Miss::Fail(format!("{} sent an entry that cannot be read", wire.address()))),
        None => Err(Miss::Fail(format!("{}: nothing found for {}", wire.address(), search.filter))),
    }
}

/// One message of the server: tag and contents of its operation.
async fn answer(wire: &mut Wire, id: u8, what: &str) -> Result<(u8, Vec<u8>), Miss> {
    let head = wire.exact(2, what).await?;
    let broken =
        |wire: &Wire, bytes: &[u8]| Miss::Fail(format!("{} sent {}, which is not LDAP", wire.address(), quoted(bytes)));
    if head[0] != SEQUENCE {
        return Err(broken(wire, &head));
    }
    let length = match head[1] {
        short @ 0..=0x7f => usize::from(short),
        long @ 0x81..=0x84 => {
            let bytes = wire.exact(usize::from(long & 0x7f), what).await?;
            bytes.iter().fold(0_usize, |length, &byte| length << 8 | usize::from(byte))
        }
        _ => return Err(broken(wire, &head)),
    };
    if length > RECEIVED_MAX {
        return Err(Miss::Fail(format!(
            "{} announces a message of {length} bytes, too long for {what}",
            wire.address()
        )));
    }
    let bytes = wire.exact(length, what).await?;
    let parsed = element(&bytes).and_then(|(tag, number, rest)| {
        let is_ours = tag == INTEGER && number == [id];
        let (tag, body, _) = element(rest)?;
        Some((is_ours, tag, body.to_vec()))
    });
    match parsed {
        Some((true, tag, body)) => Ok((tag, body)),
        // A notice of disconnection has the number 0 (§4.4.1).
        Some((false, 0x78, body)) => Err(Miss::Fail(format!("{} ends the session: {}", wire.address(), said(&body)))),
        Some((false, ..)) | None => Err(broken(wire, &bytes)),
    }
}

fn success(wire: &Wire, result: &[u8], what: &str) -> Result<(), Miss> {
    match code(result) {
        Some(0) => Ok(()),
        Some(49) => Err(Miss::Fail(format!("{} refused {what}: invalid credentials{}", wire.address(), said(result)))),
        Some(code) => Err(Miss::Fail(format!("{} refused {what}: code {code}{}", wire.address(), said(result)))),
        None => Err(Miss::Fail(format!("{} answered {what} with {}", wire.address(), quoted(result)))),
    }
}

/// `resultCode` of an LDAPResult.
fn code(result: &[u8]) -> Option<u8> {
    match element(result)? {
        (ENUMERATED, [code], _) => Some(*code),
        _ => None,
    }
}

/// `: "diagnosticMessage"`, or nothing.
fn said(result: &[u8]) -> String {
    let text = element(result).and_then(|(_, _, rest)| element(rest)).and_then(|(_, _, rest)| element(rest));
    match text {
        Some((OCTETS, text, _)) if !text.is_empty() => format!(": {}", quoted(text)),
        _ => String::new(),
    }
}

/// Whether the entry has the attribute (in any case); `None`: it is broken.
fn entry(body: &[u8], attribute: Option<&str>) -> Option<bool> {
    let (_, _name, rest) = element(body)?;
    let Some(attribute) = attribute else { return Some(true) };
    let (_, mut attributes, _) = element(rest)?;
    while !attributes.is_empty() {
        let (_, one, rest) = element(attributes)?;
        let (_, name, _) = element(one)?;
        if name.eq_ignore_ascii_case(attribute.as_bytes()) {
            return Some(true);
        }
        attributes = rest;
    }
    Some(false)
}

/// Tag, contents and what follows.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        short @ 0..=0x7f => (usize::from(short), rest),
        long @ 0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            (digits.iter().fold(0_usize, |length, &byte| length << 8 | usize::from(byte)), rest)
        }
        _ => return None,
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    Some((tag, contents, rest))
}

fn message(id: u8, operation: &[u8]) -> Vec<u8> {
    let mut contents = ber(INTEGER, &[id]);
    contents.extend_from_slice(operation);
    ber(SEQUENCE, &contents)
}

fn bind(login: Option<&Credentials>) -> Vec<u8> {
    let (name, password) = login.map_or(("", ""), |login| (&login.user, &login.password));
    let mut contents = ber(INTEGER, &[3]);
    contents.extend(ber(OCTETS, name.as_bytes()));
    contents.extend(ber(0x80, password.as_bytes()));
    ber(0x60, &contents)
}

/// The whole subtree, one entry, no references followed.
fn request(search: &LdapSearch, filter: &Filter) -> Vec<u8> {
    let mut contents = ber(OCTETS, search.base_dn.as_bytes());
    contents.extend(ber(ENUMERATED, &[2]));
    contents.extend(ber(ENUMERATED, &[0]));
    contents.extend(ber(INTEGER, &[1]));
    contents.extend(ber(INTEGER, &[0]));
    contents.extend(ber(0x01, &[0]));
    contents.extend(encoded(filter));
    // `1.1`: no attributes at all.
    let wanted = search.attribute.as_deref().unwrap_or("1.1");
    contents.extend(ber(SEQUENCE, &ber(OCTETS, wanted.as_bytes())));
    ber(0x63, &contents)
}

fn encoded(filter: &Filter) -> Vec<u8> {
    let all = |filters: &[Filter]| filters.iter().flat_map(encoded).collect::<Vec<u8>>();
    let pair = |tag, attribute: &str, value: &[u8]| {
        let mut contents = ber(OCTETS, attribute.as_bytes());
        contents.extend(ber(OCTETS, value));
        ber(tag, &contents)
    };
    match filter {
        Filter::And(filters) => ber(0xa0, &all(filters)),
        Filter::Or(filters) => ber(0xa1, &all(filters)),
        Filter::Not(filter) => ber(0xa2, &encoded(filter)),
        Filter::Equal(attribute, value) => pair(0xa3, attribute, value),
        Filter::Substrings(attribute, first, middle, last) => {
            let mut parts = Vec::new();
            parts.extend(first.iter().flat_map(|part| ber(0x80, part)));
            parts.extend(middle.iter().flat_map(|part| ber(0x81, part)));
            parts.extend(last.iter().flat_map(|part| ber(0x82, part)));
            let mut contents = ber(OCTETS, attribute.as_bytes());
            contents.extend(ber(SEQUENCE, &parts));
            ber(0xa4, &contents)
        }
        Filter::GreaterOrEqual(attribute, value) => pair(0xa5, attribute, value),
        Filter::LessOrEqual(attribute, value) => pair(0xa6, attribute, value),
        Filter::Present(attribute) => ber(0x87, attribute.as_bytes()),
        Filter::Approximate(attribute, value) => pair(0xa8, attribute, value),
    }
}

fn ber(tag: u8, contents: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    match u8::try_from(contents.len()) {
        Ok(short @ 0..=0x7f) => bytes.push(short),
        _ => {
            bytes.push(0x84);
            bytes.extend((contents.len() as u32).to_be_bytes());
        }
    }
    bytes.extend_from_slice(contents);
    bytes
}
