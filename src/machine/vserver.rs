//! State and effective state of vservers, and where new clients go.
//!
//! Nothing is remembered here: a vserver is what its members are. Two words look alike and are not. The **state** says
//! whether the vserver works; the **effective state** whether it or anything behind it in the backup chain does. Neither
//! says where a new client goes; that is [`new_clients`], and the difference is the field's best known trap: while the
//! last members drain, the vserver counts as UP, its backup is therefore not used, and new clients are refused.
//! Spillover by health is the way out of it, because a draining member is not UP and so lowers the health.
//!
//! # State (the first row that applies)
//!
//! | condition | state |
//! |---|---|
//! | disabled by an administrator | OFS |
//! | held down (`disable_primary_on_down`), until somebody enables it | DOWN |
//! | feature `lb` off | DOWN |
//! | no member UP or TROFS (so also: no members) | DOWN |
//! | `health_threshold` set, and (UP + TROFS) · 100 < threshold · (members that are not OFS) | DOWN |
//! | otherwise | UP |
//!
//! A content-switching vserver has targets instead of members: one whose effective state is UP counts as a member that
//! is UP, any other as one that is DOWN, each with weight 1. So it is UP while one of its targets can serve.
//!
//! # New clients
//!
//! | state | spills | a member is UP | new clients go to |
//! |---|---|---|---|
//! | UP | no | yes | its own members |
//! | UP | no | no | nobody: refused |
//! | UP | yes | yes | the first usable of the chain, else its own members |
//! | UP | yes | no | the first usable of the chain, else refused |
//! | DOWN, OFS | | | the first usable of the chain, else refused |
//!
//! Usable is a vserver that is UP and has a member UP. One that spills passes the client on along its own chain and
//! takes it itself only if nobody there can; a disabled, failed or draining one is skipped.
//!
//! # Where NetScaler's documentation is silent
//!
//! It says that the backup is not used while all members drain, and not what the state is: UP, since DOWN would use the
//! backup. Of a disabled vserver the effective state is its chain's. Held down is shown as DOWN. For `health_threshold`
//! a draining member is active, and members out of service are not counted, as for the health.

mod facet;

#[cfg(test)]
mod tests;

pub use facet::facet;

use crate::model::condition::Truth;
use crate::model::id::VserverId;
use crate::model::limit::SpilloverMethod;
use crate::model::state::{NewClients, ServiceState, VserverState};
use crate::model::vserver::{Role, Vserver};

/// What the state of one vserver depends on, besides its own definition.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// By the position in `Vserver::members`; of a content-switching vserver by that in its targets, see
    /// [`of_target`].
    pub members: &'a [ServiceState],
    /// Disabled by an administrator.
    pub disabled: bool,
    /// The feature `lb` is on.
    pub feature_on: bool,
    /// It went DOWN under `disable_primary_on_down` and nobody has enabled it since.
    pub held_down: bool,
}

/// One vserver of a chain as the functions below see it. [`Link::new`] makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub id: VserverId,
    pub state: VserverState,
    /// At least one member is UP.
    pub any_up: bool,
    /// Spillover by health sends new clients on.
    pub spills: bool,
    /// Whether it could serve a new client itself; unknown where that hangs on members that nobody has heard of yet.
    pub usable: Truth,
}

/// The members of one vserver, counted.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    up: usize,
    trofs: usize,
    unknown: usize,
    /// Members that are not out of service.
    in_service: usize,
    /// Out of service or draining.
    administered: usize,
    total: usize,
    weight_up: u64,
    weight_unknown: u64,
    weight_in_service: u64,
}

/// State and health (share of weights UP in percent, rounded down, of members that are not OFS; 0 without any).
pub fn own_state(vserver: &Vserver, inputs: &Inputs<'_>) -> (VserverState, u8) {
    let tally = Tally::new(vserver, inputs);
    (tally.state(vserver, inputs), tally.health_percent())
}

/// What a target is to the content-switching vserver that hands to it.
pub fn of_target(effective: VserverState) -> ServiceState {
    if effective == VserverState::Up { ServiceState::Up } else { ServiceState::Down }
}

/// UP as soon as the first or any later link is UP, else DOWN: a vserver that is OFS is effectively DOWN. `chain[0]` is
/// the vserver itself; that it is disabled does not hide an UP backup.
pub fn effective_state(chain: &[Link]) -> VserverState {
    if chain.iter().any(|link| link.state == VserverState::Up) { VserverState::Up } else { VserverState::Down }
}

