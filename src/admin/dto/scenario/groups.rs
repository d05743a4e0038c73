//! Conditions as they stand: groups, terms, what each term reads, and how far holds and measures are.

use std::time::Duration;

use super::super::{measured, text, up_down, wall_of};
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::condition::{Condition, Measure, Statistic, Subject, Term, Truth, Window};
use crate::model::event::Outcome;
use crate::model::id::{CheckId, DatacenterId, ScenarioId};
use crate::model::scenario::Direction;
use crate::model::state::{History, TermView};
use crate::model::time::Wall;

dto! {
    /// Groups by direction.
    pub struct DirectionsDto {
        pub activate: Vec<GroupDto>,
        pub deactivate: Vec<GroupDto>,
    }

    /// Terms that must all be true.
    pub struct GroupDto {
        pub name: String,
        /// `true`, `false` or `unknown`.
        pub value: String,
        /// Whether it counts: false after a forced commit until there is fresh evidence.
        pub armed: bool,
        pub terms: Vec<TermDto>,
    }

    /// A term of a group.
    pub struct TermDto {
        /// As configured: `api-a{for:15m}`.
        pub text: String,
        /// What it speaks of: `api-a`, `vs:web`, `dc:dc-a.wan`.
        pub id: String,
        pub negated: bool,
        /// `true`, `false` or `unknown`; its hold applied.
        pub value: String,
        /// Since when it has this value.
        pub since: String,
        /// What stands there now, in words: `up, 38ms`, `TROFS`, `on`.
        pub reading: String,
        /// When a hold that is counting ends.
        pub hold_ends: Option<String>,
        /// How long it must hold; null where it need not.
        pub hold: Option<HoldDto>,
        /// What is measured over samples; null where nothing is.
        pub measure: Option<MeasureDto>,
    }

    /// A hold.
    pub struct HoldDto {
        pub length: String,
        /// Since when it counts; null while it does not.
        pub from: Option<String>,
        /// When it is over, if nothing comes between; null while it does not count.
        pub ends_at: Option<String>,
    }

    /// A measure over the samples of a check.
    pub struct MeasureDto {
        /// `fails`, `passes`, `flaps`, `latency.p95`.
        pub name: String,
        /// What it is now: a count, a latency, `a failed sample`; null where too few samples are kept to tell.
        pub value: Option<String>,
        /// What makes it true: `>= 3`, `< 80ms`.
        pub needs: String,
        /// What ends it once it is true, where that is another limit: `>= 100ms`.
        pub leave: Option<String>,
        /// Samples that count now.
        pub samples: Option<u32>,
        /// Samples that are needed; null where a time is looked at.
        pub of: Option<u32>,
    }
}

// === impl DirectionsDto ===

impl DirectionsDto {
    pub(super) fn of(world: &World<'_>, id: ScenarioId) -> DirectionsDto {
        let of = |direction: Direction| groups(world, id, direction);
        DirectionsDto { activate: of(Direction::Activate), deactivate: of(Direction::Deactivate) }
    }
}

fn groups(world: &World<'_>, id: ScenarioId, direction: Direction) -> Vec<GroupDto> {
    let when: &Condition = &world.model.scenario(id).directions[direction.index()].when;
    let views = &world.view.scenarios[id.index()].groups[direction.index()];
    let shown = when.groups.iter().zip(views).map(|(group, view)| GroupDto {
        name: text(&group.name),
        value: text(view.value.word()),
        armed: view.armed,
        terms: group.terms.iter().zip(&view.terms).map(|(term, view)| TermDto::of(world, term, view)).collect(),
    });
    shown.collect()
}

// === impl TermDto ===

impl TermDto {
    fn of(world: &World<'_>, term: &Term, view: &TermView) -> TermDto {
        let hold = HoldDto::of(world, term, view);
        let id = term.text.split(['!', '{']).next().unwrap_or(&term.text).trim();
        TermDto {
            text: text(&term.text),
            id: id.to_owned(),
            negated: term.negated,
            value: text(view.value.word()),
            since: view.since.to_string(),
            reading: reading(world, &term.subject),
            hold_ends: hold.as_ref().and_then(|hold| hold.ends_at.clone()),
            hold,
            measure: term.measure.and_then(|measure| MeasureDto::of(world, &term.subject, measure)),
        }
    }
}

// === impl HoldDto ===

impl HoldDto {
    fn of(world: &World<'_>, term: &Term, view: &TermView) -> Option<HoldDto> {
        let length = term.hold?;
        let ends = view.hold_ends.map(|at| wall_of(world, at));
        Some(HoldDto {
            length: format_duration(length),
            from: ends.map(|at| (at - length).to_string()),
            ends_at: ends.map(|at| at.to_string()),
        })
    }

