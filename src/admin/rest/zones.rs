//! What is done to zones: a transfer now.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;

use super::super::App;
use super::super::auth::{Access, Caller};
use super::super::body::{self, ACT_MAX, Field, FieldKind, Fields, field};
use super::super::dto::{ZoneDto, ZoneTransferDto};
use super::super::problem::Problem;
use super::super::route::{Reads, Route, Segments};
use crate::control::{Command, World};

const TRANSFER: &[Field] =
    &[field("whole", FieldKind::Flag, "Take the whole zone, whatever its serial. Default: only what is newer.")];

/// How long the answer waits for a primary's, and between two looks.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(50);

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/v1/zones/{name}/transfer", Access::Operate, "Ask the primaries of a zone now", transfer)
            .reads(Reads::Fields(TRANSFER))
            .answers::<ZoneDto>(),
    ]
}

fn position(world: &World<'_>, name: &str) -> Option<usize> {
    let wanted = name.strip_suffix('.').filter(|rest| !rest.is_empty()).unwrap_or(name);
    world.model.zones.iter().position(|zone| zone.name.eq_ignore_ascii_case(wanted))
}

/// What changes when a primary has been asked.
fn asked(world: &World<'_>, name: &str) -> Option<(u64, u64, Option<String>)> {
    let transfer = ZoneTransferDto::of(world, position(world, name)?)?;
    Some((transfer.transfers_total, transfer.failures_total, transfer.confirmed_at))
}

/// Answers when a primary has, or after 10 s: a person waits for it.
async fn transfer(
    State(app): State<App>,
    caller: Caller,
    names: Segments,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<ZoneDto>, Problem> {
    let fields = Fields::parse(&headers, &body::read(body, ACT_MAX).await?, TRANSFER)?;
    let name = names.first().to_owned();
    let wanted = name.clone();
    let look = move |world: &World<'_>| match position(world, &wanted) {
        Some(_) => Ok(asked(world, &wanted)),
        None => Err(world.model.zones.iter().map(|zone| zone.name.to_string()).collect::<Vec<_>>()),
    };
    let unknown = |all: Vec<String>| Problem::unknown_object("zone", names.first(), all.iter().map(String::as_str));
    let before = app.read(look).await?.map_err(unknown)?;
    let whole = fields.flag("whole")?.unwrap_or(false);
    app.command(caller, Command::TransferZone { zone: name.as_str().into(), whole }, Duration::ZERO).await?;
    for _ in 0..PATIENCE.as_millis() / LOOK_EVERY.as_millis() {
        let wanted = name.clone();
        if app.read(move |world| asked(world, &wanted)).await? != before {
            break;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let wanted = name.clone();
    let shown = app.read(move |world| position(world, &wanted).map(|at| ZoneDto::of(world, at))).await?;
    shown.map(Json).ok_or_else(|| Problem::unknown_object("zone", &name, []))
}
