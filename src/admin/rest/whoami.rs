//! Who the caller is, as the appliance sees it.

use axum::Json;

use super::super::auth::{Access, Caller, authorize, role_word};
use super::super::route::Route;

dto! {
    /// The caller.
    pub struct WhoamiDto {
        /// As the journal would show it.
        pub actor: String,
        /// `read-only`, `operator` or `superuser`.
        pub role: String,
        /// `read`, `operate`, `configure`.
        pub permissions: Vec<String>,
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![Route::get("/api/v1/whoami", "Who the caller is and what it may do", whoami).answers::<WhoamiDto>()]
}

async fn whoami(caller: Caller) -> Json<WhoamiDto> {
    let all = [("read", Access::Read), ("operate", Access::Operate), ("configure", Access::Configure)];
    Json(WhoamiDto {
        actor: caller.actor.to_string(),
        role: role_word(caller.role).into(),
        permissions: all
            .into_iter()
            .filter(|(_, access)| authorize(caller.role, *access).is_ok())
            .map(|(word, _)| word.into())
            .collect(),
    })
}
