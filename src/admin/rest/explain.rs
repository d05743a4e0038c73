//! Why an answer is what it is.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::super::App;
use super::super::auth::Access;
use super::super::body::{self, ACT_MAX, Field, FieldKind, Fields, Params, field};
use super::super::problem::Problem;
use super::super::route::{Reads, Route};
use crate::control::World;
use crate::model::time::Wall;
use crate::rehearse::explain;
use crate::rehearse::past::{self, Unknown};

const QUERY: &[Field] = &[
    field("name", FieldKind::Text, "Needed: the domain name."),
    field("type", FieldKind::Text, "The record type; default A."),
    field("client", FieldKind::Text, "The address of the resolver that asks; default 127.0.0.1."),
    field("at", FieldKind::Time, "What was answered then, by the journal: a time, or a duration back from now."),
];

const REQUEST: &[Field] = &[
    field("vserver", FieldKind::Text, "Needed: the vserver that is addressed."),
    field("method", FieldKind::Text, "Default GET."),
    field("path", FieldKind::Text, "With query; default /."),
    field("host", FieldKind::Text, "The Host field; default: none."),
    field("client", FieldKind::Text, "The client's address, with or without a port; default 127.0.0.1."),
    field("headers", FieldKind::Texts, "Fields, each as `Name: value`."),
    field("tls", FieldKind::Flag, "Whether it comes over TLS; default: as the vserver has it."),
    field("server_name", FieldKind::Text, "The name of its TLS handshake."),
];

dto! {
    /// An answer, and how it came about.
    pub struct ExplanationDto {
        pub name: String,
        pub r#type: String,
        /// Whom the answer is for.
        pub client: String,
        /// `NOERROR`, `NXDOMAIN`, …; `unknown` where, with `at`, it depends on what a primary had sent.
        pub rcode: String,
        /// The answer section in presentation format.
        pub answer: Vec<String>,
        /// In the order in which they were taken: `name`, `in`, `out`, `because`, and `scenario` with its
        /// `seq` (without `at`) where one decided.
        pub steps: Vec<Value>,
        /// Only with `at`: the moment (`at`), the newest entry of the journal that counts (`entry`, `entry_at`), and the
        /// hash of the configuration (`config_hash`).
        pub past: Option<Value>,
    }
}

dto! {
    /// What would become of a request, and how that comes about.
    pub struct RequestExplanationDto {
        /// The vserver that was addressed.
        pub vserver: String,
        /// Every rule that was asked, in order: `rule`, `vserver`, `priority`, `value`, `acted`, and by group its terms
        /// with their values.
        pub rules: Vec<Value>,
        /// `respond 403`, `redirect 302 https://…`, `reject`, or `balance`.
        pub verdict: String,
        /// Whose members it is balanced over.
        pub balanced_by: String,
        /// Limits on clients that are asked first; they are named and not tried, as that would count.
        pub limits: Vec<String>,
        /// It and its chain of backups: `vserver`, `state`, `new_clients` (`own`, `backup NAME`, `redirected` to its
        /// `redirect_url`, or `refused`).
        pub chain: Vec<Value>,
        /// The members of the vserver that would serve it: `service`, `weight`, `order`, `state`, `active`, `why`.
        pub candidates: Vec<Value>,
        /// `service`, `address`, `by`, `persistent`, `spilled_before`; null: nobody.
        pub chosen: Option<Value>,
        /// How it would end where nobody serves it.
        pub refused: Option<String>,
        /// Where `redirect_url` sends it; null: nowhere.
        pub redirected_to: Option<String>,
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/explain/service", "Why a service gets new clients, or none", super::explained::service)
            .query(super::explained::SERVICE)
            .answers::<super::explained::ServiceExplanationDto>(),
        Route::get("/api/v1/explain/dns", "Why a query is answered as it is", dns)
            .query(QUERY)
            .answers::<ExplanationDto>(),
        Route::post("/api/v1/explain/request", Access::Read, "Why a request goes where it goes", request)
            .reads(Reads::Fields(REQUEST))
            .answers::<RequestExplanationDto>(),
    ]
}

async fn dns(State(app): State<App>, params: Params) -> Result<Json<Value>, Problem> {
    let name = params.get("name").filter(|n| !n.is_empty());
    let name = name.ok_or_else(|| Problem::bad_request("`name` is missing: the domain name to explain"))?;
    let rtype = params.get("type").unwrap_or("A");
    let client = match params.get("client") {
        None => IpAddr::V4(Ipv4Addr::LOCALHOST),
        Some(text) => {
            text.parse().map_err(|_| Problem::bad_request(format!("`client` is an IP address, not `{text}`")))?
        }
    };
    let now = app.read(|world| world.now.wall).await?;
    if let Some(at) = params.time("at", now)? {
        return dns_at(app, name.to_owned(), rtype.to_owned(), client, at).await;
    }
    let snapshot = app.handle().snapshot();
    let explanation = explain::dns(&snapshot, name, rtype, client, now).map_err(Problem::bad_request)?;
    let mut explanation = json!(explanation);
    let (drilled, seqs) = app.read(|world| (drilled(world), seqs(world))).await?;
    for step in explanation["steps"].as_array_mut().into_iter().flatten() {
        if let Some(note) = step["scenario"].as_str().and_then(|scenario| drilled.get(scenario)) {
            let because = format!("{}; {note}", step["because"].as_str().unwrap_or_default());
            step["because"] = because.into();
        }
        if let Some(seq) = step["scenario"].as_str().and_then(|scenario| seqs.get(scenario)) {
            step["seq"] = (*seq).into();
        }
    }
    Ok(Json(explanation))
}