    /// Of each signal of a data centre, as seen from here, that which matters most of all that scenarios have on it.
    pub(in super::super) fn of_signals(world: &World<'_>, of: DatacenterId) -> [Option<HoldDto>; 5] {
        let mut most: [Option<(&Term, &TermView)>; 5] = [None; 5];
        let scenarios = world.model.scenarios.iter().zip(&world.view.scenarios);
        let directions = scenarios.flat_map(|(scenario, view)| scenario.directions.iter().zip(&view.groups));
        let groups = directions.flat_map(|(rules, views)| rules.when.groups.iter().zip(views));
        for (term, view) in groups.flat_map(|(group, view)| group.terms.iter().zip(&view.terms)) {
            let Subject::Datacenter { datacenter, signal, observer: None } = &term.subject else { continue };
            let known = &mut most[*signal as usize];
            // One that counts goes before one that does not; of these that which ends last, of those the longest.
            let weight = |(term, view): (&Term, &TermView)| (view.hold_ends, term.hold);
            let is_more = known.is_none_or(|known| weight((term, view)) > weight(known));
            if *datacenter == of && term.hold.is_some() && is_more {
                *known = Some((term, view));
            }
        }
        most.map(|found| found.and_then(|(term, view)| HoldDto::of(world, term, view)))
    }
}

/// What a term speaks of, as it stands now.
pub(super) fn reading(world: &World<'_>, subject: &Subject) -> String {
    let (model, view) = (world.model, world.view);
    match subject {
        Subject::Check(id) => check(world, *id),
        Subject::Vserver(id, _) => {
            let view = &view.vservers[id.index()];
            format!("{}, {} % of weights UP", view.state.word(), view.health_percent)
        }
        Subject::Service(id, _) => text(view.services[id.index()].state.word()),
        Subject::Scenario(id) => text(view.scenarios[id.index()].word()),
        Subject::Datacenter { datacenter, signal, observer: None } => {
            text(view.signals[datacenter.index()][*signal as usize].word())
        }
        Subject::Datacenter { datacenter, signal, observer: Some(site) } => {
            let name = &model.datacenters[datacenter.index()].name;
            format!("{}, says {site}", super::super::pair::told(world, site, name, *signal).word())
        }
        Subject::TimeWindow(id) => match view.time_windows[id.index()] {
            Truth::True => "inside".into(),
            Truth::False => "outside".into(),
            Truth::Unknown => "unknown".into(),
        },
        Subject::Switch(id) => (if view.switches[id.index()] { "on" } else { "off" }).into(),
        Subject::Criterion(id) => text(&model.criteria[id.index()].name),
    }
}

/// `up, 38ms`, `down: connection refused`, `forced up; its probe says down`.
fn check(world: &World<'_>, id: CheckId) -> String {
    let view = &world.view.checks[id.index()];
    let state = up_down(view.state);
    match (&view.last, view.forced) {
        (_, Some(_)) if view.real != view.state => format!("forced {state}; its probe says {}", up_down(view.real)),
        (_, Some(_)) => format!("forced {state}"),
        (None, None) => "no result yet".into(),
        (Some(last), None) if matches!(last.outcome, Outcome::Pass | Outcome::Trofs) => {
            format!("{state}, {}", measured(last.latency))
        }
        (Some(last), None) => format!("{state}: {}", last.detail),
    }
}

// === impl MeasureDto ===

impl MeasureDto {
    fn of(world: &World<'_>, subject: &Subject, measure: Measure) -> Option<MeasureDto> {
        let Subject::Check(id) = subject else { return None };
        let view = &world.view.checks[id.index()];
        let count = |name: &str, now: u32, needed: u32| MeasureDto {
            name: name.into(),
            value: Some(now.to_string()),
            needs: format!(">= {needed}"),
            leave: None,
            samples: Some(now.min(needed)),
            of: Some(needed),
        };
        Some(match measure {
            Measure::Fails(needed) => count("fails", view.fails_in_row, needed),
            Measure::Passes(needed) => count("passes", view.passes_in_row, needed),
            Measure::Flaps { fewer_than, within } => MeasureDto {
                name: "flaps".into(),
                value: None,
                needs: format!("< {fewer_than} in {}", format_duration(within)),
                leave: None,
                samples: None,
                of: None,
            },
            Measure::Latency { statistic, below, over, leave_at } => {
                let kept = Kept::of(&world.view.histories[id.index()], over, world.now.wall);
                MeasureDto {
                    name: format!("latency.{}", word(statistic)),
                    value: kept.statistic(statistic),
                    needs: format!("< {}", format_duration(below)),
                    leave: leave_at.map(|limit| format!(">= {}", format_duration(limit))),
                    samples: Some(kept.latencies.len() as u32),
                    of: match over {
                        Window::Samples(count) => Some(count),
                        Window::Span(_) => None,
                    },
                }
            }
        })
    }
}

