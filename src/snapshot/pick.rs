//! Choosing a member of one vserver for a new client: priority order, split, passive ejection, slow start and the method,
//! on one snapshot. Reads live figures and moves the vserver's cursor, nothing else; the time is passed in.
//!
//! ```text
//! UP, with a weight ─▶ lowest order ─▶ split: one group ─▶ not ejected, not full … ─▶ method ─▶ backup method ─▶ turns
//! ```
//!
//! Where everybody in the lowest order was tried in vain or is ejected, the next order takes the client; where somebody
//! there is merely full, nobody does, so that the client waits for them. Whoever is ejected is tried after all where
//! nobody else is left.

mod explain;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

pub use explain::{Considered, Why};

use super::Snapshot;
use super::chooser::{Pool, Tier};
use crate::balance::passive::is_left_out;
use crate::balance::select::hash::{Key, mix, rendezvous};
use crate::balance::select::turns::round_robin;
use crate::balance::select::{Candidate, ramp, select};
use crate::model::balancing::{Extract, Method};
use crate::model::id::{ServiceId, VserverId};
use crate::model::time::Tick;
use crate::model::vserver::{Member, Vserver};

/// A new client, as far as the choice of a member looks at it.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    pub client: SocketAddr,
    /// The address that it connected to.
    pub local: SocketAddr,
    /// A value of the request; L4 has none.
    pub value: &'a dyn Fn(&Extract) -> Option<String>,
    /// Who is out of the question for reasons that this module does not know.
    pub out: &'a dyn Fn(ServiceId) -> Option<Out>,
    /// A rule has named a service or a group: the split does not apply.
    pub narrowed: bool,
    pub now: Tick,
    /// Only asking (`explain`): no cursor moves.
    pub dry: bool,
}

/// Why somebody is out of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// A rule wants another one.
    NotWanted,
    /// Could not be reached for this client, or failed.
    Tried,
    /// At a limit of its own.
    Full,
}

/// A choice, and what made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picked {
    /// In `Vserver::members`.
    pub position: u32,
    /// The vserver's method, or the one behind it.
    pub method: Method,
}

/// One choice under way.
struct Choosing<'a> {
    snapshot: &'a Snapshot,
    vserver: &'a Vserver,
    id: VserverId,
    ask: &'a Ask<'a>,
    cursor: u64,
    /// Positions of those that stay ejected.
    left_out: Vec<u32>,
}

/// Whether there is somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Picked(Picked),
    /// Somebody would be, and is at a limit: worth waiting for.
    Full,
    Nobody,
}

thread_local! {
    /// Candidates of the choice under way; kept, so that a choice allocates nothing.
    static CANDIDATES: RefCell<Vec<Candidate>> = const { RefCell::new(Vec::new()) };
}

// === impl Snapshot ===

impl Snapshot {
    /// A member of this vserver for a new client.
    pub fn pick(&self, id: VserverId, ask: &Ask<'_>) -> Found {
        let entry = &self.vservers[id.index()];
        if entry.chooser.tiers.is_empty() {
            return Found::Nobody;
        }
        let cursor = &entry.live.cursor;
        let cursor = if ask.dry { cursor.load(Ordering::Relaxed) } else { cursor.fetch_add(1, Ordering::Relaxed) };
        let vserver = self.model.vserver(id);
        let choosing = Choosing { snapshot: self, vserver, id, ask, cursor, left_out: Vec::new() };
        if let Some(picked) = choosing.whose_turn() {
            return Found::Picked(picked);
        }
        let choosing = Choosing { left_out: self.left_out(id, ask.now), ..choosing };
        match choosing.run() {
            Found::Nobody if !choosing.left_out.is_empty() => Choosing { left_out: Vec::new(), ..choosing }.run(),
            found => found,
        }
    }

    /// Positions of the members of this vserver that passive health keeps out of the choice. Empty, without a look at
    /// anybody, where nothing is watched.
    pub fn left_out(&self, id: VserverId, now: Tick) -> Vec<u32> {
        let chooser = &self.vservers[id.index()].chooser;
        if !chooser.watched {
            return Vec::new();
        }
        let members = &self.model.vserver(id).members;
        let ejector = |position: u32| &self.services[members[position as usize].service.index()].live.ejector;
        let mut out: Vec<(Tick, u32)> =
            chooser.positions().filter_map(|p| Some((ejector(p).ejected(now)?.0, p))).collect();
        out.sort_unstable();
        let all = if out.is_empty() { 0 } else { chooser.positions().count() };
        let stays = |&(rank, (_, position)): &(usize, (Tick, u32))| {
            let settings = &self.model.service(members[position as usize].service).settings;
            settings.passive.as_ref().is_some_and(|passive| is_left_out(rank, all, passive.max_ejected))
        };
        out.into_iter().enumerate().filter(stays).map(|(_, (_, position))| position).collect()
    }
}

