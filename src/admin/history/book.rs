//! Rows by object and time, bounded. Pure: time is passed in.

mod ring;

use std::collections::HashMap;

use super::code::{decode, encode};
use crate::model::time::Wall;
use ring::Ring;

/// Seconds of a row.
pub const FINE_S: i64 = 10;
pub const MINUTE_S: i64 = 60;
pub const COARSE_S: i64 = 600;

/// How far each reaches back.
const FINE_ROWS: usize = 360;
const MINUTE_ROWS: usize = 2_880;
const COARSE_ROWS: usize = 288;

/// Objects with rows of 10 s and 1 min, and all.
const WHOLE_MOST: usize = 1_000;
const OBJECTS_MOST: usize = 12_000;

/// An object without traffic for so long is forgotten.
const KEPT_S: i64 = 48 * 3_600;

/// Points of one answer at most.
pub const POINTS_MOST: i64 = 5_000;

/// The names of what a row holds, in its order; counts are told per second, latencies in milliseconds.
pub const SERIES: [&str; 7] = ["requests", "errors", "bytes_in", "bytes_out", "connections", "p50", "p99"];

/// What happened in the time of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub requests: u64,
    pub errors: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// At its end; of a longer row: the mean.
    pub connections: u64,
    /// In microseconds; of a longer row: the mean over its requests.
    pub p50: u64,
    /// In microseconds; of a longer row: the greatest.
    pub p99: u64,
}

pub type Packed = [u16; SERIES.len()];

/// A row that is over, for the file: the object, seconds of the row, its number (time divided by its seconds).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    pub object: String,
    pub length: i64,
    pub at: i64,
    pub row: Packed,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// `vserver:web`
    pub object: String,
    pub from: Wall,
    pub to: Wall,
    /// Seconds; a multiple of what is kept is answered, the nearest that is not shorter.
    pub step: i64,
}

/// What is answered: values by time, `None` where nothing is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Seconds.
    pub step: i64,
    /// The beginning of each, in Unix seconds.
    pub t: Vec<i64>,
    /// In the order of [`SERIES`].
    pub series: Vec<Vec<Option<f64>>>,
}

#[derive(Debug, Default)]
pub struct Book {
    objects: HashMap<String, Kept>,
    /// Objects with rows of 10 s.
    whole: usize,
}

/// What is kept of one object.
#[derive(Debug)]
struct Kept {
    fine: Option<Ring>,
    minute: Option<Ring>,
    coarse: Option<Ring>,
    /// What is gathered for the longer row: its number, rows so far, their sum, requests times their median.
    gathered: Option<Gathered>,
    busy_at: i64,
}

#[derive(Clone, Copy, Debug)]
struct Gathered {
    at: i64,
    rows: u64,
    sum: Row,
    weighted_p50: u128,
}

fn seconds(at: Wall) -> i64 {
    at.0.div_euclid(1_000_000)
}

// === impl Book ===

impl Book {
    /// What happened in the 10 s that end at `now`. An object is kept from its first traffic on.
    pub fn push(&mut self, object: &str, now: Wall, row: Row) {
        let (now, busy) = (seconds(now), row.requests + row.errors + row.bytes_in + row.connections > 0);
        if !self.objects.contains_key(object) {
            if !busy || self.objects.len() >= OBJECTS_MOST {
                return;
            }
            self.add(object, now, self.whole < WHOLE_MOST);
        }
        let Some(kept) = self.objects.get_mut(object) else { return };
        if busy {
            kept.busy_at = now;
        }
        // The row that ends now began before.
        let began = now - FINE_S;
        if let Some(fine) = &mut kept.fine {
            fine.push(began.div_euclid(FINE_S), row.packed());
        }
        kept.gather(began, row);
    }

    /// Rows that are over by `now`, and forgets what has had no traffic for long.
    pub fn finish(&mut self, now: Wall) -> Vec<Finished> {
        let now = seconds(now);
        let mut finished = Vec::new();
        for (object, kept) in &mut self.objects {
            if let Some((length, at, row)) = kept.close(now) {
                finished.push(Finished { object: object.clone(), length, at, row });
            }
        }
        let gone = |kept: &Kept| now - kept.busy_at > KEPT_S;
        self.whole -= self.objects.values().filter(|kept| gone(kept) && kept.fine.is_some()).count();
        self.objects.retain(|_, kept| !gone(kept));
        finished
    }

    /// A row that a file holds.
    pub fn restore(&mut self, row: Finished) {
        let began = row.at * row.length;
        if !self.objects.contains_key(&row.object) {
            if self.objects.len() >= OBJECTS_MOST {
                return;
            }
            self.add(&row.object, began, row.length == MINUTE_S && self.whole < WHOLE_MOST);
        }
        let Some(kept) = self.objects.get_mut(&row.object) else { return };
        if Row::unpacked(row.row).is_some_and(|row| row.requests + row.connections > 0) {
            kept.busy_at = kept.busy_at.max(began);
        }
        if let Some(ring) = kept.long_mut().filter(|ring| ring.length == row.length) {
            ring.push(row.at, row.row);
        }
    }

