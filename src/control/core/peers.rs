//! Other boxes: what they say goes to the engine, what is worth telling to journal and events. Which report is taken, and
//! when one is too old, is decided in [`machine::peers`](crate::machine::peers).

use std::net::SocketAddr;

use super::{Core, Step};
use crate::config::shared_hashes;
use crate::machine::peers::Told;
use crate::model::Model;
use crate::model::id::Name;
use crate::model::peer::News;
use crate::model::time::Now;

// === impl Core ===

impl Core {
    /// After the engine has taken over the same configuration.
    pub(super) fn adopt_peers(&mut self, now: Now, model: &Model) {
        let tables = if model.peers.is_empty() { Vec::new() } else { shared_hashes(model) };
        let told = self.peers.adopt(now, model, tables);
        self.carry(now, told);
    }

    pub(super) fn peer_news(&mut self, now: Now, news: News) {
        let told = self.peers.news(now, news);
        self.carry(now, told);
    }

    pub(super) fn peers_refused(&mut self, count: u64) {
        self.peers.refused(count);
    }

    pub(super) fn peer_listens(&mut self, at: Option<Result<SocketAddr, Name>>) {
        self.peers.listens(at);
    }

    /// What has become too old, or has lasted.
    pub(super) fn look_at_peers(&mut self, now: Now) {
        let told = self.peers.wake(now);
        self.carry(now, told);
    }

    fn carry(&mut self, now: Now, told: Vec<Told>) {
        for told in told {
            match told {
                Told::Rows { peer, rows } => self.step(now, Step::Peer { peer, rows }),
                Told::Record(record) => self.record(now, now, record),
            }
        }
    }
}
