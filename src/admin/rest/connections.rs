//! Who is connected, and ending it.
//!
//! A kick takes effect at once and leaves no trace in the configuration or in the saved state: the client may come back.
//! Work on a service is ended with a reset, as `downStateFlush` would; idle connections of HTTP clients are on no
//! service and stay.

use std::net::IpAddr;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::super::App;
use super::super::auth::{Access, Caller};
use super::super::body::{Field, FieldKind, Params, field};
use super::super::dto::ConnectionDto;
use super::super::problem::Problem;
use super::super::route::{Route, Segments};
use super::careful::{self, DRY_RUN};
use super::pages::Paged;
use crate::control::preview::Preview;
use crate::model::Model;
use crate::model::ending::Reason;
use crate::model::id::ServiceId;
use crate::model::time::Wall;
use crate::snapshot::Snapshot;

const QUERY: &[Field] = &[
    field("service", FieldKind::Text, "Only those that it serves, or whose last request it served."),
    field("vserver", FieldKind::Text, "Only those of this vserver."),
    field("client", FieldKind::Text, "Only those of this address."),
    field("limit", FieldKind::Within(0, super::pages::MOST), "At most this many, the oldest first; default 1000."),
    field("offset", FieldKind::Integer, "Skip this many."),
];
const LIMIT: u64 = 1_000;

dto! {
    /// What was ended.
    pub struct KickedDto {
        /// Requests (HTTP) and connections (L4) that were under way.
        pub kicked: u32,
    }
}

pub(crate) fn routes() -> Vec<Route> {
    let mut routes = vec![
        Route::get("/api/v1/connections", "Open client connections", list)
            .query(QUERY)
            .answers::<Paged<ConnectionDto>>(),
        Route::delete("/api/v1/connections/{id}", Access::Operate, "End a connection with a reset", end)
            .answers::<KickedDto>(),
    ];
    type Find = fn(&Model, &Segments) -> Option<Vec<ServiceId>>;
    let kinds: [(&str, &str, Find); 4] = [
        ("services/{name}", "service", |model, names| Some(vec![model.service_id(names.first())?])),
        ("service-groups/{name}", "service group", |model, names| {
            let group = &model.groups[model.group_id(names.first())?.index()];
            Some(group.members.iter().map(|member| member.service).collect())
        }),
        ("service-groups/{name}/members/{member}", "member", |model, names| {
            Some(vec![model.service_id(&names.0.join("/"))?])
        }),
        ("servers/{name}", "server", |model, names| {
            let server = model.server_id(names.first())?;
            let on_it = |id: &ServiceId| model.service(*id).server == Some(server);
            Some((0..model.services.len()).map(ServiceId::from_index).filter(on_it).collect())
        }),
    ];
    for (path, noun, find) in kinds {
        let kick = move |State(app): State<App>, caller: Caller, names: Segments, params: Params| async move {
            let snapshot = app.handle().snapshot();
            let Some(services) = find(&snapshot.model, &names) else {
                return Err(Problem::unknown_object(noun, &names.0.join("/"), []));
            };
            if params.flag("dry_run")? {
                let now = app.read(|world| world.now.wall).await?;
                return Ok(Json(would_kick(&app, &snapshot, &services, now)));
            }
            Ok::<_, Problem>(Json(kick(&snapshot, &caller, &services)))
        };
        let summary = format!("End everything under way with a reset: {noun}");
        routes.push(
            Route::post(format!("/api/v1/{path}/kick"), Access::Operate, &summary, kick)
                .query(DRY_RUN)
                .answers::<KickedDto>(),
        );
    }
    routes
}

async fn list(State(app): State<App>, params: Params) -> Result<Json<Value>, Problem> {
    let client = match params.get("client") {
        None => None,
        Some(text) => {
            let wrong = |_| Problem::bad_request(format!("`client` is an IP address, not `{text}`"));
            Some(text.parse::<IpAddr>().map_err(wrong)?.to_canonical())
        }
    };
    let (service, vserver) = (params.get("service").map(str::to_owned), params.get("vserver").map(str::to_owned));
    let limit = usize::try_from(params.integer("limit")?.unwrap_or(LIMIT)).unwrap_or(usize::MAX);
    let offset = usize::try_from(params.integer("offset")?.unwrap_or(0)).unwrap_or(usize::MAX);
    let snapshot = app.handle().snapshot();
    let listed = tokio::task::spawn_blocking(move || {
        let now = Instant::now();
        let connections = snapshot.connections.list();
        let wanted = connections.iter().filter(|c| {
            vserver.as_deref().is_none_or(|v| *c.vserver == *v)
                && client.is_none_or(|ip| c.client().ip().to_canonical() == ip)
                && service.as_deref().is_none_or(|s| c.member().is_some_and(|member| *member.service == *s))
        });
        let wanted: Vec<_> = wanted.collect();
        let shown = wanted.iter().skip(offset).take(limit);
        let items: Vec<_> = shown.map(|connection| ConnectionDto::of(&snapshot, connection, now)).collect();
        json!({ "items": items, "total": wanted.len() })
    });
    listed.await.map(Json).map_err(|_| Problem::busy("the look was cut short; try again"))
}

async fn end(State(app): State<App>, caller: Caller, names: Segments) -> Result<Json<Value>, Problem> {
    let connection = names.first().parse().ok().and_then(|id| app.handle().snapshot().connections.get(id));
    let Some(connection) = connection else {
        return Err(Problem::unknown_object("connection", names.first(), []));
    };
    connection.cut(Reason::Kicked);
    tracing::info!(actor = &*caller.actor, connection = connection.id, client = %connection.client(),
        vserver = &*connection.vserver, "kicked");
    Ok(Json(json!(KickedDto { kicked: 1 })))
}

/// What a kick would end. It asks for a reason and a look; nothing of it is configured or saved.
fn would_kick(app: &App, snapshot: &Snapshot, services: &[ServiceId], now: Wall) -> Value {
    let active = |id: &ServiceId| snapshot.services[id.index()].live.active.load(std::sync::atomic::Ordering::SeqCst);
    let connections: u32 = services.iter().map(active).sum();
    let preview = Preview { connections, confirm: 2, computed_at: now, ..Preview::default() };
    let mut members = serde_json::Map::new();
    careful::show(app, &mut members, Some(&preview));
    members.insert("kicked".into(), 0.into());
    let warning = format!("Ends {connections} requests now; their clients see a reset.");
    members.insert("warnings".into(), json!([warning]));
    members.into()
}

fn kick(snapshot: &Snapshot, caller: &Caller, services: &[ServiceId]) -> Value {
    let mut kicked: u32 = 0;
    for &id in services {
        let live = &snapshot.services[id.index()].live;
        kicked = kicked.saturating_add(live.active.load(std::sync::atomic::Ordering::SeqCst));
        live.flush.send_modify(|flush| flush.bump(Reason::Kicked));
        tracing::info!(actor = &*caller.actor, service = &*snapshot.model.service(id).name, "kicked");
    }
    json!(KickedDto { kicked })
}
