//! Who may manage the appliance: users, tokens, sessions, networks.

use argon2::password_hash::phc;

use super::global::{absent_secret, object};
use super::object::Object;
use super::{Context, certificate};
use crate::config::document::{Node, Path};
use crate::config::values;
use crate::model::access::{Admin, AdminTls, ApiToken, Ldap, PasswordHash, Role, SessionRules, SocketRules, User};
use crate::model::check::Host;
use crate::model::id::Name;
use crate::model::ldap::Filter;
use crate::model::time::Wall;
use crate::model::tls::Certificate;

/// Tokens of a box: each request with one looks through all of them.
const TOKENS_MOST: usize = 1_000;
const NETWORKS_MOST: usize = 1_000;
/// In one map of names and roles.
const NAMES_MOST: usize = 100;
/// Warned of this long before a token expires. Days.
const SOON_DAYS: i64 = 7;
const DAY_SECONDS: i64 = 86_400;

pub fn admin(cx: &mut Context<'_>, certificates: &[Certificate]) -> Admin {
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
    let admin = Admin {
        listen: object.socket("listen").unwrap_or(defaults.listen),
        allow: networks.into_iter().filter_map(|node| values::network(node.text()?).ok()).collect(),
        tls: tls(cx, &object, certificates),
        plain_text: object.bool("plain_text").unwrap_or(false),
        socket: socket(cx, &object),
        sessions: sessions(cx, &object),
        users,
        tokens,
        ldap: ldap(cx, &object, certificates),
    };
    if admin.has_logins() && !has_superuser(&admin) {
        let what = format!("{path}: nobody who can log in is a superuser: changes are left to the Unix socket alone");
        cx.report.warning(object.place_of("user"), path, what);
    }
    admin
}

