//! Ships the journal while it is written: entries leave the box as they become durable, so that the trail of who did
//! what does not depend on the box that it is about.
//!
//! A thread of its own reads the journal beside the writer, so that a destination that is slow, away or full delays
//! nothing here. Each destination keeps its own place, which moves only when the entries have arrived ([`progress`] says
//! what that means): each entry goes at least once, in order, over restarts and `kill -9`. What waits, waits in the
//! journal and not in memory; where the journal is cut before a destination has seen what was cut, that is counted and
//! said. [`Ships`] shows how each stands.

mod deliver;
mod message;
mod progress;

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use rustls_pki_types::CertificateDer;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::clock::Clock;
use super::journal::chain::Entry;
use super::store::{Place, Places, ReadJournal};
use crate::model::Model;
use crate::model::id::Name;
use crate::model::ship::{Ship, ShipTo};
use crate::model::time::Now;
use crate::probe::Surroundings;
use crate::probe::call::Caller;
use crate::snapshot::Cell;
use crate::snapshot::live::Ships;
use progress::{Progress, Say};

/// Entries, and bytes of their bodies, that are read and sent at once.
const BATCH_ENTRIES: usize = 256;
const BATCH_BYTES: usize = 512 * 1024;

/// What shipping needs.
pub struct Setup {
    pub cell: Arc<Cell>,
    pub journal: Arc<dyn ReadJournal>,
    pub places: Arc<Places>,
    /// The number of the newest entry that is durable.
    pub head: watch::Receiver<u64>,
    pub surroundings: Surroundings,
    pub clock: Clock,
}

/// What all destinations share.
struct Shared {
    journal: Arc<dyn ReadJournal>,
    places: Arc<Places>,
    ships: Arc<Ships>,
    caller: Caller,
    clock: Clock,
}

/// A destination as it was configured.
#[derive(Clone, PartialEq)]
struct Destination {
    appliance: Name,
    ship: Ship,
    roots: Option<Vec<CertificateDer<'static>>>,
}

/// One destination at work.
struct Line {
    destination: Destination,
    shared: Arc<Shared>,
    head: watch::Receiver<u64>,
    progress: Progress,
    /// The last entry that was cut before it was shipped, and has been told.
    lost_to: u64,
}

/// Starts the thread; it ends when the sender of `head` is gone. Errors: the machine refuses a thread.
pub fn start(setup: Setup) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().thread_name("bascule-ship").build()?;
    std::thread::Builder::new().name("bascule-ship".to_owned()).spawn(move || {
        runtime.block_on(run(setup));
        runtime.shutdown_background();
    })?;
    Ok(())
}

/// Keeps one line for each destination of the running configuration.
async fn run(setup: Setup) {
    let Setup { cell, journal, places, mut head, surroundings, clock } = setup;
    let mut published = cell.subscribe();
    let ships = Arc::clone(&cell.load_full().ships);
    let shared = Arc::new(Shared { journal, places, ships, caller: Caller::new(surroundings), clock });
    let mut lines: HashMap<Name, (Destination, AbortHandle)> = HashMap::new();
    loop {
        published.borrow_and_update();
        let wanted = destinations(&cell.load_full().model);
        lines.retain(|name, (destination, task)| {
            let stays = wanted.get(name) == Some(destination);
            if !stays {
                task.abort();
            }
            stays
        });
        shared.ships.retain(|name| wanted.contains_key(name));
        for (name, destination) in wanted {
            if lines.contains_key(&name) {
                continue;
            }
            let progress = Progress::new(shared.places.get(&name));
            let line = Line {
                destination: destination.clone(),
                shared: Arc::clone(&shared),
                head: head.clone(),
                progress,
                lost_to: 0,
            };
            lines.insert(name, (destination, tokio::spawn(line.run()).abort_handle()));
        }
        tokio::select! {
            changed = published.changed() => if changed.is_err() { return },
            // Only its end matters here.
            ended = async { while head.changed().await.is_ok() {} } => return ended,
        }
    }
}

fn destinations(model: &Model) -> HashMap<Name, Destination> {
    let of = |ship: &Ship| {
        let authority = match &ship.to {
            ShipTo::Syslog { tls: Some(tls), .. } => tls.authority,
            _ => None,
        };
        let roots = authority.and_then(|id| model.certificates[id.index()].chain.certificates().ok());
        let destination = Destination { appliance: Name::clone(&model.appliance.name), ship: ship.clone(), roots };
        (Name::clone(&ship.name), destination)
    };
    model.ships.iter().map(of).collect()
}

// === impl Line ===

