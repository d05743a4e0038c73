//! L4: the one writer. [`Handle`] is the only way in: every front end speaks [`Command`] and reads a [`World`], so that
//! validation, authorisation and audit happen once.

pub mod apply;
pub mod askers;
pub mod clock;
mod clock_sync;
pub mod command;
pub mod core;
pub mod courier;
pub mod delta;
pub mod disk;
mod facts;
pub mod handing;
pub mod journal;
mod payload;
pub mod peers;
pub mod preview;
pub mod reactor;
pub mod resolve;
pub mod save;
mod ship;
pub mod store;
mod trace;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::{broadcast, mpsc};

use crate::config::Source;
use crate::model::Model;
use crate::model::alert::AlertBook;
use crate::model::delivery::{DeliveryBook, QueryBook};
use crate::model::drill::DrillBook;
use crate::model::id::Name;
use crate::model::lateness::Lateness;
use crate::model::lookup::{KnownNames, Membership};
use crate::model::peer::{News, PeerBook};
use crate::model::state::StateView;
use crate::model::time::{Now, Wall};
use crate::snapshot::{Cell, Snapshot};

pub use command::{Command, Done, Refusal};
pub use journal::{JournalEntry, JournalQuery};

/// The front ends' end of the reactor. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    pub(crate) requests: mpsc::Sender<Request>,
    pub(crate) cell: Arc<Cell>,
    pub(crate) events: broadcast::Sender<Arc<Event>>,
    pub(crate) journal: Arc<dyn store::ReadJournal>,
}

/// What the reactor is asked.
pub enum Request {
    Command {
        actor: Name,
        /// How the actor came in, for the journal; empty: not known.
        door: Name,
        command: Command,
        answer: tokio::sync::oneshot::Sender<Result<Done, Refusal>>,
    },
    /// Somebody came in, went, or was refused: an entry `access` of the journal.
    Access {
        actor: Name,
        door: Name,
        body: serde_json::Value,
        /// Told once the entry is on the disk, of what was an act.
        answer: Option<tokio::sync::oneshot::Sender<Result<Done, Refusal>>>,
    },
    /// Told once everything that was recorded before is on the disk; at once where the disk is in trouble.
    Recorded(tokio::sync::oneshot::Sender<Result<Done, Refusal>>),
    /// Runs on the reactor, between two steps.
    Read(Box<dyn FnOnce(&World<'_>) + Send>),
    /// What was heard of a peer, or why nothing was.
    Peer(News),
    /// So many boxes asked and were refused.
    PeersRefused(u64),
    /// Where peers can ask this box, or why they cannot.
    PeerListens(Option<Result<SocketAddr, Name>>),
    /// Of the store, while one process hands over to the next.
    Store(handing::StoreAsk),
    /// The stop signal has come: `RunStatus::draining` from now on.
    Drain,
    /// Writes what is left and ends the reactor.
    Stop,
}

/// A consistent look at everything, between two steps.
pub struct World<'a> {
    pub now: Now,
    pub model: &'a Arc<Model>,
    pub view: &'a StateView,
    /// Names of servers.
    pub names: &'a KnownNames,
    /// Members that come from DNS.
    pub membership: &'a Membership,
    pub config: &'a ConfigStatus,
    /// The texts that the running configuration was loaded from.
    pub sources: &'a [Source],
    pub snapshot: &'a Snapshot,
    pub status: &'a RunStatus,
    /// Other boxes.
    pub peers: &'a Arc<PeerBook>,
    /// Deliveries of triggers.
    pub deliveries: &'a Arc<DeliveryBook>,
    /// What the queries of guards said.
    pub queries: &'a QueryBook,
    /// Alerts that stand.
    pub alerts: &'a Arc<AlertBook>,
    /// Drills, the last one maybe under way.
    pub drills: &'a Arc<DrillBook>,
}

#[derive(Clone, Debug, Default)]
pub struct ConfigStatus {
    /// Of the running configuration.
    pub hash: Name2,
    /// Of FILE as last read or written.
    pub saved_hash: Name2,
    pub unsaved: bool,
    /// FILE.
    pub path: Option<std::path::PathBuf>,
    /// The state directory; `None`: nothing is kept.
    pub state: Option<std::path::PathBuf>,
    pub warnings: Vec<String>,
    /// Paths of keys that the command line sets (`--set`), whatever a configuration says.
    pub set: Vec<String>,
    pub loaded_at: Wall,
    /// When and why FILE was last read again and refused; `None` once it was taken, or written.
    pub reload_failed: Option<(Wall, String)>,
}

type Name2 = String;

#[derive(Clone, Debug, Default)]
pub struct RunStatus {
    pub started_at: Wall,
    /// Between the stop signal and the end.
    pub draining: bool,
    /// Every check was heard of, or was waited for.
    pub settled: bool,
    /// The first round of probes is over and the first serving snapshot is published.
    pub ready: bool,
    /// The last write to disk failed or took too long: what is published may not survive a power loss.
    pub not_durable: Option<String>,
    /// Probe samples dropped because they were taken too late.
    pub late_samples_total: u64,
    /// How late probes began.
    pub lateness: Lateness,
    pub journal_entries: u64,
    /// What the kernel says of its clock; `None`: nobody could tell.
    pub clock_synced: Option<bool>,
    /// Of the last commit of each scenario that this process has published.
    pub caches: Arc<BTreeMap<Name, CachesOver>>,
}

/// When caches have let go of what a commit replaced.
#[derive(Clone, Debug)]
pub struct CachesOver {
    /// Of the commit.
    pub seq: u64,
    pub published_at: Wall,
    /// `None`: none holds anything else, as far as this box has answered.
    pub until: Option<Wall>,
    /// Who had asked before it, and who has since; `None`: it changed no answer.
    pub asked: Option<Arc<askers::Asked>>,
}

/// Something that happened, as `/events` sends it.
#[derive(Clone, Debug)]
pub struct Event {
    /// Strictly increasing within a process.
    pub id: u64,
    pub at: Wall,
    pub record: Arc<crate::model::event::Record>,
}

// === impl Handle ===

impl Handle {
    /// Carries out `command` for `actor`. Answers after the engine step is durable and published: a read, a connection
    /// or a query that follows sees it.
    pub async fn command(&self, actor: Name, command: Command) -> Result<Done, Refusal> {
        self.command_through(actor, "".into(), command).await
    }

