//! When caches have let go of what a commit replaced: told once the commit is published, from the answers that were
//! really given before.

use std::sync::Arc;

use super::Core;
use crate::control::journal::codec::wall_text;
use crate::control::{CachesOver, RunStatus};
use crate::model::id::{Name, ScenarioId};
use crate::model::time::{Now, Wall};
use crate::model::zone::Rrset;
use crate::snapshot::Snapshot;

// === impl Core ===

impl Core {
    /// To be called after a publication.
    pub(super) fn tell_caches(&mut self, now: Now, published: &Snapshot) {
        for (scenario, seq) in std::mem::take(&mut self.released) {
            let Some(id) = published.model.scenario_id(&scenario) else { continue };
            let over = Over::of(published, id, now.wall);
            let body = serde_json::json!({
                "scenario": scenario, "seq": seq, "published_at": wall_text(now.wall),
                "caches_over_at": over.until.map(wall_text), "rrsets": over.rrsets,
            });
            self.draft(now, "caches", format!("scenario {scenario}").into(), "system".into(), body);
            let told = CachesOver { seq, published_at: now.wall, until: over.until };
            Arc::make_mut(&mut self.status.caches).insert(scenario, told);
        }
    }
}

/// What a commit means for caches.
struct Over {
    /// `None`: no cache holds anything else.
    until: Option<Wall>,
    /// RRsets of the scenario whose answer changed: `www.example.test. A`.
    rrsets: Vec<String>,
}

// === impl Over ===

impl Over {
    fn of(published: &Snapshot, scenario: ScenarioId, now: Wall) -> Over {
        let names_it = |rrset: &Rrset| {
            let of = |record: &crate::model::zone::Record| {
                record.dr_cond == Some(scenario) || record.cond.is_some_and(|(cond, _)| cond == scenario)
            };
            rrset.records.iter().any(of)
        };
        let mut over = Over { until: None, rrsets: Vec::new() };
        for &(zone, at) in published.caching.flipped() {
            let rrset = &published.model.zones[zone].rrsets[at];
            if names_it(rrset) {
                over.until = over.until.max(published.caching.of(zone, at).caches_over_at(now));
                over.rrsets.push(format!("{} {}", rrset.owner, rrset.rtype));
            }
        }
        over
    }
}

// === impl RunStatus ===

impl RunStatus {
    /// What is known of the caches after this commit.
    pub fn caches_of(&self, scenario: &Name, seq: u64) -> Option<&CachesOver> {
        self.caches.get(scenario).filter(|told| told.seq == seq)
    }
}
