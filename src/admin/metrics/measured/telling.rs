//! What is told of the work to somebody else: spans of requests, the log over syslog.

use std::sync::atomic::Ordering::Relaxed;

use super::super::Page;
use crate::control::World;

pub(super) fn write(look: &World<'_>, page: &mut Page) {
    let (traces, log) = (&look.snapshot.traces, &look.snapshot.log);
    if look.model.trace.is_some() {
        let counters = [
            ("bascule_trace_requests_total", "Requests that were sampled.", &traces.sampled_total),
            ("bascule_trace_sent_total", "Sampled requests whose spans were taken.", &traces.sent_total),
            ("bascule_trace_dropped_total", "Sampled requests whose spans were dropped.", &traces.dropped_total),
            ("bascule_trace_failures_total", "Attempts to send spans that failed.", &traces.failures_total),
        ];
        for (name, help, total) in counters {
            page.counter(name, help).sample(&[], total.load(Relaxed) as f64);
        }
    }
    if look.model.log.syslog.is_some() {
        page.counter("bascule_log_syslog_sent_total", "Lines of the log that were handed over to syslog.")
            .sample(&[], log.syslog_sent_total.load(Relaxed) as f64);
        page.counter("bascule_log_syslog_dropped_total", "Lines of the log that syslog did not get.")
            .sample(&[], log.syslog_dropped_total.load(Relaxed) as f64);
    }
}
