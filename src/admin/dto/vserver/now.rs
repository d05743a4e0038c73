//! What a vserver does at the moment: rates, latencies, and what its spillover compares.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::{spillover_word, threshold};
use crate::admin::dto::{FlowDto, TimesDto, measured, text};
use crate::control::World;
use crate::model::id::VserverId;
use crate::model::limit::SpilloverMethod;
use crate::model::time::Tick;
use crate::snapshot::live::{Interval, MemberLive, VserverLive};

dto! {
    /// What spillover looks at.
    pub struct SpilloverDto {
        /// `HEALTH`, `CONNECTION`, `DYNAMICCONNECTION`, `BANDWIDTH` or `CONDITION`.
        pub method: String,
        /// What it is now, in the unit of the method; null for CONDITION.
        pub value: Option<u64>,
        /// What it is compared with.
        pub threshold: Option<u64>,
        /// `%`, `connections` (HTTP: requests in flight) or `bit/s`.
        pub unit: Option<String>,
    }

    /// How long requests (HTTP) or connections (L4) took, since the start.
    pub struct LatencyDto {
        pub p50: String,
        pub p99: String,
        /// The part of the median that this box itself took; null where it is not measured.
        pub own: Option<String>,
    }
}

// === impl SpilloverDto ===

impl SpilloverDto {
    pub(super) fn of(world: &World<'_>, id: VserverId) -> Option<SpilloverDto> {
        let method = &world.model.vserver(id).spillover.as_ref()?.method;
        let live = world.snapshot.vservers.get(id.index()).map(|entry| &entry.live);
        let (value, unit) = match method {
            SpilloverMethod::Health { .. } => (Some(world.view.vservers[id.index()].health_percent.into()), Some("%")),
            SpilloverMethod::Connection { .. } | SpilloverMethod::DynamicConnection => {
                (live.map(|live| live.serving.load(Relaxed).into()), Some("connections"))
            }
            SpilloverMethod::Bandwidth { .. } => (live.map(|live| live.bits_per_second(world.now.tick)), Some("bit/s")),
            SpilloverMethod::Condition { .. } => (None, None),
        };
        Some(SpilloverDto {
            method: text(spillover_word(method)),
            value,
            threshold: threshold(world, id, method),
            unit: unit.map(text),
        })
    }
}

// === impl LatencyDto ===

impl LatencyDto {
    /// Out of the times by part; `None` before the first.
    pub(in crate::admin::dto) fn of(times: &[TimesDto]) -> Option<LatencyDto> {
        let part = |word: &str| times.iter().find(|times| times.part == word);
        let shown = |ms: f64| measured(Duration::from_secs_f64(ms.max(0.0) / 1e3));
        let total = part(Interval::Total.word())?;
        let own = part(Interval::Own.word()).map(|own| shown(own.p50_ms));
        Some(LatencyDto { p50: shown(total.p50_ms), p99: shown(total.p99_ms), own })
    }
}

/// Answers 5xx to clients, and clients refused because nothing was usable.
pub(super) fn errors(live: &VserverLive, now: Tick) -> FlowDto {
    let total = live.statuses_total[5].load(Relaxed) + live.refused_total.load(Relaxed);
    FlowDto { total, rate: live.errors.per_second(now, total) }
}

/// Requests or connections that the members were given per second, by position.
pub(super) fn given(members: &[std::sync::Arc<MemberLive>], now: Tick) -> Vec<u64> {
    members.iter().map(|member| member.rate.per_second(now, member.requests_total.load(Relaxed))).collect()
}

/// Percent of `all` that was given, rounded; `None` while nothing was.
pub(super) fn share(own: u64, all: u64) -> Option<u8> {
    let percent = (own * 200 + all).checked_div(2 * all)?;
    u8::try_from(percent).ok()
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_are_of_what_was_given_and_nothing_has_none() {
        assert_eq!([share(30, 40), share(10, 40), share(0, 40), share(2, 3)], [75, 25, 0, 67].map(Some));
        assert_eq!(share(0, 0), None);
    }
}
