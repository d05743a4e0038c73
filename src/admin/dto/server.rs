//! Server objects: hosts.

use std::ops::Range;

use super::{NoteDto, ResolutionDto, admin_word, text};
use crate::control::World;
use crate::model::check::Host;
use crate::model::id::{Kind, Name, ServerId};
use crate::model::lookup::Question;
use crate::model::state::Slot;

dto! {
    /// A host that services stand on.
    pub struct ServerDto {
        pub name: String,
        /// As configured: an IP address, or a name that is looked up.
        pub address: String,
        /// What DNS says about the name; null for an address, and for a name that nothing stands on.
        pub resolution: Option<ResolutionDto>,
        /// `ENABLED` or `DISABLED`; disabling drains everything on it.
        pub state: String,
        /// The same word as `state`, named as for services.
        pub admin: String,
        /// Services and members of groups that stand on it.
        pub services: Vec<String>,
        /// Who disabled it.
        pub disabled_by: Option<NoteDto>,
        /// What somebody wrote beside it in the configuration.
        pub comment: Option<String>,
    }
}

// === impl ServerDto ===

impl ServerDto {
    pub fn of(world: &World<'_>, id: ServerId) -> ServerDto {
        let at = id.index();
        ServerDto::many(world, at..at + 1).pop().expect("one place, one server")
    }

    /// Those at these places of the model, in one walk over the services.
    pub fn many(world: &World<'_>, range: Range<usize>) -> Vec<ServerDto> {
        let mut services: Vec<Vec<String>> = vec![Vec::new(); range.len()];
        for service in &world.model.services {
            let at = service.server.and_then(|s| s.index().checked_sub(range.start));
            if let Some(names) = at.and_then(|at| services.get_mut(at)) {
                names.push(text(&service.name));
            }
        }
        range.zip(services).map(|(at, services)| ServerDto::with(world, ServerId::from_index(at), services)).collect()
    }

    fn with(world: &World<'_>, id: ServerId, services: Vec<String>) -> ServerDto {
        let server = &world.model.servers[id.index()];
        let disabled_by = NoteDto::find(world, Kind::Server, &server.name, Slot::Admin);
        ServerDto {
            name: text(&server.name),
            address: server.address.to_string(),
            resolution: match &server.address {
                Host::Name(name) => {
                    let question = Question { name: Name::clone(name), query: server.lookup.query };
                    ResolutionDto::of(world, &question)
                }
                Host::Ip(_) => None,
            },
            state: admin_word(disabled_by.is_none()),
            admin: admin_word(disabled_by.is_none()),
            services,
            disabled_by,
            comment: server.comment.as_deref().map(text),
        }
    }
}
