//! What to do with addresses: pure. It is handed the wishes, what the machine has, what is heard on the wire, and the
//! time; it answers with acts.
//!
//! ```text
//!                    no interface          free after three probes
//!   WAITING ◀──────────────┐        ┌──────────────────────────────▶ ADDING ──it is there──▶ HELD ──┐ somebody
//!      └── an interface ──▶ PROBING ┤                                   │ ▲                   │  ▲   │ claims it:
//!                           ▲  ▲    └─ somebody has it ─▶ CONFLICT ─┐   │ └─ it was taken ────┘  └───┘ announced
//!                           │  └───────────── after a while ────────┘   │    away                      again
//!                           └──────────────── after a while ── REFUSED ◀┘
//! ```
//!
//! - **IPv4** is asked for by ARP (RFC 5227), with shorter times than it names: a VIP that moves must not be away for
//!   seven seconds. Two boxes that ask at once: the one with the lower hardware address goes on.
//! - **IPv6** is added at once and found out by the kernel (duplicate address detection, RFC 4862): a tentative address is
//!   not there yet, a duplicate one is taken off again.
//! - **The machine decides what is there**, not what was asked of it: an address that somebody takes away is added again,
//!   one that is there without our mark is left alone, and one with our mark that nobody wants is removed.
//! - An address that moves is added where it goes before it is removed where it was.

mod turn;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::time::Duration;

use super::arp::Heard;
use super::machine::{Assigned, Mac, Machine};
use super::wish::Wish;
use crate::model::id::Name;
use crate::model::network::{AddressState, InterfaceAddress};
use crate::model::time::Tick;
use turn::Turn;

/// Probes before an address counts as free, and the time between them; an answer to the last is waited for as long.
const PROBES: u8 = 3;
const PROBE_EVERY: Duration = Duration::from_millis(200);
/// Announcements of an address that was added.
const ANNOUNCEMENTS: u8 = 3;
const ANNOUNCE_EVERY: Duration = Duration::from_secs(1);
/// An address that somebody else has is asked for again after this, and up to a second more, which is another one for
/// each box: two that wait for one address do not ask in the same moment.
const CONFLICT_RETRY: Duration = Duration::from_secs(3);
/// What the system refused is tried again.
const REFUSED_RETRY: Duration = Duration::from_secs(10);
/// An act whose effect does not show (addresses of IPv6 are tentative for a while).
const ACT_PATIENCE: Duration = Duration::from_secs(5);
/// Somebody else claims an address that is held: it is announced again, at most this often (RFC 5227 §2.4).
const DEFEND_EVERY: Duration = Duration::from_secs(10);
/// A claim that is repeated sooner is the same one.
const CLAIM_AGAIN: Duration = Duration::from_secs(1);
/// A claim that is not repeated counts as given up.
const CLAIM_LASTS: Duration = Duration::from_secs(60);

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Sets a link up.
    Up {
        link: u32,
    },
    Add {
        link: u32,
        address: InterfaceAddress,
    },
    Remove {
        link: u32,
        address: InterfaceAddress,
    },
    /// Asks whether somebody has it.
    Probe {
        link: u32,
        ip: IpAddr,
    },
    /// Says that this machine has it.
    Announce {
        link: u32,
        ip: IpAddr,
    },
}

/// An address on its way.
#[derive(Clone, Debug, Default)]
struct Row {
    phase: Phase,
    claim: Option<Claim>,
}

/// Of somebody else, on an address that is held.
#[derive(Clone, Debug)]
struct Claim {
    by: Mac,
    at: Tick,
    defended: Option<Tick>,
}

#[derive(Clone, Debug, Default)]
enum Phase {
    #[default]
    New,
    Waiting {
        why: String,
    },
    Probing {
        link: u32,
        sent: u8,
        due: Tick,
    },
    Adding {
        link: u32,
        until: Tick,
    },
    Held {
        link: u32,
        ours: bool,
        announced: u8,
        due: Tick,
    },
    Conflict {
        link: u32,
        by: Option<Mac>,
        retry: Tick,
    },
    Refused {
        link: u32,
        why: String,
        retry: Tick,
    },
}

/// On its way.
#[derive(Clone, Debug, Default)]
struct Removal {
    /// When it is asked for again.
    again: Tick,
    /// Why the system did not do it.
    refused: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Plan {
    wishes: BTreeMap<IpAddr, Wish>,
    machine: Machine,
    rows: BTreeMap<IpAddr, Row>,
    /// Removals whose effect does not show yet.
    removing: BTreeMap<(u32, IpAddr), Removal>,
    wake: Option<Tick>,
}

// === impl Plan ===

impl Plan {
    pub fn want(&mut self, wishes: BTreeMap<IpAddr, Wish>) {
        self.rows.retain(|ip, _| wishes.contains_key(ip));
        self.wishes = wishes;
    }

