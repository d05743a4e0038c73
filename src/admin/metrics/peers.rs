//! Other boxes, and pairs of data centres.

use super::Page;
use crate::control::World;
use crate::model::peer::{PeerState, PeerView};

pub(super) fn write(look: &World<'_>, page: &mut Page) {
    let flag = |on: bool| f64::from(u8::from(on));
    let peers = || look.model.peers.iter().filter_map(|p| Some((&*p.name, look.peers.peers.get(&p.name)?)));
    type Read = fn(&PeerView) -> bool;
    let flags: [(&'static str, &'static str, Read); 3] = [
        ("bascule_peer_heard", "1 while the peer is heard; 0: what it sees is unknown.", |v| {
            v.state == PeerState::Heard
        }),
        ("bascule_peer_config_differs", "1 once its configuration has been another one for a minute.", |v| {
            v.config_differs
        }),
        ("bascule_peer_clock_differs", "1 while its clock is off by more than two seconds.", |v| v.clock_is_off),
    ];
    for (name, help, read) in flags {
        let mut family = page.gauge(name, help);
        for (peer, view) in peers() {
            family.sample(&[("peer", peer)], flag(read(view)));
        }
    }
    let mut family = page.gauge("bascule_peer_report_age_seconds", "Since the last report that was taken.");
    for (peer, view) in peers() {
        if let Some(at) = view.heard_at {
            family.sample(&[("peer", peer)], look.now.tick.since(at.tick).as_secs_f64());
        }
    }
    let mut family = page.gauge("bascule_peer_clock_offset_seconds", "The peer's clock less this box's.");
    for (peer, view) in peers() {
        if let Some(us) = view.clock_offset_us {
            family.sample(&[("peer", peer)], us as f64 / 1e6);
        }
    }
    let mut family = page.counter("bascule_peer_failures_total", "Attempts to hear the peer that failed.");
    for (peer, view) in peers() {
        family.sample(&[("peer", peer)], view.failures_total as f64);
    }
    page.counter("bascule_peer_refused_total", "Boxes that asked this one and were refused.")
        .sample(&[], look.peers.refused_total as f64);
    let mut family = page.gauge(
        "bascule_datacenter_pair_disputed",
        "1 while the active site cannot be reached from here and says that it is well.",
    );
    for (pair, view) in look.model.pairs.iter().zip(&look.view.pairs) {
        family.sample(&[("pair", &pair.name)], flag(view.disputed));
    }
}
