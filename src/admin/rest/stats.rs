//! Counters and times: `/stats`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::super::App;
use super::super::body::{Field, FieldKind, Params, field};
use super::super::cleared::Cleared;
use super::super::dto::{Items, StatsDto};
use super::super::problem::Problem;
use super::super::route::{Route, Segments};
use crate::control::World;
use crate::model::Model;
use crate::model::id::{ServiceId, VserverId};
use crate::model::time::Wall;
use crate::snapshot::live::Stats;

/// A kind of object that has statistics.
#[derive(Clone, Copy)]
struct Counted {
    path: &'static str,
    noun: &'static str,
    names: fn(&Model) -> Vec<&str>,
    read: fn(&World<'_>, usize) -> Stats,
    /// Since they were cleared.
    read_cleared: fn(&Cleared, &World<'_>, usize) -> (Stats, Option<Wall>),
}

const QUERY: &[Field] = &[field(
    "cleared",
    FieldKind::Flag,
    "Totals and times since the counters were cleared (`stat … -clearstats`), as the shell shows them.",
)];

pub(crate) fn routes() -> Vec<Route> {
    let kinds = [
        Counted {
            path: "vservers",
            noun: "vserver",
            names: |model| model.vservers.iter().map(|v| &*v.name).collect(),
            read: |world, at| Stats::of_vserver(world.snapshot, VserverId::from_index(at), world.now.tick),
            read_cleared: |cleared, world, at| cleared.vserver(world, VserverId::from_index(at)),
        },
        Counted {
            path: "services",
            noun: "service",
            names: |model| model.services.iter().map(|s| &*s.name).collect(),
            read: |world, at| Stats::of_service(world.snapshot, ServiceId::from_index(at), world.now.tick),
            read_cleared: |cleared, world, at| cleared.service(world, ServiceId::from_index(at)),
        },
    ];
    kinds.into_iter().flat_map(counted).collect()
}

fn counted(kind: Counted) -> [Route; 2] {
    let Counted { path, noun, names, read, read_cleared } = kind;
    let shown = move |app: &App, world: &World<'_>, cleared: bool, name: &str, at: usize| {
        if !cleared {
            return StatsDto::of(name, &read(world, at));
        }
        let (stats, since) = read_cleared(&app.0.cleared, world, at);
        StatsDto { cleared_at: since.map(|at| at.to_string()), ..StatsDto::of(name, &stats) }
    };
    let all = move |State(app): State<App>, params: Params| async move {
        let cleared = params.flag("cleared")?;
        let of = app.clone();
        let items = app.study(move |world| {
            let names = names(world.model);
            names.iter().enumerate().map(|(at, name)| shown(&of, world, cleared, name, at)).collect()
        });
        Ok::<_, Problem>(Json(Items { items: items.await? }))
    };
    let one = move |State(app): State<App>, segments: Segments, params: Params| async move {
        let cleared = params.flag("cleared")?;
        let of = app.clone();
        let found = app.study(move |world| {
            let known = names(world.model);
            let at = known.iter().position(|name| *name == segments.first());
            let found = at.map(|at| shown(&of, world, cleared, known[at], at));
            found.ok_or_else(|| (Arc::clone(world.model), segments))
        });
        let found = found.await?;
        found.map(Json).map_err(|(model, asked)| Problem::unknown_object(noun, asked.first(), names(&model)))
    };
    [
        Route::get(format!("/api/v1/stats/{path}"), &format!("Counters and times of every {noun}"), all)
            .query(QUERY)
            .answers::<Items<StatsDto>>(),
        Route::get(format!("/api/v1/stats/{path}/{{name}}"), &format!("Counters and times of one {noun}"), one)
            .query(QUERY)
            .answers::<StatsDto>(),
    ]
}
