//! What a configuration says of GSLB, read back in NetScaler's words.
//!
//! The other way round than [`vserver`](super::vserver) and [`member`](super::member) write it, and judged by them: what is
//! read is written again, and where that gives other tables than those that are there, somebody has said more than
//! NetScaler has words for. Such a vserver is left as it is: it is *foreign*.

mod kept;
mod part;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use serde_json::{Map, Value};

use super::said::{Bound, Object, Objects};
use super::{Books, zones};
use crate::netscaler::document::Document;
use crate::netscaler::resource::Resource;
use crate::netscaler::value::text_of;
use kept::kept;
pub(in crate::netscaler) use kept::kept_user;
use part::{Part, domain, without};

/// The GSLB of a configuration.
pub(in crate::netscaler) struct Book {
    pub(super) books: Books,
    /// The configuration without what the books say.
    pub rest: Document,
    /// Vservers that say more than NetScaler's words, and where they stand.
    pub(super) foreign: BTreeMap<String, String>,
    /// Lines of `[gslb]` that cannot be read.
    pub(super) unreadable: Vec<String>,
}

type Table = Map<String, Value>;
/// RRsets of one name: zone, key, table.
type Group<'a> = Vec<(&'a str, &'a str, &'a Table)>;

/// Objects while they are read.
struct Reading<'a> {
    document: &'a Document,
    /// Objects as `[gslb] lines` has them.
    kept: &'a Books,
    /// Whether those count.
    remembers: bool,
    services: Objects,
    vservers: Objects,
    parts: Vec<Part>,
}

// === impl Book ===

impl Book {
    pub fn of(document: &Document) -> Book {
        let (kept, unreadable) = kept(document);
        let (groups, mut foreign) = groups(document);
        // What the lines say of these is not what is there any more.
        let mut plain: BTreeSet<&str> = BTreeSet::new();
        loop {
            let (mut services, mut vservers) = (Objects::default(), Objects::default());
            let mut parts: BTreeMap<&str, Vec<Part>> = BTreeMap::new();
            for (name, group) in in_order(document, &groups) {
                if foreign.contains_key(name) {
                    continue;
                }
                let mut reading = Reading {
                    document,
                    kept: &kept,
                    remembers: !plain.contains(&name[..]),
                    services: services.clone(),
                    vservers: vservers.clone(),
                    parts: Vec::new(),
                };
                match reading.group(name, group) {
                    Some(()) => {
                        (services, vservers) = (reading.services, reading.vservers);
                        parts.insert(name, reading.parts);
                    }
                    None => drop(foreign.insert(name.clone(), place(group))),
                }
            }
            let sites = sites(document, &kept);
            let mut books = Books { sites, services, vservers, ..Books::default() };
            let rest = without(document, parts.values().flatten());
            let (written, _) = super::write::written(&books, &rest);
            let differs = |parts: &Vec<Part>| parts.iter().any(|part| part.of(document) != part.of(&written));
            let bad: Vec<&str> = parts.iter().filter(|(_, parts)| differs(parts)).map(|(name, _)| *name).collect();
            if bad.is_empty() {
                let taken = |name: &str| foreign.contains_key(name);
                books.take_over(&kept, taken);
                return Book { books, rest, foreign, unreadable };
            }
            for name in bad {
                if !plain.insert(name) {
                    foreign.insert(name.to_owned(), groups.get(name).map(place).unwrap_or_default());
                }
            }
        }
    }

    /// Objects that the tables alone say, without the lines that are kept.
    pub(super) fn plain(document: &Document) -> Books {
        let mut root = document.root().clone();
        root.shift_remove("gslb");
        Book::of(&Document::from_root(root)).books
    }
}

fn sites(document: &Document, kept: &Books) -> Objects {
    let mut sites = Objects::default();
    let own = document.root().get("appliance").and_then(|appliance| appliance.get("site")?.as_str());
    let names = document.root().get("datacenter").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    for name in names {
        let kind = if own == Some(&name[..]) { "LOCAL" } else { "REMOTE" };
        let address =
            kept.sites.get(name).and_then(|site| site.words.iter().find(|word| word.parse::<IpAddr>().is_ok()));
        let words = std::iter::once(kind.to_owned()).chain(address.cloned()).collect();
        sites.put(Object::new(name, words));
    }
    sites
}

