//! What the configuration keeps of GSLB objects beside the tables that are made of them.

use super::super::answer::Object;
use super::super::live::{double, put};
use crate::netscaler::document::Document;
use crate::netscaler::resource::Resource;

fn rows(document: &Document, resource: &str) -> Vec<Object> {
    Resource::find(resource).map(|resource| document.objects(resource)).unwrap_or_default()
}

fn is(row: &Object, key: &str, name: &str) -> bool {
    row.get(key).is_some_and(|value| value == name)
}

/// Lays what was said over what runs, and adds what nothing uses yet: a service that nobody probes, a vserver that
/// answers nobody.
pub(super) fn tell(document: &Document, resource: &str, key: &str, objects: &mut Vec<Object>) {
    let collection = resource.strip_suffix("_binding").filter(|owner| !owner.contains('_'));
    for row in rows(document, collection.unwrap_or(resource)) {
        let Some(name) = row.get(key).and_then(|name| name.as_str()).map(str::to_owned) else { continue };
        if let Some(object) = objects.iter_mut().find(|object| is(object, key, &name)) {
            if collection.is_none() {
                // Where it is probed is told of what runs.
                object.extend(row.into_iter().filter(|(key, _)| key != "ipaddress"));
            }
            continue;
        }
        objects.push(match collection {
            None => idle(document, resource, &name, row),
            Some(owner) => collected(document, owner, key, &name),
        });
    }
}

/// The objects that nothing uses yet: those that are not among what runs.
pub(super) fn unused(document: &Document, resource: &str, key: &str, objects: &[Object]) -> Vec<(String, Object)> {
    let of = |row: Object| {
        let name = row.get(key)?.as_str()?.to_owned();
        let runs = objects.iter().any(|object| is(object, key, &name));
        (!runs).then(|| (name.clone(), idle(document, resource, &name, row)))
    };
    rows(document, resource).into_iter().filter_map(of).collect()
}

/// Services that are aliases by their names, which no record says.
pub(super) fn call(document: &Document, objects: &mut [Object]) {
    let text = |row: &Object, key: &str| row.get(key).and_then(|value| value.as_str()).map(str::to_owned);
    let aliases = rows(document, "gslbservice").into_iter().filter_map(|row| {
        let data = format!("{}.", text(&row, "cnameentry")?.trim_end_matches('.'));
        Some((data, text(&row, "servicename")?))
    });
    let aliases: Vec<(String, String)> = aliases.collect();
    let rename = |object: &mut Object| {
        let name = text(object, "servicename");
        let found = aliases.iter().find(|(data, _)| Some(data) == name.as_ref());
        if let Some((_, name)) = found {
            put(object, "servicename", name.clone());
        }
    };
    for object in objects {
        rename(object);
        let members = object.get_mut("gslbvserver_gslbservice_binding").and_then(|list| list.as_array_mut());
        members.into_iter().flatten().filter_map(|member| member.as_object_mut()).for_each(rename);
    }
}

fn idle(document: &Document, resource: &str, name: &str, row: Object) -> Object {
    let mut object = row;
    match resource {
        "gslbservice" => {
            put(&mut object, "svrstate", "UNKNOWN");
            put(&mut object, "svreffgslbstate", "UNKNOWN");
            put(&mut object, "state", "ENABLED");
        }
        "gslbvserver" => {
            let members = bound(document, "gslbvserver_gslbservice_binding", "name", name);
            put(&mut object, "state", "ENABLED");
            put(&mut object, "curstate", "DOWN");
            put(&mut object, "status", 1);
            put(&mut object, "health", double(0));
            put(&mut object, "totalservices", double(members.len()));
            put(&mut object, "activeservices", double(0));
        }
        _ => {}
    }
    object
}

fn collected(document: &Document, owner: &str, key: &str, name: &str) -> Object {
    let mut object = Object::new();
    put(&mut object, key, name);
    let bindings = Resource::find(owner).into_iter().flat_map(Resource::bindings);
    for binding in bindings {
        let list = bound(document, binding.nitro, key, name);
        if !list.is_empty() {
            object.insert(binding.nitro.to_owned(), list.into_iter().map(serde_json::Value::Object).collect());
        }
    }
    object
}

/// What is bound to an object that nothing uses yet.
pub(super) fn bound(document: &Document, resource: &str, key: &str, owner: &str) -> Vec<Object> {
    rows(document, resource).into_iter().filter(|row| is(row, key, owner)).collect()
}

/// Adds the names of objects that do not run.
pub(super) fn names(document: &Document, resource: &str, key: &str, names: &mut Vec<String>) {
    for row in rows(document, resource) {
        let name = row.get(key).and_then(|name| name.as_str());
        if let Some(name) = name.filter(|name| !names.iter().any(|known| known == name)) {
            names.push(name.to_owned());
        }
    }
}