fn word(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Average => "avg",
        Statistic::Last => "last",
        Statistic::P50 => "p50",
        Statistic::P95 => "p95",
        Statistic::P99 => "p99",
    }
}

/// Latencies of the newest samples, newest first; `None`: a failed one.
struct Kept {
    latencies: Vec<Option<Duration>>,
    /// Every sample of the window is kept.
    whole: bool,
}

// === impl Kept ===

impl Kept {
    fn of(history: &History, window: Window, now: Wall) -> Kept {
        let recent = history.recent();
        let all = recent.len();
        let counts = recent.filter(|sample| sample.outcome != Outcome::Void);
        let newest: Vec<_> = counts.collect::<Vec<_>>().into_iter().rev().collect();
        let latency = |sample: &&crate::model::state::PastSample| {
            matches!(sample.outcome, Outcome::Pass | Outcome::Trofs).then_some(sample.latency)
        };
        match window {
            Window::Samples(count) => {
                let latencies: Vec<_> = newest.iter().take(count as usize).map(latency).collect();
                Kept { whole: latencies.len() == count as usize, latencies }
            }
            Window::Span(span) => {
                let latencies: Vec<_> =
                    newest.iter().take_while(|sample| now.since(sample.at) <= span).map(latency).collect();
                let whole = !latencies.is_empty() && (latencies.len() < newest.len() || all < 32);
                Kept { latencies, whole }
            }
        }
    }

    /// As the condition computes it: nearest rank, and a failed sample is infinitely slow.
    fn statistic(&self, statistic: Statistic) -> Option<String> {
        let shown = |latency: Option<Duration>| latency.map_or_else(|| "a failed sample".into(), measured);
        if statistic == Statistic::Last {
            return self.latencies.first().copied().map(shown);
        }
        if !self.whole {
            return None;
        }
        let percent = match statistic {
            Statistic::P50 => 50,
            Statistic::P95 => 95,
            Statistic::P99 => 99,
            _ => {
                let sum: Option<Duration> = self.latencies.iter().copied().sum();
                return Some(shown(sum.map(|sum| sum / self.latencies.len() as u32)));
            }
        };
        let mut sorted = self.latencies.clone();
        sorted.sort_by_key(|latency| latency.unwrap_or(Duration::MAX));
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied().map(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::state::PastSample;

    fn history(samples: &[Option<u64>]) -> History {
        let mut history = History::default();
        for (second, ms) in (0i64..).zip(samples) {
            history.push(PastSample {
                at: Wall(second * 1_000_000),
                outcome: if ms.is_some() { Outcome::Pass } else { Outcome::Fail },
                latency: Duration::from_millis(ms.unwrap_or(0)),
                detail: "x".into(),
            });
        }
        history
    }

    #[test]
    fn a_latency_is_shown_as_the_condition_computes_it() {
        let samples: Vec<Option<u64>> = (1..=20).map(Some).collect();
        let kept = Kept::of(&history(&samples), Window::Samples(20), Wall(19_000_000));
        let shown = |statistic| kept.statistic(statistic);
        assert_eq!(shown(Statistic::P95).as_deref(), Some("19ms"));
        assert_eq!(shown(Statistic::P50).as_deref(), Some("10ms"));
        assert_eq!(shown(Statistic::Average).as_deref(), Some("10ms"));
        assert_eq!(shown(Statistic::Last).as_deref(), Some("20ms"));
        let kept = Kept::of(&history(&[Some(5), None]), Window::Samples(2), Wall(1_000_000));
        assert_eq!(kept.statistic(Statistic::Average).as_deref(), Some("a failed sample"));
        assert_eq!(kept.statistic(Statistic::P50).as_deref(), Some("5.000ms"));
    }

    #[test]
    fn too_few_samples_say_nothing() {
        let kept = Kept::of(&history(&[Some(5)]), Window::Samples(20), Wall(0));
        assert_eq!((kept.statistic(Statistic::P95), kept.latencies.len()), (None, 1));
        let long: Vec<Option<u64>> = vec![Some(5); 40];
        let kept = Kept::of(&history(&long), Window::Span(Duration::from_secs(3_600)), Wall(40_000_000));
        assert_eq!(kept.statistic(Statistic::P95), None, "what is kept does not reach back so far");
        let kept = Kept::of(&history(&long), Window::Span(Duration::from_secs(10)), Wall(40_000_000));
        assert_eq!(kept.statistic(Statistic::P95).as_deref(), Some("5.000ms"));
    }
}
