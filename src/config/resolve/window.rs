//! Time windows and switches.

use super::Context;
use super::names::maintenance;
use super::object::Object;
use crate::config::document::{Node, Path};
use crate::config::report::nearest;
use crate::config::values;
use crate::model::id::{DatacenterId, Name};
use crate::model::scenario::{Switch, TimeWindow};
use crate::model::time::Wall;

const ALL_DAYS: u8 = 0b111_1111;

pub fn time_windows(cx: &mut Context<'_>) -> Vec<TimeWindow> {
    let root = Path::Root;
    let section = root.key("time_window");
    let mut windows = Vec::new();
    for (name, place, table) in cx.section("time_window") {
        let object = Object::new(table, None, section.key(name), place);
        windows.push(time_window(cx, &object, name));
    }
    windows.sort_by(|a, b| a.name.cmp(&b.name));
    windows
}

fn time_window(cx: &mut Context<'_>, object: &Object<'_>, name: &str) -> TimeWindow {
    let zone: Name = object.name("zone").unwrap_or_else(|| "UTC".into());
    if jiff::tz::TimeZone::get(&zone).is_err() && !zone.is_empty() {
        let meant = nearest_zone(&zone);
        let path = object.path.key("zone");
        let what = format!("{path}: there is no time zone `{zone}` (names are like `Europe/Berlin`)");
        cx.report.error_meant(object.place_of("zone"), path, what, meant);
    }
    let holidays = object.items("holidays").into_iter().filter_map(|node| values::day(node).ok());
    TimeWindow {
        name: name.into(),
        days: days(cx, object),
        hours: hours(cx, object),
        holidays: holidays.map(Name::from).collect(),
        once: once(cx, object, &zone),
        zone,
    }
}

fn nearest_zone(zone: &str) -> Option<String> {
    let names: Vec<String> = jiff::tz::db().available().map(|name| name.to_string()).collect();
    nearest(zone, names.iter().map(String::as_str)).map(str::to_owned)
}

/// One-off spans alone mean no weekly window.
fn days(cx: &mut Context<'_>, object: &Object<'_>) -> u8 {
    if object.own("days").is_none() {
        let only_once = object.own("once").is_some() && object.own("hours").is_none();
        return if only_once { 0 } else { ALL_DAYS };
    }
    let mut days = 0;
    let path = object.path.key("days");
    for (index, node) in object.items("days").into_iter().enumerate() {
        let Some(text) = node.text() else { continue };
        match values::weekday(text) {
            Some(day) => days |= day,
            None => {
                let path = path.item(index);
                let known = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
                let meant = nearest(text, known).map(str::to_owned);
                let what = format!("{path}: `{text}` is not a day; days are {}", known.join(", "));
                cx.report.error_meant(node.place, path, what, meant);
            }
        }
    }
    days
}

fn hours(cx: &mut Context<'_>, object: &Object<'_>) -> Vec<(u16, u16)> {
    let mut spans = Vec::new();
    for node in object.items("hours") {
        let Some(text) = node.text() else { continue };
        match values::hours(text) {
            Ok(span) => spans.push(span),
            Err(why) => {
                let path = object.path.key("hours");
                cx.report.error(node.place, path, format!("{path}: {why}"));
            }
        }
    }
    spans
}

fn once(cx: &mut Context<'_>, object: &Object<'_>, zone: &str) -> Vec<(Wall, Wall)> {
    let mut spans = Vec::new();
    for node in object.own("once").and_then(Node::list).unwrap_or(&[]) {
        let Some(table) = node.table() else { continue };
        let moment = |key: &str| values::moment(table.get(key)?, zone).ok();
        let Some((from, to)) = moment("from").zip(moment("to")) else { continue };
        if to <= from {
            let path = object.path.key("once");
            cx.report.error(node.place, path, format!("{path}: `to` must be later than `from`"));
        }
        spans.push((from, to));
    }
    spans
}

/// The operator's and the maintenance switch of every data centre.
pub fn switches(cx: &mut Context<'_>) -> Vec<Switch> {
    let mut switches = Vec::new();
    let root = Path::Root;
    let section = root.key("switch");
    for (name, place, table) in cx.section("switch") {
        let object = Object::new(table, None, section.key(name), place);
        let initial = object.bool("initial").unwrap_or(false);
        switches.push(Switch { name: name.into(), initial, maintenance_of: None });
    }
    for (name, ..) in cx.section("datacenter") {
        let maintenance_of = cx.names.datacenters.id(name).map(DatacenterId::from_index);
        switches.push(Switch { name: maintenance(name), initial: false, maintenance_of });
    }
    switches.sort_by(|a, b| a.name.cmp(&b.name));
    switches
}
