//! A journal reproduces the commits that it records.

use std::sync::Arc;
use std::time::Duration;

use super::bench::{Bench, disable, modes};
use crate::control::journal::history::{Moment, What, read};
use crate::machine::{Effect, Engine, Input};
use crate::model::Model;
use crate::model::event::{AdminIntent, Change, Outcome, Record, Transition};
use crate::model::id::Kind;
use crate::model::scenario::Mode;

/// Feeds the rows and the modes of `moments` to an engine, turn by turn; gives the commits it makes.
fn replayed(moments: &[Moment], model: &Arc<Model>) -> Vec<Transition> {
    let mut engine = Engine::for_replay();
    let mut effects = Vec::new();
    for turn in moments.chunk_by(|a, b| a.now.tick == b.now.tick) {
        let now = turn[0].now;
        for moment in turn {
            if let Some(input) = input(&moment.what, model) {
                engine.step(now, input, &mut effects);
            }
        }
        engine.step(now, Input::Wake, &mut effects);
    }
    let commit = |effect| match effect {
        Effect::Record(Record::Transition(t)) => Some(Transition::clone(&t)),
        _ => None,
    };
    effects.into_iter().filter_map(commit).collect()
}

fn input(what: &What, model: &Arc<Model>) -> Option<Input> {
    Some(match what {
        What::Start { saved } => Input::Restore(saved.clone()),
        What::Config(_) => Input::Adopt(Arc::clone(model)),
        What::Record(Record::Board(row)) => Input::Board(row.clone()),
        What::Record(Record::Act { object, act, change: Change::Modes { activate, deactivate, override_guard } })
            if object.kind == Kind::Scenario =>
        {
            let scenario = model.scenario_id(&object.name)?;
            let (activate, deactivate, override_guard) = (*activate, *deactivate, *override_guard);
            let intent = AdminIntent::SetModes { scenario, activate, deactivate, override_guard };
            Input::Admin { act: act.clone(), intent }
        }
        What::Record(_) | What::Other { .. } => return None,
    })
}

fn recorded(moments: &[Moment]) -> Vec<Transition> {
    let commit = |moment: &Moment| match &moment.what {
        What::Record(Record::Transition(t)) => Some(Transition::clone(t)),
        _ => None,
    };
    moments.iter().filter_map(commit).collect()
}

#[test]
fn a_journal_reproduces_the_commits_that_it_records() {
    let mut bench = Bench::new();
    let model = Arc::clone(bench.core.engine.model());
    let step = |bench: &mut Bench| bench.wait(Duration::from_secs(7));
    for outcome in [Outcome::Pass, Outcome::Fail, Outcome::Fail, Outcome::Pass] {
        bench.probe(outcome);
        step(&mut bench);
    }
    drop(bench.command(modes(Some(Mode::On), None)));
    step(&mut bench);
    drop(bench.command(disable("web1", Some(3), true)));
    step(&mut bench);
    drop(bench.command(modes(Some(Mode::Auto), Some(Mode::On))));
    step(&mut bench);
    bench.probe(Outcome::Fail);
    step(&mut bench);

    let moments = read(&*bench.journal).unwrap();
    let expected = recorded(&moments);
    assert_eq!(expected.len(), 5, "auto in and out, forced in and out, auto in again");
    assert_eq!(replayed(&moments, &model), expected);
    assert_eq!(bench.journal.verify().unwrap().broken, None);
}