/// Whether somebody may change the configuration over the network.
fn has_superuser(admin: &Admin) -> bool {
    let of_directory = admin.ldap.iter().flat_map(|ldap| &ldap.roles).map(|(_, role)| *role);
    let roles = admin.users.iter().map(|user| user.role).chain(admin.tokens.iter().map(|token| token.role));
    roles.chain(of_directory).any(|role| role == Role::Superuser)
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

fn tls(cx: &mut Context<'_>, admin: &Object<'_>, certificates: &[Certificate]) -> Option<AdminTls> {
    let (table, place) = admin.inner("tls")?;
    let object = Object::new(table, None, admin.path.key("tls"), place);
    let generated = object.bool("generated").unwrap_or(false);
    match (object.get("certificate"), generated) {
        (Some(node), false) => {
            let path = object.path.key("certificate");
            certificate::find(cx, certificates, node, path, true).map(AdminTls::Certificate)
        }
        (None, true) => Some(AdminTls::Generated),
        (Some(_), true) => {
            object.wrong(cx.report, "generated", "means nothing beside `certificate`; say one of the two");
            None
        }
        (None, false) => {
            let why = "say `certificate = \"NAME\"` (of [certificate.NAME]) or `generated = true`";
            object.wrong_whole(cx.report, why);
            None
        }
    }
}

fn ldap(cx: &mut Context<'_>, admin: &Object<'_>, certificates: &[Certificate]) -> Option<Ldap> {
    let (table, place) = admin.inner("ldap")?;
    let object = Object::new(table, None, admin.path.key("ldap"), place);
    let url = object.text("url")?;
    let defaults = Ldap::at(url);
    let starttls = object.bool("starttls").unwrap_or(false);
    match directory(url) {
        Err(why) => object.wrong(cx.report, "url", why),
        Ok((true, _)) if starttls => {
            object.wrong(cx.report, "starttls", "means nothing with ldaps://, which begins with TLS");
        }
        Ok((false, local)) if !starttls && !local => {
            let path = object.path.key("url");
            let what = format!("{path}: passwords go to the directory in the clear; use ldaps://, or starttls = true");
            cx.report.warning(object.place_of("url"), path, what);
        }
        Ok(_) => {}
    }
    let ca = object.get("ca").and_then(|node| {
        let path = object.path.key("ca");
        certificate::find(cx, certificates, node, path, false)
    });
    let bind_password = object.secret(cx.report, "bind_password");
    if let Some(secret) = &bind_password {
        absent_secret(cx, &object, "bind_password", secret);
    }
    object.require_beside(cx.report, "bind_password", "bind_dn");
    object.require_beside(cx.report, "bind_dn", "bind_password");
    for (key, place) in [("user_filter", "{user}"), ("group_filter", "{")] {
        let Some(filter) = object.text(key) else { continue };
        if let Err(why) = Filter::parse(&filter.replace("{user}", "x").replace("{dn}", "x")) {
            object.wrong(cx.report, key, why);
        } else if !filter.contains(place) {
            object.wrong(cx.report, key, "finds the same for everybody; write {user} where the name belongs");
        }
    }
    Some(Ldap {
        starttls,
        ca,
        bind_dn: object.name("bind_dn"),
        bind_password,
        base: object.name("base").unwrap_or(defaults.base),
        user_filter: object.name("user_filter").unwrap_or(defaults.user_filter),
        group_base: object.name("group_base"),
        group_filter: object.name("group_filter").unwrap_or(defaults.group_filter),
        roles: roles(cx, &object, "roles"),
        timeout: object.duration("timeout").unwrap_or(defaults.timeout),
        url: defaults.url,
    })
}

/// Whether it begins with TLS, and whether it is on this machine.
fn directory(url: &str) -> Result<(bool, bool), String> {
    let wrong = || format!("`{url}` is not a URL such as ldaps://ldap.example or ldap://192.0.2.1:389");
    let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
    let tls = match scheme {
        "ldap" => false,
        "ldaps" => true,
        _ => return Err(wrong()),
    };
    let host = rest.trim_end_matches('/');
    let host = values::host_port(host).or_else(|_| values::host_port(&format!("{host}:389"))).map_err(|_| wrong())?.0;
    let local = match &host {
        Host::Ip(ip) => ip.is_loopback(),
        Host::Name(name) => name.eq_ignore_ascii_case("localhost"),
    };
    Ok((tls, local))
}

/// `{ name = "role" }`, sorted.
fn roles(cx: &mut Context<'_>, object: &Object<'_>, key: &str) -> Vec<(Name, Role)> {
    let pairs = object.pairs(key).into_iter();
    let mut roles: Vec<(Name, Role)> = pairs.filter_map(|(name, role)| Some((name, Role::parse(&role)?))).collect();
    if roles.len() > NAMES_MOST {
        object.wrong(cx.report, key, format!("at most {NAMES_MOST} names"));
    }
    roles.sort_by(|a, b| a.0.cmp(&b.0));
    roles
}

fn socket(cx: &mut Context<'_>, admin: &Object<'_>) -> SocketRules {
    let Some((table, place)) = admin.inner("socket") else { return SocketRules::default() };
    let object = Object::new(table, None, admin.path.key("socket"), place);
    SocketRules { users: roles(cx, &object, "users"), groups: roles(cx, &object, "groups") }
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
    if name.contains(':') {
        let why =
            "HTTP Basic cannot say a name with `:` in it (RFC 7617), only `POST /api/v1/login` can: choose another";
        cx.report.warning(object.place_of("role"), object.path, format!("{}: {why}", object.path));
    }
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

#[cfg(test)]
mod tests {
    use crate::config::tests::loaded;

    #[test]
    fn a_name_that_http_basic_cannot_say_is_warned_of() {
        let hash = "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$Y0hFQ2tzdW1jaGVja3N1bWNoZWNrc3VtY2hlY2tzdW0";
        let warned = |name: &str| {
            let text = format!("[admin.user.\"{name}\"]\nrole = \"superuser\"\npassword_hash = \"{hash}\"\n");
            loaded(&text).warnings.iter().any(|warning| warning.what.contains("RFC 7617"))
        };
        assert!(warned("ada:b") && !warned("ada") && !warned("ada@example.test"));
    }

    #[test]
    fn a_configuration_that_nobody_could_change_over_the_network_says_so() {
        let warned = |text: &str| {
            let warnings = loaded(text).warnings;
            warnings.iter().any(|warning| warning.what.contains("nobody who can log in is a superuser"))
        };
        let hash = "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$Y0hFQ2tzdW1jaGVja3N1bWNoZWNrc3VtY2hlY2tzdW0";
        let user =
            |name: &str, role: &str| format!("[admin.user.{name}]\nrole = \"{role}\"\npassword_hash = \"{hash}\"\n");
        assert!(!warned(""), "without users, callers on this machine are superusers");
        assert!(warned(&user("root", "read-only")));
        assert!(warned(&(user("root", "operator") + &user("eve", "read-only"))));
        assert!(!warned(&(user("root", "superuser") + &user("eve", "read-only"))));
        let token = format!("[admin.token.ci]\nrole = \"superuser\"\nhash = \"sha256:{}\"\n", "a".repeat(64));
        assert!(!warned(&(user("root", "operator") + &token)));
    }
}
