//! Looks host names up, every five seconds, with the resolver of the system. Beside the reactor: a name server that does
//! not answer delays nothing but the name.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::core::Lookups;
use crate::model::id::Name;

const ROUND: Duration = Duration::from_secs(5);

/// One look-up.
const PATIENCE: Duration = Duration::from_secs(3);

/// Look-ups at once.
const AT_ONCE: usize = 16;

/// Runs until the names' sender is gone. New names are looked up at once.
pub async fn run(mut names: watch::Receiver<Vec<Name>>, results: mpsc::Sender<Lookups>) {
    loop {
        let wanted: Vec<Name> =
            names.borrow_and_update().iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
        for some in wanted.chunks(AT_ONCE) {
            let tasks: Vec<_> = some.iter().map(|name| (name, tokio::spawn(look_up(Name::clone(name))))).collect();
            let mut found = Lookups::new();
            for (name, task) in tasks {
                found.insert(Name::clone(name), task.await.unwrap_or_default());
            }
            if results.send(found).await.is_err() {
                return;
            }
        }
        if let Ok(Err(_)) = tokio::time::timeout(ROUND, names.changed()).await {
            return;
        }
    }
}

/// In the order of the answer; empty where it does not resolve in time.
async fn look_up(name: Name) -> Vec<IpAddr> {
    match tokio::time::timeout(PATIENCE, tokio::net::lookup_host((&*name, 0))).await {
        Ok(Ok(addresses)) => addresses.map(|address| address.ip()).collect(),
        Ok(Err(_)) | Err(_) => Vec::new(),
    }
}
