//! The service machine: admin intent, probe state and drain are kept apart; the state word is computed.
//!
//! A service can be disabled at three levels (itself, its group, its server), each with its own drain, because enabling
//! a server must not bring back a service that somebody took out for another reason. The state word is never stored: a
//! word that is computed from its causes cannot disagree with them.
//!
//! # State chart of a level
//!
//! | from | event | condition | to |
//! |---|---|---|---|
//! | enabled | disable | no deadline, not graceful | out |
//! | enabled | disable | graceful, nothing active | out |
//! | enabled | disable | deadline over already | out |
//! | enabled | disable | otherwise | draining |
//! | draining | disable | as from enabled | out or draining: the second disable replaces the first |
//! | draining | nothing active | graceful | out |
//! | draining | time | deadline reached | out |
//! | out | disable | | out: it is where that leads |
//! | any | enable | | enabled |
//!
//! A drain that has completed stays completed: a level is out although a persistent client should come back later.
//!
//! # State word
//!
//! The first row that applies. Probe is what the monitors say together, or what a person forced them to say.
//!
//! | levels | resolves | probe | monitor asks for a drain | state |
//! |---|---|---|---|---|
//! | one is out | | | | OFS |
//! | one is draining | | down | | TROFS_DOWN |
//! | one is draining | | up, unknown | | TROFS |
//! | enabled | no | | | UNKNOWN |
//! | enabled | yes | unknown | | UNKNOWN |
//! | enabled | yes | down | | DOWN |
//! | enabled | yes | up | yes | TROFS |
//! | enabled | yes | up | no | UP |
//!
//! So TROFS becomes TROFS_DOWN when the probe fails and TROFS again when it recovers, under the same deadline; and a
//! service that only its monitor drains becomes DOWN, not TROFS_DOWN, when the probe fails: the answer that asked for
//! the drain has stopped, nothing is left that would take it out of service, and a passed probe brings it back UP as
//! after any other failure.
//!
//! # Where NetScaler's documentation is silent
//!
//! Chosen here, each for the stated reason: the recovery of a probe in TROFS_DOWN leads back to TROFS (the mirror of the
//! documented edge). Enable works in every state and forgets the timer. A second disable replaces the first, deadline
//! and all; one of a level that is out changes nothing (clients repeat themselves). An administrator's drain and a
//! monitor's may overlap: the administrator's deadline decides. A monitor's drain has no timer. A DOWN service that is
//! disabled gracefully is out once it is idle. A draining service without a probe result counts as TROFS.

mod monitors;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

pub use monitors::{MonitorState, aggregate};

use crate::model::condition::Truth;
use crate::model::state::{Drain, DrainKind, ServiceState};
use crate::model::time::Wall;

/// Where a disable came from. Each level is kept apart: enabling one does not undo another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Service,
    Group,
    Server,
}

/// One service at run time. A new one is enabled, resolves, and has heard nothing of its monitors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceMachine {
    /// By [`Level`].
    disabled: [Option<Disabled>; 3],
    active: u32,
    probe: Truth,
    /// When a monitor began to ask for a drain.
    trofs_since: Option<Wall>,
    unresolved: bool,
    forced: Option<bool>,
    /// The latest time it was told.
    clock: Wall,
}

/// A level that is not enabled.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Disabled {
    since: Wall,
    deadline: Option<Wall>,
    graceful: bool,
    out: bool,
}

// === impl ServiceMachine ===

impl ServiceMachine {
    /// `deadline` `None` and not graceful: out at once. Graceful: out as soon as `active` is 0, at the latest at the
    /// deadline. Replaces an earlier disable of the level, also its deadline; a level that is out stays out. A deadline
    /// that is not in the future is over (a restart finds such); a delay of zero is `None`.
    pub fn disable(&mut self, level: Level, now: Wall, deadline: Option<Wall>, graceful: bool) {
        self.advance(now);
        let slot = &mut self.disabled[level as usize];
        let out = slot.is_some_and(|earlier| earlier.out) || (deadline.is_none() && !graceful);
        *slot = Some(Disabled { since: now, deadline, graceful, out });
        self.complete(now);
    }

    pub fn enable(&mut self, level: Level) {
        self.disabled[level as usize] = None;
    }

