//! Names of servers, and groups whose members come from them.

use super::text;
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::id::GroupId;
use crate::model::lookup::{MEMBERS_MOST, Question};

dto! {
    /// What DNS says about the name of a server.
    pub struct ResolutionDto {
        /// What is asked.
        pub name: String,
        /// `A+AAAA` (A, and AAAA where there is no A), `A`, `AAAA` or `SRV`.
        pub query_type: String,
        /// Of the last good answer, which stays in force while none comes; with the port for SRV.
        pub addresses: Vec<String>,
        /// Of the last good answer.
        pub ttl: Option<String>,
        /// When it came; null where none ever did.
        pub answered_at: Option<String>,
        /// How old it is, in whole seconds.
        pub age: Option<String>,
        /// Why the last attempt failed; null where it did not.
        pub error: Option<String>,
        /// When the failures began.
        pub failing_since: Option<String>,
    }

    /// How the members of a group come from DNS.
    pub struct AutoScaleDto {
        /// `DNS`.
        pub kind: String,
        /// How long a member drains whose address is gone from DNS.
        pub auto_disable_delay: String,
        /// Whether that drain ends when its clients are gone.
        pub auto_disable_graceful: bool,
        /// Whether it serves on before that for the response time-out of its monitors.
        pub auto_delayed_trofs: bool,
        /// Members that it may have.
        pub members_most: u32,
        pub sources: Vec<SourceDto>,
    }

    /// A name that members come from.
    pub struct SourceDto {
        /// As a member of the group.
        pub name: String,
        pub server: Option<String>,
        /// Null for SRV, whose records say it.
        pub port: Option<u16>,
        pub resolution: Option<ResolutionDto>,
    }
}

// === impl ResolutionDto ===

impl ResolutionDto {
    /// `None`: nobody asks.
    pub fn of(world: &World<'_>, question: &Question) -> Option<ResolutionDto> {
        let known = world.names.get(question)?;
        let found = known.answer.iter().flat_map(|answer| &answer.found);
        let addresses = found.map(|found| match &found.srv {
            None => found.address.to_string(),
            Some(srv) => std::net::SocketAddr::new(found.address, srv.port).to_string(),
        });
        let age = known.answered_at.map(|at| world.now.wall.since(at));
        Some(ResolutionDto {
            name: text(&question.name),
            query_type: text(question.query.word()),
            addresses: addresses.collect(),
            ttl: known.answer.as_ref().map(|answer| format_duration(answer.ttl)),
            answered_at: known.answered_at.map(|at| at.to_string()),
            age: age.map(|age| format!("{}s", age.as_secs())),
            error: known.error.as_deref().map(text),
            failing_since: known.failing_since.map(|at| at.to_string()),
        })
    }
}

// === impl AutoScaleDto ===

impl AutoScaleDto {
    pub fn of(world: &World<'_>, group: GroupId) -> Option<AutoScaleDto> {
        let auto = world.model.groups[group.index()].auto_scale.as_ref()?;
        let source = |source: &crate::model::service::Source| SourceDto {
            name: text(&source.name),
            server: source.server.map(|id| text(&world.model.servers[id.index()].name)),
            port: source.port,
            resolution: ResolutionDto::of(world, &source.question),
        };
        Some(AutoScaleDto {
            kind: text("DNS"),
            auto_disable_delay: format_duration(auto.disable_delay),
            auto_disable_graceful: auto.disable_graceful,
            auto_delayed_trofs: auto.delayed_trofs,
            members_most: MEMBERS_MOST as u32,
            sources: auto.sources.iter().map(source).collect(),
        })
    }
}
