//! Attributes that mean something together.

mod address;
mod monitor;
mod persistence;
mod spillover;

use serde_json::{Map, Value};

use super::Document;
use super::write::Given;
use crate::config::schema::Schema;
use crate::netscaler::error::NsError;
use crate::netscaler::resource::{Attribute, Joint, Resource};
use crate::netscaler::value::{Said, get};

pub(super) use address::{host_of, member_name, socket_of};
pub(super) use monitor::time_of;

/// The object that is looked at or written.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub document: &'a Document,
    pub resource: &'static Resource,
    pub name: &'a str,
    pub schema: &'static Schema,
}

/// Writes what `given` says of these joints.
pub(super) fn write(
    at: &At<'_>,
    table: &mut Map<String, Value>,
    joints: &[Joint],
    given: &Given,
) -> Result<(), NsError> {
    for joint in joints {
        match joint {
            Joint::Vip => address::vip(at, table, given)?,
            Joint::Host => address::host(at, table, given)?,
            Joint::ServerAddress => address::server(at, table, given)?,
            Joint::Spillover => spillover::write(at, table, given)?,
            Joint::Time => monitor::times(at, table, given)?,
            Joint::Codes => monitor::codes(at, table, given)?,
            // An expression belongs to persistence, to the method, or to both.
            Joint::Rule if joints.contains(&Joint::Persistence) => {}
            Joint::Persistence | Joint::Rule => persistence::write(at, table, given)?,
            Joint::Tls | Joint::Rebind => {}
        }
    }
    // A method can need an expression that is not said.
    persistence::check_token(at, table, given)
}

/// What NetScaler says of a joint attribute; `None`: nothing, or it has no words for it.
pub(super) fn read(at: &At<'_>, table: &Map<String, Value>, attribute: &Attribute, joint: Joint) -> Option<Said> {
    match joint {
        Joint::Vip => address::read_vip(at, table, attribute.nitro),
        Joint::Host => address::read_host(at, table, attribute.nitro),
        Joint::ServerAddress => address::read_server(at, table, attribute.nitro),
        Joint::Spillover => spillover::read(at, table, attribute.nitro),
        Joint::Time => monitor::read_time(at, table, attribute.nitro),
        Joint::Codes => monitor::read_codes(at, table),
        Joint::Persistence | Joint::Rule => persistence::read(at, table, attribute.nitro),
        Joint::Tls | Joint::Rebind => None,
    }
}

/// What a statement says of an attribute: `None` not named, `Some(None)` unset.
fn said<'a>(given: &'a Given, nitro: &str) -> Option<Option<&'a str>> {
    given.iter().find(|(attribute, _)| attribute.nitro == nitro).map(|(_, value)| value.as_deref())
}

/// Its value, where it has one that is not empty.
fn value<'a>(given: &'a Given, nitro: &str) -> Option<&'a str> {
    said(given, nitro).flatten().filter(|text| !text.is_empty())
}

/// An attribute as the command line spells it.
fn spelled(resource: &Resource, nitro: &str) -> &'static str {
    resource.attribute(nitro).map_or("", |attribute| attribute.cli)
}

// === impl At ===

impl At<'_> {
    /// A value of the object, else of the defaults of its kind.
    pub(super) fn effective<'t>(&'t self, table: &'t Map<String, Value>, path: &[&str]) -> Option<&'t Value> {
        get(table, self.schema, path).or_else(|| {
            let defaults = self.document.defaults(self.resource.section())?;
            get(defaults, self.schema, path)
        })
    }

    pub(super) fn text<'t>(&'t self, table: &'t Map<String, Value>, path: &[&str]) -> Option<&'t str> {
        self.effective(table, path)?.as_str()
    }
}
