//! From a query and a snapshot to a reply: authoritative answers by the algorithm of RFC 1034 §4.3.2, over the tree of
//! [`ZoneIndex`](crate::snapshot::zones::ZoneIndex).
//!
//! What is decided here where the standards leave a choice:
//!
//! - Outside all zones: REFUSED. While `gslb` is off: REFUSED. Before the first probe round: SERVFAIL, since an answer
//!   from unknown checks could send clients to a dead site for a whole TTL.
//! - CNAME and DNAME are followed inside the zone, steered names included, at most [`CHAIN_MAX`] steps; a loop ends with
//!   what is there. Other zones are left to the resolver, which would not believe us anyway.
//! - ANY gets one RRset, that of the lowest type number that has records (RFC 8482 §4.1); a CNAME comes first.
//! - A steered name exists, whatever its scenarios say: it can be NODATA, never NXDOMAIN.
//! - Additional addresses for NS, MX and SRV where there is room; glue of a referral that is below the cut is not
//!   optional (RFC 9471): without room the answer is cut.
//! - UDP answers have at most 1232 bytes (512 without EDNS); one that does not fit has TC and no records. The content over
//!   TCP is the same.
//! - With EDNS, extended errors (RFC 8914): 14 *Not Ready*; 20 *Not Authoritative* for a refused name; 3 *Stale Answer*
//!   where `on_empty = "last_good"` chose; 0 *Other* with the policy's name where another `on_empty` did.
//! - Zone transfers are refused; the other meta types are NOTIMP. Classes other than IN are refused.

mod resolve;

use std::net::IpAddr;

use super::wire::{self, ExtendedError, Malformed, Query, Writer, rcode};
use crate::balance::records::Fallback;
use crate::snapshot::Snapshot;

pub(super) use resolve::Event;
use resolve::Resolution;

/// Steps of a chain of aliases that are followed.
pub const CHAIN_MAX: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Udp,
    Tcp,
}

/// What became of a message; for counters and logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// False: there must be no answer, and the buffer is empty.
    pub reply: bool,
    /// Extended codes included.
    pub rcode: u16,
    /// Position in `Model::zones`.
    pub zone: Option<usize>,
    /// Where `on_empty` chose: the position in `Zone::rrsets`, and what it chose.
    pub fallback: Option<(u32, Fallback)>,
    pub truncated: bool,
}

/// Buffers that are worth keeping between queries.
#[derive(Debug, Default)]
pub struct Scratch {
    chosen: Vec<u32>,
}

/// Answers `query` (a whole message) into `out`, which is overwritten. Pure but for the turns of `round_robin` and the
/// dates of signatures.
/// `entropy`: fresh random bits for weighted answers.
pub fn answer(
    snapshot: &Snapshot,
    query: &[u8],
    client: IpAddr,
    transport: Transport,
    entropy: u64,
    out: &mut Vec<u8>,
) -> Outcome {
    answer_with(&mut Scratch::default(), snapshot, query, client, transport, entropy, out)
}

/// As [`answer`], with buffers of the caller's.
pub fn answer_with(
    scratch: &mut Scratch,
    snapshot: &Snapshot,
    message: &[u8],
    client: IpAddr,
    transport: Transport,
    entropy: u64,
    out: &mut Vec<u8>,
) -> Outcome {
    let circumstances = Circumstances { client, transport, entropy, trace: None };
    respond(&mut scratch.chosen, snapshot, message, circumstances, out)
}

/// Whom an answer is for and how it travels.
pub(super) struct Circumstances<'t> {
    pub client: IpAddr,
    pub transport: Transport,
    pub entropy: u64,
    /// Told what happens, and then nothing moves: turns of `round_robin` stay as they are.
    pub trace: Option<&'t mut dyn FnMut(Event<'_>)>,
}

