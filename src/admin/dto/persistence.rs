//! Persistence entries.

use std::sync::Arc;
use std::time::Duration;

use super::text;
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::id::{ServiceId, VserverId};
use crate::model::persistence::{Persistence, PersistenceKind};
use crate::model::vserver::Vserver;
use crate::snapshot::live::{Session, Sessions};

dto! {
    /// Persistence entries, and what is not among them.
    pub struct PersistenceDto {
        pub items: Vec<PersistenceSessionDto>,
        /// Vservers that keep no table, because the client itself says who its member is.
        pub notes: Vec<String>,
    }

    /// One client that is bound to a service.
    pub struct PersistenceSessionDto {
        /// Null for a group's.
        pub vserver: Option<String>,
        pub lb_group: Option<String>,
        /// `SOURCEIP`, `RULE` …; `SPILLOVER`: it spilled, and goes back to the vserver named as its service.
        pub r#type: String,
        /// What it is known by: its network, the value of a rule, its TLS session in hex.
        pub client: String,
        pub service: String,
        /// Time until it ends, unless the client comes back.
        pub left: String,
    }

    /// What was forgotten.
    pub struct ClearedDto {
        pub cleared: u64,
        /// As of the list.
        pub notes: Vec<String>,
    }
}

/// How many clients the tables of its vservers lead to a service, and how long the last stays.
pub(super) fn persistent_clients(world: &World<'_>, id: ServiceId) -> (u64, Duration) {
    let name = &world.model.service(id).name;
    let mut seen: Vec<&Arc<Sessions>> = Vec::new();
    let mut all = (0, Duration::ZERO);
    for vserver in world.snapshot.prepared.vservers_of(id) {
        let sessions = &world.snapshot.vservers[vserver.index()].sessions;
        // An lb group has one table.
        if seen.iter().any(|other| Arc::ptr_eq(other, sessions)) {
            continue;
        }
        seen.push(sessions);
        let (clients, left) = sessions.of_service(name, world.now.tick);
        all = (all.0 + clients as u64, all.1.max(left));
    }
    all
}

/// What the cookies of its vservers do to a drain.
pub(super) fn persistent_note(world: &World<'_>, id: ServiceId) -> Option<String> {
    let member_of = |v: &&Vserver| v.trofs_persistence && v.members.iter().any(|m| m.service == id);
    let mut notes = Vec::new();
    for vserver in world.model.vservers.iter().filter(member_of) {
        let Some(Persistence { kind, timeout, .. }) = &vserver.persistence else { continue };
        match kind {
            PersistenceKind::CookieInsert { .. } if timeout.is_zero() => {
                notes.push(format!("session cookies of vserver {} never end by themselves", vserver.name));
            }
            PersistenceKind::CookieInsert { .. } => notes.push(format!(
                "cookies of vserver {} end {} after a client's last request",
                vserver.name,
                format_duration(*timeout)
            )),
            PersistenceKind::UrlPassive { .. } | PersistenceKind::CustomServerId { .. } => {
                notes.push(format!("requests to vserver {} may name it for ever", vserver.name));
            }
            _ => {}
        }
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

// === impl PersistenceSessionDto ===

impl PersistenceSessionDto {
    pub fn of(world: &World<'_>, id: VserverId, session: &Session) -> PersistenceSessionDto {
        let vserver = world.model.vserver(id);
        let group = vserver.lb_group.map(|group| text(&world.model.lb_groups[group.index()].name));
        let kind = vserver.persistence.as_ref().map_or("NONE", |p| match p.kind {
            // What is behind the cookie.
            PersistenceKind::CookieInsert { .. } => "SOURCEIP",
            _ => p.kind.word(),
        });
        PersistenceSessionDto {
            vserver: group.is_none().then(|| text(&vserver.name)),
            lb_group: group,
            r#type: text(kind),
            client: session.client.to_string(),
            service: text(&session.service),
            left: format_duration(Duration::from_secs(session.left.as_secs())),
        }
    }

    /// Of a client that spilled: its service is the vserver that it goes to.
    pub fn spilled(world: &World<'_>, id: VserverId, session: &Session) -> PersistenceSessionDto {
        PersistenceSessionDto {
            vserver: Some(text(&world.model.vserver(id).name)),
            lb_group: None,
            r#type: "SPILLOVER".into(),
            client: session.client.to_string(),
            service: session.service.to_string(),
            left: format_duration(Duration::from_secs(session.left.as_secs())),
        }
    }

    /// That a vserver keeps no table.
    pub fn note(world: &World<'_>, id: VserverId) -> Option<String> {
        let vserver = world.model.vserver(id);
        let name = &vserver.name;
        let Some(Persistence { kind, backup, .. }) = &vserver.persistence else {
            let spills = vserver.spillover.as_ref().is_some_and(|spillover| spillover.persistence.is_some());
            let own = if spills { " of its own; listed are clients that spilled, and where they go" } else { "" };
            return Some(format!("vserver {name} has no persistence{own}"));
        };
        match kind {
            PersistenceKind::CookieInsert { .. } if backup.is_some() => Some(format!(
                "vserver {name}: cookies are with the clients and not listed; these are the entries of its backup"
            )),
            PersistenceKind::CookieInsert { .. } => {
                Some(format!("vserver {name}: COOKIEINSERT keeps no table; the cookies are with the clients"))
            }
            PersistenceKind::UrlPassive { .. } | PersistenceKind::CustomServerId { .. } => {
                Some(format!("vserver {name}: {} keeps no table; requests name their member", kind.word()))
            }
            _ => None,
        }
    }
}
