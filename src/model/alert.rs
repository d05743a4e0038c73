//! Alerts: what a person should hear of although no scenario has committed. What can be said ([`AlertKind`]), who is told
//! ([`Alert`]), and what stands now ([`RaisedAlert`]).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::id::{Name, TriggerId};
use super::time::Wall;

/// Before the end of a certificate, where nothing else is said.
pub const CERTIFICATE_SOON: Duration = Duration::from_secs(14 * 86_400);

/// `[alert.NAME]`: of what, for which objects, and to whom.
#[derive(Clone, Debug, PartialEq)]
pub struct Alert {
    pub name: Name,
    /// Stands in the payload; empty: what the scenario that it is about says of itself.
    pub about: Name,
    /// In the order of the configuration, each kind once.
    pub on: Vec<Watch>,
    /// Patterns of names (`*`, `?`) that limit the kinds about services; empty: every service.
    pub services: Vec<Name>,
    pub vservers: Vec<Name>,
    pub scenarios: Vec<Name>,
    /// Empty: it shows in the API, the shell, the metrics and the log alone.
    pub triggers: Vec<TriggerId>,
    /// Told again while it stands. 1 min or longer; `None`: told once.
    pub repeat: Option<Duration>,
}

/// One kind of an alert and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    pub kind: AlertKind,
    /// How long it must hold; of a certificate: how long before its end.
    pub time: Duration,
}

/// What an alert can be about. The words are those of the configuration, the API and the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertKind {
    /// DOWN, and not because a person forced it so.
    ServiceDown,
    /// DOWN, and no vserver of its chain takes new clients.
    VserverDown,
    /// New clients go to a vserver of its chain.
    VserverOnBackup,
    /// What is new or changed fails everywhere at once, or most members of a vserver in one moment.
    CorrelatedFailure,
    /// A guard has refused a commit, or kept it from being made, and the commit is still wanted.
    GuardRefused,
    /// Both modes are `on`.
    ScenarioStuck,
    /// Its deactivation condition is true and its mode keeps it from acting.
    ScenarioReadyToReturn,
    /// Held in its state after too many automatic commits.
    Oscillation,
    /// Of a data-centre pair: what is seen of the active site contradicts itself.
    Disputed,
    /// Every record of a steered RRset is left out, and `on_empty` says what is answered.
    ServeAll,
    /// Deliveries of a trigger were given up.
    DeadLetter,
    /// A certificate expires soon, or has.
    Certificate,
    /// What a person set is still in force.
    Override,
    /// The running configuration is not the saved one.
    Unsaved,
    /// Another box is not heard, so what it sees is unknown.
    PeerUnknown,
    /// Its configuration has been another one for a minute, in what boxes have in common.
    PeerConfigDiffers,
    /// Its clock is off by more than two seconds.
    PeerClock,
    /// The kernel says that the clock is not synchronised.
    ClockUnsynced,
    /// What is published may not survive a power loss.
    NotDurable,
    /// A destination of the journal is not reached.
    JournalUnshipped,
    /// Somebody else has the address of a vserver, or claims it.
    AddressConflict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertSeverity {
    Error,
    Warning,
    Info,
}

/// What a fact, and so an alert, is about; equal for the same fact at another time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AlertSubject {
    pub kind: AlertKind,
    /// `service`, `vserver`, `scenario`, `datacenter_pair`, `rrset`, `trigger`, `certificate`, `switch`, … `appliance`.
    pub object_kind: Name,
    pub object: Name,
    /// Of an override: what of the object (`admin`, `force`, `value`, `activate`, …); empty otherwise.
    pub part: Name,
}

/// An alert that stands.
#[derive(Clone, Debug, PartialEq)]
pub struct RaisedAlert {
    /// Microseconds since 1970 when it was raised, or a little more: strictly increasing, never used again.
    pub id: u64,
    /// Of the definition.
    pub alert: Name,
    pub subject: AlertSubject,
    pub severity: AlertSeverity,
    /// What is wrong, in words.
    pub text: Name,
    /// Since when it is so, as far as anybody knows.
    pub since: Wall,
    pub raised_at: Wall,
    /// How often it was told again.
    pub repeats: u32,
    pub told_at: Wall,
    /// Who was told, and will be told of its end: names of triggers.
    pub triggers: Vec<Name>,
}

/// What happened to an alert, as journal, events, log and payload tell it.
#[derive(Clone, Debug, PartialEq)]
pub struct AlertRecord {
    pub what: AlertChange,
    pub alert: RaisedAlert,
    /// When.
    pub at: Wall,
    /// Of a resolved one: why; empty otherwise.
    pub why: Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlertChange {
    Raised,
    Repeated,
    Resolved,
}

/// Everything that is kept of alerts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlertBook {
    /// By id.
    pub raised: BTreeMap<u64, Arc<RaisedAlert>>,
    /// By definition, since the start of the process.
    pub counts: BTreeMap<Name, AlertCounts>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlertCounts {
    pub raised: u64,
    pub resolved: u64,
}

// === impl Alert ===

impl Alert {
    /// Whether it is about this object. Kinds that no pattern limits are about every object.
    pub fn concerns(&self, subject: &AlertSubject) -> bool {
        let patterns = match subject.kind.limited_by() {
            Some("services") => &self.services,
            Some("vservers") => &self.vservers,
            Some(_) => &self.scenarios,
            None => return true,
        };
        patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern, &subject.object))
    }
}

