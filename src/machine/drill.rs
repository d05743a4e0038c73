//! The drill: a scenario is active for a while because a person rehearses, and comes back whatever its modes are.
//!
//! ```text
//!            start                   guard passes, or there is none
//!  (none) ─────────▶ STARTING ───────────────────────────────────────▶ RUNNING
//!                       │                                                 │ its time is over,
//!                       │ guard refuses, its time is over,                │ stopped, a condition to stop on
//!                       │ stopped, a condition to stop on,                ▼
//!                       │ its fault is real, a mode set               RETURNING ── the guard of the return holds it
//!                       ▼                                                 │
//!                     OVER ◀──────────────────────────────────────────────┘ the scenario is inactive
//!                       ▲
//!                       └── from RUNNING and RETURNING: its fault is real (and the activation `auto`): handed over;
//!                           a mode set by a person, the scenario removed: it stays as it is
//! ```
//!
//! | phase | activate | deactivate | so that |
//! |---|---|---|---|
//! | starting | `on` | `off` | it fires, through its guard |
//! | running | `on`, has acted | `off` | nothing brings it back |
//! | returning | as before the drill | `on` | it returns, through its guard |
//! | over | as before | as before | |
//!
//! **A fault that is real.** Where the condition of the activation becomes true while a drill runs, and would fire by
//! itself, the drill is over at once: its return and the real failover are committed together, so that nobody sees the
//! scenario inactive, and those who are told of failovers are told of this one. The guard of neither is asked: what it
//! would be asked about has happened already.
//!
//! **What follows.** A commit of another scenario belongs to the drill where the group that decided it names a scenario
//! that the drill has moved, or where the scenario itself stands where the drill has put it. So a pair that follows a
//! drilled scenario wakes nobody either, on its way out or back.

mod begin;

use std::collections::BTreeSet;

use crate::model::condition::{Group, Subject};
use crate::model::drill::{Drill, Ending, Phase};
use crate::model::id::{Name, ScenarioId};
use crate::model::time::Wall;

pub use begin::{Standing, refused};

/// What decides how a drill goes on.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    pub now: Wall,
    /// The scenario has been looked at: what it could do by now it has done.
    pub settled: bool,
    pub active: bool,
    /// A guard runs.
    pub pending: bool,
    /// What the guard said when it last refused.
    pub refusal: Option<&'a Name>,
    /// A group of the activation that is true.
    pub fault: Option<&'a Name>,
    /// The activation would be `auto` without the drill.
    pub resumes: bool,
    /// A condition to stop on that is true.
    pub stop: Option<&'a Name>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The scenario became active.
    Run,
    /// Bring it back.
    Return(Ending),
    /// The fault is real: go on as a failover.
    HandOver(Name),
    /// The modes come back, and that is all.
    Finish(Ending),
}

/// How a drill goes on, if it does not stay as it is.
pub fn next(drill: &Drill, seen: Seen<'_>) -> Option<Next> {
    let over = seen.now >= drill.ends_at;
    match drill.phase {
        Phase::Over => None,
        Phase::Starting if seen.active => Some(Next::Run),
        Phase::Starting => {
            let refused = || Ending::Guard(seen.refusal.map_or_else(|| "".into(), Name::clone));
            let fault = seen.fault.map(|group| Ending::Fault(Name::clone(group)));
            let stop = seen.stop.map(|name| Ending::Condition(Name::clone(name)));
            let late = over.then_some(Ending::NotBegun);
            let refused = (seen.settled && !seen.pending).then(refused);
            fault.or(stop).or(late).or(refused).map(Next::Finish)
        }
        Phase::Running | Phase::Returning if seen.resumes && seen.fault.is_some() && seen.active => {
            seen.fault.map(|group| Next::HandOver(Name::clone(group)))
        }
        Phase::Running => {
            let stop = seen.stop.map(|name| Ending::Condition(Name::clone(name)));
            stop.or(over.then_some(Ending::Completed)).map(Next::Return)
        }
        Phase::Returning if !seen.active => Some(Next::Finish(drill.ending.clone().unwrap_or(Ending::Completed))),
        Phase::Returning => None,
    }
}

/// What marks commits as those of a drill.
#[derive(Clone, Copy, Debug)]
pub struct Mark<'a> {
    pub drill: &'a Drill,
    /// The scenario that is drilled, while the drill is not over.
    pub drilled: Option<ScenarioId>,
    /// Those that stand where the drill has put them.
    pub moved: &'a BTreeSet<ScenarioId>,
}

