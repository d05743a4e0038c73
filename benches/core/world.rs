//! Models of a given size, made without text.

use std::sync::Arc;
use std::time::Duration;

use bascule::model::Model;
use bascule::model::check::{Check, Host, Origin, Probe, Schedule, Target};
use bascule::model::condition::{Condition, Group, Measure, Subject, Term};
use bascule::model::id::{CheckId, Name, ScenarioId, ServiceId};
use bascule::model::scenario::{DirectionRules, Mode, Oscillation, Scenario};
use bascule::model::service::{Protocol, Service};
use bascule::model::vserver::{Member, Vserver};

pub fn check(name: String) -> Check {
    let target = Target::at(Host::Ip([127, 0, 0, 1].into()), 1);
    Check {
        name: name.into(),
        origin: Origin::User,
        probe: Probe::Tcp { target },
        schedule: Schedule {
            interval: Duration::from_secs(1),
            timeout: Duration::from_millis(500),
            rise: 1,
            fall: 1,
            ..Schedule::default()
        },
    }
}

fn term(check: CheckId, negated: bool, measure: Option<Measure>) -> Term {
    let text = if negated { "c!" } else { "c" }.into();
    Term { text, subject: Subject::Check(check), negated, measure, hold: None }
}

fn direction(term: Term) -> DirectionRules {
    let group = Group { name: Name::clone(&term.text), named: false, terms: vec![term] };
    let when = Condition { groups: vec![group] };
    DirectionRules { base_mode: Mode::Auto, when, gate: None, guard: None, triggers: Vec::new() }
}

/// `scenarios` scenarios, ten on each check: in on the first failed sample, out when it is up again.
pub fn scenarios(scenarios: usize) -> Arc<Model> {
    let checks = scenarios.div_ceil(10);
    let mut model = Model::empty();
    model.checks = (0..checks).map(|i| check(format!("c{i:07}"))).collect();
    model.scenarios = (0..scenarios)
        .map(|i| {
            let of = CheckId::from_index(i / 10);
            Scenario {
                name: format!("s{i:07}").into(),
                about: "".into(),
                initially_active: false,
                directions: [direction(term(of, true, Some(Measure::Fails(1)))), direction(term(of, false, None))],
                oscillation: Oscillation { commits: 0, within: Duration::from_secs(600) },
                min_dwell: Duration::ZERO,
                renamed_from: None,
                pair: None,
            }
        })
        .collect();
    model.scenario_order = (0..scenarios).map(ScenarioId::from_index).collect();
    Arc::new(model)
}

/// `services` services in vservers of ten.
pub fn services(services: usize) -> Arc<Model> {
    let mut model = Model::empty();
    model.services = (0..services)
        .map(|i| {
            let mut service = Service::new(format!("s{i:07}"), Protocol::Http, ([127, 0, 0, 1], 80).into());
            service.settings.health_monitor = false;
            service
        })
        .collect();
    model.vservers = (0..services / 10)
        .map(|v| {
            let mut vserver = Vserver::new(format!("v{v:07}"), Protocol::Http);
            vserver.members = (0..10).map(|i| Member::new(ServiceId::from_index(v * 10 + i))).collect();
            vserver.services = vserver.members.clone();
            vserver
        })
        .collect();
    Arc::new(model)
}
