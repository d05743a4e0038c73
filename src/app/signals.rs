//! SIGHUP reloads, SIGUSR2 hands over to a new process, SIGTERM and SIGINT stop.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::Severity;
use crate::control::{Command, Handle, Refusal};

/// The signals that end the process.
pub(super) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

// === impl StopSignals ===

impl StopSignals {
    pub fn new() -> io::Result<StopSignals> {
        Ok(StopSignals { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// The next one. Its name.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// The signal to reload. Taken before the start, since it ends a process that does not take it; one that comes during
/// the start is followed after it.
pub(super) struct Hangup(Signal);

// === impl Hangup ===

impl Hangup {
    pub fn new() -> io::Result<Hangup> {
        signal(SignalKind::hangup()).map(Hangup)
    }
}

/// The signal to hand over. Taken before the start, as the one to reload.
pub(super) struct Upgrade(Signal);

// === impl Upgrade ===

impl Upgrade {
    pub fn new() -> io::Result<Upgrade> {
        signal(SignalKind::user_defined2()).map(Upgrade)
    }

    /// Returns when it came.
    pub async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// Every SIGHUP takes FILE again; a bad one changes nothing and says what is wrong.
pub(super) fn reload_on_hangup(Hangup(mut hangup): Hangup, handle: Handle) {
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            match handle.command("signal:SIGHUP".into(), Command::Reload).await {
                Ok(done) => {
                    for warning in &done.warnings {
                        tracing::warn!("reload: {warning}");
                    }
                    for change in &done.changes {
                        tracing::info!("reload: {change}");
                    }
                    tracing::info!(changes = done.changes.len(), "configuration reloaded");
                }
                Err(Refusal::BadConfig(problems)) => {
                    for problem in problems.iter().filter(|p| p.severity == Severity::Error) {
                        tracing::error!("reload: {problem}");
                    }
                    tracing::error!("configuration not reloaded: nothing was changed");
                }
                Err(refusal) => tracing::error!("configuration not reloaded: {refusal}"),
            }
        }
    });
}
