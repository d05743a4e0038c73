//! Triggers, which act, and queries, which read. What a statement names, and what it is compared with, is said here already.

use std::time::Duration;

use super::Context;
use super::check::body_match;
use super::global::absent_secret;
use super::object::{self, Object};
use crate::config::document::Path;
use crate::config::report::nearest;
use crate::config::values;
use crate::model::check::{HttpExpect, StatusRange};
use crate::model::id::Name;
use crate::model::scenario::{Database, Query, QueryKind, Retry, Trigger, TriggerKind};
use crate::model::sql::{Dialect, Dsn, Expectation, TRIGGER_VALUES, names, only_reads};
use crate::model::syslog::{Destination, Facility, Syslog};
use crate::model::template;

const HTTP_KEYS: [&str; 6] = ["uri", "method", "headers", "body", "expect_status", "expect_body"];
const SQL_KEYS: [&str; 5] = ["dsn", "user", "password", "sql", "expect"];
const SYSLOG_KEYS: [&str; 3] = ["address", "facility", "app_name"];
/// RFC 5424 §6.2.5.
const APP_NAME_MOST: usize = 48;

pub fn triggers(cx: &mut Context<'_>) -> Vec<Trigger> {
    let root = Path::Root;
    let section = root.key("trigger");
    let mut triggers = Vec::new();
    for (name, place, table) in cx.section("trigger") {
        let object = Object::new(table, None, section.key(name), place);
        triggers.push(trigger(cx, &object, name));
    }
    triggers.sort_by(|a, b| a.name.cmp(&b.name));
    triggers
}

pub fn queries(cx: &mut Context<'_>) -> Vec<Query> {
    let root = Path::Root;
    let section = root.key("query");
    let mut queries = Vec::new();
    for (name, place, table) in cx.section("query") {
        let object = Object::new(table, None, section.key(name), place);
        queries.push(query(cx, &object, name));
    }
    queries.sort_by(|a, b| a.name.cmp(&b.name));
    queries
}

fn is_http(object: &Object<'_>) -> bool {
    matches!(object.text("type"), Some("HTTP" | "HTTPS"))
}

fn trigger(cx: &mut Context<'_>, object: &Object<'_>, name: &str) -> Trigger {
    let kind = if object.text("type") == Some("SYSLOG") {
        syslog(cx, object)
    } else if is_http(object) {
        object.only(cx.report, &SQL_KEYS, "for a trigger of type HTTP");
        object.only(cx.report, &SYSLOG_KEYS, "for a trigger of type HTTP");
        let (uri, method, headers, expect) = http(cx, object, "POST", StatusRange { from: 200, to: 299 });
        let secret = object.secret(cx.report, "secret");
        if let Some(secret) = &secret {
            absent_secret(cx, object, "secret", secret);
        }
        check_body(cx, object);
        TriggerKind::Http { uri, method, headers, body: object.name("body"), expect, secret }
    } else {
        object.only(cx.report, &HTTP_KEYS, "for a trigger of an SQL type");
        object.only(cx.report, &SYSLOG_KEYS, "for a trigger of an SQL type");
        object.only(cx.report, &["secret"], "for a trigger of an SQL type; its password is `password`");
        let (database, sql) = sql(cx, object, &TRIGGER_VALUES, false);
        TriggerKind::Sql { database, sql, expect: expected(cx, object) }
    };
    Trigger {
        name: name.into(),
        kind,
        retry: retry(cx, object),
        timeout: object.duration("timeout").unwrap_or(Duration::from_secs(10)),
    }
}

/// The places of a template are known.
fn check_body(cx: &mut Context<'_>, object: &Object<'_>) {
    if let Some(place) = object.text("body").and_then(template::unknown_place) {
        let near = nearest(&place, template::PLACES).map(|near| format!("; did you mean `{near}`"));
        let near = near.unwrap_or_default();
        let what =
            format!("`${{{place}}}` is nothing that a commit or an alert says{near}; `$${{` stands for `${{` itself");
        object.wrong(cx.report, "body", what);
    }
}

fn syslog(cx: &mut Context<'_>, object: &Object<'_>) -> TriggerKind {
    let http = ["uri", "method", "headers", "expect_status", "expect_body", "secret"];
    object.only(cx.report, &http, "for a trigger of type SYSLOG");
    object.only(cx.report, &SQL_KEYS, "for a trigger of type SYSLOG");
    object.require(cx.report, "address");
    check_body(cx, object);
    TriggerKind::Syslog { syslog: receiver(cx, object), body: object.name("body") }
}

/// A receiver of messages of syslog: `address`, `facility`, `app_name`.
pub(super) fn receiver(cx: &mut Context<'_>, object: &Object<'_>) -> Syslog {
    let to = object.text("address").map_or_else(
        || Destination::Udp("".into()),
        |text| {
            Destination::parse(text).unwrap_or_else(|why| {
                object.wrong(cx.report, "address", why);
                Destination::Udp("".into())
            })
        },
    );
    let app_name = object.name("app_name").unwrap_or_else(|| "bascule".into());
    if app_name.len() > APP_NAME_MOST || !app_name.bytes().all(|b| b.is_ascii_graphic()) {
        object.wrong(cx.report, "app_name", format!("at most {APP_NAME_MOST} printable ASCII characters, no space"));
    }
    let facility = object.text("facility").and_then(Facility::parse).unwrap_or(Facility::DAEMON);
    Syslog { to, facility, app_name }
}

