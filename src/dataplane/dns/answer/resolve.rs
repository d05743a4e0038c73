//! One name in one zone, followed to its end.

mod additional;
mod alias;
mod choose;
mod signed;

use super::{CHAIN_MAX, Circumstances};
use crate::balance::records::{Decision, Fallback};
use crate::dataplane::dns::wire::{Full, LowerName, Query, Section, Writer, rcode};
use crate::model::geo;
use crate::model::zone::{DnsName, RecordType};
use crate::snapshot::Snapshot;
use crate::snapshot::live::Served;
use crate::snapshot::zones::{Node, NodeId, Place, ZoneEntry};
use choose::{Found, Lookup};

/// What happens on the way, for `explain`.
#[derive(Debug)]
pub enum Event<'a> {
    Zone {
        zone: usize,
    },
    /// The name exists; `empty`: as an empty non-terminal.
    Exists {
        name: &'a [u8],
        empty: bool,
    },
    Wildcard {
        name: &'a [u8],
        source: &'a DnsName,
    },
    NoSuchName {
        name: &'a [u8],
        encloser: &'a DnsName,
    },
    NoSuchType {
        name: &'a [u8],
        rtype: RecordType,
    },
    Referral {
        cut: &'a DnsName,
    },
    Alias {
        name: &'a [u8],
        target: &'a [u8],
        dname: bool,
    },
    /// An ALIAS takes the addresses of this name.
    StandsFor {
        name: &'a [u8],
        target: &'a [u8],
    },
    /// The target of an alias is not in this zone.
    LeavesZone {
        target: &'a [u8],
    },
    Loop {
        name: &'a [u8],
    },
    Fixed {
        name: &'a [u8],
        rtype: RecordType,
        records: usize,
    },
    /// Steps 1 to 4; `eligible` before the selection and `chosen` after it.
    Steered {
        zone: usize,
        index: u32,
        decision: Decision,
        /// The data centre that the client stands in, where that matters.
        near: Option<&'a str>,
        /// Where the client is, where that matters.
        place: geo::Place<'a>,
        eligible: &'a [u32],
        chosen: &'a [u32],
    },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Resolved {
    pub rcode: u16,
    pub authoritative: bool,
    pub truncated: bool,
    pub fallback: Option<(u32, Fallback)>,
    pub served: Option<(u32, Served)>,
    /// Another client might have been answered otherwise.
    pub by_client: bool,
}

pub(super) struct Resolution<'a, 't> {
    snapshot: &'a Snapshot,
    zone_at: usize,
    zone: &'a ZoneEntry,
    chosen: &'a mut Vec<u32>,
    circumstances: Circumstances<'t>,
    result: Resolved,
    /// Lower-case wire names whose addresses belong into the additional section.
    wanted: Vec<&'a [u8]>,
    /// The client wants signatures and proofs.
    dnssec_ok: bool,
    /// Places in the chain of NSEC records that the answer needs.
    proofs: signed::Proofs,
}

/// The name to go on with, where the chain of aliases is not at its end.
type Next = Option<LowerName>;

// === impl Resolution ===

impl<'a, 't> Resolution<'a, 't> {
    pub fn new(
        snapshot: &'a Snapshot,
        zone_at: usize,
        chosen: &'a mut Vec<u32>,
        circumstances: Circumstances<'t>,
    ) -> Resolution<'a, 't> {
        let result = Resolved {
            rcode: rcode::NOERROR,
            authoritative: true,
            truncated: false,
            fallback: None,
            served: None,
            by_client: false,
        };
        let zone = snapshot.zones.zone(zone_at);
        Resolution {
            snapshot,
            zone_at,
            zone,
            chosen,
            circumstances,
            result,
            wanted: Vec::new(),
            dnssec_ok: false,
            proofs: Default::default(),
        }
    }

    pub fn run(mut self, query: &Query, writer: &mut Writer<'_>) -> Resolved {
        self.tell(|r| Event::Zone { zone: r.zone_at });
        self.dnssec_ok = query.edns.is_some_and(|edns| edns.dnssec_ok);
        let followed = self.follow(query, writer).and_then(|()| self.write_proofs(writer));
        if followed.is_err() {
            self.result.truncated = true;
        } else {
            self.add_addresses(writer);
        }
        self.result
    }

