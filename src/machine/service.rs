//! The service machine: admin intent, probe state and drain are kept apart; the state word is computed.

use crate::model::condition::Truth;
use crate::model::state::{Drain, ServiceState};
use crate::model::time::Wall;

/// Where a disable came from. Each level is kept apart: enabling one does not undo another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Service,
    Group,
    Server,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceMachine {}

impl ServiceMachine {
    /// `deadline` `None` and not graceful: out at once. Graceful: out as soon as `active` is 0, at the latest at the
    /// deadline. Replaces an earlier disable of the level, also its deadline.
    pub fn disable(&mut self, level: Level, now: Wall, deadline: Option<Wall>, graceful: bool) {
        let _ = (level, now, deadline, graceful);
        todo!()
    }
    pub fn enable(&mut self, level: Level) {
        let _ = level;
        todo!()
    }
    /// Transactions or connections open right now.
    pub fn set_active(&mut self, active: u32) {
        let _ = active;
        todo!()
    }
    /// What the monitors say together, and whether one asks for a drain.
    pub fn set_probe(&mut self, probe: Truth, trofs: bool) {
        let _ = (probe, trofs);
        todo!()
    }
    pub fn set_resolved(&mut self, resolved: bool) {
        let _ = resolved;
        todo!()
    }
    /// Forces what the monitors say.
    pub fn force(&mut self, up: Option<bool>) {
        let _ = up;
        todo!()
    }
    /// Deadlines that are over end their drain: the service is out.
    pub fn advance(&mut self, now: Wall) {
        let _ = now;
        todo!()
    }
    /// The next deadline.
    pub fn deadline(&self) -> Option<Wall> {
        todo!()
    }
    pub fn state(&self) -> ServiceState {
        todo!()
    }
    /// The state without the force.
    pub fn real(&self) -> ServiceState {
        todo!()
    }
    /// With the force applied.
    pub fn probe(&self) -> Truth {
        todo!()
    }
    pub fn forced(&self) -> Option<bool> {
        todo!()
    }
    /// Disabled at no level.
    pub fn enabled(&self) -> bool {
        todo!()
    }
    pub fn active(&self) -> u32 {
        todo!()
    }
    pub fn drain(&self) -> Option<Drain> {
        todo!()
    }
}

/// One monitor of a service: weight, state, TROFS answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonitorState {
    pub weight: u32,
    pub state: Truth,
    pub trofs: bool,
}

/// What the monitors say together. Threshold 0: all must be up; otherwise the weights of those that are up must reach
/// it. A TROFS answer counts as up. Unknown where the unknown ones could still decide.
pub fn aggregate(monitors: &[MonitorState], threshold: u32) -> (Truth, bool) {
    let _ = (monitors, threshold);
    todo!()
}
