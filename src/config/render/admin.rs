//! Who may manage the appliance. Hashes are printed, secrets that stand elsewhere are named.

use super::secret_value;
use super::text::{Text, Value};
use crate::model::Model;
use crate::model::access::{PasswordHash, SessionRules};

pub(super) fn admin(out: &mut Text, model: &Model) {
    let admin = &model.admin;
    out.table(&["admin"]);
    out.key("listen", Value::show(admin.listen));
    if !admin.allow.is_empty() {
        out.key("allow", Value::List(admin.allow.iter().map(Value::show).collect()));
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
    for token in &admin.tokens {
        out.table(&["admin", "token", &token.name]);
        out.key("role", Value::str(token.role.word()));
        out.key("hash", Value::str(&token.hash));
        out.maybe("expires", token.expires.map(Value::show));
    }
}
