//! The appliance as a whole: what is wrong, what people did, what is leaving.

mod network;
pub(super) mod problems;
pub(super) mod verdict;

use super::peer::peer_listen;
use super::{AlertDto, DrainDto, DrillDto, FirstBootDto, MachineDto, ManagementDto, NoteDto, PeerLineDto, text};
use crate::admin::timeline::in_words;
use crate::control::{JournalEntry, World};
use crate::model::balancing::shares_text;
use crate::model::id::{Kind, ServiceId};
use crate::model::state::{Override, OverrideKey, OverrideValue, ServiceState};
pub use verdict::{NextMoveDto, VerdictDto};

dto! {
    /// The appliance.
    pub struct StatusDto {
        pub name: String,
        /// The data centre that it stands in.
        pub site: Option<String>,
        pub version: String,
        pub started_at: String,
        /// The appliance's clock.
        pub now: String,
        /// The first round of probes is over and the first serving snapshot is published.
        pub ready: bool,
        /// Between the stop signal and the end.
        pub stopping: bool,
        /// Grows with every published change.
        pub generation: u64,
        /// Where traffic goes and who has the next move.
        pub verdict: VerdictDto,
        pub config: ConfigDto,
        /// Everything that people set: disables, forces, modes, switches.
        pub overrides: Vec<OverrideDto>,
        /// The drill that is not over.
        pub drill: Option<DrillDto>,
        /// Services on their way out.
        pub draining: Vec<DrainingDto>,
        /// What is wrong now, worst first.
        pub problems: Vec<ProblemDto>,
        /// Alerts that stand, oldest first.
        pub alerts: Vec<AlertDto>,
        pub clock: ClockDto,
        /// What the management address shows; absent where it is not known.
        pub management: Option<ManagementDto>,
        /// What the kernel says of the machine.
        pub machine: Option<MachineDto>,
        /// What an appliance was handed at its first boot; null on any other machine.
        pub first_boot: Option<FirstBootDto>,
        /// Other boxes.
        pub peers: Vec<PeerLineDto>,
        /// Faults can be injected. This build injects none.
        pub lab: bool,
        /// Faults that are injected.
        pub faults: Vec<String>,
        /// Where peers can ask this box; null: nowhere.
        pub peer_listen: Option<String>,
        /// Why what is published may not survive a power loss; null where it does.
        pub not_durable: Option<String>,
        /// Probe samples dropped because they were taken too late, since start.
        pub late_samples_total: u64,
        pub journal_entries: u64,
    }

    /// The appliance's clock.
    pub struct ClockDto {
        pub now: String,
        /// What the kernel says of it; null where nobody can tell.
        pub synced: Option<bool>,
        /// Against true time, in seconds; null: nobody has told.
        pub offset: Option<f64>,
    }

    /// Running and saved configuration.
    pub struct ConfigDto {
        /// Of the running configuration.
        pub hash: String,
        /// Of FILE as last read or written.
        pub saved_hash: String,
        /// Whether a save would change FILE.
        pub unsaved: bool,
        /// FILE.
        pub path: Option<String>,
        /// The folder of FILE, from the root: files that a configuration names are looked for from there.
        pub folder: Option<String>,
        pub loaded_at: String,
        pub warnings: Vec<String>,
        /// Paths of keys that the command line sets (`--set`): they win while this process runs, whatever the text says,
        /// and a save leaves them out.
        pub set: Vec<String>,
    }

    /// Something that a person set.
    pub struct OverrideDto {
        /// `service`, `server`, `service_group`, `vserver`, `check`, `scenario` or `switch`.
        pub kind: String,
        /// Name of the object.
        pub object: String,
        /// What of it: `admin`, `force`, `value`, `activate`, `deactivate`, `held_down`.
        pub slot: String,
        /// `DISABLED`, `up`, `down`, `true`, `false`, `auto`, `on`, `off`, `held_down`.
        pub value: String,
        pub actor: String,
        pub since: String,
        pub reason: Option<String>,
        pub expires: Option<String>,
        /// When a disable's drain ends at the latest.
        pub deadline: Option<String>,
        /// A force that says other than the probe does.
        pub probe_disagrees: bool,
    }

    /// A service on its way out.
    pub struct DrainingDto {
        pub service: String,
        /// `TROFS` or `TROFS_DOWN`.
        pub state: String,
        /// Requests in flight or open connections.
        pub active: u32,
        pub drain: DrainDto,
    }

    /// Something that is wrong, or that a person should look at.
    pub struct ProblemDto {
        /// `error`, `warning` or `info`.
        pub severity: String,
        /// `service`, `vserver`, `scenario`, `check`, `monitor`, `datacenter`, `trigger`, `certificate`, `datacenter_pair`,
        /// `rrset`, … `name` (of a server) or `appliance`.
        pub kind: String,
        /// Name of the object.
        pub object: String,
        pub since: Option<String>,
        pub text: String,
        /// Where to read more.
        pub href: String,
        /// A force hides it from traffic.
        pub hidden_by_force: bool,
    }

    /// An entry of the journal.
    pub struct JournalEntryDto {
        /// 1-based, without gaps.
        pub number: u64,
        pub at: String,
        /// `transition`, `act`, `ended`, `state`, `board`, `attempt`, `warning`, `alert`, `drill`, `members`, `config`, `start`, `stop`, `anchor`.
        pub kind: String,
        /// `scenario a-is-out`, `service web1`; empty where none.
        pub object: String,
        pub actor: String,
        /// It in a sentence; null where it says nothing to a reader.
        pub text: Option<String>,
        /// More on it, such as the reason.
        pub details: Vec<String>,
        /// The whole entry.
        pub body: serde_json::Value,
        /// SHA-256 over this entry and the hash of the one before.
        pub hash: String,
    }
}

