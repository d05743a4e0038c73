//! `[drills]`: when none begins, and what ends one early.

use std::time::Duration;

use super::Context;
use super::object::Object;
use super::rule::watched;
use super::term::{Scope, condition};
use crate::config::document::{Path, Place, Table};
use crate::model::drill::{DrillRules, Watching};

static NOTHING: Table = Table { entries: Vec::new() };

pub fn drills(cx: &mut Context<'_>) -> DrillRules {
    let root = Path::Root;
    let entry = cx.document.entry("drills");
    let table = entry.and_then(|entry| entry.node.table()).unwrap_or(&NOTHING);
    let place = entry.map_or_else(Place::default, |entry| entry.place);
    let object = Object::new(table, None, root.key("drills"), place);
    DrillRules {
        blocked: watching(cx, &object, "blocked"),
        stop_on: watching(cx, &object, "stop_on"),
        longest: object.duration("longest").unwrap_or(Duration::from_secs(86_400)),
    }
}

fn watching(cx: &mut Context<'_>, object: &Object<'_>, key: &str) -> Watching {
    let Some(node) = object.get(key) else { return Watching::default() };
    let when = condition(cx, node, object.path.key(key), Scope::Board);
    let watched = watched(cx, &when);
    Watching { when, watched }
}
