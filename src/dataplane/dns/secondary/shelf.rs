//! Zones of primaries on disk, so that a restart answers from them before any primary does.
//!
//! A file for each zone: a mark, when a primary last confirmed it, a digest, and the records. It is replaced whole; only
//! the time of the confirmation is written in its place. A file that is damaged is as good as none.
//!
//! A zone has one holder at a time: who kept it before its definition changed may still be writing, and what it writes is
//! dropped. Files that were not finished go at the next start.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::model::time::Wall;
use crate::model::zone::{DnsName, Received, RecordType, StaticRecord, ZoneContents};

const MARK: &[u8; 8] = b"BASCZON1";
const CONFIRMED_AT: usize = 8;
const DIGEST_AT: usize = 16;
const BODY_AT: usize = 48;
/// Files beyond this are not ours. Bytes.
const FILE_MAX: u64 = 2 << 30;
const SUFFIX: &str = "zone";
/// Of a file that is being written.
const NEW_SUFFIX: &str = "new";

/// The folder of the files. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Shelf {
    dir: PathBuf,
    /// The last holder of each zone.
    holders: Arc<Mutex<HashMap<DnsName, u64>>>,
}

/// The place of one zone, in the hand of one holder.
#[derive(Clone, Debug)]
pub struct Slot {
    shelf: Shelf,
    origin: DnsName,
    holder: u64,
}

// === impl Shelf ===

impl Shelf {
    /// `state` is the state directory; the folder is made when the first zone is written.
    pub fn new(state: &Path) -> Shelf {
        Shelf { dir: state.join("zones"), holders: Arc::default() }
    }

    /// The place of a zone; whoever held it before writes nothing any more.
    pub fn slot(&self, origin: &DnsName) -> Slot {
        let mut holders = self.holders.lock();
        let holder = holders.values().max().map_or(0, |last| last + 1);
        holders.insert(origin.clone(), holder);
        Slot { shelf: self.clone(), origin: origin.clone(), holder }
    }

    /// All zones there are; what cannot be read is left out, and said. Must be called before any slot is written: it
    /// removes what was not finished.
    pub fn all(&self, now: Wall) -> Vec<Received> {
        let Ok(entries) = fs::read_dir(&self.dir) else { return Vec::new() };
        let mut all = Vec::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|extension| extension == NEW_SUFFIX) {
                let _ = fs::remove_file(&path);
            }
            if path.extension().is_none_or(|extension| extension != SUFFIX) {
                continue;
            }
            match read(&path) {
                Ok((contents, confirmed)) => {
                    let is_expired = now.since(confirmed) >= super::schedule::Timers::of(&contents).expire();
                    all.push(Received { contents: Arc::new(contents), confirmed, is_expired });
                }
                Err(error) => tracing::warn!(file = %path.display(), %error, "not a zone; it is transferred anew"),
            }
        }
        all
    }

    /// Letters, digits, `-`, `_` and dots stand for themselves; names that are too long for a file by their digest.
    fn path(&self, origin: &DnsName) -> PathBuf {
        let mut name = String::new();
        for byte in origin.to_string().trim_end_matches('.').bytes() {
            match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => name.push(char::from(byte)),
                _ => name += &format!("%{byte:02x}"),
            }
        }
        if name.is_empty() || name.starts_with('.') || name.len() > 200 {
            name = Sha256::digest(&origin.0).iter().fold("%".to_owned(), |name, byte| name + &format!("{byte:02x}"));
        }
        self.dir.join(format!("{name}.{SUFFIX}"))
    }
}

// === impl Slot ===

impl Slot {
    /// Replaces what is kept of the zone. Where another one holds it by now: does nothing.
    pub fn write(&self, received: &Received) -> io::Result<()> {
        fs::create_dir_all(&self.shelf.dir)?;
        let path = self.shelf.path(&self.origin);
        let new = path.with_extension(format!("{}.{NEW_SUFFIX}", self.holder));
        let written = self.write_to(&new, received).and_then(|()| self.held(|| fs::rename(&new, &path)));
        match written {
            Ok(Some(())) => File::open(&self.shelf.dir)?.sync_all(),
            Ok(None) => fs::remove_file(&new),
            Err(error) => {
                let _ = fs::remove_file(&new);
                Err(error)
            }
        }
    }

