//! The configuration as a whole: read, compare, replace, save, reload.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::App;
use super::super::auth::{Access, Caller, authorize};
use super::super::body::{self, ACT_MAX, CONFIG_MAX, Field, FieldKind, Fields, Params, field};
use super::super::dto::ConfigDto;
use super::super::problem::Problem;
use super::super::route::{Reads, Route};
use crate::config::{Source, edit, render};
use crate::control::command::Format;
use crate::control::{Command, Done};
use crate::model::Model;
use crate::model::id::Name;

const FORMATS: [&str; 2] = ["toml", "json"];
const GET: &[Field] =
    &[field("format", FieldKind::Word(&FORMATS), "toml or json; the Accept field decides where absent.")];
const PUT: &[Field] = &[field("dry_run", FieldKind::Flag, "Only say what would change.")];

dto! {
    /// What a configuration changes, or would change.
    pub struct ConfigChangeDto {
        /// A line for each difference.
        pub changes: Vec<String>,
        /// Running and saved configuration afterwards.
        pub config: ConfigDto,
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/config", "The running configuration, as TOML or JSON", get).query(GET).answers_config(),
        Route::put("/api/v1/config", Access::Configure, "Replace the running configuration, all or nothing", put)
            .query(PUT)
            .reads(Reads::Config)
            .answers_changed::<ConfigChangeDto>(),
        Route::post("/api/v1/config/diff", Access::Configure, "What a configuration would change", diff)
            .reads(Reads::Config)
            .answers_changed::<ConfigChangeDto>(),
        Route::post("/api/v1/config/save", Access::Configure, "Write the running configuration to FILE", save)
            .reads(Reads::Fields(&[]))
            .answers_changed::<ConfigChangeDto>(),
        Route::post("/api/v1/config/reload", Access::Configure, "Take FILE again, dropping what is not saved", reload)
            .reads(Reads::Fields(&[]))
            .answers_changed::<ConfigChangeDto>(),
    ]
}

async fn get(State(app): State<App>, caller: Caller, headers: HeaderMap, params: Params) -> Result<Response, Problem> {
    let as_json = match params.get("format") {
        None => prefers_json(&headers),
        Some(word) => match FORMATS.iter().find(|f| f.eq_ignore_ascii_case(word)) {
            Some(format) => *format == "json",
            None => return Err(Problem::bad_request(format!("`format` is toml or json, not `{word}`"))),
        },
    };
    let (running, hash) = app
        .read(|world| {
            let running = Running { model: world.model.clone(), sources: world.sources.to_vec() };
            (running, world.config.hash.clone())
        })
        .await?;
    // Printing a large configuration takes milliseconds that belong to nobody else.
    let sees_all = authorize(caller.role, Access::Configure).is_ok();
    let rendered = tokio::task::spawn_blocking(move || {
        // Without its comments: they may tell what is hidden.
        let toml = if sees_all { running.text() } else { edit::redact(&render::render(&running.model))? };
        if as_json { edit::to_json(&toml).map(|json| json.to_string()) } else { Ok(toml) }
    });
    let text = match rendered.await {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => return Err(internal(&error)),
        Err(error) => return Err(internal(&error.to_string())),
    };
    let media = if as_json { "application/json" } else { "application/toml" };
    let mut response = ([(header::CONTENT_TYPE, media)], text).into_response();
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{hash}\"")) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

/// The running configuration and where it came from.
struct Running {
    model: Arc<Model>,
    sources: Vec<Source>,
}

fn internal(error: &str) -> Problem {
    tracing::error!(error, "the running configuration cannot be printed");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the running configuration cannot be printed")
}

/// JSON where it is asked for and TOML is not.
fn prefers_json(headers: &HeaderMap) -> bool {
    let accepts = |what: &str| {
        headers
            .get_all(header::ACCEPT)
            .iter()
            .any(|v| v.to_str().unwrap_or_default().to_ascii_lowercase().contains(what))
    };
    accepts("json") && !accepts("toml")
}

async fn put(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    params: Params,
    body: Body,
) -> Result<Json<Value>, Problem> {
    let dry_run = params.flag("dry_run")?;
    let if_hash = headers.get(header::IF_MATCH).and_then(hashes);
    apply(&app, caller, headers, body, dry_run, if_hash).await
}

