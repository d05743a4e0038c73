//! Zones that come from a primary: transferred, kept on disk, told to the writer, and asked for anew by the timers of
//! their SOA, by NOTIFY and by people.
//!
//! Each zone has a task of its own, which ends with its definition. When to ask is decided in [`schedule`], what a transfer
//! amounts to in [`assemble`]; both are pure. What has come goes up as an observation, and comes back to traffic with the
//! next snapshot.

mod assemble;
mod fetch;
mod records;
mod schedule;
mod shelf;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::tsig::Key;
use super::turns::Turns;
use crate::model::event::Observation;
use crate::model::id::Name;
use crate::model::time::Wall;
use crate::model::transfer::{Primary, Transfer, TsigKey};
use crate::model::zone::{DnsName, Received, ZoneNews};
use crate::snapshot::Snapshot;
use crate::snapshot::live::ZoneLive;
use assemble::Outcome;
use fetch::Ask;
use schedule::{Schedule, Timers};
pub use shelf::Shelf;
use shelf::Slot;

/// Keeps every zone that has primaries.
pub struct Secondaries {
    reports: mpsc::Sender<Observation>,
    /// `None`: nothing is kept on disk.
    shelf: Option<Shelf>,
    turns: Turns<SocketAddr>,
    keepers: HashMap<DnsName, (Definition, JoinHandle<()>)>,
}

/// What a keeper does its work by; another definition has another keeper.
#[derive(Clone, PartialEq)]
struct Definition {
    name: Name,
    transfer: Transfer,
    keys: Vec<TsigKey>,
    signed_here: bool,
}

struct Keeper {
    origin: DnsName,
    definition: Definition,
    live: Arc<ZoneLive>,
    reports: mpsc::Sender<Observation>,
    shelf: Option<Slot>,
    turns: Turns<SocketAddr>,
    have: Option<Received>,
    schedule: Schedule,
    began: Instant,
    /// The last failure that was told.
    told: Option<String>,
}

/// The zones of the state directory as they were left.
pub fn kept(state: &Path) -> Vec<Received> {
    Shelf::new(state).all(wall_now())
}

