//! Commands about an appliance as a whole: its process, its files.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Clone, Debug, Subcommand)]
pub enum Keep {
    /// Have the running appliance go on as a new process of the program as it is installed now, without a lost connection:
    /// for upgrades. Exit 0 when the new one serves; 1 when the old one goes on, and why.
    Handover {
        /// The appliance's state directory. Default: $STATE_DIRECTORY, ./state, /var/lib/bascule.
        #[arg(long, value_name = "DIR")]
        state: Option<PathBuf>,
    },
}
