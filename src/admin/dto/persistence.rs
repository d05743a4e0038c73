//! Persistence entries.

use super::text;
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::id::VserverId;
use crate::model::persistence::{Persistence, PersistenceKind};
use crate::snapshot::live::Session;

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
        /// `SOURCEIP`, `RULE` …
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
            left: format_duration(std::time::Duration::from_secs(session.left.as_secs())),
        }
    }

    /// That a vserver keeps no table.
    pub fn note(world: &World<'_>, id: VserverId) -> Option<String> {
        let vserver = world.model.vserver(id);
        let name = &vserver.name;
        let Some(Persistence { kind, backup, .. }) = &vserver.persistence else {
            return Some(format!("vserver {name} has no persistence"));
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
