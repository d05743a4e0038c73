//! Commits, as they are recorded.

use std::time::Duration;

use super::super::text;
use crate::config::units::parse_duration;
use crate::control::World;
use crate::model::dns::Resolvers;
use crate::model::event::{Transition, TransitionGroup};
use crate::model::time::Wall;

dto! {
    /// A commit of a scenario.
    pub struct TransitionDto {
        pub scenario: String,
        /// 1 for the first commit.
        pub seq: u64,
        /// `activate` or `deactivate`.
        pub direction: String,
        /// Names what moved together with it, for `/timeline/INCIDENT`.
        pub incident: String,
        /// When the last term that it took became true; of a term with a hold: when the hold began. Null where it was
        /// forced.
        pub detected_at: Option<String>,
        /// When the deciding evaluation was made.
        pub evaluated_at: String,
        pub committed_at: String,
        /// When traffic and DNS followed it; null: not yet, or before the start of this process.
        pub published_at: Option<String>,
        /// When caches may have let go of what it replaced, by the TTLs of the answers given before; null: they hold
        /// nothing else, or it is not known.
        pub caches_over_at: Option<String>,
        /// When the first answer was given that it had changed; null: nobody has asked yet, it changed no answer, or it
        /// is not known.
        pub first_answer_at: Option<String>,
        /// Who had asked before it, and who has since; null: it changed no answer, or it is not known.
        pub resolvers: Option<ResolversDto>,
        /// `condition`, `forced` or `config`.
        pub cause: String,
        /// The group that decided.
        pub group: Option<String>,
        /// Who forced it; `auto` otherwise.
        pub actor: String,
        pub reason: Option<String>,
        /// `true`, `false` or `unknown`; null without a gate.
        pub gate: Option<String>,
        /// How the guard went; null where none ran.
        pub guard: Option<GuardDto>,
        /// The drill that it belongs to.
        pub drill: Option<u64>,
        pub triggers: Vec<TransitionTriggerDto>,
        /// Both directions' groups at the evaluation.
        pub groups: Vec<TransitionGroupDto>,
    }

    /// How far resolvers have followed a commit, by the addresses that queries come from. The figures stand still from a
    /// minute after `caches_over_at` on, and once the scenario has moved again.
    pub struct ResolversDto {
        /// May have held a former answer when the commit was published, by the TTL that they were given.
        pub asked_before: u32,
        /// Of those: have asked since for every name and type that they may have held.
        pub asked_again: u32,
        /// Those that have not, the one that may hold a former answer longest first; at most 100 are named.
        pub missing: Vec<String>,
        /// More had asked than are remembered: the figures are of those that are.
        pub partial: bool,
    }

    /// How a guard went.
    pub struct GuardDto {
        pub attempt: u64,
        /// `pass`, `proceeded`, `overridden` or `standing` (a drill became real: it is active already).
        pub outcome: String,
        pub detail: String,
    }

    /// How a trigger of a transition went.
    pub struct TransitionTriggerDto {
        pub name: String,
        /// `pending`, `delivered`, `dead` (given up, see `/outbox`) or `suppressed` (by the gate, or by a
        /// drill, which tells its own list).
        pub status: String,
        pub attempts: u32,
        /// What the last attempt got instead of the expected answer.
        pub last_error: Option<String>,
    }

    /// A group as it stood at a transition.
    pub struct TransitionGroupDto {
        /// `activate` or `deactivate`.
        pub direction: String,
        pub name: String,
        pub value: String,
        pub armed: bool,
        pub terms: Vec<TransitionTermDto>,
    }

    /// A term as it stood at a transition.
    pub struct TransitionTermDto {
        pub text: String,
        pub value: String,
        pub since: String,
    }
}

// === impl TransitionDto ===

