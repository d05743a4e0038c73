//! From the records of a transfer to contents: a whole zone (RFC 5936 §2.2) or the differences to what is there
//! (RFC 1995 §4). Pure; fed record by record.
//!
//! ```text
//!  SOA new ─┬─ end, and it is what we have ──────────────────────────────────────▶ CURRENT
//!           ├─ anything but our own SOA ─▶ WHOLE ── the SOA once more ────────────▶ done
//!           └─ SOA ours ─▶ DELETING ── SOA next ─▶ ADDING ─┬─ SOA next ─▶ DELETING …
//!                                                          └─ SOA new, it is next ▶ done
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::zone::{DnsName, RecordType, StaticRecord, ZoneContents};
use crate::snapshot::contents::is_newer;

/// Records of a zone at most, whatever their size.
const RECORDS_MAX: usize = 2_000_000;
/// Bytes that a record counts beside its name and its data.
const RECORD_BYTES: u64 = 10;

pub struct Assembler {
    origin: DnsName,
    /// What differences are to; `None`: the whole zone was asked for.
    base: Option<Arc<ZoneContents>>,
    most: u64,
    /// Nothing older than this serial is taken.
    oldest: Option<u32>,
    /// Of all that has come.
    bytes: u64,
    records: usize,
    soa: Option<StaticRecord>,
    stage: Stage,
}

enum Stage {
    /// Before the second record.
    Begun,
    Whole(Vec<StaticRecord>),
    Deleting(Differences),
    Adding(Differences),
    Done(Outcome),
}

/// The records as they are after the differences so far.
struct Differences {
    records: HashMap<Key, u32>,
    /// Where the difference that is read leads.
    serial: u32,
}

type Key = (DnsName, RecordType, Arc<[u8]>);

/// What a transfer came to.
pub enum Outcome {
    /// The primary has what is there.
    Current,
    New {
        contents: ZoneContents,
        incremental: bool,
    },
}

// === impl Assembler ===

impl Assembler {
    /// `most`: bytes.
    pub fn new(origin: DnsName, base: Option<Arc<ZoneContents>>, most: u64) -> Assembler {
        Assembler { origin, base, most, oldest: None, bytes: 0, records: 0, soa: None, stage: Stage::Begun }
    }

    /// Refuses a transfer with an older serial, whatever the SOA said that was asked for before: behind one address there
    /// may be several servers, one behind the other.
    pub fn not_before(self, serial: u32) -> Assembler {
        Assembler { oldest: Some(serial), ..self }
    }

    /// Takes the next record. Errors: in words; the transfer is good for nothing then.
    pub fn take(&mut self, record: StaticRecord) -> Result<(), String> {
        self.bytes += record.owner.0.len() as u64 + record.rdata.len() as u64 + RECORD_BYTES;
        self.records += 1;
        if self.bytes > self.most || self.records > RECORDS_MAX {
            return Err(format!("the zone is larger than it may be (`max_size` is {} bytes)", self.most));
        }
        let is_soa = record.rtype == RecordType::SOA && record.owner == self.origin;
        let Some(soa) = &self.soa else {
            if !is_soa || record.rdata.len() < 22 {
                return Err("it does not begin with the SOA".to_owned());
            }
            let first = serial(&record);
            if let Some(oldest) = self.oldest.filter(|&oldest| first != oldest && !is_newer(first, oldest)) {
                return Err(older(first, oldest));
            }
            self.soa = Some(record);
            return Ok(());
        };
        let last = serial(soa);
        let stage = std::mem::replace(&mut self.stage, Stage::Begun);
        self.stage = match stage {
            Stage::Begun => match &self.base {
                Some(base) if is_soa && serial(&record) == base.serial() && last != base.serial() => {
                    let all = base.records.iter().map(|r| ((r.owner.clone(), r.rtype, Arc::clone(&r.rdata)), r.ttl));
                    Stage::Deleting(Differences { records: all.collect(), serial: base.serial() })
                }
                _ => self.whole(Vec::new(), record, is_soa)?,
            },
            Stage::Whole(records) => self.whole(records, record, is_soa)?,
            Stage::Deleting(differences) if is_soa => {
                Stage::Adding(Differences { serial: serial(&record), ..differences })
            }
            Stage::Deleting(mut differences) => {
                let key = (record.owner, record.rtype, record.rdata);
                if differences.records.remove(&key).is_none() {
                    return Err(format!("it takes away a record of `{} {}` that is not there", key.0, key.1));
                }
                Stage::Deleting(differences)
            }
            Stage::Adding(differences) if is_soa && serial(&record) != differences.serial => {
                return Err("its differences do not follow each other".to_owned());
            }
            Stage::Adding(differences) if is_soa && differences.serial == last => {
                let all = differences.records.into_iter();
                let mut records: Vec<StaticRecord> =
                    all.map(|((owner, rtype, rdata), ttl)| StaticRecord { owner, rtype, ttl, rdata }).collect();
                records.extend(self.soa.clone());
                self.done(records, true)?
            }
            Stage::Adding(differences) if is_soa => Stage::Deleting(differences),
            Stage::Adding(mut differences) => {
                differences.records.insert((record.owner, record.rtype, record.rdata), record.ttl);
                Stage::Adding(differences)
            }
            Stage::Done(_) => return Err("records follow its end".to_owned()),
        };
        Ok(())
    }

