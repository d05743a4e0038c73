//! Where traces of requests go.

use super::Context;
use super::dns::networks;
use super::object::Object;
use crate::config::document::{Node, Path};
use crate::config::values;
use crate::model::id::turns_text;
use crate::model::trace::Trace;

/// Fields that say what is sent, how long it is and over which connection.
const OURS: [&str; 10] = [
    "Connection",
    "Content-Encoding",
    "Content-Length",
    "Content-Type",
    "Expect",
    "Host",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
];

pub fn trace(cx: &mut Context<'_>) -> Option<Trace> {
    let entry = cx.document.entry("trace")?;
    let table = Node::table(&entry.node)?;
    let root = Path::Root;
    let object = Object::new(table, None, root.key("trace"), entry.place);
    object.require(cx.report, "endpoint");
    let endpoint = object.text("endpoint").unwrap_or("");
    if !endpoint.is_empty()
        && let Err(why) = values::url(endpoint)
    {
        object.wrong(cx.report, "endpoint", why);
    }
    let headers = object.headers(cx.report, "headers");
    for (name, _) in headers.iter().filter(|(name, _)| OURS.iter().any(|ours| name.eq_ignore_ascii_case(ours))) {
        let why = format!("`{name}` cannot be said: it follows from the request that sends the spans");
        object.wrong(cx.report, "headers", why);
    }
    let service_name = object.name("service_name").unwrap_or_else(|| "bascule".into());
    if let Some(c) = service_name.chars().find(|c| c.is_control() || turns_text(*c)) {
        object.wrong(cx.report, "service_name", format!("a name cannot hold {c:?}"));
    }
    Some(Trace {
        endpoint: endpoint.into(),
        headers,
        one_in: object.int("one_in").unwrap_or(Trace::ONE_IN),
        accept: if object.own("accept").is_some() { networks(&object, "accept") } else { Trace::everybody() },
        service_name,
        timeout: object.duration("timeout").unwrap_or(Trace::TIMEOUT),
    })
}
