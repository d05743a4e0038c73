//! What is measured of one request (HTTP) or connection (L4), from its first byte to its end, and how it ended.
//!
//! ```text
//!  began ── head ──── calling ── connected ── sent ──── first_byte ── answered ──── finish
//!    │ client │ queue, own │  connect    │ client │ first byte  │ own       │ both  │
//! ```
//!
//! An [`Exchange`] is made when the first byte is there, is told of each step as it happens, and is finished exactly
//! once. One that is dropped before counts too, under the reason its connection was cut for. A step costs one reading of
//! the clock; nothing is locked, and nothing is allocated while nobody reads the text of a request.

mod asked;
mod common;
mod conn;
mod line;
mod moved;
mod told;
mod traced;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

pub(crate) use asked::Asked;
use asked::Text;
pub(crate) use conn::Conn;
use told::is_failure;
use traced::Tracing;

use super::member::Acquired;
use crate::balance::passive::Outcome;
use crate::model::ending::{Ending, Phase, Reason, Who};
use crate::model::id::Name;
use crate::snapshot::live::{Interval, Measured, MemberLive};

/// The field of our own answers, and of answers to clients that are told how they came about, that names the request as
/// the log does.
pub(crate) const REQUEST_ID: &str = "X-Request-Id";

/// One request (HTTP), or one connection (L4).
#[derive(Debug)]
pub(crate) struct Exchange {
    conn: Arc<Conn>,
    /// Its number on the connection.
    nth: u32,
    began: Instant,
    head: Option<Instant>,
    queued: Duration,
    /// Of the member that is tried now.
    calling: Option<Instant>,
    connected: Option<Instant>,
    /// When, in ns since `began`; 0: not yet. Atomic, as one task may know of either direction.
    sent: AtomicU64,
    first_byte: AtomicU64,
    connect: Option<Duration>,
    server_tls: Option<Duration>,
    own: Duration,
    member: Option<Arc<MemberLive>>,
    rule: Option<Name>,
    /// Why the member could not be reached.
    why: Option<Box<str>>,
    /// The status that the server gave; 0: none yet.
    said: u16,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    text: Option<Box<Text>>,
    /// Where it belongs to one that is to be told of.
    trace: Option<Box<Tracing>>,
    finished: bool,
}

// === impl Exchange ===

impl Exchange {
    /// `began`: when its first byte was there; for L4 when the connection was accepted.
    pub fn begin(conn: &Arc<Conn>, began: Instant) -> Exchange {
        let nth = conn.entry.begin();
        Exchange {
            conn: Arc::clone(conn),
            nth,
            began,
            head: None,
            queued: Duration::ZERO,
            calling: None,
            connected: None,
            sent: AtomicU64::new(0),
            first_byte: AtomicU64::new(0),
            connect: None,
            server_tls: None,
            own: Duration::ZERO,
            member: None,
            rule: None,
            why: None,
            said: 0,
            bytes_in: AtomicU64::new(0),
            bytes_out: AtomicU64::new(0),
            text: None,
            trace: None,
            finished: false,
        }
    }

    /// The head is complete and can be understood (HTTP), or the connection is ready to be balanced (L4): from here on
    /// it counts as a request of the vserver.
    pub fn head(&mut self) {
        self.head_at(Instant::now());
    }

    /// The same of a moment that was read off the clock already.
    pub fn head_at(&mut self, at: Instant) {
        self.head = Some(at);
        self.conn.entry.live.requests_total.fetch_add(1, Relaxed);
    }

    /// The rule that decided.
    pub fn by_rule(&mut self, rule: &Name) {
        self.rule = Some(Arc::clone(rule));
    }

    /// Who is to serve it; again where another member is tried.
    pub fn chosen(&mut self, acquired: &Acquired) {
        let Acquired { snapshot, choice, waited, .. } = acquired;
        self.queued += *waited;
        let member = &snapshot.vservers[choice.serving.index()].members[choice.position as usize];
        self.released();
        if self.connected.is_some() && self.first_byte.load(Relaxed) == 0 {
            // It was reached, failed, and another one gets the request.
            self.judge(Outcome::Reset, Instant::now());
        }
        member.requests_total.fetch_add(1, Relaxed);
        self.begin_try(acquired);
        // One that serves for the vserver that was addressed (as its target, or its backup) has the request too, once.
        let had = self.member.as_ref().is_some_and(|had| Arc::ptr_eq(&had.serving, &member.serving));
        if !had && !Arc::ptr_eq(&member.serving, &self.conn.entry.live) {
            member.serving.requests_total.fetch_add(1, Relaxed);
        }
        member.active.fetch_add(1, Relaxed);
        self.conn.entry.set_member(Arc::clone(member));
        self.member = Some(Arc::clone(member));
        (self.calling, self.connected) = (None, None);
        self.sent.store(0, Relaxed);
    }

