//! Logins, refusals and locks as entries of the journal. A guesser must not fill it, so refusals are rationed: what is left
//! out is counted, and told with the next one that is not.

use std::net::IpAddr;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::control::Handle;
use crate::model::access::Admin;
use crate::model::id::Name;

use super::Caller;

/// Refusals in one [`SPAN`].
const MOST: u32 = 30;
const SPAN: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(crate) struct Audit {
    ration: Mutex<Ration>,
}

#[derive(Debug, Default)]
struct Ration {
    since: Option<Instant>,
    told: u32,
    left_out: u64,
}

// === impl Audit ===

impl Audit {
    /// A session was opened or ended: `login`, `logout`.
    pub fn session(&self, handle: &Handle, caller: &Caller, what: &'static str) {
        tracing::info!(door = &*caller.door, "{} of {}", what, caller.actor);
        let body = json!({ "what": what, "role": caller.role.word() });
        handle.journal_access(Name::clone(&caller.actor), Name::clone(&caller.door), body);
    }

    /// Somebody was not let in. `name`: as they gave it; told only where it is a user's, because what is typed where a
    /// name belongs is sometimes a password.
    pub fn refused(&self, handle: &Handle, admin: &Admin, from: IpAddr, name: Option<&str>, why: &str) {
        let Some(left_out) = self.ration.lock().take(Instant::now()) else { return };
        let user = name.and_then(|name| admin.users.iter().find(|user| *user.name == *name)).map(|user| &*user.name);
        tracing::warn!(%from, user, left_out, "refused: {why}");
        let mut body = json!({ "what": "refused", "user": user, "why": why });
        if left_out > 0 {
            body["left_out"] = Value::from(left_out);
        }
        handle.journal_access("unknown".into(), format!("tcp {from}").into(), body);
    }
}

// === impl Ration ===

impl Ration {
    /// `None`: not to be told; else how many were left out before it.
    fn take(&mut self, now: Instant) -> Option<u64> {
        if self.since.is_none_or(|since| now.saturating_duration_since(since) >= SPAN) {
            (self.since, self.told) = (Some(now), 0);
        }
        if self.told >= MOST {
            self.left_out += 1;
            return None;
        }
        self.told += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_refusals_is_told_in_part_and_counted_whole() {
        let (mut ration, now) = (Ration::default(), Instant::now());
        let told = (0..1_000).filter(|_| ration.take(now).is_some()).count();
        assert_eq!(told, 30);
        assert_eq!(ration.take(now + SPAN / 2), None);
        assert_eq!(ration.take(now + SPAN), Some(971));
        assert_eq!(ration.take(now + SPAN), Some(0));
    }
}
