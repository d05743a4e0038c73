//! Switches that people flip.

use super::{NoteDto, text};
use crate::control::World;
use crate::model::id::{Kind, SwitchId};
use crate::model::state::Slot;

dto! {
    /// A manual switch, `sw:NAME` in conditions.
    pub struct SwitchDto {
        pub name: String,
        pub value: bool,
        /// The value where nobody has set it.
        pub initial: bool,
        /// The data centre whose maintenance it is.
        pub maintenance_of: Option<String>,
        /// Who set it; null where it stands at its initial value.
        pub set_by: Option<NoteDto>,
    }
}

// === impl SwitchDto ===

impl SwitchDto {
    pub fn of(world: &World<'_>, id: SwitchId) -> SwitchDto {
        let switch = &world.model.switches[id.index()];
        SwitchDto {
            name: text(&switch.name),
            value: world.view.switches[id.index()],
            initial: switch.initial,
            maintenance_of: switch.maintenance_of.map(|d| text(&world.model.datacenters[d.index()].name)),
            set_by: NoteDto::find(world, Kind::Switch, &switch.name, Slot::Value),
        }
    }
}
