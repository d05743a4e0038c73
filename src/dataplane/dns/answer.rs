//! From a query and a snapshot to a reply: authoritative answers by the algorithm of RFC 1034 §4.3.2, over the tree of
//! [`ZoneIndex`](crate::snapshot::zones::ZoneIndex).
//!
//! What is decided here where the standards leave a choice:
//!
//! - Outside all zones: REFUSED. While `gslb` is off: REFUSED. Before the first probe round: SERVFAIL, since an answer
//!   from unknown checks could send clients to a dead site for a whole TTL.
//! - CNAME and DNAME are followed inside the zone, steered names included, at most [`CHAIN_MAX`] steps; a loop ends with
//!   what is there. Other zones are left to the resolver, which would not believe us anyway.
//! - ALIAS gives the addresses of another name served here, in this zone or another, where the owner has none of the
//!   type itself; the TTL is the least on the way. It is no type on the wire.
//! - ANY gets one RRset, that of the lowest type number that has records (RFC 8482 §4.1); a CNAME comes first.
//! - A steered name exists, whatever its scenarios say: it can be NODATA, never NXDOMAIN.
//! - Additional addresses for NS, MX and SRV where there is room; glue of a referral that is below the cut is not
//!   optional (RFC 9471): without room the answer is cut.
//! - UDP answers have at most 1232 bytes (512 without EDNS); one that does not fit has TC and no records. The content over
//!   TCP is the same.
//! - Cookies, the server's identifier, the time-out of a connection and the client's subnet are answered where a query
//!   brings their options and the configuration has them. A subnet is looked at no closer than configured; its scope in
//!   the answer is what was looked at where the selection depends on the client, else 0 (RFC 7871 §7.2.1).
//! - With EDNS, extended errors (RFC 8914): 14 *Not Ready*; 24 *Invalid Data* for a zone that has expired (SERVFAIL, both); 20
//!   *Not Authoritative*: a refused name; 3 *Stale Answer* where `on_empty = "last_good"` chose, 0 *Other* with the policy else.
//! - Zone transfers are refused; the other meta types, OPT among them, are NOTIMP. Classes other than IN are refused. Type
//!   0 stands for no record (RFC 6895 §3.1), so no name has one: NODATA.
//! - A query without a question asks for a cookie (RFC 7873 §5.4); without the option, or with cookies off, it is FORMERR.

mod circumstances;
mod resolve;

use std::net::IpAddr;

use super::cookie;
use super::wire::{self, ExtendedError, Malformed, Opt, Query, Writer, rcode};
use crate::balance::records::Fallback;
use crate::model::net::Network;
use crate::model::time::Wall;
use crate::snapshot::Snapshot;
use crate::snapshot::live::Served;
use crate::snapshot::zones::{Missing, ReadyAnswer};

pub use circumstances::Circumstances;
pub(super) use resolve::Event;
use resolve::{Resolution, Resolved};

/// Steps of a chain of aliases that are followed.
pub const CHAIN_MAX: usize = 16;
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    Udp,
    Tcp,
    /// RFC 7858.
    Tls,
    /// RFC 8484.
    Https,
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
    /// The last steered RRset that answered, by its position, and with what.
    pub served: Option<(u32, Served)>,
    pub truncated: bool,
    /// The answer section has records.
    pub records: bool,
    /// The query had a cookie that was ours.
    pub good_cookie: bool,
    /// Where the question ends, and where the OPT record begins (or the message ends).
    pub between: (u16, u16),
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
    let circumstances = Circumstances::new(client, transport, entropy, Wall(0));
    answer_with(&mut Scratch::default(), snapshot, query, circumstances, out)
}

/// As [`answer`], with buffers of the caller's.
pub fn answer_with(
    scratch: &mut Scratch,
    snapshot: &Snapshot,
    message: &[u8],
    circumstances: Circumstances<'_>,
    out: &mut Vec<u8>,
) -> Outcome {
    respond(&mut scratch.chosen, snapshot, message, circumstances, out)
}

