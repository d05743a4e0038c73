//! Pairs of data centres: what is seen, what that means, and who serves.

use super::text;
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::condition::{Signal, Truth};
use crate::model::id::DatacenterId;
use crate::model::scenario::{Pair, PairPlace};

dto! {
    /// Two data centres between which traffic moves.
    pub struct PairDto {
        pub name: String,
        pub active: String,
        pub backup: String,
        pub witness: Option<String>,
        /// The situation, as the table in the manual calls it; `other` where no row says it.
        pub row: String,
        /// The data centre that the table says should serve once all holds are over, given where traffic is now; null
        /// where no row says it.
        pub expected: Option<String>,
        /// The data centre whose records answer.
        pub serving: String,
        /// It answers although it should not, because nothing else is left.
        pub fail_open: bool,
        /// This box cannot reach the active site, which says that it is well: nothing moves.
        pub disputed: bool,
        pub disputed_since: Option<String>,
        /// How long the way back has to be clear.
        pub return_hold: String,
        /// How long a loss has to last; null: by the slowest check that is looked at.
        pub loss_hold: Option<String>,
        /// What decides.
        pub signals: Vec<PairSignalDto>,
        /// In the order from-active, to-backup, to-active, from-backup.
        pub scenarios: Vec<PairScenarioDto>,
    }

    /// A signal of a pair.
    pub struct PairSignalDto {
        /// As in the manual: `A.wan`, `B.internet`, `A.wan@W`.
        pub name: String,
        /// As in conditions: `dc:dc-a.wan`.
        pub id: String,
        /// `true`, `false` or `unknown`.
        pub value: String,
    }

    /// What stands at one of the four places of a pair.
    pub struct PairScenarioDto {
        /// `from-active`, `to-backup`, `to-active` or `from-backup`.
        pub place: String,
        /// Name of the scenario.
        pub scenario: String,
        /// One of the operator's own.
        pub own: bool,
        pub active: bool,
    }
}

/// What a pair reads, with the eyes it reads with.
struct Seen {
    shown: Vec<PairSignalDto>,
    b_internet: Truth,
    a_access: Truth,
    a_lan: Truth,
    a_internet: Truth,
    at_witness: Option<Truth>,
    a_maintenance: bool,
    b_maintenance: bool,
    /// A's own word can be heard.
    linked: bool,
}

// === impl PairDto ===

impl PairDto {
    pub fn of(world: &World<'_>, at: usize) -> PairDto {
        let pair = &world.model.pairs[at];
        let view = world.view.pairs[at];
        let name = |id: DatacenterId| text(&world.model.datacenters[id.index()].name);
        let seen = Seen::of(world, pair);
        let active = |place: PairPlace| {
            let found = pair.scenarios.iter().find(|s| s.place == place);
            found.is_some_and(|s| world.view.scenarios[s.scenario.index()].active)
        };
        let on_backup = active(PairPlace::ToBackup);
        let (row, expected) = seen.row(on_backup);
        PairDto {
            name: text(&pair.name),
            active: name(pair.active),
            backup: name(pair.backup),
            witness: pair.witness.as_deref().map(text),
            row: row.into(),
            expected: expected.map(|backup| name(if backup { pair.backup } else { pair.active })),
            serving: name(if on_backup { pair.backup } else { pair.active }),
            fail_open: active(if on_backup { PairPlace::FromBackup } else { PairPlace::FromActive }),
            disputed: view.disputed,
            disputed_since: view.disputed.then(|| view.since.wall.to_string()),
            return_hold: format_duration(pair.return_hold),
            loss_hold: pair.loss_hold.map(format_duration),
            signals: seen.shown,
            scenarios: pair
                .scenarios
                .iter()
                .map(|s| PairScenarioDto {
                    place: s.place.word().into(),
                    scenario: text(&world.model.scenario(s.scenario).name),
                    own: s.own,
                    active: world.view.scenarios[s.scenario.index()].active,
                })
                .collect(),
        }
    }
}

// === impl Seen ===

