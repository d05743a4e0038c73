//! `GET /history`: counters of the last 48 hours, and what happened meanwhile.

use axum::Json;
use axum::extract::State;

use super::super::App;
use super::super::body::{Field, FieldKind, Params, field};
use super::super::dto::{HistoryDto, MarkDto, StateChangeDto};
use super::super::history::book::{Asked, FINE_S, MINUTE_S, SERIES};
use super::super::problem::Problem;
use super::super::route::Route;
use super::super::timeline::in_words;
use crate::control::{JournalEntry, JournalQuery};
use crate::model::id::{Kind, ObjectRef};
use crate::model::time::Wall;

const HISTORY: &[Field] = &[
    field("object", FieldKind::Text, "Needed: `vserver:NAME` or `service:NAME`."),
    field(
        "metric",
        FieldKind::Text,
        "One series of it; all where absent. `state`: the states of a service or vserver.",
    ),
    field("from", FieldKind::Time, "A time, or a duration back from now; default 1h."),
    field("to", FieldKind::Time, "Default now."),
    field("at", FieldKind::Time, "The minute that holds this moment, in place of from, to and step."),
    field("step", FieldKind::Duration, "Length of a point; default 10s. Never shorter than what is kept."),
];

const MINUTE: i64 = 60_000_000;
const SPAN: i64 = 3_600_000_000;
/// Of the marks of one answer.
const MARKS_MOST: u32 = 200;
/// Changes of state of one object.
const CHANGES_MOST: u32 = 2_000;
const STEP_MOST: i64 = 86_400;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/history", "Counters of the last 48 hours, with marks of what happened", history)
            .query(HISTORY)
            .searches()
            .answers::<HistoryDto>(),
    ]
}

async fn history(State(app): State<App>, params: Params) -> Result<Json<HistoryDto>, Problem> {
    let object = params.get("object").unwrap_or_default();
    let found = object.split_once([':', '/', ' ']).and_then(|(kind, name)| match kind {
        "vserver" => Some(ObjectRef::new(Kind::Vserver, name)),
        "service" => Some(ObjectRef::new(Kind::Service, name)),
        _ => None,
    });
    let asked = found
        .ok_or_else(|| Problem::bad_request(format!("`object` is `vserver:NAME` or `service:NAME`, not `{object}`")))?;
    let named = asked.clone();
    let known = app.read(move |world| {
        let known = match named.kind {
            Kind::Vserver => world.model.vserver_id(&named.name).is_some(),
            _ => world.model.service_id(&named.name).is_some(),
        };
        known.then_some(world.now.wall)
    });
    let Some(now) = known.await? else { return Err(super::acts::unknown_with_hint(&app, asked).await) };
    let at = params.time("at", now)?.map(|at| Wall(at.0.div_euclid(MINUTE) * MINUTE));
    let (from, to) = match at {
        Some(at) => (at, Wall(at.0.saturating_add(MINUTE))),
        None => {
            let to = params.time("to", now)?.unwrap_or(now);
            (params.time("from", now)?.unwrap_or(Wall(to.0.saturating_sub(SPAN))), to)
        }
    };
    if from >= to {
        return Err(Problem::bad_request(format!("`from` ({from}) is not before `to` ({to})")));
    }
    let metric = params.get("metric");
    if let Some("state") = metric {
        return states(&app, &asked, from, to).await.map(Json);
    }
    if let Some(metric) = metric.filter(|metric| !SERIES.contains(metric)) {
        let problem = Problem::bad_request(format!("`metric` is one of {}, state, not `{metric}`", SERIES.join(", ")));
        return Err(problem.meaning(super::super::nearest(metric, SERIES)));
    }
    let kept = if at.is_some() { MINUTE_S } else { FINE_S };
    let step = params.duration("step")?.map_or(kept, |step| (step.as_secs() as i64).clamp(1, STEP_MOST));
    let key = format!("{}:{}", asked.kind.word(), asked.name);
    let curve = app.history().curve(&Asked { object: key.clone(), from, to, step });
    let mut answer = HistoryDto::of(&key, curve.unwrap_or_default(), metric);
    answer.marks = marks(&app, &asked, from, to).await?;
    Ok(Json(answer))
}

/// Commits of all scenarios, and what people did to the object.
async fn marks(app: &App, object: &ObjectRef, from: Wall, to: Wall) -> Result<Vec<MarkDto>, Problem> {
    let of = |kind: &str| JournalQuery {
        since: Some(from),
        until: Some(to),
        kind: Some(kind.into()),
        limit: Some(MARKS_MOST),
        newest_first: true,
        ..JournalQuery::default()
    };
    let acts = JournalQuery { about: Some(object.to_string().into()), ..of("act") };
    let mut entries = app.handle().journal(of("transition")).await?;
    entries.extend(app.handle().journal(acts).await?);
    entries.sort_by_key(|entry| entry.number);
    let mark = |entry: JournalEntry| {
        let (text, _) = in_words(&entry)?;
        Some(MarkDto { at: entry.at.to_string(), kind: entry.kind.to_string(), object: entry.object.to_string(), text })
    };
    Ok(entries.into_iter().filter_map(mark).collect())
}

/// When it entered which state.
async fn states(app: &App, object: &ObjectRef, from: Wall, to: Wall) -> Result<HistoryDto, Problem> {
    let changes = changes(app, object, from, to).await?;
    Ok(HistoryDto::of_states(&format!("{}:{}", object.kind.word(), object.name), changes))
}

/// States that an object entered, oldest first; of very many the newest.
pub(super) async fn changes(
    app: &App,
    object: &ObjectRef,
    from: Wall,
    to: Wall,
) -> Result<Vec<StateChangeDto>, Problem> {
    let query = JournalQuery {
        since: Some(from),
        until: Some(to),
        kind: Some("state".into()),
        about: Some(object.to_string().into()),
        limit: Some(CHANGES_MOST),
        newest_first: true,
        ..JournalQuery::default()
    };
    let entries = app.handle().journal(query).await?;
    Ok(entries.iter().rev().map(StateChangeDto::of).collect())
}
