//! Logins, refusals and locks as entries of the journal. Neither a guesser nor somebody who logs in without end may fill it,
//! and push out of it what was done: refusals are rationed, and so are logins of each caller. What is left out is counted, and
//! told with the next one that is not.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::control::{Handle, Refusal};
use crate::model::access::Admin;
use crate::model::id::Name;

use super::Caller;
use super::lockout::insert_bounded;

/// Refusals in one [`SPAN`].
const MOST: u32 = 30;
/// Logins and logouts of one caller in one [`SPAN`].
const SESSIONS_MOST: u32 = 10;
/// Callers whose logins are counted.
const CALLERS_MAX: usize = 1_024;
const SPAN: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(crate) struct Audit {
    ration: Mutex<Ration>,
    sessions: Mutex<HashMap<Name, Ration>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Ration {
    since: Option<Instant>,
    told: u32,
    left_out: u64,
}

// === impl Audit ===

impl Audit {
    /// A session was opened or ended: `login`, `logout`.
    pub fn session(&self, handle: &Handle, caller: &Caller, what: &'static str) {
        let Some(left_out) = self.may_tell(Instant::now(), &caller.actor) else { return };
        tracing::info!(door = &*caller.door, left_out, "{} of {}", what, caller.actor);
        let mut body = json!({ "what": what, "role": caller.role.word() });
        if left_out > 0 {
            body["left_out"] = Value::from(left_out);
        }
        handle.journal_access(Name::clone(&caller.actor), Name::clone(&caller.door), body);
    }

    /// Somebody lifted the locks of a name. Over once the journal has it.
    pub async fn lifted(&self, handle: &Handle, caller: &Caller, name: &str, networks: usize) -> Result<(), Refusal> {
        tracing::info!(door = &*caller.door, name, networks, "locks lifted by {}", caller.actor);
        let body = json!({ "what": "unlock", "user": name, "networks": networks });
        handle.journal_act(Name::clone(&caller.actor), Name::clone(&caller.door), body).await
    }

    /// Somebody cleared counters. `of`: which, in NITRO's words: `lbvserver web`, `service`. Over once the journal has it.
    pub async fn cleared(&self, handle: &Handle, caller: &Caller, of: &str) -> Result<(), Refusal> {
        tracing::info!(door = &*caller.door, of, "counters cleared by {}", caller.actor);
        let body = json!({ "what": "clearstats", "of": of });
        handle.journal_act(Name::clone(&caller.actor), Name::clone(&caller.door), body).await
    }

    /// Whether another login or logout of somebody is told, and how many were left out before it.
    fn may_tell(&self, now: Instant, actor: &Name) -> Option<u64> {
        let mut sessions = self.sessions.lock();
        let mut ration = sessions.get(actor).copied().unwrap_or_default();
        let told = ration.take(now, SESSIONS_MOST);
        insert_bounded(&mut sessions, CALLERS_MAX, Name::clone(actor), ration, |ration| ration.since);
        told
    }

    /// Somebody was not let in at `door`. `name`: as they gave it; told only where it is a user's, because what is typed
    /// where a name belongs is sometimes a password.
    pub fn refused(&self, handle: &Handle, admin: &Admin, door: String, name: Option<&str>, why: &str) {
        let Some(left_out) = self.ration.lock().take(Instant::now(), MOST) else { return };
        let user = name.and_then(|name| admin.users.iter().find(|user| *user.name == *name)).map(|user| &*user.name);
        tracing::warn!(door, user, left_out, "refused: {why}");
        let mut body = json!({ "what": "refused", "user": user, "why": why });
        if left_out > 0 {
            body["left_out"] = Value::from(left_out);
        }
        handle.journal_access("unknown".into(), door.into(), body);
    }
}

// === impl Ration ===

impl Ration {
    /// `None`: not to be told; else how many were left out before it.
    fn take(&mut self, now: Instant, most: u32) -> Option<u64> {
        if self.since.is_none_or(|since| now.saturating_duration_since(since) >= SPAN) {
            (self.since, self.told) = (Some(now), 0);
        }
        if self.told >= most {
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
        let told = (0..1_000).filter(|_| ration.take(now, MOST).is_some()).count();
        assert_eq!(told, 30);
        assert_eq!(ration.take(now + SPAN / 2, MOST), None);
        assert_eq!(ration.take(now + SPAN, MOST), Some(971));
        assert_eq!(ration.take(now + SPAN, MOST), Some(0));
    }

    #[tokio::test(start_paused = true)]
    async fn who_logs_in_without_end_fills_no_journal_and_hides_nobody_elses_logins() {
        let (audit, now) = (Audit::default(), Instant::now());
        let told = (0..1_000).filter(|_| audit.may_tell(now, &"admin:a".into()).is_some()).count();
        assert_eq!((told, audit.may_tell(now, &"admin:b".into())), (10, Some(0)));
        assert_eq!(audit.may_tell(now + SPAN, &"admin:a".into()), Some(990));
        for n in 0..2 * CALLERS_MAX {
            audit.may_tell(now, &format!("ldap:{n}").into());
        }
        assert_eq!(audit.sessions.lock().len(), CALLERS_MAX);
    }
}
