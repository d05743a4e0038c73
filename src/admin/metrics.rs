//! `/metrics`: Prometheus text (version 0.0.4), written by hand from counters that exist anyway.
//!
//! A state is a set of series with the label `state`, of which one is 1: an alert can name the state it means, and a
//! drain is not mistaken for a failure.

mod alerts;
mod drill;
mod load;
mod measured;
mod outbox;
mod peers;
mod people;
mod ships;
mod tls;
mod transfers;

use std::fmt::Write as _;
use std::sync::atomic::Ordering::Relaxed;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::App;
use super::problem::Problem;
use super::route::Route;
use crate::control::World;
use crate::model::condition::Truth;
use crate::model::state::{ServiceState, VserverState};

const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The text in the making.
#[derive(Default)]
struct Page(String);

/// One family of series: all its lines stand together, as the format asks.
struct Family<'a> {
    page: &'a mut Page,
    name: &'static str,
}

pub(crate) fn route() -> Route {
    Route::get("/metrics", "State and counters for Prometheus", metrics).answers_text("text/plain")
}

async fn metrics(State(app): State<App>) -> Result<Response, Problem> {
    let text = app.study(render).await?;
    Ok(([(header::CONTENT_TYPE, MEDIA_TYPE)], text).into_response())
}

fn render(look: &World<'_>) -> String {
    let mut page = Page::default();
    appliance(look, &mut page);
    services(look, &mut page);
    vservers(look, &mut page);
    load::write(look, &mut page);
    tls::write(look, &mut page);
    measured::write(look, &mut page);
    checks(look, &mut page);
    scenarios(look, &mut page);
    people::write(look, &mut page);
    drill::write(look, &mut page);
    outbox::write(look, &mut page);
    alerts::write(look, &mut page);
    ships::write(look, &mut page);
    peers::write(look, &mut page);
    dns(look, &mut page);
    page.0
}

fn appliance(look: &World<'_>, page: &mut Page) {
    page.gauge("bascule_build_info", "Always 1; the labels say what runs.")
        .sample(&[("version", env!("CARGO_PKG_VERSION")), ("appliance", &look.model.appliance.name)], 1.0);
    let flag = |on: bool| f64::from(u8::from(on));
    page.gauge("bascule_start_time_seconds", "Start of the process, seconds since 1970.")
        .sample(&[], look.status.started_at.0 as f64 / 1e6);
    page.gauge("bascule_ready", "1 once the appliance serves.")
        .sample(&[], flag(look.status.ready && !look.status.draining));
    page.gauge("bascule_generation", "Published generations of the snapshot.")
        .sample(&[], look.snapshot.generation as f64);
    page.gauge("bascule_config_unsaved", "1 while the running configuration is not saved.")
        .sample(&[], flag(look.config.unsaved));
    page.gauge("bascule_config_last_reload_successful", "0 while the file was refused when it was last read again.")
        .sample(&[], flag(look.config.reload_failed.is_none()));
    page.gauge(
        "bascule_config_last_reload_success_timestamp_seconds",
        "When the running configuration was taken, seconds since 1970.",
    )
    .sample(&[], look.config.loaded_at.0 as f64 / 1e6);
    page.gauge("bascule_not_durable", "1 while the disk does not keep up with what is published.")
        .sample(&[], flag(look.status.not_durable.is_some()));
    page.counter("bascule_probe_late_samples_total", "Probe samples dropped because they were taken too late.")
        .sample(&[], look.status.late_samples_total as f64);
    lateness(look, page);
    correlated(look, page);
    page.counter("bascule_journal_entries_total", "Entries of the journal.")
        .sample(&[], look.status.journal_entries as f64);
    page.gauge("bascule_overrides", "What people set: disables, forces, modes, switches.")
        .sample(&[], look.view.overrides.len() as f64);
}

fn correlated(look: &World<'_>, page: &mut Page) {
    let help =
        "1 while what is new or changed fails everywhere at once, or most members of a vserver went down together.";
    let mut family = page.gauge("bascule_correlated_failure", help);
    for told in &look.view.correlated {
        family.sample(&[("kind", told.kind.word()), ("name", &told.name)], 1.0);
    }
}

fn lateness(look: &World<'_>, page: &mut Page) {
    let lateness = &look.status.lateness;
    let help = "How late probes began: from when they were due to when they did.";
    let mut family = page.family("bascule_probe_lateness_seconds", "histogram", help);
    for (le, count) in lateness.cumulative() {
        family.part("_bucket", &[("le", le)], count as f64);
    }
    family.part("_bucket", &[("le", "+Inf")], lateness.count() as f64);
    family.part("_sum", &[], lateness.sum.as_secs_f64());
    family.part("_count", &[], lateness.count() as f64);
}

