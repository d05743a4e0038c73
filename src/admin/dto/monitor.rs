//! Monitors: the definitions, and where they are bound.

use super::{MonitorDto, text};
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::id::{MonitorId, ServiceId};

dto! {
    /// A definition of a monitor.
    pub struct LbMonitorDto {
        pub name: String,
        /// `HTTP`, `TCP-ECV`, …
        pub r#type: String,
        /// There without being configured.
        pub builtin: bool,
        /// `ENABLED` or `DISABLED`: of the definition.
        pub admin: String,
        /// From the start of a probe to that of the next.
        pub interval: String,
        /// Within which an answer must come.
        pub response_timeout: String,
        /// Until a service that is DOWN is probed again.
        pub down_time: String,
        /// Failed probes that make DOWN.
        pub retries: u32,
        /// So many failed ones among the last `retries` do; 0: all must fail, in a row.
        pub failure_retries: u32,
        /// Passed probes in a row that make UP.
        pub success_retries: u32,
        /// A passed probe counts as failed and the other way round.
        pub reverse: bool,
        /// Whether the probe speaks TLS.
        pub secure: bool,
        /// Where probes go instead of to the service's own address and port.
        pub dest_ip: Option<String>,
        pub dest_port: Option<u16>,
        /// What somebody wrote beside it in the configuration.
        pub comment: Option<String>,
        /// Where it is at work.
        pub bindings: Vec<MonitorBindingDto>,
    }

    /// A monitor at work on a service.
    pub struct MonitorBindingDto {
        pub service: String,
        pub monitor: MonitorDto,
    }
}

// === impl LbMonitorDto ===

impl LbMonitorDto {
    pub fn of(world: &World<'_>, id: MonitorId) -> LbMonitorDto {
        let monitor = &world.model.monitors[id.index()];
        let schedule = &monitor.schedule;
        let services = (0..world.model.services.len()).map(ServiceId::from_index);
        let bound = services.flat_map(|service| {
            let monitors = &world.model.service(service).monitors;
            let at = (0..monitors.len()).filter(|&at| monitors[at].monitor == id);
            at.map(move |at| MonitorBindingDto {
                service: text(&world.model.service(service).name),
                monitor: MonitorDto::of(world, service, at),
            })
        });
        LbMonitorDto {
            name: text(&monitor.name),
            r#type: text(monitor.kind.word()),
            builtin: monitor.builtin,
            admin: super::admin_word(monitor.enabled),
            interval: format_duration(schedule.interval),
            response_timeout: format_duration(schedule.timeout),
            down_time: format_duration(schedule.down_time.unwrap_or(schedule.interval)),
            retries: schedule.fall,
            failure_retries: schedule.fall_among.unwrap_or(0),
            success_retries: schedule.rise,
            reverse: schedule.reverse,
            secure: monitor.tls.is_some(),
            dest_ip: monitor.dest_ip.map(|ip| ip.to_string()),
            dest_port: monitor.dest_port,
            comment: monitor.comment.as_deref().map(text),
            bindings: bound.collect(),
        }
    }
}
