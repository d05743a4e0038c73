//! What the verdict is made of, read from a look at the world.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Back, Moved, ProblemDto, Sight, Waiting, clock, listed};
use crate::admin::dto::ahead::Ahead;
use crate::admin::dto::{override_of, text};
use crate::control::World;
use crate::model::id::{Kind, ScenarioId};
use crate::model::scenario::{Direction, GuardStep, Mode, PairPlace};
use crate::model::state::{NewClients, OverrideValue, Slot, VserverState};
use crate::model::zone::{Record, Rrset, Zone};

/// Ways in which names have moved that are told apart; of more the first count.
const MOVES_MOST: usize = 16;

/// What a name has moved by: who answers now, for whom, and the scenario that decided.
type Move = (Vec<String>, Vec<String>, ScenarioId);

// === impl Sight ===

impl Sight {
    pub fn of(world: &World<'_>, problems: &[ProblemDto]) -> Sight {
        let mut sight = Sight {
            vservers: world.model.vservers.len(),
            both_out: world.model.pairs.iter().any(|pair| {
                let active = |place: PairPlace| {
                    let found = pair.scenarios.iter().find(|s| s.place == place);
                    found.is_some_and(|s| world.view.scenarios[s.scenario.index()].active)
                };
                active(PairPlace::FromBackup) && (active(PairPlace::FromActive) || active(PairPlace::ToBackup))
            }),
            ..Sight::default()
        };
        if !world.status.ready {
            let known = world.view.checks.iter().filter(|check| check.samples_total > 0).count();
            sight.starting = Some((known, world.view.checks.len()));
        }
        names(world, &mut sight);
        for (vserver, view) in world.model.vservers.iter().zip(&world.view.vservers) {
            let out = view.state == VserverState::OutOfService || view.effective == VserverState::OutOfService;
            if view.new_clients == NewClients::Refused && vserver.redirect_url.is_none() && !out {
                sight.refusing.push(text(&vserver.name));
            }
        }
        scenarios(world, &mut sight);
        for problem in problems.iter().filter(|problem| problem.severity != "info") {
            sight.wrong.push(format!("{} {}: {}", problem.kind, problem.object, problem.text));
            if problem.hidden_by_force {
                sight.hidden.push(format!("{} {} is {}.", problem.kind, problem.object, problem.text));
            }
        }
        sight
    }
}

fn names(world: &World<'_>, sight: &mut Sight) {
    // Between a new configuration and its first snapshot the two speak of different records.
    if !Arc::ptr_eq(&world.snapshot.model, world.model) {
        return;
    }
    let mut moves: Vec<Move> = Vec::new();
    let mut chosen = Vec::new();
    for (z, zone) in world.model.zones.iter().enumerate() {
        for (r, rrset) in zone.rrsets.iter().enumerate() {
            sight.names += 1;
            let (dr, fallback) = world.snapshot.standing_of(z, r, &mut chosen);
            let name = name_of(zone, rrset);
            let list = match fallback {
                Some("serve_all") => Some(&mut sight.as_they_are),
                Some("nodata" | "servfail") => Some(&mut sight.nobody),
                None if chosen.is_empty() => Some(&mut sight.nobody),
                _ => None,
            };
            if let Some(list) = list {
                if !list.contains(&name) {
                    list.push(name);
                }
                continue;
            }
            if fallback != Some("static")
                && let Some(moved) = moved(rrset, dr, &chosen)
                && moves.len() < MOVES_MOST
                && !moves.contains(&moved)
            {
                moves.push(moved);
            }
        }
    }
    sight.moved = moves.into_iter().map(|moved| told(world, moved)).collect();
}

fn name_of(zone: &Zone, rrset: &Rrset) -> String {
    match rrset.key.split_whitespace().next() {
        Some("@") | None => text(&zone.name),
        Some(name) => name.to_owned(),
    }
}

/// Who answers in place of whom; `None`: everything is as it is at rest.
fn moved(rrset: &Rrset, dr: Option<ScenarioId>, chosen: &[u32]) -> Option<Move> {
    let site = |record: &Record| record.datacenter.as_deref().or(rrset.datacenter.as_deref()).map(text);
    let at_home = |record: &&Record| record.enabled && record.dr_cond.is_none();
    let home: BTreeSet<String> = rrset.records.iter().filter(at_home).filter_map(site).collect();
    let serving: BTreeSet<String> = chosen.iter().filter_map(|&at| site(&rrset.records[at as usize])).collect();
    let missing: Vec<String> = home.difference(&serving).cloned().collect();
    let gone_by = || {
        let gone = |(at, record): &(u32, &Record)| !chosen.contains(at) && at_home(record);
        (0u32..).zip(&rrset.records).filter(gone).find_map(|(_, record)| record.cond.map(|(id, _)| id))
    };
    // A check of a single record that fails is a problem, not a failover.
    let scenario = dr.or_else(|| if missing.is_empty() { None } else { gone_by() })?;
    Some((serving.into_iter().collect(), missing, scenario))
}