impl Seen {
    fn of(world: &World<'_>, pair: &Pair) -> Seen {
        let model = world.model;
        let here = model.appliance.site.as_deref();
        let asked = |site: &str| model.peers.iter().any(|peer| *peer.site == *site && peer.url.is_some());
        // With the eyes of a box there, where one is heard; else with our own.
        let eyes = |site: &str| (here != Some(site) && asked(site)).then(|| site.to_owned());
        let name = |id: DatacenterId| &*model.datacenters[id.index()].name;
        let (a, b) = (name(pair.active), name(pair.backup));
        let with_b = eyes(b);
        let linked = here == Some(a) || eyes(a).is_some();
        let mut shown = Vec::new();
        let mut look = |label: &str, of: DatacenterId, signal: Signal, eyes: Option<&str>| {
            let value = match eyes {
                None => world.view.signals[of.index()][signal as usize],
                Some(site) => told(world, site, name(of), signal),
            };
            let observer = eyes.map(|site| format!("@{site}")).unwrap_or_default();
            let id = format!("dc:{}.{}{observer}", name(of), signal.word());
            shown.push(PairSignalDto { name: label.into(), id, value: value.word().into() });
            value
        };
        let b_internet = look("B.internet", pair.backup, Signal::Internet, with_b.as_deref());
        let access = if pair.access == Signal::Lan { "A.lan" } else { "A.wan" };
        let a_access = look(access, pair.active, pair.access, with_b.as_deref());
        let a_lan = match pair.access {
            Signal::Lan => a_access,
            _ => look("A.lan", pair.active, Signal::Lan, with_b.as_deref()),
        };
        let at_witness = pair.witness.as_deref().map(|site| {
            let eyes = (here != Some(site)).then_some(site);
            look(&format!("{access}@W"), pair.active, pair.access, eyes)
        });
        let a_internet = if linked {
            let with_a = eyes(a);
            let word = look("A.internet", pair.active, Signal::Internet, with_a.as_deref());
            look("B.wan@A", pair.backup, Signal::Wan, with_a.as_deref());
            look("B.lan@A", pair.backup, Signal::Lan, with_a.as_deref());
            word
        } else {
            at_witness.unwrap_or(a_access)
        };
        let maintenance = |truth: Truth| truth.is_true();
        let a_maintenance = maintenance(look("A.maintenance", pair.active, Signal::Maintenance, None));
        let b_maintenance = maintenance(look("B.maintenance", pair.backup, Signal::Maintenance, None));
        Seen { shown, b_internet, a_access, a_lan, a_internet, at_witness, a_maintenance, b_maintenance, linked }
    }

    /// The row of the table, and whether it puts traffic on the backup.
    fn row(&self, on_backup: bool) -> (&'static str, Option<bool>) {
        use Truth::{False as F, True as T};
        let stays = Some(on_backup);
        let seen = (self.b_internet, self.a_access, self.a_lan);
        if self.a_maintenance {
            return ("A in maintenance", Some(!self.b_maintenance));
        }
        if self.b_maintenance {
            return match seen {
                (T, F, F) if !self.a_internet.is_true() => ("A dark while B in maintenance", stays),
                _ => ("B in maintenance", Some(false)),
            };
        }
        match seen {
            (T, T, T) => ("all good", Some(false)),
            (T, T, F) => ("replication link down", stays),
            (T, F, T) if self.linked && self.a_internet.is_true() => ("disputed", stays),
            (T, F, T) if self.a_internet.is_false() => ("A lost its WAN", Some(true)),
            (T, F, F) if self.linked && self.a_internet.is_true() => ("disputed", stays),
            (T, F, F) => match self.at_witness {
                Some(T) => ("A dark, witness sees A", stays),
                Some(F) => ("A dark, witness blind too", Some(true)),
                Some(Truth::Unknown) => ("A dark, witness not heard", stays),
                None => ("A dark to B", Some(true)),
            },
            (F, T, T) => ("B lost the Internet, sees A", Some(false)),
            (F, T, F) => ("B lost Internet and LAN, WAN path fine", Some(false)),
            (F, F, T) if self.a_internet.is_true() => ("B lost Internet and WAN path, LAN fine", Some(false)),
            (F, F, T) => ("B lost Internet and WAN path, LAN fine", stays),
            (F, F, F) => ("B isolated", stays),
            _ => ("other", None),
        }
    }
}

/// A signal as the boxes of another site tell it; unknown where they are not heard, or disagree.
pub(super) fn told(world: &World<'_>, site: &str, datacenter: &str, signal: Signal) -> Truth {
    let peers = world.model.peers.iter().filter(|peer| *peer.site == *site);
    let reports = peers.filter_map(|peer| world.peers.peers.get(&peer.name)?.current());
    let said = reports.filter_map(|report| report.datacenters.iter().find(|(name, _)| **name == *datacenter));
    let mut known = said.map(|(_, signals)| signals[signal as usize]).filter(|value| *value != Truth::Unknown);
    match known.next() {
        Some(first) if known.all(|other| other == first) => first,
        _ => Truth::Unknown,
    }
}
