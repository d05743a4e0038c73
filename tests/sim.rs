//! The engine in virtual time: the vectors of the scenario rules, and whole random appliances.

#[path = "support/rig.rs"]
mod rig;

#[path = "sim/adc.rs"]
mod adc;
#[path = "sim/checks.rs"]
mod checks;
#[path = "sim/complaints.rs"]
mod complaints;
#[path = "sim/drills.rs"]
mod drills;
#[path = "sim/exhaustive.rs"]
mod exhaustive;
#[path = "sim/linked.rs"]
mod linked;
#[path = "sim/modes.rs"]
mod modes;
#[path = "sim/monitors.rs"]
mod monitors;
#[path = "sim/pairs.rs"]
mod pairs;
#[path = "sim/past.rs"]
mod past;
#[path = "sim/random.rs"]
mod random;
#[path = "sim/renamed.rs"]
mod renamed;
#[path = "sim/replay.rs"]
mod replay;
#[path = "sim/restart.rs"]
mod restart;
#[path = "sim/split.rs"]
mod split;
#[path = "sim/turning.rs"]
mod turning;
#[path = "sim/vectors.rs"]
mod vectors;
