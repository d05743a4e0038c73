//! People who have logged in to the machine itself: the kernel says over the Unix socket under which number they run, and
//! the number is their name's ([`number`]). Whoever let them in on the machine has asked for it
//! with their password before (`bascule login-check`), so a number that is not told by then is nobody's.

use std::collections::HashMap;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::super::problem::Problem;
use super::super::server::local::role_of;
use super::lockout::insert_bounded;
use super::sessions::Holder;
use super::{Caller, Keeper, Peer, Proof};
use crate::model::access::{Admin, User};
use crate::model::person::{is_number, number, one_name};

/// People of the directory who are remembered; one more, and the one of longest ago has to log in again.
const REMEMBERED_MAX: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct People {
    /// Of the directory: since when, who.
    of_directory: Mutex<HashMap<u32, (Instant, Holder)>>,
}

/// The user of the configuration with this number. `None`: nobody, or more than one.
pub(super) fn user_of(uid: u32, admin: &Admin) -> Option<&User> {
    let mut all = admin.users.iter().filter(|user| number(&user.name) == uid);
    all.next().filter(|_| all.next().is_none())
}

// === impl Keeper ===

impl Keeper {
    /// Somebody else than root and the own user, on the Unix socket.
    pub(super) async fn socket_caller(&self, uid: u32, gid: u32, admin: &Admin) -> Result<Caller, Problem> {
        let peer = Peer::Unix { uid, gid, own: false };
        let caller = |actor: String, role| Caller::new(actor, role, "socket".to_owned(), peer, Proof::Door);
        if let Some(people) = self.people.as_ref().filter(|_| is_number(uid)) {
            if let Some(user) = user_of(uid, admin) {
                return Ok(caller(format!("admin:{}", user.name), user.role));
            }
            if let Some(holder) = people.of_directory(uid, admin, Instant::now())
                && self.still_holds(&holder, admin).await?
            {
                return Ok(caller(holder.actor.to_string(), holder.role));
            }
            return Err(Problem::forbidden(
                "who you are is not known here, or not any more; log in to this machine again",
            ));
        }
        let rules = admin.socket.clone();
        let role = tokio::task::spawn_blocking(move || role_of(uid, gid, &rules)).await;
        role.ok().flatten().map(|role| caller(format!("uid:{uid}"), role)).ok_or_else(|| {
            Problem::forbidden(format!(
                "uid {uid} may not use this socket: root, the user that the appliance runs as, and who is named in \
                 [admin.socket] may"
            ))
        })
    }
}

// === impl People ===

impl People {
    /// The number of somebody who has shown their password; from now on it is theirs. `None`: it is another's too.
    pub fn admit(&self, holder: &Holder, admin: &Admin, now: Instant) -> Option<u32> {
        let uid = number(&holder.user);
        if admin.users.iter().any(|user| user.name == holder.user) {
            return user_of(uid, admin).map(|_| uid);
        }
        if admin.users.iter().any(|user| number(&user.name) == uid) {
            return None;
        }
        let mut known = self.of_directory.lock();
        known.retain(|_, (since, _)| now.duration_since(*since) < admin.sessions.absolute);
        if known.get(&uid).is_some_and(|(_, other)| one_name(&other.user) != one_name(&holder.user)) {
            return None;
        }
        insert_bounded(&mut known, REMEMBERED_MAX, uid, (now, holder.clone()), |(since, _)| *since);
        Some(uid)
    }

    /// Who of the directory has this number, as they were when they logged in.
    pub fn of_directory(&self, uid: u32, admin: &Admin, now: Instant) -> Option<Holder> {
        if admin.users.iter().any(|user| number(&user.name) == uid) {
            return None;
        }
        let known = self.of_directory.lock();
        let fresh = known.get(&uid).filter(|(since, _)| now.duration_since(*since) < admin.sessions.absolute);
        fresh.map(|(_, holder)| holder.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::access::{PasswordHash, Role};

    fn admin(names: &[&str]) -> Admin {
        let user = |name: &&str| User {
            name: (*name).into(),
            role: Role::Operator,
            password: PasswordHash::Inline("x".into()),
        };
        Admin { users: names.iter().map(user).collect(), ..Admin::default() }
    }

    fn holder(name: &str, role: Role) -> Holder {
        Holder { actor: format!("ldap:{name}").into(), user: name.into(), role, stamp: [0; 32] }
    }

    #[test]
    fn a_number_that_two_could_have_is_nobodys() {
        let two = admin(&["Ops", "ops"]);
        assert!(user_of(number("ops"), &two).is_none());
        let people = People::default();
        assert_eq!(people.admit(&holder("ops", Role::Operator), &two, Instant::now()), None);
        let one = admin(&["ops"]);
        assert_eq!(people.admit(&holder("ops", Role::Operator), &one, Instant::now()), Some(number("ops")));
        assert!(user_of(number("ops"), &one).is_some());
        // Of the directory, with the number of a user.
        assert_eq!(people.admit(&holder("OPS", Role::Superuser), &one, Instant::now()), None);
        assert!(people.of_directory(number("ops"), &one, Instant::now()).is_none());
    }

    #[test]
    fn somebody_of_the_directory_is_known_by_their_number_until_their_day_is_over() {
        let (people, nobody, now) = (People::default(), admin(&[]), Instant::now());
        let uid = number("eve");
        assert!(people.of_directory(uid, &nobody, now).is_none(), "they have not logged in");
        assert_eq!(people.admit(&holder("eve", Role::ReadOnly), &nobody, now), Some(uid));
        assert_eq!(people.of_directory(uid, &nobody, now).unwrap().role, Role::ReadOnly);
        assert!(people.of_directory(uid, &admin(&["Eve"]), now).is_none(), "a user of the configuration comes first");
        let later = now + nobody.sessions.absolute + Duration::from_secs(1);
        assert!(people.of_directory(uid, &nobody, later).is_none());
    }
}
