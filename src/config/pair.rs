//! The four scenarios between two data centres, as terms.
//!
//! Seen from B (the backup, where this appliance stands), A (the active site) must leave the answers when it is gone
//! and B is well; B's set takes over when A has left; it goes home when A has been well for long; and B leaves the
//! answers when it is itself cut off. Four scenarios rather than one, because each of these four has its own evidence,
//! can be forced alone, and can be replaced by a scenario of one's own.
//!
//! Two things follow from this build having **no peer link** to A:
//!
//! - *A's own word is not heard.* `A.internet` is then what the witness sees of A's WAN, and without a witness what
//!   this box sees of it: `A.wan`. It is replaced in every expression. Terms that become equal by it stand once, and
//!   so do groups.
//! - *What A sees of B is never known.* Groups that need it (`B.wan@A!`, `B.lan@A!`) can never be true, so they are
//!   left out: they would change no transition, and would stand on every page as "unknown" without anybody being able
//!   to make them known. Single terms are never left out of a group: that would make it true on less evidence than it
//!   asks for. So a witness that cannot be heard keeps traffic where it is.
//!
//! A group that implies another one is kept ("WAN and LAN gone" beside "WAN gone"): groups are armed and shown one by
//! one, and the page tells how much of A is gone.

use std::time::Duration;

use crate::config::units::format_duration;
use crate::model::check::Schedule;
use crate::model::condition::Signal;
use crate::model::scenario::{AfterMaintenance, PairPlace};

/// What the texts of the four scenarios depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairSpec {
    pub name: String,
    /// The data centre A.
    pub active: String,
    /// The data centre B.
    pub backup: String,
    /// H. Zero: returns without waiting.
    pub return_hold: Duration,
    /// D. Zero: leaves without waiting.
    pub loss_hold: Duration,
    pub after_maintenance: AfterMaintenance,
    /// `Wan`, or `Lan` where users reach the sites over private links: A's LAN then stands wherever its WAN would.
    pub access: Signal,
    pub witness: Option<String>,
    /// Names of the scenarios that stand at the four places (generated or the operator's own), for `sc:` terms.
    pub from_active: String,
    pub to_backup: String,
    pub to_active: String,
    pub from_backup: String,
}

/// Groups of term texts for one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedScenario {
    pub place: PairPlace,
    pub activate: Vec<Vec<String>>,
    pub deactivate: Vec<Vec<String>>,
}

/// The four scenarios, in the order of [`PairPlace::ALL`].
pub fn generate(spec: &PairSpec) -> [GeneratedScenario; 4] {
    let words = Words::new(spec);
    [words.leave_active(), words.take_over(spec), words.permit_return(), words.leave_backup()]
}

/// The signals of access lists that the four scenarios use, as data centre and signal: without such a list a scenario
/// cannot become true. Maintenance switches and what a witness sees are not among them.
pub fn signals(spec: &PairSpec) -> Vec<(&str, Signal)> {
    let mut signals = vec![(spec.active.as_str(), spec.access), (spec.active.as_str(), Signal::Lan)];
    signals.dedup();
    signals.push((spec.backup.as_str(), Signal::Internet));
    signals
}

/// The loss hold D where the configuration names none: the slowest detection (interval × fall + time-out) among the
/// signals used, plus 1 s, so that signals that change together are judged together.
pub fn derived_loss_hold(schedules: &[Schedule]) -> Duration {
    let slowest = schedules
        .iter()
        .map(|s| s.interval.saturating_mul(s.fall).saturating_add(s.timeout))
        .max()
        .unwrap_or(Duration::ZERO);
    slowest.saturating_add(Duration::from_secs(1))
}

/// The signals under short names, as ids; holds as qualifiers.
struct Words {
    a_wan: String,
    a_lan: String,
    a_internet: String,
    a_maintenance: String,
    b_internet: String,
    b_maintenance: String,
    witness: bool,
    /// `{for:D}`
    loss: String,
    /// `{for:H}`
    back: String,
    /// `{for:H}` or nothing.
    after_maintenance: String,
}

// === impl Words ===

