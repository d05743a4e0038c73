//! Why a service gets new clients, or none: everything that has a say in it, in the order in which it counts.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::super::App;
use super::super::body::{Field, FieldKind, Params, field};
use super::super::dto::{NoteDto, ServiceDto, VserverDto};
use super::super::problem::Problem;
use crate::control::World;
use crate::model::id::{Kind, Name, ServiceId, VserverId};
use crate::model::state::Slot;

pub(super) const SERVICE: &[Field] = &[field("name", FieldKind::Text, "Needed: the service, or GROUP/MEMBER.")];

dto! {
    /// Why a service gets new clients, or none.
    pub struct ServiceExplanationDto {
        pub service: String,
        /// `UP`, `DOWN`, …
        pub state: String,
        /// What has a say, each with `what` (`admin`, `force`, `monitor`, `drain`, `passive`, `vserver`), its `name` and
        /// what it `says`.
        pub because: Vec<Value>,
    }
}

pub(super) async fn service(State(app): State<App>, params: Params) -> Result<Json<Value>, Problem> {
    let name = params.get("name").filter(|name| !name.is_empty()).map(str::to_owned);
    let name = name.ok_or_else(|| Problem::bad_request("`name` is missing: the service to explain"))?;
    let explained = app.study(move |world| match world.model.service_id(&name) {
        Some(id) => Ok(json!(explain(world, id))),
        None => Err(Problem::unknown_object("service", &name, world.model.services.iter().map(|s| &*s.name))),
    });
    explained.await?.map(Json)
}

fn explain(world: &World<'_>, id: ServiceId) -> ServiceExplanationDto {
    let service = ServiceDto::of(world, id);
    let mut because = Vec::new();
    let mut say =
        |what: &str, name: &str, says: String| because.push(json!({"what": what, "name": name, "says": says}));
    for (kind, name) in levels(world, id) {
        if let Some(note) = NoteDto::find(world, kind, &name, Slot::Admin) {
            say("admin", &format!("{} {name}", kind.word()), format!("disabled by {}", noted(&note)));
        }
    }
    if let (Some(forced), Some(note)) = (&service.forced, &service.forced_by) {
        say("force", &service.name, format!("forced {forced} by {}; without it {}", noted(note), service.real));
    }
    for monitor in &service.monitors {
        let last = monitor.last_response.as_deref().unwrap_or("no answer yet");
        let counts = match (&monitor.admin[..], monitor.passive) {
            ("DISABLED", _) => "neither probed nor counted",
            (_, true) => "passive: shown, not counted",
            _ => "counted",
        };
        say("monitor", &monitor.name, format!("{}: {last} ({counts})", monitor.state));
    }
    if let Some(drain) = &service.drain {
        let left = drain.remaining.as_deref().map_or("until it is idle".into(), |left| format!("for {left}"));
        say("drain", &drain.kind, format!("{left}; {} open", service.active));
    }
    let now = world.now.tick;
    let ejection = world.snapshot.services.get(id.index()).and_then(|entry| entry.live.ejector.ejection(now));
    if let Some(ejection) = ejection {
        let until = world.now.wall + ejection.until.since(now);
        let again =
            if ejection.times > 1 { format!(", for the {}. time in a row", ejection.times) } else { String::new() };
        say("passive", "ejected", format!("until {until}{again}: {}", ejection.cause));
    }
    for at in 0..world.model.vservers.len() {
        let vserver = world.model.vserver(VserverId::from_index(at));
        if !vserver.members.iter().any(|member| member.service == id) {
            continue;
        }
        let shown = VserverDto::of(world, VserverId::from_index(at));
        let member = shown.members.iter().find(|member| member.service == service.name);
        let why_not = member.and_then(|member| member.why_not.clone());
        let says = why_not.map_or("gives it new clients".into(), |why| format!("gives it no new clients: {why}"));
        say("vserver", &vserver.name, says);
    }
    ServiceExplanationDto { service: service.name, state: service.state, because }
}

/// Where it may have been disabled.
fn levels(world: &World<'_>, id: ServiceId) -> Vec<(Kind, Name)> {
    let service = world.model.service(id);
    let server = service.server.map(|s| (Kind::Server, Name::clone(&world.model.servers[s.index()].name)));
    let group = service.group.map(|g| (Kind::ServiceGroup, Name::clone(&world.model.groups[g.index()].name)));
    [Some((Kind::Service, Name::clone(&service.name))), group, server].into_iter().flatten().collect()
}

fn noted(note: &NoteDto) -> String {
    let reason = note.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{} at {}{reason}", note.actor, note.since)
}