    pub fn wants(&self, ip: IpAddr) -> bool {
        self.wishes.contains_key(&ip)
    }

    /// Everything that the machine has now.
    pub fn observe(&mut self, machine: Machine) {
        let came_up = |index: u32| {
            let is_up = machine.link(index).is_some_and(|link| link.up);
            is_up && (machine.fell.contains(&index) || self.machine.link(index).is_some_and(|link| !link.up))
        };
        for row in self.rows.values_mut() {
            // Whoever is behind the link may be somebody else by now.
            if let Phase::Held { link, announced, due, .. } = &mut row.phase
                && came_up(*link)
            {
                (*announced, *due) = (0, Tick::ZERO);
            }
        }
        let is_there = |link: u32, ip: IpAddr| machine.places(ip).any(|a| a.ours && a.link == link);
        self.removing.retain(|(link, ip), _| is_there(*link, *ip));
        self.machine = machine;
    }

    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// What somebody said on a link. True where something follows from it.
    pub fn hear(&mut self, now: Tick, link: u32, heard: Heard) -> bool {
        if self.machine.is_own(heard.mac) {
            return false;
        }
        let mut follows = false;
        let ours = self.machine.link(link).and_then(|link| link.mac);
        let said = [heard.sender, heard.target].map(IpAddr::from);
        if let Some(row) = self.rows.get_mut(&said[0]) {
            match &mut row.phase {
                Phase::Probing { link: on, .. } if *on == link => {
                    row.phase = conflict(now, &self.machine, link, said[0], Some(heard.mac));
                    follows = true;
                }
                Phase::Held { link: on, ours: true, .. } if *on == link => {
                    let before = row.claim.as_ref().filter(|claim| claim.by == heard.mac);
                    follows = before.is_none_or(|claim| now.since(claim.at) >= CLAIM_AGAIN);
                    if !follows {
                        return false;
                    }
                    let defended = row.claim.as_ref().and_then(|claim| claim.defended);
                    row.claim = Some(Claim { by: heard.mac, at: now, defended });
                }
                _ => {}
            }
        }
        // Another box asks for it in the same moment.
        if heard.sender.is_unspecified()
            && ours.is_some_and(|ours| heard.mac < ours)
            && let Some(row) = self.rows.get_mut(&said[1])
            && matches!(row.phase, Phase::Probing { link: on, .. } if on == link)
        {
            row.phase = conflict(now, &self.machine, link, said[1], Some(heard.mac));
            follows = true;
        }
        follows
    }

    /// The system refused to add an address.
    pub fn refused(&mut self, now: Tick, ip: IpAddr, why: &str) {
        if let Some(row) = self.rows.get_mut(&ip)
            && let Phase::Adding { link, .. } | Phase::Probing { link, .. } = row.phase
        {
            row.phase = Phase::Refused { link, why: why.to_owned(), retry: now + REFUSED_RETRY };
        }
    }

    /// The system refused to remove an address. True where that is news.
    pub fn not_removed(&mut self, now: Tick, link: u32, ip: IpAddr, why: &str) -> bool {
        let removal = self.removing.entry((link, ip)).or_default();
        let is_news = removal.refused.as_deref() != Some(why);
        *removal = Removal { again: now + REFUSED_RETRY, refused: Some(why.to_owned()) };
        is_news
    }

    /// What nobody wants any more, and the system does not let go of: a sentence each.
    pub fn left_over(&self) -> Vec<String> {
        let refused = self.removing.iter().filter_map(|(place, removal)| Some((place, removal.refused.as_ref()?)));
        let name = |link: u32| self.machine.link(link).map_or("an interface that is gone", |link| &link.name);
        refused.map(|((link, ip), why)| format!("{ip} is left on {}: not removed, {why}", name(*link))).collect()
    }

    /// When there is something to do by time alone.
    pub fn wake_at(&self) -> Option<Tick> {
        self.wake
    }

