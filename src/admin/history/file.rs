//! Rows on disk, one file an hour: they are appended as they end, and a file is removed when all of it is too old. Not
//! synced: what a power loss takes is a gap in a chart.
//!
//! A file is a row of records, all numbers little-endian:
//!
//! | first byte | then |
//! |---|---|
//! | `N` | number (u32), length (u8), name: what the number stands for from here on |
//! | `R` | number (u32), seconds of the row (u16), number of the row (u32), its values (7 × u16) |

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use super::book::{Book, Finished, Packed, SERIES};
use crate::model::time::Wall;

const HOUR_S: i64 = 3_600;
/// Files that are kept.
const HOURS: i64 = 49;
/// Of one file: a row a minute of a thousand objects, six an hour of eleven thousand, and their names.
const BYTES_MOST: u64 = 8 << 20;
const ENDING: &str = "rows";

/// The folder of one state directory.
#[derive(Debug)]
pub struct Files {
    folder: PathBuf,
    /// The hour that is written to.
    hour: i64,
    numbers: HashMap<String, u32>,
    /// A failure was told.
    failing: bool,
}

// === impl Files ===

impl Files {
    pub fn open(state: PathBuf) -> Files {
        Files { folder: state.join("history"), hour: 0, numbers: HashMap::new(), failing: false }
    }

    /// Everything that is not too old.
    pub fn read(&mut self, now: Wall) -> Book {
        let mut book = Book::default();
        for (hour, path) in self.kept() {
            if hour < hour_of(now) - HOURS {
                continue;
            }
            if let Ok(bytes) = fs::read(&path) {
                parse(&bytes, |row| book.restore(row));
            }
        }
        book
    }

    pub fn append(&mut self, now: Wall, rows: &[Finished]) {
        if rows.is_empty() {
            return;
        }
        match self.write(now, rows) {
            Ok(()) => self.failing = false,
            Err(error) if !self.failing => {
                self.failing = true;
                tracing::warn!(folder = %self.folder.display(), %error, "history is not written; it stays in memory");
            }
            Err(_) => {}
        }
    }

    fn write(&mut self, now: Wall, rows: &[Finished]) -> std::io::Result<()> {
        let hour = hour_of(now);
        if hour != self.hour {
            fs::create_dir_all(&self.folder)?;
            for (old, path) in self.kept() {
                if old < hour - HOURS {
                    let _ = fs::remove_file(path);
                }
            }
            // What this process has not named in this file it names again.
            (self.hour, self.numbers) = (hour, HashMap::new());
        }
        let path = self.folder.join(format!("{hour}.{ENDING}"));
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if file.metadata()?.len() > BYTES_MOST {
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(rows.len() * 32);
        for row in rows {
            let known = self.numbers.len() as u32;
            let number = *self.numbers.entry(row.object.clone()).or_insert_with(|| {
                name(&mut bytes, known, &row.object);
                known
            });
            bytes.push(b'R');
            bytes.extend(number.to_le_bytes());
            bytes.extend((row.length as u16).to_le_bytes());
            bytes.extend((row.at as u32).to_le_bytes());
            row.row.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        }
        file.write_all(&bytes)
    }

    /// By hour, oldest first.
    fn kept(&self) -> Vec<(i64, PathBuf)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let hour = |path: &PathBuf| {
            let is_ours = path.extension().is_some_and(|ending| ending == ENDING);
            path.file_stem().filter(|_| is_ours)?.to_str()?.parse::<i64>().ok()
        };
        let mut files: Vec<(i64, PathBuf)> =
            entries.map(|entry| entry.path()).filter_map(|path| Some((hour(&path)?, path))).collect();
        files.sort();
        files
    }
}

fn hour_of(now: Wall) -> i64 {
    now.0.div_euclid(1_000_000 * HOUR_S)
}

fn name(bytes: &mut Vec<u8>, number: u32, object: &str) {
    let mut end = object.len().min(255);
    while !object.is_char_boundary(end) {
        end -= 1;
    }
    bytes.push(b'N');
    bytes.extend(number.to_le_bytes());
    bytes.push(end as u8);
    bytes.extend(&object.as_bytes()[..end]);
}

