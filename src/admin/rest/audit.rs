//! The journal, and the transitions of a scenario out of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::App;
use super::super::auth::{Access, Caller, authorize};
use super::super::body::{Field, FieldKind, Params, field, parse_time};
use super::super::dto::{Items, JournalEntryDto, ResolversDto, ShippingDto, TransitionDto};
use super::super::problem::Problem;
use super::super::route::{Route, Segments};
use super::super::timeline::{self, TimelineDto};
use crate::control::{JournalEntry, JournalQuery};
use crate::model::dns::Resolvers;
use crate::model::ship::KINDS;
use crate::model::time::Wall;

const SINCE: Field = field("since", FieldKind::Time, "Not before: a time, or a duration back from now.");
const UNTIL: Field = field("until", FieldKind::Time, "Not after: a time, or a duration back from now.");
const LIMIT: Field = field("limit", FieldKind::Within(1, LIMIT_MOST), "At most this many, 1 to 10000; default 1000.");
const LIMIT_MOST: u64 = 10_000;
/// How a document is written.
const FORMATS: [&str; 3] = ["json", "md", "html"];
const FORMAT: Field = field("format", FieldKind::Word(&FORMATS), "`json` (the default), `md` or `html`.");

const JOURNAL: &[Field] = &[
    SINCE,
    UNTIL,
    field("scenario", FieldKind::Text, "Only entries of this scenario."),
    field("actor", FieldKind::Text, "Only entries of this actor."),
    field("kind", FieldKind::Word(&KINDS), "Only entries of this kind."),
    field("after", FieldKind::Integer, "Only entries after this number: the way to page on."),
    LIMIT,
    field("newest_first", FieldKind::Flag, "Newest first; oldest first where absent."),
];

const TIMELINE: &[Field] =
    &[SINCE, UNTIL, field("scenario", FieldKind::Text, "Only entries of this scenario."), FORMAT];

/// Entries of a timeline at most.
const TIMELINE_MOST: u32 = 10_000;

const INCIDENT: &[Field] = &[FORMAT];

/// What a timeline of an incident shows before and after it.
const BEFORE: Duration = Duration::from_secs(120);
const AFTER: Duration = Duration::from_secs(1_200);

const TRANSITIONS: &[Field] = &[SINCE, UNTIL, LIMIT];

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/journal", "What happened, oldest first", journal)
            .query(JOURNAL)
            .searches()
            .answers::<Items<JournalEntryDto>>(),
        Route::get("/api/v1/journal/shipping", "Where the journal is shipped to, and how far it has come", shipping)
            .answers::<Items<ShippingDto>>(),
        Route::get("/api/v1/timeline", "What happened between two moments, as one document", timeline)
            .query(TIMELINE)
            .searches()
            .answers::<TimelineDto>(),
        Route::get("/api/v1/timeline/{incident}", "What happened around the commits of one moment", incident)
            .query(INCIDENT)
            .searches()
            .answers::<TimelineDto>(),
        Route::get("/api/v1/scenarios/{name}/transitions", "Every commit of a scenario, oldest first", transitions)
            .query(TRANSITIONS)
            .searches()
            .answers::<Items<TransitionDto>>(),
    ]
}

async fn journal(
    State(app): State<App>,
    caller: Caller,
    params: Params,
) -> Result<Json<Items<JournalEntryDto>>, Problem> {
    let now = app.read(|world| world.now.wall).await?;
    let text = |name| params.get(name).map(Into::into);
    let query = JournalQuery {
        scenario: text("scenario"),
        actor: text("actor"),
        kind: params.get("kind").map(|kind| kind.to_ascii_lowercase().into()),
        after: params.integer("after")?,
        newest_first: params.flag("newest_first")?,
        ..span(&params, now)?
    };
    let entries = app.handle().journal(query).await?;
    let sees_all = authorize(caller.role, Access::Configure).is_ok();
    let shown = |entry| JournalEntryDto::of(if sees_all { entry } else { without_texts(entry) });
    Ok(Json(Items { items: entries.into_iter().map(shown).collect() }))
}

async fn shipping(State(app): State<App>) -> Result<Json<Items<ShippingDto>>, Problem> {
    let items = app.study(ShippingDto::all).await?;
    Ok(Json(Items { items }))
}

