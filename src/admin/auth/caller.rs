//! Who was let in, and by what: whoever stays for long is asked for it again.

use tokio::time::Instant;

use super::sessions::{Hash, Holder, Session};
use super::{Peer, wall};
use crate::model::access::{Role, SessionRules};
use crate::model::id::Name;
use crate::model::time::Wall;

/// Who was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// As the journal shows it.
    pub actor: Name,
    pub role: Role,
    /// How they came in: `socket`, `tcp 192.0.2.1`, `session 4 from 192.0.2.1`, `token ci from 192.0.2.1`.
    pub door: Name,
    pub peer: Peer,
    pub proof: Proof,
    /// When what they came with ends: of a session if nothing more is asked with it, of a token its expiry.
    pub expires: Option<Wall>,
}

/// What let somebody in beside where they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Nothing: the kernel says who they are, or they are on this machine and nobody has a login.
    Door,
    /// An API token, by the stamp of its entry.
    Token(Hash),
    /// A name and a password, of the configuration or of the directory.
    Password(Holder),
    /// The session of this name.
    Session(Hash),
}

// === impl Caller ===

impl Caller {
    pub fn new(actor: impl Into<Name>, role: Role, door: String, peer: Peer, proof: Proof) -> Caller {
        Caller { actor: actor.into(), role, door: door.into(), peer, proof, expires: None }
    }

    /// Whoever holds a session; `peer`: where this request comes from.
    pub(super) fn of_session(session: &Session, rules: &SessionRules, now: Instant, peer: Peer) -> Caller {
        let actor = Name::clone(&session.holder.actor);
        let door = format!("session {} from {}", session.number, peer.shown());
        let caller = Caller::new(actor, session.holder.role, door, peer, Proof::Session(session.id));
        Caller { expires: Some(wall() + session.left(now, rules)), ..caller }
    }

    /// The session they came with.
    pub fn session(&self) -> Option<&Hash> {
        match &self.proof {
            Proof::Session(id) => Some(id),
            _ => None,
        }
    }
}

// === impl Peer ===

impl Peer {
    /// Its address, or `socket`.
    pub(super) fn shown(self) -> String {
        match self {
            Peer::Tcp { address, .. } => address.ip().to_canonical().to_string(),
            Peer::Unix { .. } => "socket".to_owned(),
        }
    }
}
