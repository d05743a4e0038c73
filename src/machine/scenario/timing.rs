//! What time alone decides: dwell, oscillation, and when to look again.

use std::time::Duration;

use super::ScenarioMachine;
use crate::model::scenario::Scenario;
use crate::model::time::{Now, Tick, Wall};

// === impl ScenarioMachine ===

impl ScenarioMachine {
    /// `min_dwell` is a floor between two automatic transitions; after a restart it counts on from the saved time.
    pub(super) fn dwell_ends(&self, rules: &Scenario) -> Tick {
        if self.seq == 0 || self.forced {
            return Tick::ZERO;
        }
        self.entered.tick + rules.min_dwell.saturating_sub(self.dwelt)
    }

    pub(super) fn is_oscillating(&self, now: Wall, rules: &Scenario) -> bool {
        let limit = rules.oscillation;
        if limit.commits == 0 {
            return false;
        }
        self.recent(now, rules).count() > limit.commits as usize
    }

    /// When time alone may change something.
    pub(super) fn next_look(&self, now: Now, rules: &Scenario) -> Option<Tick> {
        let holds = self.directions.iter().flat_map(|d| &d.groups).flat_map(|g| &g.terms).filter_map(|t| t.hold_ends);
        let dwell = Some(self.dwell_ends(rules)).filter(|&t| t > now.tick);
        let attempt = self.attempt.as_ref().map(|a| a.deadline);
        let retry = self.retry_at.filter(|&t| t > now.tick);
        let calm = self.calm_at(now, rules);
        holds.chain(dwell).chain(attempt).chain(retry).chain(calm).min()
    }

    /// Automatic commits within the oscillation window, oldest first. Those in the future are from before the clock was
    /// set back.
    fn recent(&self, now: Wall, rules: &Scenario) -> impl Iterator<Item = Wall> {
        let within = rules.oscillation.within;
        self.automatic.iter().copied().filter(move |&at| at <= now && at + within > now)
    }

    /// When the oscillation window holds few enough commits again.
    fn calm_at(&self, now: Now, rules: &Scenario) -> Option<Tick> {
        if !self.is_oscillating(now.wall, rules) {
            return None;
        }
        let over = self.recent(now.wall, rules).count() - rules.oscillation.commits as usize;
        let last_too_many = self.recent(now.wall, rules).nth(over - 1)?;
        let left: Duration = (last_too_many + rules.oscillation.within).since(now.wall);
        Some(now.tick + left.max(Duration::from_micros(1)))
    }
}
