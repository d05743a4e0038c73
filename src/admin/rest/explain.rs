//! Why an answer is what it is.

use axum::http::Method;

use super::super::route::Route;

pub(crate) fn routes() -> Vec<Route> {
    vec![Route::not_in_this_build(Method::GET, "/api/v1/explain/dns", "explaining a DNS answer")]
}
