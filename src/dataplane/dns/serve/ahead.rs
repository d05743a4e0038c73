//! Signs ahead of queries: whenever zones are configured anew, and every hour, so that signatures are replaced before a
//! query would have to. On a thread of its own that rests as long as it works; with the next zones it begins anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::dataplane::dns::unix_now;
use crate::snapshot::Snapshot;
use crate::snapshot::zones::ZoneIndex;

/// How often signatures are looked at. An eighth of the validity, three hours at least, lies between the moment from
/// which they are replaced here and that from which a query does it.
pub(super) const EVERY: Duration = Duration::from_secs(3600);
/// Work between two rests.
const STRETCH: Duration = Duration::from_millis(2);

#[derive(Default)]
pub(super) struct Ahead {
    /// Those looked at last.
    zones: Option<Arc<ZoneIndex>>,
    /// Ends what runs.
    ended: Arc<AtomicBool>,
}

// === impl Ahead ===

impl Ahead {
    /// Follows a new generation: flips change nothing that is signed here.
    pub fn follow(&mut self, snapshot: &Arc<Snapshot>) {
        if self.zones.as_ref().is_some_and(|zones| Arc::ptr_eq(zones, &snapshot.zones)) {
            return;
        }
        let is_new = snapshot.zones.signs_more_than(self.zones.as_deref());
        self.zones = Some(Arc::clone(&snapshot.zones));
        if is_new {
            self.look(snapshot);
        }
    }

    /// Looks at all signatures in the background.
    pub fn look(&mut self, snapshot: &Arc<Snapshot>) {
        self.end();
        if !snapshot.zones.signs_more_than(None) {
            return;
        }
        let (snapshot, ended) = (Arc::clone(snapshot), Arc::clone(&self.ended));
        tokio::task::spawn_blocking(move || {
            let mut begun = Instant::now();
            snapshot.sign_ahead(unix_now(), || {
                let worked = begun.elapsed();
                if worked >= STRETCH {
                    std::thread::park_timeout(worked);
                    begun = Instant::now();
                }
                !ended.load(Ordering::Relaxed)
            });
        });
    }

    fn end(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        self.ended = Arc::default();
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.end();
    }
}
