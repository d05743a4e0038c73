//! Steered RRsets as GSLB vservers.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::answer::Object;
use super::super::live::{double, on_off, put};
use super::record::{place, protocol, service_name, state};
use super::zeros;
use crate::control::World;
use crate::model::id::ScenarioId;
use crate::model::zone::{OnEmpty, Record, RecordType, Rrset, SelectMethod};

/// A GSLB vserver.
pub(super) struct Vserver<'m> {
    pub name: String,
    /// Its RRsets, with the place of their zone.
    rrsets: Vec<(usize, &'m Rrset)>,
    /// The DR set that it is; `None`: the primary one.
    set: Option<ScenarioId>,
    backup: Option<String>,
}

/// In the order of the zones; each name once.
pub(super) fn vservers<'m>(world: &World<'m>) -> Vec<Vserver<'m>> {
    let mut list: Vec<Vserver<'m>> = Vec::new();
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    for (zone, rrset) in
        world.model.zones.iter().enumerate().flat_map(|(at, zone)| zone.rrsets.iter().map(move |rrset| (at, rrset)))
    {
        let steers = |record: &Record| record.check.is_some() || record.cond.is_some() || record.dr_cond.is_some();
        let is_address = [RecordType::A, RecordType::AAAA, RecordType::CNAME].contains(&rrset.rtype);
        if !is_address || !(rrset.gslb_vserver.is_some() || rrset.records.iter().any(steers)) {
            continue;
        }
        let mut chain: Vec<(String, Option<ScenarioId>)> = vec![(called(rrset), None)];
        for scenario in rrset.records.iter().filter_map(|record| record.dr_cond) {
            if !chain.iter().any(|(_, set)| *set == Some(scenario)) {
                chain.push((world.model.scenario(scenario).name.to_string(), Some(scenario)));
            }
        }
        for (depth, (name, set)) in chain.iter().enumerate() {
            let at = *by_name.entry(name.clone()).or_insert_with(|| {
                let backup = chain.get(depth + 1).map(|(name, _)| name.clone());
                list.push(Vserver { name: name.clone(), rrsets: Vec::new(), set: *set, backup });
                list.len() - 1
            });
            let vserver = &mut list[at];
            if set.is_none() && vserver.set.is_some() {
                // It has domains of its own beside.
                (vserver.set, vserver.backup) = (None, chain.get(depth + 1).map(|(name, _)| name.clone()));
                vserver.rrsets.clear();
            }
            if *set == vserver.set {
                vserver.rrsets.push((zone, rrset));
            }
        }
    }
    list
}

fn called(rrset: &Rrset) -> String {
    if let Some(name) = &rrset.gslb_vserver {
        return name.to_string();
    }
    let domain = domain(rrset);
    if rrset.rtype == RecordType::A { domain } else { format!("{domain} {}", rrset.rtype) }
}

fn domain(rrset: &Rrset) -> String {
    super::dns::name(&rrset.owner)
}

// === impl Vserver ===

