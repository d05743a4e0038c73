//! What people do to the running appliance: disable, enable, modes, switches, forces.

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
use super::super::dto::{self, CheckDto, ScenarioDto, ServerDto, ServiceDto, ServiceGroupDto, SwitchDto, VserverDto};
use super::super::problem::{Problem, spoken};
use super::super::route::{Reads, Route, Segments};
use super::careful::{self, CONFIRM, Care, DRY_RUN, IF_SEQ};
use crate::control::{Command, Refusal};
use crate::model::id::{Kind, ObjectRef};
use crate::model::scenario::Mode;

const REASON: Field = field("reason", FieldKind::Text, "Why; kept with the act.");
const EXPIRES: Field = field("expires", FieldKind::Expiry, "When it ends by itself: a duration or a time.");

/// Nothing is left that could expire.
const ENABLE: &[Field] = &[REASON, IF_SEQ, CONFIRM];
const NOTE: &[Field] = &[REASON, EXPIRES, IF_SEQ, CONFIRM];
const DISABLE: &[Field] = &[
    field("delay", FieldKind::Duration, "How long to drain; absent or 0: out of service at once."),
    field("graceful", FieldKind::Flag, "Out of service as soon as nobody is on it; with a delay, at the latest then."),
    field(
        "wait",
        FieldKind::Wait,
        "Answer when it is out of service, at most this long (true: until the delay ends, \
                                    or 60s); answers who is left otherwise.",
    ),
    REASON,
    EXPIRES,
    IF_SEQ,
    CONFIRM,
];
const MODES: &[Field] = &[
    field("activate", FieldKind::Word(&MODE_WORDS), "The mode of the direction activate."),
    field("deactivate", FieldKind::Word(&MODE_WORDS), "The mode of the direction deactivate."),
    field("override", FieldKind::Flag, "Do not run the guard of a forced transition; recorded."),
    IF_SEQ,
    REASON,
    EXPIRES,
    CONFIRM,
];
const SWITCH: &[Field] = &[field("value", FieldKind::Flag, "Needed: true or false."), REASON, EXPIRES, IF_SEQ, CONFIRM];
const FORCE: &[Field] = &[
    field("state", FieldKind::Word(&FORCE_WORDS), "Needed: up or down; none ends a force."),
    REASON,
    EXPIRES,
    IF_SEQ,
    CONFIRM,
];

const MODE_WORDS: [&str; 3] = ["auto", "on", "off"];
const FORCE_WORDS: [&str; 3] = ["up", "down", "none"];

const SPLIT: &[Field] = &[
    field(
        "split",
        FieldKind::Shares,
        "Needed: percent of new clients for each bound group, 100 together; none: as configured.",
    ),
    REASON,
    EXPIRES,
    IF_SEQ,
    CONFIRM,
];

/// Longest wait for a drain.
const WAIT_MAX: Duration = Duration::from_secs(3_600);
/// A wait without a length, where no delay says when the drain is over.
const WAIT: Duration = Duration::from_secs(60);

pub(crate) fn routes() -> Vec<Route> {
    let mut routes = Vec::new();
    routes.extend(switchable::<ServiceDto>("services/{name}", Kind::Service, DISABLE));
    routes.extend(switchable::<ServerDto>("servers/{name}", Kind::Server, DISABLE));
    routes.extend(switchable::<ServiceGroupDto>("service-groups/{name}", Kind::ServiceGroup, DISABLE));
    routes.extend(switchable::<ServiceDto>("service-groups/{name}/members/{member}", Kind::Service, DISABLE));
    routes.extend(switchable::<VserverDto>("vservers/{name}", Kind::Vserver, NOTE));
    routes.extend(switchable::<CheckDto>("checks/{name}", Kind::Check, NOTE));
    routes.push(
        Route::put("/api/v1/scenarios/{name}/modes", Access::Operate, "Set one or both modes at once", modes)
            .query(DRY_RUN)
            .reads(Reads::Fields(MODES))
            .answers_changed::<ScenarioDto>(),
    );
    routes.push(
        Route::put("/api/v1/switches/{name}", Access::Operate, "Flip a switch", switch)
            .query(DRY_RUN)
            .reads(Reads::Fields(SWITCH))
            .answers_changed::<SwitchDto>(),
    );
    routes.push(
        Route::put("/api/v1/vservers/{name}/split", Access::Operate, "Move the shares of a vserver's groups", split)
            .query(DRY_RUN)
            .reads(Reads::Fields(SPLIT))
            .answers_changed::<VserverDto>(),
    );
    routes
        .push(force("checks", Kind::Check, "Force what a check says, or end the force").answers_changed::<CheckDto>());
    routes.push(
        force("services", Kind::Service, "Force what a service's monitors say, or end the force")
            .answers_changed::<ServiceDto>(),
    );
    routes
}

