//! Commands about an appliance as a whole: its process, its files.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::Target;
use crate::config::units::parse_duration;

#[derive(Clone, Debug, Subcommand)]
pub enum Keep {
    /// Keep the configuration with all that it names, and the state, in one file; also beside a running appliance.
    Backup {
        /// Where to; it must not be there yet. It holds secrets: it is made for its owner alone.
        #[arg(value_name = "ARCHIVE")]
        archive: PathBuf,
        #[command(flatten)]
        places: Places,
    },
    /// Bring back what `backup` has kept: into an empty state directory, while no appliance runs on it.
    Restore {
        /// What `backup` has made.
        #[arg(value_name = "ARCHIVE")]
        archive: PathBuf,
        #[command(flatten)]
        places: Places,
        /// Also where files of the configuration are there already.
        #[arg(long)]
        replace: bool,
        /// Also the files that FILE names outside its folder, to where they were.
        #[arg(long)]
        elsewhere: bool,
    },
    /// Write the packets between clients and VIPs and between the box and its servers into FILE, for Wireshark. Needs
    /// CAP_NET_RAW.
    Nstrace(NstraceArgs),
    /// Gather in one file what somebody needs to find out what is wrong, and no secret: configuration, states, the end of the
    /// journal, metrics, figures of the machine.
    Support {
        /// Where to; it must not be there yet.
        #[arg(value_name = "ARCHIVE")]
        archive: PathBuf,
        #[command(flatten)]
        target: Target,
    },
    /// Have the running appliance go on as a new process of the program as it is installed now, without a lost connection:
    /// for upgrades. Exit 0 when the new one serves; 1 when the old one goes on, and why; 3 where nobody could be asked, since
    /// none runs there, or one of a version that cannot do it.
    Handover {
        /// The appliance's state directory. Default: $STATE_DIRECTORY, ./state, /var/lib/bascule.
        #[arg(long, value_name = "DIR")]
        state: Option<PathBuf>,
    },
}

#[derive(Clone, Debug, Args)]
pub struct NstraceArgs {
    /// Where to (pcapng); it must not be there yet.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Packets of this vserver, and of its services; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub vserver: Vec<String>,
    /// Packets of this service, or GROUP/MEMBER; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub service: Vec<String>,
    /// Of these only what has this address at either end; may be repeated.
    #[arg(long, value_name = "IP")]
    pub address: Vec<IpAddr>,
    /// Of these only what has this port at either end; may be repeated.
    #[arg(long, value_name = "PORT")]
    pub port: Vec<u16>,
    /// How long, at most.
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse_duration)]
    pub time: Duration,
    /// The size of the file at most, in MiB.
    #[arg(long, value_name = "MIB", default_value = "100", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub size: u64,
    /// Keep only so many bytes of each packet; 0: all.
    #[arg(long, value_name = "BYTES", default_value = "0")]
    pub snap: usize,
    /// End when standard input ends, and leave room on the disk.
    #[arg(long, hide = true)]
    pub attached: bool,
    #[command(flatten)]
    pub target: Target,
}

/// Where an appliance is on this machine's disk.
#[derive(Clone, Debug, Args)]
pub struct Places {
    /// The configuration.
    #[arg(long, value_name = "FILE", default_value = "/etc/bascule/bascule.toml")]
    pub config: PathBuf,
    /// The state directory.
    #[arg(long, value_name = "DIR", default_value = "/var/lib/bascule")]
    pub state: PathBuf,
}
