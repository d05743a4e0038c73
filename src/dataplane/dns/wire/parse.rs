//! Reading a query.
//!
//! What is refused follows RFC 8906 (every query that can be answered is answered) and RFC 9619 (one question, or none
//! where there is a cookie): unknown flags, types, classes and EDNS options pass; what cannot mean anything is FORMERR; what must not be answered at all
//! (answers, fragments of a header) is dropped, so that two servers can never be played against each other.

use super::{HEADER, OPCODE_QUERY, Options};

/// A well-formed standard query.
#[derive(Clone, Debug)]
pub struct Query {
    pub id: u16,
    pub recursion_desired: bool,
    /// Lower case, for lookups.
    pub name: LowerName,
    pub rtype: u16,
    pub class: u16,
    /// Where the question ends in the message: the bytes from 12 up to here are to be repeated as they are; 12: there is
    /// none, only a cookie (RFC 7873 §5.4).
    pub question_end: usize,
    pub edns: Option<Edns>,
}

/// A name in wire format, lower case, on the stack.
#[derive(Clone)]
pub struct LowerName {
    bytes: [u8; 255],
    length: u8,
}

/// The OPT record of a query (RFC 6891).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edns {
    /// At least 512.
    pub udp_payload: u16,
    pub version: u8,
    pub dnssec_ok: bool,
    pub options: Options,
}

/// Why a message is no query that can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// No answer: shorter than a header, or an answer itself.
    Drop,
    /// Answered with the bare header.
    FormErr,
    /// Another opcode than QUERY; answered with the bare header.
    NotImp,
}

const TYPE_OPT: u16 = 41;
const TYPE_IXFR: u16 = 251;

pub fn parse(message: &[u8]) -> Result<Query, Malformed> {
    if message.len() < HEADER || message[2] & 0x80 != 0 {
        return Err(Malformed::Drop);
    }
    if (message[2] >> 3) & 0x0f != OPCODE_QUERY {
        return Err(Malformed::NotImp);
    }
    parse_body(message).ok_or(Malformed::FormErr)
}

fn parse_body(message: &[u8]) -> Option<Query> {
    let count = |at: usize| u16::from_be_bytes([message[at], message[at + 1]]);
    let (questions, answers, authority, additional) = (count(4), count(6), count(8), count(10));
    if questions > 1 || answers != 0 {
        return None;
    }
    let mut reader = Reader { message, at: HEADER };
    let (name, rtype, class) = match questions {
        0 => (LowerName::new(&[0])?, 0, super::CLASS_IN),
        _ => (reader.question_name()?, reader.u16()?, reader.u16()?),
    };
    let question_end = reader.at;
    // Only a request for an incremental transfer brings a record along (RFC 1995 §3).
    if authority != 0 && rtype != TYPE_IXFR {
        return None;
    }
    for _ in 0..authority {
        reader.skip_record()?;
    }
    let mut edns = None;
    for _ in 0..additional {
        let is_root = *reader.message.get(reader.at)? == 0;
        if reader.skip_name()?.u16()? != TYPE_OPT {
            reader.skip(6)?.skip_rdata()?;
        } else if is_root && edns.is_none() {
            edns = Some(reader.edns()?);
        } else {
            return None;
        }
    }
    if questions == 0 && edns.is_none_or(|edns| edns.options.cookie.is_none()) {
        return None;
    }
    let recursion_desired = message[2] & 1 != 0;
    let id = count(0);
    (reader.at == message.len()).then_some(Query { id, recursion_desired, name, rtype, class, question_end, edns })
}

struct Reader<'a> {
    message: &'a [u8],
    at: usize,
}

// === impl Query ===

impl Query {
    pub fn has_question(&self) -> bool {
        self.question_end > HEADER
    }
}

// === impl Reader ===

impl Reader<'_> {
    fn u16(&mut self) -> Option<u16> {
        let bytes = self.message.get(self.at..self.at + 2)?;
        self.at += 2;
        Some(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn skip(&mut self, bytes: usize) -> Option<&mut Self> {
        self.at = self.at.checked_add(bytes).filter(|&at| at <= self.message.len())?;
        Some(self)
    }

    /// The first name of a message has nothing before it that a pointer could mean.
    fn question_name(&mut self) -> Option<LowerName> {
        let mut name = LowerName { bytes: [0; 255], length: 0 };
        loop {
            let length = usize::from(*self.message.get(self.at)?);
            if length > 63 {
                return None;
            }
            let label = self.message.get(self.at..=self.at + length)?;
            name.push(label)?;
            self.at += 1 + length;
            if length == 0 {
                return Some(name);
            }
        }
    }

    fn skip_name(&mut self) -> Option<&mut Self> {
        let start = self.at;
        loop {
            match *self.message.get(self.at)? {
                0 => return self.skip(1),
                length @ 1..=63 => self.skip(1 + usize::from(length))?,
                0xc0.. => return self.skip(2),
                _ => return None,
            };
            if self.at - start > 254 {
                return None;
            }
        }
    }

    fn skip_record(&mut self) -> Option<&mut Self> {
        self.skip_name()?.skip(8)?.skip_rdata()
    }

    fn skip_rdata(&mut self) -> Option<&mut Self> {
        let length = self.u16()?;
        self.skip(usize::from(length))
    }

    /// An OPT record behind its owner and type. What a later version of EDNS makes of its options is not known here.
    fn edns(&mut self) -> Option<Edns> {
        let udp_payload = self.u16()?.max(super::UDP_PAYLOAD_PLAIN);
        let version = (self.u16()? & 0xff) as u8;
        let dnssec_ok = self.u16()? & 0x8000 != 0;
        let length = usize::from(self.u16()?);
        let end = self.at + length;
        if end > self.message.len() {
            return None;
        }
        let mut options = Options::default();
        while self.at < end {
            let code = self.u16()?;
            let length = usize::from(self.u16()?);
            let data = self.message.get(self.at..self.at + length)?;
            self.at += length;
            if version == 0 {
                options.take(code, data)?;
            }
        }
        (self.at == end).then_some(Edns { udp_payload, version, dnssec_ok, options })
    }
}

// === impl LowerName ===

impl LowerName {
    /// From a whole name in wire format; `None` where it is longer than 255 bytes.
    pub fn new(wire: &[u8]) -> Option<LowerName> {
        let mut name = LowerName { bytes: [0; 255], length: 0 };
        name.push(wire).map(|()| name)
    }

    /// A label, with its length, in front of a whole name; `None` where it becomes too long.
    pub fn below(label: &[u8], name: &[u8]) -> Option<LowerName> {
        let mut below = LowerName::new(label)?;
        below.push(name).map(|()| below)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// The name with `suffix` of `cut` bytes replaced by `new`; `None` where it becomes too long (RFC 6672 §2.2).
    pub fn with_suffix(&self, cut: usize, new: &[u8]) -> Option<LowerName> {
        let mut name = LowerName::new(&self.as_bytes()[..usize::from(self.length) - cut])?;
        name.push(new).map(|()| name)
    }

    fn push(&mut self, wire: &[u8]) -> Option<()> {
        let start = usize::from(self.length);
        let target = self.bytes.get_mut(start..start + wire.len())?;
        target.copy_from_slice(wire);
        // Length octets are below 64 and thus no letters.
        target.make_ascii_lowercase();
        self.length = (start + wire.len()) as u8;
        Some(())
    }
}

impl std::fmt::Debug for LowerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.as_bytes().escape_ascii().to_string())
    }
}
