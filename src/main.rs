//! The program: arguments in, one of the commands out.

use std::process::ExitCode;

use bascule::cli::{self, Invocation};

fn main() -> ExitCode {
    // Everything that speaks TLS takes the process default; whoever comes first would otherwise choose it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match cli::parse() {
        Invocation::Run(args) => run(args),
        Invocation::Other(command) => cli::run(command),
    }
}
