//! Ids: positions in the tables of one [`Model`](super::Model). A name is resolved to an id once, in `config::resolve`.
//! Ids are valid for the model that made them only; what outlives a model (saved state, live counters, journal) is
//! keyed by name.

use std::fmt;
use std::sync::Arc;

/// The name of an object, as the operator wrote it (`web1`, `spare/spare1`, `main/to-backup`).
pub type Name = Arc<str>;

/// Whether this is a mark that turns the direction of the text after it around, so that a line of names reads as another.
pub fn turns_text(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
}

macro_rules! ids {
    ($($(#[$doc:meta])* $id:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $id(pub u32);

        impl $id {
            /// The position in its table.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            pub fn from_index(index: usize) -> $id {
                $id(u32::try_from(index).expect("a model has fewer than 2^32 objects of a kind"))
            }
        }
    )+};
}

ids! {
    /// In `Model::checks`: a user's check, a monitor on a service, or a target of a data-centre access list.
    CheckId,
    /// In `Model::monitors`.
    MonitorId,
    /// In `Model::servers`.
    ServerId,
    /// In `Model::services`; members of groups are services named `GROUP/MEMBER`.
    ServiceId,
    /// In `Model::groups`.
    GroupId,
    /// In `Model::vservers`.
    VserverId,
    /// In `Model::certificates`.
    CertificateId,
    /// In `Model::lb_groups`.
    LbGroupId,
    /// In `Model::criteria`.
    CriterionId,
    /// In `Model::rules`.
    RuleId,
    /// In `Model::scenarios`, generated ones of pairs included.
    ScenarioId,
    /// In `Model::triggers`.
    TriggerId,
    /// In `Model::queries`.
    QueryId,
    /// In `Model::datacenters`.
    DatacenterId,
    /// In `Model::time_windows`.
    TimeWindowId,
    /// In `Model::switches`; the maintenance switch of every data centre is one of them.
    SwitchId,
    /// In `Model::watched`: a term that a rule or a DNS record reads.
    WatchedId,
}

/// What kind of object a name belongs to. Printed in journal, events and problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Check,
    Server,
    Service,
    ServiceGroup,
    Vserver,
    Scenario,
    Switch,
    /// Another box.
    Peer,
    /// A pair of data centres.
    Pair,
}

/// An object by kind and name: what saved state, journal and events refer to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    pub kind: Kind,
    pub name: Name,
}

// === impl Kind ===

impl Kind {
    pub const ALL: [Kind; 9] = [
        Kind::Check,
        Kind::Server,
        Kind::Service,
        Kind::ServiceGroup,
        Kind::Vserver,
        Kind::Scenario,
        Kind::Switch,
        Kind::Peer,
        Kind::Pair,
    ];

    /// The word used in journal, events and saved state; [`Kind::parse`] reads it back.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Check => "check",
            Kind::Server => "server",
            Kind::Service => "service",
            Kind::ServiceGroup => "service_group",
            Kind::Vserver => "vserver",
            Kind::Scenario => "scenario",
            Kind::Switch => "switch",
            Kind::Peer => "peer",
            Kind::Pair => "datacenter_pair",
        }
    }

    pub fn parse(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|k| k.word() == word)
    }
}

// === impl ObjectRef ===

impl ObjectRef {
    pub fn new(kind: Kind, name: impl Into<Name>) -> ObjectRef {
        ObjectRef { kind, name: name.into() }
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.word(), self.name)
    }
}
