//! What the contract names and this build lacks: each path answers 501 and says what is missing.

use axum::http::Method;

use super::super::route::Route;

pub(crate) fn routes() -> Vec<Route> {
    vec![Route::not_in_this_build(Method::GET, "/api/v1/history", "history of metrics")]
}
