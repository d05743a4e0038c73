//! The counters of one vserver or service, read at one moment: what statistics are printed from, whichever front end
//! prints them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::histogram::Counts;
use super::{Interval, Measured, Meter};
use crate::model::ending::{Ending, Reason};
use crate::model::id::{ServiceId, VserverId};
use crate::model::time::Tick;
use crate::snapshot::Snapshot;

/// Totals count since the start, or since the object was made; a new configuration does not touch them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// NetScaler's `tothits`: requests (HTTP), connections (L4).
    pub requests: Flow,
    /// Answers that servers began.
    pub responses: Flow,
    /// Bytes from clients.
    pub bytes_in: Flow,
    /// Bytes to clients.
    pub bytes_out: Flow,
    /// Reads and datagrams from clients.
    pub packets_in: u64,
    /// Reads and datagrams from servers.
    pub packets_out: u64,
    /// NetScaler's `curclntconnections`; of a service: clients whose work it has.
    pub client_connections: u32,
    /// NetScaler's `cursrvrconnections`: requests in flight (HTTP) or connections (L4) at servers.
    pub server_connections: u32,
    /// Clients that wait for a member.
    pub surge_count: u32,
    /// NetScaler's `deferredreq`: those that had to wait in the surge queue.
    pub deferred: Flow,
    /// NetScaler's `totspillovers`: new clients that went to the backup although the vserver is UP.
    pub spillovers: u64,
    /// NetScaler's `totvserverdownbackuphits`: new clients that went to the backup while the vserver was DOWN.
    pub backup_hits: u64,
    /// Over a limit of their client.
    pub limited: u64,
    /// NetScaler's `invalidrequestresponse`: messages that could not be read, or only in more than one way; all of them
    /// were refused.
    pub invalid: u64,
    /// NetScaler's `curreusepool`: idle connections to servers that wait to be used again.
    pub reuse_pool: u32,
    /// NetScaler's `curload`, of a service: what its LOAD monitor told.
    pub load: Option<u32>,
    pub apdex: Option<Apdex>,
    /// Refused because nothing was usable.
    pub refused: u64,
    /// Of a vserver: those of its services, whoever asked for them.
    pub connect_failures: u64,
    /// NetScaler's `curpersistencesessions`.
    pub persistence_sessions: u64,
    /// NetScaler's `curbackuppersistencesessions`: those of them that stand behind a cookie.
    pub backup_persistence_sessions: u64,
    /// Answers by the first digit of their status; `[0]`: without one.
    pub statuses: [u64; 6],
    /// What was measured, by interval.
    pub times: Vec<(Interval, Counts)>,
    /// Of a vserver: how requests and connections ended.
    pub endings: Vec<(Ending, u64)>,
}

/// A total and how fast it grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    pub total: u64,
    /// Over the last 14 s, or since somebody first asked.
    pub per_second: u64,
}

/// How content clients can be with the total times: satisfied up to [`Apdex::THRESHOLD`], tolerating up to four times
/// that, frustrated beyond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Apdex {
    pub satisfied: u64,
    pub tolerating: u64,
    pub frustrated: u64,
}

/// How fast the totals of one object grow. They are looked at when somebody asks.
#[derive(Debug, Default)]
pub struct Rates {
    requests: Meter,
    responses: Meter,
    bytes_in: Meter,
    bytes_out: Meter,
    deferred: Meter,
}

// === impl Rates ===

impl Rates {
    /// Requests per second over the last 14 s, given their total.
    pub fn requests_per_second(&self, now: Tick, total: u64) -> u64 {
        self.requests.per_second(now, total)
    }
}

// === impl Stats ===

