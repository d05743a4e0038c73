//! The GTM: time windows, switches, triggers, queries, scenarios, data centres and their pairs.

use super::check::{body_match, headers, schedule, statuses};
use super::text::{Text, Value};
use super::{condition, opens_a_table, secret_value};
use crate::model::Model;
use crate::model::check::HttpExpect;
use crate::model::condition::Condition;
use crate::model::drill::DrillRules;
use crate::model::id::Name;
use crate::model::scenario::{
    AccessList, AfterMaintenance, Database, Direction, DirectionRules, Guard, GuardStep, OnTimeout, Pair, PairPlace,
    QueryKind, Scenario, TimeWindow, TriggerKind,
};
use crate::model::time::Wall;

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

pub(super) fn time_windows(out: &mut Text, model: &Model) {
    for window in &model.time_windows {
        time_window(out, window);
    }
}

fn time_window(out: &mut Text, window: &TimeWindow) {
    out.table(&["time_window", &window.name]);
    let days = DAYS.iter().enumerate().filter(|(bit, _)| window.days & (1 << bit) != 0).map(|(_, day)| day);
    out.key("days", Value::strs(days));
    let time = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
    let hours = window.hours.iter().map(|(from, to)| format!("{}-{}", time(*from), time(*to)));
    if !window.hours.is_empty() {
        out.key("hours", Value::strs(hours));
    }
    out.key("zone", Value::str(&window.zone));
    out.key("holidays", Value::strs(&window.holidays));
    if !window.once.is_empty() {
        let once = window
            .once
            .iter()
            .map(|(from, to)| Value::Inline(vec![("from".into(), moment(*from)), ("to".into(), moment(*to))]));
        out.key("once", Value::List(once.collect()));
    }
}

fn moment(wall: Wall) -> Value {
    match jiff::Timestamp::from_microsecond(wall.0) {
        Ok(timestamp) => Value::Verbatim(timestamp.to_string()),
        Err(_) => Value::show(wall),
    }
}

pub(super) fn switches(out: &mut Text, model: &Model) {
    for switch in model.switches.iter().filter(|switch| switch.maintenance_of.is_none()) {
        out.table(&["switch", &switch.name]);
        out.key("initial", Value::Bool(switch.initial));
    }
}

pub(super) fn triggers(out: &mut Text, model: &Model) {
    for trigger in &model.triggers {
        out.table(&["trigger", &trigger.name]);
        match &trigger.kind {
            TriggerKind::Http { uri, method, headers, body, expect, secret } => {
                http(out, uri, method, headers, body.as_ref(), expect);
                out.maybe("secret", secret.as_ref().map(secret_value));
            }
            TriggerKind::Sql { database, sql, expect } => self::sql(out, database, sql, expect.as_ref()),
            TriggerKind::Syslog { syslog, body } => {
                out.key("type", Value::str("SYSLOG"));
                out.key("address", Value::show(&syslog.to));
                out.key("facility", Value::str(syslog.facility.word()));
                out.key("app_name", Value::str(&syslog.app_name));
                out.maybe("body", body.as_ref().map(|body| Value::Lines(body.to_string())));
            }
        }
        out.key("timeout", Value::duration(trigger.timeout));
        let retry = vec![
            ("attempts".into(), Value::Int(trigger.retry.attempts.into())),
            ("first".into(), Value::duration(trigger.retry.first)),
            ("most".into(), Value::duration(trigger.retry.most)),
            ("max_age".into(), Value::duration(trigger.retry.max_age)),
        ];
        out.key("retry", Value::Inline(retry));
    }
}

pub(super) fn queries(out: &mut Text, model: &Model) {
    for query in &model.queries {
        out.table(&["query", &query.name]);
        match &query.kind {
            QueryKind::Http { uri, method, headers, expect } => {
                http(out, uri, method, headers, None, expect);
                out.maybe("expect", query.expect.as_ref().map(Value::str));
            }
            QueryKind::Sql { database, sql } => self::sql(out, database, sql, query.expect.as_ref()),
        }
        out.key("timeout", Value::duration(query.timeout));
    }
}

