//! Other boxes, as far as they are heard.

use std::time::Duration;

use super::text;
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::condition::Signal;
use crate::model::peer::{Peer, PeerView, Report};
use crate::model::scenario::Direction;

/// Differences of scenarios that are shown of one peer.
const DIFFERENCES_MOST: usize = 200;

dto! {
    /// Another box.
    pub struct PeerDto {
        /// Its `appliance.name`, which its certificate names.
        pub name: String,
        /// The data centre that it stands in.
        pub site: String,
        /// Where it is asked; null: it is not, it only asks.
        pub url: Option<String>,
        /// `heard`, or `unknown` before its first report and after three intervals of silence.
        pub state: String,
        pub since: String,
        /// When its last report was taken.
        pub heard_at: Option<String>,
        /// Why the last attempt failed; null where it did not.
        pub error: Option<String>,
        pub failing_since: Option<String>,
        /// Attempts that failed, since start.
        pub failures_total: u64,
        /// It answers for no zone.
        pub witness: bool,
        pub version: Option<String>,
        /// Of its whole configuration.
        pub config_hash: Option<String>,
        /// Tables that boxes of a cluster have in common and that are not the same there.
        pub config_differs_in: Vec<String>,
        pub config_differs_since: Option<String>,
        /// They have differed for more than a minute.
        pub config_differs: bool,
        /// Its clock less this box's, in seconds.
        pub clock_offset: Option<f64>,
        /// By more than two seconds.
        pub clock_differs: bool,
        /// From the last question to its answer.
        pub round_trip: Option<String>,
        /// What it sees; empty while it is unknown.
        pub datacenters: Vec<PeerDatacenterDto>,
        /// Scenarios, modes and maintenance switches that stand otherwise there.
        pub differences: Vec<PeerDifferenceDto>,
    }

    /// A data centre as a peer sees it: `true`, `false` or `unknown`.
    pub struct PeerDatacenterDto {
        pub name: String,
        pub wan: String,
        pub lan: String,
        pub access: String,
        pub internet: String,
        pub maintenance: String,
    }

    /// Something that stands otherwise at a peer.
    pub struct PeerDifferenceDto {
        /// `scenario main/to-backup`, `switch dc-a.maintenance`.
        pub object: String,
        /// `state`, `activate`, `deactivate`, `value`.
        pub what: String,
        pub here: String,
        pub there: String,
    }

    /// A peer in short, as the status shows it.
    pub struct PeerLineDto {
        pub name: String,
        pub site: String,
        /// `heard` or `unknown`.
        pub state: String,
        pub heard_at: Option<String>,
        pub config_hash: Option<String>,
        pub config_differs: bool,
        /// Its clock less this box's, in seconds.
        pub clock_offset: Option<f64>,
    }
}

// === impl PeerDto ===

impl PeerDto {
    pub fn of(world: &World<'_>, peer: &Peer) -> PeerDto {
        let unknown = PeerView::default();
        let view = world.peers.peers.get(&peer.name).unwrap_or(&unknown);
        let report = view.report.as_deref();
        let current = view.current().map(|report| &**report);
        PeerDto {
            name: text(&peer.name),
            site: text(&peer.site),
            url: peer.url.as_ref().map(|url| text(&url.text)),
            state: view.state.word().into(),
            since: view.since.wall.to_string(),
            heard_at: view.heard_at.map(|at| at.wall.to_string()),
            error: view.error.as_deref().map(text),
            failing_since: view.failing_since.map(|at| at.to_string()),
            failures_total: view.failures_total,
            witness: report.is_some_and(|report| report.witness),
            version: report.map(|report| text(&report.version)),
            config_hash: report.map(|report| text(&report.config_hash)),
            config_differs_in: view.differs.iter().map(text).collect(),
            config_differs_since: view.differs_since.map(|at| at.wall.to_string()),
            config_differs: view.config_differs,
            clock_offset: offset(view),
            clock_differs: view.clock_is_off,
            round_trip: view.heard_at.map(|_| format_duration(round(view.round_trip))),
            datacenters: current.map(seen).unwrap_or_default(),
            differences: current.map(|report| differences(world, report)).unwrap_or_default(),
        }
    }
}

/// To the millisecond.
fn round(time: Duration) -> Duration {
    Duration::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

fn offset(view: &PeerView) -> Option<f64> {
    // To the millisecond; the way there and back is not known any better.
    view.clock_offset_us.map(|us| (us / 1_000) as f64 / 1_000.0)
}

fn seen(report: &Report) -> Vec<PeerDatacenterDto> {
    let word = |signals: &[crate::model::condition::Truth; 5], signal: Signal| text(signals[signal as usize].word());
    let shown = |(name, signals): &(crate::model::id::Name, [crate::model::condition::Truth; 5])| PeerDatacenterDto {
        name: text(name),
        wan: word(signals, Signal::Wan),
        lan: word(signals, Signal::Lan),
        access: word(signals, Signal::Access),
        internet: word(signals, Signal::Internet),
        maintenance: word(signals, Signal::Maintenance),
    };
    report.datacenters.iter().map(shown).collect()
}

/// What a person set on one box and forgot on the other, and scenarios that the two have decided apart.
fn differences(world: &World<'_>, report: &Report) -> Vec<PeerDifferenceDto> {
    let mut found = Vec::new();
    let mut note = |object: String, what: &str, here: &str, there: &str| {
        if here != there {
            found.push(PeerDifferenceDto { object, what: what.into(), here: here.into(), there: there.into() });
        }
    };
    for there in &report.scenarios {
        let Some(id) = world.model.scenario_id(&there.name) else { continue };
        let here = &world.view.scenarios[id.index()];
        let state = |active| if active { "active" } else { "inactive" };
        note(format!("scenario {}", there.name), "state", state(here.active), state(there.active));
        for direction in Direction::BOTH {
            let at = direction.index();
            let object = format!("scenario {}", there.name);
            note(object, direction.word(), here.modes[at].mode.word(), there.modes[at].word());
        }
    }
    for (name, signals) in &report.datacenters {
        let Some(id) = world.model.datacenter_id(name) else { continue };
        let maintenance = Signal::Maintenance as usize;
        let here = world.view.signals[id.index()][maintenance].word();
        note(format!("switch {name}.maintenance"), "value", here, signals[maintenance].word());
    }
    found.truncate(DIFFERENCES_MOST);
    found
}

// === impl PeerLineDto ===

impl PeerLineDto {
    pub fn all(world: &World<'_>) -> Vec<PeerLineDto> {
        let line = |peer: &Peer| {
            let whole = PeerDto::of(world, peer);
            PeerLineDto {
                name: whole.name,
                site: whole.site,
                state: whole.state,
                heard_at: whole.heard_at,
                config_hash: whole.config_hash,
                config_differs: whole.config_differs,
                clock_offset: whole.clock_offset,
            }
        };
        world.model.peers.iter().map(line).collect()
    }
}

/// Where peers can ask this box.
pub(super) fn peer_listen(world: &World<'_>) -> Option<String> {
    world.peers.listening.as_ref()?.as_ref().ok().map(ToString::to_string)
}
