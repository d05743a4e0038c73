//! Log lines on stderr, and over syslog where `[log]` says so. `BASCULE_LOG` filters them: `debug`,
//! `info,bascule::probe=debug`, … Default `info`.

mod syslog;
mod tap;

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, fmt};

use crate::snapshot::Cell;
use tap::Tap;

/// Libraries that tell more than an operator wants to know. What pingora's connectors call an error is an idle connection
/// that was not to be had at that moment, so that a new one is made; what fails comes back to us and is logged there.
const QUIET: &str = "pingora=error,pingora_core=error,pingora_core::connectors=off,pingora_proxy=error,\
                     pingora_pool=error,hyper=warn,hyper_util=warn,rustls=warn,reqwest=warn,mio=warn,ldap3=warn";

/// What the last lines of a process may take to leave.
const LAST_LINES: Duration = Duration::from_millis(500);

/// The log of the process, once it has begun.
#[derive(Clone)]
pub(super) struct Logging {
    tap: Arc<Tap>,
}

/// A second call in a process gives a log that nothing comes to.
pub(super) fn start() -> Logging {
    let (level, problem) = match std::env::var("BASCULE_LOG") {
        Ok(text) if !text.is_empty() => match EnvFilter::try_new(&text) {
            Ok(_) => (text, None),
            Err(e) => ("info".to_owned(), Some(format!("BASCULE_LOG is not a filter ({e}): taking `info`"))),
        },
        _ => ("info".to_owned(), None),
    };
    // Later directives win where they are as specific, so what the operator names himself stays.
    let filter = EnvFilter::try_new(format!("{QUIET},{level}")).unwrap_or_else(|_| EnvFilter::new("info"));
    let tap = Arc::new(Tap::default());
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal()).with_target(false);
    // This also takes the lines of libraries that use `log`.
    let _ = tracing_subscriber::registry().with(filter).with(lines).with(tap::Layer(Arc::clone(&tap))).try_init();
    if let Some(problem) = problem {
        tracing::warn!("{problem}");
    }
    Logging { tap }
}

// === impl Logging ===

impl Logging {
    /// Sends lines where the newest configuration says, from now on. To be called inside a runtime.
    pub fn follow(&self, cell: Arc<Cell>) {
        let tap = Arc::clone(&self.tap);
        let mut published = cell.subscribe();
        tap.follow(&cell.load_full());
        tokio::spawn(async move {
            while published.changed().await.is_ok() {
                tap.follow(&cell.load_full());
            }
        });
    }

    /// Lets the last lines leave, for a moment at most.
    pub fn end(&self) {
        self.tap.end(LAST_LINES);
    }
}
