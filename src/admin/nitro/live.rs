//! What is going on, in NITRO's words: run states, health, times of change, what monitors said. Laid over what the
//! configuration says of an object.
//!
//! NITRO writes its `<Double>` attributes as text and its `<Integer>` ones as numbers; [`double`] is the first kind.

use std::time::Duration;

use serde_json::Value;

use super::answer::Object;
use crate::admin::dto::override_of;
use crate::control::World;
use crate::model::check::Host;
use crate::model::condition::Truth;
use crate::model::event::Outcome;
use crate::model::id::{GroupId, Kind, ServerId, ServiceId, VserverId};
use crate::model::limit::SpilloverMethod;
use crate::model::state::{DrainKind, NewClients, ServiceState, Slot};
use crate::model::time::{Now, Wall};
use crate::model::vserver::Role;

/// A `<Double>`.
pub(super) fn double(number: impl ToString) -> Value {
    number.to_string().into()
}

pub(super) fn put(object: &mut Object, key: &str, value: impl Into<Value>) {
    object.insert(key.into(), value.into());
}

pub(super) fn on_off(enabled: bool) -> &'static str {
    if enabled { "ENABLED" } else { "DISABLED" }
}

pub(super) fn yes_no(yes: bool) -> &'static str {
    if yes { "YES" } else { "NO" }
}