// === impl StatusDto ===

impl StatusDto {
    pub fn of(world: &World<'_>) -> StatusDto {
        let problems = ProblemDto::all(world);
        StatusDto {
            verdict: VerdictDto::of(world, &problems),
            name: text(&world.model.appliance.name),
            site: world.model.appliance.site.as_deref().map(text),
            version: env!("CARGO_PKG_VERSION").into(),
            started_at: world.status.started_at.to_string(),
            now: world.now.wall.to_string(),
            ready: world.status.ready,
            stopping: world.status.draining,
            generation: world.snapshot.generation,
            config: ConfigDto::of(world),
            overrides: world.view.overrides.iter().map(|(key, set)| OverrideDto::of(world, key, set)).collect(),
            drill: world.view.live_drill().map(|drill| DrillDto::of(world, drill)),
            draining: ids(world.view.services.len(), ServiceId::from_index)
                .filter_map(|id| DrainingDto::of(world, id))
                .collect(),
            problems,
            alerts: world.alerts.raised.values().map(|alert| AlertDto::of(alert, world.deliveries)).collect(),
            peers: PeerLineDto::all(world),
            lab: false,
            faults: Vec::new(),
            peer_listen: peer_listen(world),
            clock: ClockDto { now: world.now.wall.to_string(), synced: world.status.clock_synced, offset: None },
            management: None,
            machine: None,
            first_boot: None,
            not_durable: world.status.not_durable.clone(),
            late_samples_total: world.status.late_samples_total,
            journal_entries: world.status.journal_entries,
        }
    }
}

fn ids<Id>(count: usize, id: fn(usize) -> Id) -> impl Iterator<Item = Id> {
    (0..count).map(id)
}

// === impl ConfigDto ===

impl ConfigDto {
    pub fn of(world: &World<'_>) -> ConfigDto {
        ConfigDto {
            hash: world.config.hash.clone(),
            saved_hash: world.config.saved_hash.clone(),
            unsaved: world.config.unsaved,
            path: world.config.path.as_ref().map(|p| p.display().to_string()),
            folder: world.config.path.as_deref().and_then(folder_of),
            loaded_at: world.config.loaded_at.to_string(),
            warnings: world.config.warnings.clone(),
            set: world.config.set.clone(),
        }
    }
}

fn folder_of(file: &std::path::Path) -> Option<String> {
    Some(std::path::absolute(file).ok()?.parent()?.display().to_string())
}

// === impl OverrideDto ===

impl OverrideDto {
    fn of(world: &World<'_>, key: &OverrideKey, set: &Override) -> OverrideDto {
        let note = NoteDto::of(set);
        let (value, deadline, forced_up) = match &set.value {
            OverrideValue::Disabled { deadline, .. } => (text("DISABLED"), *deadline, None),
            OverrideValue::Forced { up } => (text(if *up { "up" } else { "down" }), None, Some(*up)),
            OverrideValue::Switch { value } => (value.to_string(), None, None),
            OverrideValue::Mode { mode, .. } => (text(mode.word()), None, None),
            OverrideValue::HeldDown => (text("held_down"), None, None),
            OverrideValue::Split { shares } => (shares_text(shares.iter().map(|(g, s)| (g, *s))), None, None),
        };
        OverrideDto {
            kind: key.object.kind.word().into(),
            object: text(&key.object.name),
            slot: key.slot.word().into(),
            value,
            actor: note.actor,
            since: note.since,
            reason: note.reason,
            expires: note.expires,
            deadline: deadline.map(|at| at.to_string()),
            probe_disagrees: forced_up.is_some_and(|up| probe_disagrees(world, key, up)),
        }
    }
}

fn probe_disagrees(world: &World<'_>, key: &OverrideKey, up: bool) -> bool {
    let name = &key.object.name;
    match key.object.kind {
        Kind::Check => world.model.check_id(name).is_some_and(|id| {
            let real = world.view.checks[id.index()].real;
            (real.is_true() && !up) || (real.is_false() && up)
        }),
        Kind::Service => world.model.service_id(name).is_some_and(|id| {
            let real = world.view.services[id.index()].real;
            (real == ServiceState::Up && !up) || (real == ServiceState::Down && up)
        }),
        _ => false,
    }
}

// === impl DrainingDto ===

impl DrainingDto {
    fn of(world: &World<'_>, id: ServiceId) -> Option<DrainingDto> {
        let view = &world.view.services[id.index()];
        if !view.state.is_draining() {
            return None;
        }
        let live = world.snapshot.services.get(id.index());
        Some(DrainingDto {
            service: text(&world.model.service(id).name),
            state: text(view.state.word()),
            active: live.map_or(view.active, |e| e.live.active.load(std::sync::atomic::Ordering::Relaxed)),
            drain: DrainDto::of(world, id)?,
        })
    }
}

// === impl JournalEntryDto ===

impl JournalEntryDto {
    pub fn of(entry: JournalEntry) -> JournalEntryDto {
        let (said, details) = in_words(&entry).unzip();
        JournalEntryDto {
            text: said,
            details: details.unwrap_or_default(),
            number: entry.number,
            at: entry.at.to_string(),
            kind: text(&entry.kind),
            object: text(&entry.object),
            actor: text(&entry.actor),
            body: entry.body,
            hash: text(&entry.hash),
        }
    }
}
