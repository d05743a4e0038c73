//! The four scenarios between two data centres, as terms.
//!
//! Seen from B (the backup, where this appliance stands), A (the active site) must leave the answers when it is gone
//! and B is well; B's set takes over when A has left; it goes home when A has been well for long; and B leaves the
//! answers when it is itself cut off. Four scenarios rather than one, because each of these four has its own evidence,
//! can be forced alone, and can be replaced by a scenario of one's own.
//!
//! **Who sees what.** Where B's box is heard over a peer link, another box (A's own, or that of a third site) reads B's
//! signals with B's eyes (`dc:a.wan@b`), so that all boxes decide by the same evidence. Without that link a box sees with
//! its own eyes. A's word about itself is `dc:a.internet@a`.
//!
//! Two things follow where there is **no peer link** to A:
//!
//! - *A's own word is not heard.* `A.internet` is then what the witness sees of A's WAN, and without a witness what
//!   this box sees of it: `A.wan`. It is replaced in every expression. Terms that become equal by it stand once, and
//!   so do groups.
//! - *What A sees of B is never known.* Groups that need it (`B.wan@A!`, `B.lan@A!`) can never be true, so they are
//!   left out: they would change no transition, and would stand on every page as "unknown" without anybody being able
//!   to make them known. Single terms are never left out of a group: that would make it true on less evidence than it
//!   asks for. So a witness that cannot be heard keeps traffic where it is.
//!
//! **Chains.** Three sites A, B, C in this order are three pairs: A to B, B to C, and A to C *after* B to C. C takes over
//! from A only while B is out as well, and hands back as soon as B is there again.
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
    /// Where this box stands.
    pub here: Option<String>,
    /// Sites with a box that this one hears.
    pub heard: Vec<String>,
    /// The `from-active` scenarios of the pairs that come before this one in a chain.
    pub after: Vec<String>,
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
pub fn signals(spec: &PairSpec) -> Vec<UsedSignal<'_>> {
    let (a, b) = (spec.active.as_str(), spec.backup.as_str());
    let with_b = spec.eyes(b).is_some();
    let mut signals = vec![
        UsedSignal { datacenter: a, signal: spec.access, told: with_b },
        UsedSignal { datacenter: a, signal: Signal::Lan, told: with_b },
    ];
    signals.dedup();
    signals.push(UsedSignal { datacenter: b, signal: Signal::Internet, told: with_b });
    if let Some(eyes) = spec.word_of_active() {
        let told = eyes.is_some();
        signals.push(UsedSignal { datacenter: a, signal: Signal::Internet, told });
        let seen = [spec.access, Signal::Lan].map(|signal| UsedSignal { datacenter: b, signal, told });
        signals.extend(seen);
        signals.dedup();
    }
    signals
}

/// A signal that the four scenarios use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedSignal<'a> {
    pub datacenter: &'a str,
    pub signal: Signal,
    /// Heard from another box, so that it comes later, and late by a few intervals when that box falls silent.
    pub told: bool,
}

