//! The spans of a request: its own, and one for each server that was to answer it. Kept where its trace is sampled, and
//! given away when it has ended; without `[trace]` none of this costs more than one look at a flag.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::asked::Asked;
use super::{Exchange, is_failure};
use crate::dataplane::member::Acquired;
use crate::model::ending::{Ending, Reason};
use crate::model::id::Name;
use crate::model::trace::{SAMPLED, TraceParent};
use crate::snapshot::live::{Traced, Tried};

/// Bytes of a path and of a User-Agent that are kept.
const PATH_MOST: usize = 2_048;
const AGENT_MOST: usize = 512;
/// Servers that are told of one request.
const TRIES_MOST: usize = 16;

/// `traceparent`
const PARENT: &str = "traceparent";
/// What other makers say of the trace; counts with its `traceparent` alone.
const STATE: &str = "tracestate";

/// The trace that a request belongs to.
#[derive(Debug)]
pub(super) struct Tracing {
    /// One for all spans, so that none begins before the one that it is in.
    clock: Since1970,
    /// As servers are told of it, but for the span where it is sampled: that is the one of the try.
    own: TraceParent,
    /// The caller's span.
    parent: Option<[u8; 8]>,
    /// What the client said of a trace counts for nothing.
    is_begun_here: bool,
    agent: String,
    tried: Vec<Tried>,
    under_way: Option<Try>,
}

/// The server that is tried now.
#[derive(Debug)]
struct Try {
    span: [u8; 8],
    vserver: Name,
    service: Name,
    address: SocketAddr,
    chosen: Instant,
}

/// Instants as nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
struct Since1970 {
    now: Instant,
    ns: u64,
}

impl Exchange {
    /// Decides which trace the request belongs to, and whether that is sampled. Most requests take no part: there is no
    /// `[trace]`, or their caller has a trace that it does not sample, which goes on as it came.
    pub(super) fn begin_trace(&mut self, asked: &Asked<'_>) {
        let shared = &self.conn.shared;
        if !shared.traces.is_on() {
            return;
        }
        let snapshot = shared.plane.cell.load();
        let Some(trace) = &snapshot.model.trace else { return };
        let client = self.conn.entry.client().ip();
        let is_accepted = trace.accept.iter().any(|network| network.contains(client));
        // Of several none is it (W3C Trace Context §3.2, §4.3): who reads which would be anybody's guess.
        let is_one = || (asked.field)(PARENT, 1).is_none();
        let given = (asked.field)(PARENT, 0).filter(|_| is_accepted && is_one()).and_then(TraceParent::parse);
        let traces = &shared.traces;
        let own = match given {
            Some(given) if !given.is_sampled() => return,
            Some(given) => TraceParent { span: traces.name_span(), ..given },
            None => {
                let name = traces.name_trace();
                let flags = if trace.samples(&name) { SAMPLED } else { 0 };
                TraceParent { trace: name, span: traces.name_span(), flags }
            }
        };
        let agent = (asked.field)("user-agent", 0).filter(|_| own.is_sampled()).unwrap_or_default();
        self.trace = Some(Box::new(Tracing {
            clock: Since1970::now(),
            own,
            parent: given.map(|given| given.span),
            is_begun_here: given.is_none(),
            agent: String::from_utf8_lossy(&agent[..agent.len().min(AGENT_MOST)]).into_owned(),
            tried: Vec::new(),
            under_way: None,
        }));
    }

