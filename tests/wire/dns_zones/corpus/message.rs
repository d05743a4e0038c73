//! Messages taken apart, so that those of different servers can be compared: names whole and in lower case, records as
//! sets.

use std::collections::BTreeSet;
use std::fmt;

/// What an answer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub rcode: u8,
    pub authoritative: bool,
    pub truncated: bool,
    pub answer: BTreeSet<Record>,
    pub authority: BTreeSet<Record>,
    /// Without the OPT record.
    pub additional: BTreeSet<Record>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    pub owner: Vec<u8>,
    pub rtype: u16,
    pub ttl: u32,
    pub data: Vec<u8>,
}

const OPT: u16 = 41;
const RRSIG: u16 = 46;

/// A question with EDNS; `name` in wire format.
pub fn query(name: &[u8], rtype: u16, dnssec_ok: bool) -> Vec<u8> {
    let mut query = vec![0x12, 0x34, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1];
    query.extend_from_slice(name);
    query.extend(rtype.to_be_bytes());
    query.extend([0, 1]);
    query.extend([0, 0, 41, 0x04, 0xd0, 0, 0, if dnssec_ok { 0x80 } else { 0 }, 0, 0, 0]);
    query
}

pub fn seen(message: &[u8]) -> Seen {
    let mut reader = Reader { message, at: 12 };
    let count = |at: usize| usize::from(u16::from_be_bytes([message[at], message[at + 1]]));
    for _ in 0..count(4) {
        reader.name();
        reader.at += 4;
    }
    let mut section = |at: usize| -> BTreeSet<Record> { (0..count(at)).map(|_| reader.record()).collect() };
    let (answer, authority, mut additional) = (section(6), section(8), section(10));
    additional.retain(|record| record.rtype != OPT);
    Seen {
        rcode: message[3] & 0x0f,
        authoritative: message[2] & 4 != 0,
        truncated: message[2] & 2 != 0,
        answer,
        authority,
        additional,
    }
}

struct Reader<'a> {
    message: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn u16(&mut self) -> u16 {
        self.at += 2;
        u16::from_be_bytes([self.message[self.at - 2], self.message[self.at - 1]])
    }

    /// A name, whole, in lower case.
    fn name(&mut self) -> Vec<u8> {
        let (mut name, mut at, mut end) = (Vec::new(), self.at, None);
        loop {
            let length = usize::from(self.message[at]);
            if length >= 0xc0 {
                end.get_or_insert(at + 2);
                at = (length & 0x3f) << 8 | usize::from(self.message[at + 1]);
                continue;
            }
            name.extend_from_slice(&self.message[at..=at + length].to_ascii_lowercase());
            at += 1 + length;
            if length == 0 {
                self.at = end.unwrap_or(at);
                return name;
            }
        }
    }

    fn record(&mut self) -> Record {
        let owner = self.name();
        let rtype = self.u16();
        self.at += 2;
        let ttl = u32::from(self.u16()) << 16 | u32::from(self.u16());
        let end = usize::from(self.u16()) + self.at;
        // Bytes before the first name, and how many names there are.
        let (before, names) = match rtype {
            2 | 5 | 12 | 39 => (0, 1),
            6 => (0, 2),
            15 => (2, 1),
            33 => (6, 1),
            _ => (0, 0),
        };
        let mut data = self.message[self.at..self.at + before].to_vec();
        self.at += before;
        for _ in 0..names {
            data.extend(self.name());
        }
        data.extend_from_slice(&self.message[self.at..end]);
        if rtype == RRSIG {
            // The signature itself, behind what it covers, its times, its key and its signer: one of ECDSA is another each
            // time that it is made, and a zone may be signed once more while it is handed on.
            self.at += 18;
            data.truncate(18 + self.name().len());
        }
        self.at = end;
        Record { owner, rtype, ttl, data }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = |is: bool, word: &'static str| if is { word } else { "" };
        write!(f, "rcode {}{}{}", self.rcode, flag(self.authoritative, " aa"), flag(self.truncated, " tc"))?;
        for (word, section) in [("AN", &self.answer), ("AU", &self.authority), ("AD", &self.additional)] {
            for record in section {
                let Record { owner, rtype, ttl, data } = record;
                write!(f, "\n    {word} {} {ttl} {rtype} {}", owner.escape_ascii(), data.escape_ascii())?;
            }
        }
        Ok(())
    }
}
