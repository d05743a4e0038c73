//! What commands say of the machine's network: entries of `[network]`, `[resolver]` and `[time]`.
//!
//! NetScaler's lines name an entry each, and the TOML has lists: of source addresses, routes, name servers, time servers.
//! A VLAN is an interface that another one carries; before one does, it is there and carried out by nobody.

mod vlan;

use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Map, Value, json};

use super::document::{Document, refuse, tolerate};
use super::error::NsError;
use super::resource::{Place, Resource};
use super::statement::Verb;
use super::value::{mask_of, prefix_of, text_of, typed};
use crate::model::net::Network;
use crate::model::network::InterfaceAddress;

type Root = Map<String, Value>;
type Row = Map<String, Value>;
type Arguments = Map<String, Value>;

const VIP: &str = "a VIP comes with the vserver that has it";
const NSIP: &str = "the address of the management is an interface's: `[network.interface.NAME] addresses`";
const OTHER: &str = "addresses of this type have no meaning here";

/// Carries out a statement. On an error the document is not to be used any more.
pub(super) fn execute(
    document: &mut Document,
    resource: &'static Resource,
    verb: Verb,
    arguments: &Arguments,
) -> Result<(), NsError> {
    check(resource, verb, arguments)?;
    let mut root = std::mem::take(document).into_root();
    let done = match resource.nitro {
        "nsip" | "nsip6" => address(&mut root, resource, verb, arguments),
        "route" | "route6" => route(&mut root, resource, verb, arguments),
        "dnsnameserver" | "ntpserver" => server(&mut root, resource, verb, arguments),
        _ => vlan::execute(&mut root, resource, verb, arguments),
    };
    *document = Document::from_root(root);
    done
}

/// What has one meaning here, or none, whatever it is said of.
fn check(resource: &'static Resource, verb: Verb, arguments: &Arguments) -> Result<(), NsError> {
    for (nitro, value) in arguments {
        let Some(attribute) = resource.attribute(nitro) else { return Err(NsError::no_such_argument(nitro)) };
        let text = text_of(value);
        let said = Some(&text[..]).filter(|_| verb != Verb::Unset && !value.is_null());
        match attribute.place {
            Place::Only(values) => tolerate(attribute, values, said)?,
            Place::Refused(why) => refuse(attribute, why, said)?,
            _ => {}
        }
    }
    let spelled = |nitro: &str| resource.attribute(nitro).map_or("", |attribute| attribute.cli);
    let is_missing = |nitro: &&&str| matches!(verb, Verb::Add | Verb::Bind) && said(arguments, nitro).is_none();
    match resource.required.iter().find(is_missing) {
        Some(nitro) => Err(NsError::missing(spelled(nitro))),
        None => Ok(()),
    }
}

/// What there is no such command for.
fn no_command(resource: &Resource, verb: Verb) -> NsError {
    NsError::no_such_command(&format!("{} {}", verb.word(), resource.said()))
}

/// The text of an argument that says something.
fn said(arguments: &Arguments, nitro: &str) -> Option<String> {
    arguments.get(nitro).map(text_of).filter(|text| !text.is_empty())
}

/// The argument that names the object.
fn named(resource: &Resource, arguments: &Arguments) -> Result<String, NsError> {
    let spelled = resource.attribute(resource.key).map_or(resource.key, |attribute| attribute.cli);
    said(arguments, resource.key).ok_or_else(|| NsError::missing(spelled))
}

/// Entries of a list, none where it is not there.
fn list<'r>(root: &'r Root, section: &str, key: &str) -> &'r [Value] {
    root.get(section).and_then(|table| table.get(key)).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The list itself, made where it is not there.
fn list_mut<'r>(root: &'r mut Root, section: &str, key: &str) -> Result<&'r mut Vec<Value>, NsError> {
    let table = root.entry(section.to_owned()).or_insert_with(|| json!({}));
    let list = table.as_object_mut().map(|table| table.entry(key.to_owned()).or_insert_with(|| json!([])));
    list.and_then(Value::as_array_mut).ok_or_else(|| NsError::invalid(key))
}

