//! Deliveries of triggers: what waits, what was given up, sending it again, and tests; and decisions about guards.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::Value;

use super::super::App;
use super::super::auth::{Access, Caller};
use super::super::body::{self, ACT_MAX, Field, FieldKind, Fields, Params, field};
use super::super::dto::{DeliveryDto, Items, ScenarioDto};
use super::super::problem::Problem;
use super::super::route::{Reads, Route, Segments};
use super::acts::act;
use super::careful::{CONFIRM, Care, DRY_RUN, IF_SEQ};
use crate::control::{Command, World};
use crate::model::delivery::Delivery;
use crate::model::id::{Kind, ObjectRef};

const STATUSES: [&str; 3] = ["pending", "delivered", "dead"];
const OUTBOX: &[Field] = &[
    field("status", FieldKind::Word(&STATUSES), "Only deliveries of this status."),
    field("trigger", FieldKind::Text, "Only deliveries of this trigger."),
    field("scenario", FieldKind::Text, "Only deliveries of this scenario."),
    field("limit", FieldKind::Within(0, super::pages::MOST), "At most this many, the newest; default 1000."),
];
const DECISIONS: [&str; 2] = ["approve", "refuse"];
const GUARD: &[Field] = &[
    field("decision", FieldKind::Word(&DECISIONS), "Needed: approve or refuse."),
    field("attempt", FieldKind::Integer, "The attempt that was looked at: another one is not decided (409)."),
    field("reason", FieldKind::Text, "Why; kept with the act."),
    IF_SEQ,
    CONFIRM,
];

/// Shown where no limit is asked for.
const LIMIT: u64 = 1_000;
/// How long the answer to a test waits for its receiver, beside the trigger's own time-out, and between two looks.
const TEST_PATIENCE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The longest that the answer to a test waits at all.
const TEST_MOST: Duration = Duration::from_secs(60);

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/outbox", "Deliveries of triggers, oldest first", outbox)
            .query(OUTBOX)
            .answers::<Items<DeliveryDto>>(),
        Route::post("/api/v1/outbox/{id}/replay", Access::Operate, "Send a dead delivery again, with its key", replay)
            .answers::<DeliveryDto>(),
        Route::delete("/api/v1/outbox/{id}", Access::Operate, "Forget a dead delivery", discard)
            .answers::<DeliveryDto>(),
        Route::post("/api/v1/triggers/{name}/test", Access::Operate, "Send a delivery that is marked as a test", test)
            .answers::<DeliveryDto>(),
        Route::post("/api/v1/scenarios/{name}/guard", Access::Operate, "Approve or refuse a guard that runs", guard)
            .query(DRY_RUN)
            .reads(Reads::Fields(GUARD))
            .answers_changed::<ScenarioDto>(),
    ]
}

async fn outbox(State(app): State<App>, params: Params) -> Result<Json<Items<DeliveryDto>>, Problem> {
    let text = |name| params.get(name).map(str::to_owned);
    let (status, trigger, scenario) = (text("status"), text("trigger"), text("scenario"));
    if let Some(status) = status.as_deref().filter(|status| !STATUSES.contains(status)) {
        return Err(Problem::bad_request(format!("`status` is pending, delivered or dead, not `{status}`")));
    }
    let limit = usize::try_from(params.integer("limit")?.unwrap_or(LIMIT)).unwrap_or(usize::MAX);
    let look = |world: &World<'_>| (Arc::clone(world.deliveries), Arc::clone(world.model), world.now.wall);
    let (book, model, now) = app.read(look).await?;
    let wanted = |delivery: &&Delivery| {
        status.as_deref().is_none_or(|status| delivery.status.word() == status)
            && trigger.as_deref().is_none_or(|trigger| *delivery.trigger == *trigger)
            && scenario.as_deref().is_none_or(|scenario| *delivery.scenario == *scenario)
    };
    let newest = book.deliveries.values().rev().filter(wanted).take(limit);
    let mut items: Vec<_> = newest.map(|delivery| DeliveryDto::of(delivery, &model, &book, now)).collect();
    items.reverse();
    Ok(Json(Items { items }))
}

async fn replay(State(app): State<App>, caller: Caller, names: Segments) -> Result<Json<DeliveryDto>, Problem> {
    let id = names.first().parse().ok();
    let known = app.read(move |world| id.filter(|id| world.deliveries.deliveries.contains_key(id))).await?;
    let Some(delivery) = known else { return Err(Problem::unknown_object("delivery", names.first(), [])) };
    app.command(caller, Command::Replay { delivery }, Duration::ZERO).await?;
    shown(&app, delivery).await
}

/// Answers with what it was.
async fn discard(State(app): State<App>, caller: Caller, names: Segments) -> Result<Json<DeliveryDto>, Problem> {
    let id: Option<u64> = names.first().parse().ok();
    let found = app.read(move |world| of(world, id?)).await?;
    let Some(was) = found else { return Err(Problem::unknown_object("delivery", names.first(), [])) };
    app.command(caller, Command::Discard { delivery: was.id }, Duration::ZERO).await?;
    Ok(Json(was))
}

/// Answers when the receiver has, or its time is over, or at once where a circuit breaker keeps it back: a person waits for
/// it.
async fn test(State(app): State<App>, caller: Caller, names: Segments) -> Result<Json<DeliveryDto>, Problem> {
    let asked = names.first().to_owned();
    let found = app.read(move |world| match world.model.trigger_id(&asked) {
        Some(id) => Ok(world.model.triggers[id.index()].timeout),
        None => Err((Arc::clone(world.model), asked)),
    });
    let timeout = found.await?.map_err(|(model, asked)| {
        Problem::unknown_object("trigger", &asked, model.triggers.iter().map(|t| &*t.name))
    })?;
    let done = app.command(caller, Command::TestTrigger { trigger: names.first().into() }, Duration::ZERO).await?;
    let id = done.delivery.unwrap_or_default();
    let patience = (timeout + TEST_PATIENCE).min(TEST_MOST);
    let looks = patience.as_millis() / LOOK_EVERY.as_millis();
    for _ in 0..looks {
        let is_under_way = |delivery: DeliveryDto| delivery.status == "pending" && delivery.breaker_until.is_none();
        if !app.read(move |world| of(world, id).is_some_and(is_under_way)).await? {
            break;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    shown(&app, id).await
}

async fn shown(app: &App, id: u64) -> Result<Json<DeliveryDto>, Problem> {
    let shown = app.read(move |world| of(world, id)).await?;
    shown.map(Json).ok_or_else(|| Problem::unknown_object("delivery", &id.to_string(), []))
}

fn of(world: &World<'_>, id: u64) -> Option<DeliveryDto> {
    let delivery = world.deliveries.deliveries.get(&id)?;
    Some(DeliveryDto::of(delivery, world.model, world.deliveries, world.now.wall))
}

async fn guard(
    State(app): State<App>,
    caller: Caller,
    names: Segments,
    params: Params,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Problem> {
    let fields = Fields::parse(&headers, &body::read(body, ACT_MAX).await?, GUARD)?;
    let decision = fields.word("decision", &DECISIONS)?;
    let decision = decision.ok_or_else(|| Problem::bad_request("`decision` is missing: approve or refuse"))?;
    let command = Command::DecideGuard {
        scenario: names.first().into(),
        approve: decision == "approve",
        attempt: fields.integer("attempt")?,
        note: fields.note()?,
    };
    act(
        &app,
        caller,
        ObjectRef::new(Kind::Scenario, names.first()),
        Care::read(&params, &headers, &fields)?.of(command),
    )
    .await
}
