//! What a rule does.

use super::Known;
use crate::config::document::Node;
use crate::config::resolve::Context;
use crate::config::resolve::object::{self, Object};
use crate::config::values;
use crate::model::filled::{self, Filled};
use crate::model::id::{GroupId, Name, ServiceId, VserverId};
use crate::model::rule::{Action, Edit, Phase, Route};
use crate::model::vserver::{Member, Role, Vserver};

const ACTIONS: [&str; 7] = ["respond", "reject", "redirect", "route", "edit", "mirror", "count"];
const EDITS: [&str; 9] = ["set", "add", "remove", "path", "url", "url_path", "remove_cookie", "set_cookie", "status"];

/// Fields that say where a message ends or what becomes of its connection; Bascule writes them itself.
const FRAMING: [&str; 9] = [
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "proxy-connection",
    "upgrade",
    "te",
    "trailer",
    "expect",
];

/// `of`: the vserver of the rule, where it is known.
pub(super) fn action(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    phase: Phase,
    of: Option<&Vserver>,
    known: Known<'_>,
) -> Option<Action> {
    let (table, place) = object.inner("action")?;
    let inner = Object::new(table, None, object.path.key("action"), place);
    let said: Vec<&str> = ACTIONS.into_iter().filter(|key| inner.own(key).is_some()).collect();
    if said.len() != 1 {
        if !said.is_empty() || table.entries.is_empty() {
            let found = if said.is_empty() { "none".to_owned() } else { said.join(" and ") };
            let why = format!("a rule has exactly one action of {}, found {found}", ACTIONS.join(", "));
            inner.wrong_whole(cx.report, why);
        }
        return None;
    }
    if phase == Phase::Response && !["edit", "count"].contains(&said[0]) {
        inner.wrong(cx.report, said[0], "in the phase of the response a rule can `edit` and `count` only");
    }
    match said[0] {
        key @ ("reject" | "count") => {
            if inner.bool(key) == Some(false) {
                inner.wrong(cx.report, key, "false is no action; leave the rule out");
            }
            Some(if key == "reject" { Action::Reject } else { Action::Count })
        }
        "respond" => respond(cx, &inner),
        "route" => route(cx, &inner, of, known).map(Action::Route),
        "edit" => edits(cx, &inner, phase).map(Action::Edit),
        "mirror" => mirror(cx, &inner, of, known),
        _ => redirect(cx, &inner),
    }
}

fn route(cx: &mut Context<'_>, action: &Object<'_>, of: Option<&Vserver>, known: Known<'_>) -> Option<Route> {
    let (table, place) = action.inner("route")?;
    let inner = Object::new(table, None, action.path.key("route"), place);
    let said: Vec<&str> = ["vserver", "service", "group"].into_iter().filter(|key| inner.own(key).is_some()).collect();
    let [key] = said[..] else {
        let found = if said.is_empty() { "none".to_owned() } else { said.join(" and ") };
        inner.wrong_whole(cx.report, format!("say exactly one of vserver, service, group, found {found}"));
        return None;
    };
    let (name, place, path) = (inner.text(key)?, inner.place_of(key), inner.path.key(key));
    match key {
        "vserver" => {
            let id = cx.names.vservers.find(cx.report, name, place, path)?;
            target(cx, &inner, "vserver", of, known.vservers.get(id)?);
            Some(Route::Vserver(VserverId::from_index(id)))
        }
        "service" => {
            let id = cx.names.services.find(cx.report, name, place, path)?;
            let id = ServiceId::from_index(id);
            if of.is_some_and(|of| of.role == Role::Lb && !of.members.iter().any(|m| m.service == id)) {
                inner.wrong(cx.report, key, format!("`{name}` is no member of the rule's vserver"));
            }
            Some(Route::Service(id))
        }
        _ => {
            let id = cx.names.groups.find(cx.report, name, place, path)?;
            let id = GroupId::from_index(id);
            if of.is_some_and(|of| of.role == Role::Lb && !of.groups.contains(&id)) {
                inner.wrong(cx.report, key, format!("the group `{name}` is not bound to the rule's vserver"));
            }
            Some(Route::Group(id))
        }
    }
}

/// Whether `of` may hand to `target`: one that balances, of a type that reads the same.
fn target(cx: &mut Context<'_>, object: &Object<'_>, key: &str, of: Option<&Vserver>, target: &Vserver) {
    if target.role != Role::Lb {
        object.wrong(cx.report, key, format!("`{}` switches content itself; name one that balances", target.name));
    }
    let Some(of) = of else { return };
    if of.name == target.name {
        object.wrong(cx.report, key, "is the rule's own vserver");
    } else if !of.protocol.carries(target.protocol) {
        let (theirs, ours) = (target.protocol.word(), of.protocol.word());
        object.wrong(
            cx.report,
            key,
            format!("`{}` is of type {theirs}, the rule's vserver of type {ours}", target.name),
        );
    }
}

