//! L5: the link to other boxes. Each box asks its peers once an interval what they see, and answers them when they ask.
//!
//! ```text
//!   this box                                             peer
//!   client: TLS 1.3, each shows a certificate  ──────▶   server: certificate names a `[peer.NAME]`?
//!           GET /peer/v1/report                ──────▶           of this cluster?
//!           report, at most 2 MiB              ◀──────           what the one writer sees now
//!   ──▶ the one writer: is it who it should be? how old is it?
//! ```
//!
//! Nothing is decided here: whether a report is taken, and what silence means, is said by the one writer. What is here
//! carries, and bounds what another box can send, hold, or make this one do.

mod client;
mod lifetime;
mod places;
mod server;
mod tls;
mod wire;
mod words;

use std::collections::HashMap;
use std::sync::Arc;

use tokio::task::{AbortHandle, JoinHandle};

use crate::control::Handle;
use crate::model::id::Name;
use crate::model::peer::{Peer, PeerLink};

/// What a conversation depends on; another one begins where any of it changes.
#[derive(Clone, Debug, PartialEq)]
struct Terms {
    appliance: Name,
    link: PeerLink,
}

/// Follows the configuration: asks the peers that there are, and listens where it says. Ends with the one writer, or
/// when it is aborted, and every conversation with it.
pub fn start(handle: Handle) -> JoinHandle<()> {
    tokio::spawn(follow(handle))
}

/// A task that ends with its owner.
struct Task(AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn follow(handle: Handle) {
    let mut published = handle.published();
    let mut clients: HashMap<Name, (Peer, Terms, Task)> = HashMap::new();
    let mut listening: Option<(Terms, Task)> = None;
    let mut model = None;
    loop {
        published.borrow_and_update();
        let current = Arc::clone(&handle.snapshot().model);
        if !model.as_ref().is_some_and(|known| Arc::ptr_eq(known, &current)) {
            let terms = Terms { appliance: Name::clone(&current.appliance.name), link: current.peer_link.clone() };
            clients.retain(|_, (peer, agreed, _)| current.peers.contains(peer) && *agreed == terms);
            for peer in current.peers.iter().filter(|peer| peer.url.is_some()) {
                clients.entry(Name::clone(&peer.name)).or_insert_with(|| {
                    let task = tokio::spawn(client::ask_always(handle.clone(), peer.clone(), terms.clone()));
                    (peer.clone(), terms.clone(), Task(task.abort_handle()))
                });
            }
            if terms.link.listen.is_none() {
                if listening.take().is_some() {
                    handle.peer_listens(None).await;
                }
            } else if listening.as_ref().is_none_or(|(agreed, _)| *agreed != terms) {
                // The former one lets go of the address before the next takes it.
                drop(listening.take());
                let task = tokio::spawn(server::listen(handle.clone(), terms.clone()));
                listening = Some((terms, Task(task.abort_handle())));
            }
            model = Some(current);
        }
        if published.changed().await.is_err() {
            return;
        }
    }
}
