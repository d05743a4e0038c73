//! What the appliance was handed at its first boot.

use crate::model::first_boot::FirstBoot;

dto! {
    /// What an appliance was handed at its first boot, and what became of it.
    pub struct FirstBootDto {
        /// The instance of the machine that it was for.
        pub instance: String,
        /// `none`, `credential`, `drive`
        pub source: String,
        /// `none`, `applied`, `applied_in_part`, `refused`
        pub outcome: String,
        pub at: String,
        /// Why a seed was refused.
        pub problems: Vec<String>,
        /// Lines and objects of an `ns.conf` that are not carried.
        pub left_out: Vec<String>,
        /// When the password was last made anew at the console.
        pub recovered_at: Option<String>,
    }
}

// === impl FirstBootDto ===

impl FirstBootDto {
    pub fn of(report: &FirstBoot) -> FirstBootDto {
        FirstBootDto {
            instance: report.instance.clone(),
            source: report.source.word().into(),
            outcome: report.outcome.word().into(),
            at: report.at.to_string(),
            problems: report.problems.clone(),
            left_out: report.left_out.clone(),
            recovered_at: report.recovered_at.map(|at| at.to_string()),
        }
    }
}
