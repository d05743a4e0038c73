//! GSLB in NITRO's words: steered RRsets are GSLB vservers, what the checks of their records look at GSLB services, data
//! centres sites. Zone text is read as `dnsaddrec` and its kin ([`dns`]).
//!
//! An RRset is called what its `gslb_vserver` says, else by its domain; RRsets of one name are the domains of one vserver.
//! A DR set is the backup vserver of the set before it, and called as its scenario.
//!
//! Objects that commands made and nothing uses yet stand in no table: they are told as the configuration keeps them.

mod dns;
mod kept;
mod record;
mod vserver;

use std::collections::BTreeMap;

use serde_json::Value;

use super::answer::{Fault, Object};
use super::live::{self, double, on_off, put, yes_no};
use super::stat::{self, Found};
use super::target::{Asked, Named};
use super::unbound;
use crate::control::World;
use crate::model::id::Kind;
use crate::model::zone::RecordType;
use crate::netscaler::document::Document;
use record::{Watched, place, protocol, service_name, state, watched};
use vserver::{Vserver, vservers};

/// Resources that are read here.
pub(super) const NAMES: [&str; 18] = [
    "gslbsite",
    "gslbservice",
    "gslbvserver",
    "gslbvserver_binding",
    "gslbservice_binding",
    "gslbvserver_gslbservice_binding",
    "gslbvserver_domain_binding",
    "gslbservice_lbmonitor_binding",
    "dnszone",
    "dnssoarec",
    "dnsnsrec",
    "dnsaddrec",
    "dnsaaaarec",
    "dnscnamerec",
    "dnsmxrec",
    "dnstxtrec",
    "dnssrvrec",
    "dnsptrrec",
];

/// The resource of this name; `None`: it is none of those. Arguments choose among the objects by their attributes.
pub(super) fn read(
    world: &World<'_>,
    document: &Document,
    resource: &str,
    name: Option<&Named>,
    asked: &Asked,
) -> Option<Result<Found, Fault>> {
    let mut found = find(world, document, resource, name)?;
    if let Ok(found) = &mut found {
        let says = |object: &Object, key: &str, value: &str| {
            let said = object.get(&key.to_ascii_lowercase());
            said.is_some_and(|said| said.as_str().map_or_else(|| said.to_string(), str::to_owned) == value)
        };
        found.objects.retain(|object| asked.args.iter().all(|(key, value)| says(object, key, value)));
    }
    Some(found)
}

fn find(world: &World<'_>, document: &Document, resource: &str, name: Option<&Named>) -> Option<Result<Found, Fault>> {
    let vservers = || vservers(world);
    let all = |key: &str, mut objects: Vec<Object>| {
        kept::call(document, &mut objects);
        kept::tell(document, resource, key, &mut objects);
        stat::pick(key, objects, name)
    };
    Some(match resource {
        "gslbsite" => all("sitename", sites(world)),
        "gslbvserver" => all("name", vservers().iter().map(|vserver| vserver.show(world)).collect()),
        "gslbservice" => all("servicename", services(world).into_values().collect()),
        "gslbvserver_binding" => all("name", vservers().iter().map(|vserver| vserver.bindings(world)).collect()),
        "gslbservice_binding" => {
            all("servicename", services(world).keys().map(|n| service_bindings(world, n)).collect())
        }
        "gslbvserver_gslbservice_binding" | "gslbvserver_domain_binding" => {
            let vservers = vservers();
            let mut names = vservers.iter().map(|vserver| vserver.name.clone()).collect();
            kept::names(document, "gslbvserver", "name", &mut names);
            bound("name", names, name, |wanted| {
                let found = vservers.iter().find(|vserver| vserver.name == wanted);
                let list = |vserver: &Vserver<'_>| match resource {
                    "gslbvserver_domain_binding" => vserver.domains(),
                    _ => vserver.members(world),
                };
                let mut found = found.map_or_else(|| kept::bound(document, resource, "name", wanted), list);
                kept::call(document, &mut found);
                found
            })
        }
        "gslbservice_lbmonitor_binding" => {
            let live = services(world);
            let mut names = live.keys().cloned().collect();
            kept::names(document, "gslbservice", "servicename", &mut names);
            bound("serviceName", names, name, |wanted| match live.contains_key(wanted) {
                true => monitors(world, wanted),
                false => kept::bound(document, resource, "servicename", wanted),
            })
        }
        _ if unbound::owner(resource).is_some_and(|owner| owner.starts_with("gslb")) => {
            let (key, mut names) = match unbound::owner(resource) {
                Some("gslbvserver") => ("name", vservers().into_iter().map(|vserver| vserver.name).collect()),
                Some("gslbservice") => ("serviceName", services(world).into_keys().collect()),
                Some("gslbsite") => {
                    ("siteName", world.model.datacenters.iter().map(|site| site.name.to_string()).collect())
                }
                _ => ("serviceGroupName", Vec::new()),
            };
            if let Some(owner) = unbound::owner(resource) {
                kept::names(document, owner, &key.to_ascii_lowercase(), &mut names);
            }
            bound(key, names, name, |_| Vec::new())
        }
        _ => return dns::read(world, resource).map(|found| found.and_then(|(key, list)| stat::pick(key, list, name))),
    })
}

