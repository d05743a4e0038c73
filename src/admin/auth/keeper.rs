//! Everything that is remembered of callers, and who is let in by it.

use std::net::IpAddr;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use tokio::time::Instant;

use super::super::problem::Problem;
use super::credentials::{CSRF, Shown};
use super::directory::{Denied, Directory, Question};
use super::people::People;
use super::sessions::{Hash, Holder, Opened, Session, Sessions};
use super::token::{self, Refused};
use super::verifier::Verifier;
use super::{Caller, Head, Peer, Proof, audit, local, unauthorized, wall};
use crate::model::Model;
use crate::model::access::{Admin, ApiToken, Ldap, PasswordHash, Role, User};
use crate::model::id::Name;
use crate::model::person::one_name;

/// Refusals are told at whole steps where some take longer than others: more than a hash, or a question to a directory
/// that is near, takes.
const STEP: Duration = Duration::from_millis(250);

/// How the journal calls users of the directory, before their names.
const OF_DIRECTORY: &str = "ldap:";

#[derive(Debug)]
pub(crate) struct Keeper {
    pub verifier: Verifier,
    pub sessions: Sessions,
    pub audit: audit::Audit,
    directory: Directory,
    /// `None`: whoever logs in to the machine is nobody here.
    pub(super) people: Option<People>,
}

// === impl Keeper ===

impl Keeper {
    pub fn new() -> Keeper {
        Keeper {
            verifier: Verifier::new(),
            sessions: Sessions::new(),
            audit: audit::Audit::default(),
            directory: Directory::new(),
            people: None,
        }
    }

    /// With people who log in to the machine (`is`), or without.
    pub fn with_people(is: bool) -> Keeper {
        Keeper { people: is.then(People::default), ..Keeper::new() }
    }

    /// The number under which somebody who has shown their password may use the Unix socket from now on.
    pub fn number(&self, caller: &Caller, admin: &Admin) -> Option<u32> {
        match &caller.proof {
            Proof::Password(holder) => self.people.as_ref()?.admit(holder, admin, Instant::now()),
            _ => None,
        }
    }

    /// Lets a caller in or says why not. Argon2 runs on a blocking thread.
    pub async fn authenticate(&self, peer: Peer, head: Head<'_>, model: &Model) -> Result<Caller, Problem> {
        let admin = &model.admin;
        let address = match peer {
            Peer::Unix { uid, own: true, .. } => {
                let (actor, door) = (format!("uid:{uid}"), "socket".to_owned());
                return Ok(Caller::new(actor, Role::Superuser, door, peer, Proof::Door));
            }
            Peer::Unix { uid, gid, own: false } => return self.socket_caller(uid, gid, admin).await,
            Peer::Tcp { address, .. } => address.ip().to_canonical(),
        };
        refuse_in_the_clear(peer, admin)?;
        local::refuse_cross_site(head)?;
        match Shown::of(head.headers)? {
            Shown::Bearer(token) => self.token_caller(head.headers, &admin.tokens, &token, peer),
            _ if !admin.has_logins() => {
                local::refuse_others(address, head)?;
                Ok(Caller::new("admin:local", Role::Superuser, format!("tcp {address}"), peer, Proof::Door))
            }
            Shown::Password { name, password } => {
                let holder = self.check_password(address, &name, password, model).await;
                let holder = holder.map_err(|problem| with_challenge(problem, head.headers))?;
                let actor = Name::clone(&holder.actor);
                Ok(Caller::new(actor, holder.role, format!("tcp {address}"), peer, Proof::Password(holder)))
            }
            Shown::Cookie(token) => {
                let Some(caller) = self.session(&token, model, peer).await? else {
                    return Err(unauthorized(head.headers, "the session has ended; log in again"));
                };
                let is_act = !matches!(*head.method, Method::GET | Method::HEAD | Method::OPTIONS);
                let sent = head.headers.get(CSRF).map_or(&b""[..], HeaderValue::as_bytes);
                if is_act && !self.sessions.is_csrf(&token, sent) {
                    let detail = "an act with a session's cookie carries the field X-CSRF-Token; its value came with \
                                  the login, and stands in /api/v1/whoami";
                    return Err(Problem::new(StatusCode::FORBIDDEN, "csrf", detail));
                }
                Ok(caller)
            }
            Shown::Nothing => {
                let what = "a name and a password are needed (HTTP Basic), or a token (Bearer)";
                Err(unauthorized(head.headers, what))
            }
        }
    }

