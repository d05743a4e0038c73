//! DNS: every query is balanced on its own, whoever sent it.
//!
//! To a member go the queries of all clients from a few sockets, each under an identifier drawn anew, so that no two under
//! way are alike and a forger has to guess both. An answer is taken only from the member, under an identifier that is
//! waited for, to the question that was asked; the client sees the identifier that it chose. A member that is not there
//! (ICMP) costs nothing: its queries go to another. One that does not answer leaves the query to the client, whose
//! resolver asks again, and is then balanced again.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::batch::{Asked, Batch, SIZE};
use super::{Carry, Vip, connect};
use crate::dataplane::ended::{Conn, Exchange};
use crate::dataplane::member::{Admitted, Refused, Serving, admit};
use crate::dataplane::places::Place;
use crate::model::ending::{Reason, Who};
use crate::model::id::Name;

/// Waited for an answer. Resolvers give up earlier.
const PATIENCE: Duration = Duration::from_secs(5);
/// Queries under way at most.
const QUERIES_MAX: usize = 16_384;
/// Sockets to one member.
const SOCKETS: usize = 4;
/// Batches of queries before the answers get their turn.
const BATCHES: usize = 4;
/// Bytes of the fixed part of a message.
const HEADER: usize = 12;

pub(super) struct Queries {
    /// `None`: a place that is free.
    upstreams: Vec<Option<Upstream>>,
    by_member: HashMap<SocketAddr, Vec<usize>>,
    /// In the order of their deadlines; what was answered is still there.
    deadlines: VecDeque<(Instant, usize, u16, u64)>,
    waiting: usize,
    /// Generation of the snapshot whose members are known.
    seen: u64,
    input: Batch,
    output: Batch,
    random: RandomState,
    drawn: u64,
}

/// A socket to a member.
struct Upstream {
    socket: UdpSocket,
    /// By the identifier under which they were sent.
    waiting: HashMap<u16, Query>,
    _place: Place,
}

struct Query {
    nth: u64,
    client: SocketAddr,
    asked: Asked,
    /// As the client sent it.
    message: Vec<u8>,
    tried: Vec<Name>,
    exchange: Exchange,
    /// While a member works on it.
    serving: Option<Serving>,
    _admitted: Admitted,
}

impl Carry for Queries {
    fn is_idle(&self) -> bool {
        self.waiting == 0
    }

    fn answers(&mut self, vip: &Vip, slot: usize, _: Instant) {
        loop {
            if self.output.room() == 0 {
                self.output.send(&vip.socket);
            }
            let Some(Some(upstream)) = self.upstreams.get_mut(slot) else { return };
            let at = self.output.len();
            match self.output.receive(&upstream.socket, 1) {
                Ok(1) => {}
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => return self.not_there(vip, slot),
                _ => return,
            }
            match upstream.answered(self.output.datagram(at)) {
                Some(query) => {
                    self.waiting -= 1;
                    self.output.datagram_mut(at)[..2].copy_from_slice(&query.message[..2]);
                    self.output.address(at, query.client, query.asked);
                    query.exchange.first_byte();
                    query.exchange.moved_out(self.output.datagram(at).len() as u64);
                    query.exchange.end(Who::Server, Reason::Done, 0);
                }
                // Late, or forged.
                None => self.output.truncate(at),
            }
        }
    }

    fn answered(&mut self, vip: &Vip) {
        self.output.send(&vip.socket);
    }

    fn datagrams(&mut self, vip: &Vip, now: Instant) -> bool {
        for _ in 0..BATCHES {
            self.input.clear();
            let came = self.input.receive(&vip.socket, SIZE).unwrap_or(0);
            for at in 0..came {
                if let Some(query) = self.begin(vip, at, now) {
                    self.place(vip, query, now);
                }
            }
            if came < SIZE {
                return false;
            }
        }
        true
    }

    fn look(&mut self, vip: &Vip, now: Instant) {
        while let Some(&(_, slot, id, nth)) = self.deadlines.front().filter(|(deadline, ..)| *deadline <= now) {
            self.deadlines.pop_front();
            let Some(Upstream { waiting, .. }) = &mut self.upstreams[slot] else { continue };
            if waiting.get(&id).is_some_and(|query| query.nth == nth)
                && let Some(query) = waiting.remove(&id)
            {
                self.waiting -= 1;
                query.exchange.end(Who::Server, Reason::AnswerTimeout, 0);
            }
        }
        self.forget_members(vip);
    }

    fn stop(self) {
        for query in self.upstreams.into_iter().flatten().flat_map(|upstream| upstream.waiting.into_values()) {
            query.exchange.end(Who::Appliance, Reason::Shutdown, 0);
        }
    }
}

