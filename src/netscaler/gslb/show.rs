//! Objects of GSLB as NITRO names their attributes.

use serde_json::{Map, Value};

use super::read::Book;
use super::said::{Object, Opt};
use crate::netscaler::document::Document;
use crate::netscaler::resource::{Resource, Shape};
use crate::netscaler::value::typed;

type Row = Map<String, Value>;

/// What the configuration says of a resource's objects, or of its bindings; defaults are left out. Of DNS nothing: its
/// records are read of the zones that run.
pub(in crate::netscaler) fn objects(document: &Document, resource: &'static Resource) -> Vec<Row> {
    if resource.words[0] == "dns" {
        return Vec::new();
    }
    let books = Book::of(document).books;
    let owners = match resource.words[1] {
        "site" => &books.sites,
        "service" => &books.services,
        _ => &books.vservers,
    };
    let by = match (resource.shape, resource.nitro) {
        (Shape::Lines, _) => return owners.iter().map(|object| row(resource, object)).collect(),
        (_, "gslbvserver_gslbservice_binding") => "serviceName",
        (_, "gslbvserver_domain_binding") => "domainName",
        _ => "monitorName",
    };
    let of = |owner: &Object| -> Vec<Row> {
        let bound = |options: &[Opt]| {
            let mut row = Row::from_iter([(resource.key.to_owned(), Value::from(&owner.name[..]))]);
            options.iter().for_each(|option| say(&mut row, resource, &option.key, &option.value));
            row
        };
        owner.bound(by).map(|(_, entry)| bound(&entry.options)).collect()
    };
    owners.iter().flat_map(of).collect()
}

fn row(resource: &'static Resource, object: &Object) -> Row {
    let mut row = Row::from_iter([(resource.key.to_owned(), Value::from(&object.name[..]))]);
    let words: &[&str] = match resource.nitro {
        "gslbsite" => &["siteType", "siteIPAddress"],
        "gslbservice" => &["IPAddress", "serviceType", "port"],
        _ => &["serviceType"],
    };
    words.iter().zip(&object.words).for_each(|(key, word)| say(&mut row, resource, key, word));
    object.options.iter().for_each(|option| say(&mut row, resource, &option.key, &option.value));
    row
}

fn say(row: &mut Row, resource: &'static Resource, key: &str, value: &str) {
    if let Some(attribute) = resource.attributes().find(|attribute| attribute.cli.eq_ignore_ascii_case(key)) {
        row.insert(attribute.nitro.to_owned(), typed(attribute.kind, value));
    }
}