pub(super) fn respond(
    chosen: &mut Vec<u32>,
    snapshot: &Snapshot,
    message: &[u8],
    mut circumstances: Circumstances<'_>,
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
    let mut reply = Reply::new(snapshot, &query, &circumstances);
    if !query.has_question() {
        return reply.give_cookie(snapshot, out, &query, message);
    }
    if let Some(refusal) = refuse(snapshot, &query) {
        return reply.refuse(snapshot, refusal, out, &query, message);
    }
    if reply.look_at_subnet(snapshot, &query, &mut circumstances).is_err() {
        return reply.refuse(
            snapshot,
            Refusal { rcode: rcode::FORMERR, error: None, zone: None },
            out,
            &query,
            message,
        );
    }
    let mut limit = match (circumstances.transport, query.edns) {
        (Transport::Tcp | Transport::Tls | Transport::Https, _) => usize::from(u16::MAX),
        (Transport::Udp, Some(edns)) => usize::from(edns.udp_payload.min(wire::UDP_PAYLOAD_MAX)),
        (Transport::Udp, None) => usize::from(wire::UDP_PAYLOAD_PLAIN),
    };
    limit = limit.saturating_sub(reply.opt.map_or(0, |opt| opt.room()));
    if circumstances.trace.is_none()
        && let Some(ready) = ready_answer(snapshot, &query)
    {
        let mut writer = Writer::new(out, &query, message, limit, 0);
        if writer.ready(ready.records, ready.wire).is_ok() {
            writer.set_authoritative();
            let outcome = reply.finish(snapshot, writer, &query, rcode::NOERROR, None);
            return Outcome { zone: Some(ready.zone), ..outcome };
        }
    }
    let Some(zone) = find_zone(snapshot, &query) else {
        return reply.refuse(snapshot, refused(20, ""), out, &query, message);
    };
    if !snapshot.ready {
        let error = Some(ExtendedError { code: 14, text: "" });
        let refusal = Refusal { rcode: rcode::SERVFAIL, error, zone: Some(zone) };
        return reply.refuse(snapshot, refusal, out, &query, message);
    }
    if let Some(missing) = snapshot.zones.zone(zone).missing {
        let error = Some(unavailable(missing));
        let refusal = Refusal { rcode: rcode::SERVFAIL, error, zone: Some(zone) };
        return reply.refuse(snapshot, refusal, out, &query, message);
    }
    let transport = circumstances.transport;
    let mut writer = Writer::new(out, &query, message, limit, 0);
    let resolution = Resolution::new(snapshot, zone, chosen, circumstances);
    let mut result = resolution.run(&query, &mut writer);
    if result.truncated && transport != Transport::Udp {
        // More than 64 KiB: there is no transport to send the client to.
        result = Resolved { rcode: rcode::SERVFAIL, authoritative: false, truncated: false, ..result };
        writer.clear();
    }
    if result.authoritative {
        writer.set_authoritative();
    }
    if result.truncated {
        writer.truncate();
    }
    if let Some(subnet) = reply.opt.as_mut().and_then(|opt| opt.subnet.as_mut()) {
        subnet.scope = if result.by_client { reply.scope } else { 0 };
    }
    let error = result.fallback.map(|(_, fallback)| fallback_error(fallback));
    let outcome = reply.finish(snapshot, writer, &query, result.rcode, error);
    let Resolved { fallback, served, truncated, .. } = result;
    Outcome { zone: Some(zone), fallback, served, truncated, ..outcome }
}

/// The OPT record of an answer in the making, and what came with it.
struct Reply<'a> {
    opt: Option<Opt<'a>>,
    good_cookie: bool,
    /// Bits of the client's subnet that are looked at.
    scope: u8,
}

const TYPE_DS: u16 = 43;
const TYPE_OPT: u16 = 41;
/// RFC 6895 §3.1; 255 is ANY.
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
        rtype if META_TYPES.contains(&rtype) || rtype == TYPE_OPT => {
            Some(Refusal { rcode: rcode::NOTIMP, error: None, zone: None })
        }
        _ => None,
    }
}

/// What is said of a zone that cannot be answered from.
pub(super) fn unavailable(missing: Missing) -> ExtendedError {
    match missing {
        Missing::NotYet => ExtendedError { code: 14, text: "not transferred yet" },
        Missing::Expired => ExtendedError { code: 24, text: "expired" },
    }
}

fn refused(code: u16, text: &'static str) -> Refusal {
    Refusal { rcode: rcode::REFUSED, error: Some(ExtendedError { code, text }), zone: None }
}

/// The answer that is the same whoever asks and whatever the state, without signatures.
fn ready_answer<'s>(snapshot: &'s Snapshot, query: &Query) -> Option<ReadyAnswer<'s>> {
    let ready = snapshot.zones.ready_answer(query.name.as_bytes(), query.rtype).filter(|_| snapshot.ready)?;
    let wants_signatures = query.edns.is_some_and(|edns| edns.dnssec_ok);
    (!wants_signatures || snapshot.zones.zone(ready.zone).signer.is_none()).then_some(ready)
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

// === impl Reply ===

