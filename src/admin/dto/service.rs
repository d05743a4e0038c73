//! Services, members of service groups, and the groups.

mod drain;
mod probe;

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use super::vserver::LatencyDto;
use super::{AutoScaleDto, NoteDto, TimesDto, admin_word, forced_word, measured, out, text, up_down};
use crate::control::World;
use crate::model::check::Host;
use crate::model::event::Outcome;
use crate::model::id::{GroupId, Kind, ServiceId};
use crate::model::state::{ServiceState, Slot};

pub use drain::{DrainDto, WaitsForDto};
pub use probe::ProbeDto;

dto! {
    /// A service, or a member of a service group (named `GROUP/MEMBER`).
    pub struct ServiceDto {
        /// Unique among services and members.
        pub name: String,
        /// `HTTP` or `TCP`.
        pub r#type: String,
        /// `UP`, `DOWN`, `OFS`, `TROFS`, `TROFS_DOWN` or `UNKNOWN`.
        pub state: String,
        /// What the state would be without a force.
        pub real: String,
        /// `ENABLED`, or `DISABLED` by itself, its group or its server.
        pub admin: String,
        /// What the monitors say together: `up`, `down`, `unknown`; a force applied.
        pub probe: String,
        /// `up`, `down`, or null where nobody forces it.
        pub forced: Option<String>,
        /// How it is going out of service; null where it is not.
        pub drain: Option<DrainDto>,
        /// Requests in flight (HTTP) or open connections (TCP).
        pub active: u32,
        /// When the state was entered.
        pub since: String,
        /// Where connections go: `192.0.2.1:80`; the name while it does not resolve.
        pub address: String,
        /// Whether the address of its server is known.
        pub resolved: bool,
        /// The service group it is a member of.
        pub group: Option<String>,
        /// The server object it stands on.
        pub server: Option<String>,
        /// Limit of open connections or requests in flight; 0: none.
        pub max_client: u32,
        /// Virtual servers that it is bound to.
        pub vservers: Vec<String>,
        /// Bound monitors and how they stand.
        pub monitors: Vec<MonitorDto>,
        /// What they heard last, in short.
        pub probes: Vec<ProbeDto>,
        /// Requests (HTTP) or connections (L4) per second, over the last 14 s.
        pub rate: u64,
        /// How long they took; null before the first.
        pub latency: Option<LatencyDto>,
        /// Who disabled it: itself, or else its group or its server.
        pub disabled_by: Option<NoteDto>,
        /// What was disabled, where it was not the service itself: `server app1`, `service_group web`.
        pub disabled_with: Option<String>,
        /// Who forces it.
        pub forced_by: Option<NoteDto>,
        /// Since start.
        pub requests_total: u64,
        /// Since start.
        pub connect_failures_total: u64,
        /// Why it could not be reached the last time; null: it always could.
        pub connect_failed: Option<String>,
        /// How long ago that was.
        pub connect_failed_ago: Option<String>,
        /// `ejected` while passive health keeps it out of the choice of new clients; null otherwise.
        pub passive: Option<String>,
        /// Time left of the ejection, in whole seconds.
        pub ejected_for: Option<String>,
        /// What it did: `5 failed connects in a row`.
        pub ejected_because: Option<String>,
        /// Since start.
        pub ejections_total: u64,
        /// Its states of the last 48 hours, oldest first; of one service alone, empty in lists.
        pub history: Vec<super::StateChangeDto>,
        /// From clients, since start.
        pub bytes_in_total: u64,
        /// To clients, since start.
        pub bytes_out_total: u64,
        /// Times of its requests (HTTP) or connections (L4), by part.
        pub times: Vec<TimesDto>,
        /// What somebody wrote beside it, or beside its group, in the configuration.
        pub comment: Option<String>,
    }

    /// A monitor bound to a service.
    pub struct MonitorDto {
        /// Its definition.
        pub name: String,
        /// The check made of it, as in `/checks`.
        pub check: String,
        /// `up`, `down`, `unknown`.
        pub state: String,
        /// `ENABLED`, or `DISABLED`: neither probed nor counted.
        pub admin: String,
        /// Counted against the service's monitor threshold.
        pub weight: u32,
        /// Probed and shown, and never takes the service down.
        pub passive: bool,
        /// When the state was entered.
        pub since: String,
        /// Of the last sample.
        pub latency: Option<String>,
        /// What the last sample said.
        pub last_response: Option<String>,
        /// What went wrong with the last sample; null where it passed.
        pub last_error: Option<String>,
        /// Samples taken.
        pub samples_total: u64,
        /// Samples failed.
        pub failed_total: u64,
        /// Failed samples in a row.
        pub failed_in_row: u32,
        /// The average time to an answer, where it is learned.
        pub average: Option<String>,
        /// How busy the server says it is (LOAD).
        pub load: Option<u32>,
        /// Who disabled it.
        pub disabled_by: Option<NoteDto>,
    }

    /// A service group.
    pub struct ServiceGroupDto {
        pub name: String,
        /// `HTTP` or `TCP`.
        pub r#type: String,
        /// The best state among its members: `UP`, `TROFS`, `TROFS_DOWN`, `DOWN`, `UNKNOWN`, `OFS`.
        pub state: String,
        /// `ENABLED`, or `DISABLED` as a whole.
        pub admin: String,
        /// Members that are UP.
        pub up: u32,
        /// In the order of the configuration; those from DNS in that of their addresses.
        pub members: Vec<MemberDto>,
        /// Null where the members stand in the configuration.
        pub auto_scale: Option<AutoScaleDto>,
        /// Virtual servers that it is bound to.
        pub vservers: Vec<String>,
        /// Who disabled the group.
        pub disabled_by: Option<NoteDto>,
        /// What somebody wrote beside it in the configuration.
        pub comment: Option<String>,
    }

    /// A member of a service group.
    pub struct MemberDto {
        /// Its name within the group.
        pub name: String,
        /// Its name among services: `GROUP/MEMBER`.
        pub service: String,
        /// Share in every virtual server that the group is bound to.
        pub weight: u32,
        /// As of a service.
        pub state: String,
        /// As of a service.
        pub admin: String,
        /// As of a service.
        pub probe: String,
        /// As of a service.
        pub drain: Option<DrainDto>,
        /// As of a service.
        pub active: u32,
        /// As of a service.
        pub since: String,
        /// As of a service.
        pub address: String,
        /// The server object it stands on.
        pub server: Option<String>,
        /// As of a service.
        pub forced: Option<String>,
        /// As of a service.
        pub monitors: Vec<MonitorDto>,
        /// Since when its address is not in DNS any more.
        pub leaving_since: Option<String>,
    }
}

