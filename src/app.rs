//! L6: wiring. Constructs everything in order, says when it is ready, and stops it gracefully. No decisions.
//!
//! ```text
//! texts ──▶ config::load ──▶ store ──▶ reactor ──▶ data plane ──▶ DNS ──▶ management ──▶ ready
//!                                                                                          │ SIGTERM
//!           exit 0 ◀── reactor ◀── management ◀── DNS ◀── data plane: drain ◀──────────────┘
//! ```

mod archive;
mod first_boot;
mod handover;
mod limits;
mod logging;
mod ready;
mod run;
mod running;
mod signals;
mod supervised;
mod support;

pub use first_boot::{FirstBootOptions, Places, first_boot};

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

pub use archive::{backup, restore};
pub use handover::{NotHanded, ask as ask_for_handover};
pub use support::support;

/// `bascule run`
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// FILE.
    pub config: PathBuf,
    /// Default: `$STATE_DIRECTORY`, else `state` beside FILE.
    pub state: Option<PathBuf>,
    /// State in memory, nothing left behind.
    pub ephemeral: bool,
    /// Written when ready: JSON with `admin`, `vservers`, `dns`, `pid`.
    pub ready_file: Option<PathBuf>,
    /// Whoever is let into this machine by `login-check` may use the local socket with their role.
    pub logins: bool,
    /// `--set PATH=VALUE`
    pub set: Vec<(String, String)>,
    /// How long open work may take after the stop signal. Default 30 s.
    pub drain: Duration,
}

/// Default of `--drain`.
pub const DRAIN: Duration = Duration::from_secs(30);

/// Runs the appliance until a signal ends it. 0 after a stop by signal, 1 where it could not start, 70 where the one
/// writer has ended by a bug.
pub fn run(options: RunOptions) -> ExitCode {
    install_crypto();
    let logging = logging::start();
    limits::raise_open_files();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("bascule").build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("bascule: the machine refuses threads: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(run::run(options, &logging));
    logging.end();
    // What still blocks (a look-up, a slow disk) must not hold up the end.
    runtime.shutdown_timeout(Duration::from_millis(200));
    code
}

/// Makes ring the process's one TLS provider. To be called before anything speaks TLS; a second call changes nothing.
pub fn install_crypto() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The state directory of a run: as said, else `$STATE_DIRECTORY` (systemd's; the first of a list), else `state` beside
/// FILE.
pub fn state_directory(options: &RunOptions) -> PathBuf {
    let from_systemd = || {
        let list = std::env::var_os("STATE_DIRECTORY").filter(|v| !v.is_empty())?;
        let list = list.to_string_lossy().into_owned();
        Some(PathBuf::from(list.split(':').next()?))
    };
    let beside = || options.config.parent().map_or_else(|| PathBuf::from("state"), |dir| dir.join("state"));
    options.state.clone().or_else(from_systemd).unwrap_or_else(beside)
}