impl Stats {
    pub fn of_vserver(snapshot: &Snapshot, id: VserverId, now: Tick) -> Stats {
        let entry = &snapshot.vservers[id.index()];
        let live = &entry.live;
        let flow = |meter: &Meter, total: &AtomicU64| Flow::read(meter, total, now);
        let sessions = entry.sessions.len() as u64;
        let behind_a_cookie = snapshot.model.vserver(id).persistence.as_ref().is_some_and(|p| p.backup.is_some());
        let members = snapshot.model.vserver(id).members.iter().map(|m| &snapshot.services[m.service.index()].live);
        Stats {
            requests: flow(&live.rates.requests, &live.requests_total),
            responses: flow(&live.rates.responses, &live.responses_total),
            bytes_in: flow(&live.rates.bytes_in, &live.bytes_in_total),
            bytes_out: flow(&live.rates.bytes_out, &live.bytes_out_total),
            packets_in: live.packets_in_total.load(Relaxed),
            packets_out: live.packets_out_total.load(Relaxed),
            client_connections: live.connections.load(Relaxed),
            server_connections: entry.members.iter().map(|member| member.active.load(Relaxed)).sum(),
            surge_count: live.surge.depth(),
            deferred: flow(&live.rates.deferred, &live.surge.entered_total),
            spillovers: live.spilled_total.load(Relaxed),
            backup_hits: live.backup_hits_total.load(Relaxed),
            limited: live.limited_total.load(Relaxed),
            invalid: live.endings.counts().iter().filter(|(e, _)| is_invalid(e.reason)).map(|(_, n)| n).sum(),
            reuse_pool: members.clone().map(|live| live.pooled.load(Relaxed)).sum(),
            load: None,
            apdex: Apdex::of(&live.measured),
            refused: live.refused_total.load(Relaxed),
            connect_failures: members.map(|live| live.connect_failures_total.load(Relaxed)).sum(),
            persistence_sessions: sessions,
            backup_persistence_sessions: if behind_a_cookie { sessions } else { 0 },
            statuses: std::array::from_fn(|class| live.statuses_total[class].load(Relaxed)),
            times: times(&live.measured),
            endings: live.endings.counts(),
        }
    }

    pub fn of_service(snapshot: &Snapshot, id: ServiceId, now: Tick) -> Stats {
        let live = &snapshot.services[id.index()].live;
        let flow = |meter: &Meter, total: &AtomicU64| Flow::read(meter, total, now);
        let active = live.active.load(Relaxed);
        Stats {
            requests: flow(&live.rates.requests, &live.requests_total),
            responses: flow(&live.rates.responses, &live.responses_total),
            bytes_in: flow(&live.rates.bytes_in, &live.bytes_in_total),
            bytes_out: flow(&live.rates.bytes_out, &live.bytes_out_total),
            packets_in: live.packets_in_total.load(Relaxed),
            packets_out: live.packets_out_total.load(Relaxed),
            client_connections: active,
            server_connections: active,
            connect_failures: live.connect_failures_total.load(Relaxed),
            reuse_pool: live.pooled.load(Relaxed),
            load: live.load(),
            apdex: Apdex::of(&live.measured),
            statuses: std::array::from_fn(|class| live.statuses_total[class].load(Relaxed)),
            times: times(&live.measured),
            ..Stats::default()
        }
    }

    /// What was counted after `before` was read. What stands now (connections, queues, sessions, rates) stays as it is.
    pub fn since(&self, before: &Stats) -> Stats {
        let flow = |now: Flow, before: Flow| Flow { total: now.total.saturating_sub(before.total), ..now };
        let times = self.times.iter().map(|(part, counts)| {
            let before = before.times.iter().find(|(other, _)| other == part);
            (*part, before.map_or_else(|| counts.clone(), |(_, before)| counts.since(before)))
        });
        let endings = self.endings.iter().map(|(ending, count)| {
            let before = before.endings.iter().find(|(other, _)| other == ending).map_or(0, |(_, count)| *count);
            (*ending, count.saturating_sub(before))
        });
        Stats {
            requests: flow(self.requests, before.requests),
            responses: flow(self.responses, before.responses),
            bytes_in: flow(self.bytes_in, before.bytes_in),
            bytes_out: flow(self.bytes_out, before.bytes_out),
            packets_in: self.packets_in.saturating_sub(before.packets_in),
            packets_out: self.packets_out.saturating_sub(before.packets_out),
            deferred: flow(self.deferred, before.deferred),
            spillovers: self.spillovers.saturating_sub(before.spillovers),
            backup_hits: self.backup_hits.saturating_sub(before.backup_hits),
            limited: self.limited.saturating_sub(before.limited),
            invalid: self.invalid.saturating_sub(before.invalid),
            apdex: self.apdex.and_then(|now| now.since(before.apdex.unwrap_or_default())),
            refused: self.refused.saturating_sub(before.refused),
            connect_failures: self.connect_failures.saturating_sub(before.connect_failures),
            statuses: std::array::from_fn(|class| self.statuses[class].saturating_sub(before.statuses[class])),
            times: times.filter(|(_, counts)| counts.count > 0).collect(),
            endings: endings.filter(|(_, count)| *count > 0).collect(),
            ..*self
        }
    }
}

