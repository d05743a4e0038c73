//! The interfaces' own settings: by systemd-networkd, or what of them netlink does.

use super::Keeper;
use crate::model::network::{self, Manager};
use crate::network::{networkd, unit};

// === impl Keeper ===

impl Keeper {
    /// Has the interfaces' own settings carried out, or says what is not.
    pub(super) async fn interfaces(&mut self, network: Option<&network::Networking>) -> Vec<String> {
        let network = network.filter(|network| !network.interfaces.is_empty()).cloned();
        let manager = network.as_ref().map(|network| network.manager);
        let units = network.as_ref().map_or_else(Vec::new, unit::units);
        // Whoever was here before may have written files and not got as far as to have them read.
        let is_sure = self.applied.is_some() && self.failed.is_empty();
        let done = tokio::task::spawn_blocking(move || {
            let by_networkd = match manager {
                Some(Manager::Auto) => networkd::runs(),
                Some(Manager::Networkd) => true,
                Some(Manager::Netlink) | None => false,
            };
            match by_networkd {
                true => (true, networkd::apply(&units, !is_sure)),
                // What was written for them goes.
                false if networkd::has_files() => (false, networkd::apply(&[], true)),
                false => (false, Ok(())),
            }
        });
        match done.await {
            Ok((by_networkd, applied)) => {
                self.by_netlink = network.is_some() && !by_networkd;
                let beyond = network.as_ref().filter(|_| !by_networkd).map_or_else(Vec::new, unit::beyond_netlink);
                applied.err().into_iter().chain(beyond).collect()
            }
            Err(_) => vec!["the interfaces could not be set: a bug; its message stands in the log".to_owned()],
        }
    }
}
