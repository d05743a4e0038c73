//! Who may manage the appliance: users, tokens, sessions, networks.

use argon2::password_hash::phc;

use super::Context;
use super::global::{absent_secret, object};
use super::object::Object;
use crate::config::document::{Node, Path};
use crate::config::values;
use crate::model::access::{Admin, ApiToken, PasswordHash, Role, SessionRules, User};
use crate::model::time::Wall;

/// Tokens of a box: each request with one looks through all of them.
const TOKENS_MOST: usize = 1_000;
const NETWORKS_MOST: usize = 1_000;
/// Warned of this long before a token expires. Days.
const SOON_DAYS: i64 = 7;
const DAY_SECONDS: i64 = 86_400;

pub fn admin(cx: &mut Context<'_>) -> Admin {
    let root = Path::Root;
    let path = root.key("admin");
    let object = object(cx, path, "admin");
    let defaults = Admin::default();
    let mut users: Vec<User> = named(cx, &object, "user", user);
    users.sort_by(|a, b| a.name.cmp(&b.name));
    let mut tokens: Vec<ApiToken> = named(cx, &object, "token", token);
    tokens.sort_by(|a, b| a.name.cmp(&b.name));
    if tokens.len() > TOKENS_MOST {
        object.wrong(cx.report, "token", format!("at most {TOKENS_MOST} tokens"));
    }
    let networks = object.items("allow");
    if networks.len() > NETWORKS_MOST {
        object.wrong(cx.report, "allow", format!("at most {NETWORKS_MOST} networks"));
    }
    Admin {
        listen: object.socket("listen").unwrap_or(defaults.listen),
        allow: networks.into_iter().filter_map(|node| values::network(node.text()?).ok()).collect(),
        sessions: sessions(cx, &object),
        users,
        tokens,
    }
}

/// The objects of a table within `[admin]`, by name.
fn named<T>(
    cx: &mut Context<'_>,
    admin: &Object<'_>,
    key: &str,
    make: fn(&mut Context<'_>, &Object<'_>, &str) -> Option<T>,
) -> Vec<T> {
    let Some(section) = admin.own(key).and_then(Node::table) else { return Vec::new() };
    let path = admin.path.key(key);
    let tables = section.entries.iter().filter_map(|entry| Some((entry, entry.node.table()?)));
    let objects =
        tables.map(|(entry, table)| (&entry.key, Object::new(table, None, path.key(&entry.key), entry.place)));
    objects.filter_map(|(name, object)| make(cx, &object, name)).collect()
}

fn sessions(cx: &mut Context<'_>, admin: &Object<'_>) -> SessionRules {
    let defaults = SessionRules::default();
    let Some((table, place)) = admin.inner("sessions") else { return defaults };
    let object = Object::new(table, None, admin.path.key("sessions"), place);
    let rules = SessionRules {
        idle: object.duration("idle").unwrap_or(defaults.idle),
        absolute: object.duration("absolute").unwrap_or(defaults.absolute),
        per_user: object.int("per_user").unwrap_or(defaults.per_user),
        most: object.int("most").unwrap_or(defaults.most),
    };
    if rules.per_user > rules.most {
        object.wrong(cx.report, "per_user", format!("is more than there may be in all ({})", rules.most));
    }
    rules
}

/// Whoever uses it should hear before it stops working.
fn expiry(cx: &mut Context<'_>, object: &Object<'_>, at: Wall) {
    let Some(now) = cx.files.now() else { return };
    let left = at.0.div_euclid(1_000_000) - now;
    let what = match left.div_euclid(DAY_SECONDS) {
        ..0 => format!("expired at {at}; it lets nobody in any more"),
        0 => format!("expires at {at}, within a day"),
        days @ 1..SOON_DAYS => format!("expires at {at}, in {days} {}", if days == 1 { "day" } else { "days" }),
        _ => return,
    };
    let path = object.path.key("expires");
    cx.report.warning(object.place_of("expires"), path, format!("{path}: {what}"));
}

/// The least that anybody can be, unless said.
fn role(object: &Object<'_>) -> Role {
    object.text("role").and_then(Role::parse).unwrap_or(Role::ReadOnly)
}

fn user(cx: &mut Context<'_>, object: &Object<'_>, name: &str) -> Option<User> {
    let password = match object.text("password_hash") {
        Some(hash) => {
            if !hash.starts_with("$argon2") || phc::PasswordHash::new(hash).is_err() {
                let why = "not an Argon2 hash; `bascule passwd` makes one (a password itself never stands here)";
                object.wrong(cx.report, "password_hash", why);
            }
            PasswordHash::Inline(hash.into())
        }
        None => {
            let secret = object.secret(cx.report, "password_hash")?;
            absent_secret(cx, object, "password_hash", &secret);
            PasswordHash::From(secret)
        }
    };
    Some(User { name: name.into(), role: role(object), password })
}

fn token(cx: &mut Context<'_>, object: &Object<'_>, name: &str) -> Option<ApiToken> {
    let hash = object.text("hash")?;
    let digits = hash.strip_prefix("sha256:").unwrap_or_default();
    if digits.len() != 64 || !digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
        let why = "not the hash of a token; `bascule token hash` makes both (a token itself never stands here)";
        object.wrong(cx.report, "hash", why);
    }
    let expires = object.get("expires").and_then(|node| match values::moment(node, "UTC") {
        Ok(at) => {
            expiry(cx, object, at);
            Some(at)
        }
        Err(why) => {
            object.wrong(cx.report, "expires", why);
            None
        }
    });
    Some(ApiToken { name: name.into(), role: role(object), hash: hash.into(), expires })
}
