//! Where connections to servers leave from.

use std::net::IpAddr;

use super::Snapshot;

impl Snapshot {
    /// The source address whose subnet reaches `to`, as far as it is on the machine; `None`: as the system chooses.
    pub fn source_for(&self, to: IpAddr) -> Option<IpAddr> {
        let network = self.model.network.as_ref()?;
        let at = network.source_for(to)?;
        self.sources.get(at)?.is_here().then(|| network.sources[at].ip)
    }
}
