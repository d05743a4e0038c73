//! Rows of one length in a ring.

use super::super::code::GAP;
use super::{Gathered, Packed, Row, SERIES};

/// Rows of one length, the newest replacing the oldest.
#[derive(Debug)]
pub(super) struct Ring {
    /// Seconds of a row.
    pub length: i64,
    pub rows: Vec<Packed>,
    /// Number of the newest row.
    pub newest: i64,
}

// === impl Ring ===

impl Ring {
    pub fn new(length: i64, rows: usize) -> Ring {
        Ring { length, rows: vec![[GAP; SERIES.len()]; rows], newest: i64::MIN / 2 }
    }

    /// Seconds that it spans.
    pub fn span(&self) -> i64 {
        self.rows.len() as i64 * self.length
    }

    /// The beginning of the oldest row that may be there.
    pub fn reaches(&self) -> i64 {
        (self.newest - self.rows.len() as i64 + 1) * self.length
    }

    fn place(&self, at: i64) -> usize {
        at.rem_euclid(self.rows.len() as i64) as usize
    }

    /// What lies between the newest and this one is a gap.
    pub fn push(&mut self, at: i64, row: Packed) {
        let count = self.rows.len() as i64;
        if at <= self.newest - count {
            return;
        }
        for gap in (self.newest + 1).max(at - count + 1)..at {
            let place = self.place(gap);
            self.rows[place] = [GAP; SERIES.len()];
        }
        let place = self.place(at);
        self.rows[place] = row;
        self.newest = self.newest.max(at);
    }

    pub fn get(&self, at: i64) -> Option<Row> {
        let inside = at <= self.newest && at > self.newest - self.rows.len() as i64;
        inside.then(|| Row::unpacked(self.rows[self.place(at)])).flatten()
    }

    /// What happened from `at` on, for `step` seconds.
    pub fn over(&self, at: i64, step: i64) -> Option<Row> {
        let mut gathered = Gathered { at: 0, rows: 0, sum: Row::default(), weighted_p50: 0 };
        let first = at.div_euclid(self.length);
        let kept =
            (self.newest - self.rows.len() as i64 + 1).max(first)..(first + step / self.length).min(self.newest + 1);
        for row in kept.filter_map(|at| self.get(at)) {
            gathered.add(row);
        }
        (gathered.rows > 0).then(|| {
            // A part of it that is not known is taken to be like the rest.
            let (all, known) = ((step / self.length) as u64, gathered.rows);
            let whole = |count: u64| count.saturating_mul(all) / known;
            let row = gathered.row();
            Row {
                requests: whole(row.requests),
                errors: whole(row.errors),
                bytes_in: whole(row.bytes_in),
                bytes_out: whole(row.bytes_out),
                ..row
            }
        })
    }
}
