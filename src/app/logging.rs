//! Log lines on stderr. `BASCULE_LOG` filters them: `debug`, `info,bascule::probe=debug`, … Default `info`.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Libraries that tell more than an operator wants to know. What pingora's connectors call an error is an idle connection
/// that was not to be had at that moment, so that a new one is made; what fails comes back to us and is logged there.
const QUIET: &str = "pingora=error,pingora_core=error,pingora_core::connectors=off,pingora_proxy=error,\
                     pingora_pool=error,hyper=warn,hyper_util=warn,rustls=warn,reqwest=warn,mio=warn,ldap3=warn";

/// A second call changes nothing.
pub(super) fn start() {
    let (level, problem) = match std::env::var("BASCULE_LOG") {
        Ok(text) if !text.is_empty() => match EnvFilter::try_new(&text) {
            Ok(_) => (text, None),
            Err(e) => ("info".to_owned(), Some(format!("BASCULE_LOG is not a filter ({e}): taking `info`"))),
        },
        _ => ("info".to_owned(), None),
    };
    // Later directives win where they are as specific, so what the operator names himself stays.
    let filter = EnvFilter::try_new(format!("{QUIET},{level}")).unwrap_or_else(|_| EnvFilter::new("info"));
    // This also takes the lines of libraries that use `log`.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .try_init();
    if let Some(problem) = problem {
        tracing::warn!("{problem}");
    }
}
