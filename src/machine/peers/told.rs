//! Entries of the journal about peers.

use super::Told;
use crate::model::event::Record;
use crate::model::id::{Kind, Name, ObjectRef};
use crate::model::peer::PeerState;

fn object(name: &Name) -> ObjectRef {
    ObjectRef::new(Kind::Peer, Name::clone(name))
}

pub(super) fn warning(name: &Name, text: String) -> Told {
    Told::Record(Record::Warning { object: object(name), text: text.into() })
}

pub(super) fn ended(name: &Name, what: &str, why: &str) -> Told {
    Told::Record(Record::Ended { object: object(name), what: what.into(), why: why.into() })
}

pub(super) fn state(name: &Name, from: PeerState, to: PeerState, cause: Name) -> Told {
    let (from, to) = (from.word().into(), Name::from(to.word()));
    Told::Record(Record::State { object: object(name), from, real: Name::clone(&to), to, cause })
}
