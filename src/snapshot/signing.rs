//! Signatures of zones (RFC 4034, RFC 4035), made ahead or when they are first asked for, and kept.
//!
//! What may be answered of a zone is a bounded list: its fixed RRsets, for each steered RRset the sets that scenarios and
//! the selection can make of it (`config` bounds their number), and one NSEC for each name with each list of types that
//! it can have. Names that clients make up are never signed: what denies them is the NSEC of a name that is there, and
//! what a wildcard answers has the wildcard's signature. So a signature is made once for each of these contents, and
//! again before it expires; a query costs a look into the table ([`table`]).
//!
//! Signatures are found by what they sign, and not by where that stands in a model. So they outlive models: a zone that is
//! configured anew with the same keys signs only what is new in it, and a flip nothing at all once both of its sides have
//! been signed. [`Snapshot::sign_ahead`](super::Snapshot::sign_ahead) makes what is missing before anybody asks.
//!
//! Inceptions lie an hour back, for clocks that are late. Expirations are spread over an eighth of the validity by the
//! content signed. A signature is replaced ahead when three eighths of the validity are left, at a query when it is a
//! quarter.

mod ahead;
mod canonical;
mod chain;
mod table;

#[cfg(test)]
mod tests;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};

use arc_swap::Guard;
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::model::dnssec::{Algorithm, Dnssec, KeyRole, SigningKey};
use crate::model::zone::{DnsName, RecordType};

use chain::Chain;
use table::{Made, Table};

pub use canonical::{compare, type_bitmap};

/// Seconds that an inception lies back.
const SKEW: u64 = 3600;
/// Slots for signatures beside two for each content that is known to be.
const SPARE: usize = 4_096;

/// The keys of one zone and the signatures they have made.
#[derive(Debug)]
pub struct ZoneSigner {
    origin: DnsName,
    keys: Vec<SigningKey>,
    validity: u64,
    made: Arc<Table>,
    chain: Chain,
}

/// RDATA of RRSIG records, one for each key that signs.
pub type Rrsigs = Box<[Box<[u8]>]>;

/// Signatures of one RRset.
pub struct Signatures(Guard<Option<Arc<Made>>>);

/// Stands for the data of an RRset, in whatever order; one of this process.
pub type Contents = [u8; 16];

/// What is to be signed.
#[derive(Clone, Copy, Debug)]
pub struct Signable<'a> {
    /// As it stands in the zone: a wildcard, and not the name that was asked.
    pub owner: &'a DnsName,
    pub rtype: RecordType,
    pub ttl: u32,
}

/// The contents with this data.
pub fn contents<'r>(rdata: impl Iterator<Item = &'r [u8]>) -> Contents {
    let sum = rdata.fold(0_u128, |sum, rdata| {
        let mut hasher = hasher();
        hasher.write(rdata);
        sum.wrapping_add(hasher.finish128().into())
    });
    sum.to_le_bytes()
}

/// Nobody outside can find two contents with one hash.
fn hasher() -> SipHasher13 {
    static KEY: LazyLock<(u64, u64)> = LazyLock::new(|| {
        let half = || RandomState::new().build_hasher().finish();
        (half(), half())
    });
    SipHasher13::new_with_keys(KEY.0, KEY.1)
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
            made: Arc::new(Table::new(0)),
            chain: Chain::default(),
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

    /// How many signatures have been made for the zone with these keys.
    pub fn signed(&self) -> u64 {
        self.made.signed.load(Ordering::Relaxed)
    }

    /// The signatures of an RRset; `contents` tells its data from all other that the owner can have for the type. `now`:
    /// Unix seconds.
    pub fn signatures<'r>(
        &self,
        what: Signable<'_>,
        contents: &[u8],
        rdata: impl Iterator<Item = &'r [u8]>,
        now: u64,
    ) -> Signatures {
        let key = what.key(contents);
        let found = self.made.find(key).filter(|made| made.as_ref().is_some_and(|made| now < made.refresh_at));
        Signatures(found.unwrap_or_else(|| Guard::from_inner(Some(self.make(what, key, rdata, now)))))
    }

    /// Makes those signatures where they are not there, or will soon have to be replaced.
    fn sign_ahead<'r>(&self, what: Signable<'_>, contents: &[u8], rdata: impl Iterator<Item = &'r [u8]>, now: u64) {
        let key = what.key(contents);
        let soon = now + self.validity / 8;
        let is_good = |made: &Guard<Option<Arc<Made>>>| made.as_ref().is_some_and(|made| soon < made.refresh_at);
        if self.made.find(key).filter(is_good).is_none() {
            self.make(what, key, rdata, now);
        }
    }

    fn make<'r>(&self, what: Signable<'_>, key: u128, rdata: impl Iterator<Item = &'r [u8]>, now: u64) -> Arc<Made> {
        let jitter = (key >> 32) as u64 % (self.validity / 8).max(1);
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
            self.made.signed.fetch_add(1, Ordering::Relaxed);
            rrsig.into_boxed_slice()
        };
        let rrsigs = self.signers(what.rtype).map(rrsig).collect();
        let made = Arc::new(Made { key, refresh_at: expiration - self.validity / 4, rrsigs });
        self.made.put(Arc::clone(&made));
        made
    }

    /// Whether both make the same signatures.
    fn signs_like(&self, other: &ZoneSigner) -> bool {
        let same = |(a, b): (&SigningKey, &SigningKey)| (a.role, a.state, &a.dnskey) == (b.role, b.state, &b.dnskey);
        self.origin == other.origin
            && self.validity == other.validity
            && self.keys.len() == other.keys.len()
            && self.keys.iter().zip(&other.keys).all(same)
    }

    /// The keys that sign a type: of each algorithm those of the role, or all active ones where it has none.
    fn signers(&self, rtype: RecordType) -> impl Iterator<Item = &SigningKey> {
        let other = if rtype == RecordType::DNSKEY { KeyRole::Zsk } else { KeyRole::Ksk };
        let fits = move |key: &SigningKey| key.is_active() && key.role != other;
        let covered = move |algorithm: Algorithm| self.keys.iter().any(|k| k.algorithm == algorithm && fits(k));
        self.keys.iter().filter(move |key| fits(key) || (key.is_active() && !covered(key.algorithm)))
    }
}

// === impl Signable ===

impl Signable<'_> {
    fn key(&self, contents: &[u8]) -> u128 {
        let mut hasher = hasher();
        // The owner tells its own end.
        hasher.write(&self.owner.0);
        hasher.write(&self.rtype.0.to_be_bytes());
        hasher.write(&self.ttl.to_be_bytes());
        hasher.write(contents);
        hasher.finish128().into()
    }
}

// === impl Signatures ===

impl Signatures {
    /// RDATA of the RRSIG records.
    pub fn iter(&self) -> std::slice::Iter<'_, Box<[u8]>> {
        self.0.as_ref().map_or(&[][..], |made| &made.rrsigs).iter()
    }
}