impl Vserver<'_> {
    /// Of one of its RRsets: all have the same.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        let set = self.set;
        let first = self.rrsets.first().map(|(_, rrset)| *rrset);
        first.into_iter().flat_map(|rrset| &rrset.records).filter(move |record| record.dr_cond == set)
    }

    /// Members that are UP, all members, and the share of the weights that is UP.
    fn health(&self, world: &World<'_>) -> (usize, usize, u64) {
        let (mut up, mut all, mut weight_up, mut weight) = (0, 0, 0, 0);
        for record in self.records() {
            all += 1;
            weight += u64::from(record.weight);
            if state(world, record) == "UP" {
                up += 1;
                weight_up += u64::from(record.weight);
            }
        }
        (up, all, (weight_up * 100).checked_div(weight).unwrap_or(0))
    }

    fn protocol(&self, world: &World<'_>) -> &'static str {
        self.records().map(|record| protocol(world, record)).find(|word| *word != "ANY").unwrap_or("ANY")
    }

    pub fn show(&self, world: &World<'_>) -> Object {
        let mut object = Object::new();
        let (up, all, health) = self.health(world);
        put(&mut object, "name", self.name.clone());
        put(&mut object, "servicetype", self.protocol(world));
        if let Some((_, rrset)) = self.rrsets.first() {
            put(&mut object, "dnsrecordtype", rrset.rtype.to_string());
            put(&mut object, "lbmethod", method(rrset.select.method));
            put(&mut object, "mir", on_off(rrset.select.answers.is_none_or(|most| most > 1)));
            put(&mut object, "edr", on_off(matches!(rrset.on_empty, OnEmpty::NoData)));
        }
        put(&mut object, "backuplbmethod", "ROUNDROBIN");
        put(&mut object, "persistencetype", "NONE");
        put(&mut object, "dynamicweight", "DISABLED");
        put(&mut object, "tolerance", double(0));
        put(&mut object, "state", "ENABLED");
        put(&mut object, "curstate", if up > 0 { "UP" } else { "DOWN" });
        put(&mut object, "status", if up > 0 { 2 } else { 1 });
        put(&mut object, "health", double(health));
        put(&mut object, "totalservices", double(all));
        put(&mut object, "activeservices", double(up));
        if let Some(backup) = &self.backup {
            put(&mut object, "backupvserver", backup.clone());
        }
        object
    }

    pub fn members(&self, world: &World<'_>) -> Vec<Object> {
        let one = |record: &Record| {
            let mut object = Object::new();
            let (ip, port) = place(world, record);
            put(&mut object, "name", self.name.clone());
            put(&mut object, "servicename", service_name(world, record));
            put(&mut object, "weight", double(record.weight));
            put(&mut object, "servicetype", protocol(world, record));
            put(&mut object, "ipaddress", ip);
            put(&mut object, "port", port);
            put(&mut object, "curstate", state(world, record));
            put(&mut object, "dynamicconfwt", double(0));
            put(&mut object, "svreffgslbstate", state(world, record));
            if let Some(site) = &record.datacenter {
                put(&mut object, "sitename", &**site);
            }
            object
        };
        self.records().map(one).collect()
    }

    pub fn domains(&self) -> Vec<Object> {
        if self.set.is_some() {
            return Vec::new();
        }
        let one = |rrset: &Rrset| {
            let mut object = Object::new();
            put(&mut object, "name", self.name.clone());
            put(&mut object, "domainname", domain(rrset));
            put(&mut object, "ttl", double(rrset.ttl));
            if let OnEmpty::Static(data) = &rrset.on_empty
                && let Some(first) = data.first()
            {
                put(&mut object, "backupip", &*first.data);
            }
            object
        };
        self.rrsets.iter().map(|(_, rrset)| one(rrset)).collect()
    }

    pub fn bindings(&self, world: &World<'_>) -> Object {
        let mut object = Object::new();
        put(&mut object, "name", self.name.clone());
        for (key, list) in
            [("gslbvserver_gslbservice_binding", self.members(world)), ("gslbvserver_domain_binding", self.domains())]
        {
            if !list.is_empty() {
                object.insert(key.into(), list.into_iter().map(Value::Object).collect());
            }
        }
        object
    }

    /// A hit is an answer that holds records of its set.
    pub fn statistics(&self, world: &World<'_>) -> Object {
        let (up, all, health) = self.health(world);
        let total = |word: &str| -> u64 {
            let counted = self.rrsets.iter().filter_map(|(zone, rrset)| {
                let live = world.snapshot.zone_live.get(*zone)?.rrset(&rrset.key);
                Some(live.totals().filter(|(set, _)| *set == word).map(|(_, total)| total).sum::<u64>())
            });
            counted.sum()
        };
        let (own, backup) = match self.set {
            None => (total("primary"), total("dr")),
            Some(_) => (total("dr"), 0),
        };
        counters(&self.name, self.protocol(world), (up, all, health), (own, backup))
    }
}

/// Counters of a vserver: its members that are up, all of them, the health in percent; hits of its own and of its backup.
pub(super) fn counters(
    name: &str,
    protocol: &str,
    (up, all, health): (usize, usize, u64),
    (own, backup): (u64, u64),
) -> Object {
    let mut object = zeros(&["curpersistencesessions", "vsvrsurgecount", "sothreshold", "totspillovers"]);
    put(&mut object, "name", name);
    put(&mut object, "type", protocol);
    put(&mut object, "state", if up > 0 { "UP" } else { "DOWN" });
    put(&mut object, "primaryipaddress", "0.0.0.0");
    put(&mut object, "primaryport", 0);
    put(&mut object, "vslbhealth", double(health));
    put(&mut object, "actsvcs", double(up));
    put(&mut object, "inactsvcs", double(all - up));
    put(&mut object, "tothits", double(own));
    put(&mut object, "hitsrate", 0);
    put(&mut object, "totvserverdownbackuphits", double(backup));
    object
}

fn method(method: SelectMethod) -> &'static str {
    match method {
        SelectMethod::Hash => "SOURCEIPHASH",
        SelectMethod::Ordered | SelectMethod::RoundRobin | SelectMethod::Weighted => "ROUNDROBIN",
    }
}