/// Those after others whose scenarios are not called as the backup is, because another was called so first.
fn in_order<'g>(document: &Document, groups: &'g BTreeMap<String, Group<'g>>) -> Vec<(&'g String, &'g Group<'g>)> {
    let is_later = |group: &Group<'_>| {
        let records = group.first().and_then(|(.., rrset)| rrset.get("records")?.as_array());
        let mut scenarios = records.into_iter().flatten().filter_map(|record| record.get("drCond")?.as_str());
        scenarios.any(|name| {
            let about = document.table("scenario", name).and_then(|table| table.get("about")?.as_str());
            about.is_some_and(|about| !about.ends_with(&format!(" {name} answers")))
        })
    };
    let mut ordered: Vec<_> = groups.iter().collect();
    ordered.sort_by_key(|(_, group)| is_later(group));
    ordered
}

/// Steered RRsets by the GSLB vserver that they are, and those that are none by their domain.
fn groups(document: &Document) -> (BTreeMap<String, Group<'_>>, BTreeMap<String, String>) {
    let mut groups: BTreeMap<String, Group<'_>> = BTreeMap::new();
    let mut foreign: BTreeMap<String, String> = BTreeMap::new();
    let zones = document.root().get("zone").and_then(Value::as_object).into_iter().flatten();
    for (zone, table) in zones {
        let rrsets = table.get("rrset").and_then(Value::as_object).into_iter().flatten();
        for (key, table) in rrsets.filter_map(|(key, table)| Some((key, table.as_object()?))) {
            match table.get("gslb_vserver").and_then(Value::as_str) {
                Some(name) => groups.entry(name.to_owned()).or_default().push((zone, key, table)),
                None => {
                    let group = vec![(&zone[..], &key[..], table)];
                    foreign.insert(domain(zone, key), place(&group));
                }
            }
        }
    }
    (groups, foreign)
}

fn place(group: &Group<'_>) -> String {
    group.first().map_or_else(String::new, |(zone, key, _)| format!("[zone.\"{zone}\".rrset.\"{key}\"]"))
}

// === impl Books ===

impl Books {
    /// Objects that nothing uses.
    fn take_over(&mut self, kept: &Books, taken: impl Fn(&str) -> bool) {
        for service in kept.services.iter() {
            if self.services.get(&service.name).is_none() {
                self.services.put(service.clone());
            }
        }
        for vserver in kept.vservers.iter() {
            if self.vservers.get(&vserver.name).is_none() && !taken(&vserver.name) {
                self.vservers.put(vserver.clone());
            }
        }
    }
}

// === impl Reading ===

