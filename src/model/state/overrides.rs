//! What people set on the running appliance: state, not configuration.

use crate::model::balancing::Shares;
use crate::model::event::Act;
use crate::model::id::ObjectRef;
use crate::model::scenario::{Direction, Mode};
use crate::model::time::Wall;

/// Something a person set. Saved before it is published; survives reload, `kill -9`, restart and upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    pub value: OverrideValue,
    pub since: Wall,
    pub act: Act,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OverrideKey {
    pub object: ObjectRef,
    pub slot: Slot,
}

/// What about the object is overridden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// Administratively disabled.
    Admin,
    /// Check or service forced up or down.
    Force,
    /// Value of a switch.
    Value,
    /// Mode of a scenario's activation.
    Activate,
    /// Mode of a scenario's deactivation.
    Deactivate,
    /// Held down by `disable_primary_on_down` (set by the system, ended by a person).
    HeldDown,
    /// Shares of the groups of a vserver.
    Split,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OverrideValue {
    /// Disabled at `Override::since`. `deadline` `None` and not graceful: out at once.
    Disabled {
        deadline: Option<Wall>,
        graceful: bool,
    },
    Forced {
        up: bool,
    },
    Switch {
        value: bool,
    },
    Mode {
        mode: Mode,
        spent: bool,
        override_guard: bool,
    },
    HeldDown,
    Split {
        shares: Shares,
    },
}

// === impl Slot ===

impl Slot {
    pub const ALL: [Slot; 7] =
        [Slot::Admin, Slot::Force, Slot::Value, Slot::Activate, Slot::Deactivate, Slot::HeldDown, Slot::Split];

    pub fn word(self) -> &'static str {
        match self {
            Slot::Admin => "admin",
            Slot::Force => "force",
            Slot::Value => "value",
            Slot::Activate => "activate",
            Slot::Deactivate => "deactivate",
            Slot::HeldDown => "held_down",
            Slot::Split => "split",
        }
    }

    pub fn parse(word: &str) -> Option<Slot> {
        Slot::ALL.into_iter().find(|s| s.word() == word)
    }

    pub fn of_direction(direction: Direction) -> Slot {
        match direction {
            Direction::Activate => Slot::Activate,
            Direction::Deactivate => Slot::Deactivate,
        }
    }
}
