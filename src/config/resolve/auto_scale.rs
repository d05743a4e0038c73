//! Names of servers: how they are looked up, and groups whose members they name.

use std::time::Duration;

use super::Context;
use super::object::Object;
use super::service::endpoint;
use crate::config::document::{Node, Table};
use crate::model::check::Host;
use crate::model::lookup::{Lookup, Query, Question};
use crate::model::service::{AutoScale, Server, Source};

/// Keys of a group that say how members from DNS leave.
const LEAVING: [&str; 3] = ["auto_disable_delay", "auto_disable_graceful", "auto_delayed_trofs"];

/// Whether the members of this group come from DNS.
pub fn is_on(group: &Table) -> bool {
    group.get("auto_scale").and_then(Node::text) == Some("DNS")
}

/// Of a server.
pub fn lookup(cx: &mut Context<'_>, object: &Object<'_>, address: &Host) -> Lookup {
    if matches!(address, Host::Ip(_)) && object.own("address").is_some() {
        object.only(cx.report, &["query_type", "domain_resolve_retry"], "for an address that is not looked up");
    }
    let default = Lookup::default();
    let query = match object.text("query_type") {
        Some("A") => Query::A,
        Some("AAAA") => Query::Aaaa,
        Some("SRV") => Query::Srv,
        _ => default.query,
    };
    Lookup { query, retry: object.duration("domain_resolve_retry").unwrap_or(default.retry) }
}

/// Of a group; `None`: its members are those of the configuration.
pub fn auto_scale(cx: &mut Context<'_>, object: &Object<'_>, servers: &[Server]) -> Option<AutoScale> {
    if !is_on(object.table) {
        object.only(cx.report, &LEAVING, "without `auto_scale = \"DNS\"`");
        return None;
    }
    let section = object.path.key("member");
    let entries = object.own("member").and_then(Node::table).map_or(&[][..], |table| &table.entries[..]);
    if entries.is_empty() {
        object.warn_whole(cx.report, "nothing is looked up: no `member` names a server with a host name");
    }
    let mut sources = Vec::new();
    for entry in entries {
        let Some(table) = entry.node.table() else { continue };
        let member = Object::new(table, None, section.key(&entry.key), entry.place);
        sources.extend(source(cx, &member, &entry.key, servers));
    }
    Some(AutoScale {
        disable_delay: object.duration("auto_disable_delay").unwrap_or(Duration::ZERO),
        disable_graceful: object.bool("auto_disable_graceful").unwrap_or(false),
        delayed_trofs: object.bool("auto_delayed_trofs").unwrap_or(false),
        sources,
    })
}

fn source(cx: &mut Context<'_>, member: &Object<'_>, name: &str, servers: &[Server]) -> Option<Source> {
    let each = "where every address is a member of its own";
    member.only(cx.report, &["custom_server_id", "hash_id"], each);
    let (server, host, port) = endpoint(cx, member, servers);
    let of_server = server.and_then(|id| servers.get(id.index()));
    let Lookup { query, retry } = of_server.map_or_else(Lookup::default, |server| server.lookup);
    if query == Query::Srv {
        member.only(cx.report, &["port", "weight", "order"], "beside SRV records, which say their own");
    } else {
        member.require_beside(cx.report, "server", "port");
    }
    let Host::Name(host) = host else {
        let known = server.is_some() || member.own("address").is_some();
        if known && (server.is_none() || of_server.is_some_and(|s| matches!(s.address, Host::Ip(_)))) {
            let key = if server.is_some() { "server" } else { "address" };
            member.wrong(cx.report, key, "is an address; `auto_scale = \"DNS\"` needs a host name");
        }
        return None;
    };
    Some(Source {
        name: name.into(),
        server,
        question: Question { name: host, query },
        retry,
        port: (query != Query::Srv).then_some(port),
        weight: member.int("weight").unwrap_or(1),
        order: member.int("order").unwrap_or(1),
    })
}
