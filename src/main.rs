//! The program: arguments in, one of the commands out.

use std::process::ExitCode;

use bascule::app::{self, RunOptions};
use bascule::cli::args::RunArgs;
use bascule::cli::{self, Invocation};

/// Of the program alone: the library leaves the choice to whoever links it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Everything that speaks TLS takes the process default; whoever comes first would otherwise choose it.
    app::install_crypto();
    match cli::parse() {
        Invocation::Run(args) => app::run(options(args)),
        Invocation::SqlProbe => bascule::probe::sql::helper::main(),
        Invocation::Other(command) => cli::run(command),
    }
}

fn options(args: RunArgs) -> RunOptions {
    let RunArgs { config, state, ephemeral, ready_file, set, drain } = args;
    RunOptions { config, state, ephemeral, ready_file, set, drain }
}