// === impl Queries ===

impl Queries {
    pub fn new() -> Queries {
        Queries {
            upstreams: Vec::new(),
            by_member: HashMap::new(),
            deadlines: VecDeque::new(),
            waiting: 0,
            seen: 0,
            input: Batch::new(),
            output: Batch::new(),
            random: RandomState::new(),
            drawn: 0,
        }
    }

    /// `None`: no query, or one that is not let in.
    fn begin(&mut self, vip: &Vip, at: usize, now: Instant) -> Option<Query> {
        let client = self.input.peer(at)?;
        let message = self.input.datagram(at);
        let is_query = message.len() >= HEADER && message[2] & 0x80 == 0;
        if !is_query {
            return None;
        }
        let conn = Conn::open(&vip.shared, client, &vip.vserver, &vip.live, now);
        let mut exchange = Exchange::begin(&conn, now);
        exchange.head();
        if self.waiting >= QUERIES_MAX {
            vip.live.refused_total.fetch_add(1, Ordering::Relaxed);
            exchange.end(Who::Appliance, Reason::TooManyConnections, 0);
            return None;
        }
        let snapshot = vip.shared.plane.cell.load();
        let entry = snapshot.model.vserver_id(&vip.vserver).ok_or_else(|| Refused::unavailable(Reason::Removed));
        match entry.and_then(|entry| admit(&snapshot, entry, &vip.wanted(client, &[]))) {
            Ok(admitted) => Some(Query {
                nth: 0,
                client,
                asked: self.input.asked(at),
                message: message.to_vec(),
                tried: Vec::new(),
                exchange,
                serving: None,
                _admitted: admitted,
            }),
            Err(refused) => {
                vip.live.refused_total.fetch_add(1, Ordering::Relaxed);
                exchange.finish(refused.ending, 0);
                None
            }
        }
    }

    /// Gives a query to a member that is there, or ends it without an answer.
    fn place(&mut self, vip: &Vip, mut query: Query, now: Instant) {
        loop {
            let acquired = match vip.acquire(query.client, &query.tried) {
                Ok(acquired) => acquired,
                Err(refused) => {
                    vip.live.refused_total.fetch_add(1, Ordering::Relaxed);
                    return query.exchange.finish(refused.ending, 0);
                }
            };
            query.exchange.chosen(&acquired);
            query.exchange.calling();
            let Some((slot, id)) = self.upstream(vip, acquired.choice.address) else {
                vip.live.refused_total.fetch_add(1, Ordering::Relaxed);
                return query.exchange.end(Who::Appliance, Reason::NoDescriptor, 0);
            };
            let Some(upstream) = &mut self.upstreams[slot] else { continue };
            let own = [query.message[0], query.message[1]];
            query.message[..2].copy_from_slice(&id.to_be_bytes());
            let sent = upstream.socket.send(&query.message);
            query.message[..2].copy_from_slice(&own);
            match sent {
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    query.tried.push(Arc::clone(acquired.serving.service()));
                    acquired.serving.live().connect_failures_total.fetch_add(1, Ordering::Relaxed);
                }
                _ => {
                    query.exchange.connected(None);
                    query.exchange.sent();
                    query.exchange.moved_in(query.message.len() as u64);
                    query.serving = Some(acquired.serving);
                    query.nth = self.drawn;
                    self.deadlines.push_back((now + PATIENCE, slot, id, query.nth));
                    upstream.waiting.insert(id, query);
                    self.waiting += 1;
                    return;
                }
            }
        }
    }

    /// A socket to this member, and an identifier that is free on it.
    fn upstream(&mut self, vip: &Vip, member: SocketAddr) -> Option<(usize, u16)> {
        let drawn = self.draw();
        let known = self.by_member.get(&member).map_or(0, Vec::len);
        let nth = usize::from((drawn >> 16) as u16) % SOCKETS;
        let slot = match self.by_member.get(&member).and_then(|slots| slots.get(nth)) {
            Some(&slot) => slot,
            None => match self.open(vip, member) {
                Some(slot) => slot,
                // No file left for another: one of those that are there.
                None => self.by_member.get(&member).map(|slots| slots[nth % known.max(1)])?,
            },
        };
        let mut id = drawn as u16;
        while self.upstreams[slot].as_ref().is_some_and(|upstream| upstream.waiting.contains_key(&id)) {
            id = self.draw() as u16;
        }
        Some((slot, id))
    }

    fn open(&mut self, vip: &Vip, member: SocketAddr) -> Option<usize> {
        let Some(place) = vip.place() else {
            vip.shared.places.want();
            return None;
        };
        let socket = connect(&vip.shared, member).ok()?;
        let slot = self.upstreams.iter().position(Option::is_none).unwrap_or(self.upstreams.len());
        vip.watch(&socket, slot).ok()?;
        self.upstreams.resize_with(self.upstreams.len().max(slot + 1), || None);
        self.upstreams[slot] = Some(Upstream { socket, waiting: HashMap::new(), _place: place });
        self.by_member.entry(member).or_default().push(slot);
        Some(slot)
    }

    /// Closes the sockets to addresses that no service has any more.
    fn forget_members(&mut self, vip: &Vip) {
        let snapshot = vip.shared.plane.cell.load();
        if std::mem::replace(&mut self.seen, snapshot.generation) == snapshot.generation {
            return;
        }
        let upstreams = &mut self.upstreams;
        self.by_member.retain(|member, slots| {
            let is_used = |slot: &usize| upstreams[*slot].as_ref().is_some_and(|upstream| !upstream.waiting.is_empty());
            let stays = snapshot.services.iter().any(|s| s.address == Some(*member)) || slots.iter().any(is_used);
            if !stays {
                slots.iter().for_each(|slot| upstreams[*slot] = None);
            }
            stays
        });
    }

    /// What nobody outside can foretell.
    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.random.hash_one(self.drawn)
    }

    /// The member's host said so: its queries go elsewhere.
    fn not_there(&mut self, vip: &Vip, slot: usize) {
        let now = Instant::now();
        let Some(upstream) = &mut self.upstreams[slot] else { return };
        for mut query in std::mem::take(&mut upstream.waiting).into_values() {
            self.waiting -= 1;
            if let Some(serving) = query.serving.take() {
                serving.live().connect_failures_total.fetch_add(1, Ordering::Relaxed);
                query.tried.push(Arc::clone(serving.service()));
            }
            self.place(vip, query, now);
        }
    }
}