/// Of the commits of one moment, as `incident` of a transition names it; or `SCENARIO:SEQ` of one of them.
async fn incident(State(app): State<App>, names: Segments, params: Params) -> Result<Response, Problem> {
    let asked = names.first().to_owned();
    let at = match (parse_time(&asked), asked.rsplit_once(':')) {
        (Some(at), _) => Some(at),
        (None, Some((scenario, seq))) => {
            let query = JournalQuery {
                scenario: Some(scenario.into()),
                kind: Some("transition".into()),
                newest_first: true,
                limit: Some(10_000),
                ..JournalQuery::default()
            };
            let entries = app.handle().journal(query).await?;
            let seq = seq.parse::<u64>().ok();
            let found = entries.iter().find(|entry| seq.is_some() && entry.body["seq"].as_u64() == seq);
            found.map(|entry| entry.body["evaluated_at"].as_str().and_then(parse_time).unwrap_or(entry.at))
        }
        (None, None) => None,
    };
    let at = at.ok_or_else(|| Problem::unknown_object("incident", &asked, []))?;
    let now = app.read(|world| world.now.wall).await?;
    let span = JournalQuery { since: Some(at - BEFORE), until: Some((at + AFTER).min(now)), ..JournalQuery::default() };
    told(&app, format_of(&params), span, (at - BEFORE, (at + AFTER).min(now))).await
}

/// What else there is was refused with the other parameters.
fn format_of(params: &Params) -> &'static str {
    let asked = params.get("format").unwrap_or_default();
    FORMATS.into_iter().find(|format| format.eq_ignore_ascii_case(asked)).unwrap_or(FORMATS[0])
}

async fn timeline(State(app): State<App>, params: Params) -> Result<Response, Problem> {
    let format = format_of(&params);
    let now = app.read(|world| world.now.wall).await?;
    let span = span(&params, now)?;
    let since = span.since.ok_or_else(|| {
        Problem::bad_request("`since` is missing: a time such as 2027-01-15T08:00:00Z, or a duration back from now")
    })?;
    let until = span.until.unwrap_or(now);
    let query = JournalQuery { scenario: params.get("scenario").map(Into::into), ..span };
    told(&app, format, query, (since, until)).await
}

/// The document of what `query` finds.
async fn told(app: &App, format: &str, query: JournalQuery, (since, until): (Wall, Wall)) -> Result<Response, Problem> {
    let name = app.read(|world| world.model.appliance.name.clone()).await?;
    let query = JournalQuery { limit: Some(TIMELINE_MOST), ..query };
    let entries = app.handle().journal(query).await?;
    let made = tokio::task::spawn_blocking(move || {
        let truncated = entries.len() >= TIMELINE_MOST as usize;
        TimelineDto::of(&name, (since, until), &entries, truncated)
    });
    let made = made.await.map_err(|_| Problem::busy("the timeline was cut short; try again"))?;
    // It holds what people wrote: nothing of it may run.
    let policy = [("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")];
    Ok(match format {
        "md" => ([("content-type", "text/markdown; charset=utf-8")], timeline::markdown(&made)).into_response(),
        "html" => (policy, [("content-type", "text/html; charset=utf-8")], timeline::html(&made)).into_response(),
        _ => Json(made).into_response(),
    })
}

/// The entry of a configuration without its texts, which hold what only those see who may change it.
fn without_texts(mut entry: JournalEntry) -> JournalEntry {
    if let Some(members) = entry.body.as_object_mut() {
        members.remove("sources");
        members.remove("set");
    }
    entry
}

async fn transitions(State(app): State<App>, names: Segments, params: Params) -> Result<Json<Items<Value>>, Problem> {
    let scenario = names.first().to_owned();
    let known = app.read(move |world| match world.model.scenario_id(&scenario) {
        Some(_) => {
            let last = world.status.caches.get(&*scenario);
            let last =
                last.map(|last| Last { seq: last.seq, first: last.first_answer_at(), resolvers: last.resolvers() });
            Ok((world.now.wall, last))
        }
        None => Err((Arc::clone(world.model), scenario)),
    });
    let (now, last) = known.await?.map_err(|(model, asked)| {
        Problem::unknown_object("scenario", &asked, model.scenarios.iter().map(|s| &*s.name))
    })?;
    let query =
        JournalQuery { scenario: Some(names.first().into()), kind: Some("transition".into()), ..span(&params, now)? };
    let deliveries = JournalQuery {
        scenario: query.scenario.clone(),
        kind: Some("delivery".into()),
        since: query.since,
        limit: Some(10_000),
        newest_first: true,
        ..JournalQuery::default()
    };
    let of_kind = |kind: &str| JournalQuery { kind: Some(kind.into()), ..deliveries.clone() };
    let (caches, resolvers) = (of_kind("caches"), of_kind("resolvers"));
    let entries = app.handle().journal(query).await?;
    let followed = Followed {
        deliveries: Outcomes::of(&app.handle().journal(deliveries).await?),
        caches: by_seq(app.handle().journal(caches).await?),
        resolvers: by_seq(app.handle().journal(resolvers).await?),
        last,
    };
    let items = entries.into_iter().map(|entry| transition(entry, &followed)).collect();
    Ok(Json(Items { items }))
}