// === impl Mark ===

impl Mark<'_> {
    /// Whether a commit of `scenario`, decided by `group`, belongs to the drill.
    pub fn claims(&self, scenario: ScenarioId, group: Option<&Group>) -> bool {
        let follows = |group: &Group| {
            group.terms.iter().any(|term| matches!(term.subject, Subject::Scenario(of) if self.moved.contains(&of)))
        };
        self.drilled == Some(scenario) || self.moved.contains(&scenario) || group.is_some_and(follows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::Act;

    const END: Wall = Wall(3_600_000_000);

    fn drill(phase: Phase) -> Drill {
        Drill {
            id: 1,
            scenario: "dr".into(),
            act: Act { actor: "admin:nsroot".into(), reason: Some("CHG1".into()), expires: Some(END) },
            notify: Vec::new(),
            stop_on: vec!["hurt".into()],
            override_guard: false,
            before: [None, None],
            phase,
            lasts: std::time::Duration::from_secs(3_600),
            started_at: Wall(0),
            ends_at: END,
            activated_at: None,
            returning_at: None,
            returned_at: None,
            ended_at: None,
            ending: (phase == Phase::Returning).then_some(Ending::Stopped),
            ended_by: None,
            commits: Vec::new(),
        }
    }

    fn quiet(phase: Phase) -> Seen<'static> {
        let active = matches!(phase, Phase::Running | Phase::Returning);
        let (refusal, fault, stop) = (None, None, None);
        Seen { now: Wall(1), settled: true, active, pending: !active, refusal, fault, resumes: true, stop }
    }

    #[test]
    fn nothing_happens_while_nothing_does() {
        for phase in Phase::ALL {
            assert_eq!(next(&drill(phase), quiet(phase)), None, "{phase:?}");
        }
    }

    #[test]
    fn it_ends_at_its_time_in_every_phase() {
        let at = |phase| next(&drill(phase), Seen { now: END, ..quiet(phase) });
        assert_eq!(at(Phase::Starting), Some(Next::Finish(Ending::NotBegun)));
        assert_eq!(at(Phase::Running), Some(Next::Return(Ending::Completed)));
        assert_eq!(at(Phase::Returning), None, "it is on its way");
        assert_eq!(at(Phase::Over), None);
    }

    #[test]
    fn a_guard_that_refuses_ends_it_and_the_look_before_it_began_does_not() {
        let why: Name = "lag is 90".into();
        let seen = Seen { pending: false, refusal: Some(&why), ..quiet(Phase::Starting) };
        let starting = drill(Phase::Starting);
        assert_eq!(next(&starting, seen), Some(Next::Finish(Ending::Guard(why.clone()))));
        assert_eq!(next(&starting, Seen { settled: false, ..seen }), None);
        assert_eq!(next(&starting, Seen { active: true, ..seen }), Some(Next::Run));
    }

    #[test]
    fn a_fault_that_would_fire_goes_before_everything_else_and_one_that_would_not_is_left_to_the_end() {
        let (fault, stop): (Name, Name) = ("api!".into(), "hurt".into());
        for phase in [Phase::Running, Phase::Returning] {
            let seen = Seen { now: END, fault: Some(&fault), stop: Some(&stop), ..quiet(phase) };
            assert_eq!(next(&drill(phase), seen), Some(Next::HandOver(fault.clone())));
        }
        let manual = Seen { fault: Some(&fault), resumes: false, ..quiet(Phase::Running) };
        assert_eq!(next(&drill(Phase::Running), manual), None);
        let starting = Seen { fault: Some(&fault), resumes: false, ..quiet(Phase::Starting) };
        assert_eq!(next(&drill(Phase::Starting), starting), Some(Next::Finish(Ending::Fault(fault.clone()))));
    }

    #[test]
    fn a_condition_to_stop_on_brings_it_back_early() {
        let stop: Name = "hurt".into();
        let with = |phase| next(&drill(phase), Seen { stop: Some(&stop), ..quiet(phase) });
        assert_eq!(with(Phase::Running), Some(Next::Return(Ending::Condition(stop.clone()))));
        assert_eq!(with(Phase::Starting), Some(Next::Finish(Ending::Condition(stop.clone()))));
        assert_eq!(with(Phase::Returning), None);
    }

    #[test]
    fn it_is_over_when_the_scenario_is_back() {
        let seen = Seen { active: false, ..quiet(Phase::Returning) };
        assert_eq!(next(&drill(Phase::Returning), seen), Some(Next::Finish(Ending::Stopped)));
    }
}
