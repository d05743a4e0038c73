//! What a primary says a zone holds: complete, checked, and not of the configuration.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::{DnsName, RecordType, StaticRecord};
use crate::model::time::Wall;

/// Records of a zone that comes from a primary.
#[derive(Clone, PartialEq, Eq)]
pub struct ZoneContents {
    pub origin: DnsName,
    pub soa: StaticRecord,
    /// Without the SOA; by owner, type and data. RRsets have one TTL, the least that was sent.
    pub records: Vec<StaticRecord>,
}

/// Contents with how they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    pub contents: Arc<ZoneContents>,
    /// When a primary last said that they are what it has.
    pub confirmed: Wall,
    /// No primary has for the `expire` of the SOA: they are not answered from any more.
    pub is_expired: bool,
}

/// What has become of a zone that comes from a primary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ZoneNews {
    /// It has new contents.
    Transferred {
        received: Received,
        primary: SocketAddr,
        /// By differences (IXFR).
        incremental: bool,
    },
    /// Its contents are what a primary has; told where they had expired, else nobody need know.
    Confirmed {
        received: Received,
    },
    Expired,
    /// A transfer failed; told once for each reason.
    Failed {
        why: Arc<str>,
    },
}

/// By origin.
pub type AllContents = HashMap<DnsName, Received>;

/// RRSIG, NSEC, DNSKEY, NSEC3, NSEC3PARAM, CDS, CDNSKEY: what signing makes. Of a primary's own signatures nothing is left where the zone is signed here.
const OF_SIGNING: [u16; 7] = [46, 47, 48, 50, 51, 59, 60];
const OPT: u16 = 41;
const MESSAGE_MAX_BYTES: usize = 65_535;
/// What a record leaves free of a message, for the question, its own name, OPT and a signature.
const MESSAGE_ROOM_BYTES: usize = 1_024;
/// Types that a name may have.
const TYPES_MOST: usize = 256;
/// Names that a zone may have whatever its size, with the empty ones above those that have records; and four for each
/// record. Reverse zones of IPv6 stay far below, as neighbours share most of what is above them.
const NODES_FREE: usize = 100_000;
const META: std::ops::RangeInclusive<u16> = 128..=255;

// === impl ZoneContents ===

impl ZoneContents {
    /// From records as they were sent, the SOA once among them. Errors: in words.
    pub fn new(origin: DnsName, mut records: Vec<StaticRecord>) -> Result<ZoneContents, String> {
        records.sort_by(|a, b| (&a.owner, a.rtype, &a.rdata).cmp(&(&b.owner, b.rtype, &b.rdata)));
        records.dedup_by(|a, b| (&a.owner, a.rtype, &a.rdata) == (&b.owner, b.rtype, &b.rdata));
        let mut soa = None;
        let mut kept: Vec<StaticRecord> = Vec::with_capacity(records.len());
        for record in records {
            let (owner, rtype) = (&record.owner, record.rtype);
            if !owner.is_within(&origin) {
                return Err(format!("`{owner}` is outside the zone"));
            }
            let fits = match rtype {
                RecordType::A => record.rdata.len() == 4,
                RecordType::AAAA => record.rdata.len() == 16,
                RecordType::SOA => record.rdata.len() >= 22,
                _ => true,
            };
            if !fits {
                return Err(format!("`{owner} {rtype}` has malformed data"));
            }
            if META.contains(&rtype.0) || rtype.0 == OPT || rtype == RecordType::ALIAS {
                return Err(format!("`{owner}` has a record of type {rtype}, which stands in no zone"));
            }
            if rtype == RecordType::SOA {
                if *owner != origin || soa.is_some() {
                    return Err(format!("a SOA at `{owner}` beside that of the apex"));
                }
                soa = Some(record);
                continue;
            }
            if record.rdata.len() > MESSAGE_MAX_BYTES - MESSAGE_ROOM_BYTES {
                return Err(format!("`{owner} {rtype}` has a record that fits no message: nobody could be sent it"));
            }
            kept.push(record);
        }
        let soa = soa.ok_or("there is no SOA")?;
        // Neighbours now: the records of an owner, and within them those of a type.
        for of_owner in kept.chunk_by_mut(|a, b| a.owner == b.owner) {
            let beside =
                |record: &&StaticRecord| record.rtype != RecordType::CNAME && !OF_SIGNING.contains(&record.rtype.0);
            let cnames = of_owner.iter().filter(|record| record.rtype == RecordType::CNAME).count();
            let at_apex = of_owner[0].owner == origin;
            if cnames > 1 || cnames == 1 && (at_apex || of_owner.iter().any(|record| beside(&record))) {
                return Err(format!("`{}` has a CNAME beside other records", of_owner[0].owner));
            }
            if of_owner.chunk_by(|a, b| a.rtype == b.rtype).count() > TYPES_MOST {
                return Err(format!("`{}` has records of more than {TYPES_MOST} types", of_owner[0].owner));
            }
            for set in of_owner.chunk_by_mut(|a, b| a.rtype == b.rtype) {
                // The least that a record takes in a message: a pointer, type, class, TTL, length.
                let size: usize = set.iter().map(|record| 12 + record.rdata.len()).sum();
                if size > MESSAGE_MAX_BYTES {
                    let (owner, rtype) = (&set[0].owner, set[0].rtype);
                    return Err(format!("`{owner} {rtype}` is larger than any message: nobody could be sent it"));
                }
                let least = set.iter().map(|record| record.ttl).min().unwrap_or(0);
                set.iter_mut().for_each(|record| record.ttl = least);
            }
        }
        let most = 4 * kept.len() + NODES_FREE;
        if nodes(&origin, &kept) > most {
            return Err(format!("it has more than {most} names with those above them, for {} records", kept.len()));
        }
        Ok(ZoneContents { origin, soa, records: kept })
    }

