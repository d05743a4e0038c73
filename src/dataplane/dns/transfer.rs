//! Zones going out to secondaries: AXFR (RFC 5936), and IXFR (RFC 1995): by the differences that are kept, by the SOA
//! alone where the secondary has what is served, else by the whole zone.
//!
//! A transfer holds the zone as one snapshot has it, steered RRsets as scenarios and checks leave them, and, where the
//! zone is signed, its signatures and its NSEC chain. It is made message by message while it is sent.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::tsig::{Key, Signer, TSIG_MAX, Tsig, TsigError, u16_at};
use super::unix_now;
use super::wire::{self, ExtendedError, HEADER, Opt, Query, Section, Writer, rcode};
use crate::model::transfer::Transfer;
use crate::model::zone::{DnsName, RecordType, StaticRecord};
use crate::snapshot::Snapshot;
use crate::snapshot::contents::{changes, is_newer};
use crate::snapshot::signing::{Signable, ZoneSigner};
use crate::snapshot::zones::{Node, NodeId};

const TYPE_IXFR: u16 = 251;
const TYPE_AXFR: u16 = 252;
/// A message is sent when it has about this many bytes: within the reach of compression pointers.
const MESSAGE: usize = 16 << 10;
/// Records that are sent as differences, however small the zone is.
const LITTLE: usize = 1_000;

/// What to do with a message that asks for a transfer.
pub enum Reply {
    /// Refused, or the SOA alone.
    One(Vec<u8>),
    Whole(Box<Outgoing>),
}

/// A transfer on its way.
pub struct Outgoing {
    snapshot: Arc<Snapshot>,
    zone: usize,
    request: Vec<u8>,
    query: Query,
    signer: Option<Signer>,
    queue: VecDeque<Row>,
    next_node: usize,
    is_ended: bool,
}

struct Row {
    owner: DnsName,
    rtype: RecordType,
    ttl: u32,
    rdata: Arc<[u8]>,
}

/// Whether a message asks for a transfer. Cheap: every query over TCP is looked at.
pub fn is_request(message: &[u8]) -> bool {
    let Ok(query) = wire::parse(message) else { return false };
    matches!(query.rtype, TYPE_AXFR | TYPE_IXFR) && query.class == wire::CLASS_IN
}

/// Begins the answer to a message of which [`is_request`] is true. `now`: Unix seconds.
pub fn begin(snapshot: &Arc<Snapshot>, message: &[u8], client: IpAddr, now: u64) -> Reply {
    let Ok(query) = wire::parse(message) else { return Reply::One(Vec::new()) };
    let refuse = |code: u16, error: Option<ExtendedError>| {
        let mut out = Vec::new();
        Writer::new(&mut out, &query, message, usize::from(u16::MAX), 0)
            .finish(code, opt(&query, error.filter(|_| snapshot.model.dns.extended_errors)).as_ref());
        out
    };
    let prohibited = || Reply::One(refuse(rcode::REFUSED, Some(ExtendedError { code: 18, text: "" })));
    let Ok(tsig) = Tsig::find(message) else { return Reply::One(refuse(rcode::FORMERR, None)) };
    let keys = &snapshot.model.dns.tsig;
    let key = |at: u32| keys.get(at as usize).and_then(Key::load);
    let mut signer = None;
    let mut signed_by = None;
    if let Some(tsig) = &tsig {
        let at = keys.iter().position(|key| *key.owner.0 == *tsig.name.as_bytes());
        let found = at.and_then(|at| key(at as u32));
        let verified = match &found {
            Some(key) => tsig.verify(message, key, now, &[], true, &[]),
            None => Err(TsigError::BadKey),
        };
        if let Err(error) = verified {
            let mut answer = refuse(NOTAUTH, None);
            tsig.refuse(&mut answer, error, found.as_ref(), now);
            return Reply::One(answer);
        }
        signed_by = at.map(|at| at as u32);
        signer = found.map(|key| Signer::new(key, &tsig.mac));
    }
    let zone = snapshot.zones.find(query.name.as_bytes());
    let zone = zone.filter(|&zone| *snapshot.zones.zone(zone).origin.0 == *query.name.as_bytes());
    let Some(zone) = zone.filter(|_| snapshot.model.features.gslb) else { return prohibited() };
    if !may_have(&snapshot.model.zones[zone].transfer, client, signed_by) {
        return prohibited();
    }
    if !snapshot.ready {
        return Reply::One(refuse(rcode::SERVFAIL, Some(ExtendedError { code: 14, text: "" })));
    }
    if let Some(missing) = snapshot.zones.zone(zone).missing {
        return Reply::One(refuse(rcode::SERVFAIL, Some(super::answer::unavailable(missing))));
    }
    let serial = snapshot.serial(zone);
    let known = known_serial(message, &query).filter(|_| query.rtype == TYPE_IXFR);
    // The same or a newer one (RFC 1995 §2).
    if known.is_some_and(|known| known == serial || is_newer(known, serial)) {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, &query, message, usize::from(u16::MAX), TSIG_MAX);
        let entry = snapshot.zones.zone(zone);
        let soa = snapshot.soa(zone);
        let _ = writer.record(Section::Answer, &entry.origin.0, RecordType::SOA, entry.soa_ttl, soa);
        writer.set_authoritative();
        writer.finish(rcode::NOERROR, opt(&query, None).as_ref());
        if let Some(signer) = &mut signer {
            signer.sign(&mut out, now);
        }
        return Reply::One(out);
    }
    let differences = known.and_then(|from| differences_since(snapshot, zone, from));
    let (snapshot, request) = (Arc::clone(snapshot), message.to_vec());
    let is_ended = differences.is_some();
    let queue = differences.unwrap_or_default();
    Reply::Whole(Box::new(Outgoing { snapshot, zone, request, query, signer, queue, next_node: 0, is_ended }))
}

