//! Every sequence of events up to a length, against a naive oracle.
//!
//! Goal: no sequence of samples, waits and modes makes the scenario machine differ from the rules as a person would
//! apply them to the whole history. Method: walk the tree of all sequences; at each node the engine has made one step
//! more, and the oracle starts from nothing and applies the rules to everything that happened.

use bascule::model::scenario::Mode;

use crate::rig::{Rig, secs};

const CONFIG: &str = r#"
[check.p]
type = "TCP"
target = "127.0.0.1:1"
interval = "1h"
rise = 1
fall = 2
[scenario.s.activate]
when = [["p!{fails:2}"]]
[scenario.s.deactivate]
when = [["p{for:3s}"]]
"#;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Pass,
    Fail,
    WaitASecond,
    WaitThreeSeconds,
    Activate(Mode),
    Deactivate(Mode),
}

const ALPHABET: [Event; 10] = [
    Event::Pass,
    Event::Fail,
    Event::WaitASecond,
    Event::WaitThreeSeconds,
    Event::Activate(Mode::On),
    Event::Activate(Mode::Auto),
    Event::Activate(Mode::Off),
    Event::Deactivate(Mode::On),
    Event::Deactivate(Mode::Auto),
    Event::Deactivate(Mode::Off),
];

/// Sequences of this many events: 10 + 100 + … + 100 000 of them.
const LENGTH: usize = 5;

#[test]
fn every_sequence_of_events_gives_what_the_rules_give_for_its_whole_history() {
    let mut history = Vec::new();
    walk(&Rig::new(CONFIG), &mut history);
}

fn walk(rig: &Rig, history: &mut Vec<Event>) {
    if history.len() == LENGTH {
        return;
    }
    for event in ALPHABET {
        let mut rig = Rig {
            engine: rig.engine.clone(),
            now: rig.now,
            effects: Vec::new(),
            saved: rig.saved.clone(),
            journal: Vec::new(),
            late: rig.late,
        };
        match event {
            Event::Pass => rig.pass("p"),
            Event::Fail => rig.fail("p"),
            Event::WaitASecond => rig.wait(secs(1)),
            Event::WaitThreeSeconds => rig.wait(secs(3)),
            Event::Activate(mode) => rig.modes("s", Some(mode), None),
            Event::Deactivate(mode) => rig.modes("s", None, Some(mode)),
        }
        history.push(event);
        let expected = oracle(history);
        let state = rig.scenario("s");
        let got = (state.active, state.seq, state.stuck, state.modes.clone().map(|m| (m.mode, m.spent)));
        assert_eq!(got, (expected.active, expected.seq, expected.stuck(), expected.modes), "after {history:?}");
        walk(&rig, history);
        history.pop();
    }
}

/// Kleene's values as the oracle writes them.
type Value = Option<bool>;

struct Oracle {
    /// Seconds, and whether the sample passed.
    samples: Vec<(u64, bool)>,
    second: u64,
    active: bool,
    seq: u64,
    entered: u64,
    /// The direction leading out waits for fresh evidence.
    disarmed: bool,
    modes: [(Mode, bool); 2],
}

fn oracle(history: &[Event]) -> Oracle {
    let mut oracle = Oracle {
        samples: Vec::new(),
        second: 0,
        active: false,
        seq: 0,
        entered: 0,
        disarmed: false,
        modes: [(Mode::Auto, false); 2],
    };
    for event in history {
        match event {
            Event::Pass => oracle.samples.push((oracle.second, true)),
            Event::Fail => oracle.samples.push((oracle.second, false)),
            Event::WaitASecond => oracle.second += 1,
            Event::WaitThreeSeconds => {
                for _ in 0..2 {
                    oracle.second += 1;
                    oracle.apply_rules();
                }
                oracle.second += 1;
            }
            Event::Activate(mode) => oracle.modes[0] = (*mode, false),
            Event::Deactivate(mode) => oracle.modes[1] = (*mode, false),
        }
        oracle.apply_rules();
    }
    oracle
}

impl Oracle {
    fn stuck(&self) -> bool {
        self.modes[0].0 == Mode::On && self.modes[1].0 == Mode::On
    }

    /// `p!{fails:2}`
    fn activation(&self) -> Value {
        let fails = self.samples.iter().rev().take_while(|(_, passed)| !passed).count();
        (!self.samples.is_empty()).then_some(fails >= 2)
    }

    /// `p{for:3s}`, where no hold of the direction leading out begins before the commit.
    fn deactivation(&self) -> Value {
        let mut up: Value = None;
        let mut fails = 0;
        let mut known_since = None;
        for &(at, passed) in &self.samples {
            fails = if passed { 0 } else { fails + 1 };
            known_since.get_or_insert(at);
            if passed {
                up = Some(true);
            } else if fails >= 2 {
                up = Some(false);
            }
        }
        let last_failed = self.samples.iter().rev().find(|(_, passed)| !passed).map_or(0, |(at, _)| *at);
        let commit = if self.active { self.entered } else { 0 };
        let from = last_failed.max(known_since.unwrap_or(0)).max(commit);
        up.map(|up| up && self.second >= from + 3)
    }

    fn apply_rules(&mut self) {
        let out = usize::from(self.active);
        let value = if self.active { self.deactivation() } else { self.activation() };
        // Fresh evidence: false since the commit, or the hold has completed.
        if value == Some(false) || (self.active && value == Some(true)) {
            self.disarmed = false;
        }
        if self.stuck() {
            return;
        }
        if self.modes[1 - out].0 == Mode::On {
            self.modes[1 - out].1 = true;
        }
        let blocked = self.active && self.modes[0].0 != Mode::Off && self.activation() == Some(true);
        let forced = self.modes[out] == (Mode::On, false);
        let automatic = self.modes[out].0 == Mode::Auto && value == Some(true) && !self.disarmed && !blocked;
        if !forced && !automatic {
            return;
        }
        self.active = !self.active;
        self.seq += 1;
        self.entered = self.second;
        if forced {
            self.modes[out].1 = true;
        }
        if self.modes[1 - out].0 == Mode::On {
            self.modes[1 - out] = (Mode::Auto, false);
        }
        let value = if self.active { self.deactivation() } else { self.activation() };
        self.disarmed = forced && value != Some(false);
    }
}