    /// As [`Handle::command`], for an actor whose way in is known: `socket`, `session 4 from 192.0.2.1`, …
    pub async fn command_through(&self, actor: Name, door: Name, command: Command) -> Result<Done, Refusal> {
        let (answer, done) = tokio::sync::oneshot::channel();
        self.requests.send(Request::Command { actor, door, command, answer }).await.map_err(|_| Refusal::Stopping)?;
        done.await.map_err(|_| Refusal::Stopping)?
    }

    /// Journals that somebody came in, went, or was refused. Waits for nothing: where too much waits already, it is lost.
    pub fn journal_access(&self, actor: Name, door: Name, body: serde_json::Value) {
        let _ = self.requests.try_send(Request::Access { actor, door, body, answer: None });
    }

    /// Journals an act that is no command, such as the lifting of a lock, and waits until the entry is on the disk.
    pub async fn journal_act(&self, actor: Name, door: Name, body: serde_json::Value) -> Result<(), Refusal> {
        let (answer, done) = tokio::sync::oneshot::channel();
        let request = Request::Access { actor, door, body, answer: Some(answer) };
        self.requests.send(request).await.map_err(|_| Refusal::Stopping)?;
        done.await.map_err(|_| Refusal::Stopping)?.map(drop)
    }

    /// Reads the world between two steps.
    pub async fn read<T: Send + 'static>(
        &self,
        f: impl FnOnce(&World<'_>) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let (answer, done) = tokio::sync::oneshot::channel();
        let read = Box::new(move |world: &World<'_>| {
            let _ = answer.send(f(world));
        });
        self.requests.send(Request::Read(read)).await.map_err(|_| Refusal::Stopping)?;
        done.await.map_err(|_| Refusal::Stopping)
    }

    /// Waits until the journal holds everything that had happened when this was called; at most 2 s, and not at all
    /// where the disk is in trouble.
    pub async fn recorded(&self) {
        let (answer, done) = tokio::sync::oneshot::channel();
        if self.requests.send(Request::Recorded(answer)).await.is_ok() {
            let _ = done.await;
        }
    }

    /// Entries of the journal, with everything that had happened when this was called; read beside the reactor, so that
    /// a long query delays nothing.
    pub async fn journal(&self, query: JournalQuery) -> Result<Vec<JournalEntry>, Refusal> {
        self.recorded().await;
        let reader = Arc::clone(&self.journal);
        let read = tokio::task::spawn_blocking(move || reader.query(&query));
        read.await.map_err(|_| Refusal::Stopping)?.map_err(|e| Refusal::Disk(e.what))
    }

    /// For what reads much of the journal, on a thread where it may take its time. See [`Handle::recorded`].
    pub fn journal_reader(&self) -> Arc<dyn store::ReadJournal> {
        Arc::clone(&self.journal)
    }

    /// Every commit of a scenario, oldest first (the newest 10 000).
    pub async fn transitions(&self, scenario: Name) -> Result<Vec<JournalEntry>, Refusal> {
        let query = JournalQuery {
            scenario: Some(scenario),
            kind: Some("transition".into()),
            limit: Some(10_000),
            newest_first: true,
            ..JournalQuery::default()
        };
        let mut entries = self.journal(query).await?;
        entries.reverse();
        Ok(entries)
    }

    /// Hands in what was heard of a peer; `false` once the one writer has ended.
    pub async fn peer(&self, news: News) -> bool {
        self.requests.send(Request::Peer(news)).await.is_ok()
    }

    /// Counts boxes that asked and were refused.
    pub async fn peers_refused(&self, count: u64) {
        let _ = self.requests.send(Request::PeersRefused(count)).await;
    }

    /// Says where peers can ask this box, or why they cannot.
    pub async fn peer_listens(&self, at: Option<Result<SocketAddr, Name>>) {
        let _ = self.requests.send(Request::PeerListens(at)).await;
    }

    /// Wakes whoever follows the configuration: the number grows with every publication.
    pub fn published(&self) -> tokio::sync::watch::Receiver<u64> {
        self.cell.subscribe()
    }

    /// Says that the stop signal has come: `RunStatus::draining` from now on.
    pub async fn drain(&self) {
        let _ = self.requests.send(Request::Drain).await;
    }

    /// Everything that happens from now on.
    pub fn events(&self) -> broadcast::Receiver<Arc<Event>> {
        self.events.subscribe()
    }

    /// What traffic reads right now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.cell.load_full()
    }
}
