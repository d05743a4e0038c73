//! Addresses and ports.

use std::net::IpAddr;

use serde_json::{Map, Value};

use super::{At, said, spelled, value};
use crate::config::values;
use crate::model::check::Host;
use crate::netscaler::document::write::Given;
use crate::netscaler::error::NsError;
use crate::netscaler::value::{Said, get, put, remove};

/// `ipv46` and `port` of a vserver; 0.0.0.0 and 0: none.
pub(super) fn vip(at: &At<'_>, table: &mut Map<String, Value>, given: &Given) -> Result<(), NsError> {
    let old = get(table, at.schema, &["address"]).and_then(Value::as_str).and_then(socket_of);
    let (mut ip, mut port) = old.map_or((None, None), |(ip, port)| (Some(ip), Some(port)));
    if let Some(text) = said(given, "ipv46") {
        ip = match text {
            None | Some("" | "0.0.0.0" | "::") => None,
            Some("*") => return Err(no_wildcard(at, "ipv46")),
            Some(text) => Some(text.parse().map_err(|_| NsError::bad_value(spelled(at.resource, "ipv46"), text))?),
        };
        if ip.is_none() {
            port = None;
        }
    }
    if let Some(text) = said(given, "port") {
        port = match text {
            None | Some("" | "0") => None,
            Some("*") => return Err(no_wildcard(at, "port")),
            Some(text) => Some(port_of(at, text)?),
        };
    }
    match (ip, port) {
        (Some(ip), Some(port)) => {
            let address = std::net::SocketAddr::new(ip, port).to_string();
            put(table, at.schema, &["address"], address.into());
        }
        (Some(_), None) => return Err(NsError::missing(spelled(at.resource, "port"))),
        (None, Some(_)) => {
            return Err(NsError::prerequisite(spelled(at.resource, "ipv46"), spelled(at.resource, "port")));
        }
        (None, None) => remove(table, at.schema, &["address"]),
    }
    Ok(())
}

fn no_wildcard(at: &At<'_>, nitro: &str) -> NsError {
    NsError::unsupported(spelled(at.resource, nitro), "*", "one address and port each")
}

fn port_of(at: &At<'_>, text: &str) -> Result<u16, NsError> {
    if text == "*" {
        return Err(no_wildcard(at, "port"));
    }
    let port = text.parse::<u16>().ok().filter(|port| *port > 0);
    port.ok_or_else(|| NsError::bad_value(spelled(at.resource, "port"), text))
}

pub(super) fn read_vip(at: &At<'_>, table: &Map<String, Value>, nitro: &str) -> Option<Said> {
    let (ip, port) = get(table, at.schema, &["address"]).and_then(Value::as_str).and_then(socket_of)?;
    Some(Said { text: if nitro == "port" { port.to_string() } else { ip.to_string() }, exact: true })
}

/// `192.0.2.1:80`, `[2001:db8::1]:80`
pub(in crate::netscaler::document) fn socket_of(text: &str) -> Option<(IpAddr, u16)> {
    text.parse::<std::net::SocketAddr>().ok().map(|address| (address.ip(), address.port()))
}

/// Where a service or member is: the server object that it names, its address, its port.
pub(in crate::netscaler::document) fn host_of(
    table: &Map<String, Value>,
    schema: &'static crate::config::schema::Schema,
) -> (Option<String>, Option<String>, Option<u16>) {
    let text = |path: &[&str]| get(table, schema, path).and_then(Value::as_str).map(str::to_owned);
    let port = get(table, schema, &["port"]).and_then(Value::as_u64).and_then(|port| u16::try_from(port).ok());
    match (text(&["server"]), text(&["address"])) {
        (Some(server), _) => (Some(server), None, port),
        (None, Some(address)) => match (port, values::host_port(&address)) {
            (None, Ok((host, port))) => (None, Some(host_text(&host)), Some(port)),
            _ => (None, Some(address), port),
        },
        (None, None) => (None, None, port),
    }
}

fn host_text(host: &Host) -> String {
    match host {
        Host::Ip(ip) => ip.to_string(),
        Host::Name(name) => name.to_string(),
    }
}

