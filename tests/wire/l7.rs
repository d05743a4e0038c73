//! HTTP through the data plane.

#[path = "l7/answers.rs"]
mod answers;
#[path = "l7/balance.rs"]
mod balance;
#[path = "l7/corpus.rs"]
mod corpus;
#[path = "l7/dates.rs"]
mod dates;
#[path = "l7/drain.rs"]
mod drain;
#[path = "l7/engine.rs"]
mod engine;
#[path = "l7/engines.rs"]
mod engines;
#[path = "l7/http2.rs"]
mod http2;
#[path = "l7/methods.rs"]
mod methods;
#[path = "l7/policies.rs"]
mod policies;
#[path = "l7/pool.rs"]
mod pool;
#[path = "l7/protocol.rs"]
mod protocol;
#[path = "l7/retry.rs"]
mod retry;
#[path = "l7/rules.rs"]
mod rules;
#[path = "l7/split.rs"]
mod split;
#[path = "l7/strict.rs"]
mod strict;
#[path = "l7/told.rs"]
mod told;
#[path = "l7/traced.rs"]
mod traced;
#[path = "l7/trailers.rs"]
mod trailers;
#[path = "l7/upgrade.rs"]
mod upgrade;

use bascule::model::service::Protocol::Http;

use crate::world::{Plan, Server, World};

fn one(server: &Server) -> Plan {
    Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"])
}

fn two(a: &Server, b: &Server) -> Plan {
    Plan::default().service("a", Http, a.at).service("b", Http, b.at).vserver("web", Http, &["a", "b"])
}

async fn one_world(server: &Server) -> World {
    World::start(one(server)).await
}
