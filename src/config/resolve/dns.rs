//! `[gslb]` and `[dns]`.

use std::net::SocketAddr;

use super::object::Object;
use super::{Context, tls};
use crate::config::document::{Node, Path, Table, Value};
use crate::config::values;
use crate::model::dns::{ClientSubnet, CookieKey, Cookies, DOH_PATH, Dns, Encrypted, NSID_MAX, RateLimit, TcpLimits};
use crate::model::geo::Database;
use crate::model::id::Name;
use crate::model::net::Network;
use crate::model::tls::Certificate;

static NOTHING: Table = Table { entries: Vec::new() };

pub fn dns(cx: &mut Context<'_>, certificates: &[Certificate]) -> Dns {
    let root = Path::Root;
    let entry = cx.document.entry("dns");
    let table = entry.and_then(|entry| entry.node.table()).unwrap_or(&NOTHING);
    let object = Object::new(table, None, root.key("dns"), entry.map(|entry| entry.place).unwrap_or_default());
    Dns {
        listen: listen(cx, &object),
        tcp: tcp(&object),
        tls: encrypted(cx, &object, "tls", certificates),
        https: encrypted(cx, &object, "https", certificates),
        tsig: super::zone::tsig(cx),
        nsid: nsid(cx, &object),
        extended_errors: object.bool("extended_errors").unwrap_or(true),
        cookies: cookies(cx, &object),
        rate_limit: rate_limit(&object),
        ecs: ecs(&object),
        geo: geo(cx, &object),
    }
}

/// `[gslb] lines`, which are told again and never carried out.
pub fn gslb_lines(cx: &mut Context<'_>) -> Vec<Name> {
    let items = cx.section_table("gslb").and_then(|table| table.get("lines")).and_then(Node::list).unwrap_or(&[]);
    let path = Path::Root;
    let path = path.key("gslb");
    let list = path.key("lines");
    let mut lines = Vec::with_capacity(items.len());
    for (index, node) in items.iter().enumerate() {
        let Some(text) = node.text() else { continue };
        if !["add gslb ", "set gslb ", "bind gslb "].iter().any(|begin| text.starts_with(begin)) {
            let what = format!("{list}: a line here begins with `add gslb`, `set gslb` or `bind gslb`");
            cx.report.error(node.place, list.item(index), what);
        }
        lines.push(Name::from(text));
    }
    lines
}

fn listen(cx: &mut Context<'_>, object: &Object<'_>) -> Vec<SocketAddr> {
    let mut listen: Vec<SocketAddr> = Vec::new();
    for (index, node) in object.items("listen").into_iter().enumerate() {
        let Some(address) = node.text().and_then(|text| values::socket(text).ok()) else { continue };
        if address.port() != 0 && listen.contains(&address) {
            let list = object.path.key("listen");
            cx.report.error(node.place, list.item(index), format!("{list}: {address} stands twice"));
        }
        listen.push(address);
    }
    listen
}

fn tcp(object: &Object<'_>) -> TcpLimits {
    let default = TcpLimits::default();
    let Some((table, place)) = object.inner("tcp") else { return default };
    let inner = Object::new(table, None, object.path.key("tcp"), place);
    TcpLimits {
        connections: inner.int("connections").unwrap_or(default.connections),
        connections_per_client: inner.int("connections_per_client").unwrap_or(default.connections_per_client),
        idle_timeout: inner.duration("idle_timeout").unwrap_or(default.idle_timeout),
        queries_per_connection: inner.int("queries_per_connection").unwrap_or(default.queries_per_connection),
        pipeline: inner.int("pipeline").unwrap_or(default.pipeline),
    }
}

/// `[dns.tls]`, `[dns.https]`
fn encrypted(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    key: &'static str,
    certificates: &[Certificate],
) -> Option<Encrypted> {
    let (table, place) = object.inner(key)?;
    let inner = Object::new(table, None, object.path.key(key), place);
    let listen = listen(cx, &inner);
    if tls::shows_none(&inner) && !listen.is_empty() {
        inner.wrong_whole(cx.report, "needs `certificates` to show to clients");
    }
    let path = inner.name("path").unwrap_or_else(|| DOH_PATH.into());
    let is_path = path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#{}".contains(&byte));
    if !is_path {
        let why = format!("`{path}` is not the path of a URL such as `{DOH_PATH}`, without query and variables");
        inner.wrong(cx.report, "path", why);
    }
    let tls = tls::client_tls(cx, &inner, certificates);
    if tls.hsts.is_some() {
        inner.wrong(cx.report, "tls", "`hsts` is for browsers: it needs a vserver of type SSL");
    }
    Some(Encrypted { listen, tls, path })
}

