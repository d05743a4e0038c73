//! Who may get a new client of a vserver, prepared where that changes, so that a choice by turns is one look.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use crate::balance::select::hash::identity;
use crate::balance::select::turns::Turns;
use crate::model::Model;
use crate::model::net::Network;
use crate::model::vserver::Vserver;

/// The members of one vserver that are UP and have a weight.
#[derive(Debug, Default)]
pub struct Chooser {
    /// What it was made of.
    up: Arc<[u32]>,
    split: Box<[u8]>,
    /// By `order`, the lowest first: new clients go to the first that has somebody.
    pub tiers: Vec<Tier>,
    /// Whether any of them is watched by passive health.
    pub watched: bool,
    /// Of STATICPROXIMITY.
    pub near: Arc<Near>,
}

/// Members of one priority order.
#[derive(Debug)]
pub struct Tier {
    pub order: u32,
    /// All of them.
    pub whole: Pool,
    /// With a split: one for each group that has a share and a member here.
    pub pools: Option<Vec<Pool>>,
    /// Turns of the pools.
    pub shares: Option<Turns>,
}

/// Members among which the method chooses.
#[derive(Debug)]
pub struct Pool {
    /// Position in `Vserver::groups`, with a split.
    pub group: Option<u16>,
    /// Percent of new clients; of all where there is no split.
    pub share: u8,
    /// Stands for the group in hash methods.
    pub identity: u64,
    /// Positions in `Vserver::members`.
    pub positions: Box<[u32]>,
    /// Where the method goes by turns, or may have to.
    pub turns: Option<Turns>,
}

/// Networks of clients and who is near: the longest prefix wins.
#[derive(Debug, Default)]
pub struct Near {
    /// By prefix length, the longest first: networks of it to positions in `Vserver::members`.
    by_length: Vec<(bool, u8, HashMap<IpAddr, Vec<u32>>)>,
}

// === impl Chooser ===

impl Chooser {
    /// `up`: positions of members whose service is UP and has an address; `split`: the shares of the groups that are in
    /// force. What `previous` (of the same model) has prepared already is taken over.
    pub fn build(
        model: &Model,
        vserver: &Vserver,
        up: &Arc<[u32]>,
        split: &[u8],
        previous: Option<&Arc<Chooser>>,
    ) -> Arc<Chooser> {
        if let Some(same) = previous.filter(|p| p.up == *up && *p.split == *split) {
            return Arc::clone(same);
        }
        let near = previous.map_or_else(|| Arc::new(Near::build(vserver)), |p| Arc::clone(&p.near));
        let takes = |position: &&u32| vserver.members[**position as usize].weight > 0;
        let mut orders: Vec<u32> = up.iter().filter(takes).map(|&p| vserver.members[p as usize].order).collect();
        orders.sort_unstable();
        orders.dedup();
        let of_order = |order| {
            let positions = up.iter().filter(takes).copied().filter(|&p| vserver.members[p as usize].order == order);
            Tier::build(model, vserver, order, split, &positions.collect::<Vec<_>>())
        };
        let watched = |&p: &u32| model.service(vserver.members[p as usize].service).settings.passive.is_some();
        Arc::new(Chooser {
            up: Arc::clone(up),
            split: split.into(),
            tiers: orders.into_iter().map(of_order).collect(),
            watched: up.iter().any(watched),
            near,
        })
    }

    /// Everybody who may be chosen.
    pub fn positions(&self) -> impl Iterator<Item = u32> + '_ {
        self.tiers.iter().flat_map(|tier| tier.whole.positions.iter().copied())
    }
}

// === impl Tier ===

impl Tier {
    fn build(model: &Model, vserver: &Vserver, order: u32, split: &[u8], positions: &[u32]) -> Tier {
        let whole = Pool::build(vserver, None, 100, 0, positions.into());
        if split.is_empty() {
            return Tier { order, whole, pools: None, shares: None };
        }
        let mut pools = Vec::new();
        for ((group, &share), at) in vserver.groups.iter().zip(split).zip(0_u16..) {
            let of_group: Box<[u32]> =
                positions.iter().copied().filter(|&p| vserver.members[p as usize].group == Some(at)).collect();
            if share > 0 && !of_group.is_empty() {
                let identity = identity(None, &model.groups[group.index()].name);
                pools.push(Pool::build(vserver, Some(at), share, identity, of_group));
            }
        }
        let shares = Turns::new((0..).zip(pools.iter().map(|p| u32::from(p.share))));
        Tier { order, whole, pools: Some(pools), shares }
    }
}

// === impl Pool ===

impl Pool {
    fn build(vserver: &Vserver, group: Option<u16>, share: u8, identity: u64, positions: Box<[u32]>) -> Pool {
        // Ties of the least methods go by turns too; hash methods by nothing but the key.
        let by_turns = !vserver.balancing.method.hashes();
        let turns = by_turns.then(|| Turns::new(positions.iter().map(|&p| (p, vserver.members[p as usize].weight))));
        Pool { group, share, identity, positions, turns: turns.flatten() }
    }
}

// === impl Near ===

impl Near {
    fn build(vserver: &Vserver) -> Near {
        let mut near = Near::default();
        for (network, service) in &vserver.balancing.proximity {
            let Some(position) = vserver.members.iter().position(|m| m.service == *service) else { continue };
            let (v4, length) = (network.address.is_ipv4(), network.prefix);
            let at = near.by_length.iter().position(|(v, l, _)| (*v, *l) == (v4, length)).unwrap_or_else(|| {
                near.by_length.push((v4, length, HashMap::new()));
                near.by_length.len() - 1
            });
            near.by_length[at].2.entry(network.address).or_default().push(u32::try_from(position).unwrap_or(u32::MAX));
        }
        near.by_length.sort_by_key(|(_, length, _)| std::cmp::Reverse(*length));
        near
    }

    /// Positions of the members near this client, the nearest first.
    pub fn of(&self, client: IpAddr) -> impl Iterator<Item = &[u32]> + '_ {
        let client = client.to_canonical();
        self.by_length.iter().filter(move |(v4, ..)| *v4 == client.is_ipv4()).filter_map(
            move |(_, length, networks)| networks.get(&Network::truncate(client, *length, *length)).map(Vec::as_slice),
        )
    }
}