// === impl Found ===

impl Found {
    pub fn picked(self) -> Option<Picked> {
        match self {
            Found::Picked(picked) => Some(picked),
            Found::Full | Found::Nobody => None,
        }
    }
}

// === impl Choosing ===

impl Choosing<'_> {
    /// The short way: by turns, and whoever's turn it is can take the client.
    fn whose_turn(&self) -> Option<Picked> {
        let balancing = &self.vserver.balancing;
        if balancing.method != Method::RoundRobin || !balancing.slow_start.is_zero() {
            return None;
        }
        let tier = self.tiers().first()?;
        if self.pools(tier).is_some() {
            return None;
        }
        let position = tier.whole.turns.as_ref()?.at(self.cursor);
        let service = self.member(position).service;
        let ejected = self.snapshot.services[service.index()].live.ejector.ejected(self.ask.now).is_some();
        let free = !ejected && (self.ask.out)(service).is_none();
        free.then_some(Picked { position, method: Method::RoundRobin })
    }

    fn run(&self) -> Found {
        for tier in self.tiers() {
            match self.in_tier(tier) {
                Found::Nobody => {}
                found => return found,
            }
        }
        Found::Nobody
    }

    fn in_tier(&self, tier: &Tier) -> Found {
        let Some(pools) = self.pools(tier) else { return self.in_pool(&tier.whole, self.cursor) };
        let mut full = false;
        let mut in_pool = |pool: &Pool, cursor| match self.in_pool(pool, cursor) {
            Found::Picked(picked) => Some(Found::Picked(picked)),
            Found::Full => {
                full = true;
                None
            }
            Found::Nobody => None,
        };
        // Each pool at most once: the one whose turn it is, or that comes first for the key, then the others in turn.
        let key = self.key(self.vserver.balancing.method);
        let mut left: Vec<Candidate> = (0..)
            .zip(pools)
            .map(|(position, pool)| Candidate {
                position,
                weight: u32::from(pool.share),
                identity: pool.identity,
                figure: None,
            })
            .collect();
        let mut turn = tier.shares.as_ref().filter(|_| key.is_none()).map(|shares| shares.nth(self.cursor));
        while !left.is_empty() {
            let (at, cursor) = match (turn.take(), key) {
                (Some(turn), _) => turn,
                (None, Some(key)) => (rendezvous(left.iter().copied(), key).unwrap_or(0), self.cursor),
                (None, None) => {
                    let cursor = mix(self.cursor);
                    (round_robin(left.iter().copied(), cursor).unwrap_or(0), cursor)
                }
            };
            if let Some(found) = in_pool(&pools[at as usize], cursor) {
                return found;
            }
            left.retain(|c| c.position != at);
        }
        if full { Found::Full } else { Found::Nobody }
    }

    fn in_pool(&self, pool: &Pool, cursor: u64) -> Found {
        CANDIDATES.with_borrow_mut(|candidates| {
            let full = self.gather(pool, candidates);
            if candidates.is_empty() {
                return if full { Found::Full } else { Found::Nobody };
            }
            let everybody = candidates.len() == pool.positions.len();
            self.decide(pool, candidates, everybody, cursor).map_or(Found::Nobody, Found::Picked)
        })
    }

    /// Who can take the client; whether anybody cannot only because of a limit.
    fn gather(&self, pool: &Pool, candidates: &mut Vec<Candidate>) -> bool {
        candidates.clear();
        let mut full = false;
        for &position in &pool.positions {
            let member = self.member(position);
            match (self.ask.out)(member.service) {
                Some(Out::Full) => full = true,
                Some(Out::NotWanted | Out::Tried) => {}
                None if self.left_out.contains(&position) => {}
                None => candidates.push(Candidate { position, weight: member.weight, figure: None, identity: 0 }),
            }
        }
        full
    }

    fn decide(&self, pool: &Pool, candidates: &mut Vec<Candidate>, everybody: bool, cursor: u64) -> Option<Picked> {
        let balancing = &self.vserver.balancing;
        let near = balancing.method == Method::StaticProximity && self.keep_near(candidates);
        let by = [balancing.method, balancing.backup_method, Method::RoundRobin];
        for method in by.into_iter().filter(|method| *method != Method::StaticProximity) {
            if let Some(position) = self.by_method(method, pool, candidates, everybody && !near, cursor) {
                let method = if near { Method::StaticProximity } else { method };
                return Some(Picked { position, method });
            }
        }
        None
    }

    /// Leaves only the nearest; `false`, and all of them, where nobody is near.
    fn keep_near(&self, candidates: &mut Vec<Candidate>) -> bool {
        let near = &self.snapshot.vservers[self.id.index()].chooser.near;
        for positions in near.of(self.ask.client.ip()) {
            if candidates.iter().any(|c| positions.contains(&c.position)) {
                candidates.retain(|c| positions.contains(&c.position));
                return true;
            }
        }
        false
    }

    /// `None`: the method finds nothing to go by.
    fn by_method(
        &self,
        method: Method,
        pool: &Pool,
        candidates: &mut [Candidate],
        everybody: bool,
        cursor: u64,
    ) -> Option<u32> {
        if method.hashes() {
            let key = self.key(method)?;
            for c in candidates.iter_mut() {
                c.identity = self.snapshot.services[self.member(c.position).service.index()].identity;
                c.weight = self.member(c.position).weight;
            }
            return rendezvous(candidates.iter().copied(), key);
        }
        let ramping = self.ramp(candidates);
        if method.compares() && !self.measure(method, candidates) {
            return None;
        }
        // All alike: an idle vserver, or turns pure and simple.
        let alike = !method.compares() || candidates.iter().all(|c| c.figure == Some(0));
        if let Some(turns) = pool.turns.as_ref().filter(|_| alike && everybody && !ramping) {
            return Some(turns.at(cursor));
        }
        // The turns of those that are out go to the others in no order of their own.
        let cursor = if everybody || method.compares() { cursor } else { mix(cursor) };
        select(method, candidates, cursor)
    }

    /// Slow start. Whether anybody is on its way up; weights are then in hundredths.
    fn ramp(&self, candidates: &mut [Candidate]) -> bool {
        let (now, slow_start) = (self.ask.now, self.vserver.balancing.slow_start);
        if slow_start.is_zero() {
            return false;
        }
        let since = |c: &Candidate| self.snapshot.services[self.member(c.position).service.index()].since;
        if !candidates.iter().any(|c| ramp::is_ramping(since(c), now, slow_start)) {
            return false;
        }
        for c in candidates.iter_mut() {
            c.weight = ramp::weight(self.member(c.position).weight, since(c), now, slow_start);
        }
        true
    }

    /// Reads what the method compares. `false`: nobody has a figure.
    fn measure(&self, method: Method, candidates: &mut [Candidate]) -> bool {
        let live = |c: &Candidate| &self.snapshot.services[self.member(c.position).service.index()].live;
        for c in candidates.iter_mut() {
            c.figure = explain::figure(method, live(c), self.ask.now);
        }
        let known = crate::balance::select::least::fill_in(candidates);
        if method == Method::LeastResponseTime {
            for c in candidates.iter_mut() {
                let active = u64::from(live(c).active.load(Ordering::SeqCst));
                c.figure = c.figure.map(|us| us.saturating_mul(active));
            }
        }
        known
    }

    /// What a hash method hashes of this client; `None` where it has no such thing.
    fn key(&self, method: Method) -> Option<u64> {
        let balancing = &self.vserver.balancing;
        let (v4, v6) = (balancing.prefix_v4, balancing.prefix_v6);
        let (client, local) = (self.ask.client, self.ask.local);
        let text = |key: Key, extract: &Extract| {
            let text = (self.ask.value)(extract).filter(|text| !text.is_empty())?;
            Some(key.text(&text.as_bytes()[..text.len().min(balancing.hash_length as usize)]))
        };
        let source = || Key::new(3).address(client.ip(), v4, v6);
        let key = match method {
            Method::SourceIpHash => source(),
            Method::DestinationIpHash => Key::new(4).address(local.ip(), v4, v6),
            Method::SrcIpDestIpHash => source().address(local.ip(), v4, v6),
            Method::SrcIpSrcPortHash => source().number(u64::from(client.port())),
            Method::UrlHash => text(Key::new(5), &Extract::Url)?,
            Method::DomainHash => {
                let host = (self.ask.value)(&Extract::Host).filter(|host| !host.is_empty())?;
                let host = domain(&host).to_ascii_lowercase();
                Key::new(6).text(&host.as_bytes()[..host.len().min(balancing.hash_length as usize)])
            }
            Method::CallIdHash | Method::Token => text(Key::new(7), balancing.token.as_ref()?)?,
            _ => return None,
        };
        Some(key.end())
    }

    /// Among which groups the split chooses, if it applies.
    fn pools<'t>(&self, tier: &'t Tier) -> Option<&'t [Pool]> {
        tier.pools.as_deref().filter(|_| !self.ask.narrowed)
    }

    fn tiers(&self) -> &[Tier] {
        &self.snapshot.vservers[self.id.index()].chooser.tiers
    }

    fn member(&self, position: u32) -> Member {
        self.vserver.members[position as usize]
    }
}

/// A Host field without its port and a final dot.
fn domain(host: &str) -> &str {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !name.ends_with(':') && port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests;