fn services(look: &World<'_>, page: &mut Page) {
    let all = || look.model.services.iter().zip(&look.view.services).zip(&look.snapshot.services);
    let mut family = page.gauge("bascule_service_state", "1 for the state that the service is in.");
    for ((service, view), _) in all() {
        for state in ServiceState::ALL {
            let value = f64::from(u8::from(view.state == state));
            family.sample(&[("service", &service.name), ("state", state.word())], value);
        }
    }
    let mut family = page.gauge("bascule_service_active", "Requests in flight (HTTP) or open connections (TCP).");
    for ((service, _), entry) in all() {
        family.sample(&[("service", &service.name)], f64::from(entry.live.active.load(Relaxed)));
    }
    let mut family =
        page.gauge("bascule_service_ejected", "1 while passive health keeps new clients from the service.");
    for ((service, _), entry) in all() {
        family.sample(
            &[("service", &service.name)],
            f64::from(u8::from(entry.live.ejector.ejected(look.now.tick).is_some())),
        );
    }
    type Read = fn(&crate::snapshot::live::ServiceLive) -> u64;
    let counters: [(&'static str, &'static str, Read); 5] = [
        ("bascule_service_ejections_total", "Ejections of the service by passive health.", |l| {
            l.ejector.ejections_total.load(Relaxed)
        }),
        ("bascule_service_requests_total", "Requests (HTTP) or connections (TCP) given to the service.", |l| {
            l.requests_total.load(Relaxed)
        }),
        ("bascule_service_connect_failures_total", "Connections to the service that failed.", |l| {
            l.connect_failures_total.load(Relaxed)
        }),
        ("bascule_service_received_bytes_total", "Bytes from clients.", |l| l.bytes_in_total.load(Relaxed)),
        ("bascule_service_sent_bytes_total", "Bytes to clients.", |l| l.bytes_out_total.load(Relaxed)),
    ];
    for (name, help, read) in counters {
        let mut family = page.counter(name, help);
        for ((service, _), entry) in all() {
            family.sample(&[("service", &service.name)], read(&entry.live) as f64);
        }
    }
}

fn vservers(look: &World<'_>, page: &mut Page) {
    const STATES: [VserverState; 3] = [VserverState::Up, VserverState::Down, VserverState::OutOfService];
    let all = || look.model.vservers.iter().zip(&look.view.vservers).zip(&look.snapshot.vservers);
    type State = fn(&crate::model::state::VserverView) -> VserverState;
    let states: [(&'static str, &'static str, State); 2] = [
        ("bascule_vserver_state", "1 for the state that the vserver is in.", |v| v.state),
        ("bascule_vserver_effective_state", "1 for the state of the vserver with its backup chain.", |v| v.effective),
    ];
    for (name, help, read) in states {
        let mut family = page.gauge(name, help);
        for ((vserver, view), _) in all() {
            for state in STATES {
                let value = f64::from(u8::from(read(view) == state));
                family.sample(&[("vserver", &vserver.name), ("state", state.word())], value);
            }
        }
    }
    let mut family = page.gauge("bascule_vserver_health_ratio", "Share of weights UP.");
    for ((vserver, view), _) in all() {
        family.sample(&[("vserver", &vserver.name)], f64::from(view.health_percent) / 100.0);
    }
    let mut family = page.gauge("bascule_vserver_connections", "Open client connections.");
    for ((vserver, _), entry) in all() {
        family.sample(&[("vserver", &vserver.name)], f64::from(entry.live.connections.load(Relaxed)));
    }
    type Read = fn(&crate::snapshot::live::VserverLive) -> u64;
    let counters: [(&'static str, &'static str, Read); 3] = [
        ("bascule_vserver_requests_total", "Requests (HTTP) or connections (TCP).", |l| l.requests_total.load(Relaxed)),
        ("bascule_vserver_spilled_total", "New clients that went to the backup although it is UP.", |l| {
            l.spilled_total.load(Relaxed)
        }),
        ("bascule_vserver_refused_total", "Refused because nothing was usable.", |l| l.refused_total.load(Relaxed)),
    ];
    for (name, help, read) in counters {
        let mut family = page.counter(name, help);
        for ((vserver, _), entry) in all() {
            family.sample(&[("vserver", &vserver.name)], read(&entry.live) as f64);
        }
    }
    let mut family = page.counter("bascule_rule_hits_total", "Requests that a traffic rule acted on.");
    for (rule, live) in look.model.rules.iter().zip(&look.snapshot.rules) {
        family.sample(&[("rule", &rule.name)], live.hits_total.load(Relaxed) as f64);
    }
}

