//! Counters of vservers, services, groups and members.

use std::time::Duration;

use serde_json::Value;

use super::super::answer::Object;
use super::super::live::{self, double, put};
use super::Seen;
use crate::control::World;
use crate::model::id::{GroupId, Kind, ServerId, ServiceId, VserverId};
use crate::model::limit::SpilloverMethod;
use crate::model::service::GroupMember;
use crate::model::state::ServiceState;
use crate::snapshot::live::stats::Flow;
use crate::snapshot::live::{Interval, Listening, Stats};

/// `with_members`: and the statistics of what is bound to it, services and members of groups.
pub(super) fn vserver(world: &Seen<'_>, id: VserverId, with_members: bool) -> Object {
    let (vserver, view) = (world.model.vserver(id), &world.view.vservers[id.index()]);
    let states = || vserver.members.iter().map(|m| world.view.services[m.service.index()].state);
    let up = states().filter(|state| *state == ServiceState::Up).count();
    let stats = world.cleared.vserver(world, id).0;
    let mut object = Object::new();
    put(&mut object, "name", &*vserver.name);
    put_address(&mut object, world, id);
    put(&mut object, "type", vserver.protocol.word());
    put(&mut object, "state", view.state.long_word());
    put(&mut object, "vslbhealth", double(view.health_percent));
    put(&mut object, "actsvcs", double(up));
    put(&mut object, "inactsvcs", double(vserver.members.len() - up));
    put_client_side(&mut object, &stats);
    put(&mut object, "curpersistencesessions", double(stats.persistence_sessions));
    put(&mut object, "curbackuppersistencesessions", double(stats.backup_persistence_sessions));
    put(&mut object, "surgecount", double(stats.surge_count));
    put(&mut object, "svcsurgecount", double(0));
    put(&mut object, "vsvrsurgecount", double(stats.surge_count));
    put(&mut object, "sothreshold", double(threshold(vserver.spillover.as_ref().map(|s| &s.method))));
    if with_members {
        let services = vserver.services.iter().map(|m| service(world, m.service)).collect();
        put_list(&mut object, "service", services);
        let groups = vserver.groups.iter();
        let members =
            groups.flat_map(|id| world.model.groups[id.index()].members.iter().map(|m| member(world, *id, m)));
        put_list(&mut object, "servicegroupmember", members.collect());
    }
    object
}

/// A list without entries is not there.
fn put_list(object: &mut Object, key: &str, list: Vec<Object>) {
    if !list.is_empty() {
        object.insert(key.into(), list.into_iter().map(Value::Object).collect());
    }
}

pub(super) fn csvserver(world: &Seen<'_>, id: VserverId) -> Object {
    let (vserver, view) = (world.model.vserver(id), &world.view.vservers[id.index()]);
    let mut object = Object::new();
    put(&mut object, "name", &*vserver.name);
    put_address(&mut object, world, id);
    put(&mut object, "type", vserver.protocol.word());
    put(&mut object, "state", view.state.long_word());
    put_client_side(&mut object, &world.cleared.vserver(world, id).0);
    put(&mut object, "sothreshold", double(0));
    object
}

fn threshold(method: Option<&SpilloverMethod>) -> u64 {
    match method {
        Some(SpilloverMethod::Health { threshold }) => (*threshold).into(),
        Some(SpilloverMethod::Connection { threshold }) => (*threshold).into(),
        // kbit/s, as it is configured there.
        Some(SpilloverMethod::Bandwidth { threshold }) => threshold / 1_000,
        _ => 0,
    }
}

/// Where it listens, with the real port where 0 was asked.
fn put_address(object: &mut Object, world: &World<'_>, id: VserverId) {
    let live = world.snapshot.vservers.get(id.index()).map(|entry| entry.live.listen.lock().clone());
    let address = match live {
        Some(Listening::Bound { address, .. }) => Some(address),
        _ => world.model.vserver(id).address,
    };
    put(object, "primaryipaddress", address.map_or("0.0.0.0".to_owned(), |a| a.ip().to_string()));
    put(object, "primaryport", address.map_or(0, |a| a.port()));
}

/// A total as text, and how fast it grows as a number.
fn put_flow(object: &mut Object, total: &str, rate: &str, flow: Flow) {
    put(object, total, double(flow.total));
    put(object, rate, flow.per_second);
}

fn put_traffic(object: &mut Object, stats: &Stats) {
    put_flow(object, "totalrequests", "requestsrate", stats.requests);
    put_flow(object, "totalresponses", "responsesrate", stats.responses);
    put_flow(object, "totalrequestbytes", "requestbytesrate", stats.bytes_in);
    put_flow(object, "totalresponsebytes", "responsebytesrate", stats.bytes_out);
    put(object, "totalpktsrecvd", double(stats.packets_in));
    put(object, "pktsrecvdrate", 0);
    put(object, "totalpktssent", double(stats.packets_out));
    put(object, "pktssentrate", 0);
    put(object, "curclntconnections", double(stats.client_connections));
    put(object, "cursrvrconnections", double(stats.server_connections));
    let apdex = stats.apdex.unwrap_or_default();
    put(object, "toleratingttlbtransactions", double(apdex.tolerating));
    put(object, "frustratingttlbtransactions", double(apdex.frustrated));
    put(object, "toleratingttlbtransactionsrate", 0);
    put(object, "frustratingttlbtransactionsrate", 0);
}

