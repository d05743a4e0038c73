//! Why an answer is what it is.

use std::net::{IpAddr, Ipv4Addr};

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::super::App;
use super::super::body::{Field, FieldKind, Params, field};
use super::super::problem::Problem;
use super::super::route::Route;
use crate::rehearse::explain;

const QUERY: &[Field] = &[
    field("name", FieldKind::Text, "Needed: the domain name."),
    field("type", FieldKind::Text, "The record type; default A."),
    field("client", FieldKind::Text, "The address of the resolver that asks; default 127.0.0.1."),
    field("at", FieldKind::Time, "Not available in this build: answers 501."),
];

dto! {
    /// An answer, and how it came about.
    pub struct ExplanationDto {
        pub name: String,
        pub r#type: String,
        /// Whom the answer is for.
        pub client: String,
        /// `NOERROR`, `NXDOMAIN`, …
        pub rcode: String,
        /// The answer section in presentation format.
        pub answer: Vec<String>,
        /// In the order in which they were taken: `name`, `in`, `out`, `because`, and `scenario` where one decided.
        pub steps: Vec<Value>,
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/explain/dns", "Why a query is answered as it is", dns)
            .query(QUERY)
            .answers::<ExplanationDto>(),
    ]
}

async fn dns(State(app): State<App>, params: Params) -> Result<Json<Value>, Problem> {
    if params.get("at").is_some() {
        return Err(Problem::not_in_this_build("`at`: answers of the past"));
    }
    let name = params.get("name").filter(|n| !n.is_empty());
    let name = name.ok_or_else(|| Problem::bad_request("`name` is missing: the domain name to explain"))?;
    let rtype = params.get("type").unwrap_or("A");
    let client = match params.get("client") {
        None => IpAddr::V4(Ipv4Addr::LOCALHOST),
        Some(text) => {
            text.parse().map_err(|_| Problem::bad_request(format!("`client` is an IP address, not `{text}`")))?
        }
    };
    let explanation = explain::dns(&app.handle().snapshot(), name, rtype, client).map_err(Problem::bad_request)?;
    Ok(Json(json!(explanation)))
}