/// Counters of `gslbvserver` and `gslbservice`: of those that run, and noughts of those that nothing uses yet.
pub(super) fn statistics(
    world: &World<'_>,
    document: &Document,
    resource: &str,
    name: Option<&Named>,
) -> Result<Found, Fault> {
    if resource == "gslbvserver" {
        let mut objects: Vec<Object> = vservers(world).iter().map(|vserver| vserver.statistics(world)).collect();
        for (name, row) in kept::unused(document, resource, "name", &objects) {
            let text = |key: &str| row.get(key).and_then(Value::as_str);
            let members = text("totalservices").and_then(|all| all.parse().ok()).unwrap_or(0);
            objects.push(vserver::counters(
                &name,
                text("servicetype").unwrap_or("ANY"),
                (0, members, 0),
                Default::default(),
            ));
        }
        return stat::pick("name", objects, name);
    }
    let counted = |(name, shown): (String, Object)| {
        let mut object = match world.model.service_id(&name) {
            Some(id) if shown.contains_key("healthmonitor") => stat::service(world, id),
            _ => zeros(&["curload", "vsvrservicehits"]),
        };
        object.shift_remove("name");
        put(&mut object, "servicename", name);
        put(&mut object, "establishedconn", double(0));
        for (key, from) in [
            ("servicetype", "servicetype"),
            ("state", "svrstate"),
            ("primaryipaddress", "ipaddress"),
            ("primaryport", "port"),
        ] {
            put(&mut object, key, shown.get(from).cloned().unwrap_or(Value::Null));
        }
        object
    };
    let mut objects: Vec<Object> = services(world).into_iter().map(counted).collect();
    kept::call(document, &mut objects);
    let unused = kept::unused(document, resource, "servicename", &objects);
    objects.extend(unused.into_iter().map(counted));
    stat::pick("servicename", objects, name)
}

fn zeros(more: &[&str]) -> Object {
    let traffic = [
        "establishedconn",
        "totalrequests",
        "totalresponses",
        "totalrequestbytes",
        "totalresponsebytes",
        "curclntconnections",
        "cursrvrconnections",
    ];
    traffic.iter().chain(more).map(|key| ((*key).to_owned(), double(0))).collect()
}

/// A list of bindings: of the owner that is named, or of all.
fn bound(
    key: &str,
    owners: Vec<String>,
    name: Option<&Named>,
    of: impl Fn(&str) -> Vec<Object>,
) -> Result<Found, Fault> {
    let objects = match name {
        None => owners.iter().flat_map(|owner| of(owner)).collect(),
        Some(name) => {
            let exists = |name: &str| owners.iter().any(|owner| owner == name);
            let wanted = name.find(exists);
            if !exists(wanted) {
                return Err(Fault::no_such(key, wanted));
            }
            of(wanted)
        }
    };
    Ok(Found { objects, single: false })
}

