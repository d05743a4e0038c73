//! The one table of routes, and the router made of it.

use axum::Router;
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::handler::Handler;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use serde_json::{Map, Value};

use super::App;
use super::auth::{self, Access, Caller, Head, Peer};
use super::body::{Field, Params};
use super::dto::Schema;
use super::idempotency;
use super::problem::Problem;
use super::rest;
use crate::config::schema::Schema as Keys;

/// A method and a path: who may call it, what it reads, what it answers, who carries it out.
pub(crate) struct Route {
    pub method: Method,
    pub path: String,
    pub access: Access,
    pub summary: String,
    pub query: &'static [Field],
    pub body: Reads,
    pub answer: Answer,
    /// It searches the journal, which may take its time.
    searches: bool,
    handler: MethodRouter<App>,
}

/// What a request carries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reads {
    Nothing,
    /// A JSON object with these members, all optional unless the text says otherwise.
    Fields(&'static [Field]),
    /// A configuration in TOML or JSON.
    Config,
    /// A table of the configuration as JSON; `named`: with its name as `name`.
    Object {
        schema: Option<&'static Keys>,
        named: bool,
    },
    /// A certificate: the names of files, or PEM.
    Certificate,
    /// A merge patch of such a table.
    Patch(Option<&'static Keys>),
}

/// What a good request is answered.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    Json(fn(&mut Map<String, Value>) -> Value),
    /// The object after an act, with `generation`, and with `warnings` and `still_draining` where there are any.
    Changed(fn(&mut Map<String, Value>) -> Value),
    /// A table of the configuration as JSON, with its name.
    Object(Option<&'static Keys>),
    /// A page of them.
    Objects(Option<&'static Keys>),
    /// One after a change, with what came of it; `created`: 201 where it is new.
    ObjectChanged {
        schema: Option<&'static Keys>,
        created: bool,
    },
    /// The configuration, TOML or JSON.
    Config,
    /// Text of this media type.
    Text(&'static str),
    /// Server-sent events; the schema is that of one.
    Events(fn(&mut Map<String, Value>) -> Value),
    /// Nothing was said of it: no route stays like that.
    Unsaid,
}

/// The parameters of the path, decoded.
#[derive(Debug, Clone)]
pub(crate) struct Segments(pub Vec<String>);

/// What stands before a handler.
#[derive(Clone)]
struct Gate {
    app: App,
    access: Access,
    query: &'static [Field],
    searches: bool,
}

/// Everything that can be called.
pub(crate) fn table() -> Vec<Route> {
    let mut routes = super::health::routes();
    routes.extend(rest::routes());
    routes.push(super::metrics::route());
    routes.push(super::events::route());
    routes.push(super::openapi::route());
    routes.extend(super::dashboard::routes());
    routes.push(super::nitro::route());
    routes
}

pub(crate) fn router(app: App) -> Router {
    let mut router = Router::new();
    for route in table() {
        let gate = Gate { app: app.clone(), access: route.access, query: route.query, searches: route.searches };
        router = router.route(&route.path, route.handler.route_layer(from_fn_with_state(gate, guard)));
    }
    let router = super::nitro::mount(router).fallback(no_such_path).method_not_allowed_fallback(method_not_allowed);
    router.layer(map_response(for_the_caller_alone)).with_state(app)
}

/// What is answered is for who asked, and is what it says it is; pages that may be kept say so themselves.
async fn for_the_caller_alone(mut response: Response) -> Response {
    let fields = response.headers_mut();
    fields.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    fields.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Lets a request through to its handler: who calls, may they, are the parameters known.
async fn guard(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    if let Err(problem) = admit(&gate, &mut request).await {
        return problem.into_response();
    }
    let ends = request.extensions().get::<Caller>().and_then(auth::token_ends_soon);
    let acts = request.method() == Method::POST
        && idempotency::keeps(gate.access)
        && request.headers().contains_key(idempotency::KEY);
    let caller = request.extensions().get::<Caller>().cloned();
    let _turn = match caller.as_ref().filter(|_| gate.searches) {
        Some(caller) => match gate.app.0.searches.turn(&caller.actor).await {
            Ok(turn) => Some(turn),
            Err(problem) => return problem.into_response(),
        },
        None => None,
    };
    let mut response = match caller.filter(|_| acts) {
        Some(caller) => {
            idempotency::once(&gate.app, &caller, request, next).await.unwrap_or_else(IntoResponse::into_response)
        }
        None => next.run(request).await,
    };
    if let Some(at) = ends {
        response.headers_mut().insert(auth::TOKEN_EXPIRES, at);
    }
    response
}

async fn admit(gate: &Gate, request: &mut Request) -> Result<(), Problem> {
    if gate.access != Access::Public {
        let peer = request.extensions().get::<Peer>().copied();
        let peer = peer.ok_or_else(|| Problem::forbidden("the caller is not known"))?;
        let head = Head { method: request.method(), uri: request.uri(), headers: request.headers() };
        let caller = gate.app.authenticate(peer, head).await?;
        auth::authorize(caller.role, gate.access)?;
        request.extensions_mut().insert(caller);
    }
    let query = request.uri().query().unwrap_or_default().to_owned();
    if !query.is_empty() {
        let params = Params::parse(&query)?;
        let is_act = request.method() != Method::GET && !gate.query.iter().any(|f| f.name == "dry_run");
        if is_act && params.flag("dry_run")? {
            return Err(Problem::not_in_this_build(
                "dry runs of acts; POST /api/v1/config/diff compares a configuration",
            ));
        }
        params.check(gate.query)?;
    }
    Ok(())
}

async fn no_such_path(uri: Uri) -> Problem {
    let known: Vec<String> = table().into_iter().map(|r| r.path).collect();
    let problem = Problem::new(StatusCode::NOT_FOUND, "no_such_path", format!("nothing is at {}", uri.path()));
    let deep = uri.path().starts_with("/api/v1/") && uri.path().split('/').count() > 5;
    if deep {
        return Problem { detail: problem.detail.clone() + "; a `/` inside a name is written %2F", ..problem };
    }
    problem.meaning(super::nearest(uri.path(), known.iter().filter(|p| !p.contains('{')).map(|p| &p[..])))
}

async fn method_not_allowed(method: Method, uri: Uri) -> Problem {
    let detail = format!("{method} is not allowed at {}", uri.path());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
}

// === impl Route ===

impl Route {
    fn new<H, T>(method: Method, path: impl Into<String>, access: Access, summary: &str, handler: H) -> Route
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let filter = MethodFilter::try_from(method.clone()).expect("a method that axum routes");
        Route {
            method,
            path: path.into(),
            access,
            summary: summary.into(),
            query: &[],
            body: Reads::Nothing,
            answer: Answer::Unsaid,
            searches: false,
            handler: on(filter, handler),
        }
    }

    /// GET, for every role.
    pub fn get<H: Handler<T, App>, T: 'static>(path: impl Into<String>, summary: &str, handler: H) -> Route {
        Route::new(Method::GET, path, Access::Read, summary, handler)
    }

    pub fn post<H: Handler<T, App>, T: 'static>(
        path: impl Into<String>,
        access: Access,
        summary: &str,
        handler: H,
    ) -> Route {
        Route::new(Method::POST, path, access, summary, handler)
    }

    pub fn put<H: Handler<T, App>, T: 'static>(
        path: impl Into<String>,
        access: Access,
        summary: &str,
        handler: H,
    ) -> Route {
        Route::new(Method::PUT, path, access, summary, handler)
    }

    pub fn patch<H: Handler<T, App>, T: 'static>(
        path: impl Into<String>,
        access: Access,
        summary: &str,
        handler: H,
    ) -> Route {
        Route::new(Method::PATCH, path, access, summary, handler)
    }

    pub fn delete<H: Handler<T, App>, T: 'static>(
        path: impl Into<String>,
        access: Access,
        summary: &str,
        handler: H,
    ) -> Route {
        Route::new(Method::DELETE, path, access, summary, handler)
    }

    pub fn public(self) -> Route {
        Route { access: Access::Public, ..self }
    }

    /// Whoever may look at the rest may not look at this.
    pub fn for_operators(self) -> Route {
        Route { access: Access::Operate, ..self }
    }

    /// Callers take turns with themselves.
    pub fn searches(self) -> Route {
        Route { searches: true, ..self }
    }

    pub fn query(self, query: &'static [Field]) -> Route {
        Route { query, ..self }
    }

    pub fn reads(self, body: Reads) -> Route {
        Route { body, ..self }
    }

    pub fn answers<D: Schema>(self) -> Route {
        Route { answer: Answer::Json(D::schema), ..self }
    }

    pub fn answers_changed<D: Schema>(self) -> Route {
        Route { answer: Answer::Changed(D::schema), ..self }
    }

    pub fn answers_object(self, schema: Option<&'static Keys>) -> Route {
        Route { answer: Answer::Object(schema), ..self }
    }

    pub fn answers_objects(self, schema: Option<&'static Keys>) -> Route {
        Route { answer: Answer::Objects(schema), ..self }
    }

    pub fn answers_object_changed(self, schema: Option<&'static Keys>) -> Route {
        Route { answer: Answer::ObjectChanged { schema, created: false }, ..self }
    }

    pub fn answers_created(self, schema: Option<&'static Keys>) -> Route {
        Route { answer: Answer::ObjectChanged { schema, created: true }, ..self }
    }

    pub fn answers_config(self) -> Route {
        Route { answer: Answer::Config, ..self }
    }

    pub fn answers_events(self, schema: fn(&mut Map<String, Value>) -> Value) -> Route {
        Route { answer: Answer::Events(schema), ..self }
    }

    pub fn answers_text(self, media_type: &'static str) -> Route {
        Route { answer: Answer::Text(media_type), ..self }
    }
}

// === impl Segments ===

impl<S: Send + Sync> FromRequestParts<S> for Segments {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Segments, Problem> {
        match Path::<Vec<(String, String)>>::from_request_parts(parts, state).await {
            Ok(Path(pairs)) => Ok(Segments(pairs.into_iter().map(|(_, value)| value).collect())),
            Err(error) => Err(Problem::bad_request(format!("the path cannot be read: {error}"))),
        }
    }
}

impl Segments {
    pub fn first(&self) -> &str {
        self.0.first().map_or("", |s| &s[..])
    }
}

// === impl Peer ===

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Peer, Problem> {
        parts.extensions.get::<Peer>().copied().ok_or_else(|| Problem::forbidden("the caller is not known"))
    }
}

// === impl Caller ===

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Caller, Problem> {
        parts.extensions.get::<Caller>().cloned().ok_or_else(|| Problem::forbidden("the caller is not known"))
    }
}