    /// Follows the chain of aliases from the name of the question.
    fn follow(&mut self, query: &Query, writer: &mut Writer<'_>) -> Result<(), Full> {
        let rtype = RecordType(query.rtype);
        let mut alias: Next = None;
        let mut passed: Vec<LowerName> = Vec::new();
        loop {
            let name = alias.as_ref().unwrap_or(&query.name);
            let Some(target) = self.visit(name, rtype, passed.is_empty(), writer)? else { return Ok(()) };
            passed.push(alias.take().unwrap_or_else(|| query.name.clone()));
            if self.snapshot.zones.find(target.as_bytes()) != Some(self.zone_at) {
                self.tell(|_| Event::LeavesZone { target: target.as_bytes() });
                return Ok(());
            }
            if passed.len() == CHAIN_MAX || passed.iter().any(|p| p.as_bytes() == target.as_bytes()) {
                self.tell(|_| Event::Loop { name: target.as_bytes() });
                return Ok(());
            }
            alias = Some(target);
        }
    }

    /// One name of the chain.
    fn visit(
        &mut self,
        name: &LowerName,
        rtype: RecordType,
        first: bool,
        writer: &mut Writer<'_>,
    ) -> Result<Next, Full> {
        let zone = self.zone;
        let place = zone.place(name.as_bytes());
        let (Place::Exact(at) | Place::Below(at)) = place;
        let node = zone.node(at);
        let exact = matches!(place, Place::Exact(_));
        let dname_here = || (!exact && node.has(RecordType::DNAME)).then_some(at);
        if let Some(boundary) = node.boundary.or_else(dname_here) {
            let end = zone.node(boundary);
            // The DS of a delegation is the parent's own.
            let is_ds = exact && boundary == at && rtype == RecordType::DS;
            if end.is_cut() && !is_ds {
                return self.refer(boundary, first, writer).map(|()| None);
            } else if !end.is_cut() {
                return self.rename(name, end, rtype, writer);
            }
        }
        if exact {
            self.tell(|_| Event::Exists { name: name.as_bytes(), empty: node.is_empty() });
            return self.answer_from(name, node, rtype, writer);
        }
        match node.wildcard {
            Some(source) => {
                let source = zone.node(source);
                self.tell(|_| Event::Wildcard { name: name.as_bytes(), source: &source.name });
                // That no closer name exists.
                self.prove_name(name.as_bytes());
                self.answer_from(name, source, rtype, writer)
            }
            None => {
                self.tell(|_| Event::NoSuchName { name: name.as_bytes(), encloser: &node.name });
                self.result.rcode = rcode::NXDOMAIN;
                self.prove_no_name(name.as_bytes(), node);
                self.negative(writer).map(|()| None)
            }
        }
    }

    /// What `node` has for `rtype`, as the records of `name`.
    fn answer_from(
        &mut self,
        name: &LowerName,
        node: &'a Node,
        rtype: RecordType,
        writer: &mut Writer<'_>,
    ) -> Result<Next, Full> {
        let of_signing = match rtype {
            RecordType::NSEC => self.answer_nsec(name.as_bytes(), node, writer)?,
            RecordType::RRSIG => self.answer_rrsig(name.as_bytes(), node, writer)?,
            _ => false,
        };
        if of_signing {
            return Ok(None);
        }
        let found = match self.alias(node) {
            Lookup::Nothing if rtype == RecordType::ANY => self.any(node),
            Lookup::Nothing => self.lookup(node, rtype),
            alias => alias,
        };
        match found {
            Lookup::Records(found) => {
                self.write(Section::Answer, name.as_bytes(), found, writer)?;
                self.sign(Section::Answer, name.as_bytes(), node, found, writer)?;
                let found_type = self.type_of(found);
                if found_type == RecordType::CNAME && rtype != RecordType::CNAME && rtype != RecordType::ANY {
                    let target = self.data(found).next().and_then(LowerName::new);
                    if let Some(target) = target {
                        let event = (name.as_bytes(), target.as_bytes());
                        self.tell(|_| Event::Alias { name: event.0, target: event.1, dname: false });
                        return Ok(Some(target));
                    }
                }
                self.want_addresses(found);
                Ok(None)
            }
            Lookup::Nothing => {
                if let Some(alias) = node.fixed(RecordType::ALIAS)
                    && self.stand_in(name, alias, rtype, writer)?
                {
                    return Ok(None);
                }
                self.tell(|_| Event::NoSuchType { name: name.as_bytes(), rtype });
                self.prove_node(node);
                self.negative(writer).map(|()| None)
            }
            Lookup::ServFail => Ok(self.fail()),
        }
    }

