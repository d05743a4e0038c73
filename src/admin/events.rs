//! `/events`: everything that happens, as server-sent events.
//!
//! One task reads the control layer's stream, looks the changed object up once and puts the finished event into a ring.
//! Each client has a cursor into the ring, so that a slow client costs nothing but its own place: one that has fallen
//! out of the ring, or comes back with an id of another process, is told `reset` and fetches anew.
//!
//! `event` is the kind of the object (`service`, `vserver`, `scenario`, `alert`, …, or `board` for a row that a condition
//! reads); `data` is `{now, at, name, object, what}` with the whole changed object. The first event is `hello`;
//! `heartbeat` comes every two seconds, so that a page can tell a quiet appliance from a dead connection. `config` tells that
//! another configuration runs, or that it was saved; `rates` comes each second with what was counted of the objects that
//! `?rates=` names. None of these three has an id: they say what is, not what happened. `ended` is the last one of a stream
//! whose caller has opened more than they may have at once.

mod hub;
mod rates;
mod schema;
mod streams;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event as SseEvent, Sse};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::App;
use super::auth::Caller;
use super::body::{Field, FieldKind, Params, field};
use super::dto::ConfigDto;
use super::problem::Problem;
use super::route::Route;
use crate::control::World;
use hub::Next;

pub(crate) use hub::Hub;
pub(crate) use streams::Streams;

const HEARTBEAT: Duration = Duration::from_secs(2);
const RATES: Duration = Duration::from_secs(1);
/// A stream that was ended for another is not to come back and end that one at once.
const ENDED_RETRY: Duration = Duration::from_secs(30);
/// A client that takes nothing for this long is let go.
const STALLED: Duration = Duration::from_secs(30);

/// Kinds of objects whose changes are sent.
const TOPICS: [&str; 14] = [
    "check",
    "server",
    "service",
    "service_group",
    "vserver",
    "scenario",
    "switch",
    "trigger",
    "alert",
    "peer",
    "datacenter_pair",
    "zone",
    "board",
    "config",
];

const QUERY: &[Field] = &[
    field("topics", FieldKind::Words(&TOPICS), "Kinds to send, separated by commas; all where absent."),
    field(
        "rates",
        FieldKind::Text,
        "Objects whose rates to send each second, as vserver/NAME or service/NAME, separated by commas; at most 50.",
    ),
];

pub(crate) fn route() -> Route {
    Route::get("/api/v1/events", "Every transition and state change, as server-sent events", stream)
        .query(QUERY)
        .answers_events(schema::message)
}

async fn stream(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    params: Params,
) -> Result<Sse<ReceiverStream<Result<SseEvent, Infallible>>>, Problem> {
    let asked = Feed { topics: topics(&params)?, rates: rates::wanted(&params)? };
    let open = Arc::clone(&app.0.streams).open(&caller.actor, caller.role);
    let open = open.ok_or_else(|| Problem::busy("as many streams are open as may be; close some, or try again"))?;
    let last = headers.get("last-event-id").and_then(|v| v.to_str().ok()).map(str::to_owned);
    let (sender, receiver) = mpsc::channel(32);
    tokio::spawn(async move {
        let mut open = open;
        tokio::select! {
            () = feed(app, caller, asked, last, sender.clone()) => {}
            _ = &mut open.ended => {
                send(&sender, ended()).await;
            }
        }
    });
    Ok(Sse::new(ReceiverStream::new(receiver)))
}

fn topics(params: &Params) -> Result<Vec<&'static str>, Problem> {
    let Some(text) = params.get("topics") else { return Ok(TOPICS.to_vec()) };
    let wanted = text.split(',').map(str::trim).filter(|t| !t.is_empty());
    wanted
        .map(|topic| match TOPICS.into_iter().find(|t| t.eq_ignore_ascii_case(topic)) {
            Some(topic) => Ok(topic),
            None => {
                Err(Problem::bad_request(format!("unknown topic `{topic}`")).meaning(super::nearest(topic, TOPICS)))
            }
        })
        .collect()
}

/// What a client asks for.
struct Feed {
    topics: Vec<&'static str>,
    rates: Vec<rates::Wanted>,
}