    fn write_to(&self, new: &Path, received: &Received) -> io::Result<()> {
        let mut file = File::create(new)?;
        file.write_all(&encode(received))?;
        file.sync_all()
    }

    /// What is kept of the zone is not what it holds.
    pub fn forget(&self) -> io::Result<()> {
        self.held(|| fs::remove_file(self.shelf.path(&self.origin))).map(Option::unwrap_or_default)
    }

    /// A primary has what there is.
    pub fn confirm(&self, at: Wall) -> io::Result<()> {
        let confirm = || {
            let file = OpenOptions::new().write(true).open(self.shelf.path(&self.origin))?;
            file.write_all_at(&at.0.to_be_bytes(), CONFIRMED_AT as u64)
        };
        self.held(confirm).map(Option::unwrap_or_default)
    }

    /// Does it while nobody else can take the zone; `None`: somebody has.
    fn held<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<Option<T>> {
        let holders = self.shelf.holders.lock();
        let is_ours = holders.get(&self.origin) == Some(&self.holder);
        is_ours.then(act).transpose()
    }
}

fn encode(received: &Received) -> Vec<u8> {
    let contents = &received.contents;
    let mut out = [&MARK[..], &received.confirmed.0.to_be_bytes(), &[0; BODY_AT - DIGEST_AT]].concat();
    out.extend_from_slice(&contents.origin.0);
    for record in [&contents.soa].into_iter().chain(&contents.records) {
        out.extend_from_slice(&record.owner.0);
        out.extend_from_slice(&record.rtype.0.to_be_bytes());
        out.extend_from_slice(&record.ttl.to_be_bytes());
        out.extend_from_slice(&(record.rdata.len() as u16).to_be_bytes());
        out.extend_from_slice(&record.rdata);
    }
    let digest = Sha256::digest(&out[BODY_AT..]);
    out[DIGEST_AT..BODY_AT].copy_from_slice(&digest);
    out
}

