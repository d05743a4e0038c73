//! NITRO: NetScaler's interface over HTTP, as its clients speak it, under `/nitro/v1/config` and `/nitro/v1/stat`.
//!
//! The same listener, callers, roles and writer as REST; only the words are NetScaler's. A request goes: path and query
//! ([`target`]) → who calls ([`entry`]) → body ([`payload`]) → a look at the configuration ([`config`]), at counters
//! ([`stat`]), or a change: statements on the configuration ([`change`]) and acts on what runs ([`act`]) → JSON under
//! the status line that clients compare ([`answer`]). Whatever is asked for and is not there is kept in [`missing`].

mod act;
mod answer;
mod args;
mod bindings;
mod change;
mod clear;
mod config;
mod entry;
mod fault;
mod files;
mod gslb;
mod live;
mod missing;
mod payload;
mod people;
mod saved;
mod session;
mod shape;
mod special;
mod stat;
mod suites;
mod system;
mod target;
mod trace;
mod unbound;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use parking_lot::Mutex;
use serde_json::Value;

use super::App;
use super::auth::{Access, Caller};
use super::body;
use crate::config::edit::{gives_answer, request_without_query};
use crate::config::policy::expression::without_secrets;
use crate::model::time::Wall;
use crate::netscaler::document::Document;
use answer::{Answer, Fault, Object};
use payload::Payload;
use target::{Named, Space, Target};

pub(super) use missing::route;

/// Bytes of a body.
const BODY_MAX: usize = 4 << 20;
/// Of one whose sender is not known.
const LOGIN_MAX: usize = 16 << 10;

/// What NITRO keeps between requests.
#[derive(Default)]
pub(super) struct Nitro {
    sessions: session::Sessions,
    missing: missing::Missing,
    /// The configuration as statements see it, and its hash.
    seen: Mutex<Option<(String, Arc<Document>)>>,
}

/// One request of a caller who was let in.
struct Call<'a> {
    app: &'a App,
    parts: &'a Parts,
    caller: Caller,
    target: Target,
    payload: Payload,
}

/// Everything under `/nitro`.
pub(super) fn mount(router: Router<App>) -> Router<App> {
    router.route("/nitro", any(serve)).route("/nitro/{*path}", any(serve))
}

async fn serve(State(app): State<App>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let answer = Target::parse(parts.uri.path(), parts.uri.query().unwrap_or_default());
    match answer {
        Ok(target) => match carry_out(&app, &parts, target, body).await {
            Ok(response) => response,
            Err(fault) => fault.into_response(),
        },
        Err(fault) => fault.into_response(),
    }
}

async fn carry_out(app: &App, parts: &Parts, target: Target, body: Body) -> Result<Response, Fault> {
    let names = |word: &str| target.resource.as_deref().is_some_and(|r| r.eq_ignore_ascii_case(word));
    let is_post = parts.method == Method::POST;
    if is_post && names("logout") {
        return Ok(entry::logout(app, parts).await.into_response());
    }
    let may_log_in = is_post && target.space == Space::Config && target.resource.is_none();
    let logs_in = is_post && names("login");
    // A login says who calls; what else a request carries does not matter to it.
    let method = if target.clears() { Method::POST } else { parts.method.clone() };
    let entered = if logs_in { Err(Fault::new(1027, "")) } else { entry::admit(app, parts, &method).await };
    if entered.is_err() && !logs_in && !may_log_in {
        entered?;
        return Err(Fault::new(1027, ""));
    }
    let limit = if entered.is_ok() { BODY_MAX } else { LOGIN_MAX };
    let payload = Payload::parse(&body::read(body, limit).await.map_err(Fault::from)?)?;
    let says = |word: &str| payload.resource.as_deref().is_some_and(|r| r.eq_ignore_ascii_case(word));
    if logs_in || (may_log_in && says("login")) {
        return Ok(entry::login(app, parts, &payload).await?.into_response());
    }
    if may_log_in && says("logout") {
        return Ok(entry::logout(app, parts).await.into_response());
    }
    let call = Call { app, parts, caller: entered?, target, payload };
    let (method, resource) = (call.method(), call.resource().map(str::to_owned));
    let done = call.carry_out().await;
    match (done, resource) {
        (Err(fault), Some(resource)) => {
            note_missing(app, &method, &resource, &fault).await;
            Err(fault)
        }
        (done, _) => done,
    }
}

/// Keeps what is not there: a resource (1088), an attribute (1090), a value of one (1097).
async fn note_missing(app: &App, method: &str, resource: &str, fault: &Fault) {
    let attribute = match fault.code {
        1088 => None,
        1090 | 1097 if fault.code == 1090 || fault.message.contains("not available here") => {
            let inside = fault.message.split_once('[').and_then(|(_, rest)| rest.split([',', ']']).next());
            Some(inside.unwrap_or_default().trim().to_owned())
        }
        _ => return,
    };
    let now = app.read(|world| world.now.wall).await.unwrap_or(Wall(0));
    app.0.nitro.missing.note(now, method, resource, attribute.as_deref());
}

