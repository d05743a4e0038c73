//! What DNS says about servers and groups.

use crate::admin::dto::{AutoScaleDto, ResolutionDto};

pub(super) fn resolution(resolution: &ResolutionDto) -> String {
    let ResolutionDto { name, query_type, addresses, ttl, age, error, failing_since, .. } = resolution;
    let mut out = match (age, ttl) {
        (Some(age), Some(ttl)) => {
            let addresses = addresses.join(", ");
            format!("\tDNS: {name} ({query_type}) is {addresses}\tTTL: {ttl}\tAge: {age}\n")
        }
        _ => format!("\tDNS: {name} ({query_type}) has not been answered yet\n"),
    };
    if let (Some(error), Some(since)) = (error, failing_since) {
        out += &format!("\tDNS Failure: {error} (since {since})\n");
    }
    out
}

pub(super) fn auto_scale(auto: &AutoScaleDto) -> String {
    let yes = |value| if value { "YES" } else { "NO" };
    let mut out = format!(
        "\tAutoscale: {}\tAutodisable Delay: {}\tAutodisable Graceful: {}\tAutodelayed TROFS: {}\n",
        auto.kind,
        auto.auto_disable_delay,
        yes(auto.auto_disable_graceful),
        yes(auto.auto_delayed_trofs)
    );
    for source in &auto.sources {
        let server = source.server.as_deref().map_or_else(String::new, |server| format!("\tServer Name: {server}"));
        out += &format!("\tSource: {}{server}\n", source.name);
        out += &source.resolution.as_ref().map(resolution).unwrap_or_default();
    }
    out
}
