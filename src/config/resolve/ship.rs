//! Where the journal is shipped to.

use std::net::IpAddr;

use super::certificate;
use super::global::absent_secret;
use super::object::Object;
use super::{Context, tls};
use crate::config::document::{Node, Path, Table};
use crate::config::values;
use crate::model::check::Host;
use crate::model::id::Name;
use crate::model::ship::{Ship, ShipTls, ShipTo};
use crate::model::tls::Certificate;

pub fn all(cx: &mut Context<'_>, certificates: &[Certificate]) -> Vec<Ship> {
    let root = Path::Root;
    let journal = root.key("journal");
    let section = journal.key("ship");
    let table = cx.document.get("journal").and_then(Node::table).and_then(|t| t.get("ship")).and_then(Node::table);
    let mut ships = Vec::new();
    for entry in table.map_or(&[][..], |table: &Table| &table.entries) {
        let Some(table) = entry.node.table() else { continue };
        let object = Object::new(table, None, section.key(&entry.key), entry.place);
        let to = match object.text("type") {
            Some("SYSLOG") => syslog(cx, &object, certificates),
            _ => http(cx, &object),
        };
        let kinds = object.items("kinds").into_iter().filter_map(Node::text).map(Name::from).collect();
        ships.push(Ship { name: entry.key.as_str().into(), to, kinds });
    }
    ships.sort_by(|a, b| a.name.cmp(&b.name));
    ships
}

fn syslog(cx: &mut Context<'_>, object: &Object<'_>, certificates: &[Certificate]) -> ShipTo {
    object.only(cx.report, &["uri", "headers", "secret"], "for type SYSLOG");
    object.require(cx.report, "address");
    let (secure, host, port) = match object.text("address").map(address) {
        Some(Ok(found)) => found,
        Some(Err(why)) => {
            object.wrong(cx.report, "address", why);
            return ShipTo::Syslog { host: Host::Name("".into()), port: 0, tls: None };
        }
        None => return ShipTo::Syslog { host: Host::Name("".into()), port: 0, tls: None },
    };
    if !secure {
        object.only(cx.report, &["tls"], "for an address that begins with `tcp:`; `tls:` speaks TLS");
        return ShipTo::Syslog { host, port, tls: None };
    }
    let mut speaks = ShipTls::default();
    if let Some((table, place)) = object.inner("tls") {
        let inner = Object::new(table, None, object.path.key("tls"), place);
        let path = inner.path.key("ca");
        speaks.authority = inner.own("ca").and_then(|node| certificate::find(cx, certificates, node, path, false));
        speaks.server_name = tls::server_name(cx, &inner);
    }
    ShipTo::Syslog { host, port, tls: Some(speaks) }
}

fn http(cx: &mut Context<'_>, object: &Object<'_>) -> ShipTo {
    object.only(cx.report, &["address", "tls"], "for type HTTP");
    object.require(cx.report, "uri");
    let uri = object.text("uri").unwrap_or("");
    if !uri.is_empty() {
        match values::url(uri) {
            Err(why) => object.wrong(cx.report, "uri", why),
            Ok(url) if !url.tls && object.text("type") == Some("HTTPS") => {
                object.wrong(cx.report, "uri", "type HTTPS needs a URI that begins with https://");
            }
            Ok(_) => {}
        }
    }
    let secret = object.secret(cx.report, "secret");
    if let Some(secret) = &secret {
        absent_secret(cx, object, "secret", secret);
    }
    ShipTo::Http { uri: uri.into(), headers: object.headers(cx.report, "headers"), secret }
}

/// `tls:log.example:6514`: whether it is TLS, the host, the port. UDP has no place here: nobody would confirm anything.
fn address(text: &str) -> Result<(bool, Host, u16), String> {
    let shape = "an address such as \"tcp:192.0.2.9:601\" or \"tls:log.example:6514\"";
    let (transport, rest) = text.split_once(':').ok_or_else(|| format!("`{text}` is not {shape}"))?;
    let secure = match transport {
        "tcp" => false,
        "tls" => true,
        "udp" => return Err("a datagram can be lost without a word, so the journal goes by tcp: or tls:".into()),
        _ => return Err(format!("`{text}` is not {shape}")),
    };
    let (host, port) = rest.rsplit_once(':').ok_or_else(|| format!("`{text}` is not {shape}"))?;
    let port = port.parse().ok().filter(|port| *port > 0).ok_or_else(|| format!("`{port}` is no port"))?;
    let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(inner) => inner.parse::<IpAddr>().map(Host::Ip).map_err(|_| format!("`{inner}` is no address"))?,
        None => values::host(host)?,
    };
    Ok((secure, host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_syslog_names_transport_host_and_port() {
        assert_eq!(address("tcp:192.0.2.9:601"), Ok((false, Host::Ip("192.0.2.9".parse().unwrap()), 601)));
        assert_eq!(address("tls:log.example:6514"), Ok((true, Host::Name("log.example".into()), 6514)));
        assert_eq!(address("tls:[2001:db8::9]:6514"), Ok((true, Host::Ip("2001:db8::9".parse().unwrap()), 6514)));
        for bad in ["udp:192.0.2.9:514", "192.0.2.9:514", "tcp:a", "tcp:a:0", "tcp:a:x", "tls:[a]:1", ""] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }
}