impl Line {
    async fn run(mut self) {
        self.look_for_another_journal().await;
        self.show(None);
        loop {
            let pause = self.shared.clock.instant(self.progress.retry_at());
            tokio::time::sleep_until(pause.into()).await;
            if self.wait_for_entries().await.is_err() {
                return;
            }
            self.show(None);
            let sent = match self.destination.ship.to.clone() {
                ShipTo::Syslog { host, port, tls } => deliver::syslog(&mut self, &host, port, tls.as_ref()).await,
                ShipTo::Http { uri, headers, secret } => {
                    deliver::http(&mut self, &uri, &headers, secret.as_ref()).await
                }
            };
            if let Err(why) = sent {
                let say = self.progress.failed(self.now());
                let name = Name::clone(&self.destination.ship.name);
                self.shared.ships.change(&name, |shipping| shipping.failures_total += 1);
                self.say(say, &why);
                self.show(Some(why));
            }
        }
    }

    fn now(&self) -> Now {
        self.shared.clock.now()
    }

    /// Until there is an entry that was not sent. `Err`: the end of the process.
    async fn wait_for_entries(&mut self) -> Result<(), ()> {
        while *self.head.borrow_and_update() <= self.progress.sent().number {
            self.head.changed().await.map_err(|_| ())?;
        }
        Ok(())
    }

    /// What follows the last entry sent; empty: nothing does. Errors: the journal cannot be read.
    async fn next(&mut self) -> Result<Vec<Entry>, String> {
        let after = self.progress.sent().clone();
        let entries = self.read(after.number).await?;
        let Some(first) = entries.first() else { return Ok(entries) };
        if first.number > after.number + 1 {
            // Each attempt meets the gap again, until what follows it has arrived.
            let known = after.number.max(self.lost_to);
            if after.number > 0 && first.number > known + 1 {
                let lost = first.number - known - 1;
                self.lost_to = first.number - 1;
                let name = &self.destination.ship.name;
                tracing::error!(
                    destination = %name, lost,
                    "the journal was cut before these entries were shipped: raise journal.keep or journal.size, and look \
                     why the destination was behind"
                );
                self.shared.ships.change(name, |shipping| shipping.lost_total += lost);
            }
        } else if after.number > 0 && first.prev != after.hash {
            self.begin_anew();
            return self.read(0).await;
        }
        Ok(entries)
    }

    async fn read(&self, after: u64) -> Result<Vec<Entry>, String> {
        let journal = Arc::clone(&self.shared.journal);
        let read = tokio::task::spawn_blocking(move || journal.after(after, BATCH_ENTRIES, BATCH_BYTES)).await;
        read.map_err(|_| "the journal was not read: a bug".to_owned())?.map_err(|error| error.what)
    }

    /// A state directory that was replaced has fewer entries than the place, or others.
    async fn look_for_another_journal(&mut self) {
        let confirmed = self.progress.confirmed().clone();
        if confirmed.number == 0 {
            return;
        }
        if let Ok(entries) = self.read(confirmed.number - 1).await {
            let same = entries.first().is_some_and(|e| e.number > confirmed.number || e.hash == confirmed.hash);
            if !same {
                self.begin_anew();
            }
        }
    }

    fn begin_anew(&mut self) {
        self.lost_to = 0;
        tracing::warn!(
            destination = %self.destination.ship.name,
            "the journal is another one than was shipped before: it goes from its beginning"
        );
        self.progress.start_from(Place::default());
    }

    /// Keeps the place, and says what there is to say.
    fn confirmed(&mut self, say: Say) {
        let name = Name::clone(&self.destination.ship.name);
        let place = self.progress.confirmed().clone();
        self.shared.ships.change(&name, |shipping| {
            shipping.shipped_total += place.number.saturating_sub(shipping.confirmed);
        });
        if let Err(why) = self.shared.places.set(&name, place) {
            tracing::error!(destination = %name, %why, "entries may be shipped twice after a restart");
        }
        self.say(say, "");
        self.show(None);
    }

    fn say(&self, say: Say, why: &str) {
        let name = &self.destination.ship.name;
        let waiting = self.head.borrow().saturating_sub(self.progress.confirmed().number);
        match say {
            Say::Nothing => {}
            Say::Failing => tracing::error!(
                destination = %name, address = self.destination.ship.address(), waiting, why,
                "the journal is not shipped; what waits is kept in the journal, as long as that is kept"
            ),
            Say::Recovered => tracing::info!(destination = %name, waiting, "the journal is shipped again"),
        }
    }

    /// For management. `why`: the attempt has just failed.
    fn show(&self, why: Option<String>) {
        let (head, confirmed) = (*self.head.borrow(), self.progress.confirmed().number);
        let now = self.now().wall;
        self.shared.ships.change(&self.destination.ship.name, |shipping| {
            (shipping.head, shipping.confirmed) = (head, confirmed);
            let before = shipping.behind_since;
            shipping.behind_since = (head > confirmed).then(|| before.unwrap_or(now));
            shipping.failing = match (why, self.progress.failing_since()) {
                (Some(why), Some(since)) => Some((since, why)),
                (None, Some(_)) => shipping.failing.take(),
                (_, None) => None,
            };
        });
    }
}