// === impl AlertKind ===

impl AlertKind {
    pub const ALL: [AlertKind; 21] = [
        AlertKind::ServiceDown,
        AlertKind::VserverDown,
        AlertKind::VserverOnBackup,
        AlertKind::CorrelatedFailure,
        AlertKind::GuardRefused,
        AlertKind::ScenarioStuck,
        AlertKind::ScenarioReadyToReturn,
        AlertKind::Oscillation,
        AlertKind::Disputed,
        AlertKind::ServeAll,
        AlertKind::DeadLetter,
        AlertKind::Certificate,
        AlertKind::Override,
        AlertKind::Unsaved,
        AlertKind::PeerUnknown,
        AlertKind::PeerConfigDiffers,
        AlertKind::PeerClock,
        AlertKind::ClockUnsynced,
        AlertKind::NotDurable,
        AlertKind::JournalUnshipped,
        AlertKind::AddressConflict,
    ];

    pub fn word(self) -> &'static str {
        match self {
            AlertKind::ServiceDown => "service.down",
            AlertKind::VserverDown => "vserver.down",
            AlertKind::VserverOnBackup => "vserver.on-backup",
            AlertKind::CorrelatedFailure => "correlated_failure",
            AlertKind::GuardRefused => "guard.refused",
            AlertKind::ScenarioStuck => "scenario.stuck",
            AlertKind::ScenarioReadyToReturn => "scenario.ready-to-return",
            AlertKind::Oscillation => "oscillation",
            AlertKind::Disputed => "disputed",
            AlertKind::ServeAll => "serve-all",
            AlertKind::DeadLetter => "dead-letter",
            AlertKind::Certificate => "certificate",
            AlertKind::Override => "override",
            AlertKind::Unsaved => "unsaved",
            AlertKind::PeerUnknown => "peer.unknown",
            AlertKind::PeerConfigDiffers => "peer.config-differs",
            AlertKind::PeerClock => "peer.clock",
            AlertKind::ClockUnsynced => "clock.unsynced",
            AlertKind::NotDurable => "not_durable",
            AlertKind::JournalUnshipped => "journal.unshipped",
            AlertKind::AddressConflict => "address.conflict",
        }
    }

    pub fn parse(word: &str) -> Option<AlertKind> {
        AlertKind::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The key whose patterns limit it.
    pub fn limited_by(self) -> Option<&'static str> {
        match self {
            AlertKind::ServiceDown => Some("services"),
            AlertKind::VserverDown | AlertKind::VserverOnBackup | AlertKind::AddressConflict => Some("vservers"),
            AlertKind::GuardRefused
            | AlertKind::ScenarioStuck
            | AlertKind::ScenarioReadyToReturn
            | AlertKind::Oscillation => Some("scenarios"),
            _ => None,
        }
    }
}

// === impl AlertSeverity ===

impl AlertSeverity {
    pub fn word(self) -> &'static str {
        match self {
            AlertSeverity::Error => "error",
            AlertSeverity::Warning => "warning",
            AlertSeverity::Info => "info",
        }
    }

    pub fn parse(word: &str) -> Option<AlertSeverity> {
        [AlertSeverity::Error, AlertSeverity::Warning, AlertSeverity::Info].into_iter().find(|s| s.word() == word)
    }
}

// === impl AlertChange ===

impl AlertChange {
    pub fn word(self) -> &'static str {
        match self {
            AlertChange::Raised => "raised",
            AlertChange::Repeated => "repeated",
            AlertChange::Resolved => "resolved",
        }
    }

    pub fn parse(word: &str) -> Option<AlertChange> {
        [AlertChange::Raised, AlertChange::Repeated, AlertChange::Resolved].into_iter().find(|c| c.word() == word)
    }
}

// === impl AlertSubject ===

impl AlertSubject {
    pub fn new(kind: AlertKind, object_kind: &str, object: &Name) -> AlertSubject {
        AlertSubject { kind, object_kind: object_kind.into(), object: Name::clone(object), part: "".into() }
    }
}

/// `service web1`
impl std::fmt::Display for AlertSubject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.object_kind, self.object)
    }
}

/// Whether `name` is one that `pattern` stands for: `*` any text, `?` one character.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where the last `*` stands, and what it has swallowed so far: one more wherever the rest does not fit.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((at, swallowed)) = star else { return false };
                star = Some((at, swallowed + 1));
                (p, n) = (at + 1, swallowed + 1);
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_whole_names() {
        for (pattern, name, fits) in [
            ("web*", "web1", true),
            ("web*", "aweb1", false),
            ("*", "", true),
            ("web?", "web", false),
            ("web?", "web1", true),
            ("*/app?", "spare/app1", true),
            ("a*b*c", "axxbxbxc", true),
            ("a*b*c", "axxbxbx", false),
            ("web1", "web1", true),
            ("web1", "web11", false),
            ("ü?", "üö", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn every_word_is_read_back() {
        for kind in AlertKind::ALL {
            assert_eq!(AlertKind::parse(kind.word()), Some(kind));
        }
        for change in [AlertChange::Raised, AlertChange::Repeated, AlertChange::Resolved] {
            assert_eq!(AlertChange::parse(change.word()), Some(change));
        }
    }
}
