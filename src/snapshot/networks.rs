//! The operator's own networks: which data centre a client stands in.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::model::Model;
use crate::model::id::Name;
use crate::model::net::Network;

/// Networks by the length of their prefix, the longest first; a look is one hash for each length that occurs.
#[derive(Debug, Default)]
pub struct Networks {
    v4: Vec<(u8, HashMap<IpAddr, Name>)>,
    v6: Vec<(u8, HashMap<IpAddr, Name>)>,
}

// === impl Networks ===

impl Networks {
    pub fn build(model: &Model) -> Networks {
        let mut networks = Networks::default();
        for datacenter in &model.datacenters {
            for network in &datacenter.networks {
                networks.insert(network, &datacenter.name);
            }
        }
        for lengths in [&mut networks.v4, &mut networks.v6] {
            lengths.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
        }
        networks
    }

    fn insert(&mut self, network: &Network, datacenter: &Name) {
        let lengths = if network.address.is_ipv4() { &mut self.v4 } else { &mut self.v6 };
        let at = lengths.iter().position(|(length, _)| *length == network.prefix).unwrap_or_else(|| {
            lengths.push((network.prefix, HashMap::new()));
            lengths.len() - 1
        });
        lengths[at].1.insert(network.address, Name::clone(datacenter));
    }

    /// The data centre with the longest network that holds `client`.
    pub fn datacenter(&self, client: IpAddr) -> Option<&str> {
        let lengths = if client.to_canonical().is_ipv4() { &self.v4 } else { &self.v6 };
        let found = lengths.iter().find_map(|(length, names)| names.get(&Network::truncate(client, *length, *length)));
        found.map(|name| &**name)
    }
}
