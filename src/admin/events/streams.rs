//! Streams that are open, and whose: nobody takes all there are, and whoever runs the appliance always sees it.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::model::Role;
use crate::model::id::Name;

/// Streams at once.
const MOST: usize = 128;
/// Of them for superusers alone.
const KEPT: usize = 32;
/// Of one caller; one more ends their oldest, since a program that forgets to close its streams opens them again.
const EACH: usize = 16;

/// All that are open.
#[derive(Debug, Default)]
pub(crate) struct Streams(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    /// The oldest first.
    streams: Vec<Entry>,
    opened_total: u64,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    actor: Name,
    /// Dropped to end it.
    _end: oneshot::Sender<()>,
}

/// One of them; open until dropped.
#[derive(Debug)]
pub(super) struct Stream {
    streams: Arc<Streams>,
    number: u64,
    /// Ready once it is to end because its caller has opened others.
    pub ended: oneshot::Receiver<()>,
}

// === impl Streams ===

impl Streams {
    /// `None`: none is left for this caller.
    pub(super) fn open(self: &Arc<Streams>, actor: &Name, role: Role) -> Option<Stream> {
        let most = if role == Role::Superuser { MOST } else { MOST - KEPT };
        let mut open = self.0.lock();
        let of_caller = |entry: &Entry| entry.actor == *actor;
        if open.streams.iter().filter(|entry| of_caller(entry)).count() >= EACH
            && let Some(oldest) = open.streams.iter().position(of_caller)
        {
            open.streams.remove(oldest);
        }
        if open.streams.len() >= most {
            return None;
        }
        let (end, ended) = oneshot::channel();
        open.opened_total += 1;
        let number = open.opened_total;
        open.streams.push(Entry { number, actor: Name::clone(actor), _end: end });
        Some(Stream { streams: Arc::clone(self), number, ended })
    }
}

// === impl Stream ===

impl Drop for Stream {
    fn drop(&mut self) {
        self.streams.0.lock().streams.retain(|entry| entry.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(streams: &Arc<Streams>, actor: &str, role: Role, count: usize) -> Vec<Stream> {
        (0..count).map_while(|_| streams.open(&actor.into(), role)).collect()
    }

    #[test]
    fn one_stream_too_many_ends_the_callers_oldest_and_nobody_elses() {
        let streams = Arc::new(Streams::default());
        let mut other = open(&streams, "admin:b", Role::ReadOnly, 1);
        let mut own = open(&streams, "admin:a", Role::ReadOnly, EACH + 2);
        let ended: Vec<bool> = own.iter_mut().map(|stream| stream.ended.try_recv() != Err(EMPTY)).collect();
        assert_eq!((own.len(), ended.iter().filter(|ended| **ended).count()), (EACH + 2, 2));
        assert!(ended[0] && ended[1] && other[0].ended.try_recv() == Err(EMPTY));
        drop((own, other));
        assert!(streams.0.lock().streams.is_empty());
    }

    const EMPTY: oneshot::error::TryRecvError = oneshot::error::TryRecvError::Empty;

    #[test]
    fn superusers_have_streams_that_others_cannot_take() {
        let streams = Arc::new(Streams::default());
        let taken: Vec<_> =
            (0..100).flat_map(|n| open(&streams, &format!("token:{n}"), Role::Operator, EACH)).collect();
        assert_eq!(taken.len(), MOST - KEPT);
        assert!(streams.open(&"admin:late".into(), Role::Operator).is_none());
        assert_eq!(open(&streams, "admin:root", Role::Superuser, EACH).len(), EACH);
    }
}