fn checks(look: &World<'_>, page: &mut Page) {
    let all = || look.model.checks.iter().zip(&look.view.checks);
    let mut family = page.gauge("bascule_check_state", "1 for the state that the check is in.");
    for (check, view) in all() {
        for (word, state) in [("up", Truth::True), ("down", Truth::False), ("unknown", Truth::Unknown)] {
            let value = f64::from(u8::from(view.state == state));
            family.sample(&[("check", &check.name), ("state", word)], value);
        }
    }
    let mut family = page.gauge("bascule_check_latency_seconds", "Of the last sample.");
    for (check, view) in all() {
        if let Some(last) = &view.last {
            family.sample(&[("check", &check.name)], last.latency.as_secs_f64());
        }
    }
    let help = "Latencies of a check's last answers, about a thousand; sum and count of all.";
    let mut family = page.family("bascule_check_time_seconds", "summary", help);
    for (check, history) in look.model.checks.iter().zip(&look.view.histories) {
        let Some(percentiles) = history.percentiles() else { continue };
        for (quantile, latency) in [("0.5", percentiles.p50), ("0.95", percentiles.p95), ("0.99", percentiles.p99)] {
            family.sample(&[("check", &check.name), ("quantile", quantile)], latency.as_secs_f64());
        }
        family.part("_sum", &[("check", &check.name)], history.latency_total.as_secs_f64());
        family.part("_count", &[("check", &check.name)], history.answers_total as f64);
    }
    let mut family = page.counter("bascule_check_samples_total", "Samples taken.");
    for (check, view) in all() {
        family.sample(&[("check", &check.name)], view.samples_total as f64);
    }
    let mut family = page.counter("bascule_check_failed_samples_total", "Samples failed.");
    for (check, view) in all() {
        family.sample(&[("check", &check.name)], view.failed_total as f64);
    }
}

fn scenarios(look: &World<'_>, page: &mut Page) {
    let all = || look.model.scenarios.iter().zip(&look.view.scenarios);
    type Read = fn(&crate::model::state::ScenarioView) -> f64;
    let gauges: [(&'static str, &'static str, Read); 4] = [
        ("bascule_scenario_active", "1 while the scenario is active.", |v| f64::from(u8::from(v.active))),
        ("bascule_scenario_seq", "Number of the last commit.", |v| v.seq as f64),
        ("bascule_scenario_stuck", "1 while both directions are on.", |v| f64::from(u8::from(v.stuck))),
        ("bascule_scenario_ready_to_return", "1 while a person could bring it back.", |v| {
            f64::from(u8::from(v.ready_to_return))
        }),
    ];
    for (name, help, read) in gauges {
        let mut family = page.gauge(name, help);
        for (scenario, view) in all() {
            family.sample(&[("scenario", &scenario.name)], read(view));
        }
    }
    let mut family = page.gauge("bascule_switch", "1 while the switch is on.");
    for (switch, value) in look.model.switches.iter().zip(&look.view.switches) {
        family.sample(&[("switch", &switch.name)], f64::from(u8::from(*value)));
    }
}

