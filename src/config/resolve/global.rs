//! The tables that stand once: appliance, features, journal, DNS.

use std::net::SocketAddr;
use std::time::Duration;

use super::object::Object;
use super::{Context, act};
use crate::config::document::{Node, Path, Place, Table};
use crate::config::values;
use crate::model::lookup::Resolver;
use crate::model::scenario::Secret;
use crate::model::{AccessTo, Appliance, Features, Journal, Log, LogFormat};

/// As many as anybody waits for.
const NAME_SERVERS_MOST: usize = 8;

static NOTHING: Table = Table { entries: Vec::new() };

pub(super) fn object<'d>(cx: &Context<'d>, path: Path<'d>, name: &str) -> Object<'d> {
    let entry = cx.document.entry(name);
    let table = entry.and_then(|entry| entry.node.table()).unwrap_or(&NOTHING);
    Object::new(table, None, path, entry.map_or_else(Place::default, |entry| entry.place))
}

pub fn appliance(cx: &mut Context<'_>) -> Appliance {
    let object = object(cx, Path::Root, "appliance");
    // A witness stands where no data centre is.
    let is_witness = |site: &str| {
        let pairs = cx.section("datacenter_pair");
        pairs.iter().any(|(_, _, pair)| pair.get("witness").and_then(Node::text) == Some(site))
    };
    if let Some(site) = object.text("site")
        && !cx.names.datacenters.has(site)
        && !is_witness(site)
        && !site.is_empty()
    {
        let meant = cx.names.datacenters.nearest(cx.report, site);
        let meant = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
        let what = format!("appliance.site: no data centre `{site}` is defined{meant}");
        cx.report.warning(object.place_of("site"), "appliance.site", what);
    }
    Appliance { name: object.name("name").unwrap_or_else(|| "bascule".into()), site: object.name("site") }
}

/// Name servers: addresses, with a port where it is not 53.
pub fn resolver(cx: &mut Context<'_>) -> Resolver {
    let root = Path::Root;
    let object = object(cx, root.key("resolver"), "resolver");
    let mut name_servers = Vec::new();
    for node in object.items("name_servers") {
        let Some(text) = node.text() else { continue };
        match values::ip(text).map(|ip| SocketAddr::new(ip, 53)).or_else(|_| values::socket(text)) {
            Ok(at) if at.port() > 0 && !name_servers.contains(&at) => name_servers.push(at),
            Ok(at) => {
                let path = object.path.key("name_servers");
                let why = if at.port() == 0 { "has no port to ask at" } else { "stands twice" };
                cx.report.error(node.place, path, format!("{path}: `{text}` {why}"));
            }
            Err(_) => {
                let path = object.path.key("name_servers");
                let why = format!("{path}: `{text}` is no address such as \"192.0.2.53\" or \"192.0.2.53:5353\"");
                cx.report.error(node.place, path, why);
            }
        }
    }
    if name_servers.len() > NAME_SERVERS_MOST {
        object.wrong(cx.report, "name_servers", format!("at most {NAME_SERVERS_MOST}"));
    }
    Resolver { name_servers }
}

/// Warns where whoever brings the files knows that a secret is not there.
pub fn absent_secret(cx: &mut Context<'_>, object: &Object<'_>, key: &str, secret: &Secret) {
    if cx.files.has_secret(secret) == Some(false) {
        let what = match secret {
            Secret::Env(name) => format!("the environment variable `{name}` is not set"),
            Secret::File(path) => format!("the file `{path}` cannot be read"),
        };
        let path = object.path.key(key);
        cx.report.warning(object.place_of(key), path, format!("{path}: {what}; whatever uses it fails until it is"));
    }
}

pub fn features(cx: &mut Context<'_>) -> Features {
    let object = object(cx, Path::Root, "features");
    Features { lb: object.bool("lb").unwrap_or(true), gslb: object.bool("gslb").unwrap_or(true) }
}

pub fn journal(cx: &mut Context<'_>) -> Journal {
    let object = object(cx, Path::Root, "journal");
    let size = object.get("size").and_then(|node| crate::config::values::size(node).ok());
    Journal {
        keep: object.duration("keep").unwrap_or(Duration::from_secs(400 * 86_400)),
        size: size.unwrap_or(1 << 30),
    }
}

pub fn log(cx: &mut Context<'_>) -> Log {
    let root = Path::Root;
    let object = object(cx, root.key("log"), "log");
    let access = match object.text("access") {
        None | Some("off") => AccessTo::Off,
        Some("stdout") => AccessTo::Stdout,
        Some(file) => AccessTo::File(file.into()),
    };
    let format = object.text("format").and_then(LogFormat::parse).unwrap_or_default();
    let syslog = object.inner("syslog").map(|(table, place)| {
        let inner = Object::new(table, None, object.path.key("syslog"), place);
        inner.require(cx.report, "address");
        act::receiver(cx, &inner)
    });
    Log { access, format, syslog }
}