fn nsid(cx: &mut Context<'_>, object: &Object<'_>) -> Option<crate::model::id::Name> {
    let name = object.name("nsid").filter(|name| !name.is_empty())?;
    if name.len() > NSID_MAX {
        object.wrong(cx.report, "nsid", format!("longer than {NSID_MAX} bytes"));
    }
    Some(name)
}

fn cookies(cx: &mut Context<'_>, object: &Object<'_>) -> Cookies {
    let Some(node) = object.get("cookies") else { return Cookies::default() };
    if let Value::Bool(on) = node.value {
        return if on { Cookies::Generated } else { Cookies::Off };
    }
    let Some((table, place)) = object.inner("cookies") else { return Cookies::default() };
    let inner = Object::new(table, None, object.path.key("cookies"), place);
    let nodes = inner.items("keys");
    if nodes.is_empty() {
        inner.wrong_whole(cx.report, "`keys` names no file; for a key of this process say `cookies = true`");
    }
    let list = inner.path.key("keys");
    let keys = nodes.into_iter().enumerate().filter_map(|(index, node)| cookie_key(cx, node, list.item(index)));
    Cookies::Keys(keys.collect())
}

fn cookie_key(cx: &mut Context<'_>, node: &Node, path: Path<'_>) -> Option<CookieKey> {
    let file = node.text().filter(|file| !file.is_empty())?;
    let (relative, _) = cx.report.beside(node.place.file, file);
    let text = match cx.files.read_key(&relative) {
        Ok(Some(text)) => text,
        // It is not to be had here, and not missed.
        Ok(None) => return Some(CookieKey { file: relative.into(), key: [0; 16] }),
        Err(why) => {
            cx.report.error(node.place, path, format!("{path}: `{file}` cannot be read: {why}"));
            return None;
        }
    };
    if cx.files.is_private(&relative) == Some(false) {
        let what = format!("{path}: others on this machine can read the key; `chmod 600` it");
        cx.report.warning(node.place, path, what);
    }
    let key = CookieKey::parse(relative.into(), &text);
    key.map_err(|why| cx.report.error(node.place, path, format!("{path}: `{file}` {why}"))).ok()
}

fn rate_limit(object: &Object<'_>) -> Option<RateLimit> {
    let (table, place) = object.inner("rate_limit")?;
    let inner = Object::new(table, None, object.path.key("rate_limit"), place);
    Some(RateLimit {
        per_second: inner.int("per_second").unwrap_or(1),
        slip: inner.int("slip").unwrap_or(2),
        ipv4_prefix: inner.int("ipv4_prefix").unwrap_or(24),
        ipv6_prefix: inner.int("ipv6_prefix").unwrap_or(56),
        table: inner.int("table").unwrap_or(65_536),
        exempt: networks(&inner, "exempt"),
    })
}

fn ecs(object: &Object<'_>) -> Option<ClientSubnet> {
    let node = object.get("ecs")?;
    if let Value::Bool(false) = node.value {
        return None;
    }
    let (table, place) = object.inner("ecs").unwrap_or((&NOTHING, node.place));
    let inner = Object::new(table, None, object.path.key("ecs"), place);
    Some(ClientSubnet {
        ipv4_prefix: inner.int("ipv4_prefix").unwrap_or(24),
        ipv6_prefix: inner.int("ipv6_prefix").unwrap_or(56),
        from: networks(&inner, "from"),
    })
}

fn geo(cx: &mut Context<'_>, object: &Object<'_>) -> Option<Database> {
    let (table, place) = object.inner("geo")?;
    let inner = Object::new(table, None, object.path.key("geo"), place);
    let node = inner.own("database")?;
    let file = node.text().filter(|file| !file.is_empty())?;
    let (relative, _) = cx.report.beside(node.place.file, file);
    match cx.files.read_database(&relative) {
        Ok(Some(bytes)) => {
            let database = Database::open(relative.into(), bytes);
            database.map_err(|why| inner.wrong(cx.report, "database", format!("`{file}` {why}"))).ok()
        }
        Ok(None) => Some(Database::absent(relative.into())),
        Err(why) => {
            inner.wrong(cx.report, "database", format!("`{file}` cannot be read: {why}"));
            None
        }
    }
}

pub(super) fn networks(object: &Object<'_>, key: &str) -> Vec<Network> {
    object.items(key).into_iter().filter_map(|node| values::network(node.text()?).ok()).collect()
}
