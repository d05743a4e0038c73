//! How the transfers of a zone stand.

use std::sync::atomic::Ordering::Relaxed;

use super::ProblemDto;
use super::status::problems::problem;
use crate::control::World;
use crate::snapshot::zones::Missing;

dto! {
    /// Where a zone comes from, and how its transfers go.
    pub struct ZoneTransferDto {
        /// `current`; `absent` (never transferred, SERVFAIL); `expired` (no primary has confirmed it in time, SERVFAIL).
        pub state: String,
        /// Addresses, in the order in which they are asked.
        pub primaries: Vec<String>,
        /// Who sent what there is.
        pub primary: Option<String>,
        /// Of what there is, as the primary says it.
        pub serial: Option<u32>,
        pub transferred_at: Option<String>,
        /// When a primary last said that what there is, is what it has.
        pub confirmed_at: Option<String>,
        /// When a primary is asked next.
        pub next_at: Option<String>,
        pub expires_at: Option<String>,
        /// Why no primary could be asked the last time; null where one could.
        pub last_error: Option<String>,
        /// Transfers that brought something new, since the start.
        pub transfers_total: u64,
        /// Of those, the ones by differences (IXFR).
        pub incremental_total: u64,
        pub failures_total: u64,
        /// NOTIFY messages that were taken.
        pub notifies_total: u64,
        /// NOTIFY messages from others, or with a wrong signature.
        pub notifies_refused_total: u64,
    }
}

// === impl ZoneTransferDto ===

impl ZoneTransferDto {
    /// Of the zone at this place of the model; `None` where it comes from the configuration.
    pub fn of(world: &World<'_>, at: usize) -> Option<ZoneTransferDto> {
        let transfer = &world.model.zones[at].transfer;
        if !transfer.comes_in() {
            return None;
        }
        let live = &world.snapshot.zone_live.get(at)?.secondary;
        let status = live.status.lock().clone();
        let state = match world.snapshot.zones.zone(at).missing {
            None => "current",
            Some(Missing::NotYet) => "absent",
            Some(Missing::Expired) => "expired",
        };
        let time = |at: Option<crate::model::time::Wall>| at.map(|at| at.to_string());
        Some(ZoneTransferDto {
            state: state.into(),
            primaries: transfer.from.iter().map(|primary| primary.address.to_string()).collect(),
            primary: status.primary.map(|primary| primary.to_string()),
            serial: status.serial,
            transferred_at: time(status.transferred),
            confirmed_at: time(status.confirmed),
            next_at: time(status.next),
            expires_at: time(status.expires),
            last_error: status.error,
            transfers_total: live.transfers_total.load(Relaxed),
            incremental_total: live.incremental_total.load(Relaxed),
            failures_total: live.failures_total.load(Relaxed),
            notifies_total: live.notifies_total.load(Relaxed),
            notifies_refused_total: live.notifies_refused_total.load(Relaxed),
        })
    }
}

/// Zones that cannot be answered from, or not be asked for.
pub(super) fn zone_problems(world: &World<'_>, problems: &mut Vec<ProblemDto>) {
    for (at, zone) in world.model.zones.iter().enumerate() {
        let Some(transfer) = ZoneTransferDto::of(world, at) else { continue };
        let why = transfer.last_error.map_or_else(String::new, |why| format!(": {why}"));
        let (severity, what) = match &*transfer.state {
            "absent" => ("error", format!("not transferred yet, so it is answered with SERVFAIL{why}")),
            "expired" => ("error", format!("expired, so it is answered with SERVFAIL{why}")),
            _ if !why.is_empty() => ("warning", format!("no primary could be asked{why}")),
            _ => continue,
        };
        problems.push(problem(severity, "zone", &zone.name, transfer.confirmed_at, what, "zones"));
    }
}