/// All that is sent to who has serial `from` (RFC 1995 §4); `None`: it is not known, or not less than the zone.
fn differences_since(snapshot: &Snapshot, zone: usize, from: u32) -> Option<VecDeque<Row>> {
    let entry = snapshot.zones.zone(zone);
    let version = snapshot.versions.get(zone)?.as_ref()?;
    let changes = changes::since(&version.changes, from)?;
    let count: usize = changes.iter().map(|change| change.records()).sum();
    if count > entry.node_count().max(LITTLE) {
        return None;
    }
    let soa = |rdata: &Arc<[u8]>| Row {
        owner: entry.origin.clone(),
        rtype: RecordType::SOA,
        ttl: entry.soa_ttl,
        rdata: Arc::clone(rdata),
    };
    let row = |record: &StaticRecord| Row {
        owner: record.owner.clone(),
        rtype: record.rtype,
        ttl: record.ttl,
        rdata: Arc::clone(&record.rdata),
    };
    let newest: Arc<[u8]> = snapshot.soa(zone).into();
    let mut rows = VecDeque::from([soa(&newest)]);
    for change in changes {
        rows.push_back(soa(&change.from_soa));
        rows.extend(change.deleted.iter().map(row));
        rows.push_back(soa(&change.to_soa));
        rows.extend(change.added.iter().map(row));
    }
    rows.push_back(soa(&newest));
    Some(rows)
}

fn opt(query: &Query, error: Option<ExtendedError>) -> Option<Opt<'static>> {
    query.edns.as_ref().map(|edns| Opt { dnssec_ok: edns.dnssec_ok, error, ..Opt::default() })
}

const NOTAUTH: u16 = 9;

fn may_have(transfer: &Transfer, client: IpAddr, signed_by: Option<u32>) -> bool {
    transfer.goes_out()
        && (transfer.allow.is_empty() || transfer.allow.iter().any(|network| network.contains(client)))
        && (transfer.key.is_none() || transfer.key == signed_by)
}

/// The serial in the authority section of a request for an incremental transfer.
fn known_serial(message: &[u8], query: &Query) -> Option<u32> {
    if u16_at(message, 8)? != 1 {
        return None;
    }
    let mut walk = super::tsig::Walk { message, at: query.question_end };
    walk.name()?;
    walk.at += 10;
    walk.name()?;
    walk.name()?;
    Some(u32::from(walk.u16()?) << 16 | u32::from(walk.u16()?))
}

// === impl Outgoing ===

impl Outgoing {
    /// Counts it as begun.
    pub fn count(&self) {
        let live = &self.snapshot.zone_live[self.zone];
        let total = if self.is_ended { &live.ixfr_total } else { &live.axfr_total };
        total.fetch_add(1, Ordering::Relaxed);
    }

