//! What a record's check looks at, as a GSLB service.

use super::super::live;
use crate::control::World;
use crate::model::check::Probe;
use crate::model::condition::{Subject, Truth};
use crate::model::id::{ServiceId, VserverId};
use crate::model::zone::Record;

/// What a record's check looks at.
pub(super) enum Watched {
    Service(ServiceId),
    /// A check, or another term, by its value.
    Value(String, Truth, Option<VserverId>),
    Nothing,
}

pub(super) fn watched(world: &World<'_>, record: &Record) -> Watched {
    let Some(id) = record.check else { return Watched::Nothing };
    let term = world.model.watched_term(id);
    let value = world.view.watched.get(id.index()).copied().unwrap_or_default();
    match term.subject {
        Subject::Service(id, _) if !term.negated => Watched::Service(id),
        Subject::Check(id) if !term.negated => {
            let check = world.model.check(id);
            let of = match &check.probe {
                Probe::Derived { term, .. } => vserver_of(world, term),
                _ => None,
            };
            Watched::Value(check.name.to_string(), value, of)
        }
        Subject::Vserver(id, _) => Watched::Value(term.text.to_string(), value, Some(id)),
        _ => Watched::Value(term.text.to_string(), value, None),
    }
}

/// `vs:web`, `vs:web.primary`
fn vserver_of(world: &World<'_>, term: &str) -> Option<VserverId> {
    let name = term.strip_prefix("vs:")?;
    let shorter = || world.model.vserver_id(name.rsplit_once('.')?.0);
    world.model.vserver_id(name).or_else(shorter)
}

pub(super) fn state(world: &World<'_>, record: &Record) -> &'static str {
    if !record.enabled {
        return "OUT OF SERVICE";
    }
    match watched(world, record) {
        Watched::Service(id) => world.view.services[id.index()].state.long_word(),
        Watched::Value(_, value, _) => live::truth(value),
        Watched::Nothing => "UP",
    }
}

pub(super) fn service_name(world: &World<'_>, record: &Record) -> String {
    match watched(world, record) {
        Watched::Service(id) => world.model.service(id).name.to_string(),
        Watched::Value(name, ..) => name,
        Watched::Nothing => record.data.to_string(),
    }
}

pub(super) fn protocol(world: &World<'_>, record: &Record) -> &'static str {
    match watched(world, record) {
        Watched::Service(id) => world.model.service(id).settings.protocol.word(),
        Watched::Value(_, _, Some(id)) => world.model.vserver(id).protocol.word(),
        _ => "ANY",
    }
}

/// Where it is probed or listens: address and port; the record's data and 0 where nobody says.
pub(super) fn place(world: &World<'_>, record: &Record) -> (String, u16) {
    match watched(world, record) {
        Watched::Service(id) => live::endpoint(world, id),
        Watched::Value(_, _, Some(id)) => match world.model.vserver(id).address {
            Some(address) => (address.ip().to_string(), address.port()),
            None => (record.data.to_string(), 0),
        },
        _ => (record.data.to_string(), 0),
    }
}
