//! Records of a message as they stand in a zone: names in their data written out (RFC 3597 §4).

use crate::dataplane::dns::tsig::{Walk, u16_at};
use crate::dataplane::dns::wire::{CLASS_IN, HEADER};
use crate::model::zone::{DnsName, RecordType, StaticRecord};

/// What the data of a type is made of.
enum Part {
    Name,
    Bytes(usize),
    /// A length and as many bytes.
    String,
    Rest,
}

use Part::{Bytes, Name, Rest, String as Text};

/// Types whose data may hold compressed names, by their numbers.
fn layout(rtype: RecordType) -> &'static [Part] {
    match rtype.0 {
        // NS, MD, MF, CNAME, MB, MG, MR, PTR, DNAME
        2 | 3 | 4 | 5 | 7 | 8 | 9 | 12 | 39 => &[Name],
        // SOA
        6 => &[Name, Name, Bytes(20)],
        // MINFO, RP
        14 | 17 => &[Name, Name],
        // MX, AFSDB, RT, KX
        15 | 18 | 21 | 36 => &[Bytes(2), Name],
        // PX
        26 => &[Bytes(2), Name, Name],
        // SRV
        33 => &[Bytes(6), Name],
        // NAPTR
        35 => &[Bytes(4), Text, Text, Text, Name],
        // SIG, RRSIG
        24 | 46 => &[Bytes(18), Name, Rest],
        // NXT, NSEC
        30 | 47 => &[Name, Rest],
        _ => &[Rest],
    }
}

/// The answer section of a message. Errors: in words.
pub fn answers(message: &[u8]) -> Result<Vec<StaticRecord>, &'static str> {
    read(message).ok_or("a message that cannot be read")?
}

fn read(message: &[u8]) -> Option<Result<Vec<StaticRecord>, &'static str>> {
    let mut walk = Walk { message, at: HEADER };
    for _ in 0..u16_at(message, 4)? {
        walk.name()?;
        walk.at += 4;
    }
    let mut all = Vec::new();
    for _ in 0..u16_at(message, 6)? {
        let owner = DnsName::from_wire(walk.name()?.as_bytes())?;
        let (rtype, class) = (RecordType(walk.u16()?), walk.u16()?);
        let ttl = u32::from(walk.u16()?) << 16 | u32::from(walk.u16()?);
        let length = usize::from(walk.u16()?);
        let end = walk.at + length;
        if class != CLASS_IN {
            return Some(Err("a record of another class than IN"));
        }
        let rdata = data(message.get(..end)?, walk.at, layout(rtype))?;
        // RFC 2181 §8: a TTL with the highest bit is 0.
        let ttl = if ttl > i32::MAX as u32 { 0 } else { ttl };
        all.push(StaticRecord { owner, rtype, ttl, rdata: rdata.into() });
        walk.at = end;
    }
    Some(Ok(all))
}

/// Data from `at` to the end of `message`, which is cut there.
fn data(message: &[u8], mut at: usize, layout: &[Part]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(message.len() - at);
    for part in layout {
        let length = match part {
            Name => {
                at = name(message, at, &mut out)?;
                continue;
            }
            Bytes(length) => *length,
            Text => 1 + usize::from(*message.get(at)?),
            Rest => message.len() - at,
        };
        out.extend_from_slice(message.get(at..at + length)?);
        at += length;
    }
    (at == message.len()).then_some(out)
}

/// Writes a name out, its letters as they are. Where what follows it begins.
fn name(message: &[u8], start: usize, out: &mut Vec<u8>) -> Option<usize> {
    let (mut at, mut before, mut after) = (start, start, None);
    let from = out.len();
    loop {
        let length = usize::from(*message.get(at)?);
        match length {
            0 => break,
            1..=63 => {
                out.extend_from_slice(message.get(at..=at + length)?);
                at += 1 + length;
            }
            0xc0.. => {
                // Pointers point back, so that there is an end.
                let target = usize::from(u16_at(message, at)? & 0x3fff);
                after.get_or_insert(at + 2);
                if target >= before {
                    return None;
                }
                (at, before) = (target, target);
            }
            _ => return None,
        }
        if out.len() - from > 254 {
            return None;
        }
    }
    out.push(0);
    Some(after.unwrap_or(at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_data_are_written_out_and_keep_their_letters() {
        let mut message = vec![0; 12];
        (message[5], message[7]) = (1, 2);
        message.extend_from_slice(b"\x07Example\x04test\x00\x00\xfc\x00\x01");
        message.extend_from_slice(b"\xc0\x0c\x00\x0f\x00\x01\x00\x00\x00\x3c\x00\x09\x00\x0a\x04Mail\xc0\x0c");
        message.extend_from_slice(b"\x03www\xc0\x0c\x00\x01\x00\x01\xff\x00\x00\x00\x00\x04\x01\x02\x03\x04");
        let all = answers(&message).unwrap();
        assert_eq!(all[0].rdata[..], *b"\x00\x0a\x04Mail\x07Example\x04test\x00");
        assert_eq!((all[0].owner.to_string(), all[0].ttl), ("example.test.".to_owned(), 60));
        assert_eq!((all[1].owner.to_string(), all[1].ttl, all[1].rdata.len()), ("www.example.test.".to_owned(), 0, 4));
        for cut in 0..message.len() {
            assert!(answers(&message[..cut]).is_err(), "cut at {cut}");
        }
        // A pointer to itself, and data that is longer than its name.
        let at = message.len() - 41;
        assert_eq!(message[at..at + 2], *b"\xc0\x0c");
        message[at + 1] = at as u8;
        assert!(answers(&message).is_err());
    }
}
