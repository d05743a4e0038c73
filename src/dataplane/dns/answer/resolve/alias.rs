//! ALIAS: the addresses of another name served here, as one's own.

use super::choose::Lookup;
use super::{CHAIN_MAX, Event, Resolution};
use crate::dataplane::dns::wire::{Full, LowerName, Section, Writer};
use crate::model::zone::RecordType;
use crate::snapshot::zones::{FixedRrset, Node, Place};

// === impl Resolution ===

impl<'a> Resolution<'a, '_> {
    /// Writes the addresses that `alias` leads to as records of `name`. False: it leads to none of this type.
    pub(super) fn stand_in(
        &mut self,
        name: &LowerName,
        alias: &'a FixedRrset,
        rtype: RecordType,
        writer: &mut Writer<'_>,
    ) -> Result<bool, Full> {
        if rtype != RecordType::A && rtype != RecordType::AAAA {
            return Ok(false);
        }
        let home = (self.zone_at, self.zone);
        let written = self.addresses_behind(name, alias, rtype, writer);
        if self.zone_at != home.0 {
            // Positions of another zone mean nothing in this one.
            (self.result.fallback, self.result.served) = (None, None);
        }
        (self.zone_at, self.zone) = home;
        written
    }

    fn addresses_behind(
        &mut self,
        name: &LowerName,
        alias: &'a FixedRrset,
        rtype: RecordType,
        writer: &mut Writer<'_>,
    ) -> Result<bool, Full> {
        let mut ttl = alias.ttl;
        let mut target = alias.rdata.first().and_then(|rdata| LowerName::new(rdata));
        for _ in 0..CHAIN_MAX {
            let Some(node) = target.as_ref().and_then(|target| self.step_to(target)) else { return Ok(false) };
            self.tell(|_| Event::StandsFor { name: name.as_bytes(), target: &node.name.0 });
            let found = match self.alias(node) {
                Lookup::Nothing => self.lookup(node, rtype),
                cname => cname,
            };
            target = match found {
                Lookup::Records(found) => {
                    ttl = ttl.min(self.ttl_of(found));
                    if self.type_of(found) == RecordType::CNAME {
                        self.data(found).next().and_then(LowerName::new)
                    } else {
                        for rdata in self.data(found) {
                            writer.record(Section::Answer, name.as_bytes(), rtype, ttl, rdata)?;
                        }
                        return Ok(true);
                    }
                }
                Lookup::Nothing => {
                    let next = node.fixed(RecordType::ALIAS);
                    ttl = ttl.min(next.map_or(ttl, |next| next.ttl));
                    next.and_then(|next| next.rdata.first()).and_then(|rdata| LowerName::new(rdata))
                }
                Lookup::ServFail => {
                    self.fail();
                    return Ok(true);
                }
            };
        }
        Ok(false)
    }

    /// The node that answers for `target`, in whichever zone here has it; that zone is the current one from then on.
    fn step_to(&mut self, target: &LowerName) -> Option<&'a Node> {
        self.zone_at = self.snapshot.zones.find(target.as_bytes())?;
        self.zone = self.snapshot.zones.zone(self.zone_at);
        let zone = self.zone;
        let place = zone.place(target.as_bytes());
        let (Place::Exact(at) | Place::Below(at)) = place;
        let node = zone.node(at);
        // What is delegated or renamed is not followed.
        let ends = node.boundary.is_some() || (place == Place::Below(at) && node.has(RecordType::DNAME));
        match place {
            _ if ends => None,
            Place::Exact(_) => Some(node),
            Place::Below(_) => node.wildcard.map(|at| zone.node(at)),
        }
    }
}
