//! Who is in a handshake, and who gives way where too many are.
//!
//! A handshake that goes on needs a few round trips; who opens one and falls silent holds its place for the whole time
//! limit. So a newcomer always gets a place: where all are taken, the oldest handshake of whichever client (an address, or
//! a /64) has most of them is cut. Then one client can only drive out its own; many that have one each can drive out
//! others only by beginning as many as there are places within the time that an honest handshake takes.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::dataplane::crowd::Crowd;
use crate::model::ending::Reason;
use crate::snapshot::live::Connection;

pub(crate) struct Handshakes {
    most: usize,
    /// By the connections' numbers.
    table: Mutex<Crowd<u64, Arc<Connection>>>,
}

/// One that is under way, until it is dropped.
#[must_use = "it is over when it is dropped"]
pub(super) struct Handshake<'a> {
    of: &'a Handshakes,
    client: u64,
    id: u64,
}

// === impl Handshakes ===

impl Handshakes {
    /// `most`: at once; at least one.
    pub fn new(most: usize) -> Handshakes {
        Handshakes { most: most.max(1), table: Mutex::default() }
    }

    /// Begins one. Who gives way for it is told so by its cut, and is not counted any more.
    pub(super) fn begin(&self, connection: &Arc<Connection>) -> Handshake<'_> {
        let (client, id) = (connection.network(), connection.id);
        let gives_way = {
            let mut table = self.table.lock();
            table.enter(client, id, Arc::clone(connection));
            let heaviest = table.heaviest().filter(|_| table.len() > self.most);
            heaviest.and_then(|heaviest| table.take_oldest(heaviest, |_| true))
        };
        if let Some(connection) = gives_way {
            connection.cut(Reason::TooManyConnections);
        }
        Handshake { of: self, client, id }
    }
}

impl Drop for Handshake<'_> {
    fn drop(&mut self) {
        self.of.table.lock().leave(self.client, self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::snapshot::live::{Connections, VserverLive};

    /// Those that are cut while all of these begin one after the other, and none ends.
    fn cut(most: usize, clients: &[&str]) -> Vec<usize> {
        let (handshakes, table) = (Handshakes::new(most), Arc::<Connections>::default());
        let enter = |client: &&str| {
            table.enter(client.parse().unwrap(), "web".into(), Arc::new(VserverLive::default()), Instant::now())
        };
        let open: Vec<_> = clients.iter().map(enter).collect();
        let held: Vec<_> = open.iter().map(|connection| handshakes.begin(connection)).collect();
        let cut = (0..open.len()).filter(|&nth| open[nth].cut_for().is_some()).collect();
        drop(held);
        let left = handshakes.table.lock();
        assert_eq!((left.len(), left.heaviest()), (0, None), "all are over");
        cut
    }

    #[test]
    fn where_too_many_are_in_handshakes_the_oldest_of_whoever_has_most_gives_way() {
        let (a, b, c) = ("192.0.2.1:1", "192.0.2.2:1", "192.0.2.3:1");
        assert!(cut(3, &[a, b, c]).is_empty());
        assert_eq!(cut(3, &[b, a, a, c]), [1]);
        assert_eq!(cut(3, &[b, a, a, a, a, c]), [1, 2, 3], "one client drives out its own");
        assert_eq!(cut(2, &[a, b, c]), [0], "level: the oldest of all");
        assert_eq!(cut(1, &[a, b]), [0], "a newcomer always has a place");
        assert_eq!(cut(3, &["[2001:db8::1]:1", a, "[2001:db8::2]:1", b]), [0], "a /64 is one client");
    }

    #[test]
    fn who_is_done_makes_room_and_who_gave_way_is_not_counted_twice() {
        let (handshakes, table) = (Handshakes::new(2), Arc::<Connections>::default());
        let enter = |client: &str| {
            table.enter(client.parse().unwrap(), "web".into(), Arc::new(VserverLive::default()), Instant::now())
        };
        let open: Vec<_> = (1..=5).map(|port| enter(&format!("192.0.2.1:{port}"))).collect();
        let first = handshakes.begin(&open[0]);
        let second = handshakes.begin(&open[1]);
        let third = handshakes.begin(&open[2]);
        drop(first);
        drop(second);
        let fourth = handshakes.begin(&open[3]);
        assert_eq!(open.iter().filter(|connection| connection.cut_for().is_some()).count(), 1);
        let fifth = handshakes.begin(&open[4]);
        assert_eq!(open[2].cut_for(), Some(Reason::TooManyConnections));
        drop((third, fourth, fifth));
    }
}