fn query(cx: &mut Context<'_>, object: &Object<'_>, name: &str) -> Query {
    let timeout = object.duration("timeout").unwrap_or(Duration::from_secs(5));
    let (kind, expect) = if is_http(object) {
        object.only(
            cx.report,
            &SQL_KEYS,
            "for a query of type HTTP; an answer is judged by `expect_status` and `expect_body`",
        );
        let (uri, method, headers, expect) = http(cx, object, "GET", StatusRange::one(200));
        if !matches!(&*method, "GET" | "HEAD" | "OPTIONS") {
            object.wrong(cx.report, "method", format!("a query only reads; {method} may act"));
        }
        (QueryKind::Http { uri, method, headers, expect }, None)
    } else {
        object.only(cx.report, &HTTP_KEYS, "for a query of an SQL type");
        let (database, sql) = sql(cx, object, &[], true);
        object.require(cx.report, "expect");
        (QueryKind::Sql { database, sql }, expected(cx, object))
    };
    Query { name: name.into(), kind, expect, timeout }
}

fn http(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    method: &str,
    status: StatusRange,
) -> (Name, Name, Vec<(Name, Name)>, HttpExpect) {
    object.require(cx.report, "uri");
    let uri = object.text("uri").unwrap_or("");
    if !uri.is_empty() {
        match values::url(uri) {
            Err(why) => object.wrong(cx.report, "uri", why),
            Ok(url) if !url.tls && object.text("type") == Some("HTTPS") => {
                object.wrong(cx.report, "uri", "type HTTPS needs a URI that begins with https://");
            }
            Ok(_) => {}
        }
    }
    let method: Name = object.name("method").unwrap_or_else(|| method.into());
    if let Err(why) = object::method(&method) {
        object.wrong(cx.report, "method", why);
    }
    let headers = object.headers(cx.report, "headers");
    let mut expect = HttpExpect {
        status: object.statuses("expect_status").unwrap_or_else(|| vec![status]),
        headers: Vec::new(),
        body: None,
        trofs_code: None,
        trofs_body: None,
    };
    if let Some((table, place)) = object.inner("expect_body") {
        let inner = Object::new(table, None, object.path.key("expect_body"), place);
        expect.body = body_match(cx, &inner, ["contains", "regex", "json"]);
    }
    (uri.into(), method, headers, expect)
}

/// `values`: what the statement may name. `reads`: it is a query.
fn sql(cx: &mut Context<'_>, object: &Object<'_>, values: &[&str], reads: bool) -> (Database, Name) {
    object.require(cx.report, "dsn");
    object.require(cx.report, "sql");
    let password = object.secret(cx.report, "password");
    match &password {
        Some(secret) => absent_secret(cx, object, "password", secret),
        None if object.own("password").is_none() && object.own("user").is_some() => {
            let path = object.path;
            let what = format!("{path}: `user` without `password`; the database will refuse it");
            cx.report.warning(object.place_of("user"), path, what);
        }
        None => {}
    }
    let dialect = object.text("type").and_then(Dialect::of).unwrap_or(Dialect::Oracle);
    let (dsn, text) = (object.text("dsn").unwrap_or(""), object.text("sql").unwrap_or(""));
    // Oracle's driver takes more forms than one.
    if dialect != Dialect::Oracle
        && !dsn.is_empty()
        && let Err(why) = Dsn::parse(dsn, dialect)
    {
        object.wrong(cx.report, "dsn", why);
    }
    if reads && dialect == Dialect::Oracle && !text.is_empty() && !only_reads(text) {
        object.wrong(cx.report, "sql", "a query of type ORACLE only reads: it begins with SELECT or WITH");
    }
    for name in names(dialect, text) {
        if !values.iter().any(|value| value.eq_ignore_ascii_case(name)) {
            let known = match values {
                [] => "a query has no values".to_owned(),
                _ => format!(
                    "there is {}",
                    values.iter().map(|value| format!(":{value}")).collect::<Vec<_>>().join(", ")
                ),
            };
            object.wrong(cx.report, "sql", format!("names the value :{name}; {known}"));
        }
    }
    let database = Database {
        kind: object.text("type").unwrap_or("ORACLE").into(),
        dsn: dsn.into(),
        user: object.name("user"),
        password,
    };
    (database, text.into())
}

/// `<= 60`, `= 'YES'`: an operator and one value.
fn expected(cx: &mut Context<'_>, object: &Object<'_>) -> Option<Name> {
    let text = object.text("expect")?;
    if let Err(why) = Expectation::parse(text) {
        object.wrong(cx.report, "expect", why);
    }
    Some(text.into())
}

fn retry(cx: &mut Context<'_>, object: &Object<'_>) -> Retry {
    let empty = crate::config::document::Table::default();
    let (table, place) = object.inner("retry").unwrap_or((&empty, object.place));
    let inner = Object::new(table, None, object.path.key("retry"), place);
    let retry = Retry {
        attempts: inner.int("attempts").unwrap_or(5),
        first: inner.duration("first").unwrap_or(Duration::from_secs(1)),
        most: inner.duration("most").unwrap_or(Duration::from_secs(300)),
        max_age: inner.duration("max_age").unwrap_or(Duration::from_secs(86_400)),
    };
    if retry.first > retry.most {
        let key = if inner.own("first").is_some() { "first" } else { "most" };
        inner.wrong(cx.report, key, "`first` must not be more than `most`");
    }
    retry
}
