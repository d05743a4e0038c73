//! Who had asked before a commit changed an answer, who has asked again since, and when the first new answer was given.
//!
//! Resolvers are told apart by the address that their queries come from: one that asks from several counts as several,
//! and many behind one as one; nobody proves the address of a query over UDP. One *had asked* where it may still have
//! held an answer when the commit was published, by the TTL that it was given; it *asks again* with its first query for
//! every RRset that it may hold in a former state. One that does not may hold a former answer until `caches_over_at`, or
//! has no client that wants the name. What another process answered before a restart is not known.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::control::CachesOver;
use crate::model::dns::Resolvers;
use crate::model::time::Wall;
use crate::snapshot::Snapshot;
use crate::snapshot::caching::First;
use crate::snapshot::live::DnsLive;

/// Addresses and RRsets that are followed at most after one commit.
const FOLLOWED_MOST: usize = 4_096;

/// After one commit.
#[derive(Debug)]
pub struct Asked {
    /// Of each RRset whose answer changed.
    firsts: Vec<Arc<First>>,
    first: OnceLock<Wall>,
    pairs: Vec<Pair>,
    /// There were more than are followed.
    partial: bool,
    /// Nobody is waited for any more: how it stood then.
    last: Option<Resolvers>,
    dns: Arc<DnsLive>,
}

/// An address that may hold a former answer of an RRset.
#[derive(Debug)]
struct Pair {
    client: IpAddr,
    rrset: u64,
    until: u32,
    /// That of the new answer.
    generation: u32,
    again: AtomicBool,
}

// === impl Asked ===

impl Asked {
    /// Those of the RRsets at these positions. To be called right after the publication that changed them.
    pub fn of(published: &Snapshot, changed: &[(usize, usize)], now: Wall) -> Asked {
        let steered = || changed.iter().filter_map(|&(zone, at)| published.caching.of(zone, at).steered());
        let dns = &published.dns;
        let generations: HashMap<u64, u32> = steered().map(|s| (s.rrset, s.generation)).collect();
        let mut pairs: Vec<Pair> = dns
            .askers
            .all()
            .filter(|(_, _, seen)| seen.until > now.seconds())
            .filter_map(|(rrset, client, seen)| {
                let generation = *generations.get(&rrset)?;
                // Already: it asks so often that its former answer was overwritten.
                let again = AtomicBool::new(seen.generation >= generation);
                Some(Pair { client, rrset, until: seen.until, generation, again })
            })
            .collect();
        let partial = pairs.len() > FOLLOWED_MOST || dns.askers.is_partial(now.seconds());
        pairs.sort_unstable_by_key(|pair| std::cmp::Reverse(pair.until));
        pairs.truncate(FOLLOWED_MOST);
        Asked {
            firsts: steered().map(|s| Arc::clone(&s.first)).collect(),
            first: OnceLock::new(),
            pairs,
            partial,
            last: None,
            dns: Arc::clone(dns),
        }
    }

    /// As it stands now, for good; only the first answer may still come.
    pub fn ended(&self) -> Asked {
        Asked {
            firsts: self.firsts.clone(),
            first: self.first.clone(),
            pairs: Vec::new(),
            partial: self.partial,
            last: Some(self.resolvers()),
            dns: Arc::clone(&self.dns),
        }
    }

    /// When the first of the new answers was given; `None`: not yet.
    pub fn first_answer_at(&self) -> Option<Wall> {
        if self.first.get().is_none()
            && let Some(first) = self.firsts.iter().filter_map(|first| first.at()).min()
        {
            return Some(*self.first.get_or_init(|| first));
        }
        self.first.get().copied()
    }

    /// As it stands now. What was seen once stays, although the table may forget it.
    pub fn resolvers(&self) -> Resolvers {
        if let Some(last) = &self.last {
            return last.clone();
        }
        // Of each address: whether it has come back for everything, and until when it may hold what it has not.
        let mut clients: BTreeMap<IpAddr, Option<u32>> = BTreeMap::new();
        for pair in &self.pairs {
            let holds = clients.entry(pair.client).or_default();
            if !pair.is_back(&self.dns) {
                *holds = (*holds).max(Some(pair.until));
            }
        }
        let mut missing: Vec<(u32, IpAddr)> = clients.iter().filter_map(|(ip, until)| Some(((*until)?, *ip))).collect();
        missing.sort_by_key(|(until, ip)| (std::cmp::Reverse(*until), *ip));
        Resolvers {
            asked_before: clients.len() as u32,
            asked_again: (clients.len() - missing.len()) as u32,
            missing: missing.into_iter().map(|(_, ip)| ip).take(Resolvers::MISSING_MOST).collect(),
            partial: self.partial,
        }
    }

    /// Whether nothing more is to come.
    pub fn is_complete(&self) -> bool {
        self.first_answer_at().is_some() && self.pairs.iter().all(|pair| pair.is_back(&self.dns))
    }
}

// === impl Pair ===

impl Pair {
    fn is_back(&self, dns: &DnsLive) -> bool {
        if self.again.load(Ordering::Relaxed) {
            return true;
        }
        let is_back = dns.askers.of(self.rrset, self.client).is_some_and(|seen| seen.generation >= self.generation);
        if is_back {
            self.again.store(true, Ordering::Relaxed);
        }
        is_back
    }
}

// === impl CachesOver ===

impl CachesOver {
    pub fn first_answer_at(&self) -> Option<Wall> {
        self.asked.as_ref()?.first_answer_at()
    }

    pub fn resolvers(&self) -> Option<Resolvers> {
        Some(self.asked.as_ref()?.resolvers())
    }
}