fn read(path: &Path) -> Result<(ZoneContents, Wall), String> {
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    if file.metadata().map_err(|error| error.to_string())?.len() > FILE_MAX {
        return Err("too large".to_owned());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    decode(&bytes)
}

fn decode(bytes: &[u8]) -> Result<(ZoneContents, Wall), String> {
    let damaged = || "damaged".to_owned();
    let head = bytes.get(..BODY_AT).filter(|head| head.starts_with(MARK)).ok_or_else(damaged)?;
    let mut rest = &bytes[BODY_AT..];
    if Sha256::digest(rest)[..] != head[DIGEST_AT..] {
        return Err(damaged());
    }
    let confirmed = i64::from_be_bytes(head[CONFIRMED_AT..DIGEST_AT].try_into().map_err(|_| damaged())?);
    let origin = name(&mut rest).ok_or_else(damaged)?;
    let mut records = Vec::new();
    while !rest.is_empty() {
        records.push(record(&mut rest).ok_or_else(damaged)?);
    }
    Ok((ZoneContents::new(origin, records)?, Wall(confirmed)))
}

fn record(rest: &mut &[u8]) -> Option<StaticRecord> {
    let owner = name(rest)?;
    let (head, after) = rest.split_first_chunk::<8>()?;
    let rtype = RecordType(u16::from_be_bytes([head[0], head[1]]));
    let ttl = u32::from_be_bytes([head[2], head[3], head[4], head[5]]);
    let length = usize::from(u16::from_be_bytes([head[6], head[7]]));
    let (rdata, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(StaticRecord { owner, rtype, ttl, rdata: rdata.into() })
}

fn name(rest: &mut &[u8]) -> Option<DnsName> {
    let mut end = 0;
    while *rest.get(end)? != 0 {
        end += 1 + usize::from(rest[end]);
    }
    let (name, after) = rest.split_at_checked(end + 1)?;
    *rest = after;
    DnsName::from_wire(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(name: &str) -> Received {
        let origin = DnsName::parse(name, &DnsName::root()).unwrap();
        let numbers = [7u32, 3600, 600, 86_400, 30].into_iter().flat_map(u32::to_be_bytes);
        let soa: Vec<u8> = [0, 0].into_iter().chain(numbers).collect();
        let record = |rtype, rdata: &[u8]| StaticRecord { owner: origin.clone(), rtype, ttl: 60, rdata: rdata.into() };
        let records = vec![record(RecordType::SOA, &soa), record(RecordType::A, &[192, 0, 2, 1])];
        let contents = Arc::new(ZoneContents::new(origin.clone(), records).unwrap());
        Received { contents, confirmed: Wall(5_000_000), is_expired: false }
    }

    #[test]
    fn what_was_written_is_there_after_a_restart_as_old_as_it_is_by_then() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(dir.path());
        assert!(shelf.all(Wall(0)).is_empty(), "the first start");
        let all = [received("example.test."), received("."), received("a\\/b.test.")];
        for one in &all {
            shelf.slot(&one.contents.origin).write(one).unwrap();
        }
        let mut found = shelf.all(Wall(6_000_000));
        found.sort_by(|a, b| a.contents.origin.cmp(&b.contents.origin));
        let mut wanted = all.to_vec();
        wanted.sort_by(|a, b| a.contents.origin.cmp(&b.contents.origin));
        assert_eq!(found, wanted);
        let day = Wall(86_406_000_000);
        assert!(shelf.all(day).iter().all(|one| one.is_expired));
        shelf.slot(&all[0].contents.origin).confirm(Wall(7_000_000)).unwrap();
        let good: Vec<_> = shelf.all(day).into_iter().filter(|one| !one.is_expired).collect();
        assert_eq!(good.len(), 1);
        assert_eq!((&good[0].contents, good[0].confirmed), (&all[0].contents, Wall(7_000_000)));
    }

    #[test]
    fn of_two_who_keep_a_zone_the_later_alone_writes_and_nothing_is_left_of_the_other() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(dir.path());
        let (older, newer) = (received("example.test."), Received { confirmed: Wall(9), ..received("example.test.") });
        let before = shelf.slot(&older.contents.origin);
        before.write(&older).unwrap();
        let now = shelf.slot(&older.contents.origin);
        now.write(&newer).unwrap();
        // What was begun before ends after.
        before.write(&older).unwrap();
        before.confirm(Wall(77)).unwrap();
        before.forget().unwrap();
        assert_eq!(shelf.all(Wall(10)), [newer]);
        let files = fs::read_dir(dir.path().join("zones")).unwrap().count();
        assert_eq!(files, 1, "the file alone");
    }

    #[test]
    fn while_one_is_writing_another_writes_a_file_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(dir.path());
        let one = received("example.test.");
        let slots: Vec<Slot> = (0..8).map(|_| shelf.slot(&one.contents.origin)).collect();
        std::thread::scope(|scope| {
            for slot in &slots {
                scope.spawn(|| (0..50).for_each(|_| slot.write(&one).unwrap()));
            }
        });
        assert_eq!(shelf.all(Wall(0)), [one]);
    }

    #[test]
    fn what_was_not_finished_goes_at_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(dir.path());
        let one = received("example.test.");
        shelf.slot(&one.contents.origin).write(&one).unwrap();
        for left in ["example.test.3.new", "example.test.new", "gone.test.new"] {
            fs::write(dir.path().join("zones").join(left), "half").unwrap();
        }
        assert_eq!(shelf.all(Wall(0)), [one]);
        assert_eq!(fs::read_dir(dir.path().join("zones")).unwrap().count(), 1);
    }

    #[test]
    fn a_damaged_file_is_as_good_as_none() {
        let bytes = encode(&received("example.test."));
        assert!(decode(&bytes).is_ok());
        for at in (0..8).chain(16..bytes.len()) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(decode(&damaged).is_err(), "byte {at}");
            assert!(decode(&bytes[..at]).is_err(), "cut at {at}");
        }
    }
}
