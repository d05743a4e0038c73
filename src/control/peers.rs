//! What this box tells its peers of itself.

use super::World;
use crate::model::peer::{NAME_MOST, Report, ReportedPair, ReportedScenario, SCENARIOS_MOST, SITES_MOST};
use crate::model::scenario::Direction;

/// The report of this moment. Names that are beyond the bounds of a report are left out: a peer would refuse it whole.
pub fn report(world: &World<'_>) -> Report {
    let model = world.model;
    let site = |id: crate::model::id::DatacenterId| model.datacenters[id.index()].name.clone();
    let pairs = model.pairs.iter().map(|pair| ReportedPair {
        name: pair.name.clone(),
        active: site(pair.active),
        backup: site(pair.backup),
    });
    let datacenters = model.datacenters.iter().zip(&world.view.signals).map(|(d, signals)| (d.name.clone(), *signals));
    let scenarios = model.scenarios.iter().zip(&world.view.scenarios).map(|(scenario, view)| ReportedScenario {
        name: scenario.name.clone(),
        active: view.active,
        seq: view.seq,
        modes: Direction::BOTH.map(|direction| view.modes[direction.index()].mode),
    });
    Report {
        appliance: model.appliance.name.clone(),
        site: model.appliance.site.clone(),
        cluster: model.peer_link.cluster.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        now: world.now.wall,
        config_hash: world.config.hash.as_str().into(),
        tables: world.peers.tables.clone(),
        witness: model.zones.is_empty(),
        pairs: pairs.filter(|pair| pair.name.len() <= NAME_MOST).take(SITES_MOST).collect(),
        datacenters: datacenters.filter(|(name, _)| name.len() <= NAME_MOST).take(SITES_MOST).collect(),
        scenarios: scenarios.filter(|scenario| scenario.name.len() <= NAME_MOST).take(SCENARIOS_MOST).collect(),
    }
}
