//! What the contract names and this build lacks: each path answers 501 and says what is missing.

use axum::http::Method;

use super::super::route::Route;

pub(crate) fn routes() -> Vec<Route> {
    let mut routes = Vec::new();
    routes.push(Route::not_in_this_build(Method::GET, "/api/v1/history", "history of metrics"));
    for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
        routes.push(Route::not_in_this_build(method, "/nitro/v1/{*path}", "NITRO; use /api/v1"));
    }
    routes
}
