//! What traffic would see: snapshots, and DNS answers from them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use domain::base::Message;
use domain::base::zonefile_fmt::{DisplayKind, ZonefileFmt};
use domain::rdata::AllRecordData;

use super::{Happening, World};
use crate::dataplane::dns::answer::{Transport, answer};
use crate::model::Model;
use crate::model::state::StateView;
use crate::model::zone::{DnsName, RecordType};
use crate::snapshot::Snapshot;
use crate::snapshot::build::{Parts, build};
use crate::snapshot::live::Registry;
use crate::snapshot::zones::ZoneIndex;

/// An answer in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// `NOERROR`, `NXDOMAIN`, `SERVFAIL`, `REFUSED`, `NODATA` where a name has nothing of the type.
    pub code: &'static str,
    /// RDATA of the records of the type asked for (of the alias where there is nothing else), sorted.
    pub records: Vec<String>,
}

/// The last snapshot and what it was made with.
#[derive(Debug)]
pub(super) struct Published {
    registry: Registry,
    zones: Arc<ZoneIndex>,
    snapshot: Arc<Snapshot>,
    pub is_due: bool,
    /// By zone and RRset: what is answered.
    told: HashMap<(usize, usize), Vec<String>>,
}

// === impl Published ===

impl Published {
    pub fn new(model: &Arc<Model>) -> Published {
        let mut registry = Registry::default();
        let zones = Arc::new(ZoneIndex::build(model));
        let first = build(Parts {
            generation: 0,
            model,
            view: &StateView::default(),
            registry: &mut registry,
            zones: &zones,
            resolved: &Default::default(),
            previous: None,
            scenario_active: model.scenarios.iter().map(|s| s.initially_active).collect(),
            ready: false,
        });
        Published { registry, zones, snapshot: Arc::new(first), is_due: false, told: HashMap::new() }
    }

    /// Of another process: what lives in memory only is gone.
    pub fn anew(&mut self, model: &Arc<Model>) -> Published {
        Published { told: std::mem::take(&mut self.told), ..Published::new(model) }
    }

    /// For another model.
    pub fn prepare(&mut self, model: &Arc<Model>) {
        if !Arc::ptr_eq(model, &self.snapshot.model) {
            self.zones = Arc::new(ZoneIndex::build(model));
            self.told.clear();
        }
        self.is_due = true;
    }
}

// === impl World ===

impl World {
    /// What traffic reads right now.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.published.snapshot
    }

    /// What `client` is answered, in full (that is: as over TCP).
    pub fn ask(&self, name: &DnsName, rtype: RecordType, client: IpAddr) -> Reply {
        let mut reply = Vec::new();
        answer(&self.published.snapshot, &question(name, rtype), client, Transport::Tcp, 0, &mut reply);
        read(&reply, rtype)
    }

    pub(super) fn publish(&mut self) {
        if self.view().generation == 0 {
            // Nothing is adopted yet.
            return;
        }
        self.decide_readiness();
        if !self.published.is_due {
            return;
        }
        let published = &mut self.published;
        published.is_due = false;
        let view = self.engine.view();
        let next = build(Parts {
            generation: published.snapshot.generation + 1,
            model: self.engine.model(),
            view,
            registry: &mut published.registry,
            zones: &published.zones,
            resolved: self.names.known(),
            previous: Some(&published.snapshot),
            scenario_active: view.scenarios.iter().map(|s| s.active).collect(),
            ready: self.ready,
        });
        published.snapshot = Arc::new(next);
        if self.watch_answers {
            self.tell_answers();
        }
    }

    /// Every steered RRset whose answer is not what it was.
    pub(super) fn tell_answers(&mut self) {
        let snapshot = Arc::clone(&self.published.snapshot);
        if !snapshot.ready {
            return;
        }
        for (at, zone) in snapshot.model.zones.iter().enumerate() {
            for (index, rrset) in zone.rrsets.iter().enumerate() {
                let served = snapshot.steered(at, index).records;
                let pairs = served.iter().zip(&rrset.records).filter(|(view, _)| view.served);
                let records: Vec<String> = pairs.map(|(_, record)| record.data.to_string()).collect();
                if self.published.told.get(&(at, index)) != Some(&records) {
                    self.published.told.insert((at, index), records.clone());
                    let name = format!("{} {}", rrset.owner, rrset.rtype);
                    self.tell(Happening::Answer { name, records });
                }
            }
        }
    }
}

fn question(name: &DnsName, rtype: RecordType) -> Vec<u8> {
    // One question, class IN, nothing else said.
    let mut query = vec![0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    query.extend_from_slice(&name.0);
    query.extend_from_slice(&rtype.0.to_be_bytes());
    query.extend_from_slice(&[0, 1]);
    query
}

fn read(reply: &[u8], rtype: RecordType) -> Reply {
    let Ok(message) = Message::from_octets(reply) else {
        return Reply { code: "SERVFAIL", records: Vec::new() };
    };
    let (mut records, mut aliases) = (Vec::new(), Vec::new());
    let section = message.answer().into_iter().flat_map(|s| s.into_records::<AllRecordData<_, _>>());
    for record in section.filter_map(Result::ok) {
        // Quotes of character strings cannot be written in a script.
        let data = record.data().display_zonefile(DisplayKind::Simple).to_string().replace('"', "");
        match record.rtype().to_int() == rtype.0 || rtype == RecordType::ANY {
            true => records.push(data),
            false => aliases.push(data),
        }
    }
    let mut records = if records.is_empty() { aliases } else { records };
    records.sort();
    let code = match message.header().rcode().to_int() {
        0 if records.is_empty() => "NODATA",
        0 => "NOERROR",
        3 => "NXDOMAIN",
        5 => "REFUSED",
        _ => "SERVFAIL",
    };
    Reply { code, records }
}
