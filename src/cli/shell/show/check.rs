//! Checks: how they stand, what they gave lately, and how long their answers take.

use super::{note_line, since_lines};
use crate::admin::dto::{CheckDto, CheckHistoryDto, PercentilesDto};

pub(in super::super) fn check(check: &CheckDto, now: &str) -> String {
    let target = check.target.as_deref().unwrap_or("nowhere");
    let mut out = format!("{} ({target}) - {}\n", check.name, check.r#type);
    out += &format!("\tState: {}\n", check.state.to_uppercase());
    out += &since_lines(&check.since, now);
    if let Some(source) = &check.source {
        out += &format!("\tLeaves from: {source}\n");
    }
    if let Some(quorum) = check.quorum {
        out += &format!("\tTargets: {}\tNeeded: {quorum}\n", check.targets.len());
    }
    for target in &check.targets {
        let (result, response) = (target.result.as_deref().unwrap_or("none yet"), target.response.as_deref());
        out += &format!("\t\t{}: {result} {}\n", target.target, response.unwrap_or_default());
    }
    if let Some(forced) = &check.forced {
        out += &format!("\tForced: {}\tWithout the force: {}\n", forced.to_uppercase(), check.real.to_uppercase());
    }
    if let Some(note) = &check.forced_by {
        out += &note_line("Forced", &note.actor, &note.since, note.reason.as_deref(), note.expires.as_deref());
    }
    let last = match (&check.last_error, &check.last_response) {
        (Some(error), _) => format!("Failure - {error}"),
        (None, Some(response)) => format!("Success - {response}"),
        (None, None) => "none yet".into(),
    };
    out += &format!(
        "\tProbes: {}\tFailed [Total: {} Current: {}]\n",
        check.samples_total, check.failed_total, check.fails_in_row
    );
    out += &format!("\tLast response: {last}\n\tResponse Time: {}", check.latency.as_deref().unwrap_or("N/A"));
    out + &check.percentiles.as_ref().map_or_else(|| "\n".into(), |p| format!("\t({})\n", percentiles(p)))
}

fn percentiles(percentiles: &PercentilesDto) -> String {
    let PercentilesDto { answers, p50, p95, p99 } = percentiles;
    format!("p50 {p50}, p95 {p95}, p99 {p99} of {answers} answers")
}

/// `stat check NAME`
pub(in super::super) fn check_history(history: &CheckHistoryDto) -> String {
    let mut out = format!("{} - {}\n", history.name, history.state.to_uppercase());
    let latencies = history.percentiles.as_ref().map_or_else(|| "none yet".into(), percentiles);
    out += &format!("\tResponse Time: {latencies}\n\tLast samples:\n");
    for sample in &history.items {
        out += &format!("\t\t{} {} {} {}\n", sample.at, sample.result, sample.latency, sample.response);
    }
    out
}
