//! Writing an answer: names compressed against those already in the message, never beyond a limit.

use super::{CLASS_IN, HEADER, Opt, Query};
use crate::model::zone::RecordType;

/// Where a record goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Answer,
    Authority,
    Additional,
}

/// The message has no room for what was to be written; the writer stands where it stood before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Builds one message in a buffer that is reused.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Bytes that header, question and records may take; the OPT record is kept out of it.
    limit: usize,
    /// Records by section.
    counts: [u16; 3],
    /// Where labels start that a pointer can mean.
    names: [u16; NAMES],
    known: usize,
    question_end: usize,
}

/// How many label positions are remembered. Bounds the work for a name; a message that needs more is only longer.
const NAMES: usize = 48;
const POINTER_MAX: usize = 0x3fff;

// === impl Writer ===

impl<'a> Writer<'a> {
    /// Starts the answer to `query`, whose bytes are `message`: header, and the question as it was sent. `limit` is that
    /// of the whole message, `reserved` what of it is kept for the OPT record.
    pub fn new(out: &'a mut Vec<u8>, query: &Query, message: &[u8], limit: usize, reserved: usize) -> Writer<'a> {
        out.clear();
        out.extend_from_slice(&message[..2]);
        let questions = u8::from(query.has_question());
        out.extend_from_slice(&[0x80 | u8::from(query.recursion_desired), 0, 0, questions, 0, 0, 0, 0, 0, 0]);
        out.extend_from_slice(&message[HEADER..query.question_end]);
        let mut writer = Writer {
            limit: limit.saturating_sub(reserved),
            counts: [0; 3],
            names: [0; NAMES],
            known: 0,
            question_end: out.len(),
            out,
        };
        // Behind the name of the question stand the root's byte, type and class; without a question there is nothing.
        writer.remember(HEADER, writer.question_end - 5);
        writer
    }

    /// A bare header that echoes id, opcode and RD of `message` (at least 12 bytes), with a code.
    pub fn bare(out: &mut Vec<u8>, message: &[u8], rcode: u16) {
        out.clear();
        out.extend_from_slice(&message[..2]);
        out.extend_from_slice(&[0x80 | (message[2] & 0x79), rcode as u8 & 0x0f, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    /// One record.
    pub fn record(
        &mut self,
        section: Section,
        owner: &[u8],
        rtype: RecordType,
        ttl: u32,
        rdata: &[u8],
    ) -> Result<(), Full> {
        let before = (self.out.len(), self.known);
        self.name(owner);
        self.out.extend_from_slice(&rtype.0.to_be_bytes());
        self.out.extend_from_slice(&CLASS_IN.to_be_bytes());
        self.out.extend_from_slice(&ttl.to_be_bytes());
        let length_at = self.out.len();
        self.out.extend_from_slice(&[0, 0]);
        self.rdata(rtype, rdata);
        if self.out.len() > self.limit {
            self.out.truncate(before.0);
            self.known = before.1;
            return Err(Full);
        }
        let length = (self.out.len() - length_at - 2) as u16;
        self.out[length_at..length_at + 2].copy_from_slice(&length.to_be_bytes());
        self.counts[section as usize] += 1;
        Ok(())
    }

    /// Records of the answer section, ready on the wire.
    pub fn ready(&mut self, records: u16, wire: &[u8]) -> Result<(), Full> {
        if self.out.len() + wire.len() > self.limit {
            return Err(Full);
        }
        self.out.extend_from_slice(wire);
        self.counts[Section::Answer as usize] += records;
        Ok(())
    }

    /// A place to return to with [`Writer::rewind`].
    pub fn mark(&self) -> Mark {
        Mark { length: self.out.len(), known: self.known, counts: self.counts }
    }

    pub fn rewind(&mut self, mark: Mark) {
        self.out.truncate(mark.length);
        self.known = mark.known;
        self.counts = mark.counts;
    }

    /// Drops every record.
    pub fn clear(&mut self) {
        self.out.truncate(self.question_end);
        self.counts = [0; 3];
    }

    /// Drops every record and says TC.
    pub fn truncate(&mut self) {
        self.clear();
        self.out[2] |= 0x02;
    }

    pub fn has_answers(&self) -> bool {
        self.counts[Section::Answer as usize] > 0
    }

    pub fn set_authoritative(&mut self) {
        self.out[2] |= 0x04;
    }

    /// Writes the OPT record where the client sent one, the code and the counts. Returns where the OPT record begins, or
    /// the end.
    pub fn finish(mut self, rcode: u16, opt: Option<&Opt<'_>>) -> usize {
        self.out[3] = rcode as u8 & 0x0f;
        let end = self.out.len();
        if let Some(opt) = opt {
            opt.write(rcode, self.out);
            self.counts[Section::Additional as usize] += 1;
        }
        for (count, at) in self.counts.iter().zip([6, 8, 10]) {
            self.out[at..at + 2].copy_from_slice(&count.to_be_bytes());
        }
        end
    }

    /// RDATA, its names compressed where every reader must understand that (RFC 3597 §4).
    fn rdata(&mut self, rtype: RecordType, rdata: &[u8]) {
        match rtype {
            RecordType::NS | RecordType::CNAME | RecordType::PTR => self.name(rdata),
            RecordType::MX if rdata.len() > 2 => {
                self.out.extend_from_slice(&rdata[..2]);
                self.name(&rdata[2..]);
            }
            RecordType::SOA => {
                let (mname, rest) = split_name(rdata);
                let (rname, timers) = split_name(rest);
                self.name(mname);
                self.name(rname);
                self.out.extend_from_slice(timers);
            }
            _ => self.out.extend_from_slice(rdata),
        }
    }

    /// A whole name in wire format.
    fn name(&mut self, name: &[u8]) {
        let start = self.out.len();
        let mut rest = name;
        while let Some(&length) = rest.first().filter(|l| **l != 0) {
            if let Some(at) = self.find(rest) {
                self.out.extend_from_slice(&(0xc000 | at).to_be_bytes());
                self.remember(start, self.out.len() - 2);
                return;
            }
            let (label, above) = rest.split_at((1 + usize::from(length)).min(rest.len()));
            self.out.extend_from_slice(label);
            rest = above;
        }
        self.out.push(0);
        self.remember(start, self.out.len() - 1);
    }

    fn find(&self, name: &[u8]) -> Option<u16> {
        self.names[..self.known].iter().copied().find(|&at| self.stands_at(usize::from(at), name))
    }

    /// Whether `name` is written at `at`, letters compared without case.
    fn stands_at(&self, mut at: usize, mut name: &[u8]) -> bool {
        loop {
            let length = usize::from(self.out[at]);
            if length >= 0xc0 {
                // Pointers are our own and only ever point back.
                at = (length & 0x3f) << 8 | usize::from(self.out[at + 1]);
                continue;
            }
            let (Some(ours), Some(theirs)) = (self.out.get(at..=at + length), name.get(..=length)) else {
                return false;
            };
            if !ours.eq_ignore_ascii_case(theirs) {
                return false;
            }
            if length == 0 {
                return true;
            }
            at += 1 + length;
            name = &name[1 + length..];
        }
    }

    /// Remembers the labels written from `at` up to `end`.
    fn remember(&mut self, mut at: usize, end: usize) {
        while at < end && at <= POINTER_MAX && self.known < NAMES {
            self.names[self.known] = at as u16;
            self.known += 1;
            at += 1 + usize::from(self.out[at]);
        }
    }
}

/// See [`Writer::mark`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    length: usize,
    known: usize,
    counts: [u16; 3],
}

/// The first name of `wire` and what follows it.
fn split_name(wire: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    while let Some(&length) = wire.get(at).filter(|l| **l != 0) {
        at += 1 + usize::from(length);
    }
    wire.split_at((at + 1).min(wire.len()))
}
