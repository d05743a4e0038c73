//! A replay finds what does not come out as recorded. That whole random journals do come out is shown in `random`.

use std::sync::Arc;

use bascule::control::journal::history::{Moment, What};
use bascule::model::condition::Truth;
use bascule::model::event::{Cause, GuardVerdict, Record, Transition};
use bascule::model::scenario::Mode;
use bascule::rehearse::{Difference, Replayed, play};

use crate::rig::{Rig, mins, secs};

const CONFIG: &str = r#"
[check.p]
type = "TCP"
target = "127.0.0.1:1"
interval = "1s"
timeout = "500ms"
rise = 1
fall = 1
[query.safe]
type = "HTTP"
uri = "http://127.0.0.1:1/"
[scenario.s.activate]
when = [["p!"]]
[scenario.s.deactivate]
when = [["p{for:10s}"]]
[scenario.guarded.activate]
when = [["sc:s{for:30s}"]]
guard = { run = ["safe"], on_timeout = "block", deadline = "20s", backoff = "5s" }
[scenario.guarded.deactivate]
when = [["sc:s!"]]
"#;

/// Out, a refused and a passed guard, back, a drill, and a restart between.
fn journal() -> Vec<Moment> {
    let mut rig = Rig::new(CONFIG);
    rig.pass("p");
    rig.wait(secs(1));
    rig.fail("p");
    rig.wait(secs(30));
    rig.guard("guarded", GuardVerdict::Refuse);
    rig.wait(secs(5));
    rig.guard("guarded", GuardVerdict::Pass);
    assert!(rig.is_active("guarded"));
    let mut rig = rig.kill_and_restart(CONFIG, mins(3));
    rig.passing("p", secs(12));
    assert!(!rig.is_active("s") && !rig.is_active("guarded"));
    rig.modes("s", Some(Mode::On), None);
    rig.passing("p", secs(12));
    rig.journal
}

fn with(mut journal: Vec<Moment>, change: impl Fn(usize, &mut Transition)) -> Vec<Moment> {
    let transitions = journal.iter_mut().filter_map(|moment| match &mut moment.what {
        What::Record(Record::Transition(transition)) => Some(transition),
        _ => None,
    });
    for (index, transition) in transitions.enumerate() {
        change(index, Arc::make_mut(transition));
    }
    journal
}

#[test]
fn a_journal_with_guards_drills_and_restarts_comes_out_as_recorded() {
    let replayed = play(&journal()).unwrap();
    assert_eq!(replayed, Replayed { starts: 2, commits: 6, skipped: 0, notes: Vec::new() });
}

#[test]
fn a_commit_with_another_cause_is_found() {
    let changed = with(journal(), |index, transition| {
        if index == 2 {
            transition.cause = Cause::Condition("something else".into());
        }
    });
    let difference = play(&changed).unwrap_err();
    assert!(matches!(difference, Difference::Another { .. }), "{difference}");
    assert!(difference.to_string().contains("something else"), "{difference}");
}

#[test]
fn a_commit_that_was_left_out_is_found() {
    let mut shorter = journal();
    let at = shorter.iter().position(|m| matches!(m.what, What::Record(Record::Transition(_)))).unwrap();
    shorter.remove(at);
    // The first one that differs: `guarded` is recorded where `s` should be.
    let difference = play(&shorter).unwrap_err();
    assert!(matches!(difference, Difference::NotRecorded { .. } | Difference::Another { .. }), "{difference}");
}

#[test]
fn a_commit_without_a_reason_is_found() {
    let mut journal = journal();
    for moment in &mut journal {
        if let What::Record(Record::Board(row)) = &mut moment.what
            && &*row.row == "p"
        {
            row.value = Truth::True;
        }
    }
    let difference = play(&journal).unwrap_err();
    assert!(matches!(difference, Difference::NotMade { .. }), "{difference}");
}

#[test]
fn a_start_that_found_another_state_is_found() {
    let mut journal = journal();
    let starts = journal.iter_mut().filter_map(|moment| match &mut moment.what {
        What::Start { saved } => Some(saved),
        _ => None,
    });
    for saved in starts {
        for scenario in &mut saved.scenarios {
            scenario.seq += 1;
        }
    }
    let difference = play(&journal).unwrap_err();
    assert!(matches!(difference, Difference::State { .. }), "{difference}");
}

#[test]
fn what_stands_before_the_first_start_of_a_cut_journal_is_skipped_and_counted() {
    let journal = journal();
    let second = journal.iter().rposition(|m| matches!(m.what, What::Start { .. })).unwrap();
    let replayed = play(&journal[second - 3..]).unwrap();
    assert_eq!((replayed.starts, replayed.skipped), (1, 3));
    let replayed = play(&journal[1..second]).unwrap();
    assert_eq!((replayed.starts, replayed.commits, replayed.skipped), (0, 0, second - 1));
}
