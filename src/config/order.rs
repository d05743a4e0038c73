//! The order in which scenarios settle, so that however many follow from one check, one pass is enough; and the cycles
//! that would have none.

use std::collections::HashMap;

use super::document::{Node, Place, Table};
use super::report::Report;
use crate::model::check::{Check, Derived, Probe};
use crate::model::condition::{Subject, Term};
use crate::model::id::ScenarioId;
use crate::model::scenario::{GuardStep, Scenario};

/// Every scenario after those that its conditions, gates and guards name. Cycles are reported.
pub fn scenarios(report: &mut Report, document: &Table, scenarios: &[Scenario], checks: &[Check]) -> Vec<ScenarioId> {
    let names: HashMap<&str, usize> = scenarios.iter().enumerate().map(|(at, s)| (&*s.name, at)).collect();
    // What a check of type SCENARIO looks at.
    let behind: Vec<Option<usize>> = checks.iter().map(|check| names.get(scenario_of(check)?).copied()).collect();
    let needs: Vec<Vec<usize>> = scenarios.iter().map(|scenario| needs(scenario, &behind)).collect();
    let mut state = vec![State::New; scenarios.len()];
    let mut order = Vec::with_capacity(scenarios.len());
    for root in 0..scenarios.len() {
        // Depth first with a stack of its own: chains may be as long as the configuration.
        let mut stack: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some((at, next)) = stack.last().copied() {
            if next == 0 {
                if state[at] != State::New {
                    stack.pop();
                    continue;
                }
                state[at] = State::Open;
            }
            match needs[at].get(next) {
                Some(&needed) => {
                    if let Some(top) = stack.last_mut() {
                        top.1 += 1;
                    }
                    match state[needed] {
                        State::New => stack.push((needed, 0)),
                        State::Open => cycle(report, document, scenarios, &stack, needed),
                        State::Done => {}
                    }
                }
                None => {
                    state[at] = State::Done;
                    order.push(ScenarioId::from_index(at));
                    stack.pop();
                }
            }
        }
    }
    order
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

fn scenario_of(check: &Check) -> Option<&str> {
    match &check.probe {
        Probe::Derived { of: Derived::Scenario, term } => term.strip_prefix(Derived::Scenario.prefix()),
        _ => None,
    }
}

/// The scenarios that one names, itself or through a check, in its terms' order.
fn needs(scenario: &Scenario, behind: &[Option<usize>]) -> Vec<usize> {
    let mut needed = Vec::new();
    let mut of_term = |term: &Term| {
        let found = match term.subject {
            Subject::Scenario(id) => Some(id.index()),
            Subject::Check(id) => behind.get(id.index()).copied().flatten(),
            _ => None,
        };
        needed.extend(found.filter(|found| !needed.contains(found)));
    };
    for rules in &scenario.directions {
        rules.when.terms().for_each(&mut of_term);
        rules.gate.iter().flat_map(|gate| gate.terms()).for_each(&mut of_term);
        let steps = rules.guard.iter().flat_map(|guard| &guard.run);
        steps.for_each(|step| {
            if let GuardStep::Check(term) = step {
                of_term(term);
            }
        });
    }
    needed
}

fn cycle(report: &mut Report, document: &Table, scenarios: &[Scenario], stack: &[(usize, usize)], back: usize) {
    let from = stack.iter().position(|(at, _)| *at == back).unwrap_or(0);
    let mut names: Vec<&str> = stack[from..].iter().map(|(at, _)| &*scenarios[*at].name).collect();
    names.push(&scenarios[back].name);
    let name = &scenarios[back].name;
    let what = format!("scenario.{name}: scenarios depend on each other in a circle: {}", names.join(" → "));
    report.error(place(document, &scenarios[back]), format!("scenario.{name}"), what);
}

/// Of a scenario's table, or of the pair that it was generated for.
pub fn place(document: &Table, scenario: &Scenario) -> Place {
    let entry = |section: &str, name: &str| {
        document.get(section).and_then(Node::table).and_then(|t| t.entry(name)).map(|entry| entry.place)
    };
    let pair = scenario.name.split_once('/').filter(|_| scenario.pair.is_some()).map(|(pair, _)| pair);
    pair.and_then(|pair| entry("datacenter_pair", pair))
        .or_else(|| entry("scenario", &scenario.name))
        .unwrap_or_default()
}
