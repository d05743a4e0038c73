//! VLANs: interfaces of `[network.interface]` that another one carries.

use serde_json::{Map, Value, json};

use super::{Arguments, Root, Row, mask, named, no_command, row, said, subnet};
use crate::model::network::{Interface, InterfaceAddress};
use crate::netscaler::error::NsError;
use crate::netscaler::resource::Resource;
use crate::netscaler::statement::Verb;
use crate::netscaler::value::{is_true, text_of};

type Tables = Map<String, Value>;

pub(super) fn execute(
    root: &mut Root,
    resource: &'static Resource,
    verb: Verb,
    arguments: &Arguments,
) -> Result<(), NsError> {
    let text = named(resource, arguments)?;
    let bad = || NsError::bad_value("id", &text).because("1 to 4094");
    let id = text.parse::<u16>().ok().filter(|id| (1..=4094).contains(id)).ok_or_else(bad)?;
    let found = with_id(root, id);
    if found.len() > 1 {
        let why = format!("{} are this VLAN: change them in the TOML", found.join(" and "));
        return Err(NsError::unsupported("id", &text, &why));
    }
    let found = found.into_iter().next();
    match (resource.nitro, verb, found) {
        ("vlan", Verb::Add, Some(_)) => Err(NsError::exists("id", &text)),
        ("vlan", Verb::Add, None) => add(root, id, arguments),
        ("vlan", Verb::Remove, Some(name)) => {
            tables(root)?.shift_remove(&name);
            Ok(())
        }
        (_, Verb::Remove | Verb::Bind | Verb::Unbind | Verb::Add, None) => Err(NsError::no_such_resource("id", &text)),
        ("vlan_interface_binding", Verb::Bind | Verb::Add, Some(name)) => carry(root, &name, arguments),
        ("vlan_interface_binding", Verb::Unbind | Verb::Remove, Some(name)) => put_down(root, &name, arguments),
        ("vlan_nsip_binding", Verb::Bind | Verb::Add, Some(name)) => address(root, &name, arguments, true),
        ("vlan_nsip_binding", Verb::Unbind | Verb::Remove, Some(name)) => address(root, &name, arguments, false),
        (_, verb, _) => Err(no_command(resource, verb)),
    }
}

fn tables(root: &mut Root) -> Result<&mut Tables, NsError> {
    let network = root.entry("network".to_owned()).or_insert_with(|| json!({}));
    let tables = network.as_object_mut().map(|n| n.entry("interface".to_owned()).or_insert_with(|| json!({})));
    tables.and_then(Value::as_object_mut).ok_or_else(|| NsError::invalid("network"))
}

fn all(root: &Root) -> impl Iterator<Item = (&str, &Value)> {
    let tables = root.get("network").and_then(|network| network.get("interface")).and_then(Value::as_object);
    tables.into_iter().flatten().map(|(name, table)| (name.as_str(), table))
}

fn id_of(table: &Value) -> Option<u64> {
    table.get("vlan")?.get("id")?.as_u64()
}

fn carrier(table: &Value) -> Option<&str> {
    table.get("vlan")?.get("on")?.as_str()
}

fn with_id(root: &Root, id: u16) -> Vec<String> {
    all(root).filter(|(_, table)| id_of(table) == Some(id.into())).map(|(name, _)| name.to_owned()).collect()
}

/// Called by its alias, else `vlan200`.
fn add(root: &mut Root, id: u16, arguments: &Arguments) -> Result<(), NsError> {
    let name = said(arguments, "aliasname").unwrap_or_else(|| format!("vlan{id}"));
    Interface::check_name(&name).map_err(|why| NsError::bad_value("aliasName", &name).because(&why))?;
    if all(root).any(|(known, _)| known == name) {
        return Err(NsError::exists("aliasName", &name));
    }
    tables(root)?.insert(name, json!({ "vlan": { "id": id } }));
    Ok(())
}

