//! Other boxes.

use super::Found;
use crate::control::World;
use crate::machine::peers::{clock_text, differs_text};
use crate::model::alert::{AlertKind, AlertSeverity, AlertSubject};
use crate::model::peer::PeerState;

/// Of a peer that is not heard nobody knows whether its configuration or its clock is still another one.
pub(super) fn peers(world: &World<'_>, found: &mut Found<'_>) {
    let warning = AlertSeverity::Warning;
    for peer in &world.model.peers {
        let Some(view) = world.peers.peers.get(&peer.name) else { continue };
        let subject = |kind| AlertSubject::new(kind, "peer", &peer.name);
        let is_heard = view.state == PeerState::Heard;
        if found.wants(AlertKind::PeerUnknown) && peer.url.is_some() && !is_heard {
            match &view.error {
                Some(why) => {
                    let text = format!("peer_unknown: not heard: {why}");
                    found.is_so(subject(AlertKind::PeerUnknown), warning, text, Some(view.since.wall));
                }
                // The first attempt has not ended yet.
                None if view.heard_at.is_none() => found.unknown(subject(AlertKind::PeerUnknown)),
                None => {
                    let text = "peer_unknown: not heard for three intervals".to_owned();
                    found.is_so(subject(AlertKind::PeerUnknown), warning, text, Some(view.since.wall));
                }
            }
        }
        if found.wants(AlertKind::PeerConfigDiffers) {
            match view.differs_since.filter(|_| view.config_differs) {
                _ if !is_heard => found.unknown(subject(AlertKind::PeerConfigDiffers)),
                Some(since) => {
                    let text = differs_text(&peer.name, view);
                    found.is_so(subject(AlertKind::PeerConfigDiffers), warning, text, Some(since.wall));
                }
                None => {}
            }
        }
        if found.wants(AlertKind::PeerClock) {
            match view.clock_offset_us.filter(|_| view.clock_is_off) {
                _ if !is_heard => found.unknown(subject(AlertKind::PeerClock)),
                Some(offset) => {
                    found.is_so(subject(AlertKind::PeerClock), warning, clock_text(&peer.name, offset), None);
                }
                None => {}
            }
        }
    }
}
