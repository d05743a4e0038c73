//! Application protocols and scripts: what monitors and checks share.

use super::Context;
use super::global::absent_secret;
use super::object::Object;
use crate::config::document::{Node, Value as NodeValue};
use crate::config::values;
use crate::model::dialogue::{Dialogue, LdapSearch, Login, Script, ScriptLimits, SqlQuery, Value};
use crate::model::id::Name;
use crate::model::ldap::Filter;
use crate::model::scenario::Secret;
use crate::model::sql::{Expectation, is_comparison, only_reads};

/// The largest name or value that goes into one field of a RADIUS packet (RFC 2865 §5). Bytes.
const RADIUS_ATTRIBUTE_MOST: usize = 253;

/// The dialogue of a type; `None` where the word is another kind of monitor.
pub fn dialogue(cx: &mut Context<'_>, object: &Object<'_>, word: &str) -> Option<Dialogue> {
    Some(match word {
        "FTP" | "FTPS" => Dialogue::Ftp { login: login(cx, object, "user_name"), file: None },
        "FTP-EXTENDED" => {
            object.require(cx.report, "file_name");
            Dialogue::Ftp { login: login(cx, object, "user_name"), file: line(cx, object, "file_name") }
        }
        "SMTP" => Dialogue::Smtp,
        "POP3" => Dialogue::Pop3 { login: login(cx, object, "user_name") },
        "NNTP" => Dialogue::Nntp { group: line(cx, object, "group") },
        "LDAP" | "LDAPS" => Dialogue::Ldap { login: login(cx, object, "bind_dn"), search: search(cx, object) },
        "RADIUS" => radius(cx, object),
        "RADIUS_ACCOUNTING" => Dialogue::RadiusAccounting {
            user: attribute(cx, object, "user_name"),
            secret: rad_key(cx, object),
            nas_ip: object.ip("rad_nas_ip"),
        },
        "MYSQL" | "MYSQL-ECV" => {
            let (login, database, query) = sql(cx, object, word == "MYSQL-ECV");
            Dialogue::Mysql { login, database, query }
        }
        "POSTGRESQL" => {
            let (login, database, query) = sql(cx, object, false);
            Dialogue::Postgresql { login, database, query }
        }
        "ORACLE" => oracle(cx, object),
        "REDIS" => {
            // Redis without users has the password alone; its user is then `default`.
            let login = match object.get("password").is_some() && object.get("user_name").is_none() {
                true => Some(Login { user: "default".into(), password: secret(cx, object, "password") }),
                false => login(cx, object, "user_name"),
            };
            Dialogue::Redis { login }
        }
        "MQTT" => Dialogue::Mqtt {
            login: login(cx, object, "user_name"),
            client_id: line(cx, object, "mqtt_client_identifier"),
        },
        "GRPC" => Dialogue::Grpc { service: object.name("grpc_service_name").unwrap_or_else(|| "".into()) },
        _ => return None,
    })
}

fn oracle(cx: &mut Context<'_>, object: &Object<'_>) -> Dialogue {
    object.require(cx.report, "user_name");
    object.require(cx.report, "database");
    let (login, database, query) = sql(cx, object, false);
    if query.as_ref().is_some_and(|query| !only_reads(&query.sql)) {
        object.wrong(cx.report, "sql_query", "a check of type ORACLE only reads: its query begins with SELECT or WITH");
    }
    let login = login.unwrap_or_else(|| Login { user: "".into(), password: None });
    Dialogue::Oracle { login, database: database.unwrap_or_else(|| "".into()), query }
}

fn radius(cx: &mut Context<'_>, object: &Object<'_>) -> Dialogue {
    object.require(cx.report, "user_name");
    object.require(cx.report, "password");
    let codes = object.items("rad_codes").into_iter();
    let codes: Vec<u8> = codes.filter_map(|node| u8::try_from(values::integer(node, 1, 255).ok()?).ok()).collect();
    let user = attribute(cx, object, "user_name").unwrap_or_else(|| "".into());
    Dialogue::Radius {
        login: Login { user, password: secret(cx, object, "password") },
        secret: rad_key(cx, object),
        nas_ip: object.ip("rad_nas_ip"),
        codes: if codes.is_empty() { vec![2] } else { codes },
    }
}

fn rad_key(cx: &mut Context<'_>, object: &Object<'_>) -> Secret {
    object.require(cx.report, "rad_key");
    secret(cx, object, "rad_key").unwrap_or_else(|| Secret::Env("".into()))
}

fn attribute(cx: &mut Context<'_>, object: &Object<'_>, key: &str) -> Option<Name> {
    let value = object.name(key)?;
    if value.len() > RADIUS_ATTRIBUTE_MOST {
        object.wrong(cx.report, key, format!("longer than the {RADIUS_ATTRIBUTE_MOST} bytes that RADIUS carries"));
    }
    Some(value)
}

fn search(cx: &mut Context<'_>, object: &Object<'_>) -> Option<LdapSearch> {
    let Some(base_dn) = object.name("base_dn") else {
        object.only(cx.report, &["filter", "attribute"], "without `base_dn`");
        return None;
    };
    let filter = object.name("filter").unwrap_or_else(|| "(objectClass=*)".into());
    if let Err(why) = Filter::parse(&filter) {
        object.wrong(cx.report, "filter", why);
    }
    Some(LdapSearch { base_dn, filter, attribute: object.name("attribute") })
}

