//! Whoever searches the journal takes turns with themselves: what one caller asks for at once must not keep the others
//! waiting. A search may read all of the journal, one after the other.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::Problem;
use crate::model::id::Name;

/// Of one caller at a time.
const AT_ONCE: usize = 2;
/// How long a search waits for those of the same caller.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);
/// From so many callers on, those who search for nothing are forgotten.
const CALLERS: usize = 64;

/// Turns of callers.
#[derive(Debug, Default)]
pub(super) struct Searches(Mutex<HashMap<Name, Arc<Semaphore>>>);

// === impl Searches ===

impl Searches {
    /// A turn of this caller; over when dropped. Errors: 503, others of theirs take too long.
    pub async fn turn(&self, actor: &Name) -> Result<OwnedSemaphorePermit, Problem> {
        let turn = tokio::time::timeout(TURN_TIMEOUT, self.of(actor).acquire_owned()).await;
        let busy = "as many searches of yours are under way as may be at once; try again";
        turn.ok().and_then(Result::ok).ok_or_else(|| Problem::busy(busy))
    }

    fn of(&self, actor: &Name) -> Arc<Semaphore> {
        let mut turns = self.0.lock();
        if turns.len() >= CALLERS {
            // Whoever waits or searches holds one too.
            turns.retain(|_, turns| Arc::strong_count(turns) > 1);
        }
        Arc::clone(turns.entry(Name::clone(actor)).or_insert_with(|| Arc::new(Semaphore::new(AT_ONCE))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_searches_too_much_waits_for_themselves_and_nobody_else_does() {
        let searches = Searches::default();
        let (own, other): (Name, Name) = ("admin:a".into(), "admin:b".into());
        let first = searches.turn(&own).await.unwrap();
        let _second = searches.turn(&own).await.unwrap();
        assert_eq!(searches.turn(&own).await.map(|_| ()).map_err(|p| p.status.as_u16()), Err(503));
        assert!(searches.turn(&other).await.is_ok());
        drop(first);
        assert!(searches.turn(&own).await.is_ok());
        for n in 0..1_000 {
            assert!(searches.turn(&format!("ldap:{n}").into()).await.is_ok());
        }
        assert!(searches.0.lock().len() <= CALLERS && searches.0.lock().contains_key(&own));
    }
}