/// The seq of every scenario.
fn seqs(world: &World<'_>) -> HashMap<String, u64> {
    let scenarios = world.model.scenarios.iter().zip(&world.view.scenarios);
    scenarios.map(|(scenario, view)| (scenario.name.to_string(), view.seq)).collect()
}

/// Scenarios that stand where a drill has put them, with what there is to say about it.
fn drilled(world: &World<'_>) -> HashMap<String, String> {
    let Some(drill) = &world.view.drill else { return HashMap::new() };
    let until = if drill.is_over() { String::new() } else { format!(", planned until {}", drill.ends_at) };
    let scenarios = world.model.scenarios.iter().zip(&world.view.scenarios);
    let moved = scenarios.filter(|(_, view)| view.drill == Some(drill.id));
    moved.map(|(s, _)| (s.name.to_string(), format!("{} stands there by drill {}{until}", s.name, drill.id))).collect()
}

/// Looks into the past at once: each may read much of the journal.
static LOOKS_BACK: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(2);

/// What would have been answered at `at`. The journal is read on a thread where that may take its time.
async fn dns_at(app: App, name: String, rtype: String, client: IpAddr, at: Wall) -> Result<Json<Value>, Problem> {
    let place = LOOKS_BACK.acquire().await.map_err(|_| Problem::busy("the appliance is stopping"))?;
    app.handle().recorded().await;
    let journal = app.handle().journal_reader();
    let explained = tokio::task::spawn_blocking(move || {
        // Also where who asked has gone.
        let _place = place;
        let past = past::at(&*journal, at).map_err(|unknown| match unknown {
            Unknown::NotRunning(why) => Problem::new(StatusCode::NOT_FOUND, "no_such_moment", why),
            Unknown::Unreadable(why) => Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "journal_unreadable", why),
        })?;
        let explanation = explain::dns(&past.snapshot, &name, &rtype, client, at).map_err(Problem::bad_request)?;
        let mut told = json!(explanation);
        told["past"] = json!({
            "at": at.to_string(), "entry": past.entry, "entry_at": past.entry_at.to_string(),
            "config_hash": past.config_hash,
        });
        Ok(Json(told))
    });
    explained.await.map_err(|_| Problem::busy("the look was cut short; try again"))?
}

/// What would become of a request; nothing is counted or moved by asking.
async fn request(State(app): State<App>, headers: HeaderMap, body: Body) -> Result<Json<Value>, Problem> {
    let fields = Fields::parse(&headers, &body::read(body, ACT_MAX).await?, REQUEST)?;
    let text = |name: &str| fields.text(name).map(|text| text.map(str::to_owned));
    let name =
        text("vserver")?.ok_or_else(|| Problem::bad_request("`vserver` is missing: the one that is addressed"))?;
    let (method, path) = (text("method")?.unwrap_or_else(|| "GET".into()), text("path")?.unwrap_or_else(|| "/".into()));
    if !path.starts_with('/') {
        return Err(Problem::bad_request(format!("`path` begins with `/`, unlike `{path}`")));
    }
    let (host, server_name) = (text("host")?.unwrap_or_default(), text("server_name")?);
    let client = match text("client")? {
        None => SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        Some(text) => {
            let address = text.parse().or_else(|_| text.parse().map(|ip| SocketAddr::new(ip, 0)));
            address.map_err(|_: std::net::AddrParseError| {
                Problem::bad_request(format!("`client` is an IP address, not `{text}`"))
            })?
        }
    };
    let mut sent = Vec::new();
    for line in fields.texts("headers")? {
        let (name, value) = line.split_once(':').ok_or_else(|| {
            Problem::bad_request(format!("`headers` holds lines such as `Name: value`, unlike `{line}`"))
        })?;
        sent.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    let asked =
        explain::Asked { method, target: path, host, fields: sent, client, tls: fields.flag("tls")?, server_name };
    let explained = app.study(move |world| {
        explain::request(world.snapshot, &name, &asked, world.now.tick).map(|explained| json!(explained)).ok_or_else(
            || Problem::unknown_object("vserver", &name, world.model.vservers.iter().map(|vserver| &*vserver.name)),
        )
    });
    explained.await?.map(Json)
}