/// `disable` and `enable` of a kind.
fn switchable<D: dto::Schema>(path: &str, kind: Kind, disable: &'static [Field]) -> [Route; 2] {
    let noun = spoken(kind.word());
    let disabling = move |State(app): State<App>,
                          caller: Caller,
                          names: Segments,
                          params: Params,
                          headers: HeaderMap,
                          body: Body| async move {
        let fields = Fields::parse(&headers, &body::read(body, ACT_MAX).await?, disable)?;
        let delay = fields.duration("delay")?;
        let wait = fields.wait(delay.map_or(WAIT, |d| d + Duration::from_secs(5)))?;
        if wait.is_some_and(|w| w > WAIT_MAX) {
            return Err(Problem::bad_request("`wait` is at most 1h"));
        }
        let command = Command::Disable {
            object: object(kind, &names),
            delay,
            graceful: fields.flag("graceful")?.unwrap_or(false),
            note: fields.note()?,
            wait,
        };
        act(&app, caller, object(kind, &names), Care::read(&params, &headers, &fields)?.of(command)).await
    };
    let enabling = move |State(app): State<App>,
                         caller: Caller,
                         names: Segments,
                         params: Params,
                         headers: HeaderMap,
                         body: Body| async move {
        let fields = Fields::parse(&headers, &body::read(body, ACT_MAX).await?, ENABLE)?;
        let command = Command::Enable { object: object(kind, &names), note: fields.note()? };
        act(&app, caller, object(kind, &names), Care::read(&params, &headers, &fields)?.of(command)).await
    };
    let how = match kind {
        Kind::Vserver => "Take out of service",
        Kind::Check => "Neither probe nor count (a monitor of a service)",
        _ => "Drain, or take out of service at once",
    };
    [
        Route::post(format!("/api/v1/{path}/disable"), Access::Operate, &format!("{how}: {noun}"), disabling)
            .query(DRY_RUN)
            .reads(Reads::Fields(disable))
            .answers_changed::<D>(),
        Route::post(format!("/api/v1/{path}/enable"), Access::Operate, &format!("Bring back: {noun}"), enabling)
            .query(DRY_RUN)
            .reads(Reads::Fields(ENABLE))
            .answers_changed::<D>(),
    ]
}

/// The object that the path names; a member of a group is the service `GROUP/MEMBER`.
fn object(kind: Kind, names: &Segments) -> ObjectRef {
    ObjectRef::new(kind, names.0.join("/"))
}

