//! What leaves through REST: one plain structure for each kind of object, built from a [`World`] by pure functions.
//! The dashboard, the shell and outside programs read the same fields, so a field exists once or not at all.
//!
//! Every structure is declared with `dto!`, which makes of the same lines the Rust type, its JSON and its schema in
//! the OpenAPI document: the three cannot drift apart.
//!
//! Durations are texts as in the configuration (`28s`), times RFC 3339 in UTC, absent values `null`.

/// Declares structures together with their JSON form and their OpenAPI schema.
macro_rules! dto {
    ($(
        $(#[doc = $doc:literal])*
        pub struct $name:ident {
            $( $(#[doc = $field_doc:literal])* pub $field:ident : $type:ty, )*
        }
    )+) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[allow(non_snake_case)]
        pub struct $name {
            $( $(#[doc = $field_doc])* pub $field: $type, )*
        }

        impl $crate::admin::dto::Schema for $name {
            fn schema(components: &mut serde_json::Map<String, serde_json::Value>) -> serde_json::Value {
                let component = stringify!($name).trim_end_matches("Dto");
                if !components.contains_key(component) {
                    components.insert(component.into(), serde_json::Value::Null);
                    let mut properties = serde_json::Map::new();
                    $(
                        let description = concat!($($field_doc,)*).trim();
                        let schema = <$type as $crate::admin::dto::Schema>::schema(components);
                        properties.insert(
                            stringify!($field).trim_start_matches("r#").into(),
                            $crate::admin::dto::described(schema, description),
                        );
                    )*
                    let required: Vec<&String> = properties.keys().collect();
                    let schema = serde_json::json!({
                        "type": "object",
                        "description": concat!($($doc,)*).trim(),
                        "required": required,
                        "properties": properties,
                    });
                    components.insert(component.into(), schema);
                }
                serde_json::json!({ "$ref": format!("#/components/schemas/{component}") })
            }
        }
    )+};
}

mod ahead;
mod alert;
mod certificate;
mod check;
mod connection;
mod datacenter;
mod delivery;
mod drill;
mod first_boot;
mod history;
mod machine;
mod management;
mod monitor;
mod out;
mod pair;
mod peer;
mod persistence;
mod policy;
mod preview;
mod resolution;
mod rule;
mod scenario;
mod schema;
mod server;
mod service;
mod shipping;
mod stats;
mod status;
mod switch;
mod transfer;
mod trigger;
mod vserver;
mod zone;

use std::time::Duration;

use serde_json::Value;

use crate::config::units::format_duration;
use crate::config::{Problem, Severity};
use crate::control::World;
use crate::model::Model;
use crate::model::condition::Truth;
use crate::model::id::{Kind, ObjectRef};
use crate::model::state::{Override, OverrideKey, Slot};
use crate::model::time::{Tick, Wall};

pub use alert::{AlertDto, AlertTriggerDto};
pub use certificate::CertificateDto;
pub(crate) use certificate::left as certificate_left;
pub use check::{CheckDto, CheckHistoryDto, CheckTargetDto, PastSampleDto, PercentilesDto};
pub use connection::ConnectionDto;
pub use datacenter::{DatacenterDto, SignalDto, SignalTargetDto, SignalsDto};
pub use delivery::{DeliveryAttemptDto, DeliveryDto};
pub use drill::{DrillCommitDto, DrillDto, DrillModesDto, DrillTriggerDto};
pub use first_boot::FirstBootDto;
pub use history::{HistoryDto, MarkDto, StateChangeDto};
pub use machine::{LinkDto, MachineDto, RoomDto};
pub use management::ManagementDto;
pub use monitor::{LbMonitorDto, MonitorBindingDto};
pub use pair::{PairDto, PairScenarioDto, PairSignalDto};
pub use peer::{PeerDatacenterDto, PeerDifferenceDto, PeerDto, PeerLineDto};
pub use persistence::{ClearedDto, PersistenceDto, PersistenceSessionDto};
pub use policy::{PolicyBindingDto, PolicyDto};
pub use preview::{
    LeftOutDto, PreviewAnswerDto, PreviewDto, PreviewGuardDto, PreviewLoadDto, PreviewTransitionDto, PreviewTriggerDto,
};
pub use resolution::{AutoScaleDto, ResolutionDto, SourceDto};
pub use rule::RuleDto;
pub use scenario::{
    AffectedDto, AttemptDto, DirectionsDto, GateDto, GatesDto, GroupDto, GuardDto, GuardRulesDto, GuardsDto, HoldDto,
    MeasureDto, ModeDetailsDto, ModeDto, ModesDto, NextDto, ResolversDto, RunDto, ScenarioDto, TermDto, TransitionDto,
    TransitionGroupDto, TransitionTermDto, TransitionTriggerDto, TriggerNamesDto,
};
pub use schema::Schema;
pub(crate) use schema::described;
pub use server::ServerDto;
pub use service::{DrainDto, MemberDto, MonitorDto, ProbeDto, ServiceDto, ServiceGroupDto, WaitsForDto};
pub use shipping::ShippingDto;
pub use stats::{ApdexDto, EndingDto, FlowDto, StatsDto, TimesDto};
pub use status::{
    ClockDto, ConfigDto, DrainingDto, JournalEntryDto, NextMoveDto, OverrideDto, ProblemDto, StatusDto, VerdictDto,
};
pub use switch::SwitchDto;
pub use transfer::ZoneTransferDto;
pub use trigger::{QueryDto, TriggerDto};
pub use vserver::{LatencyDto, SpilloverDto, VserverDto, VserverMemberDto};
pub use zone::{AnswerDto, RecordDto, RrsetDto, ServedDto, ZoneDto};

dto! {
    /// Something wrong with a configuration, or worth knowing about it.
    pub struct ConfigProblemDto {
        pub file: String,
        /// 1-based; 0 where the problem has no place.
        pub line: u32,
        pub column: u32,
        /// `error` or `warning`.
        pub severity: String,
        /// Dotted path of the key.
        pub path: String,
        pub what: String,
        /// The nearest known spelling.
        pub did_you_mean: Option<String>,
    }

    /// Who did something, when, why, and until when.
    pub struct NoteDto {
        /// `admin:NAME`, `admin:local` (no users configured), `uid:N` (Unix socket), `system`, `dns` (the address of a
        /// member is gone from DNS).
        pub actor: String,
        /// When it was done.
        pub since: String,
        /// Why, where it was said.
        pub reason: Option<String>,
        /// When it ends by itself.
        pub expires: Option<String>,
    }
}

/// `{"items": [...]}`: how every collection answers.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Items<T> {
    pub items: Vec<T>,
}

// === words shared by all kinds ===

/// A name as one segment of a path: everything but unreserved characters (RFC 3986 §2.3) percent-encoded.
pub(crate) fn path_segment(name: &str) -> String {
    let mut segment = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => segment.push(char::from(byte)),
            _ => segment.push_str(&format!("%{byte:02X}")),
        }
    }
    segment
}

