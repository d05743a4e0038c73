//! Addresses of vservers that somebody else has.

use super::{Found, World};
use crate::model::alert::{AlertKind, AlertSeverity, AlertSubject};
use crate::model::network::AddressState;

pub(super) fn conflicts(world: &World<'_>, found: &mut Found<'_>) {
    let Some(network) = world.model.network.as_ref().filter(|_| found.wants(AlertKind::AddressConflict)) else {
        return;
    };
    for (vserver, entry) in world.model.vservers.iter().zip(&world.snapshot.vservers) {
        let Some(address) = vserver.address else { continue };
        let subject = AlertSubject::new(AlertKind::AddressConflict, "vserver", &vserver.name);
        let state = entry.live.vip.lock().clone();
        let severity = match state {
            AddressState::Conflict { .. } => AlertSeverity::Error,
            AddressState::Contested { .. } => AlertSeverity::Warning,
            // It is about to be known.
            AddressState::Probing { .. } => {
                found.unknown(subject);
                continue;
            }
            AddressState::Unmanaged if network.vips && !address.ip().is_loopback() => {
                found.unknown(subject);
                continue;
            }
            _ => continue,
        };
        let text = format!("{}: {}", address.ip(), state.trouble().unwrap_or_default());
        found.is_so(subject, severity, text, None);
    }
}
