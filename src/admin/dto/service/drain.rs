//! A service on its way out: how long, for whom it waits, who asked for it.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::super::persistence::{persistent_clients, persistent_note};
use super::super::{out, remaining, text};
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::id::ServiceId;
use crate::model::state::DrainKind;

dto! {
    /// A drain: the way from UP or DOWN to OUT OF SERVICE.
    pub struct DrainDto {
        /// `timed`, `graceful`, `both` (whichever ends first), `monitor` (until the monitor's answer changes).
        pub kind: String,
        /// Time left, in whole seconds; null where no time limit is set.
        pub remaining: Option<String>,
        /// When it ends at the latest.
        pub deadline: Option<String>,
        /// The same.
        pub ends_at: Option<String>,
        /// When it began.
        pub started_at: String,
        /// It ends as soon as nobody is on the service.
        pub graceful: bool,
        /// `admin`: a person asked for it; `monitor`: its monitor's answer did.
        pub by: String,
        pub actor: Option<String>,
        pub reason: Option<String>,
        /// Who is still there.
        pub waits_for: WaitsForDto,
        /// Clients that persistence tables still lead here. Of cookies nobody knows how many there are.
        pub persistent_clients: u64,
        /// When the last of them ends, if none comes back.
        pub persistent_left: Option<String>,
        /// What cookies do to this drain: how long they last, or that they never end by themselves.
        pub persistent_note: Option<String>,
    }

    /// What keeps a drain from ending.
    pub struct WaitsForDto {
        /// In flight (HTTP), or open connections (L4).
        pub requests: u32,
        pub persistent_clients: u64,
        /// When the last persistent client is let go of, if none comes back; `never`: cookies lead here that do not
        /// end; null: there is none.
        pub last_expiry: Option<String>,
    }
}

// === impl DrainDto ===

impl DrainDto {
    /// The drain of a service; `None` where it does not drain.
    pub fn of(world: &World<'_>, id: ServiceId) -> Option<DrainDto> {
        let view = &world.view.services[id.index()];
        let drain = view.drain.as_ref()?;
        let (clients, left) = persistent_clients(world, id);
        let left = Duration::from_secs(left.as_secs());
        let note = persistent_note(world, id);
        let by_monitor = drain.kind == DrainKind::Monitor;
        let by = if by_monitor { None } else { out::disabled(world, world.model.service(id)).0 };
        let live = world.snapshot.services.get(id.index()).map(|entry| entry.live.active.load(Relaxed));
        let endless = note.as_deref().is_some_and(|note| note.contains("never") || note.contains("for ever"));
        let last_expiry = (clients > 0).then(|| (world.now.wall + left).to_string());
        Some(DrainDto {
            kind: text(drain_word(drain.kind)),
            remaining: drain.deadline.map(|at| remaining(world.now.wall, at)),
            deadline: drain.deadline.map(|at| at.to_string()),
            ends_at: drain.deadline.map(|at| at.to_string()),
            started_at: drain.started_at.to_string(),
            graceful: matches!(drain.kind, DrainKind::Graceful | DrainKind::TimedGraceful),
            by: (if by_monitor { "monitor" } else { "admin" }).into(),
            actor: by.as_ref().map(|note| note.actor.clone()),
            reason: by.and_then(|note| note.reason),
            waits_for: WaitsForDto {
                requests: live.unwrap_or(view.active),
                persistent_clients: clients,
                last_expiry: if endless { Some("never".into()) } else { last_expiry },
            },
            persistent_clients: clients,
            persistent_left: (clients > 0).then(|| format_duration(left)),
            persistent_note: note,
        })
    }
}

/// REST's word for the kind of a drain.
fn drain_word(kind: DrainKind) -> &'static str {
    match kind {
        DrainKind::Timed => "timed",
        DrainKind::Graceful => "graceful",
        DrainKind::TimedGraceful => "both",
        DrainKind::Monitor => "monitor",
    }
}