/// What followed commits.
struct Followed {
    deliveries: Outcomes,
    /// By the seq of the commit.
    caches: BTreeMap<u64, Value>,
    resolvers: BTreeMap<u64, Value>,
    /// The last one, as it stands now.
    last: Option<Last>,
}

/// How far resolvers are after a commit.
struct Last {
    seq: u64,
    first: Option<Wall>,
    resolvers: Option<Resolvers>,
}

fn by_seq(entries: Vec<JournalEntry>) -> BTreeMap<u64, Value> {
    entries.into_iter().filter_map(|entry| Some((entry.body["seq"].as_u64()?, entry.body))).collect()
}

// === impl Followed ===

impl Followed {
    /// When the first new answer was given, and how far resolvers are.
    fn resolvers(&self, seq: u64) -> (Value, Value) {
        if let Some(last) = self.last.as_ref().filter(|last| last.seq == seq) {
            let resolvers = last.resolvers.as_ref().map_or(Value::Null, |now| json!(ResolversDto::of(now)));
            return (last.first.map(|at| at.to_string()).into(), resolvers);
        }
        let told = |key: &str| self.resolvers.get(&seq).map(|body| body[key].clone()).unwrap_or_default();
        (told("first_answer_at"), told("resolvers"))
    }
}

/// How deliveries went last, by the seq of the commit and the trigger (the newest 10 000 attempts).
struct Outcomes(BTreeMap<(u64, String), Value>);

impl Outcomes {
    /// `entries`: newest first.
    fn of(entries: &[JournalEntry]) -> Outcomes {
        let mut last = BTreeMap::new();
        for body in entries.iter().map(|entry| &entry.body) {
            if let (Some(seq), Some(trigger)) = (body["seq"].as_u64(), body["trigger"].as_str()) {
                last.entry((seq, trigger.to_owned())).or_insert_with(|| body.clone());
            }
        }
        Outcomes(last)
    }
}

/// A transition as the journal keeps it, with how its triggers went, when it was published, until when caches may hold
/// what it replaced, how far resolvers have followed, the entry's number and hash.
fn transition(entry: JournalEntry, followed: &Followed) -> Value {
    let mut body = entry.body;
    if let Some(members) = body.as_object_mut() {
        let seq = members.get("seq").and_then(Value::as_u64).unwrap_or_default();
        let triggers = members.get_mut("triggers").and_then(Value::as_array_mut).into_iter().flatten();
        for trigger in triggers.filter_map(Value::as_object_mut) {
            let name = trigger.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let outcome = followed.deliveries.0.get(&(seq, name));
            let of = |key: &str| outcome.map(|outcome| outcome[key].clone());
            match outcome.and_then(|outcome| outcome["status"].as_str()) {
                Some("retrying") | None => {}
                Some(status) => drop(trigger.insert("status".into(), status.into())),
            }
            trigger.insert("attempts".into(), of("attempts").unwrap_or(0.into()));
            trigger.insert("last_error".into(), of("error").unwrap_or_default());
        }
        let evaluated = members.get("evaluated_at").and_then(Value::as_str).and_then(parse_time);
        members.insert("incident".into(), evaluated.map(|at| at.to_string()).into());
        for key in ["published_at", "caches_over_at"] {
            let told = followed.caches.get(&seq).map(|body| body[key].clone());
            members.insert(key.into(), told.unwrap_or_default());
        }
        let (first, resolvers) = followed.resolvers(seq);
        members.insert("first_answer_at".into(), first);
        members.insert("resolvers".into(), resolvers);
        members.insert("entry".into(), entry.number.into());
        members.insert("hash".into(), entry.hash.to_string().into());
    }
    body
}

/// `since`, `until` and `limit`.
fn span(params: &Params, now: Wall) -> Result<JournalQuery, Problem> {
    let limit = match params.integer("limit")? {
        Some(limit @ 1..=LIMIT_MOST) => Some(limit as u32),
        Some(_) => return Err(Problem::bad_request(format!("`limit` is 1 to {LIMIT_MOST}"))),
        None => None,
    };
    Ok(JournalQuery {
        since: params.time("since", now)?,
        until: params.time("until", now)?,
        limit,
        ..JournalQuery::default()
    })
}