/// `up`, `down`, `unknown`.
pub(crate) fn up_down(value: Truth) -> String {
    match value {
        Truth::True => "up",
        Truth::False => "down",
        Truth::Unknown => "unknown",
    }
    .into()
}

/// `up`, `down`, or nothing where nobody forces it.
pub(crate) fn forced_word(forced: Option<bool>) -> Option<String> {
    forced.map(|up| if up { "up" } else { "down" }.into())
}

/// NetScaler's administrative state.
pub(crate) fn admin_word(enabled: bool) -> String {
    if enabled { "ENABLED" } else { "DISABLED" }.into()
}

/// Seconds left, rounded up: a countdown that shows 0s is over.
pub(crate) fn remaining(now: Wall, deadline: Wall) -> String {
    let left = deadline.since(now);
    format_duration(Duration::from_secs(left.as_secs() + u64::from(left.subsec_nanos() > 0)))
}

/// A measured duration, to the microsecond below 10 ms and to the millisecond above: `1.427ms`, `38ms`, `1.204s`.
pub(crate) fn measured(duration: Duration) -> String {
    match duration.as_micros() {
        us @ 0..10_000 => format!("{}.{:03}ms", us / 1_000, us % 1_000),
        us @ 10_000..1_000_000 => format!("{}ms", us / 1_000),
        us => format!("{}.{:03}s", us / 1_000_000, us / 1_000 % 1_000),
    }
}

/// When a monotonic deadline is due by the wall clock.
pub(crate) fn wall_of(world: &World<'_>, tick: Tick) -> Wall {
    world.now.wall + tick.since(world.now.tick)
}

pub(crate) fn text(name: impl AsRef<str>) -> String {
    name.as_ref().to_owned()
}

/// What a person set on an object, if anything.
pub(crate) fn override_of<'a>(world: &World<'a>, kind: Kind, name: &str, slot: Slot) -> Option<&'a Override> {
    world.view.overrides.get(&OverrideKey { object: ObjectRef::new(kind, name), slot })
}