pub(super) fn respond(
    chosen: &mut Vec<u32>,
    snapshot: &Snapshot,
    message: &[u8],
    circumstances: Circumstances<'_>,
    out: &mut Vec<u8>,
) -> Outcome {
    let query = match wire::parse(message) {
        Ok(query) => query,
        Err(Malformed::Drop) => {
            out.clear();
            return Outcome::default();
        }
        Err(Malformed::FormErr) => return bare(out, message, rcode::FORMERR),
        Err(Malformed::NotImp) => return bare(out, message, rcode::NOTIMP),
    };
    if let Some(refusal) = refuse(snapshot, &query) {
        return refusal.write(out, &query, message);
    }
    let Some(zone) = find_zone(snapshot, &query) else {
        return refused(20, "").write(out, &query, message);
    };
    if !snapshot.ready {
        let error = Some(ExtendedError { code: 14, text: "" });
        let refusal = Refusal { rcode: rcode::SERVFAIL, error, zone: Some(zone) };
        return refusal.write(out, &query, message);
    }
    let transport = circumstances.transport;
    let limit = match (transport, query.edns) {
        (Transport::Tcp, _) => usize::from(u16::MAX),
        (Transport::Udp, Some(edns)) => usize::from(edns.udp_payload.min(wire::UDP_PAYLOAD_MAX)),
        (Transport::Udp, None) => usize::from(wire::UDP_PAYLOAD_PLAIN),
    };
    let reserved = if query.edns.is_some() { OPT_MAX } else { 0 };
    let mut writer = Writer::new(out, &query, message, limit, reserved);
    let resolution = Resolution::new(snapshot, zone, chosen, circumstances);
    let mut result = resolution.run(&query, &mut writer);
    if result.truncated && transport == Transport::Tcp {
        // More than 64 KiB: there is no transport to send the client to.
        result = resolve::Resolved { rcode: rcode::SERVFAIL, authoritative: false, truncated: false, ..result };
        writer.clear();
    }
    if result.authoritative {
        writer.set_authoritative();
    }
    if result.truncated {
        writer.truncate();
    }
    let error = result.fallback.map(|(_, fallback)| fallback_error(fallback));
    writer.finish(result.rcode, query.edns, error);
    Outcome {
        reply: true,
        rcode: result.rcode,
        zone: Some(zone),
        fallback: result.fallback,
        truncated: result.truncated,
    }
}

/// Bytes kept for the OPT record with the longest extended error.
const OPT_MAX: usize = 11 + 6 + 24;

const TYPE_DS: u16 = 43;
const META_TYPES: std::ops::RangeInclusive<u16> = 128..=254;
const TYPE_IXFR: u16 = 251;
const TYPE_AXFR: u16 = 252;

struct Refusal {
    rcode: u16,
    error: Option<ExtendedError>,
    zone: Option<usize>,
}

/// What needs no zone to be refused.
fn refuse(snapshot: &Snapshot, query: &Query) -> Option<Refusal> {
    if query.edns.is_some_and(|e| e.version != 0) {
        return Some(Refusal { rcode: rcode::BADVERS, error: None, zone: None });
    }
    if query.class != wire::CLASS_IN {
        return Some(refused(0, "class"));
    }
    if !snapshot.model.features.gslb {
        return Some(refused(0, "gslb is off"));
    }
    match query.rtype {
        TYPE_AXFR | TYPE_IXFR => Some(refused(18, "")),
        rtype if META_TYPES.contains(&rtype) => Some(Refusal { rcode: rcode::NOTIMP, error: None, zone: None }),
        _ => None,
    }
}

fn refused(code: u16, text: &'static str) -> Refusal {
    Refusal { rcode: rcode::REFUSED, error: Some(ExtendedError { code, text }), zone: None }
}

/// The zone that answers. The DS of a zone belongs to its parent (RFC 4035 §3.1.4.1) where we have that too.
fn find_zone(snapshot: &Snapshot, query: &Query) -> Option<usize> {
    let name = query.name.as_bytes();
    let zone = snapshot.zones.find(name)?;
    if query.rtype == TYPE_DS && snapshot.zones.zone(zone).origin.0[..] == *name && name.len() > 1 {
        let parent = &name[1 + usize::from(name[0])..];
        return snapshot.zones.find(parent).or(Some(zone));
    }
    Some(zone)
}

fn fallback_error(fallback: Fallback) -> ExtendedError {
    let (code, text) = match fallback {
        Fallback::LastGood => (3, "on_empty = last_good"),
        Fallback::ServeAll => (0, "on_empty = serve_all"),
        Fallback::OtherSet => (0, "on_empty = other_set"),
        Fallback::Static => (0, "on_empty = static"),
        Fallback::NoData => (0, "on_empty = nodata"),
        Fallback::ServFail => (0, "on_empty = servfail"),
    };
    ExtendedError { code, text }
}

fn bare(out: &mut Vec<u8>, message: &[u8], rcode: u16) -> Outcome {
    Writer::bare(out, message, rcode);
    Outcome { reply: true, rcode, ..Outcome::default() }
}

// === impl Refusal ===

impl Refusal {
    fn write(self, out: &mut Vec<u8>, query: &Query, message: &[u8]) -> Outcome {
        let writer = Writer::new(out, query, message, usize::from(u16::MAX), 0);
        writer.finish(self.rcode, query.edns, self.error);
        Outcome { reply: true, rcode: self.rcode, zone: self.zone, ..Outcome::default() }
    }
}

#[cfg(test)]
pub(super) mod tests;
