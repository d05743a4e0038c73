//! What an act would change.

use super::text;
use crate::control::preview::Preview;

dto! {
    /// What an act would do if it were carried out now. A dry run answers it over the members of the object as it is.
    pub struct PreviewDto {
        /// Commits, in order; those behind a guard as if it passed.
        pub transitions: Vec<PreviewTransitionDto>,
        /// Guards that would run first.
        pub guards: Vec<PreviewGuardDto>,
        pub triggers: Vec<PreviewTriggerDto>,
        /// Steered answers that would change, before the selection.
        pub answers: Vec<PreviewAnswerDto>,
        /// Services whose share of new clients would change.
        pub load: Vec<PreviewLoadDto>,
        /// Requests in flight and connections on the services that leave.
        pub connections: u32,
        /// How much is asked for: 0 nothing, 1 a reason, 2 also an expiry and this dry run, 3 also `confirm_word`.
        pub confirm: u8,
        /// What `confirm` of the act has to be; null below level 3.
        pub confirm_word: Option<String>,
        /// For `if_seq` or If-Match of the act.
        pub seq: u64,
        pub computed_at: String,
    }

    /// A commit that would be made.
    pub struct PreviewTransitionDto {
        pub scenario: String,
        /// `activate` or `deactivate`.
        pub direction: String,
        /// `forced`, `condition` or `config`.
        pub cause: String,
        /// The group that decides.
        pub group: Option<String>,
        /// A guard has to pass first.
        pub after_guard: bool,
    }

    /// A guard that would run.
    pub struct PreviewGuardDto {
        pub scenario: String,
        /// `activate` or `deactivate`.
        pub direction: String,
        /// Its queries and terms.
        pub run: Vec<String>,
        /// A person has to approve it.
        pub approve: bool,
        /// It would not be asked.
        pub overridden: bool,
    }

    /// A trigger of a commit.
    pub struct PreviewTriggerDto {
        pub name: String,
        pub scenario: String,
        /// `activate` or `deactivate`.
        pub direction: String,
        /// `send`, or `suppressed` (by the gate, or by a drill).
        pub would: String,
    }

    /// A steered answer that would change.
    pub struct PreviewAnswerDto {
        pub zone: String,
        /// Absolute.
        pub name: String,
        pub r#type: String,
        pub before: Vec<String>,
        pub after: Vec<String>,
        pub left_out: Vec<LeftOutDto>,
        /// Data centres of what is answered now; null where the records name none.
        pub site_before: Option<String>,
        pub site_after: Option<String>,
        /// Seconds that caches may keep what is answered now.
        pub ttl: u32,
    }

    /// A record that would not be answered.
    pub struct LeftOutDto {
        pub data: String,
        pub because: String,
    }

    /// Requests (HTTP) or connections (L4) of a service, per second.
    pub struct PreviewLoadDto {
        pub service: String,
        /// Over the last 14 s.
        pub now: u64,
        /// If clients spread by weight over who is left.
        pub after: u64,
        /// The most in any minute of the last 48 hours; null where nothing is kept.
        pub peak_48h: Option<u64>,
    }
}

// === impl PreviewDto ===

impl PreviewDto {
    /// `peak`: the most requests per second of a service in the last 48 hours.
    pub fn of(preview: &Preview, peak: &dyn Fn(&str) -> Option<u64>) -> PreviewDto {
        let names = |names: &[crate::model::id::Name]| names.iter().map(text).collect::<Vec<_>>();
        let sites = |sites: &[crate::model::id::Name]| (!sites.is_empty()).then(|| sites.join(", "));
        PreviewDto {
            transitions: preview
                .transitions
                .iter()
                .map(|t| PreviewTransitionDto {
                    scenario: text(&t.scenario),
                    direction: t.direction.word().into(),
                    cause: text(&t.cause),
                    group: t.group.as_deref().map(text),
                    after_guard: t.after_guard,
                })
                .collect(),
            guards: preview
                .guards
                .iter()
                .map(|g| PreviewGuardDto {
                    scenario: text(&g.scenario),
                    direction: g.direction.word().into(),
                    run: names(&g.run),
                    approve: g.approve,
                    overridden: g.overridden,
                })
                .collect(),
            triggers: preview
                .triggers
                .iter()
                .map(|t| PreviewTriggerDto {
                    name: text(&t.name),
                    scenario: text(&t.scenario),
                    direction: t.direction.word().into(),
                    would: (if t.sent { "send" } else { "suppressed" }).into(),
                })
                .collect(),
            answers: preview
                .answers
                .iter()
                .map(|a| PreviewAnswerDto {
                    zone: text(&a.zone),
                    name: a.name.clone(),
                    r#type: a.rtype.clone(),
                    before: names(&a.before),
                    after: names(&a.after),
                    left_out: a
                        .left_out
                        .iter()
                        .map(|(data, because)| LeftOutDto { data: text(data), because: because.clone() })
                        .collect(),
                    site_before: sites(&a.sites_before),
                    site_after: sites(&a.sites_after),
                    ttl: a.ttl,
                })
                .collect(),
            load: preview
                .load
                .iter()
                .map(|l| PreviewLoadDto {
                    service: text(&l.service),
                    now: l.now,
                    after: l.after,
                    peak_48h: peak(&l.service),
                })
                .collect(),
            connections: preview.connections,
            confirm: preview.confirm,
            confirm_word: preview.confirm_word.as_deref().map(text),
            seq: preview.seq,
            computed_at: preview.computed_at.to_string(),
        }
    }
}