    /// Opens a session for a name and a password.
    pub async fn log_in(
        &self,
        peer: Peer,
        name: &str,
        password: Vec<u8>,
        model: &Model,
    ) -> Result<(Opened, Caller), Problem> {
        let admin = &model.admin;
        let no_login = |why| Problem::new(StatusCode::CONFLICT, "no_login", why);
        let Peer::Tcp { address, .. } = peer else {
            return Err(no_login("on the Unix socket the kernel says who calls; there is nothing to log in to"));
        };
        if !admin.has_logins() {
            return Err(no_login(
                "no users are configured: callers on this machine are let in as they are; define [admin.user.NAME]",
            ));
        }
        refuse_in_the_clear(peer, admin)?;
        let from = address.ip().to_canonical();
        let holder = self.check_password(from, name, password, model).await?;
        let now = Instant::now();
        let Some(opened) = self.sessions.open(now, &admin.sessions, holder) else {
            return Err(Problem::busy("the system has no random numbers for a session"));
        };
        let caller = Caller::of_session(&opened.session, &admin.sessions, now, peer);
        Ok((opened, caller))
    }

    /// Who calls with a session's token; `None`: it has ended, or its holder is not who they were.
    pub async fn session(&self, token: &str, model: &Model, peer: Peer) -> Result<Option<Caller>, Problem> {
        let found = self.sessions.find(Instant::now(), &model.admin.sessions, token);
        self.held(found, model, peer).await
    }

    /// As [`Keeper::session`], by what names the session.
    pub async fn session_of(&self, id: &Hash, model: &Model, peer: Peer) -> Result<Option<Caller>, Problem> {
        let found = self.sessions.stay(Instant::now(), &model.admin.sessions, id);
        self.held(found, model, peer).await
    }

    async fn held(&self, found: Option<Session>, model: &Model, peer: Peer) -> Result<Option<Caller>, Problem> {
        let Some(session) = found else { return Ok(None) };
        if self.still_holds(&session.holder, &model.admin).await? {
            return Ok(Some(Caller::of_session(&session, &model.admin.sessions, Instant::now(), peer)));
        }
        self.sessions.close(&session.id);
        Ok(None)
    }

    /// Whether who was let in a while ago would be let in still, by the same. Staying counts as using a session.
    pub async fn may_stay(&self, caller: &Caller, model: &Model) -> bool {
        let admin = &model.admin;
        if let Peer::Tcp { address, .. } = caller.peer
            && (!admin.hears(address.ip()) || refuse_in_the_clear(caller.peer, admin).is_err())
        {
            return false;
        }
        match (&caller.proof, caller.peer) {
            (Proof::Door, Peer::Unix { own: true, .. }) => true,
            (Proof::Door, Peer::Unix { uid, gid, .. }) => {
                self.socket_caller(uid, gid, admin).await.is_ok_and(|known| known.role == caller.role)
            }
            (Proof::Door, Peer::Tcp { .. }) => !admin.has_logins(),
            (Proof::Token(stamp), _) => {
                let now = wall();
                let good = |token: &&ApiToken| token.expires.is_none_or(|at| at > now);
                admin.tokens.iter().filter(good).any(|token| self.stamp_of(token) == *stamp)
            }
            (Proof::Password(holder), _) => self.still_holds(holder, admin).await.unwrap_or(false),
            (Proof::Session(id), _) => match self.sessions.stay(Instant::now(), &admin.sessions, id) {
                Some(session) => self.still_holds(&session.holder, admin).await.unwrap_or(false),
                None => false,
            },
        }
    }