/// `ip`, `ipaddress`, `servername` and `port` of a service or a member.
pub(super) fn host(at: &At<'_>, table: &mut Map<String, Value>, given: &Given) -> Result<(), NsError> {
    let ip = value(given, "ip").or_else(|| value(given, "ipaddress"));
    let server = value(given, "servername");
    // What NITRO reads back names both, and means one.
    let ip = if ip.is_some() && ip == server { None } else { ip };
    if ip.is_some() && server.is_some() {
        return Err(NsError::both(spelled(at.resource, "servername"), spelled(at.resource, "ip")));
    }
    let (old_server, old_address, old_port) = host_of(table, at.schema);
    let port = match value(given, "port") {
        Some("0") => None,
        Some(text) => Some(port_of(at, text)?),
        None => old_port,
    };
    let (server, address) = match (server, ip) {
        (Some(name), _) => match named(at, name)? {
            Named::Server(name) => (Some(name), None),
            Named::Address(ip) => (None, Some(ip)),
        },
        (None, Some(text)) => {
            let ip: IpAddr = text.parse().map_err(|_| NsError::bad_value(spelled(at.resource, "ip"), text))?;
            match server_at(at, ip) {
                Some(name) => (Some(name), None),
                None => (None, Some(ip.to_string())),
            }
        }
        (None, None) => (old_server, old_address),
    };
    for path in ["server", "address", "port"] {
        remove(table, at.schema, &[path]);
    }
    if let Some(server) = server {
        put(table, at.schema, &["server"], server.into());
    } else if let Some(address) = address {
        let beside = match (port, address.parse::<IpAddr>()) {
            (Some(port), Ok(ip)) => std::net::SocketAddr::new(ip, port).to_string(),
            (Some(port), Err(_)) => format!("{address}:{port}"),
            (None, _) => address,
        };
        put(table, at.schema, &["address"], beside.into());
        return Ok(());
    }
    if let Some(port) = port {
        put(table, at.schema, &["port"], port.into());
    }
    Ok(())
}

enum Named {
    Server(String),
    Address(String),
}

/// A server object by its name; an address names the one that it would make.
fn named(at: &At<'_>, name: &str) -> Result<Named, NsError> {
    if at.document.table("server", name).is_some() {
        return Ok(Named::Server(name.to_owned()));
    }
    match name.parse::<IpAddr>() {
        Ok(ip) => Ok(server_at(at, ip).map_or_else(|| Named::Address(ip.to_string()), Named::Server)),
        Err(_) => Err(NsError::with(351, &[spelled(at.resource, "servername"), name])),
    }
}

/// The server object of an address: what stands on it is disabled with it.
fn server_at(at: &At<'_>, ip: IpAddr) -> Option<String> {
    let text = ip.to_string();
    let is = |table: &Map<String, Value>| {
        ["address", "ip_address"].iter().any(|key| table.get(*key).and_then(Value::as_str) == Some(&text))
    };
    at.document.section("server").find(|(_, table)| is(table)).map(|(name, _)| name.to_owned())
}

pub(super) fn read_host(at: &At<'_>, table: &Map<String, Value>, nitro: &str) -> Option<Said> {
    let (server, address, port) = host_of(table, at.schema);
    let of_server = |name: &String| {
        let table = at.document.table("server", name)?;
        ["address", "ip_address", "domain"].iter().find_map(|key| table.get(*key)?.as_str()).map(str::to_owned)
    };
    let text = match nitro {
        "port" => port?.to_string(),
        "servername" => server.or(address)?,
        // NetScaler shows the name of a server that has no address of its own.
        "ipaddress" | "ip" => address.or_else(|| of_server(server.as_ref()?))?,
        _ => return None,
    };
    Some(Said { text, exact: true })
}

/// `ipaddress`, `domain` of a server.
pub(super) fn server(at: &At<'_>, table: &mut Map<String, Value>, given: &Given) -> Result<(), NsError> {
    let (ip, domain) = (value(given, "ipaddress"), value(given, "domain"));
    let address = match (ip, domain) {
        (Some(_), Some(_)) => return Err(NsError::both("IPAddress", "domain")),
        (Some(text), None) => {
            let ip: IpAddr = text.parse().map_err(|_| NsError::bad_value("IPAddress", text))?;
            if let Some(other) = server_at(at, ip).filter(|other| other != at.name) {
                return Err(NsError::new(1335).because(&format!("{other} has {ip}")));
            }
            ip.to_string()
        }
        (None, Some(text)) => match values::host(text) {
            Ok(Host::Name(_)) => text.to_owned(),
            _ => return Err(NsError::bad_value("domain", text)),
        },
        (None, None) => return Ok(()),
    };
    put(table, at.schema, &["address"], address.into());
    Ok(())
}

pub(super) fn read_server(at: &At<'_>, table: &Map<String, Value>, nitro: &str) -> Option<Said> {
    let address = get(table, at.schema, &["address"])?.as_str()?;
    let is_ip = address.parse::<IpAddr>().is_ok();
    (is_ip == (nitro == "ipaddress")).then(|| Said { text: address.to_owned(), exact: true })
}

/// What a member is called: its server (or address) and port; the server alone where SRV records say the port.
pub(in crate::netscaler::document) fn member_name(host: &str, port: Option<u16>) -> String {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    match port {
        Some(port) => format!("{host}:{port}"),
        None => host,
    }
}