/// Terms that are true together while the active site is disputed: it cannot be reached from the backup, which is well,
/// says itself that it is well, and is not in maintenance. `None`: its word is not heard.
pub fn disputed(spec: &PairSpec) -> Option<[String; 4]> {
    spec.word_of_active()?;
    let words = Words::new(spec);
    let a_lost = format!("{}!{}", words.a_wan, words.loss);
    Some([words.b_internet, a_lost, words.a_internet, format!("{}!", words.a_maintenance)])
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

// === impl PairSpec ===

impl PairSpec {
    /// Whose eyes see what `site` sees: `None` is this box's own, `Some` a box's there that is heard.
    fn eyes(&self, site: &str) -> Option<&str> {
        let elsewhere = self.here.as_deref() != Some(site);
        self.heard.iter().map(String::as_str).find(|heard| elsewhere && *heard == site)
    }

    /// The eyes of the active site; `None`: what it says of itself is not heard here.
    fn word_of_active(&self) -> Option<Option<&str>> {
        let eyes = self.eyes(&self.active);
        (eyes.is_some() || self.here.as_deref() == Some(&self.active)).then_some(eyes)
    }
}

/// The signals under short names, as ids; holds as qualifiers.
struct Words {
    a_wan: String,
    a_lan: String,
    a_internet: String,
    a_maintenance: String,
    b_internet: String,
    b_maintenance: String,
    /// B's access and LAN as A sees them; `None`: A is not heard.
    b_at_a: Option<[String; 2]>,
    /// What the witness sees of A.
    a_at_witness: Option<String>,
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
        let signal = |datacenter: &str, signal: Signal, eyes: Option<&str>| match eyes {
            Some(site) => format!("dc:{datacenter}.{}@{site}", signal.word()),
            None => format!("dc:{datacenter}.{}", signal.word()),
        };
        let (a, b) = (spec.active.as_str(), spec.backup.as_str());
        let with_b = spec.eyes(b);
        let hold = |hold: Duration| match hold.is_zero() {
            true => String::new(),
            false => format!("{{for:{}}}", format_duration(hold)),
        };
        let a_wan = signal(a, spec.access, with_b);
        let a_at_witness = match (&spec.witness, &spec.here) {
            // This box is the witness.
            (Some(site), Some(here)) if site == here => Some(signal(a, spec.access, None)),
            (Some(site), _) => Some(signal(a, spec.access, Some(site))),
            (None, _) => None,
        };
        Words {
            a_internet: match (spec.word_of_active(), &a_at_witness) {
                (Some(eyes), _) => signal(a, Signal::Internet, eyes),
                (None, Some(seen)) => seen.clone(),
                (None, None) => a_wan.clone(),
            },
            a_wan,
            a_lan: signal(a, Signal::Lan, with_b),
            a_maintenance: signal(a, Signal::Maintenance, None),
            b_internet: signal(b, Signal::Internet, with_b),
            b_maintenance: signal(b, Signal::Maintenance, None),
            b_at_a: spec.word_of_active().map(|eyes| [spec.access, Signal::Lan].map(|seen| signal(b, seen, eyes))),
            a_at_witness,
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
        let second_sight = self.a_at_witness.as_ref().unwrap_or(a_lan);
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
        let mut take_over = vec![format!("sc:{}", spec.from_active)];
        take_over.extend(spec.after.iter().map(|before| format!("sc:{before}")));
        take_over.extend([b_internet.clone(), format!("{b_maintenance}!")]);
        // A's word may come back a moment before B's own Internet does: the two are judged together.
        let a_word = if self.b_at_a.is_some() { format!("{a_internet}{d}") } else { a_internet.clone() };
        let mut hand_back = vec![
            vec![format!("sc:{}", spec.to_active)],
            vec![format!("{b_internet}!{d}"), a_word, a_works()],
            vec![b_maintenance.clone(), a_internet.clone(), a_works()],
        ];
        if let Some([b_wan, b_lan]) = &self.b_at_a {
            hand_back.push(vec![format!("{b_wan}!{d}"), format!("{b_lan}!{d}"), a_internet.clone(), a_works()]);
        }
        hand_back.extend(spec.after.iter().map(|before| vec![format!("sc:{before}!")]));
        scenario(PairPlace::ToBackup, vec![take_over], hand_back)
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
        let Words { a_internet, b_internet, b_maintenance, loss: d, back: h, .. } = self;
        let mut out = vec![vec![b_maintenance.clone()], vec![format!("{b_internet}!{d}")]];
        if let Some([b_wan, b_lan]) = &self.b_at_a {
            out.push(vec![a_internet.clone(), format!("{b_wan}!{d}"), format!("{b_lan}!{d}")]);
        }
        scenario(PairPlace::FromBackup, out, vec![vec![format!("{b_internet}{h}"), format!("{b_maintenance}!")]])
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