    /// Whether a disable at this level has run its course: out of service, whatever the other levels say.
    pub fn is_out(&self, level: Level) -> bool {
        self.disabled[level as usize].is_some_and(|disabled| disabled.out)
    }

    /// Transactions or connections open right now. None open: a graceful drain is complete.
    pub fn set_active(&mut self, active: u32) {
        self.active = active;
        self.complete(self.clock);
    }

    /// What the monitors say together, and whether one asks for a drain. Call [`ServiceMachine::advance`] before, so
    /// that a drain which begins here begins at the right time.
    pub fn set_probe(&mut self, probe: Truth, trofs: bool) {
        self.probe = probe;
        self.trofs_since = (trofs && probe.is_true()).then(|| self.trofs_since.unwrap_or(self.clock));
    }

    /// Whether the name of its server resolves. True at first.
    pub fn set_resolved(&mut self, resolved: bool) {
        self.unresolved = !resolved;
    }

    /// Forces what the monitors say, a monitor's drain included; `None` lets them speak again.
    pub fn force(&mut self, up: Option<bool>) {
        self.forced = up;
    }

    /// Deadlines that are over end their drain: the service is out.
    pub fn advance(&mut self, now: Wall) {
        // Wall time may be set back; what is complete stays complete, and what runs ends by the new clock.
        self.clock = now;
        self.complete(now);
    }

    /// The next deadline.
    pub fn deadline(&self) -> Option<Wall> {
        self.draining().filter_map(|drain| drain.deadline).min()
    }

    pub fn state(&self) -> ServiceState {
        self.state_under(self.forced)
    }

    /// The state without the force.
    pub fn real(&self) -> ServiceState {
        self.state_under(None)
    }

    /// With the force applied.
    pub fn probe(&self) -> Truth {
        self.forced.map_or(self.probe, Truth::from)
    }

    pub fn forced(&self) -> Option<bool> {
        self.forced
    }

    /// Disabled at no level.
    pub fn enabled(&self) -> bool {
        self.disabled.iter().all(Option::is_none)
    }

    pub fn active(&self) -> u32 {
        self.active
    }

    /// Why it is draining: the level that ends first (known deadlines before open ends), else the monitor. `None`
    /// unless the state is TROFS or TROFS_DOWN.
    pub fn drain(&self) -> Option<Drain> {
        if !self.state().is_draining() {
            return None;
        }
        let admin = self.draining().min_by_key(|drain| (drain.deadline.is_none(), drain.deadline));
        match admin {
            Some(drain) => Some(Drain { kind: drain.kind(), started_at: drain.since, deadline: drain.deadline }),
            None => self.trofs_since.map(|since| Drain { kind: DrainKind::Monitor, started_at: since, deadline: None }),
        }
    }

    fn state_under(&self, forced: Option<bool>) -> ServiceState {
        let probe = forced.map_or(self.probe, Truth::from);
        let monitor_drains = forced.is_none() && self.trofs_since.is_some();
        if self.disabled.iter().flatten().any(|level| level.out) {
            return ServiceState::OutOfService;
        }
        if !self.enabled() {
            return match probe {
                Truth::False => ServiceState::TrofsDown,
                Truth::Unknown | Truth::True => ServiceState::Trofs,
            };
        }
        match probe {
            _ if self.unresolved => ServiceState::Unknown,
            Truth::Unknown => ServiceState::Unknown,
            Truth::False => ServiceState::Down,
            Truth::True if monitor_drains => ServiceState::Trofs,
            Truth::True => ServiceState::Up,
        }
    }

    /// The levels whose drain has not completed.
    fn draining(&self) -> impl Iterator<Item = &Disabled> {
        self.disabled.iter().flatten().filter(|level| !level.out)
    }

    fn complete(&mut self, now: Wall) {
        let idle = self.active == 0;
        for level in self.disabled.iter_mut().flatten() {
            level.out |= level.graceful && idle || level.deadline.is_some_and(|deadline| deadline <= now);
        }
    }
}

// === impl Disabled ===

impl Disabled {
    fn kind(&self) -> DrainKind {
        match (self.deadline, self.graceful) {
            (Some(_), true) => DrainKind::TimedGraceful,
            (Some(_), false) => DrainKind::Timed,
            (None, _) => DrainKind::Graceful,
        }
    }
}
