//! Data centres, as seen from here.

use super::{HoldDto, override_of, text, up_down};
use crate::control::World;
use crate::model::condition::{Signal, Truth};
use crate::model::id::{DatacenterId, Kind};
use crate::model::scenario::AccessList;
use crate::model::state::Slot;

dto! {
    /// A site, seen from this box.
    pub struct DatacenterDto {
        pub name: String,
        /// Whether this box stands in it.
        pub here: bool,
        pub signals: SignalsDto,
    }

    /// The generated checks of a data centre.
    pub struct SignalsDto {
        /// Its addresses as reached over the Internet.
        pub wan: SignalDto,
        /// Its addresses as reached over private links.
        pub lan: SignalDto,
        /// `wan` or `lan`.
        pub access: SignalDto,
        /// Neutral anchors on the Internet, as reached from here.
        pub internet: SignalDto,
        /// The switch `NAME.maintenance`.
        pub maintenance: SignalDto,
    }

    /// One signal.
    pub struct SignalDto {
        /// `true`, `false` or `unknown`.
        pub value: String,
        /// When the newest of its targets changed, or the switch was set; null where nothing has.
        pub since: Option<String>,
        /// The hold that a scenario has on it: of those that count that which ends last, else the longest; null: none has
        /// one. Conditions on what another site says of it have their own, in `groups` of their scenarios.
        pub hold: Option<HoldDto>,
        /// The data centre of this box, which sees it so.
        pub observer: Option<String>,
        /// When the newest sample of its targets was taken.
        pub heard_at: Option<String>,
        /// Targets that must be up; null where the signal is not made of targets.
        pub quorum: Option<u32>,
        /// Targets that are up.
        pub up: u32,
        pub targets: Vec<SignalTargetDto>,
    }

    /// A target of an access list.
    pub struct SignalTargetDto {
        /// As configured: `tcp:192.0.2.1:443`.
        pub target: String,
        /// The check made of it, as in `/checks`.
        pub check: String,
        /// `up`, `down` or `unknown`.
        pub state: String,
    }
}

// === impl DatacenterDto ===

impl DatacenterDto {
    pub fn of(world: &World<'_>, id: DatacenterId) -> DatacenterDto {
        let datacenter = &world.model.datacenters[id.index()];
        let mut holds = HoldDto::of_signals(world, id);
        let mut signal = |signal: Signal, list: Option<&AccessList>| {
            let at = signal as usize;
            let set =
                (signal == Signal::Maintenance).then(|| &world.model.switches[datacenter.maintenance.index()].name);
            let shown = SignalDto::of(world, world.view.signals[id.index()][at], list, set.map(|name| &**name));
            SignalDto { hold: holds[at].take(), ..shown }
        };
        DatacenterDto {
            name: text(&datacenter.name),
            here: world.model.appliance.site.as_deref() == Some(&*datacenter.name),
            signals: SignalsDto {
                wan: signal(Signal::Wan, datacenter.wan.as_ref()),
                lan: signal(Signal::Lan, datacenter.lan.as_ref()),
                access: signal(Signal::Access, None),
                internet: signal(Signal::Internet, datacenter.internet.as_ref()),
                maintenance: signal(Signal::Maintenance, None),
            },
        }
    }
}

// === impl SignalDto ===

impl SignalDto {
    fn of(world: &World<'_>, value: Truth, list: Option<&AccessList>, switch: Option<&str>) -> SignalDto {
        let state = |check: crate::model::id::CheckId| world.view.checks[check.index()].state;
        let targets = list.map_or(&[][..], |l| &l.targets[..]);
        let views = || targets.iter().map(|t| &world.view.checks[t.check.index()]);
        let changed = views().map(|check| check.since.wall).max();
        let heard = views().filter_map(|check| check.last.as_ref()).map(|last| last.at.wall).max();
        let set = switch.and_then(|name| override_of(world, Kind::Switch, name, Slot::Value)).map(|set| set.since);
        SignalDto {
            value: text(value.word()),
            since: changed.or(set).map(|at| at.to_string()),
            hold: None,
            observer: world.model.appliance.site.as_deref().map(text),
            heard_at: heard.map(|at| at.to_string()),
            quorum: list.map(|l| l.quorum),
            up: targets.iter().filter(|t| state(t.check).is_true()).count() as u32,
            targets: targets
                .iter()
                .map(|t| SignalTargetDto {
                    target: text(&t.text),
                    check: text(&world.model.check(t.check).name),
                    state: up_down(state(t.check)),
                })
                .collect(),
        }
    }
}