/// Carries one client until it leaves, stalls, or the process ends.
async fn feed(
    app: App,
    caller: Caller,
    asked: Feed,
    last: Option<String>,
    client: mpsc::Sender<Result<SseEvent, Infallible>>,
) {
    let hub = Arc::clone(&app.0.events);
    let mut latest = hub.latest.subscribe();
    let mut stopping = app.0.stopping.clone();
    let mut cursor = *latest.borrow_and_update();
    let Ok(hello) = app.read(hello).await else { return };
    if !send(&client, SseEvent::default().event("hello").retry(Duration::from_secs(1)).data(hello)).await {
        return;
    }
    if let Some(last) = last {
        match hub.resume(&last) {
            Some(from) => cursor = from,
            None if !send(&client, reset()).await => return,
            None => {}
        }
    }
    let mut heartbeat = tokio::time::interval(HEARTBEAT);
    let mut rates = tokio::time::interval(RATES);
    let mut config = None;
    loop {
        match hub.after(cursor) {
            Next::Lost => {
                cursor = *latest.borrow_and_update();
                if !send(&client, reset()).await {
                    return;
                }
            }
            Next::Events(events) => {
                for event in events {
                    cursor = event.id;
                    if asked.topics.contains(&event.kind) && !send(&client, hub.render(&event)).await {
                        return;
                    }
                }
            }
        }
        tokio::select! {
            changed = latest.changed() => if changed.is_err() { return },
            _ = heartbeat.tick() => {
                // Whoever would not be let in any more is let go.
                if !app.may_stay(&caller).await {
                    return;
                }
                let Ok((now, status)) = app.read(beat).await else { return };
                let data = json!({ "now": now });
                if !send(&client, SseEvent::default().event("heartbeat").data(data.to_string())).await {
                    return;
                }
                let changed = config.as_ref().is_some_and(|before| *before != status);
                if changed && asked.topics.contains(&"config") {
                    let data = json!({ "now": now, "name": "config", "object": status });
                    if !send(&client, SseEvent::default().event("config").data(data.to_string())).await {
                        return;
                    }
                }
                config = Some(status);
            }
            _ = rates.tick(), if !asked.rates.is_empty() => {
                let wanted = asked.rates.clone();
                let Ok(counted) = app.study(move |world| rates::of(world, &wanted)).await else { continue };
                if !send(&client, SseEvent::default().event("rates").data(counted.to_string())).await {
                    return;
                }
            }
            () = super::server::stopped(&mut stopping) => return,
            () = client.closed() => return,
        }
    }
}

/// False once the client is gone, or has taken nothing for too long.
async fn send(client: &mpsc::Sender<Result<SseEvent, Infallible>>, event: SseEvent) -> bool {
    matches!(tokio::time::timeout(STALLED, client.send(Ok(event))).await, Ok(Ok(())))
}

fn hello(world: &World<'_>) -> String {
    json!({
        "now": world.now.wall.to_string(),
        "name": &*world.model.appliance.name,
        "version": env!("CARGO_PKG_VERSION"),
        "generation": world.snapshot.generation,
        "snapshot": world.snapshot.generation,
    })
    .to_string()
}

/// The time, and what is known of the configuration.
fn beat(world: &World<'_>) -> (String, Value) {
    let config = serde_json::to_value(ConfigDto::of(world)).unwrap_or_default();
    (world.now.wall.to_string(), config)
}

fn ended() -> SseEvent {
    let why = r#"{"why":"its caller has opened more streams than they may have at once"}"#;
    SseEvent::default().event("ended").retry(ENDED_RETRY).data(why)
}

fn reset() -> SseEvent {
    SseEvent::default().event("reset").data(r#"{"why":"events were missed; fetch anew"}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_known_words() {
        let parse = |query: &str| topics(&Params::parse(query).unwrap());
        assert_eq!(parse("").unwrap().len(), TOPICS.len());
        assert_eq!(parse("topics=service,scenario").unwrap(), ["service", "scenario"]);
        assert_eq!(parse("topics=servics").unwrap_err().members["did_you_mean"], "service");
    }
}
