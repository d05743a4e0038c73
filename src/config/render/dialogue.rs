//! Application protocols and scripts: what monitors and checks share.

use super::secret_value;
use super::text::{Text, Value};
use crate::config::units::format_size;
use crate::model::dialogue::{self, Dialogue, Login, Script, SqlQuery};
use crate::model::id::Name;

pub(super) fn dialogue(out: &mut Text, dialogue: &Dialogue) {
    match dialogue {
        Dialogue::Ftp { login, file } => {
            self::login(out, "user_name", login.as_ref());
            out.maybe("file_name", file.as_ref().map(Value::str));
        }
        Dialogue::Smtp => {}
        Dialogue::Pop3 { login } => self::login(out, "user_name", login.as_ref()),
        Dialogue::Redis { login } => self::login(out, "user_name", login.as_ref()),
        Dialogue::Nntp { group } => out.maybe("group", group.as_ref().map(Value::str)),
        Dialogue::Ldap { login, search } => {
            self::login(out, "bind_dn", login.as_ref());
            if let Some(search) = search {
                out.key("base_dn", Value::str(&search.base_dn));
                out.key("filter", Value::str(&search.filter));
                out.maybe("attribute", search.attribute.as_ref().map(Value::str));
            }
        }
        Dialogue::Radius { login, secret, nas_ip, codes } => {
            self::login(out, "user_name", Some(login));
            out.key("rad_key", secret_value(secret));
            out.maybe("rad_nas_ip", nas_ip.map(Value::show));
            out.key("rad_codes", Value::List(codes.iter().map(|&code| Value::Int(code.into())).collect()));
        }
        Dialogue::RadiusAccounting { user, secret, nas_ip } => {
            out.maybe("user_name", user.as_ref().map(Value::str));
            out.key("rad_key", secret_value(secret));
            out.maybe("rad_nas_ip", nas_ip.map(Value::show));
        }
        Dialogue::Mysql { login, database, query } | Dialogue::Postgresql { login, database, query } => {
            sql(out, login.as_ref(), database.as_ref(), query.as_ref());
        }
        Dialogue::Oracle { login, database, query } => sql(out, Some(login), Some(database), query.as_ref()),
        Dialogue::Mqtt { login, client_id } => {
            self::login(out, "user_name", login.as_ref());
            out.maybe("mqtt_client_identifier", client_id.as_ref().map(Value::str));
        }
        Dialogue::Grpc { service } => out.key("grpc_service_name", Value::str(service)),
    }
}

fn sql(out: &mut Text, login: Option<&Login>, database: Option<&Name>, query: Option<&SqlQuery>) {
    self::login(out, "user_name", login);
    out.maybe("database", database.map(Value::str));
    if let Some(query) = query {
        out.key("sql_query", Value::str(&query.sql));
        out.maybe("sql_expect", query.expect.as_ref().map(Value::str));
    }
}

fn login(out: &mut Text, user: &str, login: Option<&Login>) {
    if let Some(login) = login {
        out.key(user, Value::str(&login.user));
        out.maybe("password", login.password.as_ref().map(secret_value));
    }
}

pub(super) fn script(out: &mut Text, script: &Script) {
    out.key("script_name", Value::str(&script.name));
    if !script.arguments.is_empty() {
        out.key("script_args", Value::strs(&script.arguments));
    }
    if !script.environment.is_empty() {
        let entries = script.environment.iter().map(|(name, value)| {
            let value = match value {
                dialogue::Value::Plain(text) => Value::str(text),
                dialogue::Value::Secret(secret) => secret_value(secret),
            };
            (name.to_string(), value)
        });
        out.key("environment", Value::Inline(entries.collect()));
    }
    let limits = &script.limits;
    out.key("memory", Value::Str(format_size(limits.memory)));
    out.maybe("cpu_time", limits.cpu.map(Value::duration));
    out.key("file_size", Value::Str(format_size(limits.file_size)));
    out.key("open_files", Value::Int(limits.open_files.into()));
}
