//! Locks against guessing, lifted by hand: who typed ten wrong passwords need not wait where a superuser knows better.

use axum::Json;
use axum::extract::State;

use super::super::App;
use super::super::auth::{Access, Caller};
use super::super::problem::Problem;
use super::super::route::{Route, Segments};

dto! {
    /// What the lifting of a lock did.
    pub struct LiftedDto {
        /// The name, of a user or of somebody in the directory.
        pub name: String,
        /// From how many networks it was locked.
        pub networks: u64,
    }
}

pub(crate) fn routes() -> Vec<Route> {
    let about =
        "Forget the wrong passwords of a name, of a user or of somebody in the directory, so that they may log in";
    vec![Route::delete("/api/v1/users/{name}/lock", Access::Configure, about, lift).answers::<LiftedDto>()]
}

async fn lift(State(app): State<App>, caller: Caller, segments: Segments) -> Result<Json<LiftedDto>, Problem> {
    let name = segments.first();
    let networks = app.lift_lock(&caller, name).await? as u64;
    Ok(Json(LiftedDto { name: name.to_owned(), networks }))
}
