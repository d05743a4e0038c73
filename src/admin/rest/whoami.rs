//! Who the caller is, as the appliance sees it; logging in and out.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::super::App;
use super::super::auth::{Access, Caller, Head, Peer, authorize, refuse_cross_site, session_cookie, set_cookie};
use super::super::body::{self, ACT_MAX, Field, FieldKind, Fields, field};
use super::super::problem::Problem;
use super::super::route::{Reads, Route};

const LOGIN: &[Field] = &[
    field("username", FieldKind::Text, "Needed: the name of a user."),
    field("password", FieldKind::Text, "Needed: their password."),
];

dto! {
    /// The caller.
    pub struct WhoamiDto {
        /// Their name, without how they came in.
        pub user: String,
        /// As the journal would show it.
        pub actor: String,
        /// How they came in: `socket`, `tcp ADDRESS`, `session NUMBER from ADDRESS`, `token NAME from ADDRESS`.
        pub door: String,
        /// `read-only`, `operator` or `superuser`.
        pub role: String,
        /// `read`, `operate`, `configure`.
        pub permissions: Vec<String>,
        /// When the token, or the session if nothing more is asked with it, ends; null: it does not.
        pub expires: Option<String>,
        /// Under which user number they may use the Unix socket, having logged in to the machine itself; null: they may not.
        pub uid: Option<u32>,
        /// Of a session: what acts carry in `X-CSRF-Token`.
        pub csrf: Option<String>,
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/whoami", "Who the caller is and what it may do", whoami).answers::<WhoamiDto>(),
        Route::post(
            "/api/v1/login",
            Access::Public,
            "Open a session: sets the cookie `bascule_session`; `csrf` is for the field X-CSRF-Token of acts",
            login,
        )
        .reads(Reads::Fields(LOGIN))
        .answers::<WhoamiDto>(),
        Route::post("/api/v1/logout", Access::Read, "End the session that the cookie names", logout)
            .reads(Reads::Fields(&[]))
            .answers::<LogoutDto>(),
    ]
}

dto! {
    /// What a logout did.
    pub struct LogoutDto {
        /// A session was ended.
        pub ended: bool,
    }
}

fn describe(caller: &Caller, csrf: Option<String>) -> WhoamiDto {
    let all = [("read", Access::Read), ("operate", Access::Operate), ("configure", Access::Configure)];
    let user = caller.actor.split_once(':').map_or(&*caller.actor, |(_, user)| user);
    WhoamiDto {
        user: user.to_owned(),
        actor: caller.actor.to_string(),
        door: caller.door.to_string(),
        role: caller.role.word().into(),
        permissions: all
            .into_iter()
            .filter(|(_, access)| authorize(caller.role, *access).is_ok())
            .map(|(word, _)| word.into())
            .collect(),
        expires: caller.expires.map(|at| at.to_string()),
        uid: None,
        csrf,
    }
}

async fn whoami(State(app): State<App>, caller: Caller, headers: HeaderMap) -> Response {
    let token = caller.session().and(session_cookie(&headers));
    let whoami = describe(&caller, token.map(|token| app.csrf(token)));
    uncached(Json(WhoamiDto { uid: app.number(&caller), ..whoami }).into_response())
}

async fn login(State(app): State<App>, peer: Peer, request: axum::extract::Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    // Nobody is logged in as somebody else by a page that they read.
    refuse_cross_site(Head { method: &parts.method, uri: &parts.uri, headers: &parts.headers })?;
    let fields = Fields::parse(&parts.headers, &body::read(body, ACT_MAX).await?, LOGIN)?;
    let needed = |name: &str| match fields.text(name) {
        Ok(Some(text)) => Ok(text.to_owned()),
        Ok(None) => Err(Problem::bad_request(format!("`{name}` is missing"))),
        // Without the value, which may be a secret of another type.
        Err(_) => Err(Problem::bad_request(format!("`{name}` is a text"))),
    };
    let (name, password) = (needed("username")?, needed("password")?);
    let (opened, caller) = app.log_in(peer, &name, &password).await?;
    let tls = matches!(peer, Peer::Tcp { tls: true, .. });
    let answer = Json(describe(&caller, Some(opened.csrf.clone()))).into_response();
    Ok(with_cookie(answer, &set_cookie(Some(&opened.token), tls)))
}

async fn logout(
    State(app): State<App>,
    caller: Caller,
    peer: Peer,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    Fields::parse(&headers, &body::read(body, ACT_MAX).await?, &[])?;
    if caller.session().is_none() {
        let detail = "this request came with no session, so there is none to end";
        return Err(Problem::new(StatusCode::CONFLICT, "no_session", detail));
    }
    let ended = app.log_out(&caller);
    let tls = matches!(peer, Peer::Tcp { tls: true, .. });
    Ok(with_cookie(Json(LogoutDto { ended }).into_response(), &set_cookie(None, tls)))
}

fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(cookie) {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
    uncached(response)
}

/// What is for one caller is kept by nobody else.
fn uncached(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
