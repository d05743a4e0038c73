//! GET of `/nitro/v1/config/…`: what the configuration says, in NITRO's words, with what is going on laid over it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::answer::{Fault, Object};
use super::files::Files;
use super::gslb;
use super::live::{self, put};
use super::stat::Found;
use super::target::{Asked, Named, printable};
use super::{args, bindings, saved, system, trace, unbound};
use crate::admin::App;
use crate::admin::dto::{CertificateDto, certificate_left};
use crate::config::edit;
use crate::control::World;
use crate::netscaler::document::Document;
use crate::netscaler::resource::{Resource, Shape};

/// What one look at the configuration needs.
struct Reading<'a> {
    app: &'a App,
    world: &'a World<'a>,
    name: Option<&'a Named>,
    asked: &'a Asked,
}

/// Every resource that can be read.
pub(super) fn names() -> Vec<&'static str> {
    let ours = bindings::all().map(|binding| binding.nitro);
    let own = [
        "nsversion",
        "nsconfig",
        "nsfeature",
        "nsmode",
        "nslicense",
        "nshardware",
        "nscapacity",
        "hanode",
        "interface",
        "systemfile",
        "nsip",
        "nshostname",
        "systemuser",
        "systemuser_systemcmdpolicy_binding",
        "login",
        "logout",
    ];
    let all: BTreeSet<&str> = Resource::all()
        .map(|resource| resource.nitro)
        .chain(ours)
        .chain(own)
        .chain(saved::NAMES)
        .chain(gslb::NAMES)
        .collect();
    all.into_iter().collect()
}

/// The running configuration. It is read once and kept until another one runs.
pub(super) fn document(app: &App, world: &World<'_>) -> Result<Arc<Document>, Fault> {
    let hash = &world.config.hash;
    if let Some((known, document)) = &*app.0.nitro.seen.lock()
        && known == hash
    {
        return Ok(Arc::clone(document));
    }
    let (text, _) = edit::running(world.sources, world.model);
    let document = Document::from_toml(&text).map_err(|error| {
        tracing::error!(error, "the running configuration cannot be read");
        Fault::new(1043, "the running configuration cannot be read")
    })?;
    let document = Arc::new(document);
    *app.0.nitro.seen.lock() = Some((hash.clone(), Arc::clone(&document)));
    Ok(document)
}

/// What `resource` has under `name`, or all of it.
pub(super) fn read(
    app: &App,
    world: &World<'_>,
    resource: &str,
    name: Option<&Named>,
    asked: &Asked,
) -> Result<Found, Fault> {
    let lower = resource.to_ascii_lowercase();
    let reading = Reading { app, world, name, asked };
    if lower.starts_with("gslb") || lower.starts_with("dns") {
        let document = reading.document()?;
        if let Some(found) = gslb::read(world, &document, &lower, name, asked) {
            return found;
        }
    }
    if let Some(owner) = unbound::owner(&lower).filter(|_| !is_known(&lower)) {
        let document = reading.document()?;
        return unbound::read(&document, owner, &lower, name);
    }
    if lower == trace::RESOURCE {
        return Ok(trace::read(app));
    }
    let machine = || app.machine();
    let mut found = match system::read(world, machine, &lower) {
        Some(found) => match name {
            Some(name) if !found.single => of_name(&found, name)?,
            _ => found,
        },
        None => reading.find(resource, &lower)?,
    };
    if !system::EMPTY.contains(&&lower[..]) {
        args::check(&lower, asked)?;
        args::choose(&lower, &mut found.objects, name, asked)?;
    }
    Ok(found)
}

/// Whether it is a resource that there can be something of.
pub(super) fn is_known(resource: &str) -> bool {
    Resource::find(resource).is_some() || bindings::find(resource).is_some()
}
/// Of a list that has no name of its own: whatever names an entry.
fn of_name(found: &Found, name: &Named) -> Result<Found, Fault> {
    let names = |object: &Object, name: &str| {
        ["id", "name", "username", "ipaddress"].iter().any(|key| object.get(*key).is_some_and(|v| v == name))
    };
    let wanted = name.find(|name| found.objects.iter().any(|object| names(object, name)));
    let object = found.objects.iter().find(|object| names(object, wanted));
    match object {
        Some(object) => Ok(Found { objects: vec![object.clone()], single: false }),
        None => Err(Fault::no_such("name", wanted)),
    }
}