    /// What is to be done now. An act is asked for once, and again where its effect does not show.
    pub fn settle(&mut self, now: Tick) -> Vec<Act> {
        let mut acts = Vec::new();
        let mut wake = None;
        for (ip, wish) in &self.wishes {
            let row = self.rows.entry(*ip).or_default();
            let mut turn = Turn { now, machine: &self.machine, acts: &mut acts, wake: &mut wake };
            turn.row(wish, row);
            let keep = match row.phase {
                Phase::Held { link, .. } => Some(link),
                // It moves: it stays where it was until it is there.
                Phase::Probing { .. } | Phase::Adding { .. } | Phase::Waiting { .. } | Phase::New => None,
                Phase::Conflict { .. } | Phase::Refused { .. } => Some(0),
            };
            if let Some(keep) = keep {
                self.removing.remove(&(keep, *ip));
                let places = self.machine.places(*ip).filter(|a| a.ours && a.link != keep);
                remove(now, places, &mut self.removing, &mut acts, &mut wake);
            }
        }
        let unwanted = self.machine.addresses.iter().filter(|a| a.ours && !self.wishes.contains_key(&a.address.ip));
        remove(now, unwanted, &mut self.removing, &mut acts, &mut wake);
        self.wake = wake;
        acts
    }

    /// Takes everything off the machine that was put there, but the interfaces' own addresses. To be called once, last.
    pub fn leave(&mut self) -> Vec<Act> {
        self.leaving().map(|a| Act::Remove { link: a.link, address: a.address }).collect()
    }

    /// What is on the machine when `acts` are done and is to leave with this program.
    pub fn put(&self, acts: &[Act]) -> BTreeSet<IpAddr> {
        let added = acts.iter().filter_map(|act| match act {
            Act::Add { address, .. } if !self.is_own(address.ip) => Some(address.ip),
            _ => None,
        });
        self.leaving().map(|a| a.address.ip).chain(added).collect()
    }

    fn leaving(&self) -> impl Iterator<Item = &Assigned> {
        self.machine.addresses.iter().filter(|a| a.ours && !self.is_own(a.address.ip))
    }

    fn is_own(&self, ip: IpAddr) -> bool {
        self.wishes.get(&ip).is_some_and(|wish| wish.own)
    }

    /// How every wish stands.
    pub fn states(&self) -> impl Iterator<Item = (&Wish, AddressState)> {
        self.wishes.iter().map(|(ip, wish)| (wish, self.rows.get(ip).map_or_else(Default::default, |r| self.state(r))))
    }

    fn state(&self, row: &Row) -> AddressState {
        let name = |index: u32| match self.machine.link(index) {
            Some(link) => Name::clone(&link.name),
            None => "".into(),
        };
        let by = |mac: Option<Mac>| mac.map_or_else(|| "another host".to_owned(), |mac| mac.to_string());
        match &row.phase {
            Phase::New => AddressState::Unmanaged,
            Phase::Waiting { why } => AddressState::Waiting { why: why.clone() },
            Phase::Probing { link, .. } | Phase::Adding { link, .. } => {
                AddressState::Probing { interface: name(*link) }
            }
            Phase::Held { link, ours, .. } => match &row.claim {
                Some(claim) => AddressState::Contested { interface: name(*link), by: claim.by.to_string() },
                None => AddressState::Present { interface: name(*link), ours: *ours },
            },
            Phase::Conflict { link, by: mac, .. } => AddressState::Conflict { interface: name(*link), by: by(*mac) },
            Phase::Refused { link, why, .. } => AddressState::Refused { interface: name(*link), why: why.clone() },
        }
    }
}

fn wake_by(wake: &mut Option<Tick>, at: Tick) {
    *wake = Some(wake.map_or(at, |wake| wake.min(at)));
}

fn conflict(now: Tick, machine: &Machine, link: u32, ip: IpAddr, by: Option<Mac>) -> Phase {
    let mut hasher = DefaultHasher::new();
    (machine.link(link).and_then(|link| link.mac), ip).hash(&mut hasher);
    let more = Duration::from_millis(hasher.finish() % 1_000);
    Phase::Conflict { link, by, retry: now + CONFLICT_RETRY + more }
}

fn remove<'m>(
    now: Tick,
    places: impl Iterator<Item = &'m Assigned>,
    removing: &mut BTreeMap<(u32, IpAddr), Removal>,
    acts: &mut Vec<Act>,
    wake: &mut Option<Tick>,
) {
    for place in places {
        let removal = removing.entry((place.link, place.address.ip)).or_default();
        if removal.again <= now {
            removal.again = now + if removal.refused.is_some() { REFUSED_RETRY } else { ACT_PATIENCE };
            acts.push(Act::Remove { link: place.link, address: place.address });
        }
        wake_by(wake, removal.again);
    }
}

#[cfg(test)]
mod tests;
