//! Drills: beginning one, ending it, and the reports of all.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::Value;

use super::super::App;
use super::super::auth::{Access, Caller};
use super::super::body::{self, ACT_MAX, Field, FieldKind, Fields, Params, field};
use super::super::dto::{DrillDto, Items};
use super::super::problem::Problem;
use super::super::route::{Reads, Route, Segments};
use super::acts::unknown_with_hint;
use super::careful::{self, CONFIRM, Care, DRY_RUN, IF_SEQ};
use crate::control::command::{Done, Expiry, Note};
use crate::control::{Command, Refusal};

const LIST: &[Field] = &[
    field("scenario", FieldKind::Text, "Only drills of this scenario."),
    field("limit", FieldKind::Within(0, super::pages::MOST), "At most this many, the newest; default 1000."),
];
const START: &[Field] = &[
    field("scenario", FieldKind::Text, "Needed: the scenario that is activated for a while."),
    field("for", FieldKind::Duration, "Needed: how long, from now to the return."),
    field("reason", FieldKind::Text, "Needed: why; the report names it."),
    field("notify", FieldKind::Texts, "Triggers that are told in place of the scenario's own; default: none."),
    field("stop_on", FieldKind::Texts, "Conditions of [drills.stop_on] that end it early; default: none."),
    field("override", FieldKind::Flag, "Do not run the guard of the activation; recorded."),
    IF_SEQ,
    CONFIRM,
];
const STOP: &[Field] = &[
    field("reason", FieldKind::Text, "Why; kept with the report."),
    field("override", FieldKind::Flag, "Do not run the guard of the return; recorded."),
];

/// Shown where no limit is asked for.
const LIMIT: u64 = 1_000;
/// A drill that is over before its beginning is on disk is none.
const SHORTEST: Duration = Duration::from_secs(1);

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/drills", "Drills and their reports, oldest first", list)
            .query(LIST)
            .answers::<Items<DrillDto>>(),
        Route::get("/api/v1/drills/{id}", "A drill and its report", one).answers::<DrillDto>(),
        Route::post("/api/v1/drills", Access::Operate, "Activate a scenario for a while, as a drill", start)
            .query(DRY_RUN)
            .reads(Reads::Fields(START))
            .answers_changed::<DrillDto>(),
        Route::post("/api/v1/drills/{id}/stop", Access::Operate, "End a drill now", stop)
            .reads(Reads::Fields(STOP))
            .answers_changed::<DrillDto>(),
    ]
}

async fn list(State(app): State<App>, params: Params) -> Result<Json<Items<DrillDto>>, Problem> {
    let scenario = params.get("scenario").map(str::to_owned);
    let limit = usize::try_from(params.integer("limit")?.unwrap_or(LIMIT)).unwrap_or(usize::MAX);
    let items = app.study(move |world| {
        let drills = world.drills.values().rev();
        let wanted = drills.filter(|drill| scenario.as_deref().is_none_or(|name| *drill.scenario == *name));
        let mut items: Vec<DrillDto> = wanted.take(limit).map(|drill| DrillDto::of(world, drill)).collect();
        items.reverse();
        items
    });
    Ok(Json(Items { items: items.await? }))
}

async fn one(State(app): State<App>, names: Segments) -> Result<Json<DrillDto>, Problem> {
    let id = names.first().parse().ok();
    let found = app.read(move |world| id.and_then(|id| world.drills.get(&id)).map(|drill| DrillDto::of(world, drill)));
    found.await?.map(Json).ok_or_else(|| Problem::unknown_object("drill", names.first(), []))
}

async fn start(
    State(app): State<App>,
    caller: Caller,
    params: Params,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Problem> {
    let fields = Fields::parse(&headers, &body::read(body, ACT_MAX).await?, START)?;
    let scenario = fields.text("scenario")?.ok_or_else(|| Problem::bad_request("`scenario` is missing"))?;
    let names = |key: &str| Ok::<_, Problem>(fields.texts(key)?.into_iter().map(Into::into).collect());
    let lasts = fields.duration("for")?;
    if lasts.is_some_and(|lasts| lasts < SHORTEST) {
        return Err(Problem::bad_request("`for` is at least 1s, such as 60m"));
    }
    let command = Command::StartDrill {
        scenario: scenario.into(),
        lasts: lasts.unwrap_or_default(),
        notify: names("notify")?,
        stop_on: names("stop_on")?,
        override_guard: fields.flag("override")?.unwrap_or(false),
        note: Note { expires: lasts.map(Expiry::After), ..fields.note()? },
    };
    let dry_run = params.flag("dry_run")?;
    let command = Care::read(&params, &headers, &fields)?.of(command);
    match app.command(caller, command, Duration::ZERO).await {
        Ok(done) => answer(&app, done, dry_run).await,
        Err(Refusal::Unknown(unknown)) => Err(unknown_with_hint(&app, unknown).await),
        Err(refusal) => Err(refusal.into()),
    }
}

async fn stop(
    State(app): State<App>,
    caller: Caller,
    names: Segments,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Problem> {
    let fields = Fields::parse(&headers, &body::read(body, ACT_MAX).await?, STOP)?;
    let id = names.first().parse().ok();
    let known = app.read(move |world| id.filter(|id| world.drills.contains_key(id))).await?;
    let Some(id) = known else { return Err(Problem::unknown_object("drill", names.first(), [])) };
    let override_guard = fields.flag("override")?.unwrap_or(false);
    let command = Command::StopDrill { drill: Some(id), override_guard, note: fields.note()? };
    let done = app.command(caller, command, Duration::ZERO).await?;
    answer(&app, done, false).await
}

/// The drill as it stands afterwards.
async fn answer(app: &App, done: Done, dry_run: bool) -> Result<Json<Value>, Problem> {
    let id = done.drill;
    let shown = app.read(move |world| id.and_then(|id| world.drills.get(&id)).map(|drill| DrillDto::of(world, drill)));
    let shown = shown.await?.map(|drill| serde_json::to_value(drill).unwrap_or_default());
    let mut members = match shown {
        Some(Value::Object(members)) => members,
        _ => serde_json::Map::new(),
    };
    members.insert("generation".into(), done.generation.into());
    if dry_run {
        careful::show(app, &mut members, done.preview.as_deref());
        members.insert("changes".into(), done.changes.into());
    }
    if !done.warnings.is_empty() {
        members.insert("warnings".into(), done.warnings.into());
    }
    Ok(Json(Value::Object(members)))
}