/// What vservers of both roles count.
fn put_client_side(object: &mut Object, stats: &Stats) {
    put(object, "establishedconn", double(stats.client_connections));
    put_flow(object, "tothits", "hitsrate", stats.requests);
    put_traffic(object, stats);
    put(object, "avgcltttlb", double(mean(stats, Interval::Total)));
    put(object, "cltresponsetimeapdex", stats.apdex.map_or(1.0, |apdex| (apdex.score() * 1e3).round() / 1e3));
    let apdex = stats.apdex.unwrap_or_default();
    let all = apdex.satisfied + apdex.tolerating + apdex.frustrated;
    put(object, "totcltttlbtransactions", double(all));
    put(object, "cltttlbtransactionsrate", 0);
    put(object, "totspillovers", double(stats.spillovers));
    put(object, "totvserverdownbackuphits", double(stats.backup_hits));
    put_flow(object, "deferredreq", "deferredreqrate", stats.deferred);
    put(object, "invalidrequestresponse", double(stats.invalid));
    put(object, "invalidrequestresponsedropped", double(stats.invalid));
    for uncounted in ["labelledconn", "pushlabel", "curmptcpsessions", "cursubflowconn"] {
        put(object, uncounted, double(0));
    }
}

/// In whole milliseconds.
fn mean(stats: &Stats, part: Interval) -> u128 {
    let counts = stats.times.iter().find(|(interval, _)| *interval == part).map(|(_, counts)| counts);
    counts.and_then(|counts| counts.mean()).map_or(0, |mean: Duration| mean.as_millis())
}

pub(super) fn service(world: &Seen<'_>, id: ServiceId) -> Object {
    let service = world.model.service(id);
    let mut object = Object::new();
    put(&mut object, "name", &*service.name);
    put_server_side(&mut object, world, id);
    object
}

/// What services and members count.
fn put_server_side(object: &mut Object, world: &Seen<'_>, id: ServiceId) {
    let service = world.model.service(id);
    let stats = world.cleared.service(world, id).0;
    let (ip, port) = live::endpoint(world, id);
    put(object, "primaryipaddress", ip);
    put(object, "primaryport", port);
    put(object, "servicetype", service.settings.protocol.word());
    put(object, "state", world.view.services[id.index()].state.long_word());
    // Mbit/s of both directions.
    let megabits = (stats.bytes_in.per_second + stats.bytes_out.per_second) * 8 / 1_000_000;
    put(object, "throughput", double(megabits));
    put(object, "throughputrate", megabits);
    put(object, "avgsvrttfb", double(mean(&stats, Interval::FirstByte)));
    put_traffic(object, &stats);
    put(object, "svrestablishedconn", double(u64::from(stats.server_connections) + u64::from(stats.reuse_pool)));
    put(object, "curreusepool", double(stats.reuse_pool));
    put(object, "maxclients", double(service.settings.max_client));
    put(object, "curload", double(stats.load.unwrap_or(0)));
    put(object, "curtflags", double(0));
    put(object, "surgecount", double(0));
    put_flow(object, "vsvrservicehits", "vsvrservicehitsrate", stats.requests);
    put(object, "activetransactions", double(stats.server_connections));
    let apdex = stats.apdex.unwrap_or_default();
    put(object, "totsvrttlbtransactions", double(apdex.satisfied + apdex.tolerating + apdex.frustrated));
    put(object, "svrttlbtransactionsrate", 0);
    let busy = stats.statuses[5];
    put(object, "totsvrbusyerr", double(busy));
    put(object, "svrbusyerrrate", 0);
}

pub(super) fn group(world: &Seen<'_>, id: GroupId, with_members: bool) -> Object {
    let group = &world.model.groups[id.index()];
    let mut object = Object::new();
    put(&mut object, "servicegroupname", &*group.name);
    let mut state = Object::new();
    live::group(world, id, &mut state);
    put(&mut object, "state", state.remove("state").unwrap_or(Value::Null));
    put(&mut object, "servicetype", group.settings.protocol.word());
    if with_members {
        put_list(&mut object, "servicegroupmember", group.members.iter().map(|m| member(world, id, m)).collect());
    }
    object
}

pub(super) fn member(world: &Seen<'_>, group: GroupId, member: &GroupMember) -> Object {
    let service = world.model.service(member.service);
    let (ip, port) = live::endpoint(world, member.service);
    let server = service.server.map(|id| world.model.servers[id.index()].name.to_string()).unwrap_or(ip);
    let mut object = Object::new();
    let group = &world.model.groups[group.index()].name;
    put(&mut object, "servicegroupname", format!("{group}?{server}?{port}"));
    put(&mut object, "servername", server);
    put_server_side(&mut object, world, member.service);
    object
}

pub(super) fn server(world: &Seen<'_>, id: ServerId) -> Object {
    let name = &world.model.servers[id.index()].name;
    let mut object = Object::new();
    put(&mut object, "name", &**name);
    put(&mut object, "state", live::on_off(!live::is_disabled(world, Kind::Server, name)));
    object
}
