//! When caches have let go of what a commit replaced: told once the commit is published, from the answers that were
//! really given before; and who has come back for the new answer, told when all have, or when nobody is waited for any
//! more.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::Core;
use crate::control::askers::Asked;
use crate::control::journal::codec::wall_text;
use crate::control::{CachesOver, RunStatus};
use crate::model::dns::Resolvers;
use crate::model::id::{Name, ScenarioId};
use crate::model::time::{Now, Wall};
use crate::model::zone::Rrset;
use crate::snapshot::Snapshot;

/// Resolvers are waited for so long after the last cache has let go.
const AFTER_CACHES: Duration = Duration::from_secs(60);
/// The first answer is waited for so long.
const FOR_FIRST: Duration = Duration::from_secs(600);

/// Commits on their way from the disk to those who ask.
#[derive(Debug, Default)]
pub(super) struct Commits {
    /// The next publication shows them.
    pub released: Vec<(Name, u64)>,
    /// Resolvers are waited for.
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    scenario: Name,
    seq: u64,
    asked: Arc<Asked>,
    /// No resolver is waited for from then on.
    caches: Wall,
    /// Nothing is.
    end: Wall,
}

// === impl Core ===

impl Core {
    /// To be called after a publication.
    pub(super) fn tell_caches(&mut self, now: Now, published: &Snapshot) {
        for (scenario, seq) in std::mem::take(&mut self.commits.released) {
            let Some(id) = published.model.scenario_id(&scenario) else { continue };
            let over = Over::of(published, id, now.wall);
            let body = json!({
                "scenario": scenario, "seq": seq, "published_at": wall_text(now.wall),
                "caches_over_at": over.until.map(wall_text), "rrsets": over.rrsets,
            });
            self.draft(now, "caches", format!("scenario {scenario}").into(), "system".into(), body);
            // Who has not come back for the commit before will be counted with this one.
            self.tell_resolvers(now, |open| open.scenario == scenario);
            let asked = (!over.changed.is_empty()).then(|| Arc::new(Asked::of(published, &over.changed, now.wall)));
            if let Some(asked) = &asked {
                let caches = over.until.unwrap_or(now.wall) + AFTER_CACHES;
                self.commits.open.push(Open {
                    scenario: Name::clone(&scenario),
                    seq,
                    asked: Arc::clone(asked),
                    caches,
                    end: caches.max(now.wall + FOR_FIRST),
                });
            }
            let told = CachesOver { seq, published_at: now.wall, until: over.until, asked };
            Arc::make_mut(&mut self.status.caches).insert(scenario, told);
        }
    }

    /// To be called once a second.
    pub(super) fn look_at_resolvers(&mut self, now: Now) {
        self.tell_resolvers(now, |open| {
            let caches_are_over = now.wall >= open.caches && open.asked.first_answer_at().is_some();
            caches_are_over || now.wall >= open.end || open.asked.is_complete()
        });
    }

    /// Writes down how far resolvers have come after those commits, and waits no longer.
    fn tell_resolvers(&mut self, now: Now, is_over: impl Fn(&Open) -> bool) {
        let over: Vec<Open> = self.commits.open.extract_if(.., |open| is_over(open)).collect();
        for Open { scenario, seq, asked, .. } in over {
            let body = json!({
                "scenario": scenario, "seq": seq, "first_answer_at": asked.first_answer_at().map(wall_text),
                "resolvers": shown(&asked.resolvers()),
            });
            self.draft(now, "resolvers", format!("scenario {scenario}").into(), "system".into(), body);
            if let Some(told) = Arc::make_mut(&mut self.status.caches).get_mut(&scenario).filter(|told| told.seq == seq)
            {
                told.asked = Some(Arc::new(asked.ended()));
            }
        }
    }

    /// The process ends: nobody will wait any more.
    pub(super) fn tell_all_resolvers(&mut self, now: Now) {
        self.tell_resolvers(now, |_| true);
    }
}

fn shown(resolvers: &Resolvers) -> Value {
    json!({
        "asked_before": resolvers.asked_before, "asked_again": resolvers.asked_again,
        "missing": resolvers.missing, "partial": resolvers.partial,
    })
}

/// What a commit means for caches.
struct Over {
    /// `None`: no cache holds anything else.
    until: Option<Wall>,
    /// RRsets of the scenario whose answer changed: `www.example.test. A`.
    rrsets: Vec<String>,
    /// The same, by their positions.
    changed: Vec<(usize, usize)>,
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
        let mut over = Over { until: None, rrsets: Vec::new(), changed: Vec::new() };
        for &(zone, at) in published.caching.flipped() {
            let rrset = &published.model.zones[zone].rrsets[at];
            if names_it(rrset) {
                over.until = over.until.max(published.caching.of(zone, at).caches_over_at(now));
                over.rrsets.push(format!("{} {}", rrset.owner, rrset.rtype));
                over.changed.push((zone, at));
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
