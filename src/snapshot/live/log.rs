//! What becomes of lines of logs.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of the access log, and of the log over syslog. Totals never fall.
#[derive(Debug, Default)]
pub struct LogLive {
    /// Lines that were taken.
    pub lines_total: AtomicU64,
    /// Lines that were dropped as the disk did not keep up, or could not be written.
    pub dropped_total: AtomicU64,
    /// Configurations that were taken and changed nothing: with each the file is opened anew all the same.
    pub reopened_total: AtomicU64,
    pub syslog_sent_total: AtomicU64,
    pub syslog_dropped_total: AtomicU64,
}

// === impl LogLive ===

impl LogLive {
    /// A line that was taken is not written after all.
    pub fn lost(&self) {
        self.dropped_total.fetch_add(1, Ordering::Relaxed);
    }
}