fn dns(look: &World<'_>, page: &mut Page) {
    let live = &look.snapshot.dns;
    let mut family = page.counter("bascule_dns_queries_total", "DNS messages that came in.");
    family.sample(&[("transport", "udp")], live.udp_queries_total.load(Relaxed) as f64);
    family.sample(&[("transport", "tcp")], live.tcp_queries_total.load(Relaxed) as f64);
    family.sample(&[("transport", "tls")], live.tls_queries_total.load(Relaxed) as f64);
    family.sample(&[("transport", "https")], live.https_queries_total.load(Relaxed) as f64);
    let mut family = page.counter("bascule_dns_answers_total", "DNS answers by response code (RFC 6895 number).");
    for (code, count) in live.rcodes_total.iter().enumerate() {
        let count = count.load(Relaxed);
        if count > 0 {
            family.sample(&[("rcode", &code.to_string())], count as f64);
        }
    }
    let totals = [
        ("bascule_dns_dropped_total", "DNS messages that got no answer.", &live.dropped_total),
        ("bascule_dns_truncated_total", "Answers cut over UDP.", &live.truncated_total),
        ("bascule_dns_limited_total", "Answers held back by the rate limit.", &live.limited_total),
        ("bascule_dns_slipped_total", "Of those, the ones sent with TC.", &live.slipped_total),
        ("bascule_dns_good_cookies_total", "Queries over UDP with a good cookie.", &live.good_cookies_total),
        ("bascule_dns_refused_total", "Queries outside all zones.", &live.refused_total),
        ("bascule_dns_fallback_total", "Answers that on_empty chose: every record was left out.", &live.fallback_total),
        (
            "bascule_dns_tcp_rejected_total",
            "Connections closed, or not taken, for being too many.",
            &live.tcp_rejected_total,
        ),
        ("bascule_dns_tls_failed_total", "Handshakes with DNS clients that came to nothing.", &live.tls_failed_total),
        ("bascule_dns_http_refused_total", "HTTP requests without a DNS message.", &live.http_refused_total),
    ];
    for (name, help, total) in totals {
        page.counter(name, help).sample(&[], total.load(Relaxed) as f64);
    }
    page.gauge("bascule_dns_tcp_connections", "Open TCP connections of DNS clients.")
        .sample(&[], f64::from(live.tcp_connections.load(Relaxed)));
    page.gauge("bascule_dns_tls_connections", "Open connections of DNS over TLS.")
        .sample(&[], f64::from(live.tls_connections.load(Relaxed)));
    page.gauge("bascule_dns_https_connections", "Open connections of DNS over HTTPS.")
        .sample(&[], f64::from(live.https_connections.load(Relaxed)));
    let zones = || look.model.zones.iter().zip(&look.snapshot.zone_live);
    let mut family = page.counter("bascule_zone_queries_total", "Queries by zone.");
    for (zone, live) in zones() {
        family.sample(&[("zone", &zone.name)], live.queries_total.load(Relaxed) as f64);
    }
    transfers::transfers(look, page);
    let help = "Answers by steered RRset and what was served: primary, dr, or the value of on_empty that chose.";
    let mut family = page.counter("bascule_rrset_answers_total", help);
    for (zone, live) in zones() {
        for rrset in &zone.rrsets {
            for (set, total) in live.rrset(&rrset.key).totals().filter(|(_, total)| *total > 0) {
                family.sample(&[("zone", &zone.name), ("rrset", &rrset.key), ("set", set)], total as f64);
            }
        }
    }
    let mut family = page.counter("bascule_zone_fallback_total", "Answers by zone that on_empty chose.");
    for (zone, live) in zones() {
        family.sample(&[("zone", &zone.name)], live.fallback_total.load(Relaxed) as f64);
    }
}

// === impl Page ===

impl Page {
    fn gauge(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, "gauge", help)
    }

    fn counter(&mut self, name: &'static str, help: &str) -> Family<'_> {
        self.family(name, "counter", help)
    }

    fn family(&mut self, name: &'static str, kind: &str, help: &str) -> Family<'_> {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        Family { page: self, name }
    }
}

// === impl Family ===

impl Family<'_> {
    fn sample(&mut self, labels: &[(&str, &str)], value: f64) {
        self.part("", labels, value);
    }

    /// A series of a family that is made of several.
    fn part(&mut self, suffix: &str, labels: &[(&str, &str)], value: f64) {
        let out = &mut self.page.0;
        out.push_str(self.name);
        out.push_str(suffix);
        for (at, (label, text)) in labels.iter().enumerate() {
            out.push(if at == 0 { '{' } else { ',' });
            out.push_str(label);
            out.push_str("=\"");
            escape(text, out);
            out.push('"');
        }
        if !labels.is_empty() {
            out.push('}');
        }
        let _ = writeln!(out, " {value}");
    }
}

/// Backslash, quote and line feed, as the format asks.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_numbers_printed_plainly() {
        let mut page = Page::default();
        page.gauge("x", "Help.").sample(&[("name", "a\"b\\c\nd"), ("state", "UP")], 3.0);
        page.counter("y_total", "Help.").sample(&[], 12_345_678_901.0);
        assert_eq!(
            page.0,
            "# HELP x Help.\n# TYPE x gauge\nx{name=\"a\\\"b\\\\c\\nd\",state=\"UP\"} 3\n\
             # HELP y_total Help.\n# TYPE y_total counter\ny_total 12345678901\n"
        );
    }
}
