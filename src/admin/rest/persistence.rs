//! Who is bound to which member: showing and forgetting it.
//!
//! Clearing takes effect at once and leaves no trace in configuration or saved state. What a cookie or the request
//! itself says is with the client and cannot be cleared here.

use axum::Json;
use axum::extract::State;

use super::super::App;
use super::super::auth::{Access, Caller};
use super::super::body::{Field, FieldKind, Params, field};
use super::super::dto::{ClearedDto, PersistenceDto, PersistenceSessionDto};
use super::super::problem::Problem;
use super::super::route::Route;
use crate::control::World;
use crate::model::id::VserverId;
use crate::snapshot::live::sessions_asked;

const QUERY: &[Field] = &[
    field("vserver", FieldKind::Text, "Only the entries of this vserver, or of its lb group."),
    field("client", FieldKind::Text, "Only those of this client: an address, or the value that it is known by."),
    field("limit", FieldKind::Within(0, super::pages::MOST), "At most this many, by client; default 1000."),
];
const CLEAR: &[Field] = &[
    field("vserver", FieldKind::Text, "Only the entries of this vserver, or of its lb group."),
    field("client", FieldKind::Text, "Only those of this client: an address, or the value that it is known by."),
];
const LIMIT: u64 = 1_000;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/persistence", "Persistence entries", list).query(QUERY).answers::<PersistenceDto>(),
        Route::delete("/api/v1/persistence", Access::Operate, "Forget persistence entries", clear)
            .query(CLEAR)
            .answers::<ClearedDto>(),
    ]
}

async fn list(State(app): State<App>, params: Params) -> Result<Json<PersistenceDto>, Problem> {
    let (vserver, client) = (params.get("vserver").map(str::to_owned), params.get("client").map(str::to_owned));
    let limit = usize::try_from(params.integer("limit")?.unwrap_or(LIMIT)).unwrap_or(usize::MAX);
    let found = app.study(move |world| {
        let mut found = PersistenceDto { items: Vec::new(), notes: Vec::new() };
        for id in tables(world, vserver.as_deref())? {
            found.notes.extend(PersistenceSessionDto::note(world, id));
            let sessions = &world.snapshot.vservers[id.index()].sessions;
            let wanted = |key: &_, _: &_| client.as_deref().is_none_or(|c| sessions_asked(world.model, id, key, c));
            let listed = sessions.list(world.now.tick, limit.saturating_sub(found.items.len()), &wanted);
            found.items.extend(listed.iter().map(|session| PersistenceSessionDto::of(world, id, session)));
            let spilled = &world.snapshot.vservers[id.index()].live.spilled_clients;
            let listed = spilled.list(world.now.tick, limit.saturating_sub(found.items.len()), &wanted);
            found.items.extend(listed.iter().map(|session| PersistenceSessionDto::spilled(world, id, session)));
        }
        Ok(found)
    });
    found.await?.map(Json)
}

async fn clear(State(app): State<App>, caller: Caller, params: Params) -> Result<Json<ClearedDto>, Problem> {
    let (vserver, client) = (params.get("vserver").map(str::to_owned), params.get("client").map(str::to_owned));
    let actor = caller.actor.clone();
    let cleared = app.study(move |world| {
        let mut cleared = ClearedDto { cleared: 0, notes: Vec::new() };
        for id in tables(world, vserver.as_deref())? {
            cleared.notes.extend(PersistenceSessionDto::note(world, id));
            let entry = &world.snapshot.vservers[id.index()];
            for sessions in [&*entry.sessions, &entry.live.spilled_clients] {
                cleared.cleared += match client.as_deref() {
                    None => sessions.clear() as u64,
                    Some(client) => {
                        let asked = |key: &_, _: &_| sessions_asked(world.model, id, key, client);
                        let listed = sessions.list(world.now.tick, usize::MAX, &asked);
                        listed.iter().filter(|session| sessions.remove(&session.client)).count() as u64
                    }
                };
            }
        }
        tracing::info!(actor = &*actor, vserver, client, cleared = cleared.cleared, "persistence cleared");
        Ok(cleared)
    });
    cleared.await?.map(Json)
}

/// One vserver for each table: that which is asked for, else all that have persistence, of a group the first.
fn tables(world: &World<'_>, vserver: Option<&str>) -> Result<Vec<VserverId>, Problem> {
    let model = world.model;
    // A model that the snapshot has not followed yet has no tables.
    let in_snapshot = |id: &VserverId| id.index() < world.snapshot.vservers.len();
    if let Some(name) = vserver {
        let names = || model.vservers.iter().map(|v| &*v.name);
        let id = model.vserver_id(name).ok_or_else(|| Problem::unknown_object("vserver", name, names()))?;
        return Ok(Some(id).filter(in_snapshot).into_iter().collect());
    }
    let is_first = |id: &VserverId| {
        let group = model.vserver(*id).lb_group.map(|group| &model.lb_groups[group.index()]);
        group.is_none_or(|group| group.vservers.first() == Some(id))
    };
    let all = (0..model.vservers.len()).map(VserverId::from_index);
    let has_table = |id: &VserverId| {
        let vserver = model.vserver(*id);
        vserver.persistence.is_some() || vserver.spillover.as_ref().is_some_and(|s| s.persistence.is_some())
    };
    Ok(all.filter(has_table).filter(is_first).filter(in_snapshot).collect())
}
