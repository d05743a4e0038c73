//! Users, as far as they are more than the configuration: how their logins stand, and passwords in place of hashes.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde_json::{Map, Value};

use super::super::App;
use super::super::auth::{Access, hash_password};
use super::super::body::{Field, FieldKind, Fields, field};
use super::super::dto::Items;
use super::super::problem::Problem;
use super::super::route::{Reads, Route};
use super::objects::{self, Asked, KEPT, misfit};
use crate::model::access::Role;

const PATH: &str = "users";

/// Longest password. Bytes.
const PASSWORD_MAX: usize = 1_024;

const PASSWORD: &[Field] = &[
    field("password", FieldKind::Text, "Needed: the new password, at most 1024 bytes; kept as a hash alone."),
    field("role", FieldKind::Word(&ROLES), "The role from now on; a new user may only look where none is said."),
];
const ROLES: [&str; 3] = ["superuser", "operator", "read-only"];

dto! {
    /// How the logins of somebody stand.
    pub struct LoginDto {
        /// As they log in.
        pub name: String,
        /// `user`: of the configuration; `directory`: of LDAP, while they have a session, or have had one and type wrong
        /// passwords.
        pub kind: String,
        /// Sessions that have not ended.
        pub sessions: u64,
        /// Wrong passwords that still count, of all networks together.
        pub wrong: u64,
        /// Networks from which they are locked out now.
        pub locked_networks: u64,
        /// When the last of these locks ends by itself; null: there is none.
        pub locked_until: Option<String>,
    }
}

pub(crate) fn routes() -> Vec<Route> {
    let about = "Users and who else has logged in: open sessions, wrong passwords, locks";
    let password = "Set the password of a user, or add them; who is the first to log in must be a superuser";
    let put = |asked: Asked| async move { set_password(asked).await };
    let schema = KEPT.iter().find(|kept| kept.path == PATH).and_then(objects::Kept::schema);
    vec![
        Route::get("/api/v1/logins", about, logins).answers::<Items<LoginDto>>(),
        Route::put("/api/v1/users/{name}/password", Access::Configure, password, put)
            .query(objects::CHANGE)
            .reads(Reads::Fields(PASSWORD))
            .answers_created(schema),
    ]
}

async fn logins(State(app): State<App>) -> Result<Json<Items<LoginDto>>, Problem> {
    let (model, now) = app.read(|world| (std::sync::Arc::clone(world.model), world.now.wall)).await?;
    let (counted, held) = app.logins(&model.admin.sessions);
    let users = model.admin.users.iter().map(|user| &*user.name);
    // What is typed where a name belongs is sometimes a password: of strangers nothing is told.
    let others = held.iter().map(|(holder, _)| &*holder.user);
    let others = others.chain(counted.iter().filter(|one| one.known).map(|one| &*one.name));
    let mut names: Vec<(&str, bool)> = users.map(|name| (name, true)).collect();
    for name in others {
        if !names.iter().any(|(known, _)| *known == name) {
            names.push((name, false));
        }
    }
    let one = |(name, is_user): (&str, bool)| {
        let sessions = held.iter().filter(|(holder, _)| *holder.user == *name).map(|(_, count)| *count as u64);
        let counted = counted.iter().find(|one| one.name == name);
        let locked = counted.map_or(&[][..], |one| &one.locked);
        LoginDto {
            name: name.to_owned(),
            kind: if is_user { "user" } else { "directory" }.to_owned(),
            sessions: sessions.sum(),
            wrong: counted.map_or(0, |one| u64::from(one.wrong)),
            locked_networks: locked.len() as u64,
            locked_until: locked.iter().max().map(|left| (now + *left).to_string()),
        }
    };
    Ok(Json(Items { items: names.into_iter().map(one).collect() }))
}

async fn set_password(asked: Asked) -> Result<Response, Problem> {
    let Some(kept) = KEPT.iter().find(|kept| kept.path == PATH) else {
        return Err(Problem::bad_request("there are no users"));
    };
    let fields = Fields::parse(&asked.headers, &asked.body, PASSWORD)?;
    let dry_run = asked.params.flag("dry_run")?;
    // Without the value, which may be a secret of another type.
    let password = fields.text("password").map_err(|_| misfit("/password", "`password` is a text".to_owned()))?;
    let password = password.filter(|text| !text.is_empty());
    let password = password.ok_or_else(|| misfit("/password", "`password` is missing".to_owned()))?.to_owned();
    if password.len() > PASSWORD_MAX {
        return Err(misfit("/password", format!("the password is longer than {PASSWORD_MAX} bytes")));
    }
    let role = fields.text("role")?.map(str::to_owned);
    let has_logins = asked.app.read(|world| world.model.admin.has_logins()).await?;
    if !has_logins && role.as_deref() != Some(Role::Superuser.word()) {
        let why = "from the first user on callers must log in: the first is a superuser, or nobody could configure";
        return Err(misfit("/role", why.to_owned()));
    }
    // Argon2 takes its time, beside traffic.
    let hash = tokio::task::spawn_blocking(move || hash_password(password.as_bytes())).await;
    let hash = hash.ok().and_then(Result::ok).ok_or_else(|| Problem::busy("the password cannot be hashed now"))?;
    let mut sent = Map::from_iter([("password_hash".to_owned(), Value::from(hash))]);
    sent.extend(role.map(|role| ("role".to_owned(), role.into())));
    objects::merge(kept, &asked, sent, dry_run).await
}
