//! Policies at work: where they are bound and how often they acted. Their texts are in the configuration, which not
//! everybody sees whole.

use axum::Json;
use axum::extract::State;

use super::super::App;
use super::super::body::{Field, FieldKind, Params, field};
use super::super::dto::{Items, PolicyDto};
use super::super::problem::Problem;
use super::super::route::Route;

const QUERY: &[Field] =
    &[field("vserver", FieldKind::Text, "Only those that are bound to it, in the order in which they are asked.")];

pub(crate) fn routes() -> Vec<Route> {
    let about = "Every policy: where it is bound, and how often it acted";
    vec![Route::get("/api/v1/policies", about, list).query(QUERY).answers::<Items<PolicyDto>>()]
}

async fn list(State(app): State<App>, params: Params) -> Result<Json<Items<PolicyDto>>, Problem> {
    let vserver = params.get("vserver").map(str::to_owned);
    let found = app.study(move |world| match vserver.as_deref() {
        Some(name) if world.model.vserver_id(name).is_none() => {
            Err(Problem::unknown_object("vserver", name, world.model.vservers.iter().map(|one| &*one.name)))
        }
        vserver => Ok(Items { items: PolicyDto::all(world, vserver) }),
    });
    found.await?.map(Json)
}
