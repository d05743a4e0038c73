//! Where traces of requests go.

use super::Context;
use super::dns::networks;
use super::object::Object;
use crate::config::document::{Node, Path};
use crate::config::values;
use crate::model::trace::Trace;

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
    Some(Trace {
        endpoint: endpoint.into(),
        headers: object.headers(cx.report, "headers"),
        one_in: object.int("one_in").unwrap_or(Trace::ONE_IN),
        accept: if object.own("accept").is_some() { networks(&object, "accept") } else { Trace::everybody() },
        service_name: object.name("service_name").unwrap_or_else(|| "bascule".into()),
        timeout: object.duration("timeout").unwrap_or(Trace::TIMEOUT),
    })
}