    /// In place of it: not now. `now`: Unix seconds.
    pub fn refusal(mut self, now: u64) -> Vec<u8> {
        let mut out = Vec::new();
        let writer = Writer::new(&mut out, &self.query, &self.request, usize::from(u16::MAX), TSIG_MAX);
        writer.finish(rcode::SERVFAIL, opt(&self.query, None).as_ref());
        if let Some(signer) = &mut self.signer {
            signer.sign(&mut out, now);
        }
        out
    }

    /// Writes the next message into `out`; false where the transfer is over. `now`: Unix seconds.
    pub fn next(&mut self, out: &mut Vec<u8>, now: u64) -> bool {
        if self.is_ended && self.queue.is_empty() {
            return false;
        }
        let reserved = HEADER + if self.signer.is_some() { TSIG_MAX } else { 0 };
        let mut writer = Writer::new(out, &self.query, &self.request, MESSAGE, reserved);
        let mut count = 0;
        while let Some(row) = self.row() {
            let full = writer.record(Section::Answer, &row.owner.0, row.rtype, row.ttl, &row.rdata).is_err();
            if full && count > 0 {
                self.queue.push_front(row);
                break;
            } else if full {
                // One record that is longer than a message usually is.
                writer = Writer::new(out, &self.query, &self.request, usize::from(u16::MAX), reserved);
                if writer.record(Section::Answer, &row.owner.0, row.rtype, row.ttl, &row.rdata).is_err() {
                    // Without it the zone would be another one: it ends before its end.
                    tracing::error!(owner = %row.owner, rtype = %row.rtype, "larger than any message: no transfer");
                    self.is_ended = true;
                    self.queue.clear();
                    return false;
                }
                break;
            }
            count += 1;
        }
        writer.set_authoritative();
        writer.finish(rcode::NOERROR, opt(&self.query, None).as_ref());
        if let Some(signer) = &mut self.signer {
            signer.sign(out, now);
        }
        true
    }

    fn row(&mut self) -> Option<Row> {
        while self.queue.is_empty() && !self.is_ended {
            let snapshot = Arc::clone(&self.snapshot);
            let entry = snapshot.zones.zone(self.zone);
            if self.next_node == entry.node_count() {
                // The SOA once more says that this is all.
                self.is_ended = true;
                let rdata = snapshot.soa(self.zone).into();
                self.push(&entry.origin, RecordType::SOA, entry.soa_ttl, rdata);
                break;
            }
            let id = entry.id(self.next_node)?;
            self.next_node += 1;
            self.node(&snapshot, id, entry.node(id));
        }
        self.queue.pop_front()
    }

    /// All of one name. The apex is the first, and its SOA stands first.
    fn node(&mut self, snapshot: &Snapshot, id: NodeId, node: &Node) {
        let entry = snapshot.zones.zone(self.zone);
        let signer = entry.signer.as_ref().filter(|_| node.is_authoritative(id));
        for set in snapshot.rrsets_at(self.zone, node).into_iter().filter(|set| set.is_served) {
            for rdata in &set.rdata {
                self.push(&node.name, set.rtype, set.ttl, Arc::clone(rdata));
            }
            let is_ours = !node.is_cut() || set.rtype == RecordType::DS;
            if let Some(signer) = signer.filter(|_| is_ours) {
                let rdata: Vec<&[u8]> = set.rdata.iter().map(|rdata| &**rdata).collect();
                self.sign(signer, node, set.rtype, set.ttl, &set.variant, &rdata);
            }
        }
        if let Some(signer) = signer {
            let name_of = |id: NodeId| &entry.node(id).name;
            let place = signer.covering(&node.name.0);
            let nsec = signer.nsec(place, snapshot.types(self.zone, node), name_of);
            self.push(&node.name, RecordType::NSEC, entry.negative_ttl, nsec.as_slice().into());
            self.sign(signer, node, RecordType::NSEC, entry.negative_ttl, &nsec, &[&nsec]);
        }
    }

    fn sign(&mut self, by: &ZoneSigner, node: &Node, rtype: RecordType, ttl: u32, variant: &[u8], rdata: &[&[u8]]) {
        let what = Signable { owner: &node.name, rtype, ttl };
        for rrsig in by.signatures(what, variant, rdata.iter().copied(), unix_now()).iter() {
            self.push(&node.name, RecordType::RRSIG, ttl, (**rrsig).into());
        }
    }

    fn push(&mut self, owner: &DnsName, rtype: RecordType, ttl: u32, rdata: Arc<[u8]>) {
        self.queue.push_back(Row { owner: owner.clone(), rtype, ttl, rdata });
    }
}