fn told(world: &World<'_>, (serving, missing, id): Move) -> Moved {
    let name = &world.model.scenario(id).name;
    let what = match (serving.is_empty() || missing.is_empty(), serving.len()) {
        (true, _) => format!("{name} is active and its DR set answers"),
        (false, 1) => format!("{} answers for {}", listed(&serving, "and"), listed(&missing, "and")),
        (false, _) => format!("{} answer for {}", listed(&serving, "and"), listed(&missing, "and")),
    };
    Moved { what, why: why(world, id), back: back(world, id) }
}

/// `dr activated at 03:10:12 because 'WAN of A is gone' was true.`
fn why(world: &World<'_>, id: ScenarioId) -> String {
    let (scenario, view) = (world.model.scenario(id), &world.view.scenarios[id.index()]);
    let Some(last) = &view.last_transition else {
        return format!("{} has been so since it was first defined.", scenario.name);
    };
    let reason = last.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let because = match last.cause.group() {
        Some(group) => format!("because '{group}' was true"),
        None => format!("by {}{reason}", last.actor),
    };
    format!("{} {} at {} {because}.", scenario.name, last.direction.participle(), clock(last.committed_at))
}

fn back(world: &World<'_>, id: ScenarioId) -> Back {
    let view = &world.view.scenarios[id.index()];
    if let Some(drill) = world.view.live_drill().filter(|drill| view.drill == Some(drill.id)) {
        return Back::Drill { at: drill.ends_at };
    }
    let ahead = Ahead { model: world.model, view: world.view, now: world.now };
    let out = Direction::out_of(view.active);
    let at = ahead.earliest(id, out);
    let by_person = view.modes[out.index()].mode == Mode::Off || view.stuck || view.oscillating;
    if by_person { Back::Person { ready: view.ready_to_return, at } } else { Back::Itself { at } }
}

fn scenarios(world: &World<'_>, sight: &mut Sight) {
    for (at, (scenario, view)) in world.model.scenarios.iter().zip(&world.view.scenarios).enumerate() {
        let guard = |direction: Direction| scenario.directions[direction.index()].guard.as_ref();
        if let Some(refused) = &view.refused {
            let run = guard(refused.direction).map_or(&[][..], |guard| &guard.run[..]);
            let queries = run.iter().map(|step| match step {
                GuardStep::Query(query) => text(&world.model.queries[query.index()].name),
                GuardStep::Check(term) => text(&term.text),
            });
            let named: Vec<String> = queries.collect();
            let which = if named.is_empty() { "its guard".into() } else { format!("guard {}", listed(&named, "and")) };
            let (since, to) = (clock(refused.since), refused.direction.word());
            sight.waiting.push(Waiting {
                returns: refused.direction == Direction::Deactivate,
                what: format!("{which} refuses"),
                why: format!("{} wants to {to} since {since}: {}.", scenario.name, refused.detail),
                approval: None,
            });
        } else if let Some(attempt) = &view.attempt
            && guard(attempt.direction).is_some_and(|guard| guard.approve)
        {
            let deadline = world.now.wall + attempt.deadline.since(world.now.tick);
            let since = clock(attempt.started_at);
            sight.waiting.push(Waiting {
                returns: attempt.direction == Direction::Deactivate,
                what: format!("{} asks a person to approve it", scenario.name),
                why: format!("Attempt {}, since {since}, waits until {}.", attempt.id, clock(deadline)),
                approval: Some(deadline),
            });
        }
        let id = ScenarioId::from_index(at);
        let by_drill = world.view.live_drill().is_some_and(|drill| view.drill == Some(drill.id));
        if !by_drill && is_held(world, id) {
            sight.held.push(text(&scenario.name));
        }
    }
}

/// A person has set a mode that is not the one of the configuration.
fn is_held(world: &World<'_>, id: ScenarioId) -> bool {
    let (scenario, view) = (world.model.scenario(id), &world.view.scenarios[id.index()]);
    Direction::BOTH.into_iter().any(|direction| {
        let set = override_of(world, Kind::Scenario, &scenario.name, Slot::of_direction(direction));
        let mode = &view.modes[direction.index()];
        set.is_some_and(|set| matches!(set.value, OverrideValue::Mode { .. })) && mode.mode != mode.base
    })
}
