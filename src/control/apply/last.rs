//! Who is left when services leave.

use super::Against;
use crate::model::Model;
use crate::model::id::{Name, ServiceId, VserverId};
use crate::model::limit::SpilloverMethod;
use crate::model::persistence::PersistenceKind;
use crate::model::state::{NewClients, ServiceState, VserverState};

/// Says which vservers lose their last UP member, and what that does to new clients.
pub(super) fn last_members(world: Against<'_>, services: &[ServiceId], delayed: bool, graceful: bool) -> Vec<String> {
    let drains = delayed || (graceful && services.iter().any(|&s| (world.active)(s) > 0));
    let mut warnings = Vec::new();
    for id in emptied(world, services) {
        let vserver = world.model.vserver(id);
        let takes = format!("this takes the last UP member of vserver {}", vserver.name);
        let backup = usable_backup(world, id);
        let told = match &vserver.redirect_url {
            Some(url) => format!("redirected to {url}"),
            None => "refused".to_owned(),
        };
        let spills = vserver.spillover.as_ref().is_some_and(|s| matches!(s.method, SpilloverMethod::Health { .. }));
        warnings.push(match (drains, backup) {
            (true, Some(backup)) if spills => format!("{takes}: new clients go to its backup {backup} by spillover"),
            (true, Some(backup)) => format!(
                "{takes}: new clients will be {told}; the backup {backup} is not used while members drain (spillover \
                 by HEALTH would use it)"
            ),
            (true, None) => format!("{takes}: new clients will be {told}"),
            (false, Some(backup)) => format!("{takes}: the backup {backup} takes over"),
            (false, None) => format!("{takes}: clients will be {told}"),
        });
    }
    warnings
}

/// Vservers whose UP members are all among `services`.
pub(super) fn emptied<'a>(world: Against<'a>, services: &'a [ServiceId]) -> impl Iterator<Item = VserverId> + 'a {
    let up = move |id: ServiceId| world.view.services[id.index()].state == ServiceState::Up;
    let is_emptied = move |id: &VserverId| {
        let mut members = world.model.vserver(*id).members.iter().map(|m| m.service).filter(|&s| up(s)).peekable();
        world.view.vservers[id.index()].state != VserverState::OutOfService
            && members.peek().is_some()
            && members.all(|s| services.contains(&s))
    };
    (0..world.model.vservers.len()).map(VserverId::from_index).filter(is_emptied)
}

/// The first vserver of the chain that serves new clients.
fn usable_backup<'a>(world: Against<'a>, vserver: VserverId) -> Option<&'a Name> {
    let serves = |v: &VserverId| world.view.vservers[v.index()].new_clients == NewClients::Own;
    world.model.backup_chain(vserver).find(serves).map(|v| &world.model.vserver(v).name)
}

/// Vservers whose session cookies lead clients to one of these services for as long as it drains.
pub fn endless_cookies<'a>(model: &'a Model, services: &'a [ServiceId]) -> impl Iterator<Item = &'a Name> {
    let endless = model.vservers.iter().filter(|vserver| {
        let session_cookie = vserver
            .persistence
            .as_ref()
            .is_some_and(|p| matches!(p.kind, PersistenceKind::CookieInsert { .. }) && p.timeout.is_zero());
        session_cookie && vserver.trofs_persistence && vserver.members.iter().any(|m| services.contains(&m.service))
    });
    endless.map(|vserver| &vserver.name)
}