fn mirror(cx: &mut Context<'_>, action: &Object<'_>, of: Option<&Vserver>, known: Known<'_>) -> Option<Action> {
    let (table, place) = action.inner("mirror")?;
    let inner = Object::new(table, None, action.path.key("mirror"), place);
    let path = inner.path.key("vserver");
    let id = cx.names.vservers.find(cx.report, inner.text("vserver")?, inner.place_of("vserver"), path)?;
    let to = known.vservers.get(id)?;
    target(cx, &inner, "vserver", of, to);
    let service_of = |member: &Member| known.services.get(member.service.index());
    if let Some(service) = to.members.iter().filter_map(service_of).find(|service| service.settings.http2) {
        let why = format!("its service `{}` speaks HTTP/2, and copies are sent in HTTP/1.1", service.name);
        inner.wrong(cx.report, "vserver", why);
    }
    let body_limit = inner.get("body_limit").and_then(|node| values::size(node).ok()).unwrap_or(64 * 1024);
    Some(Action::Mirror { to: VserverId::from_index(id), percent: inner.int("percent").unwrap_or(100), body_limit })
}

fn edits(cx: &mut Context<'_>, action: &Object<'_>, phase: Phase) -> Option<Vec<Edit>> {
    let items = action.own("edit").and_then(Node::list)?;
    if items.is_empty() {
        action.wrong(cx.report, "edit", "an empty list changes nothing; leave the rule out");
    }
    let path = action.path.key("edit");
    let mut edits = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(table) = item.table() else { continue };
        edits.extend(edit(cx, &Object::new(table, None, path.item(index), item.place), phase));
    }
    Some(edits)
}

fn edit(cx: &mut Context<'_>, edit: &Object<'_>, phase: Phase) -> Option<Edit> {
    let said: Vec<&str> = EDITS.into_iter().filter(|key| edit.own(key).is_some()).collect();
    let [key] = said[..] else {
        let found = if said.is_empty() { "none".to_owned() } else { said.join(" and ") };
        edit.wrong_whole(cx.report, format!("an edit is exactly one of {}, found {found}", EDITS.join(", ")));
        return None;
    };
    let wrong_phase = match key {
        "path" | "url" | "url_path" | "add" | "set" | "remove" | "remove_cookie" if phase == Phase::Request => None,
        "path" | "url" | "url_path" => Some("the path is the request's; leave `phase` out"),
        "set_cookie" | "status" if phase == Phase::Request => Some("is the answer's; add `phase = \"response\"`"),
        _ => None,
    };
    if let Some(why) = wrong_phase {
        edit.wrong(cx.report, key, why);
    }
    for (partner, of) in [("value", ["set", "add", "set_cookie"].as_slice()), ("to", &["path"])] {
        match (of.contains(&key), edit.own(partner).is_some()) {
            (true, false) => edit.require(cx.report, partner),
            (false, true) => edit.only(cx.report, &[partner], &format!("beside `{key}`")),
            _ => {}
        }
    }
    let value = || -> Option<Name> { edit.name("value") };
    match key {
        "set" => Some(Edit::Set { name: field(cx, edit, key, phase)?, value: filled(cx, edit, "value", value()?) }),
        "add" => Some(Edit::Add { name: field(cx, edit, key, phase)?, value: filled(cx, edit, "value", value()?) }),
        "remove" => Some(Edit::Remove { name: field(cx, edit, key, phase)? }),
        "path" => Some(Edit::Path { pattern: edit.name(key)?, to: new_path(cx, edit)? }),
        "url" | "url_path" => {
            let (to, whole): (Name, _) = (edit.name(key)?, key == "url");
            if let Err(why) = target_text(&to, whole) {
                edit.wrong(cx.report, key, why);
            }
            Some(Edit::Url { to, whole })
        }
        "remove_cookie" => Some(Edit::RemoveCookie { name: cookie(cx, edit, key)? }),
        "set_cookie" => {
            Some(Edit::SetCookie { name: cookie(cx, edit, key)?, value: filled(cx, edit, "value", value()?) })
        }
        _ => {
            let status: u16 = edit.int(key)?;
            if matches!(status, 204 | 205 | 304) {
                edit.wrong(cx.report, key, format!("an answer with status {status} has no body; `respond` makes one"));
            }
            Some(Edit::Status(status))
        }
    }
}

/// A field that may be changed.
fn field(cx: &mut Context<'_>, edit: &Object<'_>, key: &str, phase: Phase) -> Option<Name> {
    let name = edit.name(key)?;
    if let Err(why) = changeable(&name, phase == Phase::Request && key == "set") {
        edit.wrong(cx.report, key, why);
    }
    Some(name)
}