fn wall_now() -> Wall {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    Wall(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

// === impl Secondaries ===

impl Secondaries {
    /// `state`: the state directory.
    pub fn new(reports: mpsc::Sender<Observation>, state: Option<&Path>) -> Secondaries {
        Secondaries { reports, shelf: state.map(Shelf::new), turns: Turns::default(), keepers: HashMap::new() }
    }

    /// Begins what is new, and ends what is no more. Must be called inside a tokio runtime.
    pub fn follow(&mut self, snapshot: &Snapshot) {
        let model = &snapshot.model;
        let mut wanted = Vec::new();
        for (at, zone) in model.zones.iter().enumerate().filter(|(_, zone)| zone.transfer.comes_in()) {
            wanted.push(zone.origin.clone());
            let definition = Definition {
                name: Arc::clone(&zone.name),
                transfer: zone.transfer.clone(),
                keys: model.dns.tsig.clone(),
                signed_here: zone.dnssec.is_some(),
            };
            if self.keepers.get(&zone.origin).is_some_and(|(known, _)| *known == definition) {
                continue;
            }
            let keeper = Keeper::new(self, zone.origin.clone(), definition.clone(), snapshot, at);
            let task = tokio::spawn(keeper.keep());
            if let Some((_, old)) = self.keepers.insert(zone.origin.clone(), (definition, task)) {
                old.abort();
            }
        }
        self.keepers.retain(|origin, (_, task)| {
            let stays = wanted.contains(origin);
            if !stays {
                task.abort();
            }
            stays
        });
    }
}

impl Drop for Secondaries {
    fn drop(&mut self) {
        for (_, task) in self.keepers.values() {
            task.abort();
        }
    }
}

// === impl Keeper ===

impl Keeper {
    fn new(all: &Secondaries, origin: DnsName, definition: Definition, snapshot: &Snapshot, at: usize) -> Keeper {
        let mut have = snapshot.zones.zone(at).received.clone();
        if let Some(have) = &mut have {
            // Confirmations are no reason for a snapshot, so it may know an older one.
            let status = snapshot.zone_live[at].secondary.status.lock();
            let confirmed = status.confirmed.filter(|_| status.serial == Some(have.contents.serial()));
            have.confirmed = confirmed.map_or(have.confirmed, |at| at.max(have.confirmed));
        }
        let began = Instant::now();
        let known = have.as_ref().map(|have| {
            let timers = Timers::of(&have.contents);
            // What nobody has called expired yet is, at once: while no keeper looked, its time may have run out.
            let most = timers.expire().saturating_sub(Duration::from_millis(1));
            let age = if have.is_expired { timers.expire() } else { wall_now().since(have.confirmed).min(most) };
            (timers, age)
        });
        let schedule = Schedule::new(Duration::ZERO, known);
        let keeper = Keeper {
            live: Arc::clone(&snapshot.zone_live[at]),
            reports: all.reports.clone(),
            shelf: all.shelf.as_ref().map(|shelf| shelf.slot(&origin)),
            turns: all.turns.clone(),
            origin,
            definition,
            have,
            schedule,
            began,
            told: None,
        };
        keeper.show(|_| {});
        keeper
    }

    async fn keep(mut self) {
        let live = Arc::clone(&self.live);
        let mut rung = false;
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(self.began + self.schedule.wake_at()) => {}
                () = live.secondary.rung() => {
                    rung = true;
                    self.schedule.notified(self.now());
                }
            }
            self.expire().await;
            if self.schedule.is_due(self.now()) {
                let whole = live.secondary.wants_whole();
                self.look(whole, std::mem::take(&mut rung)).await;
            }
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    async fn expire(&mut self) {
        let now = self.now();
        if !self.schedule.expires(now) {
            return;
        }
        tracing::error!(
            zone = &*self.definition.name,
            "expired: no primary has confirmed it in time; SERVFAIL from now on"
        );
        if let Some(have) = &mut self.have {
            have.is_expired = true;
        }
        self.tell(ZoneNews::Expired).await;
        self.show(|_| {});
    }

    /// Asks the primaries in their order, until one has something new; where nobody rang, until one answers. `whole`: the
    /// whole zone is wanted, which is remembered until it has come; until then what there is, is confirmed all the same.
    async fn look(&mut self, whole: Option<u64>, rung: bool) {
        let mut failures = Vec::new();
        if let Some(wish) = whole {
            for primary in self.definition.transfer.from.clone() {
                match self.ask(&primary, true).await {
                    Ok(Outcome::New { contents, incremental }) => {
                        self.live.secondary.has_whole(wish);
                        return self.took(contents, primary, incremental).await;
                    }
                    Ok(Outcome::Current) => {}
                    Err(why) => failures.push(format!("{} {why}", primary.address)),
                }
            }
            if self.have.is_none() {
                return self.failed(failures.join("; ")).await;
            }
        }
        let not_whole = (!failures.is_empty()).then(|| {
            format!(
                "the whole zone, which is asked for again until it comes: {}",
                std::mem::take(&mut failures).join("; ")
            )
        });
        let mut is_current = false;
        for primary in self.definition.transfer.from.clone() {
            match self.ask(&primary, false).await {
                Ok(Outcome::Current) => {
                    is_current = true;
                    if !rung {
                        break;
                    }
                }
                Ok(Outcome::New { contents, incremental }) => {
                    self.took(contents, primary, incremental).await;
                    return self.still_wanted(not_whole).await;
                }
                Err(why) => failures.push(format!("{} {why}", primary.address)),
            }
        }
        if is_current {
            let told = self.told.take();
            self.confirmed().await;
            self.told = told.filter(|_| not_whole.is_some());
            self.still_wanted(not_whole).await;
        } else {
            self.failed(failures.join("; ")).await;
        }
    }

    /// A confirmation that is not what was asked for; the next look is as after a failure.
    async fn still_wanted(&mut self, not_whole: Option<String>) {
        if let Some(why) = not_whole {
            self.schedule.again(self.now());
            self.fault(why).await;
        }
    }

    /// Does what may take long, while the zone may expire.
    async fn meanwhile<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            let expires = self.schedule.expires_at().map(|at| self.began + at);
            let expired = async {
                match expires {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                done = work.as_mut() => return done,
                () = expired => self.expire().await,
            }
        }
    }

    /// One primary, while the zone may expire in the meantime.
    async fn ask(&mut self, primary: &Primary, whole: bool) -> Result<Outcome, String> {
        let key = match primary.key.and_then(|at| self.definition.keys.get(at as usize)) {
            Some(key) => Some(
                Key::load(key).ok_or_else(|| format!("cannot be asked: the secret of `{}` is not there", key.name))?,
            ),
            None => None,
        };
        let ask = Ask {
            origin: self.origin.clone(),
            primary: primary.address,
            key,
            have: self.have.as_ref().map(|have| Arc::clone(&have.contents)),
            whole,
            most: self.definition.transfer.max_size,
        };
        let turns = self.turns.clone();
        let _turn = self.meanwhile(turns.take(primary.address)).await;
        let outcome = self.meanwhile(fetch::fetch(&ask)).await?;
        if let Outcome::New { contents, .. } = &outcome
            && contents.is_signed()
            && !self.definition.signed_here
        {
            let what =
                "signs the zone, and here it would be steered: without keys of its own (`dnssec`) resolvers would not";
            return Err(format!("{what} believe it; give it keys, or have it sent unsigned"));
        }
        Ok(outcome)
    }

    async fn took(&mut self, contents: crate::model::zone::ZoneContents, primary: Primary, incremental: bool) {
        let received = Received { contents: Arc::new(contents), confirmed: wall_now(), is_expired: false };
        let serial = received.contents.serial();
        let (zone, records) = (&*self.definition.name, received.contents.records.len() + 1);
        tracing::info!(zone, serial, records, incremental, primary = %primary.address, "transferred");
        if let Some(shelf) = self.shelf.clone() {
            let kept = received.clone();
            let written = tokio::task::spawn_blocking(move || {
                // What was kept before would pass for these contents at the next confirmation.
                shelf.write(&kept).inspect_err(|_| drop(shelf.forget()))
            })
            .await;
            if let Ok(Err(error)) = written {
                tracing::warn!(zone, %error, "not kept on disk: a restart waits for the primary");
            }
        }
        let live = &self.live.secondary;
        live.transfers_total.fetch_add(1, Ordering::Relaxed);
        live.incremental_total.fetch_add(u64::from(incremental), Ordering::Relaxed);
        self.schedule.confirmed(self.now(), Timers::of(&received.contents));
        self.have = Some(received.clone());
        self.told = None;
        self.show(|status| {
            status.primary = Some(primary.address);
            status.transferred = Some(received.confirmed);
            status.error = None;
        });
        self.tell(ZoneNews::Transferred { received, primary: primary.address, incremental }).await;
    }

    async fn confirmed(&mut self) {
        let Some(have) = &mut self.have else { return };
        have.confirmed = wall_now();
        have.is_expired = false;
        let have = have.clone();
        if let Some(shelf) = self.shelf.clone() {
            let at = have.confirmed;
            let _ = tokio::task::spawn_blocking(move || shelf.confirm(at)).await;
        }
        self.schedule.confirmed(self.now(), Timers::of(&have.contents));
        self.told = None;
        self.show(|status| status.error = None);
        self.tell(ZoneNews::Confirmed { received: have }).await;
    }

    async fn failed(&mut self, why: String) {
        self.live.secondary.failures_total.fetch_add(1, Ordering::Relaxed);
        self.schedule.failed(self.now());
        self.fault(why).await;
    }

    /// Shows what went wrong, and tells it where it is new.
    async fn fault(&mut self, why: String) {
        self.show(|status| status.error = Some(why.clone()));
        // The same again is no news.
        if self.told.as_ref() != Some(&why) {
            tracing::warn!(zone = &*self.definition.name, why, "not transferred");
            self.told = Some(why.clone());
            self.tell(ZoneNews::Failed { why: why.into() }).await;
        }
    }

    async fn tell(&self, news: ZoneNews) {
        // Waits where the writer is behind: this is no hint.
        let _ = self.reports.send(Observation::Zone { origin: self.origin.clone(), news }).await;
    }

    /// Shows how it stands.
    fn show(&self, edit: impl FnOnce(&mut crate::snapshot::live::SecondaryStatus)) {
        let (wall, now) = (wall_now(), self.now());
        let at = |at: Duration| {
            let micros = |duration: Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
            Wall(wall.0.saturating_add(micros(at)).saturating_sub(micros(now)))
        };
        let mut status = self.live.secondary.status.lock();
        status.serial = self.have.as_ref().map(|have| have.contents.serial());
        status.confirmed = self.have.as_ref().map(|have| have.confirmed);
        status.next = Some(at(self.schedule.next()));
        status.expires = self.schedule.expires_at().map(at);
        edit(&mut status);
    }
}

#[cfg(test)]
mod tests;
