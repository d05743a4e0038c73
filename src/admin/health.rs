//! `/healthz` and `/readyz`: for load balancers and supervisors, without credentials, and telling nothing else.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::json;

use super::App;
use super::problem::Problem;
use super::route::Route;

dto! {
    /// Whether the process works.
    pub struct HealthDto {
        /// `ok`.
        pub status: String,
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/healthz", "200 while the one writer answers", healthz).public().answers::<HealthDto>(),
        Route::get(
            "/readyz",
            "200 once every listener is bound, the saved state is loaded and the first snapshot is published; 503 while \
             starting or draining",
            readyz,
        )
        .public()
        .answers::<HealthDto>(),
    ]
}

async fn healthz(State(app): State<App>) -> Result<Json<serde_json::Value>, Problem> {
    app.read(|_| ()).await?;
    Ok(Json(json!({ "status": "ok" })))
}

async fn readyz(State(app): State<App>) -> Result<Json<serde_json::Value>, Problem> {
    let (ready, draining) = app.read(|world| (world.status.ready, world.status.draining)).await?;
    match (ready, draining) {
        (_, true) => Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "draining", "the appliance is draining")),
        (false, _) => Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "starting", "the appliance is starting")),
        (true, false) => Ok(Json(json!({ "status": "ok" }))),
    }
}