impl Reading<'_> {
    /// All that RRsets of one name say; `None`: not what is written for a GSLB vserver.
    fn group(&mut self, name: &str, group: &Group<'_>) -> Option<()> {
        let (_, key, first) = group.first()?;
        let rtype = key.split_once(' ')?.1;
        let records = first.get("records")?.as_array()?;
        // Members of each vserver of the chain, by its scenario.
        let mut sets: Vec<(Option<&str>, Vec<Bound>)> = Vec::new();
        let mut kind = None;
        let mut state_only = false;
        for record in records {
            let scenario = record.get("drCond").and_then(Value::as_str);
            let (service, follows_backups) = self.member(record.as_object()?)?;
            state_only |= follows_backups;
            if kind.is_none() {
                kind = self.services.get(&service).and_then(|service| service.words.get(1).cloned());
            }
            let weight = record.get("weight").map(text_of).filter(|weight| weight != "1");
            let mut options = vec![("serviceName", &service[..])];
            options.extend(weight.as_deref().map(|weight| ("weight", weight)));
            let bound = Bound::new(&options);
            match sets.iter_mut().find(|(set, _)| *set == scenario) {
                Some((_, members)) => members.push(bound),
                None => sets.push((scenario, vec![bound])),
            }
        }
        if sets.first()?.0.is_some() {
            return None;
        }
        let kind = kind.unwrap_or_else(|| "HTTP".into());
        let mut names = vec![name.to_owned()];
        let mut waits = Vec::new();
        for (scenario, _) in &sets[1..] {
            let scenario = (*scenario)?;
            let table = self.document.table("scenario", scenario)?;
            let about = table.get("about")?.as_str()?.strip_prefix("GSLB: all members of ")?;
            let backup = about.strip_prefix(&names.last()?[..])?.strip_prefix(" are down, and ")?;
            names.push(backup.strip_suffix(" answers")?.to_owned());
            waits.push(table.get("deactivate")?.get("mode").and_then(Value::as_str) == Some("off"));
            self.parts.push(Part::Of("scenario", scenario.to_owned()));
        }
        for (depth, (_, members)) in sets.into_iter().enumerate() {
            let mut vserver = Object::new(&names[depth], vec![kind.clone()]);
            vserver.set("lbMethod", "ROUNDROBIN");
            if depth == 0 {
                choice(&mut vserver, rtype, first)?;
                let domains = group.iter().map(|(zone, key, table)| bound_domain(zone, key, table));
                vserver.bound = domains.collect::<Option<Vec<Bound>>>()?;
            }
            if state_only {
                vserver.set("considerEffectiveState", "STATE_ONLY");
            }
            vserver.bound.splice(0..0, members);
            if let Some(backup) = names.get(depth + 1) {
                vserver.set("backupVServer", backup.clone());
                if waits[depth] {
                    vserver.set("disablePrimaryOnDown", "ENABLED");
                }
            }
            self.remember(vserver, depth == 0);
        }
        self.parts.extend(group.iter().map(|(zone, key, _)| Part::Rrset((*zone).into(), (*key).into())));
        Some(())
    }

    /// As the lines have it, where they count.
    fn remember(&mut self, vserver: Object, has_domain: bool) {
        let kept = self.kept.vservers.get(&vserver.name).filter(|_| self.remembers);
        let known = self.vservers.get(&vserver.name).is_some();
        // A backup says more of itself where it has a domain of its own.
        if !known || has_domain {
            self.vservers.put(kept.cloned().unwrap_or(vserver));
        }
    }

    /// The service of a record, read where it is met the first time; whether its state is that of a vserver with backups.
    fn member(&mut self, record: &Table) -> Option<(String, bool)> {
        let data = record.get("data")?.as_str()?;
        let site = record.get("datacenter").and_then(Value::as_str);
        let mut state_only = false;
        let mut service = match record.get("check").and_then(Value::as_str) {
            None => {
                let same = |service: &&Object| {
                    let alias = service.value("cnameEntry").and_then(|alias| zones::host(alias).ok());
                    alias.as_deref() == Some(data)
                };
                let known = self.kept.services.iter().find(same);
                let name = known.map_or_else(|| data.trim_end_matches('.').to_owned(), |service| service.name.clone());
                let mut service = Object::new(&name, Vec::new());
                service.set("cnameEntry", data.trim_end_matches('.'));
                service
            }
            Some(term) => match term.strip_prefix("svc:") {
                Some(name) => {
                    self.parts.push(Part::Of("service", name.to_owned()));
                    self.probed(name, data)?
                }
                None => {
                    let check = self.document.table("check", term)?;
                    let watched = check.get("term")?.as_str()?.strip_prefix("vs:")?;
                    let vserver = watched.strip_suffix(".primary").unwrap_or(watched);
                    state_only = vserver == watched;
                    let table = ["vserver", "cs_vserver"].iter().find_map(|s| self.document.table(s, vserver))?;
                    let address: SocketAddr = table.get("address")?.as_str()?.parse().ok()?;
                    let kind = table.get("type")?.as_str()?.to_owned();
                    self.parts.push(Part::Of("check", term.to_owned()));
                    let words = vec![address.ip().to_string(), kind, address.port().to_string()];
                    public(Object::new(term, words), data, address.ip())
                }
            },
        };
        if let Some(site) = site {
            service.set("siteName", site);
        }
        let name = service.name.clone();
        if self.services.get(&name).is_none() {
            let kept = self.kept.services.get(&name).filter(|_| self.remembers);
            self.services.put(kept.cloned().unwrap_or(service));
        }
        Some((name, state_only))
    }

    /// A service that is probed, with its monitors. `None` where vservers balance it as well.
    fn probed(&self, name: &str, data: &str) -> Option<Object> {
        let resource = Resource::find("service")?;
        let said = self.document.object(resource, name)?;
        let vservers = self.document.root().get("vserver").and_then(Value::as_object).into_iter().flat_map(Map::values);
        let balances = |vserver: &Value| match vserver.get("services") {
            Some(Value::Array(names)) => names.iter().any(|one| one.as_str() == Some(name)),
            Some(Value::Object(weights)) => weights.contains_key(name),
            _ => false,
        };
        if vservers.into_iter().any(balances) {
            return None;
        }
        let text = |key: &str| said.get(key).map(text_of);
        let own = self.document.table("service", name)?;
        let server = own.get("server").and_then(Value::as_str);
        let host = server.map(str::to_owned).or_else(|| text("ip")).or_else(|| text("ipaddress"))?;
        let address = match server {
            Some(server) => self.document.table("server", server)?.get("address")?.as_str()?.parse().ok()?,
            None => host.parse::<IpAddr>().ok()?,
        };
        let words = vec![host, text("servicetype")?, text("port")?];
        let mut service = public(Object::new(name, words), data, address);
        // What `[defaults.service]` says is said there.
        if own.get("health_monitor") == Some(&Value::Bool(false)) {
            service.set("healthMonitor", "NO");
        }
        if let Some(threshold) = own.get("mon_threshold") {
            service.set("monThreshold", text_of(threshold));
        }
        for row in self.document.bindings(Resource::find("service_lbmonitor_binding")?, name) {
            let text = |key: &str| row.get(key).map(text_of);
            let monitor = text("monitor_name")?;
            let (weight, state) = (text("weight"), text("monstate"));
            let mut options = vec![("monitorName", &monitor[..])];
            options.extend(weight.as_deref().filter(|weight| *weight != "1").map(|weight| ("weight", weight)));
            options.extend(state.as_deref().filter(|state| *state != "ENABLED").map(|state| ("monState", state)));
            service.bound.push(Bound::new(&options));
        }
        Some(service)
    }
}