/// Reads records up to the first that is cut off or unknown: a write may have been interrupted.
fn parse(mut bytes: &[u8], mut take: impl FnMut(Finished)) {
    let mut names: HashMap<u32, String> = HashMap::new();
    while let Some((number, object, row, rest)) = record(bytes) {
        match (object, row) {
            (Some(object), _) => drop(names.insert(number, object)),
            (None, Some((length, at, row))) => {
                if let Some(object) = names.get(&number) {
                    take(Finished { object: object.clone(), length, at, row });
                }
            }
            _ => {}
        }
        bytes = rest;
    }
}

/// The number, the name or the row, and what follows.
type Record<'a> = (u32, Option<String>, Option<(i64, i64, Packed)>, &'a [u8]);

fn record(bytes: &[u8]) -> Option<Record<'_>> {
    let (&kind, rest) = bytes.split_first()?;
    let (number, rest) = rest.split_first_chunk::<4>()?;
    let number = u32::from_le_bytes(*number);
    match kind {
        b'N' => {
            let (&length, rest) = rest.split_first()?;
            let (name, rest) = rest.split_at_checked(length.into())?;
            Some((number, Some(std::str::from_utf8(name).ok()?.to_owned()), None, rest))
        }
        b'R' => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            let (at, mut rest) = rest.split_first_chunk::<4>()?;
            let mut row = [0; SERIES.len()];
            for value in &mut row {
                let (two, after) = rest.split_first_chunk::<2>()?;
                (*value, rest) = (u16::from_le_bytes(*two), after);
            }
            let (length, at) = (u16::from_le_bytes(*length).into(), u32::from_le_bytes(*at).into());
            (length > 0).then_some((number, None, Some((length, at, row)), rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::book::{Asked, MINUTE_S, Row};
    use super::*;

    const MINUTE: i64 = 29_460_120;

    fn minute(n: i64) -> Finished {
        let row = Row { requests: 600, connections: 1, ..Row::default() }.packed();
        Finished { object: "vserver:web".into(), length: MINUTE_S, at: MINUTE + n, row }
    }

    fn at(n: i64) -> Wall {
        Wall((MINUTE + n) * 60_000_000)
    }

    fn known(book: &Book, minutes: i64) -> usize {
        let asked = Asked { object: "vserver:web".into(), from: at(0), to: at(minutes), step: 60 };
        book.curve(&asked).map_or(0, |curve| curve.series[0].iter().flatten().count())
    }

    #[test]
    fn rows_survive_a_restart_within_the_hour_and_over_it() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..90 {
            // A process for each row: the worst of restarts.
            Files::open(dir.path().into()).append(at(n), &[minute(n)]);
        }
        assert_eq!(known(&Files::open(dir.path().into()).read(at(90)), 90), 90);
    }

    #[test]
    fn what_was_cut_off_costs_only_itself() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = Files::open(dir.path().into());
        files.append(at(0), &[minute(0), minute(1)]);
        let (_, path) = files.kept().remove(0);
        let bytes = fs::read(&path).unwrap();
        for cut in 0..bytes.len() {
            fs::write(&path, &bytes[..cut]).unwrap();
            assert!(known(&files.read(at(2)), 2) <= 1);
        }
        fs::write(&path, [&bytes[..], b"?rubbish"].concat()).unwrap();
        assert_eq!(known(&files.read(at(2)), 2), 2);
    }

    #[test]
    fn old_files_go_and_a_file_never_grows_without_bound() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = Files::open(dir.path().into());
        for hour in 0..60 {
            files.append(at(hour * 60), &[minute(hour * 60)]);
        }
        assert_eq!(files.kept().len() as i64, HOURS + 1);
        let (_, path) = files.kept().pop().unwrap();
        fs::write(&path, vec![b'?'; BYTES_MOST as usize + 1]).unwrap();
        files.append(at(59 * 60), &[minute(1)]);
        assert_eq!(fs::metadata(path).unwrap().len(), BYTES_MOST + 1);
    }
}
