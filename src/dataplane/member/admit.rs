//! What one client may do: `client_limits`, asked before anything else is.

use std::sync::Arc;

use super::{Refused, Wanted};
use crate::balance::bucket;
use crate::balance::persistence::Key;
use crate::model::id::{Name, VserverId};
use crate::model::limit::ClientKey;
use crate::snapshot::Snapshot;
use crate::snapshot::live::VserverLive;

/// What a request or connection holds while it lasts: its places under the limits of its client.
#[derive(Debug, Default)]
#[must_use = "the places are given back when it is dropped"]
pub struct Admitted {
    live: Option<Arc<VserverLive>>,
    held: Vec<(Name, Key)>,
}

/// Whether this client may do anything at all (`client_limits`). To be asked once for each request (HTTP) or connection
/// (L4), and kept until that is over.
pub fn admit(snapshot: &Snapshot, entry: VserverId, wanted: &Wanted<'_>) -> Result<Admitted, Refused> {
    let mut admitted = Admitted::default();
    let limits = &snapshot.model.vserver(entry).client_limits;
    if limits.is_empty() {
        return Ok(admitted);
    }
    let live = &snapshot.vservers[entry.index()].live;
    admitted.live = Some(Arc::clone(live));
    for limit in limits {
        let value = match &limit.key {
            ClientKey::Value(extract) => wanted.extract(snapshot, extract),
            ClientKey::Address { .. } => None,
        };
        let client = bucket::client(limit, wanted.client.ip(), value.as_deref());
        if let Err(over) = live.clients.open(limit, &client, wanted.now) {
            live.limited_total.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            return Err(Refused::limited(over.retry_after_s()));
        }
        admitted.held.push((Name::clone(&limit.name), client));
    }
    Ok(admitted)
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if let Some(live) = &self.live {
            for (limit, client) in &self.held {
                live.clients.close(limit, client);
            }
        }
    }
}