    pub fn serial(&self) -> u32 {
        self.timer(0)
    }

    pub fn refresh(&self) -> Duration {
        Duration::from_secs(self.timer(1).into())
    }

    pub fn retry(&self) -> Duration {
        Duration::from_secs(self.timer(2).into())
    }

    pub fn expire(&self) -> Duration {
        Duration::from_secs(self.timer(3).into())
    }

    /// Of negative answers. Seconds.
    pub fn minimum(&self) -> u32 {
        self.timer(4)
    }

    /// Whether the primary signs it.
    pub fn is_signed(&self) -> bool {
        self.records.iter().any(|record| record.rtype.0 == OF_SIGNING[0])
    }

    /// What is left where this zone is signed here.
    pub fn unsigned(&self) -> impl Iterator<Item = &StaticRecord> {
        self.records.iter().filter(|record| !OF_SIGNING.contains(&record.rtype.0))
    }

    /// Numbers at the end of the SOA: serial, refresh, retry, expire, minimum.
    fn timer(&self, at: usize) -> u32 {
        let numbers = &self.soa.rdata[self.soa.rdata.len() - 20..];
        u32::from_be_bytes([numbers[at * 4], numbers[at * 4 + 1], numbers[at * 4 + 2], numbers[at * 4 + 3]])
    }
}

/// Names below the apex, with the empty ones above those that have records.
fn nodes(origin: &DnsName, records: &[StaticRecord]) -> usize {
    let above = origin.labels().count();
    let mut owners: Vec<Box<[u8]>> = records
        .chunk_by(|a, b| a.owner == b.owner)
        .map(|of_owner| {
            let labels: Vec<&[u8]> = of_owner[0].owner.labels().collect();
            let below = labels[..labels.len() - above].iter().rev();
            // With their lengths, so that what two have in common ends between labels.
            below
                .flat_map(|label| std::iter::once(&(label.len() as u8)).chain(*label).copied().collect::<Vec<u8>>())
                .collect()
        })
        .collect();
    // Neighbours now have as much in common as any two.
    owners.sort_unstable();
    let mut before: &[u8] = &[];
    let mut nodes = 0;
    for owner in &owners {
        nodes += new_labels(before, owner);
        before = owner;
    }
    nodes
}

/// How many labels of `owner` are left after those that it begins with in common with `before`.
fn new_labels(before: &[u8], owner: &[u8]) -> usize {
    let (mut at, mut common, mut new) = (0, true, 0);
    while let Some(&length) = owner.get(at) {
        let end = at + 1 + usize::from(length);
        common = common && before.get(at..end) == Some(&owner[at..end]);
        new += usize::from(!common);
        at = end;
    }
    new
}

