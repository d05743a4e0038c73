//! Who may manage the appliance. Hashes are printed, secrets that stand elsewhere are named.

use super::secret_value;
use super::text::{Text, Value};
use crate::model::Model;
use crate::model::access::{AdminTls, Ldap, PasswordHash, Role, SessionRules, SocketRules};
use crate::model::id::Name;

pub(super) fn admin(out: &mut Text, model: &Model) {
    let admin = &model.admin;
    out.table(&["admin"]);
    out.key("listen", Value::show(admin.listen));
    if !admin.allow.is_empty() {
        out.key("allow", Value::List(admin.allow.iter().map(Value::show).collect()));
    }
    if admin.plain_text {
        out.key("plain_text", Value::Bool(true));
    }
    if let Some(tls) = admin.tls {
        out.table(&["admin", "tls"]);
        match tls {
            AdminTls::Certificate(id) => {
                out.key("certificate", Value::str(&model.certificates[id.index()].name));
            }
            AdminTls::Generated => out.key("generated", Value::Bool(true)),
        }
    }
    if admin.socket != SocketRules::default() {
        out.table(&["admin", "socket"]);
        for (key, roles) in [("users", &admin.socket.users), ("groups", &admin.socket.groups)] {
            if !roles.is_empty() {
                out.key(key, named(roles));
            }
        }
    }
    if admin.sessions != SessionRules::default() {
        out.table(&["admin", "sessions"]);
        out.key("idle", Value::duration(admin.sessions.idle));
        out.key("absolute", Value::duration(admin.sessions.absolute));
        out.key("per_user", Value::Int(admin.sessions.per_user.into()));
        out.key("most", Value::Int(admin.sessions.most.into()));
    }
    for user in &admin.users {
        out.table(&["admin", "user", &user.name]);
        out.key("role", Value::str(user.role.word()));
        let hash = match &user.password {
            PasswordHash::Inline(hash) => Value::str(hash),
            PasswordHash::From(secret) => secret_value(secret),
        };
        out.key("password_hash", hash);
    }
    if let Some(ldap) = &admin.ldap {
        directory(out, model, ldap);
    }
    for token in &admin.tokens {
        out.table(&["admin", "token", &token.name]);
        out.key("role", Value::str(token.role.word()));
        out.key("hash", Value::str(&token.hash));
        out.maybe("expires", token.expires.map(Value::show));
    }
}

/// `{ name = "role" }`
fn named(roles: &[(Name, Role)]) -> Value {
    Value::Inline(roles.iter().map(|(name, role)| (name.to_string(), Value::str(role.word()))).collect())
}

fn directory(out: &mut Text, model: &Model, ldap: &Ldap) {
    out.table(&["admin", "ldap"]);
    out.key("url", Value::str(&ldap.url));
    out.key("starttls", Value::Bool(ldap.starttls));
    out.maybe("ca", ldap.ca.map(|id| Value::str(&model.certificates[id.index()].name)));
    out.maybe("bind_dn", ldap.bind_dn.as_ref().map(Value::str));
    out.maybe("bind_password", ldap.bind_password.as_ref().map(secret_value));
    out.key("base", Value::str(&ldap.base));
    out.key("user_filter", Value::str(&ldap.user_filter));
    out.maybe("group_base", ldap.group_base.as_ref().map(Value::str));
    out.key("group_filter", Value::str(&ldap.group_filter));
    out.key("roles", named(&ldap.roles));
    out.key("timeout", Value::duration(ldap.timeout));
}