/// Where a new client without persistence goes. `chain[0]` is the vserver itself.
pub fn new_clients(chain: &[Link]) -> NewClients {
    let Some((own, backups)) = chain.split_first() else { return NewClients::Refused };
    if own.state == VserverState::Up && !own.spills {
        return if own.any_up { NewClients::Own } else { NewClients::Refused };
    }
    match first_usable(backups) {
        Some(backup) => NewClients::Backup(backup),
        None if own.is_usable() => NewClients::Own,
        None => NewClients::Refused,
    }
}

/// Whether spillover by health sends new clients to the backup. Rounding the percentage down loses nothing: ⌊x⌋ < n
/// exactly where x < n.
pub fn spills_by_health(vserver: &Vserver, health_percent: u8) -> bool {
    match vserver.spillover.as_ref().map(|s| &s.method) {
        Some(SpilloverMethod::Health { threshold }) => health_percent < *threshold,
        Some(_) | None => false,
    }
}

fn first_usable(chain: &[Link]) -> Option<VserverId> {
    let (link, rest) = chain.split_first()?;
    if link.is_usable() && !link.spills {
        return Some(link.id);
    }
    first_usable(rest).or_else(|| link.is_usable().then_some(link.id))
}

// === impl Link ===

impl Link {
    pub fn new(id: VserverId, vserver: &Vserver, inputs: &Inputs<'_>) -> Link {
        let tally = Tally::new(vserver, inputs);
        let serves = |tally: Tally| tally.up > 0 && tally.state(vserver, inputs) == VserverState::Up;
        Link {
            id,
            state: tally.state(vserver, inputs),
            any_up: tally.up > 0,
            spills: spills_by_health(vserver, tally.health_percent()),
            usable: between(serves(tally.worst()), serves(tally.best())),
        }
    }

    fn is_usable(&self) -> bool {
        self.state == VserverState::Up && self.any_up
    }
}

/// The truth of something that lies between two bounds.
fn between(at_worst: bool, at_best: bool) -> Truth {
    if at_worst == at_best { at_best.into() } else { Truth::Unknown }
}

// === impl Tally ===

impl Tally {
    fn new(vserver: &Vserver, inputs: &Inputs<'_>) -> Tally {
        let weights: Vec<u64> = match &vserver.role {
            Role::Lb => vserver.members.iter().map(|member| u64::from(member.weight)).collect(),
            Role::Cs { targets, .. } => vec![1; targets.len()],
        };
        debug_assert_eq!(weights.len(), inputs.members.len(), "one state for each member");
        let mut tally = Tally::default();
        for (weight, state) in weights.into_iter().zip(inputs.members) {
            tally.total += 1;
            if *state != ServiceState::OutOfService {
                tally.in_service += 1;
                tally.weight_in_service += weight;
            }
            match state {
                ServiceState::Up => {
                    tally.up += 1;
                    tally.weight_up += weight;
                }
                ServiceState::Unknown => {
                    tally.unknown += 1;
                    tally.weight_unknown += weight;
                }
                ServiceState::Trofs => {
                    tally.trofs += 1;
                    tally.administered += 1;
                }
                ServiceState::TrofsDown | ServiceState::OutOfService => tally.administered += 1,
                ServiceState::Down => {}
            }
        }
        tally
    }

    /// As if every member that nobody has heard of were UP.
    fn best(self) -> Tally {
        Tally {
            up: self.up + self.unknown,
            weight_up: self.weight_up + self.weight_unknown,
            unknown: 0,
            weight_unknown: 0,
            ..self
        }
    }

    /// As if every member that nobody has heard of were DOWN.
    fn worst(self) -> Tally {
        Tally { unknown: 0, weight_unknown: 0, ..self }
    }

    fn state(&self, vserver: &Vserver, inputs: &Inputs<'_>) -> VserverState {
        let active = self.up + self.trofs;
        let threshold = usize::from(vserver.health_threshold);
        if inputs.disabled {
            VserverState::OutOfService
        } else if inputs.held_down || !inputs.feature_on || active == 0 || active * 100 < threshold * self.in_service {
            VserverState::Down
        } else {
            VserverState::Up
        }
    }

    fn health_percent(&self) -> u8 {
        match self.weight_in_service {
            0 => 0,
            total => u8::try_from(self.weight_up * 100 / total).expect("a share of the whole"),
        }
    }
}
