//! Counters and times.

use std::time::Duration;

use super::text;
use crate::snapshot::live::histogram::Counts;
use crate::snapshot::live::stats::{Flow, Stats};
use crate::snapshot::live::{Interval, Measured};

dto! {
    /// What was counted and measured of one vserver or service. Totals count since the start, or since the object was
    /// made; a new configuration does not touch them. With `cleared` they count since `cleared_at`.
    pub struct StatsDto {
        pub name: String,
        /// When somebody cleared the counters; null where nobody did, and where it was not asked for.
        pub cleared_at: Option<String>,
        /// Requests (HTTP), connections (L4).
        pub requests: FlowDto,
        /// Answers that servers began.
        pub responses: FlowDto,
        /// From clients.
        pub bytes_in: FlowDto,
        /// To clients.
        pub bytes_out: FlowDto,
        /// Reads and datagrams from clients.
        pub packets_in_total: u64,
        /// Reads and datagrams from servers.
        pub packets_out_total: u64,
        /// Open client connections; of a service: clients whose work it has.
        pub client_connections: u32,
        /// Requests in flight (HTTP) or connections (L4) at servers.
        pub server_connections: u32,
        /// Clients that wait for a member.
        pub surge_count: u32,
        /// Those that had to wait in the surge queue.
        pub deferred: FlowDto,
        /// New clients that went to the backup although the vserver is UP.
        pub spillovers_total: u64,
        /// New clients that went to the backup while the vserver was DOWN.
        pub backup_hits_total: u64,
        /// Over a limit of their client.
        pub limited_total: u64,
        /// Messages that could not be read, or only in more than one way; all were refused.
        pub invalid_total: u64,
        /// Idle connections to servers that wait to be used again.
        pub reuse_pool: u32,
        /// Of a service: what its LOAD monitor told.
        pub load: Option<u32>,
        /// How content clients can be with the total times; null before the first.
        pub apdex: Option<ApdexDto>,
        /// Refused because nothing was usable.
        pub refused_total: u64,
        /// Of a vserver: those of its services, whoever asked for them.
        pub connect_failures_total: u64,
        pub persistence_sessions: u64,
        /// Those of them that stand behind a cookie.
        pub backup_persistence_sessions: u64,
        /// Answers 1xx, 2xx, 3xx, 4xx, 5xx.
        pub statuses_total: Vec<u64>,
        pub times: Vec<TimesDto>,
        /// Of a vserver: how requests and connections ended; only what occurred.
        pub endings: Vec<EndingDto>,
    }

    /// Total times against a threshold of 500 ms.
    pub struct ApdexDto {
        /// From 0 (all frustrated) to 1 (all satisfied).
        pub score: f64,
        pub satisfied_total: u64,
        /// Up to four times the threshold.
        pub tolerating_total: u64,
        /// Beyond that.
        pub frustrated_total: u64,
    }

    /// A total and how fast it grows.
    pub struct FlowDto {
        pub total: u64,
        /// Per second over the last 14 s, or since somebody first asked.
        pub rate: u64,
    }

    /// A part of the time of requests (HTTP) and connections (L4); within 2 %.
    pub struct TimesDto {
        /// `total`, `queue`, `connect`, `server_tls`, `first_byte`, `transfer`, `own`, `client_tls`.
        pub part: String,
        /// How many went through it.
        pub count: u64,
        pub mean_ms: f64,
        pub p50_ms: f64,
        pub p90_ms: f64,
        pub p99_ms: f64,
        pub p999_ms: f64,
        pub max_ms: f64,
    }

    /// A way to end, and how often it occurred.
    pub struct EndingDto {
        /// `client`, `appliance` or `server`.
        pub who: String,
        /// What was under way.
        pub phase: String,
        pub reason: String,
        pub total: u64,
    }
}

// === impl StatsDto ===

impl StatsDto {
    pub fn of(name: &str, stats: &Stats) -> StatsDto {
        StatsDto {
            name: text(name),
            cleared_at: None,
            requests: FlowDto::of(stats.requests),
            responses: FlowDto::of(stats.responses),
            bytes_in: FlowDto::of(stats.bytes_in),
            bytes_out: FlowDto::of(stats.bytes_out),
            packets_in_total: stats.packets_in,
            packets_out_total: stats.packets_out,
            client_connections: stats.client_connections,
            server_connections: stats.server_connections,
            surge_count: stats.surge_count,
            deferred: FlowDto::of(stats.deferred),
            spillovers_total: stats.spillovers,
            backup_hits_total: stats.backup_hits,
            limited_total: stats.limited,
            invalid_total: stats.invalid,
            reuse_pool: stats.reuse_pool,
            load: stats.load,
            apdex: stats.apdex.map(|apdex| ApdexDto {
                score: (apdex.score() * 1e3).round() / 1e3,
                satisfied_total: apdex.satisfied,
                tolerating_total: apdex.tolerating,
                frustrated_total: apdex.frustrated,
            }),
            refused_total: stats.refused,
            connect_failures_total: stats.connect_failures,
            persistence_sessions: stats.persistence_sessions,
            backup_persistence_sessions: stats.backup_persistence_sessions,
            statuses_total: stats.statuses[1..].to_vec(),
            times: stats.times.iter().map(|(interval, counts)| TimesDto::of(*interval, counts)).collect(),
            endings: stats
                .endings
                .iter()
                .map(|(ending, total)| EndingDto {
                    who: text(ending.who.word()),
                    phase: text(ending.phase.word()),
                    reason: text(ending.reason.word()),
                    total: *total,
                })
                .collect(),
        }
    }
}

// === impl FlowDto ===

impl FlowDto {
    fn of(flow: Flow) -> FlowDto {
        FlowDto { total: flow.total, rate: flow.per_second }
    }
}

// === impl TimesDto ===

impl TimesDto {
    fn of(interval: Interval, counts: &Counts) -> TimesDto {
        let ms = |time: Option<Duration>| {
            // To the microsecond: the rest is noise, and long to read.
            time.map_or(0.0, |time| (time.as_secs_f64() * 1e6).round() / 1e3)
        };
        TimesDto {
            part: text(interval.word()),
            count: counts.count,
            mean_ms: ms(counts.mean()),
            p50_ms: ms(counts.quantile(0.5)),
            p90_ms: ms(counts.quantile(0.9)),
            p99_ms: ms(counts.quantile(0.99)),
            p999_ms: ms(counts.quantile(0.999)),
            max_ms: ms(Some(counts.max)),
        }
    }

    /// Every part that was gone through.
    pub fn all(measured: &Measured) -> Vec<TimesDto> {
        let counts = Interval::ALL.iter().filter_map(|&interval| Some((interval, measured.counts(interval)?)));
        counts.map(|(interval, counts)| TimesDto::of(interval, &counts)).collect()
    }
}
