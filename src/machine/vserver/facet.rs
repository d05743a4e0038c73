//! The ids `vs:NAME` and `vs:NAME.primary`, `.admin`, `.fault`, `.health>=N` of conditions.
//!
//! What they are for: an operator who drains a site must not start disaster recovery, and a server that dies while the
//! others are drained must. So when a vserver cannot serve by its own members, the question is who is missing. If every
//! member that is missing was taken out by somebody (OFS, TROFS, TROFS_DOWN: a drained server whose program is stopped
//! is still being drained), it is `.admin`; if one is missing that nobody touched, it is `.fault`.
//!
//! | its own members could serve | because | `.primary` | `.admin` | `.fault` |
//! |---|---|---|---|---|
//! | yes | not spilling, or nobody to spill to | true | false | false |
//! | yes | spilling to a backup | false | false | false |
//! | no | disabled, or the feature is off | false | true | false |
//! | no | of the members, all that are not UP were taken out, at least one | false | true | false |
//! | no | one is DOWN; or no members; or held down although members are UP | false | false | true |
//!
//! A member that nobody has heard of yet may turn out UP or DOWN. Each facet is evaluated for both; where they differ it
//! is unknown. (Each goes one way only as members come up, so the two ends are enough.)

#[cfg(test)]
mod tests;

use super::{Inputs, Link, Tally, between, spills_by_health};
use crate::model::condition::{Truth, VserverFacet};
use crate::model::state::VserverState;
use crate::model::vserver::Vserver;

/// The value of `vs:NAME` and its facets. `chain[0]` is the vserver itself.
pub fn facet(facet: VserverFacet, vserver: &Vserver, inputs: &Inputs<'_>, chain: &[Link]) -> Truth {
    let tally = Tally::new(vserver, inputs);
    let worst = Own { vserver, inputs, tally: tally.worst() };
    let best = Own { vserver, inputs, tally: tally.best() };
    let backups = chain.get(1..).unwrap_or_default();
    let backup_at_worst = backups.iter().any(|link| link.usable == Truth::True);
    let backup_at_best = backups.iter().any(|link| link.usable != Truth::False);
    match facet {
        VserverFacet::Serves => between(worst.serves(backup_at_worst), best.serves(backup_at_best)),
        // A backup that comes up takes from a primary that spills: the ends are crossed.
        VserverFacet::Primary => between(worst.is_primary(backup_at_best), best.is_primary(backup_at_worst)),
        VserverFacet::Admin => between(worst.is_administered(), best.is_administered()),
        VserverFacet::Fault => between(worst.has_failed(), best.has_failed()),
        VserverFacet::HealthAtLeast(percent) => {
            between(worst.tally.health_percent() >= percent, best.tally.health_percent() >= percent)
        }
    }
}

/// A vserver whose members are all known or assumed.
struct Own<'a> {
    vserver: &'a Vserver,
    inputs: &'a Inputs<'a>,
    tally: Tally,
}

// === impl Own ===

impl Own<'_> {
    /// New clients are served, here or by the chain where it is used.
    fn serves(&self, backup: bool) -> bool {
        let uses_backup = !self.is_up() || self.spills();
        self.could_serve() || (uses_backup && backup)
    }

    fn is_primary(&self, backup: bool) -> bool {
        self.could_serve() && !(self.spills() && backup)
    }

    fn is_administered(&self) -> bool {
        let switched_off = self.inputs.disabled || !self.inputs.feature_on;
        !self.could_serve() && (switched_off || self.all_missing_were_taken_out())
    }

    fn has_failed(&self) -> bool {
        !self.could_serve() && !self.is_administered()
    }

    fn could_serve(&self) -> bool {
        self.is_up() && self.tally.up > 0
    }

    fn is_up(&self) -> bool {
        self.tally.state(self.vserver, self.inputs) == VserverState::Up
    }

    fn spills(&self) -> bool {
        spills_by_health(self.vserver, self.tally.health_percent())
    }

    fn all_missing_were_taken_out(&self) -> bool {
        let Tally { up, administered, total, .. } = self.tally;
        // Held down with members UP: what keeps it out is the failure of then, not the members of now.
        let held = self.inputs.held_down && up > 0;
        administered > 0 && up + administered == total && !held
    }
}