    /// Whether its spans are kept.
    pub(super) fn is_sampled(&self) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.own.is_sampled())
    }

    /// What the server is told of the trace, in place of what the client said. `has_state`: the client said more of it.
    pub fn tell_trace(&self, said: &mut Vec<(Name, String)>, has_state: impl FnOnce() -> bool) {
        let Some(trace) = &self.trace else { return };
        let span = trace.under_way.as_ref().map_or(trace.own.span, |tried| tried.span);
        said.push((PARENT.into(), TraceParent { span, ..trace.own }.to_string()));
        if trace.is_begun_here && has_state() {
            // It is about another trace. An empty list is one (W3C Trace Context §3.3.1.1).
            said.push((STATE.into(), String::new()));
        }
    }

    /// A server is to answer it; the one before did not.
    pub(super) fn begin_try(&mut self, acquired: &Acquired) {
        if !self.is_sampled() {
            return;
        }
        self.end_try(Instant::now(), Some("another server was tried"));
        let Acquired { snapshot, choice, .. } = acquired;
        let model = &snapshot.model;
        let span = self.conn.shared.traces.name_span();
        if let Some(trace) = &mut self.trace {
            trace.under_way = Some(Try {
                span,
                vserver: Name::clone(&model.vserver(choice.serving).name),
                service: Name::clone(&model.service(choice.service).name),
                address: choice.address,
                chosen: Instant::now(),
            });
        }
    }

    /// `why`: it came to nothing.
    fn end_try(&mut self, now: Instant, why: Option<&str>) {
        let Some(clock) = self.trace.as_ref().map(|trace| trace.clock) else { return };
        let moments = self.moments_of_try(&clock);
        // Of a server that was reached it says nothing.
        let unreached = self.why.as_deref().filter(|_| self.connected.is_none());
        let failed = why.map(|why| unreached.unwrap_or(why).to_owned());
        let reused = self.connected.is_some() && self.connect.is_none();
        let (begun, status) = (self.calling.or(self.connected), self.said);
        let Some(trace) = &mut self.trace else { return };
        let Some(tried) = trace.under_way.take() else { return };
        let Try { span, vserver, service, address, chosen } = tried;
        if trace.tried.len() < TRIES_MOST {
            let (began, ended) = (clock.at(begun.unwrap_or(chosen)), clock.at(now));
            trace.tried.push(Tried { span, vserver, service, address, began, ended, reused, status, failed, moments });
        }
    }

    fn moments_of_try(&self, clock: &Since1970) -> Vec<(&'static str, u64)> {
        let connected = self.connected.filter(|_| self.connect.is_some());
        let before_tls = connected.zip(self.server_tls).and_then(|(at, took)| at.checked_sub(took));
        let sent = self.time_of(&self.sent);
        let moments = [
            ("tcp connected", before_tls),
            ("connected", connected),
            ("request sent", sent),
            ("first byte of the answer", self.time_of(&self.first_byte)),
        ];
        moments.into_iter().filter_map(|(what, at)| Some((what, clock.at(at?)))).collect()
    }

    /// It is over: its spans go to who sends them.
    pub(super) fn end_trace(&mut self, ending: Ending, status: u16, now: Instant) {
        if !self.is_sampled() {
            return;
        }
        let why = (ending.reason != Reason::Done).then(|| ending.to_string());
        self.end_try(now, why.as_deref());
        let Some(trace) = self.trace.take() else { return };
        let Tracing { clock, own, parent, agent, tried, .. } = *trace;
        let (entry, shared) = (&self.conn.entry, &self.conn.shared);
        let text = self.text.as_deref();
        let cut = |text: &str| text.chars().take(PATH_MOST).collect::<String>();
        let waited = self.head.filter(|_| !self.queued.is_zero()).map(|head| head + self.queued);
        let moments = [("head complete", self.head), ("left the queue", waited)];
        shared.traces.put(Box::new(Traced {
            trace: own.trace,
            span: own.span,
            parent,
            began: clock.at(self.began),
            ended: clock.at(now),
            client: entry.client(),
            tls: entry.is_tls(),
            method: text.map(|text| text.method.clone()).unwrap_or_default(),
            host: text.map(|text| cut(&text.host)).unwrap_or_default(),
            path: text.map(|text| cut(&text.path)).unwrap_or_default(),
            protocol: text.map_or("", |text| text.protocol),
            agent,
            vserver: Arc::clone(&entry.vserver),
            rule: self.rule.clone(),
            id: self.id(),
            status,
            failed: status >= 500 || is_failure(ending, status),
            bytes_in: self.bytes_in.load(Relaxed),
            bytes_out: self.bytes_out.load(Relaxed),
            ending,
            moments: moments.into_iter().filter_map(|(what, at)| Some((what, clock.at(at?)))).collect(),
            tries: tried,
        }));
    }
}

// === impl Since1970 ===

impl Since1970 {
    fn now() -> Since1970 {
        let (now, since) = (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO));
        Since1970 { now, ns: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX) }
    }

    fn at(&self, instant: Instant) -> u64 {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let (after, before) =
            (instant.saturating_duration_since(self.now), self.now.saturating_duration_since(instant));
        self.ns.saturating_add(ns(after)).saturating_sub(ns(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_keep_their_order_and_their_distances() {
        let clock = Since1970::now();
        let second = Duration::from_secs(1);
        let (before, after) = (clock.now.checked_sub(second), clock.now + 3 * second);
        assert_eq!(before.map(|at| clock.ns - clock.at(at)), before.map(|_| 1_000_000_000));
        assert_eq!(clock.at(after) - clock.at(clock.now), 3_000_000_000);
    }
}