// === impl Reading ===

impl Reading<'_> {
    /// `resource` as it was asked for, and in lower case.
    fn find(&self, resource: &str, lower: &str) -> Result<Found, Fault> {
        if lower == "systemfile" {
            return self.files();
        }
        if let Some(found) = saved::read(self.app, self.world, lower) {
            return found;
        }
        if let Some(binding) = bindings::find(lower) {
            return self.binding(binding);
        }
        let owner = lower.strip_suffix("_binding").and_then(Resource::find).filter(|owner| !owner.is_binding());
        if let Some(owner) = owner {
            return self.aggregate(owner);
        }
        match Resource::find(lower) {
            Some(resource) => self.objects(resource),
            None => Err(Fault::new(1088, printable(resource))),
        }
    }

    /// What runs, as statements see it; kept until it changes.
    fn document(&self) -> Result<Arc<Document>, Fault> {
        document(self.app, self.world)
    }

    fn kept_files(&self) -> Files {
        Files::in_state(self.world.config.state.as_deref())
    }

    fn files(&self) -> Result<Found, Fault> {
        let location = self.asked.arg("filelocation");
        let name = self.name.map(Named::meant).or_else(|| self.asked.arg("filename"));
        let objects = self.kept_files().list(name, location)?;
        Ok(Found { objects, single: false })
    }

    fn binding(&self, binding: &bindings::Binding) -> Result<Found, Fault> {
        let owners = (binding.owners)(self.world.model);
        let objects = match self.name {
            None => owners.iter().flat_map(|owner| (binding.of)(self.world, owner)).collect(),
            Some(name) => {
                let wanted = name.find(|name| owners.contains(&name));
                if !owners.contains(&wanted) {
                    return Err(Fault::no_such(binding.key, wanted));
                }
                (binding.of)(self.world, wanted)
            }
        };
        Ok(Found { objects, single: false })
    }

    /// `lbvserver_binding`: everything that is bound to an object.
    fn aggregate(&self, owner: &'static Resource) -> Result<Found, Fault> {
        let document = self.document()?;
        let known = document.names(owner);
        let names = match self.name {
            None => known,
            Some(name) => {
                let wanted = name.find(|name| document.has(owner, name));
                if !document.has(owner, wanted) {
                    return Err(Fault::no_such(owner.key, wanted));
                }
                vec![wanted]
            }
        };
        let one = |name: &&str| {
            let others = owner.bindings().filter(|binding| bindings::find(binding.nitro).is_none());
            let others = others.map(|binding| {
                let mut rows = document.bindings(binding, name);
                rows.iter_mut().for_each(|row| bindings::policies::count(self.world, binding.nitro, row));
                bindings::policies::order(binding.nitro, &mut rows);
                (binding.nitro, rows)
            });
            let others = others.collect();
            bindings::aggregate(self.world, owner.nitro, owner.key, name, others)
        };
        Ok(Found { objects: names.iter().map(one).collect(), single: false })
    }

    fn objects(&self, resource: &'static Resource) -> Result<Found, Fault> {
        let document = self.document()?;
        if let Shape::Single { .. } = resource.shape {
            // Of the name there is a list, with one entry.
            let single = resource.nitro != "nshostname";
            return Ok(Found { objects: document.objects(resource), single });
        }
        let Some(name) = self.name else {
            let mut objects = document.objects(resource);
            objects.extend(self.built_in(resource, None));
            objects.iter_mut().for_each(|object| self.dress(resource, object));
            bindings::policies::order(resource.nitro, &mut objects);
            return Ok(Found { objects, single: false });
        };
        let owner = resource.owner().unwrap_or(resource);
        let wanted = name.find(|name| document.has(owner, name));
        let mut objects = if resource.is_binding() {
            if !document.has(owner, wanted) {
                return Err(Fault::no_such(resource.key, wanted));
            }
            document.bindings(resource, wanted)
        } else {
            let found = document.object(resource, wanted).into_iter().chain(self.built_in(resource, Some(wanted)));
            found.take(1).collect()
        };
        if objects.is_empty() && !resource.is_binding() {
            return Err(Fault::no_such(resource.key, wanted));
        }
        objects.iter_mut().for_each(|object| self.dress(resource, object));
        bindings::policies::order(resource.nitro, &mut objects);
        Ok(Found { objects, single: false })
    }

    /// Monitors that are in no configuration.
    fn built_in(&self, resource: &Resource, name: Option<&str>) -> Vec<Object> {
        if resource.nitro != "lbmonitor" {
            return Vec::new();
        }
        let built_in = self.world.model.monitors.iter().filter(|monitor| monitor.builtin);
        let wanted = built_in.filter(|monitor| name.is_none_or(|name| *monitor.name == *name));
        let one = |monitor: &crate::model::check::Monitor| {
            let mut object = Object::new();
            let schedule = &monitor.schedule;
            put(&mut object, "monitorname", &*monitor.name);
            put(&mut object, "type", monitor.kind.word());
            put(&mut object, "state", "ENABLED");
            put(&mut object, "interval", schedule.interval.as_secs());
            put(&mut object, "units3", "SEC");
            put(&mut object, "resptimeout", schedule.timeout.as_secs());
            put(&mut object, "units4", "SEC");
            put(&mut object, "retries", schedule.fall);
            put(&mut object, "successretries", schedule.rise);
            put(&mut object, "downtime", schedule.down_time.map_or(0, |time| time.as_secs()));
            put(&mut object, "units2", "SEC");
            object
        };
        wanted.map(one).collect()
    }

    /// Lays what is going on over what the configuration says.
    fn dress(&self, resource: &Resource, object: &mut Object) {
        let (world, model) = (self.world, self.world.model);
        let name = object.get(resource.key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match resource.nitro {
            "lbvserver" | "csvserver" => {
                let Some(id) = model.vserver_id(&name) else { return };
                live::vserver(world, id, object);
            }
            "service" => {
                let Some(id) = model.service_id(&name) else { return };
                let (ip, _) = live::endpoint(world, id);
                let server = model.service(id).server.map(|server| &*model.servers[server.index()].name);
                put(object, "servername", server.unwrap_or(&ip));
                put(object, "ipaddress", ip);
                live::service(world, id, object);
            }
            "servicegroup" => {
                let Some(id) = model.group_id(&name) else { return };
                live::group(world, id, object);
                if self.asked.says_yes("includemembers") {
                    bindings::put_members(world, id, object);
                }
            }
            "server" => {
                let Some(id) = model.server_id(&name) else { return };
                live::server(world, id, object);
            }
            "sslcertkey" => self.certificate(&name, object),
            other => bindings::policies::count(world, other, object),
        }
    }

    fn certificate(&self, name: &str, object: &mut Object) {
        for key in ["cert", "key"] {
            let said = object.get(key).and_then(Value::as_str).and_then(|path| self.kept_files().said_of(path));
            if let Some(said) = said {
                put(object, key, said);
            }
        }
        let Some(id) = self.world.model.certificate_id(name) else { return };
        let told = CertificateDto::of(self.world, id);
        let facts = self.world.model.certificates[id.index()].facts();
        let seconds = |at: i64| live::date(crate::model::time::Wall(at.saturating_mul(1_000_000))) + " GMT";
        put(object, "serial", told.serial);
        put(object, "issuer", told.issuer);
        put(object, "subject", told.subject);
        put(object, "daystoexpiration", told.days_left);
        put(object, "publickey", told.key);
        put(object, "version", 3);
        if let Some(facts) = facts {
            put(object, "clientcertnotbefore", seconds(facts.not_before));
            put(object, "clientcertnotafter", seconds(facts.not_after));
            let expired = certificate_left(facts.not_after, self.world.now.wall) < 0;
            put(object, "status", if expired { "Expired" } else { "Valid" });
        }
    }
}