    /// The member that had it has it no longer.
    fn released(&self) {
        if let Some(member) = &self.member {
            member.active.fetch_sub(1, Relaxed);
        }
    }

    /// A new connection to the member is being made.
    pub fn calling(&mut self) {
        let now = Instant::now();
        self.decided(now);
        self.calling = Some(now);
    }

    /// The new connection is there; `handshake`: how much of the time since [`calling`](Self::calling) TLS took.
    pub fn connected(&mut self, handshake: Option<Duration>) {
        let now = Instant::now();
        self.decided(now);
        let took = self.calling.map(|calling| now.saturating_duration_since(calling));
        self.connect = took.map(|took| took.saturating_sub(handshake.unwrap_or_default()));
        self.server_tls = handshake;
        self.connected = Some(now);
    }

    /// The member cannot be reached.
    pub fn unreached(&mut self, why: &str) {
        self.why = Some(why.into());
    }

    /// A kept connection was there.
    pub fn reused(&mut self) {
        let now = Instant::now();
        self.decided(now);
        (self.connect, self.server_tls) = (None, None);
        self.connected = Some(now);
    }

    /// Our decision is over, the first time.
    fn decided(&mut self, now: Instant) {
        if self.calling.is_none() && self.connected.is_none() && self.own.is_zero() {
            let since = self.head.unwrap_or(self.began);
            self.own = now.saturating_duration_since(since).saturating_sub(self.queued);
        }
    }

    /// The whole request went out to the server; again for a retry. L4: the first bytes did.
    pub fn sent(&self) {
        self.stamp(&self.sent);
    }

    /// The server's answer begins (interim ones are none). L4: its first bytes.
    pub fn first_byte(&self) {
        self.stamp(&self.first_byte);
    }

    fn stamp(&self, step: &AtomicU64) {
        let ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        step.store(ns.max(1), Relaxed);
    }

    fn time_of(&self, step: &AtomicU64) -> Option<Instant> {
        let ns = step.load(Relaxed);
        (ns > 0).then(|| self.began + Duration::from_nanos(ns))
    }

    /// The server's answer begins, and says this; a rule may tell the client something else.
    pub fn said(&mut self, status: u16) {
        self.first_byte();
        self.said = status;
    }

    /// The head of the answer was given to the client's socket.
    pub fn answered(&mut self) {
        if let Some(first) = self.time_of(&self.first_byte) {
            self.own += first.elapsed();
        }
    }

    /// What is under way, as far as it was told.
    pub fn phase(&self) -> Phase {
        match self {
            Exchange { first_byte, .. } if first_byte.load(Relaxed) > 0 => Phase::Body,
            Exchange { sent, connected: Some(_), .. } if sent.load(Relaxed) > 0 => Phase::Wait,
            Exchange { connected: Some(_), .. } => Phase::Send,
            Exchange { calling: Some(_), .. } => Phase::Connect,
            Exchange { head: Some(_), .. } => Phase::Queue,
            Exchange { .. } => Phase::Head,
        }
    }

    /// An ending in the phase that is under way.
    pub fn ending(&self, who: Who, reason: Reason) -> Ending {
        Ending::new(who, self.phase(), reason)
    }

    /// It is over. `status`: what the client was told; 0 where it was told none.
    pub fn finish(mut self, ending: Ending, status: u16) {
        self.settle(ending, status);
    }

    /// The same for `who` and `reason` in the phase that is under way.
    pub fn end(self, who: Who, reason: Reason, status: u16) {
        let ending = self.ending(who, reason);
        self.finish(ending, status);
    }

