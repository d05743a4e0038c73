//! `/nitro/v1/stat/…`: counters and gauges as text, rates as numbers, percentages as floats. What NetScaler counts and
//! is not counted here is 0, because clients take a missing label for an error.

mod clear;
mod objects;
mod policies;
mod totals;

use super::answer::{Fault, Object};
use super::gslb;
use super::live::put;
use super::target::{Asked, Named};
use crate::admin::cleared::{Cleared, WHOLE};
use crate::admin::machine::Machine;
use crate::control::World;
use crate::model::id::{GroupId, ServerId, ServiceId, VserverId};
use crate::model::policy::PolicyBank;
use crate::model::vserver::Role;
use crate::netscaler::document::Document;

/// What was found.
pub(super) struct Found {
    pub objects: Vec<Object>,
    /// There is one of it: an object, not a list.
    pub single: bool,
}

pub(super) use clear::{Clearing, all as clear_all};

/// The world, and what of its counters was cleared.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub world: &'a World<'a>,
    pub cleared: &'a Cleared,
    /// The running configuration, where what it keeps of GSLB is asked for.
    pub document: Option<&'a Document>,
}

impl<'a> std::ops::Deref for Seen<'a> {
    type Target = World<'a>;

    fn deref(&self) -> &World<'a> {
        self.world
    }
}

/// Counters of a service, whether somebody cleared them or not.
pub(super) fn service(world: &World<'_>, id: ServiceId) -> Object {
    objects::service(&Seen { world, cleared: &Cleared::default(), document: None }, id)
}

/// Resources with statistics.
pub(super) const RESOURCES: &[&str] = &[
    "lbvserver",
    "csvserver",
    "service",
    "servicegroup",
    "servicegroupmember",
    "server",
    "sslvserver",
    "system",
    "systemcpu",
    "systemmemory",
    "ns",
    "protocolhttp",
    "protocoltcp",
    "protocolip",
    "ssl",
    "aaa",
    "Interface",
    "hanode",
    "gslbvserver",
    "gslbservice",
    "vpnvserver",
    "lbmonitor",
    "cspolicy",
    "responderpolicy",
    "rewritepolicy",
];

/// The statistics of `resource`; `None`: there are none of this name.
pub(super) fn read(
    world: &Seen<'_>,
    machine: &Machine,
    resource: &str,
    name: Option<&Named>,
    asked: &Asked,
) -> Option<Result<Found, Fault>> {
    let model = world.model;
    if let Err(fault) = super::args::check_statistics(&resource.to_ascii_lowercase(), asked) {
        return Some(Err(fault));
    }
    let listed = |key: &str, objects: Vec<Object>| pick(key, objects, name);
    let found = match &resource.to_ascii_lowercase()[..] {
        "lbvserver" => {
            let show = |world: &Seen<'_>, id| objects::vserver(world, id, asked.statbindings);
            listed("name", vservers(world, |role| matches!(role, Role::Lb), show))
        }
        "csvserver" => listed("name", vservers(world, |role| matches!(role, Role::Cs { .. }), objects::csvserver)),
        "sslvserver" => listed("vservername", ssl_vservers(world)),
        "service" => {
            let own = model.services.iter().enumerate().filter(|(_, service)| service.group.is_none());
            listed("name", own.map(|(at, _)| objects::service(world, ServiceId::from_index(at))).collect())
        }
        "servicegroup" => {
            let all = 0..model.groups.len();
            let shown = all.map(|at| objects::group(world, GroupId::from_index(at), asked.statbindings));
            listed("servicegroupname", shown.collect())
        }
        "servicegroupmember" => members(world, asked),
        "server" => {
            let all = 0..model.servers.len();
            listed("name", all.map(|at| objects::server(world, ServerId::from_index(at))).collect())
        }
        "system" => single(totals::system(world, machine)),
        "systemcpu" => Ok(Found { objects: totals::cpus(machine), single: false }),
        "systemmemory" => single(totals::memory(machine)),
        "aaa" => single(totals::aaa()),
        "hanode" => Ok(Found { objects: vec![totals::hanode()], single: false }),
        whole if WHOLE.contains(&whole) => {
            let mut objects = whole_of(world, machine, whole);
            for object in &mut objects {
                let key = key_of(object);
                world.cleared.take_off(whole, &key, object);
            }
            if whole == "interface" { pick("id", objects, name) } else { Ok(Found { objects, single: true }) }
        }
        word @ ("gslbvserver" | "gslbservice") => {
            let none = Document::default();
            gslb::statistics(world, world.document.unwrap_or(&none), word, name)
        }
        "cspolicy" => listed("policyname", policies::of(world, PolicyBank::Cs)),
        "responderpolicy" => listed("name", policies::of(world, PolicyBank::Responder)),
        "rewritepolicy" => listed("name", policies::of(world, PolicyBank::Rewrite)),
        // NetScaler has them, and there are none.
        "vpnvserver" | "lbmonitor" => listed("name", Vec::new()),
        _ => return None,
    };
    Some(found)
}

