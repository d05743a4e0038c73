//! L3: probes. One sample of a check against a real socket, and the runner that takes samples when they are due, on
//! threads of its own and never more than a bounded number at once. Every probe opens a new connection.

pub mod runner;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::model::check::Check;
use crate::model::event::Verdict;

/// A sample to take.
#[derive(Clone, Debug)]
pub struct Job {
    pub check: Arc<Check>,
    pub due: Instant,
}

/// A sample taken.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The definition it was taken under: the receiver drops it where that is no longer the check of this name.
    pub check: Arc<Check>,
    pub verdict: Verdict,
    /// How long after `due` the attempt began.
    pub late_by: Duration,
}
