//! The arguments of what comes before and around the service of an appliance.

use std::path::PathBuf;

use clap::Args;

#[derive(Clone, Debug, Args)]
pub struct FirstBootArgs {
    /// The configuration that `run` takes.
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Where state is kept.
    #[arg(long, value_name = "DIR")]
    pub state: PathBuf,
    /// A seed, in place of the service manager's credential `appliance.config`.
    #[arg(long, value_name = "FILE")]
    pub credential: Option<PathBuf>,
    /// A folder or a block device with `user-data`, in place of the drive CIDATA.
    #[arg(long, value_name = "PATH")]
    pub drive: Option<PathBuf>,
    /// What this instance is called, where the seed does not say. Default: what the hypervisor calls the machine.
    #[arg(long, value_name = "ID")]
    pub instance: Option<String>,
    /// Give nsroot a new password and show it; also with `bascule.recover` among the kernel's words.
    #[arg(long)]
    pub recover: bool,
    /// Where people are told; may be repeated. Default: every console of the machine.
    #[arg(long, value_name = "FILE")]
    pub console: Vec<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub struct LoginCheckArgs {
    /// The configuration, asked where the appliance does not run.
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Its state directory, where the Unix socket is.
    #[arg(long, value_name = "DIR")]
    pub state: PathBuf,
}
