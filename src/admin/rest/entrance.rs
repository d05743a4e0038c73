//! Logins to the machine itself: `bascule login-check` asks here for PAM, so that guesses at the console and over SSH
//! are counted and journalled like all others, each for where it comes from.

use std::net::IpAddr;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;

use super::super::App;
use super::super::auth::{Access, Caller, Peer};
use super::super::body::{self, ACT_MAX, Field, FieldKind, Fields, field};
use super::super::problem::Problem;
use super::super::route::{Reads, Route};

const CHECK: &[Field] = &[
    field("user", FieldKind::Text, "Needed: the name that was typed."),
    field("password", FieldKind::Text, "Needed: the password that was typed."),
    field("from", FieldKind::Text, "The address of their `ssh`; `::` where it is not known. Left out: the console."),
];

dto! {
    /// Somebody whose password was right.
    pub struct CheckedDto {
        /// As the journal would show them.
        pub actor: String,
        /// `read-only`, `operator` or `superuser`.
        pub role: String,
        /// Under which user number they may use the Unix socket from now on; null: they may not.
        pub uid: Option<u32>,
    }
}

pub(crate) fn routes() -> Vec<Route> {
    let about = "Judge a name and a password of somebody who logs in to the machine itself; for root and the appliance's \
                 own user over the Unix socket alone";
    let route = Route::post("/api/v1/logins/check", Access::Configure, about, check);
    vec![route.reads(Reads::Fields(CHECK)).answers::<CheckedDto>()]
}

async fn check(
    State(app): State<App>,
    peer: Peer,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<CheckedDto>, Problem> {
    // Whoever else could name a `from` could lock others out.
    if !matches!(peer, Peer::Unix { own: true, .. }) {
        return Err(Problem::forbidden(
            "root and the user that the appliance runs as may ask this, over the Unix socket alone; log in with \
             POST /api/v1/login",
        ));
    }
    let fields = Fields::parse(&headers, &body::read(body, ACT_MAX).await?, CHECK)?;
    let text = |name: &str| match fields.text(name) {
        Ok(text) => Ok(text.map(str::to_owned)),
        // Without the value, which may be a secret of another type.
        Err(_) => Err(Problem::bad_request(format!("`{name}` is a text"))),
    };
    let needed = |name: &str| text(name)?.ok_or_else(|| Problem::bad_request(format!("`{name}` is missing")));
    let (user, password) = (needed("user")?, needed("password")?);
    let from = text("from")?.map(|from| address(&from)).transpose()?;
    let caller: Caller = app.judge(peer, from, &user, &password).await?;
    let (actor, role) = (caller.actor.to_string(), caller.role.word().to_owned());
    Ok(Json(CheckedDto { actor, role, uid: app.number(&caller) }))
}

fn address(text: &str) -> Result<IpAddr, Problem> {
    let address = text.parse::<IpAddr>().ok().map(|ip| ip.to_canonical());
    // 0.0.0.0 stands for the console where guesses are counted.
    let from_afar = address.filter(|ip| !(ip.is_ipv4() && ip.is_unspecified()));
    from_afar.ok_or_else(|| Problem::bad_request("`from` is an IP address; it is left out for the console"))
}
