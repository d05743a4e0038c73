//! Counters and times: `/stats`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::super::App;
use super::super::dto::{Items, StatsDto};
use super::super::problem::Problem;
use super::super::route::{Route, Segments};
use crate::control::World;
use crate::model::Model;
use crate::model::id::{ServiceId, VserverId};
use crate::snapshot::live::Stats;

/// A kind of object that has statistics.
#[derive(Clone, Copy)]
struct Counted {
    path: &'static str,
    noun: &'static str,
    names: fn(&Model) -> Vec<&str>,
    read: fn(&World<'_>, usize) -> Stats,
}

pub(crate) fn routes() -> Vec<Route> {
    let kinds = [
        Counted {
            path: "vservers",
            noun: "vserver",
            names: |model| model.vservers.iter().map(|v| &*v.name).collect(),
            read: |world, at| Stats::of_vserver(world.snapshot, VserverId::from_index(at), world.now.tick),
        },
        Counted {
            path: "services",
            noun: "service",
            names: |model| model.services.iter().map(|s| &*s.name).collect(),
            read: |world, at| Stats::of_service(world.snapshot, ServiceId::from_index(at), world.now.tick),
        },
    ];
    kinds.into_iter().flat_map(counted).collect()
}

fn counted(kind: Counted) -> [Route; 2] {
    let Counted { path, noun, names, read } = kind;
    let all = move |State(app): State<App>| async move {
        let items = app.study(move |world| {
            let names = names(world.model);
            names.iter().enumerate().map(|(at, name)| StatsDto::of(name, &read(world, at))).collect()
        });
        Ok::<_, Problem>(Json(Items { items: items.await? }))
    };
    let one = move |State(app): State<App>, segments: Segments| async move {
        let found = app.study(move |world| {
            let known = names(world.model);
            let at = known.iter().position(|name| *name == segments.first());
            at.map(|at| StatsDto::of(known[at], &read(world, at))).ok_or_else(|| (Arc::clone(world.model), segments))
        });
        let found = found.await?;
        found.map(Json).map_err(|(model, asked)| Problem::unknown_object(noun, asked.first(), names(&model)))
    };
    [
        Route::get(format!("/api/v1/stats/{path}"), &format!("Counters and times of every {noun}"), all)
            .answers::<Items<StatsDto>>(),
        Route::get(format!("/api/v1/stats/{path}/{{name}}"), &format!("Counters and times of one {noun}"), one)
            .answers::<StatsDto>(),
    ]
}