fn times(measured: &Measured) -> Vec<(Interval, Counts)> {
    Interval::ALL.iter().filter_map(|&interval| Some((interval, measured.counts(interval)?))).collect()
}

/// A message that is none, or that could mean two things.
fn is_invalid(reason: Reason) -> bool {
    matches!(reason, Reason::BadRequest | Reason::TooLarge | Reason::BadAnswer)
}

// === impl Apdex ===

impl Apdex {
    /// NetScaler's default.
    pub const THRESHOLD: Duration = Duration::from_millis(500);

    /// `None` where nothing was measured yet.
    pub fn of(measured: &Measured) -> Option<Apdex> {
        let counts = measured.counts(Interval::Total)?;
        let satisfied = counts.at_most(Apdex::THRESHOLD);
        let content = counts.at_most(4 * Apdex::THRESHOLD);
        Some(Apdex {
            satisfied,
            tolerating: content.saturating_sub(satisfied),
            frustrated: counts.count.saturating_sub(content),
        })
    }

    /// `None` where nothing was measured after `before`.
    fn since(self, before: Apdex) -> Option<Apdex> {
        let since = Apdex {
            satisfied: self.satisfied.saturating_sub(before.satisfied),
            tolerating: self.tolerating.saturating_sub(before.tolerating),
            frustrated: self.frustrated.saturating_sub(before.frustrated),
        };
        (since != Apdex::default()).then_some(since)
    }

    /// From 0 (all frustrated) to 1 (all satisfied).
    pub fn score(self) -> f64 {
        let all = self.satisfied + self.tolerating + self.frustrated;
        if all == 0 { 1.0 } else { (self.satisfied as f64 + self.tolerating as f64 / 2.0) / all as f64 }
    }
}

// === impl Flow ===

impl Flow {
    fn read(meter: &Meter, total: &AtomicU64, now: Tick) -> Flow {
        let total = total.load(Relaxed);
        Flow { total, per_second: meter.per_second(now, total) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_since_a_moment_leaves_what_stands_now_as_it_is() {
        let flow = |total| Flow { total, per_second: 3 };
        let apdex = |satisfied| Some(Apdex { satisfied, ..Apdex::default() });
        let before = Stats { requests: flow(10), spillovers: 2, apdex: apdex(10), ..Stats::default() };
        let now = Stats { requests: flow(12), spillovers: 2, client_connections: 4, ..before.clone() };
        let since = now.since(&before);
        assert_eq!((since.requests, since.spillovers, since.client_connections), (flow(2), 0, 4));
        assert_eq!(since.apdex, None);
        let more = Stats { apdex: apdex(11), ..now };
        assert_eq!(more.since(&before).apdex, apdex(1));
    }

    #[test]
    fn times_up_to_half_a_second_satisfy_and_times_beyond_two_frustrate() {
        let measured = Measured::default();
        assert_eq!(Apdex::of(&measured), None);
        for ms in [1, 480, 520, 1_900, 1_950, 2_100] {
            measured.record(Interval::Total, Duration::from_millis(ms));
        }
        let apdex = Apdex::of(&measured).unwrap();
        assert_eq!(apdex, Apdex { satisfied: 2, tolerating: 3, frustrated: 1 });
        assert!((apdex.score() - 3.5 / 6.0).abs() < 1e-9);
    }
}
