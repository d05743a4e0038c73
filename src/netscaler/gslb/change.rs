//! Commands on sites, services and vservers of GSLB, and on what is bound to them.

mod binding;
mod service;
mod site;
mod vserver;

use serde_json::{Map, Value};

use super::read::Book;
use super::{Books, records};
use crate::netscaler::document::Document;
use crate::netscaler::error::NsError;
use crate::netscaler::resource::{Attribute, Kind, Place, Resource};
use crate::netscaler::statement::Verb;
use crate::netscaler::table;
use crate::netscaler::value::{same, text_of};

type Arguments = Map<String, Value>;
/// What a command says: an attribute, and its value; `None`: as if nothing had been said.
pub(super) type Given = Vec<(&'static Attribute, Option<String>)>;

/// NetScaler's types of GSLB vservers and services.
const TYPES: [&str; 18] = [
    "HTTP",
    "FTP",
    "TCP",
    "UDP",
    "SSL",
    "SSL_BRIDGE",
    "SSL_TCP",
    "NNTP",
    "ANY",
    "SIP_UDP",
    "SIP_TCP",
    "SIP_SSL",
    "RADIUS",
    "RDP",
    "RTSP",
    "MYSQL",
    "MSSQL",
    "ORACLE",
];

/// Carries out a command on GSLB or DNS. On an error nothing is changed.
pub(in crate::netscaler) fn execute(
    document: &mut Document,
    resource: &'static Resource,
    verb: Verb,
    arguments: &Arguments,
) -> Result<(), NsError> {
    let refuse = || Err(NsError::no_such_command(&format!("{} {}", verb.word(), resource.said())));
    if verb == Verb::Rename {
        return refuse();
    }
    let name = named(resource, arguments)?;
    let given = given(resource, arguments, verb)?;
    if resource.words[0] == "dns" {
        let book = Book::of(document);
        let mut rest = book.rest.clone();
        records::execute(&mut rest, resource, verb, &name, &given).unwrap_or_else(refuse)?;
        // A zone that comes or goes can be that of a domain.
        *document = book.replaced(document, &rest, &book.books)?;
        return Ok(());
    }
    if resource.nitro == "gslbsite" {
        return site::site(document, verb, &name, &given).unwrap_or_else(refuse);
    }
    let book = Book::of(document);
    if let Some(place) = book.foreign.get(&name)
        && (resource.words[1] == "vserver" || resource.owner().is_some_and(|owner| owner.nitro == "gslbvserver"))
    {
        let why = format!("{place} says more than NetScaler has words for: change it in the configuration");
        return Err(NsError::with(257, &["name", &name]).because(&why));
    }
    let mut books = book.books.clone();
    let mut change = Change { document, book: &book, books: &mut books, resource, name: &name, given: &given };
    match (resource.nitro, verb) {
        ("gslbservice", Verb::Add) => change.add_service()?,
        ("gslbservice", Verb::Set | Verb::Unset) => change.set_service()?,
        ("gslbservice", Verb::Remove) => change.remove_service()?,
        ("gslbvserver", Verb::Add) => change.add_vserver()?,
        ("gslbvserver", Verb::Set | Verb::Unset) => change.set_vserver()?,
        ("gslbvserver", Verb::Remove) => change.remove_vserver()?,
        (_, Verb::Add | Verb::Set | Verb::Bind) if resource.is_binding() => change.bind()?,
        (_, Verb::Remove | Verb::Unbind | Verb::Unset) if resource.is_binding() => change.unbind()?,
        _ => return refuse(),
    }
    *document = book.replaced(document, &book.rest, &books)?;
    Ok(())
}

/// Carries out a command that adds a record to a zone that is there, where that is all it does. `false`: nothing is
/// changed; [`execute`] carries it out or tells why not.
pub(in crate::netscaler) fn append(
    root: &mut Map<String, Value>,
    resource: &'static Resource,
    verb: Verb,
    arguments: &Arguments,
) -> bool {
    if verb != Verb::Add || resource.words[0] != "dns" {
        return false;
    }
    let (Ok(name), Ok(given)) = (named(resource, arguments), given(resource, arguments, verb)) else { return false };
    records::append(root, resource, &name, &given).is_some()
}

fn spelled(resource: &Resource) -> &'static str {
    resource.attribute(resource.key).map_or("name", |attribute| attribute.cli)
}

