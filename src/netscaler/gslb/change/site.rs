//! Sites: data centres, and the one of this box.

use std::net::IpAddr;

use serde_json::{Map, Value};

use super::super::export::NO_ADDRESS;
use super::super::read::Book;
use super::super::said::Object;
use super::{Given, free_of, value};
use crate::netscaler::document::{Document, check_name};
use crate::netscaler::error::NsError;
use crate::netscaler::resource::Place;
use crate::netscaler::statement::Verb;

/// `None`: there is no such command.
pub(super) fn site(document: &mut Document, verb: Verb, name: &str, given: &Given) -> Option<Result<(), NsError>> {
    let there = document.table("datacenter", name).is_some();
    let unknown = || NsError::no_such_resource("siteName", name);
    Some(match verb {
        Verb::Add if there => Err(NsError::exists("siteName", name)),
        Verb::Add => add_site(document, name, given),
        _ if !there => Err(unknown()),
        Verb::Remove => remove_site(document, name),
        Verb::Set | Verb::Unset => match given.iter().find(|(attribute, _)| matches!(attribute.place, Place::Line)) {
            Some((attribute, _)) => Err(NsError::with(257, &[attribute.cli])),
            None => Ok(()),
        },
        _ => return None,
    })
}

fn add_site(document: &mut Document, name: &str, given: &Given) -> Result<(), NsError> {
    check_name(name)?;
    free_of(name, "siteName", "@#")?;
    let address = value(given, "siteipaddress").unwrap_or_default();
    address.parse::<IpAddr>().map_err(|_| NsError::bad_value("siteIPAddress", address))?;
    let is_other = |public: &&str| *public != address && *public != NO_ADDRESS;
    if let Some(public) = value(given, "publicip").filter(is_other) {
        return Err(NsError::unsupported("publicIP", public, "sites tell each other nothing here"));
    }
    let kind = value(given, "sitetype").unwrap_or("REMOTE").to_ascii_uppercase();
    let mut root = document.root().clone();
    match &kind[..] {
        "REMOTE" => {}
        "LOCAL" => {
            let own = root.get("appliance").and_then(|appliance| appliance.get("site")?.as_str());
            if let Some(site) = own.filter(|site| *site != name) {
                return Err(NsError::unsupported("siteType", "LOCAL", &format!("this box stands in {site}")));
            }
            put(&mut root, "appliance", "site", name.into());
        }
        other => return Err(NsError::bad_value("siteType", other)),
    }
    put(&mut root, "datacenter", name, Value::Object(Map::new()));
    let added = Document::from_root(root);
    let book = Book::of(&added);
    let mut books = book.books.clone();
    let address = Some(address.to_owned()).filter(|address| address != NO_ADDRESS);
    books.sites.put(Object::new(name, std::iter::once(kind).chain(address).collect()));
    *document = book.replaced(&added, &book.rest, &books)?;
    Ok(())
}

fn put(root: &mut Map<String, Value>, section: &str, key: &str, value: Value) {
    if let Value::Object(table) = root.entry(section.to_owned()).or_insert_with(|| Value::Object(Map::new())) {
        table.insert(key.to_owned(), value);
    }
}

fn remove_site(document: &mut Document, name: &str) -> Result<(), NsError> {
    let book = Book::of(document);
    if let Some(service) = book.books.services.iter().find(|service| service.value("siteName") == Some(name)) {
        return Err(NsError::in_use("siteName", name, &format!("gslb service {}", service.name)));
    }
    let mut books = book.books.clone();
    books.sites.remove(name);
    let mut root = book.replaced(document, &book.rest, &books)?.into_root();
    if let Some(Value::Object(sites)) = root.get_mut("datacenter") {
        sites.shift_remove(name);
        if sites.is_empty() {
            root.shift_remove("datacenter");
        }
    }
    if let Some(Value::Object(appliance)) = root.get_mut("appliance")
        && appliance.get("site").and_then(Value::as_str) == Some(name)
    {
        appliance.shift_remove("site");
        if appliance.is_empty() {
            root.shift_remove("appliance");
        }
    }
    *document = Document::from_root(root);
    Ok(())
}
