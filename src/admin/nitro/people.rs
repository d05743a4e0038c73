//! `systemuser` and `systemuser_systemcmdpolicy_binding`: who may do what here, in NetScaler's words. A user's role is the
//! command policy that is bound; without one they may look. Passwords come in and are kept as hashes alone.

use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Fault, Object, Warning};
use super::live::put;
use super::target::printable;
use super::{Call, entry};
use crate::admin::auth::{Access, hash_password};
use crate::admin::superuser;
use crate::control::World;
use crate::model::access::Role;

/// Longest password.
const PASSWORD_MAX: usize = 1_024;
const LIST: &str = "systemuser";
pub(super) const BINDING: &str = "systemuser_systemcmdpolicy_binding";

/// What NetScaler says of a user and what is so here.
const FIXED: [(&str, &str); 4] =
    [("externalauth", "DISABLED"), ("timeout", "900"), ("logging", "DISABLED"), ("maxsession", "20")];

pub(super) fn users(world: &World<'_>) -> Vec<Object> {
    let one = |user: &crate::model::access::User| {
        let mut object = Object::new();
        put(&mut object, "username", &*user.name);
        for (key, value) in FIXED {
            put(&mut object, key, value);
        }
        object
    };
    world.model.admin.users.iter().map(one).collect()
}

/// The roles, as bindings.
pub(super) fn roles(world: &World<'_>) -> Vec<Object> {
    let one = |user: &crate::model::access::User| {
        let mut object = Object::new();
        put(&mut object, "username", &*user.name);
        put(&mut object, "policyname", user.role.word());
        put(&mut object, "priority", "100");
        object
    };
    world.model.admin.users.iter().map(one).collect()
}

/// What is to be done to one user.
struct Change {
    name: String,
    what: What,
}

enum What {
    Add(String),
    Password(String),
    Remove,
    Role(Role),
    /// The policy that must be bound.
    NoRole(Role),
}

impl Call<'_> {
    /// The answer where `resource` (in lower case) is one of them.
    pub(super) async fn people(&self, resource: &str, action: Option<&str>) -> Option<Result<Response, Fault>> {
        if resource != LIST && resource != BINDING {
            return None;
        }
        Some(self.change_people(resource, action).await)
    }

    async fn change_people(&self, resource: &str, action: Option<&str>) -> Result<Response, Fault> {
        entry::allow(&self.caller, Access::Configure)?;
        let mut object = match &self.payload.objects[..] {
            [] => Object::new(),
            [object] => object.iter().map(|(key, value)| (key.to_ascii_lowercase(), value.clone())).collect(),
            _ => return Err(Fault::new(278, "one user at a time")),
        };
        for (key, value) in &self.target.asked.args {
            object.insert(key.to_ascii_lowercase(), value.clone().into());
        }
        if let Some(name) = self.name() {
            object.insert("username".into(), name.meant().into());
        }
        let known: &[&str] =
            if resource == LIST { &["username", "password"] } else { &["username", "policyname", "priority"] };
        for (key, value) in &object {
            let fixed = FIXED.iter().find(|(name, _)| resource == LIST && name == key);
            match fixed {
                Some((_, is)) if says(value, is) => {}
                Some(_) => return Err(Fault::new(1097, format!("{key}: not available here"))),
                None if known.contains(&&key[..]) => {}
                None => return Err(Fault::new(1090, printable(key))),
            }
        }
        let text = |key: &'static str| match object.get(key) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
            None | Some(Value::Null) => Err(Fault::new(1095, key)),
            Some(_) => Err(Fault::new(1097, key)),
        };
        let name = text("username")?;
        let (what, status) = match (resource, self.parts.method.as_str(), action) {
            (LIST, "POST", None | Some("add")) => (What::Add(hashed(text("password")?).await?), 201),
            (LIST, "PUT", None) => (What::Password(hashed(text("password")?).await?), 200),
            (LIST, "DELETE", None) => (What::Remove, 200),
            (BINDING, "POST" | "PUT", None) => (What::Role(role(&text("policyname")?)?), 201),
            (BINDING, "DELETE", None) => (What::NoRole(role(&text("policyname")?)?), 200),
            (_, _, action) => return Err(Fault::new(278, format!("action, {}", printable(action.unwrap_or("none"))))),
        };
        let change = Change { name, what };
        let (done, first) = self.app.edit(self.caller.clone(), false, None, move |root| apply(root, &change)).await?;
        let warnings = first.into_iter().chain(done.warnings).map(|text| Warning { code: 0, text });
        Ok(Answer::with_status(status).warning(self.told(warnings.collect())).into_response())
    }
}