/// Takes an entry out; a list that is empty then goes.
fn take_out(root: &mut Root, section: &str, key: &str, is_it: impl Fn(&Value) -> bool) -> Result<usize, NsError> {
    let list = list_mut(root, section, key)?;
    let before = list.len();
    list.retain(|entry| !is_it(entry));
    let (taken, is_empty) = (before - list.len(), list.is_empty());
    if is_empty && let Some(table) = root.get_mut(section).and_then(Value::as_object_mut) {
        table.shift_remove(key);
        // An empty `[network]` says that VIPs are looked after.
        if table.is_empty() && section != "network" {
            root.shift_remove(section);
        }
    }
    Ok(taken)
}

fn of_family(resource: &Resource, ip: IpAddr) -> bool {
    ip.is_ipv6() == resource.nitro.ends_with('6')
}

/// `10.0.1.20` and its mask, or `2001:db8::20/64`.
fn subnet(resource: &Resource, name: &str, mask: Option<&str>, argument: &str) -> Result<InterfaceAddress, NsError> {
    let bad = || NsError::bad_value(argument, name);
    let (ip, prefix) = name.split_once('/').map_or((name, None), |(ip, prefix)| (ip, Some(prefix)));
    let ip: IpAddr = ip.parse().ok().filter(|ip| of_family(resource, *ip)).ok_or_else(bad)?;
    let prefix = match (prefix, mask) {
        (Some(prefix), _) => prefix.parse::<u8>().map_err(|_| bad())?,
        (None, Some(mask)) => prefix_of(mask).ok_or_else(|| NsError::bad_value("netmask", mask))?,
        (None, None) if ip.is_ipv6() => 64,
        (None, None) => return Err(NsError::missing("netmask")),
    };
    let text = format!("{ip}/{prefix}");
    text.parse().map_err(|why: crate::model::network::BadAddress| bad().because(&why.to_string()))
}

fn source_of(entry: &Value) -> Option<InterfaceAddress> {
    entry.as_str()?.parse().ok()
}

fn ip_of(text: &str) -> Option<IpAddr> {
    text.split('/').next()?.parse().ok()
}

/// `add ns ip 10.0.1.20 255.255.255.0 -type SNIP`
fn address(root: &mut Root, resource: &'static Resource, verb: Verb, arguments: &Arguments) -> Result<(), NsError> {
    let name = named(resource, arguments)?;
    let argument = resource.attribute(resource.key).map_or("", |attribute| attribute.cli);
    let Some(ip) = ip_of(&name) else { return Err(NsError::bad_value(argument, &name)) };
    let is_it = |entry: &Value| source_of(entry).is_some_and(|source| source.ip == ip);
    let is_there = list(root, "network", "source_addresses").iter().any(is_it);
    let kind = said(arguments, "type").unwrap_or_else(|| "SNIP".to_owned()).to_ascii_uppercase();
    let why = match &kind[..] {
        "SNIP" => None,
        "VIP" => Some(VIP),
        "NSIP" => Some(NSIP),
        _ => Some(OTHER),
    };
    if let Some(why) = why.filter(|_| matches!(verb, Verb::Add | Verb::Set)) {
        return Err(NsError::unsupported("type", &kind, why));
    }
    let mask = said(arguments, "netmask");
    match verb {
        Verb::Add if is_there => Err(NsError::exists(argument, &name)),
        Verb::Add => {
            let source = subnet(resource, &name, mask.as_deref(), argument)?;
            list_mut(root, "network", "source_addresses")?.push(source.to_string().into());
            Ok(())
        }
        _ if !is_there => Err(NsError::no_such_resource(argument, &name)),
        Verb::Remove => take_out(root, "network", "source_addresses", is_it).map(drop),
        Verb::Set if mask.is_none() => Err(NsError::new(431)),
        Verb::Set => {
            let source = subnet(resource, &name, mask.as_deref(), argument)?;
            let entries = list_mut(root, "network", "source_addresses")?;
            entries.iter_mut().filter(|entry| is_it(entry)).for_each(|entry| *entry = source.to_string().into());
            Ok(())
        }
        verb => Err(no_command(resource, verb)),
    }
}

/// What a route of the TOML leads to, and by whom.
fn route_of(entry: &Value) -> Option<(Network, IpAddr)> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    Some((text("to")?.parse().ok()?, text("via")?.parse().ok()?))
}