/// `Tue Dec 19 10:34:02 2023`, in UTC.
pub(super) fn date(at: Wall) -> String {
    let moment = jiff::Timestamp::from_microsecond(at.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    moment.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

/// The attributes that say when the state was entered.
pub(super) fn put_change(object: &mut Object, world: &World<'_>, since: Now) {
    put(object, "statechangetimesec", date(since.wall));
    put(object, "statechangetimeseconds", double(since.wall.0.div_euclid(1_000_000)));
    put(object, "statechangetimemsec", double(since.wall.0.div_euclid(1_000).rem_euclid(1_000)));
    put(object, "tickssincelaststatechange", double(world.now.wall.since(since.wall).as_millis() / 10));
}

/// Whether somebody disabled it at run time.
pub(super) fn is_disabled(world: &World<'_>, kind: Kind, name: &str) -> bool {
    override_of(world, kind, name, Slot::Admin).is_some()
}

/// Lays the state of a vserver of either role over `object`.
pub(super) fn vserver(world: &World<'_>, id: VserverId, object: &mut Object) {
    let (vserver, view) = (world.model.vserver(id), &world.view.vservers[id.index()]);
    let states = || vserver.members.iter().map(|m| world.view.services[m.service.index()].state);
    let up = states().filter(|state| *state == ServiceState::Up).count();
    put(object, "curstate", view.state.long_word());
    put(object, "effectivestate", view.effective.long_word());
    put(object, "status", if up > 0 { 2 } else { 1 });
    put(object, "lbrrreason", 0);
    put(object, "health", double(view.health_percent));
    put(object, "totalservices", double(vserver.members.len()));
    put(object, "activeservices", double(up));
    put(object, "type", if matches!(vserver.role, Role::Cs { .. }) { "CONTENT" } else { "ADDRESS" });
    put(object, "isgslb", false);
    if let NewClients::Backup(_) = view.new_clients {
        put(object, "backupvserverstatus", "(Backup Active)");
    }
    if matches!(vserver.spillover.as_ref().map(|s| &s.method), Some(SpilloverMethod::DynamicConnection)) {
        let up = vserver.members.iter().map(|m| m.service);
        let up = up.filter(|s| world.view.services[s.index()].state == ServiceState::Up);
        let most: u64 = up.map(|s| u64::from(world.model.service(s).settings.max_client)).sum();
        put(object, "vsvrdynconnsothreshold", double(most));
    }
    put_change(object, world, view.since);
}

/// Lays the state of a service or member over `object`.
pub(super) fn service(world: &World<'_>, id: ServiceId, object: &mut Object) {
    let view = &world.view.services[id.index()];
    put(object, "svrstate", view.state.long_word());
    put(object, "numofconnections", active(world, id));
    put(object, "serviceconftype", true);
    put_drain(object, world, id);
    put_change(object, world, view.since);
}

/// Requests in flight or open connections, now.
pub(super) fn active(world: &World<'_>, id: ServiceId) -> u32 {
    let live = world.snapshot.services.get(id.index()).map(|entry| &entry.live);
    let counted = live.map(|live| live.active.load(std::sync::atomic::Ordering::Relaxed));
    counted.unwrap_or(world.view.services[id.index()].active)
}

/// `delay` counts down; without a drain it is 0.
pub(super) fn put_drain(object: &mut Object, world: &World<'_>, id: ServiceId) {
    let drain = world.view.services[id.index()].drain.as_ref();
    let left = drain.and_then(|drain| drain.deadline).map_or(Duration::ZERO, |at| at.since(world.now.wall));
    put(object, "delay", double(left.as_millis().div_ceil(1_000)));
    let graceful = drain.is_some_and(|d| matches!(d.kind, DrainKind::Graceful | DrainKind::TimedGraceful));
    put(object, "graceful", yes_no(graceful));
    if let Some(drain) = drain {
        let by_monitor = drain.kind == DrainKind::Monitor;
        put(object, "trofsreason", if by_monitor { "monitor" } else { "administrative" });
    }
}

/// Lays the state of a group over `object`.
pub(super) fn group(world: &World<'_>, id: GroupId, object: &mut Object) {
    let group = &world.model.groups[id.index()];
    let states: Vec<ServiceState> =
        group.members.iter().map(|m| world.view.services[m.service.index()].state).collect();
    let disabled = is_disabled(world, Kind::ServiceGroup, &group.name);
    put(object, "state", on_off(!disabled));
    put(object, "servicegroupeffectivestate", group_word(&states, disabled));
    put(object, "monstate", "ENABLED");
    put(object, "numofconnections", group.members.iter().map(|m| active(world, m.service)).sum::<u32>());
    put(object, "groupcount", double(group.members.len()));
    put(object, "serviceconftype", true);
}

/// Members that are out of service do not count, unless all of them are.
fn group_word(states: &[ServiceState], disabled: bool) -> &'static str {
    let counted: Vec<_> = states.iter().filter(|state| **state != ServiceState::OutOfService).collect();
    let up = counted.iter().filter(|state| ***state == ServiceState::Up).count();
    match (counted.len(), up) {
        (0, _) if disabled || !states.is_empty() => "OUT OF SERVICE",
        (0, _) => "DOWN",
        (all, up) if all == up => "UP",
        (_, 1..) => "PARTIAL-UP",
        _ if counted.iter().any(|state| state.is_draining()) => "PARTIAL-DOWN",
        _ => "DOWN",
    }
}

/// Lays the state of a server over `object`.
pub(super) fn server(world: &World<'_>, id: ServerId, object: &mut Object) {
    let server = &world.model.servers[id.index()];
    put(object, "state", on_off(!is_disabled(world, Kind::Server, &server.name)));
    if let Host::Name(_) = server.address {
        let standing = world.model.services.iter().position(|service| service.server == Some(id));
        let resolved = standing.and_then(|at| world.snapshot.services.get(at)?.address);
        if let Some(address) = resolved {
            put(object, "ipaddress", address.ip().to_string());
        }
    }
}

/// Address and port of a service: of a server by name what DNS said, `0.0.0.0` while it said nothing.
pub(super) fn endpoint(world: &World<'_>, id: ServiceId) -> (String, u16) {
    let service = world.model.service(id);
    let address = world.snapshot.services.get(id.index()).and_then(|entry| entry.address);
    match (&service.host, address) {
        (Host::Ip(ip), _) => (ip.to_string(), service.port),
        (Host::Name(_), Some(address)) => (address.ip().to_string(), address.port()),
        (Host::Name(_), None) => ("0.0.0.0".into(), service.port),
    }
}

/// How a monitor stands on a service, in the words of `service_lbmonitor_binding`.
pub(super) fn monitor(world: &World<'_>, id: ServiceId, at: usize) -> Object {
    let service = world.model.service(id);
    let binding = &service.monitors[at];
    let view = &world.view.checks[binding.check.index()];
    let mut object = Object::new();
    put(&mut object, "name", &*service.name);
    put(&mut object, "monitor_name", &*world.model.monitors[binding.monitor.index()].name);
    put(&mut object, "monstate", on_off(!view.disabled));
    put(&mut object, "monitor_state", truth(view.state));
    put(&mut object, "weight", double(binding.weight));
    put(&mut object, "passive", binding.passive);
    put(&mut object, "dup_state", on_off(!view.disabled));
    put(&mut object, "dup_weight", double(binding.weight));
    put(&mut object, "totalprobes", double(view.samples_total));
    put(&mut object, "totalfailedprobes", double(view.failed_total));
    put(&mut object, "failedprobes", double(view.fails_in_row));
    put(&mut object, "monitortotalprobes", double(view.samples_total));
    put(&mut object, "monitortotalfailedprobes", double(view.failed_total));
    put(&mut object, "monitorcurrentfailedprobes", double(view.fails_in_row));
    put(&mut object, "monstatcode", 0);
    let last = view.last.as_ref();
    let said = last.map_or_else(
        || "Probing: ON".to_owned(),
        |last| {
            let word = if matches!(last.outcome, Outcome::Fail | Outcome::Void) { "Failure" } else { "Success" };
            format!("{word} - {}", last.detail)
        },
    );
    put(&mut object, "lastresponse", said);
    put(&mut object, "responsetime", double(last.map_or(0, |last| last.latency.as_millis())));
    object
}

pub(super) fn truth(value: Truth) -> &'static str {
    match value {
        Truth::True => "UP",
        Truth::False => "DOWN",
        Truth::Unknown => "UNKNOWN",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_as_good_as_its_members_in_service() {
        use ServiceState::{Down, OutOfService, Trofs, Up};
        for (states, disabled, word) in [
            (vec![Up, Up], false, "UP"),
            (vec![Up, OutOfService], false, "UP"),
            (vec![Up, Down], false, "PARTIAL-UP"),
            (vec![Trofs, Down], false, "PARTIAL-DOWN"),
            (vec![Down, Down], false, "DOWN"),
            (vec![OutOfService, OutOfService], false, "OUT OF SERVICE"),
            (vec![], true, "OUT OF SERVICE"),
            (vec![], false, "DOWN"),
        ] {
            assert_eq!(group_word(&states, disabled), word, "{states:?}");
        }
    }

    #[test]
    fn a_date_is_written_as_c_does() {
        assert_eq!(date(Wall(1_702_982_042_000_000)), "Tue Dec 19 10:34:02 2023");
        assert_eq!(date(Wall(0)), "Thu Jan  1 00:00:00 1970");
    }
}