impl Words {
    fn new(spec: &PairSpec) -> Words {
        let signal = |datacenter: &str, signal: Signal| format!("dc:{datacenter}.{}", signal.word());
        let hold = |hold: Duration| match hold.is_zero() {
            true => String::new(),
            false => format!("{{for:{}}}", format_duration(hold)),
        };
        let a_wan = signal(&spec.active, spec.access);
        Words {
            a_internet: match &spec.witness {
                Some(site) => format!("{a_wan}@{site}"),
                None => a_wan.clone(),
            },
            a_wan,
            a_lan: signal(&spec.active, Signal::Lan),
            a_maintenance: signal(&spec.active, Signal::Maintenance),
            b_internet: signal(&spec.backup, Signal::Internet),
            b_maintenance: signal(&spec.backup, Signal::Maintenance),
            witness: spec.witness.is_some(),
            loss: hold(spec.loss_hold),
            back: hold(spec.return_hold),
            after_maintenance: match spec.after_maintenance {
                AfterMaintenance::Hold => hold(spec.return_hold),
                AfterMaintenance::Now => String::new(),
            },
        }
    }

    /// A must leave the answers: it is in maintenance, or B is well and sees A's WAN gone, and someone else agrees.
    fn leave_active(&self) -> GeneratedScenario {
        let Words { a_wan, a_lan, a_internet, a_maintenance, b_internet, loss: d, back: h, .. } = self;
        let a_may = format!("{a_maintenance}!{}", self.after_maintenance);
        let second_sight = if self.witness { a_internet } else { a_lan };
        scenario(
            PairPlace::FromActive,
            vec![
                vec![a_maintenance.clone()],
                vec![format!("{b_internet}{d}"), format!("{a_wan}!{d}"), format!("{a_internet}!{d}")],
                vec![format!("{b_internet}{d}"), format!("{a_wan}!{d}"), format!("{second_sight}!{d}")],
            ],
            vec![
                vec![format!("{a_wan}{h}"), format!("{a_internet}{h}"), a_may.clone()],
                vec![format!("{b_internet}!"), format!("{a_internet}{h}"), a_may],
            ],
        )
    }

    /// B's set replaces the primary set: A has left and B is well; until A may return, or B is in trouble and A is not.
    fn take_over(&self, spec: &PairSpec) -> GeneratedScenario {
        let Words { a_internet, a_maintenance, b_internet, b_maintenance, loss: d, .. } = self;
        let a_works = || format!("{a_maintenance}!");
        scenario(
            PairPlace::ToBackup,
            vec![vec![format!("sc:{}", spec.from_active), b_internet.clone(), format!("{b_maintenance}!")]],
            vec![
                vec![format!("sc:{}", spec.to_active)],
                vec![format!("{b_internet}!{d}"), a_internet.clone(), a_works()],
                vec![b_maintenance.clone(), a_internet.clone(), a_works()],
            ],
        )
    }

    /// Permission to return: everything about A has been well for H. Any loss takes it back at once.
    fn permit_return(&self) -> GeneratedScenario {
        let Words { a_wan, a_lan, a_internet, a_maintenance, back: h, .. } = self;
        let a_may = format!("{a_maintenance}!{}", self.after_maintenance);
        scenario(
            PairPlace::ToActive,
            vec![vec![format!("{a_wan}{h}"), format!("{a_internet}{h}"), format!("{a_lan}{h}"), a_may]],
            vec![
                vec![format!("{a_wan}!")],
                vec![format!("{a_internet}!")],
                vec![format!("{a_lan}!")],
                vec![a_maintenance.clone()],
            ],
        )
    }

    /// B must leave the answers: it is in maintenance, or cut off.
    fn leave_backup(&self) -> GeneratedScenario {
        let Words { b_internet, b_maintenance, loss: d, back: h, .. } = self;
        scenario(
            PairPlace::FromBackup,
            vec![vec![b_maintenance.clone()], vec![format!("{b_internet}!{d}")]],
            vec![vec![format!("{b_internet}{h}"), format!("{b_maintenance}!")]],
        )
    }
}

fn scenario(place: PairPlace, activate: Vec<Vec<String>>, deactivate: Vec<Vec<String>>) -> GeneratedScenario {
    GeneratedScenario { place, activate: groups(activate), deactivate: groups(deactivate) }
}

/// Every term of a group once, every group once.
fn groups(groups: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let mut distinct: Vec<Vec<String>> = Vec::with_capacity(groups.len());
    for group in groups {
        let mut terms: Vec<String> = Vec::with_capacity(group.len());
        for term in group {
            if !terms.contains(&term) {
                terms.push(term);
            }
        }
        if !distinct.contains(&terms) {
            distinct.push(terms);
        }
    }
    distinct
}

#[cfg(test)]
mod tests;
