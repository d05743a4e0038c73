//! What the contract names and this build lacks: each path answers 501 and says what is missing.

use axum::http::Method;

use super::super::route::Route;

const BY_OBJECT: &str = "configuration object by object; PUT /api/v1/config replaces the whole";

const COLLECTIONS: [&str; 15] = [
    "vservers",
    "services",
    "service-groups",
    "servers",
    "certificates",
    "rules",
    "checks",
    "scenarios",
    "datacenters",
    "datacenter-pairs",
    "peers",
    "zones",
    "triggers",
    "queries",
    "switches",
];

pub(crate) fn routes() -> Vec<Route> {
    let mut routes = Vec::new();
    for collection in COLLECTIONS {
        let one = format!("/api/v1/{collection}/{{name}}");
        routes.push(Route::not_in_this_build(Method::POST, format!("/api/v1/{collection}"), BY_OBJECT));
        routes.push(Route::not_in_this_build(Method::PATCH, one.clone(), BY_OBJECT));
        routes.push(Route::not_in_this_build(Method::DELETE, one, BY_OBJECT));
    }
    routes.push(Route::not_in_this_build(Method::GET, "/api/v1/history", "history of metrics"));
    for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
        routes.push(Route::not_in_this_build(method, "/nitro/v1/{*path}", "NITRO; use /api/v1"));
    }
    routes
}