impl fmt::Debug for ZoneContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with serial {} and {} records", self.origin, self.serial(), self.records.len() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(owner: &str, rtype: u16, ttl: u32, rdata: &[u8]) -> StaticRecord {
        let origin = DnsName::parse("example.test.", &DnsName::root()).unwrap();
        let owner = DnsName::parse(owner, &origin).unwrap();
        StaticRecord { owner, rtype: RecordType(rtype), ttl, rdata: rdata.into() }
    }

    fn soa() -> StaticRecord {
        let numbers = [7u32, 3600, 600, 86_400, 30].into_iter().flat_map(u32::to_be_bytes);
        record("@", 6, 60, &[0, 0].into_iter().chain(numbers).collect::<Vec<u8>>())
    }

    fn of(records: &[StaticRecord]) -> Result<ZoneContents, String> {
        let all = [soa()].into_iter().chain(records.iter().cloned()).collect();
        ZoneContents::new(DnsName::parse("example.test.", &DnsName::root()).unwrap(), all)
    }

    #[test]
    fn contents_are_complete_and_each_set_has_its_least_ttl() {
        let a = |ttl, last| record("www", 1, ttl, &[192, 0, 2, last]);
        let contents = of(&[a(60, 2), a(30, 1), a(90, 1)]).unwrap();
        assert_eq!(contents.records, [a(30, 1), a(30, 2)]);
        assert_eq!((contents.serial(), contents.minimum(), contents.expire().as_secs()), (7, 30, 86_400));
        assert!(!contents.is_signed());
    }

    #[test]
    fn what_could_not_be_sent_and_names_deep_without_measure_are_refused() {
        let address = |n: u32| record("www", 1, 60, &n.to_be_bytes());
        let fits: Vec<_> = (0..4095).map(address).collect();
        assert_eq!(of(&fits).unwrap().records.len(), 4095);
        let why = of(&(0..4096).map(address).collect::<Vec<_>>()).unwrap_err();
        assert!(why.contains("`www.example.test. A` is larger than any message"), "{why}");

        // 2000 names of a hundred labels that differ next to the apex, and as many that differ at their first label.
        let below = "a.".repeat(100);
        let apart: Vec<_> = (0..2000).map(|n| record(&format!("{below}n{n}"), 1, 60, &[0; 4])).collect();
        let why = of(&apart).unwrap_err();
        assert!(why.contains("names with those above them, for 2000 records"), "{why}");
        let together: Vec<_> = (0..2000).map(|n| record(&format!("n{n}.{below}a"), 1, 60, &[0; 4])).collect();
        let kept = of(&together).unwrap();
        assert_eq!(nodes(&kept.origin, &kept.records), 101 + 2000);
    }

    #[test]
    fn names_of_very_many_types_and_records_that_no_transfer_can_carry_are_refused() {
        let types = |count: u16| (0..count).map(|n| record("www", 1_000 + n, 60, &[0])).collect::<Vec<_>>();
        assert!(of(&types(256)).is_ok());
        assert!(of(&types(257)).unwrap_err().contains("records of more than 256 types"));
        let large = |length: usize| of(&[record("www", 1_000, 60, &vec![0; length])]);
        assert!(large(64_511).is_ok());
        assert!(large(64_512).unwrap_err().contains("fits no message"));
    }

    #[test]
    fn what_no_zone_may_hold_is_refused_whole() {
        let cases = [
            (record("www", 1, 60, &[1]), "malformed"),
            (record("www.example.org.", 1, 60, &[0; 4]), "outside"),
            (record("www", 252, 60, &[]), "stands in no zone"),
            (record("www", 6, 60, &soa().rdata), "beside that of the apex"),
            (record("@", 5, 60, &[0]), "CNAME"),
        ];
        for (wrong, word) in cases {
            let why = of(&[wrong]).unwrap_err();
            assert!(why.contains(word), "{why}");
        }
        let why = of(&[record("www", 5, 60, &[0]), record("www", 1, 60, &[0; 4])]).unwrap_err();
        assert!(why.contains("CNAME beside"), "{why}");
        assert!(of(&[record("www", 5, 60, &[0]), record("www", 46, 60, &[0; 20])]).unwrap().is_signed());
    }
}