fn named(resource: &'static Resource, arguments: &Arguments) -> Result<String, NsError> {
    match arguments.get(resource.key).map(text_of) {
        Some(name) if !name.is_empty() => Ok(name),
        _ => Err(NsError::missing(spelled(resource))),
    }
}

/// What is said, beside the name. What has no place here and is not what NetScaler has anyway is refused by name.
fn given(resource: &'static Resource, arguments: &Arguments, verb: Verb) -> Result<Given, NsError> {
    let mut given = Given::new();
    for (nitro, value) in arguments.iter().filter(|(nitro, _)| **nitro != *resource.key) {
        let Some(attribute) = resource.attribute(nitro) else { return Err(NsError::no_such_argument(nitro)) };
        let text = match value {
            // Strings of a TXT record may hold blanks.
            Value::Array(items) if attribute.kind == Kind::List => {
                items.iter().map(text_of).collect::<Vec<_>>().join(&records::BETWEEN.to_string())
            }
            other => text_of(other),
        };
        let said = (verb != Verb::Unset && !value.is_null() && !text.is_empty()).then_some(text);
        match (attribute.place, &said) {
            (Place::Only(values), Some(text)) if !values.iter().any(|known| same(known, text)) => {
                return Err(NsError::unsupported(attribute.cli, text, table::why_only_of_gslb(attribute.nitro)));
            }
            (Place::Refused(why), Some(text)) => return Err(NsError::unsupported(attribute.cli, text, why)),
            _ => given.push((attribute, said)),
        }
    }
    if matches!(verb, Verb::Add | Verb::Bind) {
        for needed in resource.required.iter().filter_map(|needed| resource.attribute(needed)) {
            if !given.iter().any(|(attribute, said)| attribute.nitro == needed.nitro && said.is_some()) {
                return Err(NsError::missing(needed.cli));
            }
        }
    }
    if matches!(verb, Verb::Set | Verb::Unset) && given.is_empty() {
        return Err(NsError::new(431));
    }
    Ok(given)
}

pub(super) fn value<'a>(given: &'a Given, nitro: &str) -> Option<&'a str> {
    given.iter().find(|(attribute, _)| attribute.nitro == nitro).and_then(|(_, said)| said.as_deref())
}

/// Names stand in conditions, where these letters mean something.
fn free_of(name: &str, argument: &str, letters: &str) -> Result<(), NsError> {
    match name.chars().find(|letter| letters.contains(*letter)) {
        Some(letter) => {
            Err(NsError::unsupported(argument, name, &format!("`{letter}` means something in a condition")))
        }
        None => Ok(()),
    }
}

/// A command while it is carried out on the books.
struct Change<'a> {
    document: &'a Document,
    book: &'a Book,
    books: &'a mut Books,
    resource: &'static Resource,
    name: &'a str,
    given: &'a Given,
}

// === impl Change ===

impl Change<'_> {
    fn value(&self, nitro: &str) -> Option<&str> {
        value(self.given, nitro)
    }

    fn unknown(&self) -> NsError {
        let owner = self.resource.owner().unwrap_or(self.resource);
        NsError::no_such_resource(spelled(owner), self.name)
    }

    fn kind(&self, kind: &str) -> Result<String, NsError> {
        let kind = kind.to_ascii_uppercase();
        if TYPES.contains(&&kind[..]) { Ok(kind) } else { Err(NsError::bad_value("serviceType", &kind)) }
    }
}
