//! `args` of a GET: what each resource takes, as NetScaler's reference has it. They choose among its objects; an
//! argument that a resource does not know is refused.

use serde_json::Value;

use super::answer::{Fault, Object};
use super::target::{Asked, Named, printable};
use crate::netscaler::resource::Resource;

/// Arguments that are no attributes to compare, or not of what is in the tables.
const OWN: &[(&str, &[&str])] = &[
    ("server", &["internal"]),
    ("service", &["all", "internal"]),
    ("servicegroup", &["includemembers"]),
    ("systemfile", &["filelocation", "filename"]),
    ("nsip", &["td", "type"]),
];
/// Attributes by which objects are chosen.
const COMPARED: &[(&str, &[&str])] =
    &[("server", &["ipaddress", "domain"]), ("lbmonitor", &["type"]), ("nsip", &["type"])];
/// Attributes of bindings that have no table of their own.
const OF_BINDINGS: &[&str] = &["name", "ip", "port", "servername", "servicename", "servicegroupname", "vservername"];
/// Of every resource under `stat`: everything is shown always.
const OF_STATISTICS: &[&str] = &["detail", "fullvalues", "clearstats"];

fn listed(table: &[(&str, &'static [&'static str])], resource: &str) -> &'static [&'static str] {
    table.iter().find(|(name, _)| *name == resource).map_or(&[], |(_, keys)| keys)
}

/// Whether objects of `resource` (in lower case) are chosen by this attribute.
fn is_compared(resource: &str, key: &str) -> bool {
    let table = Resource::find(resource);
    let is_key = table.is_some_and(|table| table.key == key);
    let of_binding = || match (resource.ends_with("_binding"), table) {
        (true, Some(table)) => table.attribute(key).is_some(),
        (true, None) => OF_BINDINGS.contains(&key),
        (false, _) => false,
    };
    is_key || listed(COMPARED, resource).contains(&key) || of_binding()
}

/// Errors: an argument that the resource does not have.
pub(super) fn check(resource: &str, asked: &Asked) -> Result<(), Fault> {
    let knows = |key: &str| listed(OWN, resource).contains(&key) || is_compared(resource, key);
    refuse_unknown(asked, knows)
}

/// The same of `stat`.
pub(super) fn check_statistics(resource: &str, asked: &Asked) -> Result<(), Fault> {
    let members = ["servicegroupname", "servername", "ip", "port"];
    refuse_unknown(asked, |key| {
        OF_STATISTICS.contains(&key) || (resource == "servicegroupmember" && members.contains(&key))
    })
}

fn refuse_unknown(asked: &Asked, knows: impl Fn(&str) -> bool) -> Result<(), Fault> {
    match asked.args.iter().find(|(key, _)| !knows(&key.to_ascii_lowercase())) {
        Some((key, _)) => Err(Fault::new(1090, printable(key))),
        None => Ok(()),
    }
}

/// Leaves those that the arguments mean. Errors: the one that is named is not among them.
pub(super) fn choose(
    resource: &str,
    objects: &mut Vec<Object>,
    name: Option<&Named>,
    asked: &Asked,
) -> Result<(), Fault> {
    let before = objects.len();
    // NetScaler has services and servers of its own; there are none here.
    if matches!(resource, "server" | "service") && asked.says_yes("internal") && !asked.says_yes("all") {
        objects.clear();
    }
    for (key, value) in &asked.args {
        let key = key.to_ascii_lowercase();
        if is_compared(resource, &key) {
            objects.retain(|object| object.get(&key).is_some_and(|found| is(found, value)));
        }
    }
    match name {
        Some(name) if before > 0 && objects.is_empty() && !resource.ends_with("_binding") => {
            Err(Fault::no_such(Resource::find(resource).map_or("name", |table| table.key), name.meant()))
        }
        _ => Ok(()),
    }
}

fn is(found: &Value, wanted: &str) -> bool {
    match found {
        Value::String(text) => text.eq_ignore_ascii_case(wanted),
        Value::Bool(yes) => wanted.parse() == Ok(*yes),
        Value::Number(number) => number.to_string() == wanted,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chosen(resource: &str, query: &str, name: Option<&str>) -> Result<usize, u32> {
        let rows = json!([
            {"monitorname": "a", "name": "a", "type": "HTTP", "ipaddress": "192.0.2.1"},
            {"monitorname": "b", "name": "b", "type": "TCP", "ipaddress": "192.0.2.2"},
        ]);
        let mut objects: Vec<Object> = serde_json::from_value(rows).unwrap();
        let asked = Asked::parse(query).unwrap();
        let name = name.map(|name| Named::parse(name).unwrap());
        check(resource, &asked).map_err(|fault| fault.code)?;
        choose(resource, &mut objects, name.as_ref(), &asked).map_err(|fault| fault.code)?;
        Ok(objects.len())
    }

    #[test]
    fn arguments_choose_and_those_that_nobody_knows_are_refused() {
        assert_eq!(chosen("lbmonitor", "args=type:http", None), Ok(1));
        assert_eq!(chosen("lbmonitor", "args=type:FTP", Some("a")), Err(258));
        assert_eq!(chosen("server", "args=ipaddress:192.0.2.2", None), Ok(1));
        assert_eq!(chosen("service", "args=internal:true", None), Ok(0));
        assert_eq!(chosen("service", "args=all:true", None), Ok(2));
        assert_eq!(chosen("service", "args=type:HTTP", None), Err(1090));
        assert_eq!(chosen("lbvserver", "args=name:b", None), Ok(1));
        let asked = Asked::parse("args=detail:yes").unwrap();
        assert_eq!(check_statistics("lbvserver", &asked), Ok(()));
        assert!(check_statistics("lbvserver", &Asked::parse("args=port:1").unwrap()).is_err());
    }
}