/// `add route 10.0.0.0 255.0.0.0 10.0.1.1`
fn route(root: &mut Root, resource: &'static Resource, verb: Verb, arguments: &Arguments) -> Result<(), NsError> {
    if !matches!(verb, Verb::Add | Verb::Remove) {
        return Err(no_command(resource, verb));
    }
    let name = named(resource, arguments)?;
    let bad = || NsError::bad_value("network", &name);
    let mask = said(arguments, "netmask");
    let text = match mask.as_deref() {
        // The one mask that is no netmask of a subnet.
        Some("0.0.0.0") => format!("{name}/0"),
        Some(mask) => format!("{name}/{}", prefix_of(mask).ok_or_else(|| NsError::bad_value("netmask", mask))?),
        None if name.contains('/') => name.clone(),
        None => return Err(NsError::missing(if resource.nitro == "route" { "netmask" } else { "network" })),
    };
    let to: Network = text.parse().map_err(|_| bad())?;
    if !of_family(resource, to.address) {
        return Err(bad());
    }
    let via = match said(arguments, "gateway") {
        None => None,
        Some(text) => {
            let via = text.parse::<IpAddr>().ok().filter(|via| of_family(resource, *via));
            Some(via.ok_or_else(|| NsError::bad_value("gateway", &text).because("an address"))?)
        }
    };
    let is_it =
        |entry: &Value| route_of(entry).is_some_and(|(other, by)| other == to && via.is_none_or(|via| via == by));
    let is_there = list(root, "network", "routes").iter().any(is_it);
    match (verb, via) {
        (Verb::Add, _) if is_there => Err(NsError::exists("network", &name)),
        (Verb::Add, Some(via)) => {
            let mut entry = json!({ "to": to.to_string(), "via": via.to_string() });
            if let Some(cost) = said(arguments, "cost") {
                let metric: u32 = cost.parse().map_err(|_| NsError::bad_value("cost", &cost))?;
                entry["metric"] = metric.into();
            }
            list_mut(root, "network", "routes")?.push(entry);
            Ok(())
        }
        (Verb::Remove, _) if is_there => take_out(root, "network", "routes", is_it).map(drop),
        (Verb::Remove, _) => Err(NsError::no_such_resource("network", &name)),
        (verb, _) => Err(no_command(resource, verb)),
    }
}

/// Of the two lists of servers: where it stands, and NetScaler's name of an entry.
fn place(resource: &Resource) -> (&'static str, &'static str) {
    match resource.nitro {
        "dnsnameserver" => ("resolver", "name_servers"),
        _ => ("time", "servers"),
    }
}

/// `add dns nameServer 10.0.0.53`, `add ntp server ntp.example.com`
fn server(root: &mut Root, resource: &'static Resource, verb: Verb, arguments: &Arguments) -> Result<(), NsError> {
    let name = said(arguments, "serverip").map_or_else(|| named(resource, arguments), Ok)?;
    let argument = resource.attribute(resource.key).map_or("", |attribute| attribute.cli);
    if resource.nitro == "dnsnameserver" && name.parse::<IpAddr>().is_err() {
        return Err(NsError::bad_value(argument, &name).because("an address"));
    }
    let is_it = |entry: &Value| entry.as_str().is_some_and(|text| is_server(text, &name));
    let (section, key) = place(resource);
    let is_there = list(root, section, key).iter().any(is_it);
    match verb {
        Verb::Add if is_there => Err(NsError::exists(argument, &name)),
        Verb::Add => {
            list_mut(root, section, key)?.push(name.into());
            Ok(())
        }
        Verb::Remove if is_there => take_out(root, section, key, is_it).map(drop),
        Verb::Remove => Err(NsError::no_such_resource(argument, &name)),
        verb => Err(no_command(resource, verb)),
    }
}

/// A name server may stand with its port.
fn is_server(text: &str, name: &str) -> bool {
    let bare = text.parse::<std::net::SocketAddr>().map(|at| at.ip().to_string());
    text.eq_ignore_ascii_case(name) || bare.is_ok_and(|ip| ip == name)
}

