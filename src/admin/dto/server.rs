//! Server objects: hosts.

use super::{NoteDto, admin_word, text};
use crate::control::World;
use crate::model::id::{Kind, ServerId};
use crate::model::state::Slot;

dto! {
    /// A host that services stand on.
    pub struct ServerDto {
        pub name: String,
        /// As configured: an IP address, or a name that is looked up.
        pub address: String,
        /// `ENABLED` or `DISABLED`; disabling drains everything on it.
        pub state: String,
        /// The same word as `state`, named as for services.
        pub admin: String,
        /// Services and members of groups that stand on it.
        pub services: Vec<String>,
        /// Who disabled it.
        pub disabled_by: Option<NoteDto>,
    }
}

// === impl ServerDto ===

impl ServerDto {
    pub fn of(world: &World<'_>, id: ServerId) -> ServerDto {
        let server = &world.model.servers[id.index()];
        let disabled_by = NoteDto::find(world, Kind::Server, &server.name, Slot::Admin);
        ServerDto {
            name: text(&server.name),
            address: server.address.to_string(),
            state: admin_word(disabled_by.is_none()),
            admin: admin_word(disabled_by.is_none()),
            services: world.model.services.iter().filter(|s| s.server == Some(id)).map(|s| text(&s.name)).collect(),
            disabled_by,
        }
    }
}