fn sites(world: &World<'_>) -> Vec<Object> {
    let own = world.model.appliance.site.as_deref();
    let one = |name: &str| {
        let mut object = Object::new();
        put(&mut object, "sitename", name);
        put(&mut object, "sitetype", if own == Some(name) { "LOCAL" } else { "REMOTE" });
        put(&mut object, "siteipaddress", "0.0.0.0");
        for key in ["metricexchange", "nwmetricexchange", "sessionexchange"] {
            put(&mut object, key, "DISABLED");
        }
        put(&mut object, "triggermonitor", "ALWAYS");
        object
    };
    world.model.datacenters.iter().map(|site| one(&site.name)).collect()
}

/// By name, each once.
fn services(world: &World<'_>) -> BTreeMap<String, Object> {
    let own = world.model.appliance.site.as_deref();
    let mut found = BTreeMap::new();
    for vserver in vservers(world) {
        for record in vserver.records() {
            let name = service_name(world, record);
            if found.contains_key(&name) {
                continue;
            }
            let (ip, port) = place(world, record);
            let mut object = Object::new();
            put(&mut object, "servicename", name.clone());
            put(&mut object, "servicetype", protocol(world, record));
            put(&mut object, "ipaddress", ip);
            put(&mut object, "port", port);
            if record.rtype == RecordType::CNAME {
                put(&mut object, "cnameentry", record.data.trim_end_matches('.'));
            } else {
                put(&mut object, "publicip", &*record.data);
                put(&mut object, "publicport", port);
            }
            if let Some(site) = record.datacenter.as_deref() {
                put(&mut object, "sitename", site);
                put(&mut object, "gslb", if own == Some(site) { "LOCAL" } else { "REMOTE" });
            }
            put(&mut object, "svrstate", state(world, record));
            put(&mut object, "svreffgslbstate", state(world, record));
            let mut enabled = record.enabled;
            if let Watched::Service(id) = watched(world, record) {
                let service = world.model.service(id);
                enabled &= !live::is_disabled(world, Kind::Service, &service.name);
                put(&mut object, "healthmonitor", yes_no(service.settings.health_monitor));
                live::put_change(&mut object, world, world.view.services[id.index()].since);
            }
            put(&mut object, "state", on_off(enabled));
            found.insert(name, object);
        }
    }
    found
}

fn monitors(world: &World<'_>, name: &str) -> Vec<Object> {
    let Some(id) = world.model.service_id(name) else { return Vec::new() };
    let one = |at| {
        let mut object = live::monitor(world, id, at);
        object.shift_remove("name");
        put(&mut object, "servicename", name);
        object
    };
    (0..world.model.service(id).monitors.len()).map(one).collect()
}

fn service_bindings(world: &World<'_>, name: &str) -> Object {
    let mut object = Object::new();
    put(&mut object, "servicename", name);
    let list = monitors(world, name);
    if !list.is_empty() {
        object.insert("gslbservice_lbmonitor_binding".into(), list.into_iter().map(Value::Object).collect());
    }
    object
}

/// What `enable` and `disable` of a GSLB service act on.
///
/// Errors: 258 where there is none, 1858 where the state is that of a vserver here.
pub(super) fn switched(world: &World<'_>, name: &str) -> Result<(Kind, String), Fault> {
    let known = services(world);
    let Some(object) = known.get(name) else { return Err(Fault::no_such("serviceName", name)) };
    if object.contains_key("healthmonitor") {
        return Ok((Kind::Service, name.to_owned()));
    }
    Err(Fault::new(1858, "its state is that of what its check looks at: enable or disable that"))
}
