//! Zones that come from primaries: what has come is prepared beside the reactor ([`ZoneJob`]) and published as any other
//! change. The configuration is not touched by it, nor are scenarios and services.

use std::sync::Arc;

use super::{Core, Output};
use crate::control::command::{Done, Refusal};
use crate::model::Model;
use crate::model::event::Record;
use crate::model::id::Name;
use crate::model::time::Now;
use crate::model::zone::{AllContents, DnsName, Received, Zone, ZoneNews};
use crate::snapshot::zones::ZoneEntry;

/// Prepares a zone for answering; may take its time.
pub struct ZoneJob {
    model: Arc<Model>,
    zone: usize,
    received: Received,
    /// What it takes the place of: its signatures are kept.
    before: Arc<ZoneEntry>,
    /// Told when traffic has it.
    record: Option<Record>,
}

pub struct ZoneBuilt {
    job: ZoneJob,
    entry: Arc<ZoneEntry>,
}

/// What of `found` belongs to zones that come from primaries.
pub(super) fn wanted(found: &[Received], model: &Model) -> AllContents {
    let comes_in = |origin: &DnsName| model.zones.iter().any(|zone| zone.origin == *origin && zone.transfer.comes_in());
    let found = found.iter().filter(|received| comes_in(&received.contents.origin));
    found.map(|received| (received.contents.origin.clone(), received.clone())).collect()
}

// === impl ZoneJob ===

impl ZoneJob {
    pub fn run(self) -> Box<ZoneBuilt> {
        let entry = Arc::new(ZoneEntry::build_with(self.zone(), Some(&self.received), Some(&self.before)));
        Box::new(ZoneBuilt { job: self, entry })
    }

    fn zone(&self) -> &Zone {
        &self.model.zones[self.zone]
    }
}

// === impl Core ===

impl Core {
    pub(super) fn zone_news(&mut self, now: Now, origin: &DnsName, news: ZoneNews) {
        let model = Arc::clone(self.engine.model());
        let found = model.zones.iter().position(|zone| zone.origin == *origin && zone.transfer.comes_in());
        // The configuration has changed meanwhile.
        let Some(at) = found else { return };
        let told = |what: &str, serial: Option<u32>, detail: &str| Record::Zone {
            zone: Name::clone(&model.zones[at].name),
            what: what.into(),
            serial,
            detail: detail.into(),
        };
        let known = self.contents.get_mut(origin);
        let was_expired = known.as_ref().is_some_and(|known| known.is_expired);
        match news {
            ZoneNews::Transferred { received, primary, incremental } => {
                let by = if incremental { "differences" } else { "the whole zone" };
                let records = received.contents.records.len() + 1;
                let detail = format!("{by} from {primary}, {records} records");
                let record = told("transferred", Some(received.contents.serial()), &detail);
                self.contents.insert(origin.clone(), received.clone());
                self.build_zone(at, received, Some(record));
            }
            ZoneNews::Confirmed { received } => {
                let record = told("confirmed", Some(received.contents.serial()), "a primary has it as it is here");
                self.contents.insert(origin.clone(), received.clone());
                if was_expired {
                    self.build_zone(at, received, Some(record));
                }
            }
            ZoneNews::Expired => {
                let Some(known) = known else { return };
                known.is_expired = true;
                let received = known.clone();
                let detail = "no primary has confirmed it in time; SERVFAIL";
                let record = told("expired", Some(received.contents.serial()), detail);
                self.build_zone(at, received, Some(record));
            }
            ZoneNews::Failed { why } => {
                let serial = known.map(|known| known.contents.serial());
                self.record(now, now, told("failed", serial, &why));
            }
        }
    }

    fn build_zone(&mut self, zone: usize, received: Received, record: Option<Record>) {
        let model = Arc::clone(self.engine.model());
        let before = Arc::clone(self.zones.entry(zone));
        self.outputs.push(Output::Zone(Box::new(ZoneJob { model, zone, received, before, record })));
    }

    pub(super) fn zone_built(&mut self, now: Now, built: ZoneBuilt) {
        let ZoneBuilt { job, entry } = built;
        let origin = &job.received.contents.origin;
        // Something newer is on its way.
        if !self.contents.get(origin).is_some_and(|known| is_same(known, &job.received)) {
            return;
        }
        let model = Arc::clone(self.engine.model());
        let Some(at) = model.zones.iter().position(|zone| zone.origin == *origin) else { return };
        if model.zones[at] != *job.zone() {
            // Prepared for a configuration that is no more.
            self.build_zone(at, job.received, job.record);
            return;
        }
        self.zones = Arc::new(self.zones.with(at, entry));
        self.dirty = true;
        if let Some(record) = job.record {
            self.record(now, now, record);
        }
    }

    /// After another configuration: what has come while it was read, and what it has no use for.
    pub(super) fn catch_up_zones(&mut self) {
        let model = Arc::clone(self.engine.model());
        let comes_in = |origin: &DnsName| model.zones.iter().any(|z| z.origin == *origin && z.transfer.comes_in());
        self.contents.retain(|origin, _| comes_in(origin));
        for (at, zone) in model.zones.iter().enumerate() {
            let Some(known) = self.contents.get(&zone.origin).cloned() else { continue };
            if !self.zones.zone(at).received.as_ref().is_some_and(|built| is_same(built, &known)) {
                self.build_zone(at, known, None);
            }
        }
    }

    /// Asks for a look at the primaries of a zone now.
    pub(super) fn transfer_zone(&mut self, now: Now, actor: &Name, name: &str, whole: bool) -> Result<Done, Refusal> {
        let zones = &self.engine.model().zones;
        let wanted = name.strip_suffix('.').filter(|rest| !rest.is_empty()).unwrap_or(name);
        let found = zones.iter().find(|zone| zone.name.eq_ignore_ascii_case(wanted));
        let Some(zone) = found else { return Err(Refusal::Invalid(format!("no zone of the name {name}"))) };
        if !zone.transfer.comes_in() {
            let text = format!("zone {name} comes from the configuration: it names no primaries (`transfer.from`)");
            return Err(Refusal::Conflict(text));
        }
        let zone = Name::clone(&zone.name);
        self.registry.zone(&zone).secondary.ring(whole);
        let body = serde_json::json!({ "do": "transfer", "whole": whole });
        self.draft(now, "zone_act", format!("zone {zone}").into(), Name::clone(actor), body);
        Ok(Done::default())
    }
}

fn is_same(a: &Received, b: &Received) -> bool {
    Arc::ptr_eq(&a.contents, &b.contents) && a.is_expired == b.is_expired
}
