//! The side of the process that goes on.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::VARIABLE;
use super::wire::{self, Line, Said};
use crate::control::{Handle, World};
use crate::dataplane::handed::Handed;
use crate::model::state::VserverState;

/// Between two looks at what is known by now.
const LOOK: Duration = Duration::from_millis(50);

/// How long the other one may take to tell the service manager. What waits for it is a sign of life alone.
const NAMED_WITHIN: Duration = Duration::from_secs(2);

/// A process that goes on where another one is.
pub(in crate::app) struct Taking {
    line: Line,
    /// Its sockets.
    pub handed: Handed,
    /// The other one, while it lives.
    from: u32,
}

// === impl Taking ===

impl Taking {
    /// `None`: this process was started in the usual way. To be called inside a runtime. Errors: in words.
    pub fn inherited() -> Result<Option<Taking>, String> {
        let Some(from) = std::env::var(VARIABLE).ok().and_then(|text| text.parse::<u32>().ok()) else {
            return Ok(None);
        };
        if from != std::os::unix::process::parent_id() {
            return Ok(None);
        }
        let take = || {
            let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
            let handed = Handed::new(wire::receive(&stream)?);
            Ok(Taking { line: Line::new(stream)?, handed, from })
        };
        take().map(Some).map_err(|error: io::Error| format!("process {from} cannot hand over: {error}"))
    }

    /// Says that this process ends, and why; the other one goes on.
    pub async fn fail(&mut self, why: &str) {
        let _ = self.line.say(&Said::Failed { why: why.to_owned() }).await;
    }

    /// Says that FILE is good, and waits for the store. A former process that ended meanwhile holds it no longer.
    pub async fn loaded(&mut self) {
        if self.line.say(&Said::Loaded).await.is_ok() {
            self.until(|said| matches!(said, Said::Yours)).await;
        }
    }

    /// Tells what is seen until the other process says that it is enough. Where that has ended by itself it is enough.
    pub async fn until_go(&mut self, handle: &Handle) {
        let mut looks = tokio::time::interval(LOOK);
        let mut told = None;
        loop {
            tokio::select! {
                said = self.line.hear() => match said {
                    Ok(Said::Go) => return,
                    Ok(_) => {}
                    Err(_) => return self.alone(),
                },
                _ = looks.tick() => {
                    let Ok(sees) = handle.read(seen).await else { return };
                    // Again and again: what the other one sees changes too.
                    if self.line.say(&sees).await.is_err() {
                        return self.alone();
                    }
                    if told.as_ref() != Some(&sees) {
                        tracing::debug!(?sees, "what this process sees");
                        told = Some(sees);
                    }
                }
            }
        }
    }

    /// Says that this process accepts. From then on it may write.
    pub async fn serving(&mut self) {
        if self.line.say(&Said::Serving).await.is_ok() {
            tracing::info!(from = self.from, "serving in its place");
        }
        let left = self.handed.close();
        if left > 0 {
            tracing::info!(sockets = left, "closed: the configuration does not ask for them");
        }
    }

    /// Returns once the service manager listens to this process: what it says before is passed over.
    pub async fn named(mut self) {
        let named = async {
            while let Ok(said) = self.line.hear().await {
                if said == Said::Named {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(NAMED_WITHIN, named).await;
    }

    async fn until(&mut self, is_it: impl Fn(&Said) -> bool) {
        loop {
            match self.line.hear().await {
                Ok(said) if is_it(&said) => return,
                Ok(_) => {}
                Err(_) => return self.alone(),
            }
        }
    }

    fn alone(&self) {
        tracing::warn!(from = self.from, "it ended before it had handed over: going on without it");
    }
}

fn seen(world: &World<'_>) -> Said {
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for (vserver, view) in world.model.vservers.iter().zip(&world.view.vservers) {
        let these = if view.effective == VserverState::Up { &mut up } else { &mut down };
        these.push(vserver.name.to_string());
    }
    Said::Sees { settled: world.status.settled, down, up: Some(up) }
}