async fn modes(
    State(app): State<App>,
    caller: Caller,
    names: Segments,
    params: Params,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Problem> {
    let fields = Fields::parse(&headers, &body::read(body, ACT_MAX).await?, MODES)?;
    let mode = |name| Ok::<_, Problem>(fields.word(name, &MODE_WORDS)?.and_then(Mode::parse));
    let (activate, deactivate) = (mode("activate")?, mode("deactivate")?);
    if activate.is_none() && deactivate.is_none() {
        return Err(Problem::bad_request("set `activate`, `deactivate` or both to auto, on or off"));
    }
    let command = Command::SetModes {
        scenario: names.first().into(),
        activate,
        deactivate,
        override_guard: fields.flag("override")?.unwrap_or(false),
        if_seq: fields.integer("if_seq")?,
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

async fn switch(
    State(app): State<App>,
    caller: Caller,
    names: Segments,
    params: Params,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Problem> {
    let fields = Fields::parse(&headers, &body::read(body, ACT_MAX).await?, SWITCH)?;
    let value = fields.flag("value")?.ok_or_else(|| Problem::bad_request("`value` is missing: true or false"))?;
    let command = Command::SetSwitch { switch: names.first().into(), value, note: fields.note()? };
    act(&app, caller, ObjectRef::new(Kind::Switch, names.first()), Care::read(&params, &headers, &fields)?.of(command))
        .await
}

async fn split(
    State(app): State<App>,
    caller: Caller,
    names: Segments,
    params: Params,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Problem> {
    let fields = Fields::parse(&headers, &body::read(body, ACT_MAX).await?, SPLIT)?;
    let shares = fields.shares("split")?;
    let command = Command::SetSplit { vserver: names.first().into(), shares, note: fields.note()? };
    act(&app, caller, ObjectRef::new(Kind::Vserver, names.first()), Care::read(&params, &headers, &fields)?.of(command))
        .await
}

fn force(path: &str, kind: Kind, summary: &str) -> Route {
    let forcing = move |State(app): State<App>,
                        caller: Caller,
                        names: Segments,
                        params: Params,
                        headers: HeaderMap,
                        body: Body| async move {
        let fields = Fields::parse(&headers, &body::read(body, ACT_MAX).await?, FORCE)?;
        let up = match fields.word("state", &FORCE_WORDS)? {
            Some("up") => Some(true),
            Some("down") => Some(false),
            Some(_) => None,
            None => return Err(Problem::bad_request("`state` is missing: up, down or none")),
        };
        let command = Command::Force { object: object(kind, &names), up, note: fields.note()? };
        act(&app, caller, object(kind, &names), Care::read(&params, &headers, &fields)?.of(command)).await
    };
    Route::put(format!("/api/v1/{path}/{{name}}/force"), Access::Operate, summary, forcing)
        .query(DRY_RUN)
        .reads(Reads::Fields(FORCE))
}

/// Carries a command out and answers the object as it stands afterwards.
pub(super) async fn act(
    app: &App,
    caller: Caller,
    object: ObjectRef,
    command: Command,
) -> Result<Json<Value>, Problem> {
    let wait = match &command {
        Command::Disable { wait, .. } => wait.unwrap_or_default(),
        Command::Careful { command, .. } => match &**command {
            Command::Disable { wait, .. } => wait.unwrap_or_default(),
            _ => Duration::ZERO,
        },
        _ => Duration::ZERO,
    };
    let dry_run = matches!(command, Command::DryRun(_));
    let done = match app.command(caller, command, wait).await {
        Ok(done) => done,
        Err(Refusal::Unknown(unknown)) => return Err(unknown_with_hint(app, unknown).await),
        Err(refusal) => return Err(refusal.into()),
    };
    let state = app.read(move |world| dto::json_of(world, &object)).await?;
    let mut answer = state.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    if let Some(members) = answer.as_object_mut() {
        members.insert("generation".into(), done.generation.into());
        if dry_run {
            careful::show(app, members, done.preview.as_deref());
            members.insert("changes".into(), done.changes.into());
        }
        if !done.warnings.is_empty() {
            members.insert("warnings".into(), done.warnings.into());
        }
        if !done.still_draining.is_empty() {
            members.insert("still_draining".into(), done.still_draining.into());
        }
    }
    Ok(Json(answer))
}

/// 404 with the nearest name of the kind.
pub(super) async fn unknown_with_hint(app: &App, unknown: ObjectRef) -> Problem {
    // Spelling takes time that is not the one writer's.
    match app.read(|world| Arc::clone(world.model)).await {
        Ok(model) => {
            let known = dto::names_of(&model, unknown.kind);
            Problem::unknown_object(&spoken(unknown.kind.word()), &unknown.name, known)
        }
        Err(_) => Refusal::Unknown(unknown).into(),
    }
}
