//! Asking a primary over TCP: for its serial, for differences, for the whole zone; signed where there is a key
//! (RFC 8945 §5.3). Everything has a time-out, and no answer is believed but one to our question.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::assemble::{Assembler, Outcome, older};
use super::records;
use crate::dataplane::dns::tsig::{Key, Signer, Tsig, u16_at};
use crate::dataplane::dns::unix_now;
use crate::dataplane::dns::wire::{self, CLASS_IN, rcode};
use crate::model::zone::{DnsName, RecordType, ZoneContents};
use crate::snapshot::contents::is_newer;

const CONNECT: Duration = Duration::from_secs(5);
/// For the next message.
const MESSAGE: Duration = Duration::from_secs(10);
/// For everything that one primary is asked.
const WHOLE: Duration = Duration::from_secs(600);
/// Messages between two signed ones (RFC 8945 §5.3.1).
const UNSIGNED_MOST: usize = 99;
const IXFR: u16 = 251;
const AXFR: u16 = 252;

/// What a primary is asked.
pub struct Ask {
    pub origin: DnsName,
    pub primary: SocketAddr,
    pub key: Option<Key>,
    pub have: Option<Arc<ZoneContents>>,
    /// The whole zone, whatever there is.
    pub whole: bool,
    /// Most that is taken. Bytes.
    pub most: u64,
}

struct Link<'a> {
    ask: &'a Ask,
    stream: TcpStream,
}

/// The signatures of the answers to one request.
struct Checker<'a> {
    key: Option<&'a Key>,
    prior: Vec<u8>,
    is_first: bool,
    unsigned: Vec<u8>,
    count: usize,
}

/// Asks. Errors: in words, without the address.
pub async fn fetch(ask: &Ask) -> Result<Outcome, String> {
    tokio::time::timeout(WHOLE, fetch_at_leisure(ask))
        .await
        .unwrap_or_else(|_| Err("not over in 10 minutes".to_owned()))
}

async fn fetch_at_leisure(ask: &Ask) -> Result<Outcome, String> {
    let mut link = Link::connect(ask).await?;
    if let Some(have) = ask.have.as_ref().filter(|_| !ask.whole) {
        let (here, there) = (have.serial(), link.serial().await?);
        if here == there {
            return Ok(Outcome::Current);
        }
        if !is_newer(there, here) {
            return Err(older(there, here));
        }
        match link.transfer(Some(have)).await {
            Ok(outcome) => return Ok(outcome),
            Err(why) => tracing::debug!(zone = %ask.origin, primary = %ask.primary, why, "no IXFR; AXFR is tried"),
        }
        link = Link::connect(ask).await?;
    }
    link.transfer(None).await
}

// === impl Link ===