    fn fail(&mut self) -> Next {
        self.result.rcode = rcode::SERVFAIL;
        self.result.authoritative = false;
        None
    }

    /// A referral to the zone below `cut`. It is authoritative only as the end of a chain that is.
    fn refer(&mut self, cut: NodeId, first: bool, writer: &mut Writer<'_>) -> Result<(), Full> {
        let node = self.zone.node(cut);
        self.result.authoritative = !first;
        self.tell(|_| Event::Referral { cut: &node.name });
        let found = match self.lookup(node, RecordType::NS) {
            Lookup::Records(found) => found,
            Lookup::Nothing | Lookup::ServFail => {
                self.fail();
                return Ok(());
            }
        };
        self.write(Section::Authority, &node.name.0, found, writer)?;
        self.want_addresses(found);
        // The DS of the zone below, or that it has none. NS and addresses below a cut have no signatures.
        if self.signer().is_some() {
            match self.lookup(node, RecordType::DS) {
                Lookup::Records(ds) => {
                    self.write(Section::Authority, &node.name.0, ds, writer)?;
                    self.sign(Section::Authority, &node.name.0, node, ds, writer)?;
                }
                _ => self.prove_node(node),
            }
            self.write_proofs(writer)?;
        }
        // In-domain glue first: without it the referral leads nowhere.
        let all = std::mem::take(&mut self.wanted);
        let (needed, others): (Vec<&[u8]>, Vec<&[u8]>) =
            all.into_iter().partition(|target| ends_with(target, &node.name.0));
        for target in needed {
            self.addresses(target, writer)?;
        }
        self.wanted = others;
        Ok(())
    }

    /// What a DNAME makes of a name below it (RFC 6672 §3).
    fn rename(
        &mut self,
        name: &LowerName,
        node: &'a Node,
        rtype: RecordType,
        writer: &mut Writer<'_>,
    ) -> Result<Next, Full> {
        let found = match self.lookup(node, RecordType::DNAME) {
            Lookup::Records(found) => found,
            Lookup::Nothing => {
                self.prove_node(node);
                return self.negative(writer).map(|()| None);
            }
            Lookup::ServFail => return Ok(self.fail()),
        };
        self.write(Section::Answer, &node.name.0, found, writer)?;
        self.sign(Section::Answer, &node.name.0, node, found, writer)?;
        let ttl = self.ttl_of(found);
        let target = self.data(found).next().and_then(|target| name.with_suffix(node.name.0.len(), target));
        let Some(target) = target else {
            self.result.rcode = YXDOMAIN;
            return Ok(None);
        };
        writer.record(Section::Answer, name.as_bytes(), RecordType::CNAME, ttl, target.as_bytes())?;
        self.tell(|_| Event::Alias { name: name.as_bytes(), target: target.as_bytes(), dname: true });
        // Who asks for the CNAME itself has it.
        Ok((rtype != RecordType::CNAME).then_some(target))
    }

    /// The SOA that a negative answer is cached by (RFC 2308).
    fn negative(&mut self, writer: &mut Writer<'_>) -> Result<(), Full> {
        let zone = self.zone;
        writer.record(
            Section::Authority,
            &zone.origin.0,
            RecordType::SOA,
            zone.negative_ttl,
            self.snapshot.soa(self.zone_at),
        )?;
        self.sign_soa(writer)
    }

    fn write(&mut self, section: Section, owner: &[u8], found: Found<'a>, writer: &mut Writer<'_>) -> Result<(), Full> {
        let (rtype, ttl) = (self.type_of(found), self.ttl_of(found));
        for rdata in self.data(found) {
            writer.record(section, owner, rtype, ttl, rdata)?;
        }
        Ok(())
    }

    fn tell<'e>(&mut self, event: impl FnOnce(&Self) -> Event<'e>) {
        if self.circumstances.trace.is_some() {
            let event = event(self);
            if let Some(trace) = &mut self.circumstances.trace {
                trace(event);
            }
        }
    }
}

/// The name that a DNAME makes is too long.
const YXDOMAIN: u16 = 6;

fn ends_with(name: &[u8], suffix: &[u8]) -> bool {
    name.len() >= suffix.len() && name[name.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
}
