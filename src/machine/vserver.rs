//! State and effective state of vservers, and where new clients go.

use crate::model::condition::{Truth, VserverFacet};
use crate::model::state::{NewClients, ServiceState, VserverState};
use crate::model::vserver::Vserver;

/// What the state of one vserver depends on, besides its own definition.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// By the position in `Vserver::members`.
    pub members: &'a [ServiceState],
    /// Disabled by an administrator.
    pub disabled: bool,
    /// The feature `lb` is on.
    pub feature_on: bool,
    /// It went DOWN under `disable_primary_on_down` and nobody has enabled it since.
    pub held_down: bool,
}

/// State and health (share of weights UP in percent) by its own members.
pub fn own_state(vserver: &Vserver, inputs: &Inputs<'_>) -> (VserverState, u8) {
    let _ = (vserver, inputs);
    todo!()
}

/// One vserver of a chain as the two functions below see it.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub id: crate::model::id::VserverId,
    pub state: VserverState,
    /// At least one member is UP.
    pub any_up: bool,
    /// Spillover by health sends new clients on.
    pub spills: bool,
}

/// UP as soon as the first or any later link is UP.
pub fn effective_state(chain: &[Link]) -> VserverState {
    let _ = chain;
    todo!()
}

/// Where a new client without persistence goes. `chain[0]` is the vserver itself.
pub fn new_clients(chain: &[Link]) -> NewClients {
    let _ = chain;
    todo!()
}

/// Whether spillover by health sends new clients to the backup.
pub fn spills_by_health(vserver: &Vserver, health_percent: u8) -> bool {
    let _ = (vserver, health_percent);
    todo!()
}

/// The value of `vs:NAME` and its facets.
pub fn facet(facet: VserverFacet, vserver: &Vserver, inputs: &Inputs<'_>, chain: &[Link]) -> Truth {
    let _ = (facet, vserver, inputs, chain);
    todo!()
}