// === impl ServiceDto ===

impl ServiceDto {
    pub fn of(world: &World<'_>, id: ServiceId) -> ServiceDto {
        ServiceDto::bound_to(world, id, vservers_with(world, |v| v.members.iter().any(|m| m.service == id)))
    }

    /// Those at these places of the model, in one walk over the vservers.
    pub fn many(world: &World<'_>, range: Range<usize>) -> Vec<ServiceDto> {
        let mut vservers: Vec<Vec<String>> = vec![Vec::new(); range.len()];
        for vserver in &world.model.vservers {
            for member in &vserver.members {
                let at = member.service.index().checked_sub(range.start);
                if let Some(names) = at.and_then(|at| vservers.get_mut(at)) {
                    names.push(text(&vserver.name));
                }
            }
        }
        let shown = range.zip(vservers);
        shown.map(|(at, vservers)| ServiceDto::bound_to(world, ServiceId::from_index(at), vservers)).collect()
    }

    fn bound_to(world: &World<'_>, id: ServiceId, vservers: Vec<String>) -> ServiceDto {
        let service = world.model.service(id);
        let view = &world.view.services[id.index()];
        let entry = world.snapshot.services.get(id.index());
        let live = entry.map(|e| &e.live);
        let total = |f: fn(&crate::snapshot::live::ServiceLive) -> u64| live.map_or(0, |l| f(l));
        let address = entry.and_then(|e| e.address);
        let now = world.now.tick;
        let ejection = live.and_then(|l| l.ejector.ejection(now));
        let ejected = ejection.map(|ejection| ejection.until.since(now));
        let failed = live.and_then(|l| l.connect_failed.lock().clone());
        let times = live.map(|l| TimesDto::all(&l.measured)).unwrap_or_default();
        let (disabled_by, disabled_with) = out::disabled(world, service);
        let resolved = address.is_some() || matches!(service.host, Host::Ip(_));
        ServiceDto {
            name: text(&service.name),
            r#type: text(service.settings.protocol.word()),
            state: text(view.state.word()),
            real: text(view.real.word()),
            admin: admin_word(view.enabled),
            probe: up_down(view.probe),
            forced: forced_word(view.forced),
            drain: DrainDto::of(world, id),
            active: live.map_or(view.active, |l| l.active.load(Relaxed)),
            since: view.since.wall.to_string(),
            address: match (address, &service.host) {
                (Some(address), _) => address.to_string(),
                (None, Host::Ip(ip)) => std::net::SocketAddr::new(*ip, service.port).to_string(),
                (None, Host::Name(name)) => format!("{name}:{}", service.port),
            },
            resolved,
            group: service.group.map(|g| text(&world.model.groups[g.index()].name)),
            server: service.server.map(|s| text(&world.model.servers[s.index()].name)),
            max_client: service.settings.max_client,
            vservers,
            monitors: (0..service.monitors.len()).map(|at| MonitorDto::of(world, id, at)).collect(),
            probes: ProbeDto::all(world, id),
            rate: live.map_or(0, |l| l.rates.requests_per_second(now, l.requests_total.load(Relaxed))),
            latency: LatencyDto::of(&times),
            disabled_by,
            disabled_with,
            forced_by: NoteDto::find(world, Kind::Service, &service.name, Slot::Force),
            requests_total: total(|l| l.requests_total.load(Relaxed)),
            connect_failures_total: total(|l| l.connect_failures_total.load(Relaxed)),
            connect_failed: failed.as_ref().map(|(_, why)| why.clone()),
            connect_failed_ago: failed.map(|(at, _)| format!("{}s", now.since(at).as_secs())),
            passive: ejected.map(|_| text("ejected")),
            ejected_for: ejected.map(|left| format!("{}s", left.as_secs())),
            ejected_because: ejection.map(|ejection| ejection.cause.to_string()),
            ejections_total: total(|l| l.ejector.ejections_total.load(Relaxed)),
            history: Vec::new(),
            bytes_in_total: total(|l| l.bytes_in_total.load(Relaxed)),
            bytes_out_total: total(|l| l.bytes_out_total.load(Relaxed)),
            times,
            comment: service.settings.comment.as_deref().map(text),
        }
    }
}

