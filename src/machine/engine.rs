//! The engine: one step at a time.

use std::sync::Arc;

use super::{Effect, Input};
use crate::model::Model;
use crate::model::state::{SavedScenario, StateView};
use crate::model::time::{Now, Tick};

#[derive(Debug)]
pub struct Engine {}

impl Engine {
    pub fn new() -> Engine {
        todo!()
    }

    /// Applies `input` at `now`; `now.tick` never decreases (asserted). Effects are appended.
    pub fn step(&mut self, now: Now, input: Input, effects: &mut Vec<Effect>) {
        let _ = (now, input, effects);
        todo!()
    }

    /// Earliest tick at which `Input::Wake` has work, if any. Wall-clock deadlines are converted with the two clocks of
    /// the last step; a clock that was set is caught up with at the next wake, at most a second later.
    pub fn wake_at(&self) -> Option<Tick> {
        todo!()
    }

    pub fn view(&self) -> &StateView {
        todo!()
    }

    /// The adopted model. Panics before the first `Adopt`.
    pub fn model(&self) -> &Arc<Model> {
        todo!()
    }

    /// A scenario as it would be saved now.
    pub fn saved(&self, scenario: crate::model::id::ScenarioId) -> SavedScenario {
        let _ = scenario;
        todo!()
    }
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new()
    }
}