/// Whether a value, as a text or as a number, is this one.
fn says(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text == wanted,
        Value::Number(number) => number.to_string() == wanted,
        _ => false,
    }
}

/// NetScaler's own command policies, as far as there are roles like them.
fn role(policy: &str) -> Result<Role, Fault> {
    let found = Role::ALL.into_iter().find(|role| role.word().eq_ignore_ascii_case(policy));
    found.ok_or_else(|| Fault::new(258, format!("policyName, {}: read-only, operator or superuser", printable(policy))))
}

/// Argon2 takes its time, beside traffic.
async fn hashed(password: String) -> Result<String, Fault> {
    if password.len() > PASSWORD_MAX {
        return Err(Fault::new(1097, "password"));
    }
    let hash = tokio::task::spawn_blocking(move || hash_password(password.as_bytes())).await;
    hash.ok().and_then(Result::ok).ok_or_else(|| Fault::new(1043, ""))
}

/// What is worth knowing of it: the first who can log in is a superuser, and the last one stays.
fn apply(root: &mut Map<String, Value>, change: &Change) -> Result<Option<String>, Fault> {
    let Change { name, what } = change;
    let table = |root: &mut Map<String, Value>, key: &str| {
        let inner = root.entry(key.to_owned()).or_insert_with(|| Value::Object(Map::new()));
        inner.as_object_mut().map(std::mem::take).unwrap_or_default()
    };
    let mut admin = table(root, "admin");
    let (had_logins, had_superuser) = (has_logins(&admin), superuser::is_in(&admin));
    let mut users = table(&mut admin, "user");
    changed(&mut users, name, what)?;
    let is_first = matches!(what, What::Add(_)) && !had_logins;
    if let Some(Value::Object(user)) = users.get_mut(name).filter(|_| is_first) {
        user.insert("role".into(), Role::Superuser.word().into());
    }
    if users.is_empty() {
        admin.shift_remove("user");
    } else {
        admin.insert("user".into(), Value::Object(users));
    }
    if had_superuser && !superuser::is_in(&admin) {
        return Err(Fault::new(257, format!("userName, {}: {}", printable(name), superuser::LAST)));
    }
    if admin.is_empty() {
        root.shift_remove("admin");
    } else {
        root.insert("admin".into(), Value::Object(admin));
    }
    let first = || format!("{name} is the first who can log in, and so a superuser: from now on callers must log in");
    Ok(is_first.then(first))
}

/// Whether somebody can show who they are: by a password, a token or the directory.
fn has_logins(admin: &Map<String, Value>) -> bool {
    let has_some = |value: &Value| value.as_object().is_some_and(|table| !table.is_empty());
    ["user", "token", "ldap"].iter().any(|key| admin.get(*key).is_some_and(has_some))
}

