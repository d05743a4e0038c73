//! Guards. This build runs guards of terms; queries and approvals it cannot run, and says so: they "cannot tell", which
//! `on_timeout` decides at the deadline.

use crate::machine::Engine;
use crate::model::Model;
use crate::model::condition::{ServiceFacet, Subject, Term, Truth, VserverFacet};
use crate::model::event::{GuardResult, GuardVerdict};
use crate::model::id::ScenarioId;
use crate::model::scenario::{Direction, GuardStep, QueryKind};
use crate::model::state::{NewClients, ServiceState, StateView};

pub(super) fn run(engine: &Engine, scenario: ScenarioId, direction: Direction, attempt: u64) -> GuardResult {
    let (verdict, detail) = judge(engine.model(), engine.view(), scenario, direction);
    GuardResult { scenario, attempt, verdict, detail: detail.into() }
}

fn judge(model: &Model, view: &StateView, scenario: ScenarioId, direction: Direction) -> (GuardVerdict, String) {
    let Some(guard) = &model.scenario(scenario).directions[direction.index()].guard else {
        return (GuardVerdict::Pass, "no guard".to_owned());
    };
    // One refusal decides; otherwise one that cannot tell does.
    let mut undecided = Vec::new();
    for step in &guard.run {
        match step {
            GuardStep::Query(id) => {
                let query = &model.queries[id.index()];
                let kind = match &query.kind {
                    QueryKind::Sql { database, .. } => &*database.kind,
                    QueryKind::Http { .. } => "HTTP",
                };
                undecided.push(format!("query {} ({kind}) is not in this build", query.name));
            }
            GuardStep::Check(term) => match value(model, view, term) {
                Truth::True => {}
                Truth::False => return (GuardVerdict::Refuse, format!("{} is false", term.text)),
                Truth::Unknown => undecided.push(format!("{} is unknown", term.text)),
            },
        }
    }
    if guard.approve {
        undecided.push("approval by a person is not in this build".to_owned());
    }
    match undecided.is_empty() {
        true => (GuardVerdict::Pass, "all terms are true".to_owned()),
        false => (GuardVerdict::CannotTell, undecided.join("; ")),
    }
}

/// The term now. Measures and holds are kept only for terms that something watches; others are unknown.
fn value(model: &Model, view: &StateView, term: &Term) -> Truth {
    if let Some(watched) = model.watched.iter().position(|w| w == term) {
        return view.watched[watched];
    }
    if term.measure.is_some() || term.hold.is_some() {
        return Truth::Unknown;
    }
    let plain = predicate(view, &term.subject);
    if term.negated { !plain } else { plain }
}

fn predicate(view: &StateView, subject: &Subject) -> Truth {
    match subject {
        Subject::Check(id) => view.checks[id.index()].state,
        Subject::Vserver(id, VserverFacet::Serves) => {
            Truth::from(view.vservers[id.index()].new_clients != NewClients::Refused)
        }
        Subject::Vserver(id, VserverFacet::Primary) => {
            Truth::from(view.vservers[id.index()].new_clients == NewClients::Own)
        }
        Subject::Vserver(id, VserverFacet::HealthAtLeast(percent)) => {
            Truth::from(view.vservers[id.index()].health_percent >= *percent)
        }
        Subject::Vserver(_, VserverFacet::Admin | VserverFacet::Fault) => Truth::Unknown,
        Subject::Service(id, facet) => service(view.services[id.index()].state, *facet),
        Subject::Scenario(id) => Truth::from(view.scenarios[id.index()].active),
        Subject::Datacenter { datacenter, signal, observer: None } => {
            view.signals[datacenter.index()][*signal as usize]
        }
        Subject::Datacenter { observer: Some(_), .. } | Subject::Criterion(_) => Truth::Unknown,
        Subject::TimeWindow(id) => view.time_windows[id.index()],
        Subject::Switch(id) => Truth::from(view.switches[id.index()]),
    }
}

fn service(state: ServiceState, facet: ServiceFacet) -> Truth {
    if state == ServiceState::Unknown {
        return Truth::Unknown;
    }
    Truth::from(match facet {
        ServiceFacet::Up => state == ServiceState::Up,
        ServiceFacet::Serving => matches!(state, ServiceState::Up | ServiceState::Trofs),
        ServiceFacet::Fault => matches!(state, ServiceState::Down | ServiceState::TrofsDown),
    })
}