type Sql = (Option<Login>, Option<Name>, Option<SqlQuery>);

fn sql(cx: &mut Context<'_>, object: &Object<'_>, needs_query: bool) -> Sql {
    if needs_query {
        object.require(cx.report, "sql_query");
    }
    let login = login(cx, object, "user_name");
    if login.is_none() {
        object.only(cx.report, &["database", "sql_query"], "without `user_name`");
    }
    let expect = object.name("sql_expect");
    if let Some(Err(why)) = expect.as_deref().filter(|text| is_comparison(text)).map(Expectation::parse) {
        object.wrong(cx.report, "sql_expect", format!("{why}; a text that begins so is compared as `= '…'`"));
    }
    let query = object.name("sql_query").map(|sql| SqlQuery { sql, expect });
    if query.is_none() {
        object.only(cx.report, &["sql_expect"], "without `sql_query`");
    }
    let query = query.filter(|_| login.is_some());
    let database = object.name("database").filter(|_| login.is_some());
    (login, database, query)
}

/// Who logs in: the user stands under `key`.
fn login(cx: &mut Context<'_>, object: &Object<'_>, key: &str) -> Option<Login> {
    let Some(user) = line(cx, object, key) else {
        object.only(cx.report, &["password"], &format!("without `{key}`"));
        return None;
    };
    Some(Login { user, password: secret(cx, object, "password") })
}

fn secret(cx: &mut Context<'_>, object: &Object<'_>, key: &str) -> Option<Secret> {
    let secret = object.secret(cx.report, key)?;
    absent_secret(cx, object, key, &secret);
    Some(secret)
}

/// A text that goes into one line of a dialogue, where a line break would begin another command.
fn line(cx: &mut Context<'_>, object: &Object<'_>, key: &str) -> Option<Name> {
    let text = object.name(key)?;
    if text.chars().any(char::is_control) {
        object.wrong(cx.report, key, "has a control character");
    }
    Some(text)
}

pub fn script(cx: &mut Context<'_>, object: &Object<'_>) -> Script {
    object.require(cx.report, "script_name");
    let name = object.name("script_name").unwrap_or_else(|| "".into());
    // Only what lies in the folder itself: no path leads out of it.
    if name.contains(['/', '\0']) || name.starts_with('.') {
        object.wrong(cx.report, "script_name", format!("`{name}` is not the plain name of a file"));
    }
    let directory = super::monitor::scripts(cx).unwrap_or_else(|| {
        object.wrong(cx.report, "script_name", "there is no folder for scripts; set `scripts` in [monitors]");
        "".into()
    });
    let arguments = object.items("script_args").into_iter().filter_map(Node::text).map(Name::from).collect::<Vec<_>>();
    if arguments.iter().any(|argument| argument.contains('\0')) {
        object.wrong(cx.report, "script_args", "has a zero byte");
    }
    let size = |key| object.get(key).and_then(|node| values::size(node).ok());
    let base = ScriptLimits::default();
    Script {
        directory,
        name,
        arguments,
        environment: environment(cx, object),
        limits: ScriptLimits {
            memory: size("memory").unwrap_or(base.memory),
            cpu: object.duration("cpu_time"),
            file_size: size("file_size").unwrap_or(base.file_size),
            open_files: object.int("open_files").unwrap_or(base.open_files),
        },
    }
}

fn environment(cx: &mut Context<'_>, object: &Object<'_>) -> Vec<(Name, Value)> {
    let table = object.get("environment").and_then(Node::table);
    let mut variables = Vec::new();
    for entry in table.map_or(&[][..], |table| &table.entries[..]) {
        let name = &entry.key;
        let is_word = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !is_word || name.is_empty() || name.as_bytes()[0].is_ascii_digit() {
            object.wrong(cx.report, "environment", format!("`{name}` is no name of an environment variable"));
        } else if name == "PATH" || name.starts_with("BASCULE_") || name.starts_with("LD_") {
            object.wrong(cx.report, "environment", format!("`{name}` is not yours to set"));
        }
        let value = match &entry.node.value {
            NodeValue::Text(text) if text.contains('\0') => {
                object.wrong(cx.report, "environment", format!("`{name}` has a zero byte"));
                continue;
            }
            NodeValue::Text(text) => Value::Plain(text.as_str().into()),
            NodeValue::Table(table) => {
                let path = object.path.key("environment");
                let inner = Object::new(table, None, path, entry.place);
                match (inner.name("env"), inner.name("file")) {
                    (Some(env), None) => Value::Secret(Secret::Env(env)),
                    (None, Some(file)) => Value::Secret(Secret::File(file)),
                    _ => {
                        object.wrong(cx.report, "environment", format!("`{name}`: say either `env` or `file`"));
                        continue;
                    }
                }
            }
            _ => continue,
        };
        variables.push((name.as_str().into(), value));
    }
    variables.sort_by(|a: &(Name, Value), b| a.0.cmp(&b.0));
    variables
}