/// An object as REST shows it; `None` where the model has none of this name.
pub(crate) fn json_of(world: &World<'_>, object: &ObjectRef) -> Option<Value> {
    let (model, name) = (world.model, &object.name);
    let shown = match object.kind {
        Kind::Check => serde_json::to_value(CheckDto::of(world, model.check_id(name)?)),
        Kind::Server => serde_json::to_value(ServerDto::of(world, model.server_id(name)?)),
        Kind::Service => serde_json::to_value(ServiceDto::of(world, model.service_id(name)?)),
        Kind::ServiceGroup => serde_json::to_value(ServiceGroupDto::of(world, model.group_id(name)?)),
        Kind::Vserver => serde_json::to_value(VserverDto::of(world, model.vserver_id(name)?)),
        Kind::Scenario => serde_json::to_value(ScenarioDto::of(world, model.scenario_id(name)?)),
        Kind::Switch => serde_json::to_value(SwitchDto::of(world, model.switch_id(name)?)),
        Kind::Peer => serde_json::to_value(PeerDto::of(world, model.peer(name)?)),
        Kind::Pair => {
            let at = model.pairs.iter().position(|pair| pair.name == *name)?;
            serde_json::to_value(PairDto::of(world, at))
        }
    };
    shown.ok()
}

/// A zone as REST shows it.
pub(crate) fn json_of_zone(world: &World<'_>, name: &str) -> Option<Value> {
    let at = world.model.zones.iter().position(|zone| *zone.name == *name)?;
    serde_json::to_value(ZoneDto::of(world, at)).ok()
}

/// The names of a kind.
pub(crate) fn names_of(model: &Model, kind: Kind) -> Vec<&str> {
    match kind {
        Kind::Check => model.checks.iter().map(|o| &*o.name).collect(),
        Kind::Server => model.servers.iter().map(|o| &*o.name).collect(),
        Kind::Service => model.services.iter().map(|o| &*o.name).collect(),
        Kind::ServiceGroup => model.groups.iter().map(|o| &*o.name).collect(),
        Kind::Vserver => model.vservers.iter().map(|o| &*o.name).collect(),
        Kind::Scenario => model.scenarios.iter().map(|o| &*o.name).collect(),
        Kind::Switch => model.switches.iter().map(|o| &*o.name).collect(),
        Kind::Peer => model.peers.iter().map(|o| &*o.name).collect(),
        Kind::Pair => model.pairs.iter().map(|o| &*o.name).collect(),
    }
}

// === impl ConfigProblemDto ===

impl ConfigProblemDto {
    pub fn of(problem: &Problem) -> ConfigProblemDto {
        ConfigProblemDto {
            file: text(&problem.file),
            line: problem.line,
            column: problem.column,
            severity: match problem.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            }
            .into(),
            path: problem.path.clone(),
            what: problem.what.clone(),
            did_you_mean: problem.did_you_mean.clone(),
        }
    }
}

// === impl NoteDto ===

impl NoteDto {
    pub(crate) fn of(set: &Override) -> NoteDto {
        NoteDto {
            actor: text(&set.act.actor),
            since: set.since.to_string(),
            reason: set.act.reason.as_deref().map(text),
            expires: set.act.expires.map(|at| at.to_string()),
        }
    }

    /// Of the override in this slot.
    pub(crate) fn find(world: &World<'_>, kind: Kind, name: &str, slot: Slot) -> Option<NoteDto> {
        override_of(world, kind, name, slot).map(NoteDto::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_segment_of_a_path_whatever_it_holds() {
        assert_eq!(path_segment("spare/spare1"), "spare%2Fspare1");
        assert_eq!(path_segment("dc-a.maintenance"), "dc-a.maintenance");
        assert_eq!(path_segment("web1:web ok?#"), "web1%3Aweb%20ok%3F%23");
    }

    #[test]
    fn a_countdown_shows_whole_seconds_and_ends_at_nothing() {
        assert_eq!(remaining(Wall(0), Wall(28_000_000)), "28s");
        assert_eq!(remaining(Wall(1), Wall(28_000_000)), "28s");
        assert_eq!(remaining(Wall(28_000_000), Wall(28_000_000)), "0s");
        assert_eq!(remaining(Wall(28_000_001), Wall(28_000_000)), "0s");
    }

    #[test]
    fn a_latency_is_as_exact_as_it_is_short() {
        assert_eq!(measured(Duration::from_nanos(1_234_567)), "1.234ms");
        assert_eq!(measured(Duration::from_micros(12_345)), "12ms");
        assert_eq!(measured(Duration::from_millis(1_204)), "1.204s");
        for shown in ["0.007ms", "1.234ms", "12ms", "1.204s"] {
            assert!(crate::config::units::parse_duration(shown).is_ok(), "{shown} reads back");
        }
    }
}
