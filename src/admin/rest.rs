//! The handlers of `/api/v1`, by what they do.

mod acts;
mod alerts;
mod audit;
mod careful;
mod certificates;
mod collections;
mod commands;
mod config;
mod connections;
mod drills;
mod entrance;
mod explain;
mod explained;
mod history;
mod locks;
pub(super) mod objects;
mod outbox;
pub(super) mod pages;
mod people;
mod persistence;
mod policies;
mod stats;
pub(super) mod tools;
mod whoami;
mod zones;

use super::route::Route;

pub(crate) fn routes() -> Vec<Route> {
    let mut routes = collections::routes();
    routes.extend(acts::routes());
    routes.extend(alerts::routes());
    routes.extend(audit::routes());
    routes.extend(certificates::routes());
    routes.extend(commands::routes());
    routes.extend(config::routes());
    routes.extend(connections::routes());
    routes.extend(drills::routes());
    routes.extend(entrance::routes());
    routes.extend(objects::routes());
    routes.extend(outbox::routes());
    routes.extend(people::routes());
    routes.extend(persistence::routes());
    routes.extend(policies::routes());
    routes.extend(stats::routes());
    routes.extend(explain::routes());
    routes.extend(history::routes());
    routes.extend(locks::routes());
    routes.extend(tools::routes());
    routes.extend(whoami::routes());
    routes.extend(zones::routes());
    routes
}