/// Takes out the values in which tokens stand.
fn hide(object: &mut Object) {
    for secret in ["customheaders", "scriptargs", "send", "recv", "stringbuilderexpr"] {
        if let Some(value) = object.get_mut(secret) {
            *value = "(hidden)".into();
        }
    }
    if object.get("type").and_then(|kind| kind.as_str()).is_some_and(gives_answer)
        && let Some(target) = object.get_mut("target")
    {
        *target = "(hidden)".into();
    }
    if let Some(request) = object.get_mut("httprequest")
        && let Some(before) = request.as_str().and_then(request_without_query)
    {
        *request = format!("{before}?…").into();
    }
    for key in ["rule", "value"] {
        if let Some(text) = object.get_mut(key)
            && let Some(shown) = text.as_str().and_then(|text| without_secrets(text, "(hidden)"))
        {
            *text = shown.into();
        }
    }
    let inner = object.values_mut().filter_map(Value::as_array_mut).flatten();
    inner.filter_map(Value::as_object_mut).for_each(hide);
}

// === impl Call ===

impl Call<'_> {
    /// `GET`, or `stat`.
    fn method(&self) -> String {
        match self.target.space {
            Space::Stat => "stat".to_owned(),
            Space::Config => self.parts.method.to_string(),
        }
    }

    /// As the path names it, else the body.
    fn resource(&self) -> Option<&str> {
        self.target.resource.as_deref().or(self.payload.resource.as_deref())
    }

    fn name(&self) -> Option<&Named> {
        self.target.name.as_ref()
    }

    /// Where uploaded files are.
    async fn files(&self) -> Result<files::Files, Fault> {
        let state = self.app.read(|world| world.config.state.clone()).await.map_err(Fault::from)?;
        Ok(files::Files::in_state(state.as_deref()))
    }

    fn wants_warnings(&self) -> bool {
        let header = self.parts.headers.get("x-nitro-warning").and_then(|value| value.to_str().ok());
        let says_yes = |word: &str| ["yes", "true"].iter().any(|yes| word.eq_ignore_ascii_case(yes));
        self.target.asked.warning || self.payload.warning || header.is_some_and(says_yes)
    }

    async fn carry_out(self) -> Result<Response, Fault> {
        match (self.parts.method.as_str(), self.target.space) {
            ("GET" | "HEAD", Space::Config) => Ok(self.read_config().await?.into_response()),
            ("GET" | "HEAD", Space::Stat) => Ok(self.read_statistics().await?.into_response()),
            ("POST" | "PUT" | "DELETE", Space::Config) => self.change().await,
            (method, _) => Err(Fault::new(301, method).status(405)),
        }
    }

    async fn read_statistics(self) -> Result<Answer, Fault> {
        entry::allow(&self.caller, Access::Read)?;
        let Target { resource, name, asked, .. } = self.target;
        let Some(resource) = resource else { return Ok(shape::names("statobjects", stat::RESOURCES)) };
        let clearing = stat::Clearing::of(&resource, &asked)?;
        if clearing.is_some() {
            entry::allow(&self.caller, Access::Operate)?;
        }
        let app = self.app.clone();
        let study = move |world: &crate::control::World<'_>| {
            let machine = app.machine();
            let of_gslb = resource.to_ascii_lowercase().starts_with("gslb");
            let document = of_gslb.then(|| config::document(&app, world)).transpose()?;
            let seen = stat::Seen { world, cleared: &app.0.cleared, document: document.as_deref() };
            let found = stat::read(&seen, &machine, &resource, name.as_ref(), &asked);
            let found = found.unwrap_or_else(|| Err(Fault::new(1088, target::printable(&resource))))?;
            let answer = shape::shape(&resource, found, &asked)?;
            let cleared = clearing.map(|clearing| {
                // What is cleared is told once more.
                clearing.carry_out(&seen, &machine, &resource, name.as_ref());
                let named = name.as_ref().map(|name| format!(" {}", name.meant())).unwrap_or_default();
                format!("{}{named}", resource.to_lowercase())
            });
            Ok::<_, Fault>((answer, cleared))
        };
        let (answer, cleared) = self.app.study(study).await.map_err(Fault::from)??;
        if let Some(of) = cleared {
            clear::tell_cleared(self.app, &self.caller, &of).await?;
        }
        Ok(answer)
    }

    /// What REST hides from the same callers is hidden here.
    async fn read_config(self) -> Result<Answer, Fault> {
        entry::allow(&self.caller, Access::Read)?;
        let Target { resource, name, asked, .. } = self.target;
        let Some(resource) = resource else { return Ok(shape::names("configobjects", &config::names())) };
        if saved::is_one(&resource) {
            entry::allow(&self.caller, Access::Configure)?;
        }
        let app = self.app.clone();
        let sees_all = entry::allow(&self.caller, Access::Configure).is_ok();
        let study = move |world: &crate::control::World<'_>| {
            let mut found = config::read(&app, world, &resource, name.as_ref(), &asked)?;
            if !sees_all {
                found.objects.iter_mut().for_each(hide);
            }
            shape::shape(&resource, found, &asked)
        };
        self.app.study(study).await.map_err(Fault::from)?
    }
}
