//! Signatures of zones (RFC 4034, RFC 4035), made when they are first asked for and kept.
//!
//! What may be answered of a zone is a bounded list: its fixed RRsets, for each steered RRset the sets that scenarios and
//! the selection can make of it (`config` bounds their number), and one NSEC for each name with each list of types that
//! it can have. Names that clients make up are never signed: what denies them is the NSEC of a name that is there, and
//! what a wildcard answers has the wildcard's signature. So a signature is made once for each of these contents, and
//! again before it expires; a query costs a look into the table. A table that has grown beyond its bound is begun anew.
//!
//! Inceptions lie an hour back, for clocks that are late. Expirations are spread over an eighth of the validity by the
//! content signed, and a signature is replaced when a quarter of the validity is left.

mod canonical;
mod chain;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::model::dnssec::{Algorithm, Dnssec, KeyRole, SigningKey};
use crate::model::zone::{DnsName, RecordType};

pub use canonical::{compare, type_bitmap};

/// Seconds that an inception lies back.
const SKEW: u64 = 3600;
/// Signatures kept beside one for each RRset and NSEC.
const SPARE: usize = 16_384;

/// The keys of one zone and the signatures they have made.
#[derive(Debug)]
pub struct ZoneSigner {
    origin: DnsName,
    keys: Vec<SigningKey>,
    validity: u64,
    made: RwLock<HashMap<Vec<u8>, Made>>,
    most: usize,
    /// Names with an NSEC record, in canonical order.
    chain: Vec<super::zones::NodeId>,
    /// How many signatures have been made.
    signed: AtomicU64,
}

#[derive(Debug)]
struct Made {
    refresh_at: u64,
    rrsigs: Rrsigs,
}

/// RDATA of RRSIG records, one for each key that signs.
pub type Rrsigs = Arc<[Box<[u8]>]>;

/// What is to be signed.
#[derive(Clone, Copy, Debug)]
pub struct Signable<'a> {
    /// As it stands in the zone: a wildcard, and not the name that was asked.
    pub owner: &'a DnsName,
    pub rtype: RecordType,
    pub ttl: u32,
}

// === impl ZoneSigner ===

impl ZoneSigner {
    /// `None` where no key can be read: they were when the configuration was loaded, unless it is only rehearsed.
    pub fn new(origin: &DnsName, dnssec: &Dnssec) -> Option<ZoneSigner> {
        let keys: Vec<SigningKey> = dnssec.keys.iter().filter_map(|key| key.load(origin).ok()).collect();
        keys.iter().any(SigningKey::is_active).then(|| ZoneSigner {
            origin: origin.clone(),
            keys,
            validity: dnssec.validity.as_secs(),
            made: RwLock::default(),
            most: SPARE,
            chain: Vec::new(),
            signed: AtomicU64::new(0),
        })
    }

    /// RDATA of the DNSKEY records.
    pub fn dnskeys(&self) -> impl Iterator<Item = Arc<[u8]>> {
        self.keys.iter().map(|key| key.dnskey.as_slice().into())
    }

    pub fn keys(&self) -> &[SigningKey] {
        &self.keys
    }

    /// DS records for the parent, as lines of its zone: those of the keys that sign the DNSKEY RRset, and of those that
    /// are published to do so.
    pub fn ds(&self) -> Vec<String> {
        let named = |key: &&SigningKey| key.role != KeyRole::Zsk;
        self.keys.iter().filter(named).map(|key| key.ds_text(&self.origin)).collect()
    }

    /// How many signatures have been made since the zone was built.
    pub fn signed(&self) -> u64 {
        self.signed.load(Ordering::Relaxed)
    }

    /// The signatures of an RRset; `variant` tells its contents from all others that the owner can have for the type. `now`: Unix seconds.
    pub fn signatures<'r>(
        &self,
        what: Signable<'_>,
        variant: &[u8],
        rdata: impl Iterator<Item = &'r [u8]>,
        now: u64,
    ) -> Rrsigs {
        let mut key = what.owner.0.to_vec();
        key.extend_from_slice(&what.rtype.0.to_be_bytes());
        // The same contents may be answered with a shorter TTL, and a signature holds the TTL.
        key.extend_from_slice(&what.ttl.to_be_bytes());
        key.extend_from_slice(variant);
        if let Some(made) = self.made.read().get(&key)
            && now < made.refresh_at
        {
            return Arc::clone(&made.rrsigs);
        }
        let made = self.make(what, &key, rdata, now);
        let rrsigs = Arc::clone(&made.rrsigs);
        let mut all = self.made.write();
        if all.len() >= self.most {
            all.clear();
        }
        all.insert(key, made);
        rrsigs
    }

    fn make<'r>(&self, what: Signable<'_>, content: &[u8], rdata: impl Iterator<Item = &'r [u8]>, now: u64) -> Made {
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        let jitter = hasher.finish() % (self.validity / 8).max(1);
        let inception = now.saturating_sub(SKEW);
        let expiration = inception + self.validity - jitter;
        let records = canonical::records(what, rdata);
        let rrsig = |key: &SigningKey| {
            let mut rrsig = Vec::with_capacity(160);
            rrsig.extend_from_slice(&what.rtype.0.to_be_bytes());
            rrsig.extend_from_slice(&[key.algorithm as u8, canonical::labels(what.owner)]);
            rrsig.extend_from_slice(&what.ttl.to_be_bytes());
            // Serial arithmetic: the low 32 bits say it (RFC 4034 §3.1.5).
            rrsig.extend_from_slice(&(expiration as u32).to_be_bytes());
            rrsig.extend_from_slice(&(inception as u32).to_be_bytes());
            rrsig.extend_from_slice(&key.tag.to_be_bytes());
            rrsig.extend_from_slice(&self.origin.0);
            let signature = key.sign(&[&rrsig[..], &records[..]].concat());
            rrsig.extend_from_slice(&signature);
            self.signed.fetch_add(1, Ordering::Relaxed);
            rrsig.into_boxed_slice()
        };
        let rrsigs = self.signers(what.rtype).map(rrsig).collect();
        Made { refresh_at: expiration - self.validity / 4, rrsigs }
    }

    /// The keys that sign a type: of each algorithm those of the role, or all active ones where it has none.
    fn signers(&self, rtype: RecordType) -> impl Iterator<Item = &SigningKey> {
        let other = if rtype == RecordType::DNSKEY { KeyRole::Zsk } else { KeyRole::Ksk };
        let fits = move |key: &SigningKey| key.is_active() && key.role != other;
        let covered = move |algorithm: Algorithm| self.keys.iter().any(|k| k.algorithm == algorithm && fits(k));
        self.keys.iter().filter(move |key| fits(key) || (key.is_active() && !covered(key.algorithm)))
    }
}