/// The hashes that If-Match names; `None` where any will do.
fn hashes(expected: &HeaderValue) -> Option<Vec<Name>> {
    let tags = expected.to_str().unwrap_or_default().split(',').map(|tag| tag.trim().trim_matches('"'));
    let hashes: Vec<Name> = tags.map(Into::into).collect();
    (!hashes.iter().any(|hash| &**hash == "*")).then_some(hashes)
}

async fn diff(State(app): State<App>, caller: Caller, headers: HeaderMap, body: Body) -> Result<Json<Value>, Problem> {
    apply(&app, caller, headers, body, true, None).await
}

async fn apply(
    app: &App,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
    dry_run: bool,
    if_hash: Option<Vec<Name>>,
) -> Result<Json<Value>, Problem> {
    let bytes = body::read(body, CONFIG_MAX).await?;
    let text = String::from_utf8(bytes.to_vec()).map_err(|_| Problem::bad_request("the configuration is not UTF-8"))?;
    let format = format_of(&headers, &text)?;
    if text.trim().is_empty() {
        return Err(Problem::bad_request("the body is empty; send the whole configuration as TOML or JSON"));
    }
    let done = app.command(caller, Command::ApplyConfig { text, format, dry_run, if_hash }, Duration::ZERO).await?;
    answer(app, done).await
}

/// By Content-Type; where none is said (or only curl's default), by the first byte: TOML never begins with `{`.
fn format_of(headers: &HeaderMap, text: &str) -> Result<Format, Problem> {
    let media = body::media_type(headers);
    match &media[..] {
        "application/json" => Ok(Format::Json),
        "application/toml" | "text/toml" | "application/x-toml" | "text/x-toml" | "text/plain" => Ok(Format::Toml),
        "" | "application/x-www-form-urlencoded" | "application/octet-stream" => {
            Ok(if text.trim_start().starts_with('{') { Format::Json } else { Format::Toml })
        }
        _ => Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            format!("`{media}` is not read here; send application/toml or application/json"),
        )),
    }
}

async fn save(State(app): State<App>, caller: Caller, headers: HeaderMap, body: Body) -> Result<Json<Value>, Problem> {
    Fields::parse(&headers, &body::read(body, ACT_MAX).await?, &[])?;
    let done = app.command(caller, Command::Save, Duration::ZERO).await?;
    answer(&app, done).await
}

async fn reload(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Problem> {
    Fields::parse(&headers, &body::read(body, ACT_MAX).await?, &[])?;
    let done = app.command(caller, Command::Reload, Duration::ZERO).await?;
    answer(&app, done).await
}

async fn answer(app: &App, done: Done) -> Result<Json<Value>, Problem> {
    let config = app.read(ConfigDto::of).await?;
    let mut answer = json!({ "changes": done.changes, "config": config, "generation": done.generation });
    if !done.warnings.is_empty() {
        answer["warnings"] = done.warnings.into();
    }
    Ok(Json(answer))
}

// === impl Running ===

impl Running {
    /// The text that was applied, with its comments; where it came in several, the whole in canonical form. What `--set` says
    /// is not in it, so that what is sent back holds without it too: the status names those keys.
    fn text(&self) -> String {
        edit::running(&self.sources, &self.model).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_what_the_caller_says_and_else_what_it_looks_like() {
        let with = |media: &str, text| {
            let mut headers = HeaderMap::new();
            if !media.is_empty() {
                headers.insert(header::CONTENT_TYPE, media.parse().unwrap());
            }
            format_of(&headers, text).map_err(|p| p.status.as_u16())
        };
        assert_eq!(with("application/json", "x"), Ok(Format::Json));
        assert_eq!(with("application/toml; charset=utf-8", "{"), Ok(Format::Toml));
        assert_eq!(with("", " {\"schema\": 1}"), Ok(Format::Json));
        assert_eq!(with("application/x-www-form-urlencoded", "schema = 1"), Ok(Format::Toml));
        assert_eq!(with("application/xml", "<x/>"), Err(415));
    }

    #[test]
    fn json_is_answered_where_it_is_asked_for() {
        let with = |accept: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            prefers_json(&headers)
        };
        assert!(with("application/json"));
        assert!(!with("*/*"));
        assert!(!with("application/toml, application/json;q=0.5"));
    }
}
