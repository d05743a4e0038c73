//! The arguments of `bascule drill`.

use clap::{Args, Subcommand};

use super::Target;
use crate::config::units::parse_duration;

#[derive(Clone, Debug, Subcommand)]
pub enum DrillWhat {
    /// Activate a scenario now; it returns at its time, whatever its modes are.
    Start(DrillStartArgs),
    /// End the drill that runs: the scenario returns now.
    Stop(DrillStopArgs),
    /// All drills, oldest first: the audit.
    List(DrillListArgs),
    /// A drill and its report; the last one where none is named.
    Show(DrillShowArgs),
}

#[derive(Clone, Debug, Args)]
pub struct DrillStartArgs {
    /// The scenario; it must be inactive, and all others too.
    pub scenario: String,
    /// How long, from now to the return: `60m`.
    #[arg(long = "for", value_name = "DURATION", value_parser = duration_text)]
    pub lasts: String,
    /// Why; the report names it.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// A trigger that is told in place of the scenario's own; may be repeated. Default: none.
    #[arg(long, value_name = "TRIGGER")]
    pub notify: Vec<String>,
    /// A condition of [drills.stop_on] that ends it early; may be repeated. Default: none.
    #[arg(long, value_name = "CONDITION")]
    pub stop_on: Vec<String>,
    /// Do not ask the guard of the activation; recorded.
    #[arg(long = "override")]
    pub override_guard: bool,
    /// Say what would change, and do nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print REST's JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Debug, Args)]
pub struct DrillStopArgs {
    /// Its number, or its scenario. Default: whichever runs.
    #[arg(value_name = "SCENARIO")]
    pub drill: Option<String>,
    /// Why; kept with the report.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Do not ask the guard of the return; recorded.
    #[arg(long = "override")]
    pub override_guard: bool,
    /// Print REST's JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Debug, Args)]
pub struct DrillListArgs {
    /// Only drills of this scenario.
    pub scenario: Option<String>,
    /// Print REST's JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Debug, Args)]
pub struct DrillShowArgs {
    /// Its number.
    pub id: Option<u64>,
    /// Print REST's JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub target: Target,
}

/// A duration as the appliance reads it.
fn duration_text(text: &str) -> Result<String, String> {
    parse_duration(text).map(|_| text.to_owned())
}