fn carry(root: &mut Root, name: &str, arguments: &Arguments) -> Result<(), NsError> {
    let on = said(arguments, "ifnum").unwrap_or_default();
    if said(arguments, "tagged").and_then(|text| is_true(&text)) != Some(true) {
        let why = "say `-tagged`: what comes without a tag belongs to the interface itself";
        return Err(NsError::unsupported("ifnum", &on, why));
    }
    if !all(root).any(|(known, _)| known == on) {
        let why =
            format!("only an interface of `[network.interface]` carries one; write `[network.interface.{on}]` first");
        return Err(NsError::no_such_resource("ifnum", &on).because(&why));
    }
    let Some(vlan) = tables(root)?.get_mut(name).and_then(|table| table.get_mut("vlan")?.as_object_mut()) else {
        return Err(NsError::invalid("id"));
    };
    match vlan.get("on").and_then(Value::as_str) {
        Some(other) if other == on => Err(NsError::exists("ifnum", &on)),
        Some(other) => {
            let why = format!("{other} carries it, and one interface does: unbind that one first");
            Err(NsError::unsupported("ifnum", &on, &why))
        }
        None => {
            vlan.insert("on".into(), on.into());
            Ok(())
        }
    }
}

fn put_down(root: &mut Root, name: &str, arguments: &Arguments) -> Result<(), NsError> {
    let on = said(arguments, "ifnum").unwrap_or_default();
    let Some(table) = tables(root)?.get_mut(name) else { return Err(NsError::invalid("id")) };
    if carrier(table) != Some(&on[..]) {
        return Err(NsError::no_such_resource("ifnum", &on));
    }
    if let Some(vlan) = table.get_mut("vlan").and_then(Value::as_object_mut) {
        vlan.shift_remove("on");
    }
    Ok(())
}

/// `-IPAddress 10.0.2.5 255.255.255.0`: the interface's own address.
fn address(root: &mut Root, name: &str, arguments: &Arguments, add: bool) -> Result<(), NsError> {
    let text = said(arguments, "ipaddress").unwrap_or_default();
    let ip = text.split('/').next().and_then(|ip| ip.parse::<std::net::IpAddr>().ok());
    let Some(ip) = ip else { return Err(NsError::bad_value("IPAddress", &text)) };
    let is_it = |entry: &Value| {
        entry.as_str().and_then(|text| text.parse::<InterfaceAddress>().ok()).is_some_and(|a| a.ip == ip)
    };
    let Some(table) = tables(root)?.get_mut(name).and_then(Value::as_object_mut) else {
        return Err(NsError::invalid("id"));
    };
    let addresses = table.entry("addresses".to_owned()).or_insert_with(|| json!([]));
    let Some(addresses) = addresses.as_array_mut() else { return Err(NsError::invalid("addresses")) };
    let is_there = addresses.iter().any(is_it);
    match (add, is_there) {
        (true, true) => Err(NsError::exists("IPAddress", &text)),
        (false, false) => Err(NsError::no_such_resource("IPAddress", &text)),
        (true, false) => {
            let mask = said(arguments, "netmask");
            let family = Resource::find(if ip.is_ipv6() { "nsip6" } else { "nsip" });
            let Some(family) = family else { return Err(NsError::invalid("IPAddress")) };
            addresses.push(subnet(family, &text, mask.as_deref(), "IPAddress")?.to_string().into());
            Ok(())
        }
        (false, true) => {
            addresses.retain(|entry| !is_it(entry));
            if addresses.is_empty() {
                table.shift_remove("addresses");
            }
            Ok(())
        }
    }
}

/// VLANs, or what is bound to them.
pub(super) fn objects(root: &Root, resource: &'static Resource) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, table) in all(root) {
        let Some(id) = id_of(table).map(|id| id.to_string()) else { continue };
        match resource.nitro {
            "vlan" => rows.push(row(resource, &[("id", &id), ("aliasname", name)])),
            "vlan_interface_binding" => {
                let on = carrier(table).into_iter();
                rows.extend(on.map(|on| row(resource, &[("id", &id), ("ifnum", on), ("tagged", "true")])));
            }
            _ => {
                let addresses = table.get("addresses").and_then(Value::as_array).into_iter().flatten();
                let addresses = addresses.filter_map(|entry| text_of(entry).parse::<InterfaceAddress>().ok());
                rows.extend(addresses.map(|address| match address.ip.is_ipv4() {
                    true => {
                        let (ip, mask) = (address.ip.to_string(), mask(address.prefix));
                        row(resource, &[("id", &id), ("ipaddress", &ip), ("netmask", &mask)])
                    }
                    false => row(resource, &[("id", &id), ("ipaddress", &address.to_string())]),
                }));
            }
        }
    }
    rows
}
