//! NOTIFY from primaries (RFC 1996 §3): who may say that a zone has changed is asked for it soon after.

use std::net::IpAddr;
use std::sync::atomic::Ordering;

use super::tsig::{Key, Signer, Tsig, TsigError, Walk, u16_at};
use super::wire::{CLASS_IN, HEADER, rcode};
use crate::model::zone::RecordType;
use crate::snapshot::Snapshot;

const OPCODE: u8 = 4;
const NOTAUTH: u16 = 9;

/// Whether a message is a NOTIFY. Cheap.
pub fn is_notify(message: &[u8]) -> bool {
    message.len() > HEADER && message[2] >> 3 == OPCODE
}

/// Answers a message of which [`is_notify`] is true into `out`, and rings the bell of its zone; the RCODE. `now`: Unix
/// seconds.
pub fn answer(snapshot: &Snapshot, message: &[u8], client: IpAddr, now: u64, out: &mut Vec<u8>) -> u16 {
    let mut walk = Walk { message, at: HEADER };
    let question = (u16_at(message, 4) == Some(1)).then(|| walk.name()).flatten();
    let (rtype, class) = (walk.u16(), walk.u16());
    let Some(name) = question.filter(|_| class.is_some()) else { return bare(message, HEADER, rcode::FORMERR, out) };
    let end = walk.at;
    let zone = snapshot.zones.find(name.as_bytes());
    let zone = zone.filter(|&zone| *snapshot.zones.zone(zone).origin.0 == *name.as_bytes());
    let zone = zone.filter(|&zone| snapshot.model.zones[zone].transfer.comes_in());
    let is_soa = rtype == Some(RecordType::SOA.0) && class == Some(CLASS_IN);
    let Some(zone) = zone.filter(|_| is_soa) else { return bare(message, end, NOTAUTH, out) };
    let live = &snapshot.zone_live[zone].secondary;
    let refused = || live.notifies_refused_total.fetch_add(1, Ordering::Relaxed);
    let Ok(tsig) = Tsig::find(message) else { return bare(message, HEADER, rcode::FORMERR, out) };
    let from = &snapshot.model.zones[zone].transfer.from;
    let mut ours = from.iter().filter(|primary| primary.address.ip().to_canonical() == client.to_canonical());
    let keys = &snapshot.model.dns.tsig;
    let Some(tsig) = tsig else {
        let is_primary = ours.any(|primary| primary.key.is_none());
        return if is_primary {
            taken(live);
            bare(message, end, rcode::NOERROR, out)
        } else {
            refused();
            bare(message, end, rcode::REFUSED, out)
        };
    };
    let at = keys.iter().position(|key| *key.owner.0 == *tsig.name.as_bytes());
    let key = at.and_then(|at| Key::load(&keys[at]));
    let verified = match &key {
        Some(key) => tsig.verify(message, key, now, &[], true, &[]),
        None => Err(TsigError::BadKey),
    };
    if let Err(error) = verified {
        refused();
        let code = bare(message, end, NOTAUTH, out);
        tsig.refuse(out, error, key.as_ref(), now);
        return code;
    }
    // A key of another primary, or from elsewhere, is none.
    let is_primary = ours.any(|primary| primary.key == at.map(|at| at as u32));
    let code = if is_primary {
        taken(live);
        rcode::NOERROR
    } else {
        refused();
        rcode::REFUSED
    };
    bare(message, end, code, out);
    if let Some(key) = key {
        Signer::new(key, &tsig.mac).sign(out, now);
    }
    code
}

fn taken(live: &crate::snapshot::live::SecondaryLive) {
    live.notifies_total.fetch_add(1, Ordering::Relaxed);
    live.ring(false);
}

/// The header, with AA, and the question up to `end`.
fn bare(message: &[u8], end: usize, code: u16, out: &mut Vec<u8>) -> u16 {
    out.clear();
    out.extend_from_slice(&message[..2]);
    let has_question = u8::from(end > HEADER);
    out.extend_from_slice(&[0x84 | OPCODE << 3, code as u8, 0, has_question, 0, 0, 0, 0, 0, 0]);
    out.extend_from_slice(message.get(HEADER..end).unwrap_or_default());
    code
}
