//! What is wrong with the machine's network, beside the addresses of vservers; and with who tells it the time.

use super::ProblemDto;
use super::problems::problem;
use crate::control::World;
use crate::model::network::AddressState;

pub(super) fn network_problems(world: &World<'_>, problems: &mut Vec<ProblemDto>) {
    if let Some(why) = &*world.snapshot.network.time.lock() {
        problems.push(problem("error", "time", "", None, why.clone(), "config"));
    }
    let mut report = |severity, text: String| problems.push(problem(severity, "network", "", None, text, "config"));
    // Without `[network]`, too: what an earlier process has left.
    for what in &*world.snapshot.network.trouble.lock() {
        report("error", what.clone());
    }
    let Some(network) = &world.model.network else { return };
    for (ip, state) in &*world.snapshot.network.dns.lock() {
        let severity = if state.is_here() { "warning" } else { "error" };
        state.trouble().into_iter().for_each(|why| report(severity, format!("address {ip} of DNS: {why}")));
    }
    for (source, live) in network.sources.iter().zip(&world.snapshot.sources) {
        let state = live.state();
        let why = match &state {
            AddressState::Unmanaged | AddressState::Probing { .. } => "not on this machine yet".to_owned(),
            AddressState::Contested { .. } => {
                report("warning", format!("source address {}: {}", source.ip, state.trouble().unwrap_or_default()));
                continue;
            }
            AddressState::Present { .. } => continue,
            _ => state.trouble().unwrap_or_default(),
        };
        let what = format!("source address {}: {why}; connections to {source} leave from elsewhere", source.ip);
        report("error", what);
    }
}
