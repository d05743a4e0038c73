//! What a core begins with, what it is told, and what it asks for.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{broadcast, oneshot};

use super::{ConfigJob, ConfigOutcome, FileAccess, Lookups, Rehearsal, ZoneBuilt, ZoneJob};
use crate::config::Loaded;
use crate::control::command::{Done, Refusal};
use crate::control::courier::{Errand, Returned};
use crate::control::disk::{Report, ToDisk};
use crate::control::store::Found;
use crate::control::{Event, Request};
use crate::model::check::Check;
use crate::model::event::Observation;
use crate::model::id::Name;
use crate::model::lookup::Question;
use crate::model::time::Tick;
use crate::probe::{Sampled, Way};
use crate::snapshot::live::ServiceLive;

/// What a core begins with.
pub struct Setup {
    pub loaded: Loaded,
    pub found: Found,
    /// FILE.
    pub path: Option<PathBuf>,
    /// The state directory, where there is one.
    pub state: Option<PathBuf>,
    /// `--set PATH=VALUE`: they hold as long as the process, whatever is loaded.
    pub overrides: Vec<(String, String)>,
    pub files: FileAccess,
    pub events: broadcast::Sender<Arc<Event>>,
}

pub enum Input {
    Sampled(Sampled),
    Observed(Observation),
    Request(Request),
    Disk(Report),
    Config(ConfigOutcome),
    Zone(Box<ZoneBuilt>),
    Lookups(Lookups),
    Returned(Returned),
    /// Whether the kernel's clock is synchronised; `None`: nobody could tell.
    ClockSynced(Option<bool>),
    Wake,
}

/// What the shell does, in order.
pub enum Output {
    /// Take a sample; replaces an earlier order for the check of this name.
    Probe {
        check: Arc<Check>,
        due: Tick,
        /// For HTTP-INLINE: where the answers that users got are counted.
        traffic: Option<Arc<ServiceLive>>,
        way: Way,
    },
    /// Only these checks are left.
    Checks(Vec<Name>),
    Disk(ToDisk),
    Answer(Answer),
    /// Run this beside the reactor and feed its outcome.
    Config(ConfigJob),
    /// The same with this.
    Zone(Box<ZoneJob>),
    /// Run this beside the reactor; it answers by itself.
    Rehearse(Box<Rehearsal>),
    /// Look these names up; each is answered, whatever comes of it.
    Ask(Vec<Question>),
    /// Who is asked from now on; none: whom the system asks.
    NameServers(Vec<SocketAddr>),
    /// Carry this out beside the reactor and feed what comes of it.
    Errand(Errand),
    /// The last order is durable, or never will be: end.
    Stopped,
}

/// An answer that may go out.
pub struct Answer {
    pub to: oneshot::Sender<Result<Done, Refusal>>,
    pub result: Result<Done, Refusal>,
    /// Only after the listeners of this generation are bound.
    pub after_listeners_of: Option<u64>,
}
