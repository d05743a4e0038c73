//! `clearstats`: counters begin again, for those who ask for them as `stat` shows them.

use super::super::answer::Fault;
use super::super::target::{Asked, Named, printable};
use super::{Seen, WHOLE, key_of, pick, whole_of};
use crate::admin::machine::Machine;
use crate::model::id::{GroupId, ServiceId, VserverId};
use crate::model::vserver::{Role, Vserver};

/// What is to be cleared: `basic` and `full` mean the same here, for there are no counters that one of them would keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Clearing;

/// Vservers, services and groups.
const OBJECTS: [&str; 5] = ["lbvserver", "csvserver", "sslvserver", "service", "servicegroup"];

// === impl Clearing ===

impl Clearing {
    /// `None`: it is not asked for. Errors: what is no level, and a resource that has nothing to clear.
    pub fn of(resource: &str, asked: &Asked) -> Result<Option<Clearing>, Fault> {
        let Some(level) = asked.arg("clearstats") else { return Ok(None) };
        if !["basic", "full"].iter().any(|known| known.eq_ignore_ascii_case(level)) {
            return Err(Fault::new(1097, format!("clearstats, {}", printable(level))));
        }
        let resource = resource.to_ascii_lowercase();
        if !OBJECTS.contains(&&resource[..]) && !WHOLE.contains(&&resource[..]) {
            return Err(Fault::new(257, format!("clearstats: counters of {} are not cleared", printable(&resource))));
        }
        Ok(Some(Clearing))
    }

    /// Clears the counters of what a resource lists, or of the one that is named.
    pub fn carry_out(self, seen: &Seen<'_>, machine: &Machine, resource: &str, name: Option<&Named>) {
        let model = seen.model;
        let resource = &resource.to_ascii_lowercase()[..];
        let is_named = |known: &str| name.is_none_or(|name| name.find(|name| name == known) == known);
        let vservers = |of: &dyn Fn(&Vserver) -> bool| {
            let all = model.vservers.iter().enumerate();
            for (at, _) in all.filter(|(_, vserver)| of(vserver) && is_named(&vserver.name)) {
                seen.cleared.clear_vserver(seen, VserverId::from_index(at));
            }
        };
        match resource {
            "lbvserver" => vservers(&|vserver| matches!(vserver.role, Role::Lb)),
            "csvserver" => vservers(&|vserver| matches!(vserver.role, Role::Cs { .. })),
            "sslvserver" => vservers(&|vserver| vserver.protocol.is_tls()),
            "service" => {
                let all = model.services.iter().enumerate();
                for (at, _) in all.filter(|(_, service)| service.group.is_none() && is_named(&service.name)) {
                    seen.cleared.clear_service(seen, ServiceId::from_index(at));
                }
            }
            "servicegroup" => {
                for at in (0..model.groups.len()).filter(|at| is_named(&model.groups[*at].name)) {
                    members(seen, GroupId::from_index(at));
                }
            }
            whole => {
                let objects = whole_of(seen, machine, whole);
                let chosen = if whole == "interface" {
                    pick("id", objects, name).map(|found| found.objects)
                } else {
                    Ok(objects)
                };
                for object in chosen.unwrap_or_default() {
                    seen.cleared.clear_whole(whole, &key_of(&object), object);
                }
            }
        }
    }
}

fn members(seen: &Seen<'_>, group: GroupId) {
    for member in &seen.model.groups[group.index()].members {
        seen.cleared.clear_service(seen, member.service);
    }
}

/// `clear ns stats`. `objects`: those of vservers, services and members too, beside those of the whole appliance.
pub(in super::super) fn all(seen: &Seen<'_>, machine: &Machine, objects: bool) {
    for resource in WHOLE {
        Clearing.carry_out(seen, machine, resource, None);
    }
    for resource in OBJECTS.iter().filter(|_| objects) {
        Clearing.carry_out(seen, machine, resource, None);
    }
}