// === impl MonitorDto ===

impl MonitorDto {
    pub fn of(world: &World<'_>, id: ServiceId, at: usize) -> MonitorDto {
        let binding = &world.model.service(id).monitors[at];
        let view = &world.view.checks[binding.check.index()];
        let failed = view.last.as_ref().filter(|s| matches!(s.outcome, Outcome::Fail | Outcome::Void));
        MonitorDto {
            name: text(&world.model.monitors[binding.monitor.index()].name),
            check: text(&world.model.check(binding.check).name),
            state: up_down(view.state),
            admin: admin_word(!view.disabled),
            weight: binding.weight,
            passive: binding.passive,
            since: view.since.wall.to_string(),
            latency: view.last.as_ref().map(|s| measured(s.latency)),
            last_response: view.last.as_ref().map(|s| text(&s.detail)),
            last_error: failed.map(|s| text(&s.detail)),
            samples_total: view.samples_total,
            failed_total: view.failed_total,
            failed_in_row: view.fails_in_row,
            average: view.learned.map(measured),
            load: view.last.as_ref().and_then(|s| s.load),
            disabled_by: NoteDto::find(world, Kind::Check, &world.model.check(binding.check).name, Slot::Admin),
        }
    }
}

// === impl ServiceGroupDto ===

impl ServiceGroupDto {
    pub fn of(world: &World<'_>, id: GroupId) -> ServiceGroupDto {
        let group = &world.model.groups[id.index()];
        let states = || group.members.iter().map(|m| world.view.services[m.service.index()].state);
        let disabled_by = NoteDto::find(world, Kind::ServiceGroup, &group.name, Slot::Admin);
        ServiceGroupDto {
            name: text(&group.name),
            r#type: text(group.settings.protocol.word()),
            state: text(states().min_by_key(|s| rank(*s)).unwrap_or(ServiceState::Down).word()),
            admin: admin_word(disabled_by.is_none()),
            up: states().filter(|s| *s == ServiceState::Up).count() as u32,
            members: group.members.iter().map(|m| MemberDto::of(world, m)).collect(),
            auto_scale: AutoScaleDto::of(world, id),
            vservers: vservers_with(world, |v| v.groups.contains(&id)),
            disabled_by,
            comment: group.settings.comment.as_deref().map(text),
        }
    }
}

fn leaving_since(world: &World<'_>, member: &crate::model::service::GroupMember) -> Option<String> {
    let service = world.model.service(member.service);
    let Host::Ip(ip) = service.host else { return None };
    let group = &world.model.groups[service.group?.index()].name;
    let leaving = world.membership.get(group)?.get(&std::net::SocketAddr::new(ip, service.port))?.leaving?;
    Some(leaving.since.wall.to_string())
}

/// Best first.
fn rank(state: ServiceState) -> u8 {
    match state {
        ServiceState::Up => 0,
        ServiceState::Trofs => 1,
        ServiceState::TrofsDown => 2,
        ServiceState::Down => 3,
        ServiceState::Unknown => 4,
        ServiceState::OutOfService => 5,
    }
}

fn vservers_with(world: &World<'_>, bound: impl Fn(&crate::model::vserver::Vserver) -> bool) -> Vec<String> {
    world.model.vservers.iter().filter(|v| bound(v)).map(|v| text(&v.name)).collect()
}

// === impl MemberDto ===

impl MemberDto {
    pub fn of(world: &World<'_>, member: &crate::model::service::GroupMember) -> MemberDto {
        let service = ServiceDto::bound_to(world, member.service, Vec::new());
        MemberDto {
            name: text(&member.name),
            service: service.name,
            weight: member.weight,
            state: service.state,
            admin: service.admin,
            probe: service.probe,
            drain: service.drain,
            active: service.active,
            since: service.since,
            address: service.address,
            server: service.server,
            forced: service.forced,
            monitors: service.monitors,
            leaving_since: leaving_since(world, member),
        }
    }
}