fn http(out: &mut Text, uri: &Name, method: &Name, fields: &[(Name, Name)], body: Option<&Name>, expect: &HttpExpect) {
    let secure = uri.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
    out.key("type", Value::str(if secure { "HTTPS" } else { "HTTP" }));
    out.key("uri", Value::str(uri));
    out.key("method", Value::str(method));
    out.maybe("headers", headers(fields));
    out.maybe("body", body.map(|body| Value::Lines(body.to_string())));
    out.key("expect_status", statuses(&expect.status));
    out.maybe(
        "expect_body",
        expect.body.as_ref().map(|body| {
            let (kind, value) = body_match(body);
            Value::Inline(vec![(kind.into(), value)])
        }),
    );
}

fn sql(out: &mut Text, database: &Database, sql: &Name, expect: Option<&Name>) {
    out.key("type", Value::str(&database.kind));
    out.key("dsn", Value::str(&database.dsn));
    out.maybe("user", database.user.as_ref().map(Value::str));
    out.maybe("password", database.password.as_ref().map(secret_value));
    out.key("sql", Value::Lines(sql.to_string()));
    out.maybe("expect", expect.map(Value::str));
}

pub(super) fn scenarios(out: &mut Text, model: &Model) {
    for scenario in model.scenarios.iter().filter(|scenario| scenario.pair.is_none()) {
        self::scenario(out, model, scenario);
    }
}

fn scenario(out: &mut Text, model: &Model, scenario: &Scenario) {
    out.table(&["scenario", &scenario.name]);
    if !scenario.about.is_empty() {
        out.key("about", Value::str(&scenario.about));
    }
    out.key("initial", Value::str(if scenario.initially_active { "active" } else { "inactive" }));
    let oscillation = vec![
        ("commits".into(), Value::Int(scenario.oscillation.commits.into())),
        ("within".into(), Value::duration(scenario.oscillation.within)),
    ];
    out.key("oscillation", Value::Inline(oscillation));
    out.key("min_dwell", Value::duration(scenario.min_dwell));
    out.maybe("renamed_from", scenario.renamed_from.as_ref().map(Value::str));
    for side in Direction::BOTH {
        let path = ["scenario", &*scenario.name, side.word()];
        direction(out, model, &path, &scenario.directions[side.index()]);
    }
}

fn direction(out: &mut Text, model: &Model, path: &[&str], rules: &DirectionRules) {
    out.table(path);
    out.key("mode", Value::str(rules.base_mode.word()));
    let conditions: [(&str, Option<&Condition>); 2] = [("when", Some(&rules.when)), ("gate", rules.gate.as_ref())];
    let conditions = conditions.into_iter().filter_map(|(key, c)| Some((key, c?)));
    let (tables, lists): (Vec<_>, Vec<_>) = conditions.partition(|(_, c)| opens_a_table(c));
    for (key, list) in lists {
        condition(out, path, key, list);
    }
    out.key("triggers", Value::strs(rules.triggers.iter().map(|id| &model.triggers[id.index()].name)));
    out.maybe("guard", rules.guard.as_ref().map(|g| guard(model, g)));
    for (key, table) in tables {
        condition(out, path, key, table);
    }
}

fn guard(model: &Model, guard: &Guard) -> Value {
    let run = guard.run.iter().map(|step| match step {
        GuardStep::Query(id) => &*model.queries[id.index()].name,
        GuardStep::Check(term) => &*term.text,
    });
    Value::Inline(vec![
        ("run".into(), Value::strs(run)),
        ("approve".into(), Value::Bool(guard.approve)),
        ("timeout".into(), Value::duration(guard.timeout)),
        ("retries".into(), Value::Int(guard.retries.into())),
        ("backoff".into(), Value::duration(guard.backoff)),
        ("deadline".into(), Value::duration(guard.deadline)),
        (
            "on_timeout".into(),
            Value::str(match guard.on_timeout {
                OnTimeout::Block => "block",
                OnTimeout::Proceed => "proceed",
            }),
        ),
    ])
}

pub(super) fn datacenters(out: &mut Text, model: &Model) {
    for datacenter in &model.datacenters {
        out.table(&["datacenter", &datacenter.name]);
        let networks = Some(&datacenter.networks).filter(|networks| !networks.is_empty());
        out.maybe("networks", networks.map(|networks| super::dns::networks(networks)));
        let lists = [("wan", &datacenter.wan), ("lan", &datacenter.lan), ("internet", &datacenter.internet)];
        for (key, list) in lists.into_iter().filter_map(|(key, list)| Some((key, list.as_ref()?))) {
            out.table(&["datacenter", &datacenter.name, key]);
            access_list(out, list);
        }
    }
}

