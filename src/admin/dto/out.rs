//! Who or what keeps a service from new clients, beside its monitors.

use super::NoteDto;
use crate::control::World;
use crate::model::id::{Kind, ServiceId};
use crate::model::service::Service;
use crate::model::state::Slot;

/// Who took it out, and what was disabled where it was not the service itself.
pub(super) fn disabled(world: &World<'_>, service: &Service) -> (Option<NoteDto>, Option<String>) {
    if let Some(note) = NoteDto::find(world, Kind::Service, &service.name, Slot::Admin) {
        return (Some(note), None);
    }
    let group = service.group.map(|id| (Kind::ServiceGroup, &world.model.groups[id.index()].name));
    let server = service.server.map(|id| (Kind::Server, &world.model.servers[id.index()].name));
    let found = [group, server].into_iter().flatten().find_map(|(kind, name)| {
        let note = NoteDto::find(world, kind, name, Slot::Admin)?;
        Some((note, format!("{} {name}", kind.word())))
    });
    found.unzip()
}

/// That passive health keeps it out although it is UP.
pub(super) fn ejection(world: &World<'_>, id: ServiceId) -> Option<String> {
    let entry = world.snapshot.services.get(id.index())?;
    let left = entry.live.ejector.ejected(world.now.tick)?.1.since(world.now.tick).as_secs();
    Some(format!("up, and ejected by passive health for another {left}s: it failed real traffic"))
}
