//! Alerts: of what, for which objects, to whom.

use std::time::Duration;

use super::Context;
use super::names::NameTable;
use super::object::Object;
use super::scenario::triggers;
use crate::config::document::{Node, Path, Place, Value};
use crate::config::report::nearest;
use crate::config::values;
use crate::model::alert::{Alert, AlertKind, CERTIFICATE_SOON, Watch, matches};
use crate::model::id::Name;

/// Kinds that the field knows and this build does not watch.
const LATER: [&str; 2] = ["peer.config-differs", "disk"];

pub fn all(cx: &mut Context<'_>) -> Vec<Alert> {
    let root = Path::Root;
    let section = root.key("alert");
    let mut alerts = Vec::new();
    for (name, place, table) in cx.section("alert") {
        let object = Object::new(table, None, section.key(name), place);
        alerts.push(alert(cx, &object, name));
    }
    alerts.sort_by(|a, b| a.name.cmp(&b.name));
    alerts
}

fn alert(cx: &mut Context<'_>, object: &Object<'_>, name: &str) -> Alert {
    let hold = object.duration("for").unwrap_or(Duration::ZERO);
    let path = object.path.key("on");
    let mut on: Vec<Watch> = Vec::new();
    for node in object.items("on") {
        let Some(text) = node.text() else { continue };
        let Some(watch) = watch(cx, text, node.place, path, hold) else { continue };
        if on.iter().any(|other| other.kind == watch.kind) {
            cx.report.error(node.place, path, format!("{path}: `{}` stands twice", watch.kind.word()));
            continue;
        }
        on.push(watch);
    }
    if object.items("on").is_empty() && object.own("on").is_some() {
        object.wrong(cx.report, "on", "names nothing, so the alert is never raised");
    }
    let services = patterns(cx, object, "services", &on, |cx| &cx.names.services);
    let vservers = patterns(cx, object, "vservers", &on, |cx| &cx.names.vservers);
    let scenarios = patterns(cx, object, "scenarios", &on, |cx| &cx.names.scenarios);
    Alert {
        name: name.into(),
        about: object.name("about").unwrap_or_else(|| "".into()),
        on,
        services,
        vservers,
        scenarios,
        triggers: triggers(cx, object),
        repeat: object.duration("repeat"),
    }
}

/// `service.down`, `vserver.on-backup>5m`, `certificate<14d`.
fn watch(cx: &mut Context<'_>, text: &str, place: Place, path: Path<'_>, hold: Duration) -> Option<Watch> {
    let (word, time) = match text.find(['<', '>']) {
        Some(at) => (text[..at].trim_end(), Some((&text[at..=at], text[at + 1..].trim_start()))),
        None => (text, None),
    };
    let Some(kind) = AlertKind::parse(word) else {
        let what = match LATER.contains(&word) {
            true => format!("{path}: `{word}` is not watched in this build"),
            false => format!("{path}: there is no kind of alert `{word}`"),
        };
        let meant = nearest(word, AlertKind::ALL.iter().map(|kind| kind.word())).map(str::to_owned);
        cx.report.error_meant(place, path, what, meant.filter(|_| !LATER.contains(&word)));
        return None;
    };
    let sign = if kind == AlertKind::Certificate { "<" } else { ">" };
    let time = match time {
        None if kind == AlertKind::Certificate => CERTIFICATE_SOON,
        None => hold,
        Some((said, time)) => {
            let node = Node { place, value: Value::Text(time.to_owned()) };
            match values::duration(&node) {
                Ok(time) if said == sign => time,
                Ok(_) => {
                    cx.report.error(place, path, format!("{path}: `{text}`: write `{word}{sign}{time}`"));
                    return None;
                }
                Err(why) => {
                    cx.report.error(place, path, format!("{path}: `{text}`: {why}"));
                    return None;
                }
            }
        }
    };
    Some(Watch { kind, time })
}

/// Patterns of names; a name without `*` and `?` must be there.
fn patterns(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    key: &'static str,
    on: &[Watch],
    names: for<'c> fn(&'c Context<'_>) -> &'c NameTable,
) -> Vec<Name> {
    let path = object.path.key(key);
    if object.own(key).is_some() && !on.is_empty() && on.iter().all(|watch| watch.kind.limited_by() != Some(key)) {
        let what = format!("means nothing here: no kind of `on` is about {key}");
        object.wrong(cx.report, key, what);
        return Vec::new();
    }
    if object.own(key).is_some() && object.items(key).is_empty() {
        object.wrong(cx.report, key, "names nothing; leave it out for every one");
    }
    let mut patterns = Vec::new();
    let nodes = object.items(key);
    let known: Vec<Name> = if nodes.is_empty() { Vec::new() } else { names(cx).iter().cloned().collect() };
    let noun = names(cx).what;
    for node in nodes {
        let Some(text) = node.text() else { continue };
        let found = known.iter().any(|name| matches(text, name));
        // Members that DNS names are not known yet.
        let from_dns = key == "services" && text.contains('/');
        if !found && !from_dns {
            let what = format!("{path}: there is no {noun} `{text}`");
            if text.contains(['*', '?']) {
                cx.report.warning(node.place, path, what);
            } else {
                let meant = nearest(text, known.iter().map(|name| &**name)).map(str::to_owned);
                cx.report.error_meant(node.place, path, what, meant);
            }
        }
        patterns.push(text.into());
    }
    patterns
}
