//! The arguments of the service of an appliance, and of what comes before and around it.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::config::units::parse_duration;

#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// The configuration.
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Where state is kept. Default: $STATE_DIRECTORY, else `state` beside FILE.
    #[arg(long, value_name = "DIR", conflicts_with = "ephemeral")]
    pub state: Option<PathBuf>,
    /// Keep state in memory and leave nothing behind.
    #[arg(long)]
    pub ephemeral: bool,
    /// Once ready, write this file: JSON with the real addresses and the pid.
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
    /// Let people who log in to this machine by `login-check` use the local socket with their roles.
    #[arg(long, hide = true)]
    pub logins: bool,
    /// Replace a value of the configuration, for this run; may be repeated.
    #[arg(long, value_name = "PATH=VALUE", value_parser = super::assignment)]
    pub set: Vec<(String, String)>,
    /// How long open work may take once the stop signal has come.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = parse_duration)]
    pub drain: Duration,
}

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
    /// Only superusers may come in.
    #[arg(long)]
    pub superuser: bool,
}

#[derive(Clone, Debug, Args)]
pub struct LoginNameArgs {
    /// What the socket is called.
    #[arg(long, value_name = "NAME", default_value = "bascule.login")]
    pub service: String,
}
