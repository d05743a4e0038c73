//! What a client that says DO gets beside the records: their signatures, and proofs of what there is not
//! (RFC 4035 §3.1).
//!
//! The AD and CD bits of queries mean nothing to an authoritative server; both are clear in its answers (§3.1.6).

use super::Resolution;
use super::choose::{Found, Lookup};
use crate::dataplane::dns::unix_now;
use crate::dataplane::dns::wire::{Full, LowerName, Section, Writer};
use crate::model::zone::RecordType;
use crate::snapshot::signing::{Contents, Signable, ZoneSigner, contents};
use crate::snapshot::zones::{Node, ZoneEntry};

/// Places in the chain of NSEC records that an answer needs: few, and each once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proofs {
    places: [usize; PROOFS_MAX],
    count: usize,
}

/// A step of a chain of aliases needs one, its end two. Answers with more of them than this are none that anybody needs.
const PROOFS_MAX: usize = 2 + super::CHAIN_MAX;

// === impl Resolution ===

impl<'a, 't> Resolution<'a, 't> {
    /// What signs the answer: `None` where the zone is not signed or the client did not ask.
    pub(super) fn signer(&self) -> Option<&'a ZoneSigner> {
        self.zone.signer.as_ref().filter(|_| self.dnssec_ok)
    }

    /// The signatures of `found`, which is `node`'s and was written as that of `owner`.
    pub(super) fn sign(
        &mut self,
        section: Section,
        owner: &[u8],
        node: &'a Node,
        found: Found<'a>,
        writer: &mut Writer<'_>,
    ) -> Result<(), Full> {
        let Some(signer) = self.signer() else { return Ok(()) };
        let (rtype, ttl) = (self.type_of(found), self.ttl_of(found));
        let what = Signable { owner: &node.name, rtype, ttl };
        let rrsigs = signer.signatures(what, &self.contents(found), self.data(found), unix_now());
        for rrsig in rrsigs.iter() {
            writer.record(section, owner, RecordType::RRSIG, ttl, rrsig)?;
        }
        Ok(())
    }

    /// The signatures of the SOA of a negative answer: its TTL there is that of the answer.
    pub(super) fn sign_soa(&mut self, writer: &mut Writer<'_>) -> Result<(), Full> {
        let zone = self.zone;
        let Some(signer) = self.signer() else { return Ok(()) };
        let what = Signable { owner: &zone.origin, rtype: RecordType::SOA, ttl: zone.soa_ttl };
        let soa = self.snapshot.soa(self.zone_at);
        let once = || std::iter::once(soa);
        for rrsig in signer.signatures(what, &contents(once()), once(), unix_now()).iter() {
            writer.record(Section::Authority, &zone.origin.0, RecordType::RRSIG, zone.negative_ttl, rrsig)?;
        }
        Ok(())
    }

    /// Stands for the data.
    fn contents(&self, found: Found<'a>) -> Contents {
        match found {
            Found::Fixed(set) if set.rtype != RecordType::SOA => set.contents,
            _ => contents(self.data(found)),
        }
    }

    /// Notes the NSEC that says what `node` has, or that it is an empty non-terminal.
    pub(super) fn prove_node(&mut self, node: &'a Node) {
        self.prove_name(&node.name.0);
    }

    /// Notes the NSEC of a name (lower case, wire format), or the one that covers it.
    pub(super) fn prove_name(&mut self, name: &[u8]) {
        let Some(signer) = self.signer() else { return };
        let place = signer.covering(name);
        self.proofs.note(place);
    }

    /// Notes that neither the name nor a wildcard that would answer for it exists.
    pub(super) fn prove_no_name(&mut self, name: &[u8], encloser: &'a Node) {
        if self.signer().is_none() {
            return;
        }
        self.prove_name(name);
        if let Some(wildcard) = LowerName::below(b"\x01*", &encloser.name.0) {
            self.prove_name(wildcard.as_bytes());
        }
    }

    /// Writes the proofs noted so far.
    pub(super) fn write_proofs(&mut self, writer: &mut Writer<'_>) -> Result<(), Full> {
        let zone = self.zone;
        let Some(signer) = self.signer() else { return Ok(()) };
        for place in self.proofs.take() {
            let node = zone.node(signer.chain()[place]);
            self.nsec(Section::Authority, &node.name.0, node, place, writer)?;
        }
        Ok(())
    }

    /// The NSEC of a node as the answer to a question for it; false where it has none.
    pub(super) fn answer_nsec(&mut self, owner: &[u8], node: &'a Node, writer: &mut Writer<'_>) -> Result<bool, Full> {
        let zone = self.zone;
        let Some(signer) = &zone.signer else { return Ok(false) };
        let place = signer.covering(&node.name.0);
        if zone.node(signer.chain()[place]).name != node.name {
            return Ok(false);
        }
        self.nsec(Section::Answer, owner, node, place, writer)?;
        Ok(true)
    }

    fn nsec(
        &mut self,
        section: Section,
        owner: &[u8],
        node: &'a Node,
        place: usize,
        writer: &mut Writer<'_>,
    ) -> Result<(), Full> {
        let zone: &'a ZoneEntry = self.zone;
        let Some(signer) = &zone.signer else { return Ok(()) };
        let steered;
        let rdata = match signer.fixed_nsec(place) {
            Some(rdata) => rdata,
            None => {
                let types = self.snapshot.types(self.zone_at, node);
                steered = signer.nsec(place, types, |id| &zone.node(id).name);
                &steered
            }
        };
        let ttl = zone.negative_ttl;
        writer.record(section, owner, RecordType::NSEC, ttl, rdata)?;
        if self.dnssec_ok {
            let what = Signable { owner: &node.name, rtype: RecordType::NSEC, ttl };
            let rrsigs = signer.signatures(what, rdata, std::iter::once(rdata), unix_now());
            for rrsig in rrsigs.iter() {
                writer.record(section, owner, RecordType::RRSIG, ttl, rrsig)?;
            }
        }
        Ok(())
    }

    /// The signatures of one RRset of the name as the answer to a question for RRSIG (RFC 8482 §7: not all of them).
    pub(super) fn answer_rrsig(&mut self, owner: &[u8], node: &'a Node, writer: &mut Writer<'_>) -> Result<bool, Full> {
        if self.zone.signer.is_none() {
            return Ok(false);
        }
        let found = match self.alias(node) {
            Lookup::Nothing => self.any(node),
            alias => alias,
        };
        let Lookup::Records(found) = found else { return Ok(false) };
        let asked = std::mem::replace(&mut self.dnssec_ok, true);
        let signed = self.sign(Section::Answer, owner, node, found, writer);
        self.dnssec_ok = asked;
        signed.map(|()| true)
    }
}

// === impl Proofs ===

impl Proofs {
    fn note(&mut self, place: usize) {
        if self.count < PROOFS_MAX && !self.places[..self.count].contains(&place) {
            self.places[self.count] = place;
            self.count += 1;
        }
    }

    /// What was noted, which is forgotten.
    fn take(&mut self) -> impl Iterator<Item = usize> + use<> {
        let Proofs { places, count } = std::mem::take(self);
        places.into_iter().take(count)
    }
}
