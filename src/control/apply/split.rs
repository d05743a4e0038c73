//! Moving the shares of a vserver's groups.

use super::{Against, Prepared, unknown};
use crate::control::command::Refusal;
use crate::model::Model;
use crate::model::balancing::{Shares, shares_text};
use crate::model::event::{Act, AdminIntent};
use crate::model::id::{Kind, Name, VserverId};
use crate::model::state::{Slot, StateView};

/// Only what has a split can move it: where the configuration has none, new clients go by the weights of all members,
/// and whether that should end is its to say.
pub(super) fn set_split(
    world: Against<'_>,
    name: &Name,
    shares: Option<&Shares>,
    act: Act,
) -> Result<Prepared, Refusal> {
    let model = world.model;
    let id = model.vserver_id(name).ok_or_else(|| unknown(Kind::Vserver, name))?;
    if model.vserver(id).balancing.split.is_empty() {
        let text = format!("vserver {name} has no `split` that could be moved: give it one in the configuration");
        return Err(Refusal::Invalid(text));
    }
    let split = shares.map(|shares| model.split_of(id, shares)).transpose().map_err(Refusal::Invalid)?;
    let warnings = split.iter().flat_map(|split| without_a_member(world, id, split)).collect();
    let shares = split.map(|split| model.shares(id, &split));
    let intent = AdminIntent::SetSplit { vserver: id, shares };
    Ok(Prepared { act, intent, services: Vec::new(), warnings })
}

/// A configuration that has other shares than before, where a person's are in force.
pub fn outlived(view: &StateView, before: &Model, after: &Model) -> Vec<String> {
    let moved = view.overrides.iter().filter(|(key, _)| key.slot == Slot::Split).filter_map(|(key, set)| {
        let (was, is) = (before.vserver_id(&key.object.name)?, after.vserver_id(&key.object.name)?);
        let (was, is) = (&before.vserver(was).balancing.split, &after.vserver(is).balancing.split);
        (was != is && !is.is_empty()).then_some((&key.object.name, &set.act.actor))
    });
    let line = |(name, actor): (&Name, &Name)| {
        format!(
            "vserver {name}: the split that {actor} has set stays in force; set it to none to follow the configuration"
        )
    };
    moved.map(line).collect()
}

/// Groups that are to get new clients and have nobody to take them: their share goes to the others.
fn without_a_member(world: Against<'_>, id: VserverId, split: &[u8]) -> Vec<String> {
    use crate::model::state::ServiceState::Up;
    let vserver = world.model.vserver(id);
    let serves = |at: usize| {
        let mut of = vserver.members.iter().filter(|m| m.group.is_some_and(|g| usize::from(g) == at));
        of.any(|m| world.view.services[m.service.index()].state == Up)
    };
    let idle = split.iter().enumerate().filter(|&(at, &share)| share > 0 && !serves(at));
    let group = |at: usize| &world.model.groups[vserver.groups[at].index()].name;
    idle.map(|(at, _)| format!("group {} has no member UP: its share goes to the others", group(at))).collect()
}

/// What an act would change, a line each.
pub(super) fn foreseen(world: Against<'_>, intent: &AdminIntent) -> Vec<String> {
    let AdminIntent::SetSplit { vserver, shares } = intent else { return Vec::new() };
    let model = world.model;
    let configured = &model.vserver(*vserver).balancing.split;
    let before = world.view.vservers[vserver.index()].split.as_deref().unwrap_or(configured);
    let words = |shares: &Shares| shares_text(shares.iter().map(|(group, share)| (group, *share)));
    let before = words(&model.shares(*vserver, before));
    let after = shares.as_ref().map_or_else(|| words(&model.shares(*vserver, configured)), words);
    match before == after {
        true => Vec::new(),
        false => vec![format!("vserver {}: split {before} → {after}", model.vserver(*vserver).name)],
    }
}