fn access_list(out: &mut Text, list: &AccessList) {
    out.key("targets", Value::strs(list.targets.iter().map(|target| &target.text)));
    out.key("quorum", Value::Int(list.quorum.into()));
    schedule(out, &list.schedule);
    out.maybe("source", list.targets.first().and_then(|t| t.target.source).map(Value::show));
}

pub(super) fn pairs(out: &mut Text, model: &Model) {
    for pair in &model.pairs {
        self::pair(out, model, pair);
    }
}

fn pair(out: &mut Text, model: &Model, pair: &Pair) {
    let name = |id: crate::model::id::DatacenterId| Value::str(&model.datacenters[id.index()].name);
    out.table(&["datacenter_pair", &pair.name]);
    out.key("active", name(pair.active));
    out.key("backup", name(pair.backup));
    out.key("return_hold", Value::duration(pair.return_hold));
    out.maybe("loss_hold", pair.loss_hold.map(Value::duration));
    let after = match pair.return_after_maintenance {
        AfterMaintenance::Hold => "hold",
        AfterMaintenance::Now => "now",
    };
    out.key("return_after_maintenance", Value::str(after));
    out.key("access", Value::str(pair.access.word()));
    out.maybe("witness", pair.witness.as_ref().map(Value::str));
    if !pair.after.is_empty() {
        out.key("after", Value::strs(&pair.after));
    }
    for place in pair.scenarios.iter().filter(|place| place.own) {
        out.key(own_key(place.place), Value::str(&model.scenario(place.scenario).name));
    }
    for place in &pair.scenarios {
        if let Some(overrides) = &place.overrides {
            out.table(&["datacenter_pair", &pair.name, place.place.word()]);
            replaced(out, overrides);
        }
    }
}

/// The fields that replace generated ones, in their order; inner tables stand in line so that it is kept.
fn replaced(out: &mut Text, overrides: &str) {
    // The loader made this text from a table, so it parses.
    let Ok(document) = overrides.parse::<toml_edit::DocumentMut>() else { return };
    for (key, item) in document.iter() {
        out.maybe(key, item_value(item));
    }
}

fn item_value(item: &toml_edit::Item) -> Option<Value> {
    if let Some(table) = item.as_table_like() {
        let entries = table.iter().filter_map(|(key, item)| Some((key.to_owned(), item_value(item)?)));
        return Some(Value::Inline(entries.collect()));
    }
    if let Some(tables) = item.as_array_of_tables() {
        let entries = tables.iter().map(|table| {
            let entries = table.iter().filter_map(|(key, item)| Some((key.to_owned(), item_value(item)?)));
            Value::Inline(entries.collect())
        });
        return Some(Value::List(entries.collect()));
    }
    item.as_value().map(plain_value)
}

fn plain_value(value: &toml_edit::Value) -> Value {
    use toml_edit::Value as Toml;
    match value {
        Toml::String(text) => Value::str(text.value()),
        Toml::Integer(number) => Value::Int(*number.value()),
        Toml::Float(number) => Value::Float(*number.value()),
        Toml::Boolean(value) => Value::Bool(*value.value()),
        Toml::Datetime(moment) => Value::Verbatim(moment.value().to_string()),
        Toml::Array(items) => Value::List(items.iter().map(plain_value).collect()),
        Toml::InlineTable(table) => {
            Value::Inline(table.iter().map(|(key, value)| (key.to_owned(), plain_value(value))).collect())
        }
    }
}

/// The key that puts a scenario of one's own in a place.
fn own_key(place: PairPlace) -> &'static str {
    match place {
        PairPlace::FromActive => "from_active",
        PairPlace::ToBackup => "to_backup",
        PairPlace::ToActive => "to_active",
        PairPlace::FromBackup => "from_backup",
    }
}

/// Only where something is said.
pub(super) fn drills(out: &mut Text, model: &Model) {
    let drills = &model.drills;
    if *drills == DrillRules::default() {
        return;
    }
    out.table(&["drills"]);
    out.key("longest", Value::duration(drills.longest));
    // Plain lists first: a table of named groups ends the table around it.
    let mut both = [("blocked", &drills.blocked.when), ("stop_on", &drills.stop_on.when)];
    both.sort_by_key(|(_, when)| opens_a_table(when));
    for (key, when) in both.into_iter().filter(|(_, when)| !when.groups.is_empty()) {
        condition(out, &["drills"], key, when);
    }
}
