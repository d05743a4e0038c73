//! The counters of one vserver or service, read at one moment: what statistics are printed from, whichever front end
//! prints them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::histogram::Counts;
use super::{Interval, Measured, Meter};
use crate::model::ending::Ending;
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
    /// NetScaler's `totspillovers`: new clients sent to the backup.
    pub spillovers: u64,
    /// Refused because nothing was usable.
    pub refused: u64,
    /// Of a vserver: those of its services, whoever asked for them.
    pub connect_failures: u64,
    /// NetScaler's `curpersistencesessions`.
    pub persistence_sessions: u64,
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

/// How fast the totals of one object grow. They are looked at when somebody asks.
#[derive(Debug, Default)]
pub struct Rates {
    requests: Meter,
    responses: Meter,
    bytes_in: Meter,
    bytes_out: Meter,
}

// === impl Stats ===

impl Stats {
    pub fn of_vserver(snapshot: &Snapshot, id: VserverId, now: Tick) -> Stats {
        let entry = &snapshot.vservers[id.index()];
        let live = &entry.live;
        let flow = |meter: &Meter, total: &AtomicU64| Flow::read(meter, total, now);
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
            spillovers: live.spilled_total.load(Relaxed),
            refused: live.refused_total.load(Relaxed),
            connect_failures: members.map(|live| live.connect_failures_total.load(Relaxed)).sum(),
            persistence_sessions: entry.sessions.len() as u64,
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
            statuses: std::array::from_fn(|class| live.statuses_total[class].load(Relaxed)),
            times: times(&live.measured),
            ..Stats::default()
        }
    }
}

fn times(measured: &Measured) -> Vec<(Interval, Counts)> {
    Interval::ALL.iter().filter_map(|&interval| Some((interval, measured.counts(interval)?))).collect()
}

// === impl Flow ===

impl Flow {
    fn read(meter: &Meter, total: &AtomicU64, now: Tick) -> Flow {
        let total = total.load(Relaxed);
        Flow { total, per_second: meter.per_second(now, total) }
    }
}
