//! The program: arguments in, one of the commands out.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bascule::app::{self, FirstBootOptions, NotHanded, Places, RunOptions};
use bascule::cli::args::{Command, FirstBootArgs, Keep, RunArgs};
use bascule::cli::{self, Invocation};

/// Of the program alone: the library leaves the choice to whoever links it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The word of the kernel's command line by which the boot menu asks for a new password.
const RECOVER: &str = "bascule.recover";

/// `handover` found nobody whom it could ask.
const NOBODY: u8 = 3;

fn main() -> ExitCode {
    // Everything that speaks TLS takes the process default; whoever comes first would otherwise choose it.
    app::install_crypto();
    match cli::parse() {
        Invocation::Run(args) => app::run(options(args)),
        Invocation::FirstBoot(args) => app::first_boot(&first_boot(args)),
        Invocation::Keep(command) => keep(command),
        Invocation::SqlProbe => bascule::probe::sql::helper::main(),
        Invocation::Other(command) => cli::run(command),
    }
}

fn keep(command: Keep) -> ExitCode {
    let (name, done) = match command {
        Keep::Handover { state } => return hand_over(&state.unwrap_or_else(cli::state_directory)),
        Keep::Backup { archive, places } => ("backup", app::backup(&archive, &places.config, &places.state)),
        Keep::Support { archive, target } => ("support", app::support(&archive, &target)),
        nstrace @ Keep::Nstrace(_) => return cli::run(Command::Keep(nstrace)),
        Keep::Restore { archive, places, replace, elsewhere } => {
            ("restore", app::restore(&archive, &places.config, &places.state, replace, elsewhere))
        }
    };
    tell(name, done, |_| ExitCode::FAILURE)
}

fn hand_over(state: &Path) -> ExitCode {
    tell("handover", app::ask_for_handover(state), |why| match why {
        NotHanded::Refused(_) => ExitCode::FAILURE,
        NotHanded::Nobody(_) => ExitCode::from(NOBODY),
    })
}

fn tell<E: Display>(name: &str, done: Result<Vec<String>, E>, code: impl FnOnce(&E) -> ExitCode) -> ExitCode {
    match done {
        Ok(told) => {
            told.iter().for_each(|line| println!("{line}"));
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("bascule {name}: {why}");
            code(&why)
        }
    }
}

fn options(args: RunArgs) -> RunOptions {
    let RunArgs { config, state, ephemeral, ready_file, logins, set, drain } = args;
    RunOptions { config, state, ephemeral, ready_file, logins, set, drain }
}

fn first_boot(args: FirstBootArgs) -> FirstBootOptions {
    let FirstBootArgs { config, state, credential, drive, instance, recover, console } = args;
    let handed = || std::env::var_os("CREDENTIALS_DIRECTORY").map(|dir| PathBuf::from(dir).join("appliance.config"));
    let asked =
        || std::fs::read_to_string("/proc/cmdline").is_ok_and(|all| all.split_whitespace().any(|w| w == RECOVER));
    FirstBootOptions {
        config,
        state,
        places: Places { credential: credential.or_else(handed), drive, instance },
        recover: recover || asked(),
        consoles: console,
    }
}