    /// Forgets the wrong passwords of a name, as a user's and as one of the directory; from how many networks it was locked.
    pub fn lift(&self, name: &str) -> usize {
        let one = one_name(name);
        let guesses = &self.verifier.guesses;
        guesses.lift(name) + if one == name { 0 } else { guesses.lift(&one) }
    }

    /// Whether nothing has changed of what let somebody in.
    pub(super) async fn still_holds(&self, holder: &Holder, admin: &Admin) -> Result<bool, Problem> {
        let user = admin.users.iter().find(|user| user.name == holder.user);
        match (user, &admin.ldap) {
            (Some(user), _) => {
                let hash = self.verifier.read(&user.password).await?;
                Ok(self.holder(user, &hash) == *holder)
            }
            (None, Some(ldap)) => Ok(self.holder_of_directory(ldap, &holder.user, holder.role) == *holder),
            (None, None) => Ok(false),
        }
    }

    fn holder(&self, user: &User, hash: &str) -> Holder {
        Holder {
            actor: format!("admin:{}", user.name).into(),
            user: Name::clone(&user.name),
            role: user.role,
            stamp: self.sessions.stamp(&[user.name.as_bytes(), user.role.word().as_bytes(), hash.as_bytes()]),
        }
    }

    /// A change of how the directory is asked ends the sessions of its users.
    fn holder_of_directory(&self, ldap: &Ldap, name: &str, role: Role) -> Holder {
        let rules = format!("{ldap:?}");
        Holder {
            actor: format!("{OF_DIRECTORY}{name}").into(),
            user: name.into(),
            role,
            stamp: self.sessions.stamp(&[name.as_bytes(), role.word().as_bytes(), rules.as_bytes()]),
        }
    }

    fn token_caller(
        &self,
        headers: &HeaderMap,
        tokens: &[ApiToken],
        token: &str,
        peer: Peer,
    ) -> Result<Caller, Problem> {
        let now = wall();
        match token::find(tokens, token, now) {
            Ok(found) => {
                let door = format!("token {} from {}", found.name, peer.shown());
                let proof = Proof::Token(self.stamp_of(found));
                let caller = Caller::new(format!("token:{}", found.name), found.role, door, peer, proof);
                Ok(Caller { expires: found.expires, ..caller })
            }
            Err(Refused::Unknown) => {
                let what = "this token is not known; it may have been revoked. Make one with `bascule token create`";
                Err(unauthorized(headers, what))
            }
            Err(Refused::Expired(token, at)) => {
                let what =
                    format!("the token `{}` expired at {at}; make another with `bascule token create`", token.name);
                Err(unauthorized(headers, &what))
            }
        }
    }

    fn stamp_of(&self, token: &ApiToken) -> Hash {
        self.sessions.stamp(&[token.name.as_bytes(), token.role.word().as_bytes(), token.hash.as_bytes()])
    }

    /// Whose name and password it is. Where there is a directory, how long a refusal takes does not say who was asked:
    /// it is told at the next whole step of time.
    pub async fn check_password(
        &self,
        from: IpAddr,
        name: &str,
        password: Vec<u8>,
        model: &Model,
    ) -> Result<Holder, Problem> {
        let begun = Instant::now();
        let checked = self.whose_password(from, name, password, model).await;
        let is_refusal =
            |problem: &Problem| matches!(problem.status, StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS);
        if model.admin.ldap.is_some() && checked.as_ref().is_err_and(is_refusal) {
            tokio::time::sleep_until(begun + told_after(begun.elapsed())).await;
        }
        checked
    }

