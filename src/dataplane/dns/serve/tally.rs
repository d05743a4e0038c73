//! What was answered, added up for a batch: all readers write to the same counters, and each write takes the counter's
//! memory from every other core.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Shared;
use crate::dataplane::dns::answer::{Outcome, Transport};
use crate::dataplane::dns::wire::rcode;
use crate::snapshot::Snapshot;
use crate::snapshot::live::{DnsLive, Served};

/// Counts of messages over one transport under one snapshot; they stand in its counters once this is dropped.
pub(super) struct Tally<'a> {
    snapshot: &'a Snapshot,
    transport: Transport,
    dropped: u64,
    rcodes: [u64; DnsLive::RCODES],
    truncated: u64,
    /// Of the zone that was asked last; position in `Model::zones`.
    zone: Option<usize>,
    zone_queries: u64,
    zone_nxdomain: u64,
    /// Of the steered RRset that answered last.
    served: Option<(u32, Served)>,
    served_count: u64,
}

// === impl Tally ===

impl<'a> Tally<'a> {
    pub fn new(snapshot: &'a Snapshot, transport: Transport) -> Tally<'a> {
        Tally {
            snapshot,
            transport,
            dropped: 0,
            rcodes: [0; DnsLive::RCODES],
            truncated: 0,
            zone: None,
            zone_queries: 0,
            zone_nxdomain: 0,
            served: None,
            served_count: 0,
        }
    }

    pub fn count(&mut self, shared: &Shared, outcome: &Outcome) {
        if !outcome.reply {
            self.dropped += 1;
            return;
        }
        self.rcodes[usize::from(outcome.rcode).min(DnsLive::RCODES - 1)] += 1;
        self.truncated += u64::from(outcome.truncated);
        if outcome.zone.is_some() {
            if self.zone != outcome.zone {
                self.end_zone();
                self.zone = outcome.zone;
            }
            self.zone_queries += 1;
            self.zone_nxdomain += u64::from(outcome.rcode == rcode::NXDOMAIN);
        }
        if outcome.served.is_some() {
            if self.served != outcome.served {
                self.end_served();
                self.served = outcome.served;
            }
            self.served_count += 1;
        }
        if let Some((rrset, fallback)) = outcome.fallback {
            self.snapshot.dns.fallback_total.fetch_add(1, Ordering::Relaxed);
            if let Some(zone) = outcome.zone.and_then(|at| self.snapshot.zone_live.get(at)) {
                zone.fallback_total.fetch_add(1, Ordering::Relaxed);
            }
            shared.log_fallback(self.snapshot, outcome.zone, rrset, fallback);
        }
    }

    fn end_zone(&mut self) {
        self.end_served();
        if let Some(zone) = self.zone.and_then(|at| self.snapshot.zone_live.get(at)) {
            add(&zone.queries_total, &mut self.zone_queries);
            add(&zone.nxdomain_total, &mut self.zone_nxdomain);
        }
    }

    fn end_served(&mut self) {
        let count = std::mem::take(&mut self.served_count);
        let (Some((rrset, served)), Some(at)) = (self.served, self.zone) else { return };
        let Some(zone) = self.snapshot.zone_live.get(at).filter(|_| count > 0) else { return };
        let find = || zone.rrset(&self.snapshot.model.zones[at].rrsets[rrset as usize].key);
        self.snapshot.zones.zone(at).counted(rrset, find).count(served, count);
    }
}

impl Drop for Tally<'_> {
    fn drop(&mut self) {
        self.end_zone();
        let live = &self.snapshot.dns;
        let mut replies: u64 = self.rcodes.iter().sum();
        let mut refused = self.rcodes[usize::from(rcode::REFUSED)];
        add(&live.dropped_total, &mut self.dropped);
        add(&live.truncated_total, &mut self.truncated);
        add(&live.refused_total, &mut refused);
        for (total, count) in live.rcodes_total.iter().zip(&mut self.rcodes) {
            add(total, count);
        }
        let total = match self.transport {
            Transport::Udp => &live.udp_queries_total,
            Transport::Tcp => &live.tcp_queries_total,
            Transport::Tls => &live.tls_queries_total,
            Transport::Https => &live.https_queries_total,
        };
        add(total, &mut replies);
    }
}

fn add(total: &AtomicU64, count: &mut u64) {
    let count = std::mem::take(count);
    if count > 0 {
        total.fetch_add(count, Ordering::Relaxed);
    }
}