fn single(object: Object) -> Result<Found, Fault> {
    Ok(Found { objects: vec![object], single: true })
}

/// All of them, or the one that is named.
pub(super) fn pick(key: &str, objects: Vec<Object>, name: Option<&Named>) -> Result<Found, Fault> {
    let Some(name) = name else { return Ok(Found { objects, single: false }) };
    let is = |object: &Object, name: &str| object.get(key).is_some_and(|value| value == name);
    let wanted = name.find(|name| objects.iter().any(|object| is(object, name)));
    let object = objects.iter().find(|object| is(object, wanted));
    match object {
        Some(object) => Ok(Found { objects: vec![object.clone()], single: false }),
        None => Err(Fault::no_such(key, wanted)),
    }
}

/// Counters of one of [`WHOLE`], with nothing taken off.
fn whole_of(world: &World<'_>, machine: &Machine, resource: &str) -> Vec<Object> {
    match resource {
        "ns" => vec![totals::ns(world, machine)],
        "protocolhttp" => vec![totals::http(world)],
        "protocoltcp" => vec![totals::tcp(world)],
        "protocolip" => vec![totals::ip(world)],
        "ssl" => vec![totals::ssl(world)],
        _ => totals::interfaces(machine),
    }
}

/// Which of several.
fn key_of(object: &Object) -> String {
    object.get("id").and_then(|id| id.as_str()).unwrap_or_default().to_owned()
}

fn vservers(
    world: &Seen<'_>,
    of: impl Fn(&Role) -> bool,
    show: impl Fn(&Seen<'_>, VserverId) -> Object,
) -> Vec<Object> {
    let ours = world.model.vservers.iter().enumerate().filter(|(_, vserver)| of(&vserver.role));
    ours.map(|(at, _)| show(world, VserverId::from_index(at))).collect()
}

fn ssl_vservers(world: &Seen<'_>) -> Vec<Object> {
    let ours = world.model.vservers.iter().enumerate().filter(|(_, vserver)| vserver.protocol.is_tls());
    ours.map(|(at, vserver)| {
        let mut object = Object::new();
        put(&mut object, "vservername", &*vserver.name);
        object.extend(
            objects::vserver(world, VserverId::from_index(at), false).into_iter().filter(|(key, _)| key != "name"),
        );
        object
    })
    .collect()
}

/// `args=servicegroupname:…,servername:…` (or `ip:`) `,port:…`
fn members(world: &Seen<'_>, asked: &Asked) -> Result<Found, Fault> {
    let group = asked.arg("servicegroupname").ok_or_else(|| Fault::new(1095, "serviceGroupName"))?;
    let id = world.model.group_id(group).ok_or_else(|| Fault::no_such("serviceGroupName", group))?;
    let members = &world.model.groups[id.index()].members;
    let objects = members.iter().map(|member| objects::member(world, id, member)).filter(|object| {
        let is = |key: &str, field: &str| {
            asked.arg(key).is_none_or(|wanted| {
                object.get(field).is_some_and(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned) == wanted)
            })
        };
        is("servername", "servername") && is("ip", "primaryipaddress") && is("port", "primaryport")
    });
    Ok(Found { objects: objects.collect(), single: false })
}