/// The address that clients are told, where it is another one.
fn public(mut service: Object, data: &str, own: IpAddr) -> Object {
    if data.parse() != Ok(own) {
        service.set("publicIP", data);
    }
    service
}

/// How a vserver chooses; `None`: NetScaler has no words for it.
fn choice(vserver: &mut Object, rtype: &str, rrset: &Table) -> Option<()> {
    if rtype != "A" {
        vserver.set("dnsRecordType", rtype);
    }
    let select = rrset.get("select")?;
    if select.get("method")?.as_str()? == "hash" {
        vserver.set("lbMethod", "SOURCEIPHASH");
    }
    if select.get("answers")?.as_str() == Some("all") {
        vserver.set("MIR", "ENABLED");
    }
    if rrset.get("on_empty").and_then(Value::as_str) == Some("nodata") {
        vserver.set("EDR", "ENABLED");
    }
    Some(())
}

fn bound_domain(zone: &str, key: &str, rrset: &Table) -> Option<Bound> {
    let ttl = rrset.get("ttl")?.as_str()?.strip_suffix('s')?;
    let name = domain(zone, key);
    let backup = rrset.get("on_empty").and_then(|empty| empty.get("static")?.get(0)?.as_str());
    let mut options = vec![("domainName", &name[..]), ("TTL", ttl)];
    options.extend(backup.map(|ip| ("backupIP", ip)));
    Some(Bound::new(&options))
}
