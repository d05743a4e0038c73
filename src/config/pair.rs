//! The four scenarios between two data centres.

use std::time::Duration;

use crate::model::check::Schedule;
use crate::model::condition::Signal;
use crate::model::scenario::{AfterMaintenance, PairPlace};

/// What the texts of the four scenarios depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairSpec {
    pub name: String,
    pub active: String,
    pub backup: String,
    pub return_hold: Duration,
    pub loss_hold: Duration,
    pub after_maintenance: AfterMaintenance,
    /// `Wan` or `Lan`.
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

/// In the order of [`PairPlace::ALL`].
pub fn generate(spec: &PairSpec) -> [GeneratedScenario; 4] {
    let _ = spec;
    todo!()
}

/// The loss hold D where the configuration names none: the slowest detection among the signals used, plus 1 s.
pub fn derived_loss_hold(schedules: &[Schedule]) -> Duration {
    let _ = schedules;
    todo!()
}
