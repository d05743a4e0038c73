//! What choosing, persistence and limits need of a model, prepared once for each.

use crate::balance::extract::Patterns;
use crate::balance::persistence::cookie;
use crate::model::Model;
use crate::model::balancing::Extract;
use crate::model::id::{Name, ServiceId, VserverId};
use crate::model::limit::ClientKey;
use crate::model::persistence::PersistenceKind;
use crate::model::vserver::Vserver;

#[derive(Debug, Default)]
pub struct Prepared {
    pub patterns: Patterns,
    /// By `VserverId`.
    sticky: Vec<Sticky>,
    /// By `ServiceId`: the vservers whose member it is.
    vservers: Vec<Vec<VserverId>>,
}

/// Persistence of one vserver.
#[derive(Debug)]
pub struct Sticky {
    /// The vserver, or its lb group: what an encrypted cookie is bound to.
    pub scope: Name,
    /// The cookie of COOKIEINSERT; always [`Extract::Cookie`].
    pub cookie: Extract,
}

// === impl Prepared ===

impl Prepared {
    pub fn build(model: &Model) -> Prepared {
        let mut vservers = vec![Vec::new(); model.services.len()];
        for (i, vserver) in model.vservers.iter().enumerate() {
            for member in &vserver.members {
                let of_service = &mut vservers[member.service.index()];
                if of_service.last() != Some(&VserverId::from_index(i)) {
                    of_service.push(VserverId::from_index(i));
                }
            }
        }
        Prepared {
            patterns: Patterns::of(model.vservers.iter().flat_map(extracts)),
            sticky: model.vservers.iter().map(|vserver| Sticky::new(model, vserver)).collect(),
            vservers,
        }
    }

    pub fn sticky(&self, vserver: VserverId) -> &Sticky {
        &self.sticky[vserver.index()]
    }

    /// The vservers whose member this service is.
    pub fn vservers_of(&self, service: ServiceId) -> &[VserverId] {
        self.vservers.get(service.index()).map_or(&[], Vec::as_slice)
    }
}

/// Every extract that a vserver names.
fn extracts(vserver: &Vserver) -> impl Iterator<Item = &Extract> {
    let (request, response) = match vserver.persistence.as_ref().map(|p| &p.kind) {
        Some(PersistenceKind::Rule { request, response }) => (Some(request), response.as_ref()),
        Some(PersistenceKind::UrlPassive { request } | PersistenceKind::CustomServerId { request }) => {
            (Some(request), None)
        }
        Some(_) | None => (None, None),
    };
    let limits = vserver.client_limits.iter().filter_map(|limit| match &limit.key {
        ClientKey::Value(extract) => Some(extract),
        ClientKey::Address { .. } => None,
    });
    request.into_iter().chain(response).chain(&vserver.balancing.token).chain(limits)
}

// === impl Sticky ===

impl Sticky {
    fn new(model: &Model, vserver: &Vserver) -> Sticky {
        let scope = vserver.lb_group.map_or(&vserver.name, |group| &model.lb_groups[group.index()].name);
        let named = match vserver.persistence.as_ref().map(|p| &p.kind) {
            Some(PersistenceKind::CookieInsert { cookie, .. }) => cookie.clone(),
            Some(_) | None => None,
        };
        let name = named.unwrap_or_else(|| cookie::name(scope).into());
        Sticky { scope: Name::clone(scope), cookie: Extract::Cookie(name) }
    }

    pub fn cookie_name(&self) -> &str {
        match &self.cookie {
            Extract::Cookie(name) => name,
            _ => "",
        }
    }
}