impl TransitionDto {
    /// With how its deliveries go, as far as they are kept, and what caches still hold.
    pub(super) fn of(transition: &Transition, world: &World<'_>) -> TransitionDto {
        let deliveries = world.deliveries;
        let caches = world.status.caches_of(&transition.scenario, transition.seq);
        TransitionDto {
            scenario: text(&transition.scenario),
            seq: transition.seq,
            direction: text(transition.direction.word()),
            incident: transition.evaluated_at.to_string(),
            detected_at: detected(transition).map(|at| at.to_string()),
            evaluated_at: transition.evaluated_at.to_string(),
            committed_at: transition.committed_at.to_string(),
            published_at: caches.map(|caches| caches.published_at.to_string()),
            caches_over_at: caches.and_then(|caches| caches.until).map(|at| at.to_string()),
            first_answer_at: caches.and_then(|caches| caches.first_answer_at()).map(|at| at.to_string()),
            resolvers: caches.and_then(|caches| caches.resolvers()).map(|resolvers| ResolversDto::of(&resolvers)),
            cause: text(transition.cause_text()),
            group: transition.cause.group().map(text),
            actor: text(&transition.actor),
            reason: transition.reason.as_deref().map(text),
            gate: transition.gate.map(|value| text(value.word())),
            guard: transition.guard.as_ref().map(|g| GuardDto {
                attempt: g.attempt,
                outcome: text(&g.outcome),
                detail: text(&g.detail),
            }),
            drill: transition.drill,
            triggers: transition
                .triggers
                .iter()
                .map(|t| {
                    let of = (&*transition.scenario, transition.seq, transition.direction);
                    let delivery = deliveries.of_commit(of.0, of.1, of.2, &t.name);
                    TransitionTriggerDto {
                        name: text(&t.name),
                        status: text(delivery.map_or(&*t.status, |d| d.status.word())),
                        attempts: delivery.map_or(0, |d| d.attempts),
                        last_error: delivery.and_then(|d| d.last_error.as_deref().map(text)),
                    }
                })
                .collect(),
            groups: transition.groups.iter().map(TransitionGroupDto::of).collect(),
        }
    }
}

// === impl ResolversDto ===

impl ResolversDto {
    pub fn of(resolvers: &Resolvers) -> ResolversDto {
        ResolversDto {
            asked_before: resolvers.asked_before,
            asked_again: resolvers.asked_again,
            missing: resolvers.missing.iter().map(|ip| ip.to_string()).collect(),
            partial: resolvers.partial,
        }
    }
}

/// When the group that decided was complete, less the hold that it then waited for.
fn detected(transition: &Transition) -> Option<Wall> {
    let group = transition.cause.group()?;
    let is_it = |g: &&TransitionGroup| g.name == *group && g.direction == transition.direction;
    let terms = &transition.groups.iter().find(is_it)?.terms;
    terms.iter().map(|(term, _, since)| *since - hold_of(term)).max()
}

/// `15m` of `api-a{for:15m}`; nothing without one.
fn hold_of(term: &str) -> Duration {
    let hold = term.split_once("for:").and_then(|(_, rest)| rest.split(['}', ',']).next());
    hold.and_then(|hold| parse_duration(hold.trim()).ok()).unwrap_or_default()
}

// === impl TransitionGroupDto ===

impl TransitionGroupDto {
    fn of(group: &TransitionGroup) -> TransitionGroupDto {
        TransitionGroupDto {
            direction: text(group.direction.word()),
            name: text(&group.name),
            value: text(group.value.word()),
            armed: group.armed,
            terms: group
                .terms
                .iter()
                .map(|(term, value, since)| TransitionTermDto {
                    text: text(term),
                    value: text(value.word()),
                    since: since.to_string(),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_is_read_from_its_term() {
        let secs = Duration::from_secs;
        assert_eq!(hold_of("api-a{for:15m}"), secs(900));
        assert_eq!(hold_of("api-a!{fails:3, for:30s}"), secs(30));
        assert_eq!(hold_of("dc:dc-a.wan!"), secs(0));
    }
}
