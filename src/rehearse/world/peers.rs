//! Other boxes, as the script lets them speak. They are heard from the start and all is well there, unless the script
//! begins with `start unknown`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::World;
use crate::machine::Input;
use crate::model::Model;
use crate::model::condition::{Signal, Truth};
use crate::model::id::Name;

/// What the boxes of a site say.
#[derive(Clone, Debug, Default)]
pub(super) struct Speaker {
    silent: bool,
    /// Where it differs from all being well.
    says: BTreeMap<(Name, Signal), Truth>,
}

// === impl World ===

impl World {
    /// What a box of `site` sees from now on; it is heard with it. Errors: no peer stands there.
    pub fn peer_says(&mut self, site: &Name, datacenter: &Name, signal: Signal, value: Truth) -> Result<(), String> {
        self.speaker(site)?.says.insert((Name::clone(datacenter), signal), value);
        self.speaker(site)?.silent = false;
        self.tell_peers();
        Ok(())
    }

    /// Three intervals have passed without a word of the boxes of `site`, or they are heard again.
    pub fn peer_silent(&mut self, site: &Name, silent: bool) -> Result<(), String> {
        self.speaker(site)?.silent = silent;
        self.tell_peers();
        Ok(())
    }

    fn speaker(&mut self, site: &Name) -> Result<&mut Speaker, String> {
        let sites: Vec<&str> = self.model().peers.iter().map(|peer| &*peer.site).collect();
        if !sites.contains(&&**site) {
            return Err(format!("no peer stands in `{site}`; peers stand in: {}", sites.join(", ")));
        }
        let unknown = self.unknown;
        Ok(self.speakers.entry(Name::clone(site)).or_insert_with(|| Speaker { silent: unknown, ..Speaker::default() }))
    }

    /// Tells the engine what every peer sees. One that is not asked is never heard.
    pub(super) fn tell_peers(&mut self) {
        let model = Arc::clone(self.model());
        for peer in model.peers.iter().filter(|peer| peer.url.is_some()) {
            let Ok(speaker) = self.speaker(&peer.site) else { continue };
            let rows = (!speaker.silent).then(|| rows(&model, speaker));
            self.step(Input::Peer { peer: Name::clone(&peer.name), rows });
        }
    }
}

fn rows(model: &Model, speaker: &Speaker) -> Arc<[(Name, [Truth; 5])]> {
    let seen = |datacenter: &Name| {
        let mut signals = Signal::ALL.map(|signal| {
            let well = Truth::from(signal != Signal::Maintenance);
            speaker.says.get(&(Name::clone(datacenter), signal)).copied().unwrap_or(well)
        });
        signals[Signal::Access as usize] = signals[Signal::Wan as usize].or(signals[Signal::Lan as usize]);
        (Name::clone(datacenter), signals)
    };
    model.datacenters.iter().map(|datacenter| seen(&datacenter.name)).collect()
}