/// Every object of a resource, in the order of the text.
pub(super) fn objects(document: &Document, resource: &'static Resource) -> Vec<Row> {
    let root = document.root();
    match resource.nitro {
        "nsip" | "nsip6" => list(root, "network", "source_addresses")
            .iter()
            .filter_map(source_of)
            .filter(|source| of_family(resource, source.ip))
            .map(|source| {
                let (ip, mask) = (source.ip.to_string(), mask_of(source.prefix.into()).unwrap_or_default());
                match source.ip {
                    IpAddr::V4(_) => row(resource, &[("ipaddress", &ip), ("netmask", &mask)]),
                    IpAddr::V6(_) => row(resource, &[("ipv6address", &source.to_string())]),
                }
            })
            .collect(),
        "route" | "route6" => list(root, "network", "routes")
            .iter()
            .filter_map(|entry| Some((route_of(entry)?, entry.get("metric").map(text_of).unwrap_or_default())))
            .filter(|((to, _), _)| of_family(resource, to.address))
            .map(|((to, via), cost)| {
                let (network, via) = (to.address.to_string(), via.to_string());
                let mask = if to.prefix == 0 { Ipv4Addr::UNSPECIFIED.to_string() } else { mask(to.prefix) };
                match to.address {
                    IpAddr::V4(_) => {
                        let values = [("network", &network), ("netmask", &mask), ("gateway", &via), ("cost", &cost)];
                        row(resource, &values.map(|(key, value)| (key, &value[..])))
                    }
                    IpAddr::V6(_) => row(resource, &[("network", &to.to_string()), ("gateway", &via), ("cost", &cost)]),
                }
            })
            .collect(),
        "dnsnameserver" | "ntpserver" => {
            let (section, key) = place(resource);
            let server = |text: &str| match text.parse::<IpAddr>() {
                Ok(_) if resource.nitro == "ntpserver" => row(resource, &[("serverip", text)]),
                _ => row(resource, &[(resource.key, text)]),
            };
            list(root, section, key).iter().filter_map(Value::as_str).map(server).collect()
        }
        _ => vlan::objects(root, resource),
    }
}

fn mask(prefix: u8) -> String {
    mask_of(prefix.into()).unwrap_or_default()
}

/// The first object of this name.
pub(super) fn object(document: &Document, resource: &'static Resource, name: &str) -> Option<Row> {
    objects(document, resource).into_iter().find(|row| is_named(resource, row, name))
}

/// Whether there is an object of this name.
pub(super) fn has(document: &Document, resource: &Resource, name: &str) -> bool {
    Resource::find(resource.nitro).is_some_and(|resource| object(document, resource, name).is_some())
}

/// Bindings of the VLAN of this number.
pub(super) fn bindings(document: &Document, resource: &'static Resource, owner: &str) -> Vec<Row> {
    objects(document, resource).into_iter().filter(|row| is_named(resource, row, owner)).collect()
}

fn is_named(resource: &Resource, row: &Row, name: &str) -> bool {
    let texts = [resource.key, "serverip"].into_iter().filter_map(|key| row.get(key).map(text_of));
    let mut texts = texts.filter(|text| !text.is_empty());
    texts.any(|text| text.eq_ignore_ascii_case(name) || is_server(&text, name) || is_address(resource, &text, name))
}

/// An address of IPv6 with or without its prefix.
fn is_address(resource: &Resource, text: &str, name: &str) -> bool {
    resource.nitro == "nsip6" && ip_of(text).is_some() && ip_of(text) == ip_of(name)
}

/// Values by attribute; the rest has what it always has.
fn row(resource: &'static Resource, values: &[(&str, &str)]) -> Row {
    let mut row = Row::new();
    for attribute in resource.attributes() {
        let said = values.iter().find(|(nitro, _)| *nitro == attribute.nitro).map(|(_, text)| *text);
        let text = said.unwrap_or(match attribute.place {
            Place::Only(values) => values.first().copied().unwrap_or_default(),
            _ => attribute.default,
        });
        if !text.is_empty() {
            row.insert(attribute.nitro.to_owned(), typed(attribute.kind, text));
        }
    }
    row
}

#[cfg(test)]
mod tests;
