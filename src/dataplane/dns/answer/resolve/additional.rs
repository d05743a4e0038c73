//! The additional section: addresses of the hosts that an answer names.

use super::Resolution;
use super::choose::{Found, Lookup};
use crate::dataplane::dns::wire::{Full, LowerName, Section, Writer};
use crate::model::zone::RecordType;
use crate::snapshot::zones::Place;

// === impl Resolution ===

impl<'a> Resolution<'a, '_> {
    /// Notes the hosts that `found` names.
    pub(super) fn want_addresses(&mut self, found: Found<'a>) {
        let skip = match self.type_of(found) {
            RecordType::NS => 0,
            RecordType::MX => 2,
            RecordType::SRV => 6,
            _ => return,
        };
        let mut wanted = std::mem::take(&mut self.wanted);
        for target in self.data(found).filter_map(|rdata| rdata.get(skip..)) {
            if !wanted.contains(&target) {
                wanted.push(target);
            }
        }
        self.wanted = wanted;
    }

    /// Addresses that help and may be left out.
    pub(super) fn add_addresses(&mut self, writer: &mut Writer<'_>) {
        for target in std::mem::take(&mut self.wanted) {
            let mark = writer.mark();
            if self.addresses(target, writer).is_err() {
                writer.rewind(mark);
            }
        }
    }

    pub(super) fn addresses(&mut self, target: &[u8], writer: &mut Writer<'_>) -> Result<(), Full> {
        let Some(name) = LowerName::new(target) else { return Ok(()) };
        if !name.as_bytes().ends_with(&self.zone.origin.0) {
            return Ok(());
        }
        let Place::Exact(at) = self.zone.place(name.as_bytes()) else { return Ok(()) };
        let node = self.zone.node(at);
        for rtype in [RecordType::A, RecordType::AAAA] {
            // Steering inside the additional section is no reason to call the answer a fallback, nor an answer.
            let (fallback, served) = (self.result.fallback, self.result.served);
            if let Lookup::Records(found) = self.lookup(node, rtype) {
                self.write(Section::Additional, target, found, writer)?;
                if node.is_authoritative(at) && node.boundary.is_none() {
                    self.sign(Section::Additional, target, node, found, writer)?;
                }
            }
            (self.result.fallback, self.result.served) = (fallback, served);
        }
        Ok(())
    }
}