// === impl Upstream ===

impl Upstream {
    /// Takes out the query that this answers.
    fn answered(&mut self, answer: &[u8]) -> Option<Query> {
        let id = u16::from_be_bytes([*answer.first()?, *answer.get(1)?]);
        let query = self.waiting.get(&id)?;
        answers(answer, &query.message).then(|| self.waiting.remove(&id)).flatten()
    }
}

/// Whether `answer` is one, to the question of `query`; the identifiers aside.
fn answers(answer: &[u8], query: &[u8]) -> bool {
    let is_answer = answer.len() >= HEADER && answer[2] & 0x80 != 0;
    // An error may come without the question (RFC 1035 does not forbid it).
    let without = is_answer && answer[4..6] == [0, 0] && answer[3] & 0x0f != 0;
    without || is_answer && question(answer).is_some_and(|asked| Some(asked) == question(query))
}

/// The first question, with its type and class; of a query without one the empty slice.
fn question(message: &[u8]) -> Option<&[u8]> {
    if message.get(4..6)? == [0, 0] {
        return Some(&[]);
    }
    let mut at = HEADER;
    loop {
        match usize::from(*message.get(at)?) {
            0 => return message.get(HEADER..at + 5),
            // A pointer has no place in the first name of a message.
            label if label > 63 => return None,
            label => at += 1 + label,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{answers, question};

    fn message(flags: [u8; 2], questions: u8, name: &[u8]) -> Vec<u8> {
        let mut message = vec![0, 7, flags[0], flags[1], 0, questions, 0, 0, 0, 0, 0, 0];
        message.extend_from_slice(name);
        message.extend_from_slice(&[0, 1, 0, 1]);
        message
    }

    #[test]
    fn only_an_answer_to_the_question_asked_is_taken() {
        let query = message([1, 0], 1, b"\x03www\x04test\x00");
        assert_eq!(question(&query).map(<[u8]>::len), Some(14));
        assert!(answers(&message([0x81, 0x80], 1, b"\x03www\x04test\x00"), &query));
        assert!(!answers(&message([0x81, 0x80], 1, b"\x03wwx\x04test\x00"), &query), "another name");
        assert!(!answers(&message([0x01, 0x80], 1, b"\x03www\x04test\x00"), &query), "a query");
        assert!(!answers(&message([0x81, 0x80], 0, b""), &query), "success without the question");
        assert!(answers(&message([0x81, 0x82], 0, b""), &query), "SERVFAIL without the question");
        assert!(!answers(&query[..11], &query));
        assert!(!answers(&message([0x81, 0x80], 1, b"\xc0\x0c"), &query), "a pointer");
        assert!(!answers(&message([0x81, 0x80], 1, b"\x3fwww"), &query), "a name that does not end");
    }
}