impl<'a> Reply<'a> {
    fn new(snapshot: &'a Snapshot, query: &Query, circumstances: &Circumstances<'_>) -> Reply<'a> {
        let Some(edns) = query.edns else { return Reply { opt: None, good_cookie: false, scope: 0 } };
        let options = &edns.options;
        let verdict =
            options.cookie.and_then(|c| cookie::judge(snapshot, &c, circumstances.peer, circumstances.now.seconds()));
        // HTTP has its own way to say how long a connection lasts (RFC 8484 §5.2).
        let keeps_alive = options.keepalive && matches!(circumstances.transport, Transport::Tcp | Transport::Tls);
        let idle = || (snapshot.model.dns.tcp.idle_timeout.as_millis() / 100) as u16;
        let opt = Opt {
            dnssec_ok: edns.dnssec_ok,
            nsid: snapshot.model.dns.nsid.as_deref().filter(|_| options.nsid),
            cookie: verdict.map(|verdict| verdict.reply),
            keepalive: keeps_alive.then(idle),
            subnet: None,
            error: None,
        };
        Reply { opt: Some(opt), good_cookie: verdict.is_some_and(|verdict| verdict.good), scope: 0 }
    }

    /// Takes the client's subnet for its address, where that is configured. `Err`: it is malformed.
    fn look_at_subnet(
        &mut self,
        snapshot: &Snapshot,
        query: &Query,
        circumstances: &mut Circumstances<'_>,
    ) -> Result<(), ()> {
        let (Some(ecs), Some(opt)) = (&snapshot.model.dns.ecs, &mut self.opt) else { return Ok(()) };
        let Some(subnet) = query.edns.and_then(|edns| edns.options.subnet) else { return Ok(()) };
        let believed = ecs.from.is_empty() || ecs.from.iter().any(|network| network.contains(circumstances.client));
        if !believed {
            return Ok(());
        }
        let address = subnet.address().ok_or(())?;
        opt.subnet = Some(subnet);
        // A prefix of 0 says that the client does not want to be known (RFC 7871 §7.1.2).
        if subnet.source > 0 {
            self.scope = subnet.source.min(if address.is_ipv4() { ecs.ipv4_prefix } else { ecs.ipv6_prefix });
            circumstances.client = Network::truncate(address, self.scope, self.scope);
        }
        Ok(())
    }

    /// A query for a cookie alone (RFC 7873 §5.4), which is good, new, or BADCOOKIE where it is not ours.
    fn give_cookie(self, snapshot: &Snapshot, out: &mut Vec<u8>, query: &Query, message: &[u8]) -> Outcome {
        if self.opt.is_none_or(|opt| opt.cookie.is_none()) {
            return bare(out, message, rcode::FORMERR);
        }
        let is_new = query.edns.and_then(|edns| edns.options.cookie).is_some_and(|cookie| cookie.server().is_empty());
        let rcode = if is_new || self.good_cookie { rcode::NOERROR } else { rcode::BADCOOKIE };
        self.refuse(snapshot, Refusal { rcode, error: None, zone: None }, out, query, message)
    }

    fn finish(
        mut self,
        snapshot: &Snapshot,
        writer: Writer<'_>,
        query: &Query,
        rcode: u16,
        error: Option<ExtendedError>,
    ) -> Outcome {
        if let Some(opt) = &mut self.opt {
            opt.error = error.filter(|_| snapshot.model.dns.extended_errors);
        }
        let records = writer.has_answers();
        let opt_at = writer.finish(rcode, self.opt.as_ref());
        let between = (query.question_end as u16, opt_at as u16);
        Outcome { reply: true, rcode, records, good_cookie: self.good_cookie, between, ..Outcome::default() }
    }

    fn refuse(
        self,
        snapshot: &Snapshot,
        refusal: Refusal,
        out: &mut Vec<u8>,
        query: &Query,
        message: &[u8],
    ) -> Outcome {
        let writer = Writer::new(out, query, message, usize::from(u16::MAX), 0);
        let outcome = self.finish(snapshot, writer, query, refusal.rcode, refusal.error);
        Outcome { zone: refusal.zone, ..outcome }
    }
}

// === impl Outcome ===

impl Outcome {
    /// Leaves of its reply the header, with TC, the question and the OPT record.
    pub fn cut(&self, reply: &mut Vec<u8>) {
        let (from, to) = (usize::from(self.between.0), usize::from(self.between.1));
        if self.reply && from <= to && to <= reply.len() && from > 0 {
            reply.drain(from..to);
            let has_opt = reply.len() > from;
            reply[2] = (reply[2] | 0x02) & !0x04;
            reply[6..12].copy_from_slice(&[0, 0, 0, 0, 0, u8::from(has_opt)]);
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
