//! Which records a node has for a type: those of the zone, or those that scenarios choose at this moment.

use super::{Event, Resolution};
use crate::balance::records::{Decision, Draw, Source, select};
use crate::model::geo::Place;
use crate::model::zone::{OnEmpty, RecordType, Rrset, Select, SelectMethod, StaticData};
use crate::snapshot::caching::Kept;
use crate::snapshot::live::Served;
use crate::snapshot::zones::{FixedRrset, Node};

/// Records of one RRset, ready to be written.
#[derive(Clone, Copy)]
pub(super) enum Found<'a> {
    Fixed(&'a FixedRrset),
    /// The positions are in `Resolution::chosen`, until the next decision.
    Chosen(&'a Rrset, &'a Kept),
    Static(&'a Rrset, &'a Kept),
}

/// What a node holds for a type.
pub(super) enum Lookup<'a> {
    Records(Found<'a>),
    Nothing,
    ServFail,
}

// === impl Resolution ===

impl<'a, 't> Resolution<'a, 't> {
    /// The CNAME of a node, if it is one at the moment. A name whose set is a CNAME is one for all types.
    pub(super) fn alias(&mut self, node: &'a Node) -> Lookup<'a> {
        if let Some(set) = node.fixed(RecordType::CNAME) {
            return self.fixed(node, set);
        }
        for steered in node.steered.iter().filter(|s| s.varies || s.rtype == RecordType::CNAME) {
            let decision = self.decide(steered.index);
            match decision.source {
                Source::Records(_) | Source::Static if decision.rtype == RecordType::CNAME => {
                    return self.selected(steered.index, decision);
                }
                Source::ServFail if steered.rtype == RecordType::CNAME => {
                    return self.selected(steered.index, decision);
                }
                // Another type, for `lookup`, or nothing. What `on_empty` left out is counted all the same.
                Source::Nothing if steered.rtype == RecordType::CNAME => {
                    self.selected(steered.index, decision);
                }
                _ => {}
            }
        }
        Lookup::Nothing
    }

    /// The records of one type; those of CNAME are [`Resolution::alias`]'s.
    pub(super) fn lookup(&mut self, node: &'a Node, rtype: RecordType) -> Lookup<'a> {
        if rtype == RecordType::CNAME || rtype == RecordType::ALIAS {
            return Lookup::Nothing;
        }
        if let Some(set) = node.fixed(rtype) {
            return self.fixed(node, set);
        }
        for steered in node.steered.iter().filter(|s| s.varies || s.rtype == rtype) {
            let decision = self.decide(steered.index);
            if decision.rtype == rtype {
                return self.selected(steered.index, decision);
            }
        }
        Lookup::Nothing
    }

    /// The RRset of the lowest type that has records.
    pub(super) fn any(&mut self, node: &'a Node) -> Lookup<'a> {
        let mut lowest = node.fixed.iter().map(|set| set.rtype).filter(|rtype| *rtype != RecordType::ALIAS).min();
        for steered in &node.steered {
            let decision = self.decide(steered.index);
            let has_records = matches!(decision.source, Source::Records(_) | Source::Static);
            if has_records && lowest.is_none_or(|l| decision.rtype < l) {
                lowest = Some(decision.rtype);
            }
        }
        lowest.map_or(Lookup::Nothing, |rtype| self.lookup(node, rtype))
    }

    fn fixed(&mut self, node: &'a Node, set: &'a FixedRrset) -> Lookup<'a> {
        self.tell(|_| Event::Fixed { name: &node.name.0, rtype: set.rtype, records: set.rdata.len() });
        Lookup::Records(Found::Fixed(set))
    }

    fn decide(&mut self, index: u32) -> Decision {
        self.snapshot.decide(self.zone_at, index as usize, self.chosen)
    }

    /// Step 4, for what [`Resolution::decide`] has just decided.
    fn selected(&mut self, index: u32, decision: Decision) -> Lookup<'a> {
        let rrset = self.rrset(index);
        let tracing = self.circumstances.trace.is_some();
        let eligible = if tracing { self.chosen.clone() } else { Vec::new() };
        let turn = if tracing { self.zone.turn(index) } else { self.zone.next_turn(index) };
        let (entropy, client) = (self.circumstances.entropy, self.circumstances.client);
        let datacenter = if rrset.select.topology { self.snapshot.zones.networks().datacenter(client) } else { None };
        let geo = self.snapshot.model.dns.geo.as_ref().filter(|_| rrset.select.geo);
        let place = geo.map_or_else(Place::default, |geo| geo.place(client));
        let draw = Draw { entropy, turn, client, datacenter, place };
        let Select { topology, geo, method, .. } = rrset.select;
        self.result.by_client |= topology || geo || method == SelectMethod::Hash;
        self.result.served = Some((index, Served::of(&decision)));
        select(rrset, self.chosen, draw);
        if let Some(trace) = &mut self.circumstances.trace {
            let zone = self.zone_at;
            trace(Event::Steered {
                zone,
                index,
                decision,
                near: datacenter,
                place,
                eligible: &eligible,
                chosen: self.chosen,
            });
        }
        if let Some(fallback) = decision.fallback {
            self.result.fallback = Some((index, fallback));
        }
        let kept = self.snapshot.caching.of(self.zone_at, index as usize);
        if !tracing && decision.source != Source::ServFail {
            let ttl = if decision.source == Source::Nothing { self.zone.negative_ttl } else { kept.ttl };
            kept.give(&self.snapshot.dns.askers, self.circumstances.peer, self.circumstances.now, ttl);
        }
        match decision.source {
            Source::Records(_) => Lookup::Records(Found::Chosen(rrset, kept)),
            Source::Static => Lookup::Records(Found::Static(rrset, kept)),
            Source::Nothing => Lookup::Nothing,
            Source::ServFail => Lookup::ServFail,
        }
    }

    fn rrset(&self, index: u32) -> &'a Rrset {
        &self.snapshot.model.zones[self.zone_at].rrsets[index as usize]
    }

    pub(super) fn type_of(&self, found: Found<'a>) -> RecordType {
        match found {
            Found::Fixed(set) => set.rtype,
            Found::Chosen(rrset, _) => rrset.records[self.chosen[0] as usize].rtype,
            Found::Static(rrset, _) => rrset.rtype,
        }
    }

    pub(super) fn ttl_of(&self, found: Found<'a>) -> u32 {
        match found {
            Found::Fixed(set) => set.ttl,
            Found::Chosen(_, kept) | Found::Static(_, kept) => kept.ttl,
        }
    }

    /// The RDATA of each record.
    pub(super) fn data(&self, found: Found<'a>) -> impl Iterator<Item = &'a [u8]> + use<'_, 'a, 't> {
        let count = match found {
            Found::Fixed(set) => set.rdata.len(),
            Found::Chosen(..) => self.chosen.len(),
            Found::Static(rrset, _) => static_data(rrset).len(),
        };
        // There is one CNAME or none (checked at load; a steered one is selected alone).
        let count = if self.type_of(found) == RecordType::CNAME { count.min(1) } else { count };
        (0..count).map(move |i| match found {
            Found::Fixed(set) if set.rtype == RecordType::SOA => self.snapshot.soa(self.zone_at),
            Found::Fixed(set) => &*set.rdata[i],
            Found::Chosen(rrset, _) => &*rrset.records[self.chosen[i] as usize].rdata,
            Found::Static(rrset, _) => &*static_data(rrset)[i].rdata,
        })
    }
}

fn static_data(rrset: &Rrset) -> &[StaticData] {
    match &rrset.on_empty {
        OnEmpty::Static(data) => data,
        _ => &[],
    }
}