    fn whole(&self, mut records: Vec<StaticRecord>, record: StaticRecord, is_soa: bool) -> Result<Stage, String> {
        let soa = self.soa.as_ref().ok_or("it does not begin with the SOA")?;
        if !is_soa {
            records.push(record);
            return Ok(Stage::Whole(records));
        }
        if serial(&record) != serial(soa) {
            return Err("the zone has changed while it was sent".to_owned());
        }
        records.push(soa.clone());
        self.done(records, false)
    }

    fn done(&self, records: Vec<StaticRecord>, incremental: bool) -> Result<Stage, String> {
        let contents = ZoneContents::new(self.origin.clone(), records)?;
        Ok(Stage::Done(Outcome::New { contents, incremental }))
    }

    /// A message is over: one that holds our own SOA alone says that there is nothing new.
    pub fn message_ends(&mut self) {
        let is_ours = |soa: &StaticRecord| self.base.as_ref().is_some_and(|base| base.serial() == serial(soa));
        if matches!(self.stage, Stage::Begun) && self.soa.as_ref().is_some_and(is_ours) {
            self.stage = Stage::Done(Outcome::Current);
        }
    }

    pub fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done(_))
    }

    /// `None`: it has not come to its end.
    pub fn outcome(self) -> Option<Outcome> {
        match self.stage {
            Stage::Done(outcome) => Some(outcome),
            _ => None,
        }
    }
}

/// What is said of a primary that has an older serial than is here.
pub fn older(there: u32, here: u32) -> String {
    format!(
        "has the serial {there}, which is older than {here}; `transfer zone` with `-whole YES` takes it all the same"
    )
}

