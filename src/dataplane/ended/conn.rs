//! A client's connection as what its requests are counted on.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Exchange;
use crate::dataplane::Shared;
use crate::model::ending::{Ending, Phase, Reason, Who};
use crate::model::id::Name;
use crate::snapshot::live::{Connection, Interval, VserverLive};

/// An open client connection and what its requests are counted on. Shared by all that belongs to it; the connection
/// stands in the table until the last of them is gone.
pub(crate) struct Conn {
    pub shared: Arc<Shared>,
    pub entry: Arc<Connection>,
}

// === impl Conn ===

impl Conn {
    /// Enters a connection that was just accepted into the table.
    pub fn open(
        shared: &Arc<Shared>,
        peer: SocketAddr,
        vserver: &Name,
        live: &Arc<VserverLive>,
        since: Instant,
    ) -> Arc<Conn> {
        let table = &shared.plane.cell.load().connections;
        let entry = table.enter(peer, Arc::clone(vserver), Arc::clone(live), since);
        Arc::new(Conn { shared: Arc::clone(shared), entry })
    }

    /// It ends while no request is under way, for a reason that is to be known: a handshake that failed, an idle
    /// time-out. Not for a client that simply closes.
    pub fn ended(self: &Arc<Conn>, who: Who, phase: Phase, reason: Reason) {
        Exchange::begin(self, self.entry.since).finish(Ending::new(who, phase, reason), 0);
    }

    /// The handshake with the client is over.
    pub fn secured(&self, handshake: Duration) {
        self.entry.set_tls();
        self.entry.live.measured.record(Interval::ClientTls, handshake);
    }
}

impl fmt::Debug for Conn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conn").field("entry", &self.entry.id).finish_non_exhaustive()
    }
}
