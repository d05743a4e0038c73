//! Services and vservers under a new model.

use super::Former;
use crate::machine::Effect;
use crate::machine::engine::Engine;
use crate::machine::service::{Level, ServiceMachine};
use crate::model::Model;
use crate::model::check::Host;
use crate::model::event::Record;
use crate::model::id::{Kind, Name, ObjectRef, ServiceId, VserverId};
use crate::model::service::Service;
use crate::model::state::{Override, OverrideKey, OverrideValue, Slot};
use crate::model::vserver::Role;

// === impl Engine ===

impl Engine {
    pub(super) fn adopt_services(&mut self, model: &Model, former: &Former) {
        for (i, service) in model.services.iter().enumerate() {
            let id = ServiceId::from_index(i);
            let kept = former.services.get(&service.name);
            let mut machine = kept.map(|(machine, _)| machine.clone()).unwrap_or_default();
            self.apply_levels(model, former, service, &mut machine, kept.is_some());
            machine.force(self.forced(Kind::Service, &service.name));
            if matches!(service.host, Host::Ip(_)) || kept.is_none() {
                machine.set_resolved(matches!(service.host, Host::Ip(_)));
            }
            self.services[i].machine = machine;
            if let Some((_, view)) = kept {
                self.view.services[i] = view.clone();
            } else {
                // Its first state is no change that anybody should be told of.
                self.refresh_service(model, id);
                self.view.services[i].since = self.now;
            }
            self.refresh_service_rows(id);
            self.dirty.services.insert(id);
        }
    }

    /// The administrative state at each level, from the overrides: a service that is new, or that moved to another
    /// server, takes over what was done there.
    fn apply_levels(
        &self,
        model: &Model,
        former: &Former,
        service: &Service,
        machine: &mut ServiceMachine,
        kept: bool,
    ) {
        let before = former.model.as_ref().and_then(|m| {
            m.service_id(&service.name).map(|id| {
                let before = m.service(id);
                before.server.map(|id| Name::clone(&m.servers[id.index()].name))
            })
        });
        let server = service.server.map(|id| Name::clone(&model.servers[id.index()].name));
        let group = service.group.map(|id| Name::clone(&model.groups[id.index()].name));
        let same_server = before == Some(server.clone());
        let levels = [
            (Level::Service, Kind::Service, Some(Name::clone(&service.name)), kept),
            (Level::Group, Kind::ServiceGroup, group, kept),
            (Level::Server, Kind::Server, server, kept && same_server),
        ];
        for (level, kind, name, unchanged) in levels {
            if unchanged {
                continue;
            }
            let disabled = name.and_then(|name| {
                self.view.overrides.get(&OverrideKey { object: ObjectRef::new(kind, name), slot: Slot::Admin })
            });
            match disabled {
                Some(Override { value: OverrideValue::Disabled { deadline, graceful }, since, .. }) => {
                    machine.disable(level, *since, *deadline, *graceful);
                }
                _ => machine.enable(level),
            }
        }
        machine.advance(self.now.wall);
    }

    pub(super) fn adopt_vservers(&mut self, model: &Model, former: &Former, effects: &mut Vec<Effect>) {
        for (i, vserver) in model.vservers.iter().enumerate() {
            let object = ObjectRef::new(Kind::Vserver, Name::clone(&vserver.name));
            let has = |slot| self.view.overrides.contains_key(&OverrideKey { object: object.clone(), slot });
            let (disabled, held_down) = (has(Slot::Admin), has(Slot::HeldDown));
            self.vservers[i].disabled = disabled;
            self.vservers[i].held_down = held_down && vserver.disable_primary_on_down;
            if held_down && !vserver.disable_primary_on_down {
                self.put_override(OverrideKey { object, slot: Slot::HeldDown }, None, effects);
            }
        }
        // First states before anybody is told of changes; then what was there before shows its former state, so that
        // `settle` reports the difference.
        // Content switching comes last: it looks at the effective states of the others.
        for switching in [false, true] {
            let ids = (0..model.vservers.len()).map(VserverId::from_index);
            let ids: Vec<_> = ids.filter(|&id| (model.vserver(id).role != Role::Lb) == switching).collect();
            for &id in &ids {
                self.refresh_own_state(model, id);
                self.view.vservers[id.index()].since = self.now;
            }
            for &id in &ids {
                self.refresh_chain(model, id);
            }
        }
        for (i, vserver) in model.vservers.iter().enumerate() {
            if let Some((view, was_up)) = former.vservers.get(&vserver.name) {
                self.vservers[i].was_up = *was_up;
                self.view.vservers[i] = view.clone();
                // Ids of backups belong to the former model.
                self.view.vservers[i].new_clients = Default::default();
            }
            self.dirty.vservers.insert(VserverId::from_index(i));
            self.adopt_split(model, VserverId::from_index(i), effects);
        }
    }

    /// A split that a person has set stays, whatever the configuration says; not where its groups are others now.
    fn adopt_split(&mut self, model: &Model, id: VserverId, effects: &mut Vec<Effect>) {
        if self.refresh_split(model, id) {
            return;
        }
        let object = ObjectRef::new(Kind::Vserver, Name::clone(&model.vserver(id).name));
        self.put_override(OverrideKey { object: object.clone(), slot: Slot::Split }, None, effects);
        let (what, why) = (Slot::Split.word().into(), "the groups of the split are others now".into());
        effects.push(Effect::Record(Record::Ended { object, what, why }));
    }
}