fn changed(users: &mut Map<String, Value>, name: &str, what: &What) -> Result<(), Fault> {
    if let What::Add(hash) = what {
        if users.contains_key(name) {
            return Err(Fault::new(273, format!("userName, {}", printable(name))));
        }
        users.insert(name.to_owned(), json!({ "role": Role::ReadOnly.word(), "password_hash": hash }));
        return Ok(());
    }
    let missing = || Fault::no_such("userName", &printable(name));
    let user = users.get_mut(name).and_then(Value::as_object_mut).ok_or_else(missing)?;
    match what {
        What::Add(_) => {}
        What::Password(hash) => drop(user.insert("password_hash".into(), hash.clone().into())),
        What::Role(role) => drop(user.insert("role".into(), role.word().into())),
        What::NoRole(role) => {
            if user.get("role").and_then(Value::as_str) != Some(role.word()) {
                return Err(Fault::no_such("policyName", role.word()));
            }
            user.insert("role".into(), Role::ReadOnly.word().into());
        }
        What::Remove => drop(users.shift_remove(name)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told or the number of the fault, and what `[admin]` is then.
    fn act(root: &mut Map<String, Value>, name: &str, what: What) -> (Result<bool, u32>, Value) {
        let mut next = root.clone();
        let done = apply(&mut next, &Change { name: name.into(), what }).map_err(|fault| fault.code);
        if done.is_ok() {
            *root = next;
        }
        (done.map(|told| told.is_some()), root.get("admin").cloned().unwrap_or_default())
    }

    #[test]
    fn a_user_is_added_gets_a_role_and_goes_and_nothing_else_changes() {
        let token = json!({"ci": {"role": "superuser", "hash": "sha256:"}});
        let mut root = Map::from_iter([
            ("vserver".to_owned(), json!({})),
            ("admin".to_owned(), json!({ "token": token.clone() })),
        ]);
        let mut act = |what| act(&mut root, "ops", what);
        let user = |role: &str, hash: &str| json!({"token": token.clone(), "user": {"ops": {"role": role, "password_hash": hash}}});
        assert_eq!(act(What::Remove), (Err(258), json!({ "token": token.clone() })));
        assert_eq!(act(What::Add("$a".into())), (Ok(false), user("read-only", "$a")));
        assert_eq!(act(What::Add("$b".into())), (Err(273), user("read-only", "$a")));
        assert_eq!(act(What::Role(Role::Operator)), (Ok(false), user("operator", "$a")));
        assert_eq!(act(What::Password("$c".into())), (Ok(false), user("operator", "$c")));
        assert_eq!(act(What::NoRole(Role::Superuser)).0, Err(258));
        assert_eq!(act(What::NoRole(Role::Operator)), (Ok(false), user("read-only", "$c")));
        assert_eq!(act(What::Remove), (Ok(false), json!({ "token": token.clone() })));
    }

    #[test]
    fn the_first_user_is_a_superuser_and_the_last_superuser_stays() {
        let mut root = Map::new();
        let (told, admin) = act(&mut root, "bob", What::Add("$a".into()));
        assert_eq!((told, &admin["user"]["bob"]["role"]), (Ok(true), &json!("superuser")));
        let (told, admin) = act(&mut root, "eve", What::Add("$b".into()));
        assert_eq!((told, &admin["user"]["eve"]["role"]), (Ok(false), &json!("read-only")));
        for what in [What::Remove, What::Role(Role::Operator), What::NoRole(Role::Superuser)] {
            assert_eq!(act(&mut root, "bob", what), (Err(257), admin.clone()));
        }
        assert_eq!(act(&mut root, "eve", What::Role(Role::Superuser)).0, Ok(false));
        assert_eq!(act(&mut root, "bob", What::Remove).0, Ok(false));
        assert_eq!(act(&mut root, "eve", What::Remove).0, Err(257));

        let ldap = json!({"roles": {"admins": "superuser"}, "url": "ldaps://x"});
        let mut root = Map::from_iter([("admin".to_owned(), json!({ "ldap": ldap }))]);
        let (told, admin) = act(&mut root, "bob", What::Add("$a".into()));
        assert_eq!((told, &admin["user"]["bob"]["role"]), (Ok(false), &json!("read-only")));
    }
}