/// Whether edits may name this field; `sets`: it is one that sets a field of the request.
pub(in crate::config) fn changeable(name: &str, sets: bool) -> Result<(), String> {
    object::header(name, "")?;
    let lower = name.to_ascii_lowercase();
    if FRAMING.contains(&&*lower) {
        return Err(format!("`{name}` follows from the message and its connection"));
    }
    if lower == "host" && !sets {
        return Err("a request has exactly one Host; `set` it".into());
    }
    Ok(())
}

fn cookie(cx: &mut Context<'_>, edit: &Object<'_>, key: &str) -> Option<Name> {
    let name = edit.name(key)?;
    if object::header(&name, "").is_err() {
        edit.wrong(cx.report, key, format!("`{name}` is no name of a cookie"));
    }
    Some(name)
}

/// A value whose braces are ones that are replaced.
fn filled(cx: &mut Context<'_>, edit: &Object<'_>, key: &str, value: Name) -> Name {
    if let Err(why) = object::header("value", &value) {
        edit.wrong(cx.report, key, why);
    }
    if let Err(why) = fillable(&value) {
        edit.wrong(cx.report, key, why);
    }
    value
}

/// Whether every brace of a value is one that is replaced.
pub(in crate::config) fn fillable(value: &str) -> Result<(), String> {
    match braces_are_known(value, |_| true) {
        true => Ok(()),
        false => Err(format!("replaced are {}; there are no other braces", filled::KNOWN)),
    }
}

/// Whether this can become a target; `whole` false: its path.
pub(in crate::config) fn target_text(text: &str, whole: bool) -> Result<(), String> {
    fillable(text)?;
    if text.bytes().any(|b| b <= b' ' || b >= 0x7f || b == b'#') {
        return Err("a target has visible ASCII only, without `#`; encode others with %".into());
    }
    if !whole && text.contains('?') {
        return Err("a path has no `?`; `url` is path and query".into());
    }
    match text.is_empty() {
        true => Err("a target is not empty".into()),
        false => Ok(()),
    }
}

/// What a path becomes: a path, with `$1` or `${name}` for brackets of the pattern.
fn new_path(cx: &mut Context<'_>, edit: &Object<'_>) -> Option<Name> {
    let to = edit.name("to")?;
    if to.bytes().any(|b| b <= b' ' || b >= 0x7f || matches!(b, b'?' | b'#')) {
        edit.wrong(cx.report, "to", "a path has visible ASCII only, without `?` and `#`; encode others with %");
    }
    Some(to)
}

/// `taken`: whether what is filled in may stand there.
fn braces_are_known(text: &str, taken: impl Fn(Filled<'_>) -> bool) -> bool {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('{') {
        let known = after.split_once('}').and_then(|(name, _)| Filled::parse(name));
        if !known.is_some_and(&taken) {
            return false;
        }
        rest = after;
    }
    true
}

fn respond(cx: &mut Context<'_>, action: &Object<'_>) -> Option<Action> {
    let (table, place) = action.inner("respond")?;
    let inner = Object::new(table, None, action.path.key("respond"), place);
    let headers = inner.headers(cx.report, "headers");
    // Length and framing follow from the body; a second opinion would split responses.
    let framing = |name: &str| ["content-length", "transfer-encoding", "connection"].contains(&name);
    if let Some((name, _)) = headers.iter().find(|(name, _)| framing(&name.to_ascii_lowercase())) {
        inner.wrong(cx.report, "headers", format!("`{name}` is set from the body"));
    }
    let status: u16 = inner.int("status")?;
    let body = inner.text("body").unwrap_or("").as_bytes().to_vec();
    if matches!(status, 204 | 304) && !body.is_empty() {
        inner.wrong(cx.report, "body", format!("an answer with status {status} has no body"));
    }
    Some(Action::Respond { status, headers, body })
}

fn redirect(cx: &mut Context<'_>, action: &Object<'_>) -> Option<Action> {
    let (table, place) = action.inner("redirect")?;
    let inner = Object::new(table, None, action.path.key("redirect"), place);
    let status: u16 = inner.int("status").unwrap_or(302);
    if (304..307).contains(&status) {
        inner.wrong(cx.report, "status", format!("{status} is none of 301, 302, 303, 307, 308"));
    }
    let location: Name = inner.text("location")?.into();
    let taken =
        |what: Filled<'_>| matches!(what, Filled::Path | Filled::Query | Filled::Url | Filled::Host | Filled::Hostname);
    if !braces_are_known(&location, taken) {
        let why = "replaced are `{path}`, `{query}`, `{url}`, `{host}` and `{hostname}`; other braces are %7B and %7D";
        inner.wrong(cx.report, "location", why);
    }
    if location.bytes().any(|b| b <= b' ' || b == 0x7f) {
        inner.wrong(cx.report, "location", "a space or control character must be percent-encoded");
    }
    Some(Action::Redirect { status, location })
}
