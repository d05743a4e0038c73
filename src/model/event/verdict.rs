//! What probes find.

use std::sync::Arc;
use std::time::Duration;

/// The result of one probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub outcome: Outcome,
    /// From the start of the attempt to the answer; of a failure: until it failed.
    pub latency: Duration,
    /// In words, for `last_error` and `show`: `200 OK`, `connection refused by 127.0.0.1:8001`.
    pub detail: Arc<str>,
    /// Only of LOAD monitors: how busy the server says it is, for the method CUSTOMLOAD.
    pub load: Option<u32>,
    /// Only of checks with several targets: what each gave, in their order.
    pub targets: Option<Arc<[TargetResult]>>,
}

/// What one of several targets gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetResult {
    pub outcome: Outcome,
    pub latency: Duration,
    pub detail: Arc<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Pass,
    /// Answered, and asks to be drained (NetScaler's `trofsCode`, `trofsString`); counts as passed.
    Trofs,
    Fail,
    /// No evidence either way: taken too late, no permission, name does not resolve. Changes nothing but `last_error`;
    /// where `lost` a check that never had a sample stays unknown.
    Void,
}

// === impl Verdict ===

impl Verdict {
    pub fn new(outcome: Outcome, latency: Duration, detail: impl Into<Arc<str>>) -> Verdict {
        Verdict { outcome, latency, detail: detail.into(), load: None, targets: None }
    }

    pub fn with_load(self, load: Option<u32>) -> Verdict {
        Verdict { load, ..self }
    }

    pub fn with_targets(self, targets: Vec<TargetResult>) -> Verdict {
        Verdict { targets: Some(targets.into()), ..self }
    }
}
