//! Alerts that stand.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::super::App;
use super::super::body::{Field, FieldKind, Params, field};
use super::super::dto::{AlertDto, Items};
use super::super::problem::Problem;
use super::super::route::Route;
use crate::model::alert::{AlertKind, RaisedAlert};

const QUERY: &[Field] = &[
    field("alert", FieldKind::Text, "Only those of this definition."),
    field("kind", FieldKind::Text, "Only those of this kind, as in `on` of the configuration."),
    field("limit", FieldKind::Within(0, super::pages::MOST), "At most this many, the newest; all where absent."),
];

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/alerts", "Alerts that stand, oldest first", alerts)
            .query(QUERY)
            .answers::<Items<AlertDto>>(),
    ]
}

async fn alerts(State(app): State<App>, params: Params) -> Result<Json<Items<AlertDto>>, Problem> {
    let alert = params.get("alert").map(str::to_owned);
    let kind = match params.get("kind") {
        None => None,
        Some(word) => Some(AlertKind::parse(word).ok_or_else(|| {
            let words = AlertKind::ALL.map(AlertKind::word);
            Problem::bad_request(format!("there is no kind of alert `{word}`"))
                .meaning(super::super::nearest(word, words))
        })?),
    };
    let limit = params.integer("limit")?.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let (book, deliveries) = app.read(|world| (Arc::clone(world.alerts), Arc::clone(world.deliveries))).await?;
    let wanted = |raised: &&Arc<RaisedAlert>| {
        alert.as_deref().is_none_or(|name| *raised.alert == *name)
            && kind.is_none_or(|kind| raised.subject.kind == kind)
    };
    let newest = book.raised.values().rev().filter(wanted).take(limit);
    let mut items: Vec<AlertDto> = newest.map(|raised| AlertDto::of(raised, &deliveries)).collect();
    items.reverse();
    Ok(Json(Items { items }))
}
