//! State and statistics: GET on the collections and on their members.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::super::App;
use super::super::auth::Caller;
use super::super::body::Params;
use super::super::dto::{
    CertificateDto, CheckDto, CheckHistoryDto, DatacenterDto, LbMonitorDto, MachineDto, PairDto, PeerDto, QueryDto,
    RuleDto, ScenarioDto, Schema, ServerDto, ServiceDto, ServiceGroupDto, StatusDto, SwitchDto, TriggerDto, VserverDto,
    ZoneDto,
};
use super::super::problem::Problem;
use super::super::route::{Route, Segments};
use super::history::changes;
use super::pages::{PAGE, Page, Paged};
use crate::control::World;
use crate::model::Model;
use crate::model::id::{
    CertificateId, CheckId, DatacenterId, GroupId, Kind, MonitorId, ObjectRef, QueryId, SwitchId, TriggerId, VserverId,
};

/// How far the states of a service are told back.
const HISTORY: Duration = Duration::from_secs(48 * 3_600);

/// Stretches of a collection that are looked up one by one.
const RUNS_MOST: usize = 64;

/// A kind of object: where it stands in the model and how one is shown.
struct Collection<D> {
    path: &'static str,
    noun: &'static str,
    names: fn(&Model) -> Vec<&str>,
    /// The objects at these places; many at once share what is looked up for them.
    show: fn(&World<'_>, Range<usize>) -> Vec<D>,
    /// The state of one as it is shown, for kinds of which there may be many; of others it is looked up in what is shown.
    state: Option<fn(&World<'_>, usize) -> &'static str>,
}

/// `names!(services)`: the names of a table of the model, in its order.
macro_rules! names {
    ($table:ident) => {
        |model| model.$table.iter().map(|object| &*object.name).collect()
    };
}

pub(crate) fn routes() -> Vec<Route> {
    let mut routes = vec![
        Route::get("/api/v1/status", "The appliance: configuration, overrides, draining, problems", status)
            .answers::<StatusDto>(),
    ];
    routes.extend(collection(Collection {
        path: "vservers",
        noun: "vserver",
        names: names!(vservers),
        show: |world, range| range.map(|at| VserverDto::of(world, VserverId::from_index(at))).collect(),
        state: Some(|world, at| world.view.vservers[at].state.word()),
    }));
    let [services, _] = collection(Collection {
        path: "services",
        noun: "service",
        names: names!(services),
        show: |world, range| ServiceDto::many(world, range),
        state: Some(|world, at| world.view.services[at].state.word()),
    });
    routes.push(services);
    routes.push(Route::get("/api/v1/services/{name}", "One service", service).answers::<ServiceDto>());
    routes.extend(collection(Collection {
        path: "service-groups",
        noun: "service group",
        names: names!(groups),
        show: |world, range| range.map(|at| ServiceGroupDto::of(world, GroupId::from_index(at))).collect(),
        state: None,
    }));
    routes.extend(collection(Collection {
        path: "servers",
        noun: "server",
        names: names!(servers),
        show: |world, range| ServerDto::many(world, range),
        state: None,
    }));
    routes.extend(collection(Collection {
        path: "rules",
        noun: "rule",
        names: names!(rules),
        show: |world, range| range.map(|at| RuleDto::of(world, at)).collect(),
        state: None,
    }));
    routes.extend(collection(Collection {
        path: "certificates",
        noun: "certificate",
        names: names!(certificates),
        show: |world, range| range.map(|at| CertificateDto::of(world, CertificateId::from_index(at))).collect(),
        state: None,
    }));
    routes.extend(collection(Collection {
        path: "checks",
        noun: "check",
        names: names!(checks),
        show: |world, range| range.map(|at| CheckDto::of(world, CheckId::from_index(at))).collect(),
        state: None,
    }));
    let last = "The last samples of a check, oldest first, and the percentiles of its latency";
    routes.push(Route::get("/api/v1/checks/{name}/history", last, history).answers::<CheckHistoryDto>());
    routes.extend(collection(Collection {
        path: "monitors",
        noun: "monitor",
        names: names!(monitors),
        show: |world, range| range.map(|at| LbMonitorDto::of(world, MonitorId::from_index(at))).collect(),
        state: None,
    }));
    routes.extend(collection(Collection {
        path: "scenarios",
        noun: "scenario",
        names: names!(scenarios),
        show: |world, range| ScenarioDto::many(world, range),
        state: None,
    }));
    routes.extend(collection(Collection {
        path: "datacenters",
        noun: "data centre",
        names: names!(datacenters),
        show: |world, range| range.map(|at| DatacenterDto::of(world, DatacenterId::from_index(at))).collect(),
        state: None,
    }));
    routes.extend(collection(Collection {
        path: "datacenter-pairs",
        noun: "data-centre pair",
        names: names!(pairs),
        show: |world, range| range.map(|at| PairDto::of(world, at)).collect(),
        state: None,
    }));
    routes.extend(collection(Collection {
        path: "peers",
        noun: "peer",
        names: names!(peers),
        show: |world, range| range.map(|at| PeerDto::of(world, &world.model.peers[at])).collect(),
        state: None,
    }));
    routes.extend(collection(Collection {
        path: "zones",
        noun: "zone",
        names: names!(zones),
        show: |world, range| range.map(|at| ZoneDto::of(world, at)).collect(),
        state: None,
    }));
    routes.extend(collection(Collection {
        path: "triggers",
        noun: "trigger",
        names: names!(triggers),
        show: |world, range| range.map(|at| TriggerDto::of(world, TriggerId::from_index(at))).collect(),
        state: None,
    }));
    routes.extend(collection(Collection {
        path: "queries",
        noun: "query",
        names: names!(queries),
        show: |world, range| range.map(|at| QueryDto::of(world, QueryId::from_index(at))).collect(),
        state: None,
    }));
    routes.extend(collection(Collection {
        path: "switches",
        noun: "switch",
        names: names!(switches),
        show: |world, range| range.map(|at| SwitchDto::of(world, SwitchId::from_index(at))).collect(),
        state: None,
    }));
    routes
}

async fn status(State(app): State<App>) -> Result<Json<StatusDto>, Problem> {
    let management = Some(app.management());
    let own = app.clone();
    let (status, machine) =
        app.study(move |world| (StatusDto::of(world), Some(MachineDto::of(&own.machine())))).await?;
    let first_boot = app.first_boot();
    Ok(Json(StatusDto { management, machine, first_boot, ..status }))
}

/// With its states of the last 48 hours.
async fn service(State(app): State<App>, caller: Caller, segments: Segments) -> Result<Response, Problem> {
    let found = app.read(move |world| match world.model.service_id(segments.first()) {
        Some(id) => Ok((ServiceDto::of(world, id), world.now.wall)),
        None => Err((Arc::clone(world.model), segments)),
    });
    let names: fn(&Model) -> Vec<&str> = names!(services);
    let (mut service, now) =
        found.await?.map_err(|(model, asked)| Problem::unknown_object("service", asked.first(), names(&model)))?;
    let object = ObjectRef::new(Kind::Service, &service.name[..]);
    service.history = changes(&app, &object, now - HISTORY, now).await?;
    let name = service.name.clone();
    Ok(tagged(&app, &caller, ("services", &name), Json(service)).await)
}

async fn history(State(app): State<App>, segments: Segments) -> Result<Json<CheckHistoryDto>, Problem> {
    let found = app.read(move |world| match world.model.check_id(segments.first()) {
        Some(id) => Ok(CheckHistoryDto::of(world, id)),
        None => Err((Arc::clone(world.model), segments)),
    });
    let names: fn(&Model) -> Vec<&str> = names!(checks);
    found.await?.map(Json).map_err(|(model, asked)| Problem::unknown_object("check", asked.first(), names(&model)))
}

/// With the tag of its configuration.
async fn tagged(app: &App, caller: &Caller, (path, name): (&str, &str), shown: impl IntoResponse) -> Response {
    let tag = super::objects::tag_of(app, caller, path, name).await;
    let mut response = shown.into_response();
    if let Some(tag) = tag.and_then(|tag| HeaderValue::try_from(format!("\"{tag}\"")).ok()) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// The two routes of a kind: all of it, and one by name.
fn collection<D>(collection: Collection<D>) -> [Route; 2]
where
    D: Schema + Serialize + Send + 'static,
{
    let Collection { path, noun, names, show, state } = collection;
    let all = move |State(app): State<App>, params: Params| async move {
        let page = Page::of(&params)?;
        let shown = app.study(move |world| {
            let names = names(world.model);
            // What is shown to learn its state only.
            let mut looked_at = Vec::new();
            if page.asks_for_states() && state.is_none() {
                looked_at =
                    show(world, 0..names.len()).into_iter().map(|item| serde_json::to_value(item).ok()).collect();
            }
            let has_state = |at: usize| match state {
                Some(state) => page.is_state(state(world, at)),
                None => looked_at.get(at).and_then(Option::as_ref).is_some_and(|item| page.has_state(item)),
            };
            let is_wanted = |at: &usize| page.is_named(names[*at]) && (!page.asks_for_states() || has_state(*at));
            let cut = page.cut((0..names.len()).filter(is_wanted).collect(), &names);
            let mut items = Vec::with_capacity(cut.shown.len());
            let runs = || cut.shown.chunk_by(|a, b| a + 1 == *b).map(|run| run[0]..run[0] + run.len());
            match (cut.shown.first(), cut.shown.last()) {
                // Each run has a price of its own; beyond some it is less to leave out what stands between them.
                (Some(&first), Some(&last)) if runs().count() > RUNS_MOST => {
                    let all = show(world, first..last + 1);
                    items.extend(cut.shown.iter().filter_map(|at| all.get(at - first)).map(|item| page.text(item)));
                }
                _ => runs().for_each(|run| items.extend(show(world, run).iter().map(|item| page.text(item)))),
            }
            let last = cut.last.map(|at| names[at]);
            page.answer(&format!("/api/v1/{path}"), &params, items, &cut, last)
        });
        shown.await
    };
    let one = move |State(app): State<App>, caller: Caller, segments: Segments| async move {
        let name = segments.first().to_owned();
        let found = app.read(move |world| {
            let known = names(world.model);
            match known.iter().position(|name| *name == segments.first()) {
                Some(at) => Ok(show(world, at..at + 1).pop()),
                // Spelling takes time that is not the one writer's.
                None => Err((Arc::clone(world.model), segments)),
            }
        });
        let found = found.await?;
        let shown = found.map_err(|(model, asked)| Problem::unknown_object(noun, asked.first(), names(&model)))?;
        Ok::<_, Problem>(tagged(&app, &caller, (path, &name), Json(shown)).await)
    };
    [
        Route::get(format!("/api/v1/{path}"), &format!("Every {noun}"), all).query(PAGE).answers::<Paged<D>>(),
        Route::get(format!("/api/v1/{path}/{{name}}"), &format!("One {noun}"), one).answers::<D>(),
    ]
}
