//! Other boxes, and pairs of data centres.

use crate::admin::dto::{PairDto, PeerDto};

pub(in super::super) fn peer(peer: &PeerDto, whole: bool) -> String {
    let url = peer.url.as_deref().unwrap_or("not asked, it only asks");
    let witness = if peer.witness { "\tWitness" } else { "" };
    let mut out = format!("{} ({url})\tSite: {}{witness}\n", peer.name, peer.site);
    let heard = peer.heard_at.as_deref().map(|at| format!("\tLast report: {at}")).unwrap_or_default();
    out += &format!("\tState: {} since {}{heard}\n", peer.state.to_uppercase(), peer.since);
    if let Some(error) = &peer.error {
        out += &format!("\tError: {error}\n");
    }
    if let (Some(offset), Some(round_trip)) = (peer.clock_offset, &peer.round_trip) {
        let warned = if peer.clock_differs { "\tToo far off: set both clocks by NTP" } else { "" };
        out += &format!("\tClock: {offset:+.3} s against this box\tRound trip: {round_trip}{warned}\n");
    }
    out += &configuration(peer);
    if !whole {
        return out;
    }
    for seen in &peer.datacenters {
        out += &format!(
            "\tSees {}: WAN {}\tLAN {}\tAccess {}\tInternet {}\tMaintenance {}\n",
            seen.name, seen.wan, seen.lan, seen.access, seen.internet, seen.maintenance
        );
    }
    for other in &peer.differences {
        out += &format!(
            "\tOtherwise there: {} {}: {} here, {} there\n",
            other.object, other.what, other.here, other.there
        );
    }
    out
}

fn configuration(peer: &PeerDto) -> String {
    let Some(hash) = &peer.config_hash else { return String::new() };
    let short = hash.get(..12).unwrap_or(hash);
    let same = match (peer.witness, peer.config_differs_in.is_empty()) {
        (true, _) => "not compared with a witness".to_owned(),
        (false, true) => "the same in what boxes have in common".to_owned(),
        (false, false) => {
            let since = peer.config_differs_since.as_deref().unwrap_or("now");
            format!("DIFFERS in {} since {since}", peer.config_differs_in.join(", "))
        }
    };
    format!("\tConfiguration: {short}\t{same}\n")
}

pub(in super::super) fn pair(pair: &PairDto, whole: bool) -> String {
    let witness = pair.witness.as_deref().map(|site| format!("\tWitness: {site}")).unwrap_or_default();
    let mut out = format!("{}\tActive: {}\tBackup: {}{witness}\n", pair.name, pair.active, pair.backup);
    let open = if pair.fail_open { " (nothing else is left)" } else { "" };
    let expected = match pair.expected.as_deref() {
        Some(site) if site != pair.serving => format!("\tExpected once the holds are over: {site}"),
        _ => String::new(),
    };
    out += &format!("\tServing: {}{open}\tSituation: {}{expected}\n", pair.serving, pair.row);
    if let Some(since) = &pair.disputed_since {
        out += &format!(
            "\tDisputed since {since}: {} cannot be reached from here and says that it is well; nothing moves\n",
            pair.active
        );
    }
    if whole {
        for signal in &pair.signals {
            out += &format!("\t{}: {}\t({})\n", signal.name, signal.value, signal.id);
        }
        for place in &pair.scenarios {
            let state = if place.active { "ACTIVE" } else { "INACTIVE" };
            out += &format!("\t{}: {state}\t({})\n", place.place, place.scenario);
        }
    }
    out
}