    /// Local names first; others are the directory's, where there is one.
    async fn whose_password(
        &self,
        from: IpAddr,
        name: &str,
        password: Vec<u8>,
        model: &Model,
    ) -> Result<Holder, Problem> {
        let admin = &model.admin;
        if let Some(user) = admin.users.iter().find(|user| *user.name == *name) {
            let hash = self.verifier.read(&user.password).await?;
            self.verifier.verify(from, name, password, Some(hash.clone())).await?;
            return Ok(self.holder(user, &hash));
        }
        // Nor is the directory asked for a local name that is written in another way.
        let one = one_name(name);
        let ldap = admin.ldap.as_ref().filter(|_| !admin.users.iter().any(|user| one_name(&user.name) == one));
        let Some(ldap) = ldap else {
            self.verifier.verify(from, name, password, None).await?;
            // Without a user the verifier refuses.
            return Err(super::guesses::wrong());
        };
        let role = self.ask_directory(from, name, password, ldap, model).await?;
        Ok(self.holder_of_directory(ldap, &one, role))
    }

    async fn ask_directory(
        &self,
        from: IpAddr,
        name: &str,
        password: Vec<u8>,
        ldap: &Ldap,
        model: &Model,
    ) -> Result<Role, Problem> {
        let one = one_name(name);
        let key = self.sessions.stamp(&[one.as_bytes(), &password, format!("{ldap:?}").as_bytes()]);
        if let Some(role) = self.directory.remembered(&key) {
            return Ok(role);
        }
        let who = self.verifier.who(&one, from, None);
        let (guess, turn) = self.verifier.guesses.begin(&self.directory.turns, who).await?;
        // Somebody may have asked the same meanwhile.
        if let Some(role) = self.directory.remembered(&key) {
            return Ok(role);
        }
        let bind_password = match &ldap.bind_password {
            Some(secret) => self.verifier.read(&PasswordHash::From(secret.clone())).await?,
            None => String::new(),
        };
        let Ok(password) = String::from_utf8(password) else { return Err(guess.wrong()) };
        let question = Question {
            ldap: ldap.clone(),
            authorities: ldap.ca.map(|id| model.certificates[id.index()].chain.clone()),
            bind_password,
            name: name.to_owned(),
            password,
        };
        match self.directory.ask(key, question, turn).await {
            Ok(role) => {
                guess.right();
                Ok(role)
            }
            Err(Denied::Wrong) => {
                // As much work as for a local name.
                self.verifier.work_as_for_a_name().await;
                Err(guess.wrong())
            }
            Err(denied) => Err(denied.problem()),
        }
    }
}

/// When a refusal is told that took this long.
fn told_after(taken: Duration) -> Duration {
    let steps = taken.as_micros() / STEP.as_micros() + 1;
    STEP.saturating_mul(u32::try_from(steps).unwrap_or(u32::MAX))
}

/// A refusal of a password over HTTP Basic asks for another.
fn with_challenge(problem: Problem, headers: &HeaderMap) -> Problem {
    if problem.status != StatusCode::UNAUTHORIZED {
        return problem;
    }
    unauthorized(headers, &problem.detail)
}

/// Credentials of other machines must not cross the network for everybody to read.
fn refuse_in_the_clear(peer: Peer, admin: &Admin) -> Result<(), Problem> {
    let Peer::Tcp { address, tls: false } = peer else { return Ok(()) };
    if admin.plain_text || address.ip().to_canonical().is_loopback() || !admin.has_credentials() {
        return Ok(());
    }
    let detail = "other machines are answered over TLS only: set [admin.tls] generated = true or name a certificate \
                  there, and use https:// (or set `admin.plain_text = true`)";
    Err(Problem::new(StatusCode::FORBIDDEN, "tls_needed", detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_at_the_next_whole_step() {
        let told = |ms| told_after(Duration::from_millis(ms)).as_millis();
        assert_eq!([0, 1, 249, 250, 251, 600].map(told), [250, 250, 250, 500, 500, 750]);
    }
}