    fn settle(&mut self, ending: Ending, status: u16) {
        self.finished = true;
        self.released();
        let now = Instant::now();
        let entry = &self.conn.entry;
        entry.end();
        entry.live.endings.count(ending);
        if status > 0 {
            entry.live.statuses_total[class(status)].fetch_add(1, Relaxed);
        }
        // A member is known by what it said itself, whatever a rule made of it.
        let said = if self.said > 0 { self.said } else { status };
        if self.first_byte.load(Relaxed) > 0 {
            entry.live.responses_total.fetch_add(1, Relaxed);
            if let Some(member) = &self.member {
                member.live.responses_total.fetch_add(1, Relaxed);
                member.live.statuses_total[class(said)].fetch_add(1, Relaxed);
            }
            if let Some(elsewhere) = self.elsewhere() {
                elsewhere.responses_total.fetch_add(1, Relaxed);
                elsewhere.statuses_total[class(status)].fetch_add(1, Relaxed);
            }
        }
        // HTTP-INLINE judges what the member's users got, also where it gave no answer at all.
        if let Some(member) = self.member.as_ref().filter(|_| status > 0)
            && (self.first_byte.load(Relaxed) > 0 || ending.who == Who::Server)
        {
            member.live.answers.count(said);
        }
        if let Some(outcome) = self.outcome(ending, said) {
            self.judge(outcome, now);
        }
        if self.head.is_some() {
            self.measure(now);
        }
        self.tell(ending, status, now);
        self.end_trace(ending, status, now);
    }

    /// How it went, as far as the member is to be judged by it; `None`: it never was reached, or not heard to the end
    /// for a reason of our own or the client's.
    fn outcome(&self, ending: Ending, status: u16) -> Option<Outcome> {
        let connected = self.connected?;
        if let Some(first) = self.time_of(&self.first_byte) {
            let asked = self.time_of(&self.sent).unwrap_or(connected);
            let after = first.saturating_duration_since(asked);
            return Some(Outcome::FirstByte { after, status: (status > 0).then_some(status) });
        }
        match ending.reason {
            Reason::ResetBeforeHead | Reason::BadAnswer | Reason::AnswerTimeout => Some(Outcome::Reset),
            Reason::Done => Some(Outcome::Connected),
            _ => None,
        }
    }

    fn judge(&self, outcome: Outcome, now: Instant) {
        if let Some(member) = &self.member {
            let shared = &self.conn.shared;
            shared.judge(&member.service, &member.live, outcome, shared.tick(now));
        }
    }

    /// Puts the times into the histograms of the vserver that was asked, the one that served, the service and the
    /// member.
    fn measure(&self, now: Instant) {
        let asked = &self.conn.entry.live;
        let mut all: [Option<&Measured>; 4] = [Some(&asked.measured), None, None, None];
        if let Some(member) = &self.member {
            all[1] = Some(&member.measured);
            all[2] = Some(&member.live.measured);
            all[3] = self.elsewhere().map(|vserver| &vserver.measured);
        }
        for (interval, time) in self.times(now) {
            all.iter().flatten().for_each(|measured| measured.record(interval, time));
        }
    }

    /// The intervals that were gone through.
    fn times(&self, now: Instant) -> impl Iterator<Item = (Interval, Duration)> {
        let since = |later: Instant, earlier: Instant| later.saturating_duration_since(earlier);
        let first_byte = self.time_of(&self.first_byte);
        // An answer may begin before the request is over.
        let asked = self.time_of(&self.sent).filter(|_| self.connected.is_some()).or(self.connected);
        let intervals = [
            (Interval::Total, Some(since(now, self.began))),
            (Interval::Queue, Some(self.queued).filter(|queued| !queued.is_zero())),
            (Interval::Connect, self.connect),
            (Interval::ServerTls, self.server_tls),
            (Interval::FirstByte, first_byte.zip(asked).map(|(first, asked)| since(first, asked))),
            (Interval::Transfer, first_byte.map(|first| since(now, first))),
            (Interval::Own, Some(self.own).filter(|own| !own.is_zero())),
        ];
        intervals.into_iter().filter_map(|(interval, time)| time.map(|time| (interval, time)))
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        let reason = match self.conn.entry.cut_for() {
            Some(reason) => reason,
            None if std::thread::panicking() => Reason::Internal,
            // Tasks that nobody cut are dropped with their runtime only.
            None => Reason::Shutdown,
        };
        let ending = self.ending(Who::Appliance, reason);
        self.settle(ending, 0);
    }
}

fn class(status: u16) -> usize {
    usize::from(status / 100).min(5)
}