/// Of a SOA; it has the numbers, or it would not have been taken.
fn serial(soa: &StaticRecord) -> u32 {
    let numbers = soa.rdata.len().saturating_sub(20);
    soa.rdata.get(numbers..numbers + 4).map_or(0, |bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> DnsName {
        DnsName::parse("example.test.", &DnsName::root()).unwrap()
    }

    fn soa(serial: u32) -> StaticRecord {
        let numbers = [serial, 3600, 600, 86_400, 30].into_iter().flat_map(u32::to_be_bytes);
        let rdata: Vec<u8> = [0, 0].into_iter().chain(numbers).collect();
        StaticRecord { owner: origin(), rtype: RecordType::SOA, ttl: 60, rdata: rdata.into() }
    }

    fn a(last: u8) -> StaticRecord {
        let owner = DnsName::parse("www", &origin()).unwrap();
        StaticRecord { owner, rtype: RecordType::A, ttl: 60, rdata: [192, 0, 2, last].as_slice().into() }
    }

    fn zone(serial: u32, lasts: &[u8]) -> ZoneContents {
        ZoneContents::new(origin(), [soa(serial)].into_iter().chain(lasts.iter().map(|&l| a(l))).collect()).unwrap()
    }

    /// Takes each record as a message of its own, the slowest way there is.
    fn fed(base: Option<ZoneContents>, records: &[StaticRecord]) -> Result<Option<Outcome>, String> {
        let mut assembler = Assembler::new(origin(), base.map(Arc::new), 1_000);
        for record in records {
            assembler.take(record.clone())?;
            assembler.message_ends();
        }
        Ok(assembler.outcome())
    }

    fn new(base: Option<ZoneContents>, records: &[StaticRecord]) -> (ZoneContents, bool) {
        match fed(base, records).unwrap() {
            Some(Outcome::New { contents, incremental }) => (contents, incremental),
            _ => panic!("not new, or not over"),
        }
    }

    #[test]
    fn a_whole_zone_stands_between_two_soas_also_where_differences_were_asked_for() {
        let sent = [soa(8), a(1), a(2), soa(8)];
        assert_eq!(new(None, &sent), (zone(8, &[1, 2]), false));
        assert_eq!(new(Some(zone(7, &[1])), &sent), (zone(8, &[1, 2]), false));
        assert_eq!(new(Some(zone(7, &[1])), &[soa(8), soa(8)]), (zone(8, &[]), false));
        assert!(fed(None, &sent[..3]).unwrap().is_none(), "it has not ended");
    }

    #[test]
    fn differences_are_applied_one_after_the_other() {
        let sent = [soa(9), soa(7), a(1), soa(8), a(2), a(3), soa(8), a(3), soa(9), a(4), soa(9)];
        assert_eq!(new(Some(zone(7, &[1])), &sent), (zone(9, &[2, 4]), true));
        for cut in 2..sent.len() {
            assert!(fed(Some(zone(7, &[1])), &sent[..cut]).unwrap().is_none(), "cut after {cut}");
        }
    }

    #[test]
    fn our_own_soa_alone_says_that_there_is_nothing_new() {
        assert!(matches!(fed(Some(zone(7, &[1])), &[soa(7)]), Ok(Some(Outcome::Current))));
        assert!(fed(Some(zone(7, &[1])), &[soa(8)]).unwrap().is_none(), "more follows");
    }

    #[test]
    fn nothing_older_than_what_there_is_is_taken_whole_or_by_differences() {
        let begin = |base: Option<ZoneContents>, first: u32| {
            let assembler = Assembler::new(origin(), base.map(Arc::new), 1_000).not_before(u32::MAX);
            let mut assembler = assembler;
            assembler.take(soa(first)).err()
        };
        for base in [None, Some(zone(u32::MAX, &[1]))] {
            for (serial, is_taken) in [(u32::MAX, true), (0, true), (5, true), (u32::MAX - 1, false), (1 << 31, false)]
            {
                assert_eq!(begin(base.clone(), serial).is_none(), is_taken, "{serial}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let base = || Some(zone(7, &[1]));
        for (records, word) in [
            (vec![a(1)], "begin with the SOA"),
            (vec![soa(8), soa(7), a(9)], "not there"),
            (vec![soa(9), soa(7), soa(8), soa(7)], "do not follow"),
            (vec![soa(8), a(1), soa(9)], "has changed"),
            (vec![soa(8), soa(8), a(1)], "follow its end"),
        ] {
            let Err(why) = fed(base(), &records) else { panic!("{word}: taken") };
            assert!(why.contains(word), "{why}");
        }
        let many: Vec<_> = [soa(8)].into_iter().chain((0..60).map(a)).collect();
        let Err(why) = fed(None, &many) else { panic!("it is too large") };
        assert!(why.contains("max_size"), "{why}");
    }
}
