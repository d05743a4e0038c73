//! What was measured and what happened in the last 48 hours.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::admin::history::book::{Curve, SERIES};
use crate::control::JournalEntry;
use crate::model::time::Wall;

dto! {
    /// Series over time.
    pub struct HistoryDto {
        /// `vserver:web`
        pub object: String,
        /// Seconds from one point to the next; 0: the points are changes.
        pub step: u64,
        /// When each point begins.
        pub t: Vec<String>,
        /// By name: `requests`, `errors`, `bytes_in`, `bytes_out` per second, `connections`, `p50` and `p99` in
        /// milliseconds (of a longer step: the mean over requests, and the greatest); `state`. Null: not known.
        pub series: BTreeMap<String, Vec<Value>>,
        pub marks: Vec<MarkDto>,
    }

    /// Something that happened.
    pub struct MarkDto {
        pub at: String,
        /// `transition` or `act`.
        pub kind: String,
        /// `scenario dr`
        pub object: String,
        pub text: String,
    }

    /// A state that was entered.
    pub struct StateChangeDto {
        pub at: String,
        pub state: String,
        /// `probe`, `admin`, `drained`, `forced`; of a vserver `own services`, `admin`, `chain`.
        pub cause: String,
    }
}

// === impl HistoryDto ===

impl HistoryDto {
    pub(in crate::admin) fn of(object: &str, curve: Curve, metric: Option<&str>) -> HistoryDto {
        let values = |values: Vec<Option<f64>>| values.into_iter().map(|value| json!(value)).collect();
        let named = SERIES.into_iter().zip(curve.series);
        let wanted = named.filter(|(name, _)| metric.is_none_or(|metric| metric == *name));
        HistoryDto {
            object: object.to_owned(),
            step: curve.step.unsigned_abs(),
            t: curve.t.iter().map(|at| Wall(at.saturating_mul(1_000_000)).to_string()).collect(),
            series: wanted.map(|(name, series)| (name.to_owned(), values(series))).collect(),
            marks: Vec::new(),
        }
    }

    pub(in crate::admin) fn of_states(object: &str, changes: Vec<StateChangeDto>) -> HistoryDto {
        let states = changes.iter().map(|change| json!(change.state)).collect();
        HistoryDto {
            object: object.to_owned(),
            step: 0,
            t: changes.into_iter().map(|change| change.at).collect(),
            series: BTreeMap::from([("state".to_owned(), states)]),
            marks: Vec::new(),
        }
    }
}

// === impl StateChangeDto ===

impl StateChangeDto {
    /// Of an entry of the kind `state`.
    pub(in crate::admin) fn of(entry: &JournalEntry) -> StateChangeDto {
        let text = |key: &str| entry.body[key].as_str().unwrap_or_default().to_owned();
        StateChangeDto { at: entry.at.to_string(), state: text("to"), cause: text("cause") }
    }
}
