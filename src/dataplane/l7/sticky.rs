//! The Set-Cookie field of COOKIEINSERT.
//!
//! With a time-out the cookie carries an expiry and is sent with every answer, so that the time-out counts from the
//! client's last request, as SOURCEIP's does. Without one (time-out 0) it is a session cookie and is sent when a client
//! has none, or when it was moved.

use std::time::{Duration, SystemTime};

use super::date;
use crate::balance::persistence::cookie;
use crate::dataplane::member::Choice;
use crate::model::persistence::{Persistence, PersistenceKind};
use crate::snapshot::Snapshot;

/// The value of the Set-Cookie field for an answer of this member, if one is due.
pub fn set_cookie(snapshot: &Snapshot, choice: Choice) -> Option<String> {
    let vserver = snapshot.model.vserver(choice.serving);
    let Persistence { kind: PersistenceKind::CookieInsert { encrypted, .. }, timeout, .. } =
        vserver.persistence.as_ref()?
    else {
        return None;
    };
    if choice.bypass || (choice.persistent && timeout.is_zero()) {
        return None;
    }
    let sticky = snapshot.prepared.sticky(choice.serving);
    let service = &snapshot.model.service(choice.service).name;
    let value = if *encrypted {
        let ends = (!timeout.is_zero()).then(|| SystemTime::now().checked_add(*timeout)).flatten();
        let seconds = ends.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok()).map(|since| since.as_secs());
        snapshot.cookie_key.seal(&sticky.scope, service, seconds)?
    } else {
        cookie::value(service, choice.address)
    };
    let expires = if timeout.is_zero() { String::new() } else { format!("; expires={}", expiry(*timeout)) };
    let secure = if vserver.protocol.is_tls() { "; Secure" } else { "" };
    Some(format!("{}={value}{expires}; path=/; HttpOnly{secure}", sticky.cookie_name()))
}

/// The time `later` than now.
fn expiry(later: Duration) -> String {
    let at = SystemTime::now().checked_add(later);
    date::http(at.unwrap_or(SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_799)))
}
