//! Why each member of a vserver is in or out of a choice: for `explain`, from the same functions that choose.

use std::fmt;
use std::sync::atomic::Ordering;

use super::{Ask, Out, Picked};
use crate::model::balancing::Method;
use crate::model::id::{Name, VserverId};
use crate::model::state::ServiceState;
use crate::model::time::Tick;
use crate::snapshot::Snapshot;
use crate::snapshot::chooser::Tier;
use crate::snapshot::live::ServiceLive;

/// One member in a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Considered {
    /// In `Vserver::members`.
    pub position: u32,
    pub service: Name,
    pub why: Why,
}

/// Why a member gets the client, or does not. The first that applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// By this method (the vserver's, or the one behind it).
    Chosen {
        method: Method,
    },
    State(ServiceState),
    /// The name of its server does not resolve.
    NoAddress,
    /// Weight 0: persistent clients only.
    NoWeight,
    NotWanted,
    /// Its group has no share of new clients.
    NoShare,
    /// Somebody of a lower order serves.
    Order {
        order: u32,
        serving: u32,
    },
    /// Passive health, until then.
    Ejected {
        until: Tick,
    },
    Tried,
    Full,
    /// Another group's turn; its own has this share in percent.
    OtherGroup {
        share: u8,
    },
    /// It could have been chosen. What the method compared, where it compares.
    Eligible {
        figure: Option<u64>,
        weight: u32,
    },
}

/// What a method compares of a service; `None`: not known. Of LEASTRESPONSETIME the time in µs, not yet multiplied by the
/// work.
pub(super) fn figure(method: Method, live: &ServiceLive, now: Tick) -> Option<u64> {
    match method {
        Method::LeastConnection | Method::LeastRequest => Some(u64::from(live.active.load(Ordering::SeqCst))),
        Method::LeastResponseTime => live.first_byte.mean().map(crate::model::time::micros),
        Method::LeastBandwidth => Some(live.bits_per_second(now)),
        Method::LeastPackets => Some(live.packets_per_second(now)),
        Method::CustomLoad => live.load().map(u64::from),
        _ => None,
    }
}

// === impl Snapshot ===

impl Snapshot {
    /// What [`pick`](Self::pick) would choose for this client, and why each of the others is not chosen, in the order of
    /// `Vserver::members`. `ask` must be a dry one.
    pub fn explain_pick(&self, id: VserverId, ask: &Ask<'_>) -> (Option<Picked>, Vec<Considered>) {
        debug_assert!(ask.dry, "explaining moves nothing");
        let picked = self.pick(id, ask).picked();
        let left_out = self.left_out(id, ask.now);
        let members = (0_u32..).zip(&self.model.vserver(id).members);
        let considered = members.map(|(position, member)| Considered {
            position,
            service: Name::clone(&self.model.service(member.service).name),
            why: self.why(id, ask, position, picked, &left_out),
        });
        (picked, considered.collect())
    }

    /// Why the member at this position gets no new client, whoever asks; `None`: it gets some. `left_out`: see
    /// [`left_out`](Self::left_out).
    pub fn standing(&self, id: VserverId, position: u32, left_out: &[u32], now: Tick) -> Option<Why> {
        let (vserver, chooser) = (self.model.vserver(id), &self.vservers[id.index()].chooser);
        let member = vserver.members[position as usize];
        let entry = &self.services[member.service.index()];
        let serves = |tier: &&Tier| tier.whole.positions.iter().any(|p| !left_out.contains(p));
        let serving = chooser.tiers.iter().find(serves).map(|tier| tier.order);
        let has_share = |group: Option<u16>| {
            let at = group.map_or(usize::MAX, usize::from);
            vserver.balancing.split.is_empty() || vserver.balancing.split.get(at).is_some_and(|&share| share > 0)
        };
        match serving {
            _ if entry.state != ServiceState::Up => Some(Why::State(entry.state)),
            _ if entry.address.is_none() => Some(Why::NoAddress),
            _ if member.weight == 0 => Some(Why::NoWeight),
            _ if !has_share(member.group) => Some(Why::NoShare),
            _ if left_out.contains(&position) => {
                Some(Why::Ejected { until: entry.live.ejector.ejected(now).map_or(now, |(_, until)| until) })
            }
            Some(serving) if member.order > serving => Some(Why::Order { order: member.order, serving }),
            _ => None,
        }
    }

    fn why(&self, id: VserverId, ask: &Ask<'_>, position: u32, picked: Option<Picked>, left_out: &[u32]) -> Why {
        let (vserver, chooser) = (self.model.vserver(id), &self.vservers[id.index()].chooser);
        let member = vserver.members[position as usize];
        let entry = &self.services[member.service.index()];
        let pool_of = |position: u32| {
            let tier = chooser.tiers.iter().find(|tier| tier.whole.positions.contains(&position))?;
            match tier.pools.as_ref().filter(|_| !ask.narrowed) {
                None => Some(&tier.whole),
                Some(pools) => pools.iter().find(|pool| pool.positions.contains(&position)),
            }
        };
        match picked.filter(|picked| picked.position == position) {
            Some(Picked { method, .. }) => return Why::Chosen { method },
            None if entry.state != ServiceState::Up => return Why::State(entry.state),
            None if entry.address.is_none() => return Why::NoAddress,
            None if member.weight == 0 => return Why::NoWeight,
            None => {}
        }
        let Some(pool) = pool_of(position) else { return Why::NoShare };
        let out = (ask.out)(member.service);
        let serving = picked.map(|p| vserver.members[p.position as usize].order);
        match (out, serving) {
            (Some(Out::NotWanted), _) => Why::NotWanted,
            (Some(Out::Tried), _) => Why::Tried,
            (_, Some(serving)) if member.order > serving => Why::Order { order: member.order, serving },
            (Some(Out::Full), _) => Why::Full,
            (None, _) if left_out.contains(&position) => {
                let until = entry.live.ejector.ejected(ask.now).map_or(ask.now, |(_, until)| until);
                Why::Ejected { until }
            }
            (None, _) if picked.and_then(|p| pool_of(p.position)).is_some_and(|p| p.group != pool.group) => {
                Why::OtherGroup { share: pool.share }
            }
            (None, _) => {
                let method = picked.map_or(vserver.balancing.method, |picked| picked.method);
                let figure = method.compares().then(|| figure(method, &entry.live, ask.now)).flatten();
                Why::Eligible { figure, weight: member.weight }
            }
        }
    }
}

// === impl Why ===

/// A sentence without a final stop.
impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Chosen { method } => write!(f, "chosen by {}", method.word()),
            Why::State(state) => write!(f, "it is {}", state.word()),
            Why::NoAddress => f.write_str("the name of its server does not resolve"),
            Why::NoWeight => f.write_str("weight 0: persistent clients only"),
            Why::NotWanted => f.write_str("a rule sends the client elsewhere"),
            Why::NoShare => f.write_str("its group has no share of the split"),
            Why::Order { order, serving } => write!(f, "order {order}, and order {serving} serves"),
            Why::Ejected { .. } => f.write_str("ejected: it failed real traffic"),
            Why::Tried => f.write_str("it was tried and could not be reached"),
            Why::Full => f.write_str("it is at its limit"),
            Why::OtherGroup { share } => write!(f, "another group's turn; its own has {share} %"),
            Why::Eligible { figure: Some(figure), weight } => write!(f, "eligible, with {figure} at weight {weight}"),
            Why::Eligible { figure: None, weight } => write!(f, "eligible, at weight {weight}"),
        }
    }
}