impl<'a> Link<'a> {
    async fn connect(ask: &'a Ask) -> Result<Link<'a>, String> {
        let connected = tokio::time::timeout(CONNECT, TcpStream::connect(ask.primary)).await;
        let stream =
            connected.map_err(|_| "does not answer within 5 s".to_owned())?.map_err(|error| error.to_string())?;
        let _ = stream.set_nodelay(true);
        Ok(Link { ask, stream })
    }

    /// The serial of the primary's SOA.
    async fn serial(&mut self) -> Result<u32, String> {
        let (id, mut checker) = self.send(RecordType::SOA.0, None).await?;
        let message = self.receive(id, RecordType::SOA.0, &mut checker).await?;
        checker.ends()?;
        if message[2] & 0x04 == 0 {
            return Err("is not authoritative for the zone".to_owned());
        }
        let answers = records::answers(&message)?;
        let soa = answers.iter().find(|record| record.rtype == RecordType::SOA && record.owner == self.ask.origin);
        let soa = soa.filter(|soa| soa.rdata.len() >= 22).ok_or("does not tell its SOA")?;
        let numbers = &soa.rdata[soa.rdata.len() - 20..];
        Ok(u32::from_be_bytes([numbers[0], numbers[1], numbers[2], numbers[3]]))
    }

    async fn transfer(&mut self, have: Option<&Arc<ZoneContents>>) -> Result<Outcome, String> {
        let rtype = if have.is_some() { IXFR } else { AXFR };
        let (id, mut checker) = self.send(rtype, have.map(|have| &**have)).await?;
        let mut assembler = Assembler::new(self.ask.origin.clone(), have.cloned(), self.ask.most);
        if let Some(have) = self.ask.have.as_ref().filter(|_| !self.ask.whole) {
            assembler = assembler.not_before(have.serial());
        }
        while !assembler.is_done() {
            let message = self.receive(id, rtype, &mut checker).await?;
            for record in records::answers(&message)? {
                assembler.take(record)?;
            }
            assembler.message_ends();
        }
        checker.ends()?;
        let outcome = assembler.outcome().ok_or_else(|| "the transfer has no end".to_owned())?;
        let before = self.ask.have.as_ref().filter(|_| !self.ask.whole).map(|have| have.serial());
        Ok(match outcome {
            // Behind one address there may be several servers: this one has what is here.
            Outcome::New { contents, .. } if before == Some(contents.serial()) => Outcome::Current,
            outcome => outcome,
        })
    }

    async fn send(&mut self, rtype: u16, have: Option<&ZoneContents>) -> Result<(u16, Checker<'a>), String> {
        let id = crate::dataplane::dns::notify::random_id();
        let mut message = id.to_be_bytes().to_vec();
        message.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, u8::from(have.is_some()), 0, 0]);
        message.extend_from_slice(&self.ask.origin.0);
        message.extend_from_slice(&rtype.to_be_bytes());
        message.extend_from_slice(&CLASS_IN.to_be_bytes());
        if let Some(have) = have {
            // A pointer to the name in the question.
            message.extend_from_slice(&[0xc0, 12, 0, 6, 0, 1, 0, 0, 0, 0]);
            message.extend_from_slice(&(have.soa.rdata.len() as u16).to_be_bytes());
            message.extend_from_slice(&have.soa.rdata);
        }
        let mut prior = Vec::new();
        if let Some(key) = &self.ask.key {
            let mut signer = Signer::new(key.clone(), &[]);
            signer.sign(&mut message, unix_now());
            prior = signer.mac().to_vec();
        }
        let framed = [&(message.len() as u16).to_be_bytes()[..], &message].concat();
        let sent = tokio::time::timeout(MESSAGE, self.stream.write_all(&framed)).await;
        sent.map_err(|_| "does not take the request".to_owned())?.map_err(|error| error.to_string())?;
        let key = self.ask.key.as_ref();
        Ok((id, Checker { key, prior, is_first: true, unsigned: Vec::new(), count: 0 }))
    }

    async fn receive(&mut self, id: u16, rtype: u16, checker: &mut Checker<'_>) -> Result<Vec<u8>, String> {
        let stream = &mut self.stream;
        let read = async {
            let length = stream.read_u16().await?;
            let mut message = vec![0; usize::from(length)];
            stream.read_exact(&mut message).await?;
            Ok::<_, std::io::Error>(message)
        };
        let read = tokio::time::timeout(MESSAGE, read).await.map_err(|_| "falls silent for 10 s".to_owned())?;
        let message = read.map_err(|error| format!("ends the connection: {error}"))?;
        if message.len() < wire::HEADER || message[..2] != id.to_be_bytes() || message[2] & 0xf8 != 0x80 {
            return Err("answers something else".to_owned());
        }
        let was_first = checker.is_first;
        checker.check(&message)?;
        let code = u16::from(message[3] & 0x0f);
        if code != rcode::NOERROR {
            return Err(format!("answers {}", rcode::name(code)));
        }
        // Later messages of a transfer may leave the question out (RFC 5936 §2.2.1).
        let has_question = u16_at(&message, 4) == Some(1);
        if has_question {
            let end = wire::HEADER + self.ask.origin.0.len();
            let asked =
                message.get(wire::HEADER..end).is_some_and(|name| name.eq_ignore_ascii_case(&self.ask.origin.0));
            if !asked || u16_at(&message, end) != Some(rtype) {
                return Err("answers another question".to_owned());
            }
        } else if was_first && rtype == RecordType::SOA.0 {
            return Err("answers no question".to_owned());
        }
        Ok(message)
    }
}

// === impl Checker ===

impl Checker<'_> {
    fn check(&mut self, message: &[u8]) -> Result<(), String> {
        let found = Tsig::find(message).map_err(|_| "a message that cannot be read".to_owned())?;
        let (key, tsig) = match (self.key, found) {
            (None, None) => return Ok(()),
            (None, Some(_)) => return Err("signs what it was not asked to sign".to_owned()),
            (Some(_), None) if self.is_first => {
                let code = u16::from(message.get(3).map_or(0, |byte| byte & 0x0f));
                return Err(format!("answers without a signature ({})", rcode::name(code)));
            }
            (Some(_), None) => {
                self.count += 1;
                self.unsigned.extend_from_slice(message);
                let too_many = self.count > UNSIGNED_MOST;
                return if too_many { Err("signs too few of its messages".to_owned()) } else { Ok(()) };
            }
            (Some(key), Some(tsig)) => (key, tsig),
        };
        let refused = match tsig.error() {
            0 => None,
            16 => Some("BADSIG"),
            17 => Some("BADKEY"),
            18 => Some("BADTIME: the clocks differ"),
            _ => Some("another error of TSIG"),
        };
        if let Some(word) = refused {
            return Err(format!("does not accept our signature: {word}"));
        }
        tsig.verify(message, key, unix_now(), &self.prior, self.is_first, &self.unsigned)
            .map_err(|error| format!("has signed wrongly: {error:?}"))?;
        self.prior.clone_from(&tsig.mac);
        self.is_first = false;
        self.unsigned.clear();
        self.count = 0;
        Ok(())
    }

    /// The last message must be signed.
    fn ends(&self) -> Result<(), String> {
        if self.unsigned.is_empty() { Ok(()) } else { Err("does not sign its last message".to_owned()) }
    }
}