    /// `None`: nothing is kept of it.
    pub fn curve(&self, asked: &Asked) -> Option<Curve> {
        let kept = self.objects.get(&asked.object)?;
        // Of what was never kept there is nothing to say, however long it is.
        let rings = kept.fine.iter().chain(kept.long()).filter(|ring| ring.newest >= 0);
        let latest = rings.map(|ring| (ring.newest + 1) * ring.length).max()?;
        let to = seconds(asked.to).min(latest + 2 * KEPT_S);
        let from = seconds(asked.from).max(latest - 2 * KEPT_S);
        if from >= to {
            return Some(Curve { step: asked.step, t: Vec::new(), series: vec![Vec::new(); SERIES.len()] });
        }
        let fine = kept.fine.as_ref().filter(|ring| asked.step < MINUTE_S && ring.reaches() <= from);
        let fine = fine.or(kept.fine.as_ref().filter(|ring| asked.step < MINUTE_S && to - from <= ring.span()));
        let ring = fine.or(kept.long())?;
        let least = ((to - from + POINTS_MOST - 1) / POINTS_MOST).max(asked.step).max(1);
        let step = (least + ring.length - 1) / ring.length * ring.length;
        let mut curve = Curve { step, t: Vec::new(), series: vec![Vec::new(); SERIES.len()] };
        let mut at = from.div_euclid(step) * step;
        while at < to {
            curve.t.push(at);
            let values = ring.over(at, step).map(|row| row.shown(step));
            for (series, values) in curve.series.iter_mut().zip((0..SERIES.len()).map(|i| values.map(|v| v[i]))) {
                series.push(values);
            }
            at += step;
        }
        Some(curve)
    }

    /// The most requests per second in any row of the last 48 hours.
    pub fn peak(&self, object: &str, now: Wall) -> Option<u64> {
        let ring = self.objects.get(object)?.long()?;
        let oldest = (seconds(now) - KEPT_S).div_euclid(ring.length);
        let rows = (oldest.max(ring.newest - ring.rows.len() as i64 + 1)..=ring.newest).filter_map(|at| ring.get(at));
        rows.map(|row| row.requests / ring.length as u64).max()
    }

    fn add(&mut self, object: &str, now: i64, whole: bool) {
        self.whole += usize::from(whole);
        let kept = Kept {
            fine: whole.then(|| Ring::new(FINE_S, FINE_ROWS)),
            minute: whole.then(|| Ring::new(MINUTE_S, MINUTE_ROWS)),
            coarse: (!whole).then(|| Ring::new(COARSE_S, COARSE_ROWS)),
            gathered: None,
            busy_at: now,
        };
        self.objects.insert(object.to_owned(), kept);
    }
}

// === impl Kept ===

impl Kept {
    fn long(&self) -> Option<&Ring> {
        self.minute.as_ref().or(self.coarse.as_ref())
    }

    fn long_mut(&mut self) -> Option<&mut Ring> {
        self.minute.as_mut().or(self.coarse.as_mut())
    }

    fn gather(&mut self, began: i64, row: Row) {
        let Some(length) = self.long().map(|ring| ring.length) else { return };
        let at = began.div_euclid(length);
        if self.gathered.is_some_and(|gathered| gathered.at != at) {
            self.keep_gathered();
        }
        let empty = Gathered { at, rows: 0, sum: Row::default(), weighted_p50: 0 };
        self.gathered.get_or_insert(empty).add(row);
    }

    /// Puts away what is over by `now`.
    fn close(&mut self, now: i64) -> Option<(i64, i64, Packed)> {
        let length = self.long()?.length;
        self.gathered.filter(|gathered| (gathered.at + 1) * length <= now)?;
        self.keep_gathered()
    }

    fn keep_gathered(&mut self) -> Option<(i64, i64, Packed)> {
        let gathered = self.gathered.take()?;
        let row = gathered.row().packed();
        let ring = self.long_mut()?;
        ring.push(gathered.at, row);
        Some((ring.length, gathered.at, row))
    }
}

// === impl Gathered ===

impl Gathered {
    fn add(&mut self, row: Row) {
        let sum = &mut self.sum;
        sum.requests += row.requests;
        sum.errors += row.errors;
        sum.bytes_in += row.bytes_in;
        sum.bytes_out += row.bytes_out;
        sum.connections += row.connections;
        sum.p99 = sum.p99.max(row.p99);
        self.weighted_p50 += u128::from(row.p50) * u128::from(row.requests);
        self.rows += 1;
    }

    fn row(&self) -> Row {
        let p50 = self.weighted_p50.checked_div(u128::from(self.sum.requests)).unwrap_or(0);
        Row {
            connections: self.sum.connections.checked_div(self.rows).unwrap_or(0),
            p50: u64::try_from(p50).unwrap_or(u64::MAX),
            ..self.sum
        }
    }
}

// === impl Row ===

impl Row {
    pub fn packed(&self) -> Packed {
        [self.requests, self.errors, self.bytes_in, self.bytes_out, self.connections, self.p50, self.p99].map(encode)
    }

    pub fn unpacked(packed: Packed) -> Option<Row> {
        let of = |at: usize| decode(packed[at]);
        Some(Row {
            requests: of(0)?,
            errors: of(1)?,
            bytes_in: of(2)?,
            bytes_out: of(3)?,
            connections: of(4)?,
            p50: of(5)?,
            p99: of(6)?,
        })
    }

    /// Per second, and in milliseconds.
    fn shown(&self, seconds: i64) -> [f64; SERIES.len()] {
        let rate = |count: u64| round(count as f64 / seconds as f64);
        let ms = |us: u64| round(us as f64 / 1_000.0);
        [
            rate(self.requests),
            rate(self.errors),
            rate(self.bytes_in),
            rate(self.bytes_out),
            self.connections as f64,
            ms(self.p50),
            ms(self.p99),
        ]
    }
}

fn round(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests;
