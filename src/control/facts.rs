//! What is so at the moment, of everything that an alert can be about: read from the state, the snapshot and the books of
//! the one writer. `/status` shows some of it too, whether an alert asks for it or not.

mod addresses;
mod gtm;
mod peers;
mod together;

use std::collections::BTreeMap;

use super::World;
use crate::machine::alert::{Fact, Facts};
use crate::model::Model;
use crate::model::alert::{AlertKind, AlertSeverity, AlertSubject};
use crate::model::delivery::{Delivery, DeliveryStatus};
use crate::model::id::{Kind, Name, ObjectRef, ServiceId, VserverId};
use crate::model::scenario::Direction;
use crate::model::state::{NewClients, Override, OverrideKey, OverrideValue, ServiceState, Slot, VserverState};
use crate::model::time::Wall;
use crate::model::tls;
use crate::model::vserver::Role;

/// When certificates end, by name: reading it takes long enough to be done once for each configuration.
pub type CertificateEnds = Vec<(Name, Wall)>;

/// The ends of all certificates that this box shows or asks for: those with a name of their own, which listeners of
/// every kind use, and those of the link to other boxes, as `peer_link.certificate` and `peer.NAME.certificate`.
pub fn certificate_ends(model: &Model) -> CertificateEnds {
    let end = |pem: &tls::Pem| {
        let facts = tls::Facts::of(pem.certificates().ok()?.first()?).ok()?;
        Some(Wall(facts.not_after.saturating_mul(1_000_000)))
    };
    let link = model.peer_link.tls.as_ref().map(|tls| &tls.certificate);
    let of_link = link.map(|pem| (Name::from("peer_link.certificate"), pem));
    let of_peers = model.peers.iter().filter_map(|peer| {
        let pem = peer.tls.as_ref().map(|tls| &tls.certificate).filter(|pem| Some(*pem) != link)?;
        Some((format!("peer.{}.certificate", peer.name).into(), pem))
    });
    let named = model.certificates.iter().map(|certificate| (Name::clone(&certificate.name), &certificate.chain));
    named.chain(of_link).chain(of_peers).filter_map(|(name, pem)| Some((name, end(pem)?))).collect()
}

// === impl World ===

impl World<'_> {
    /// What is so, of the kinds that are `wanted`.
    pub fn facts(&self, wanted: &dyn Fn(AlertKind) -> bool) -> Facts {
        let ends = if wanted(AlertKind::Certificate) { certificate_ends(self.model) } else { Vec::new() };
        self.facts_with(wanted, &ends)
    }

    pub(super) fn facts_with(&self, wanted: &dyn Fn(AlertKind) -> bool, ends: &[(Name, Wall)]) -> Facts {
        let mut facts = Found { facts: Facts::default(), wanted };
        services(self, &mut facts);
        vservers(self, &mut facts);
        addresses::conflicts(self, &mut facts);
        together::correlated(self, &mut facts);
        gtm::scenarios(self, &mut facts);
        gtm::pairs(self, &mut facts);
        gtm::rrsets(self, &mut facts);
        peers::peers(self, &mut facts);
        dead_letters(self, &mut facts);
        certificates(self, ends, &mut facts);
        overrides(self, &mut facts);
        appliance(self, &mut facts);
        shipping(self, &mut facts);
        facts.facts
    }
}

/// Facts in the making.
struct Found<'a> {
    facts: Facts,
    wanted: &'a dyn Fn(AlertKind) -> bool,
}

// === impl Found ===

impl Found<'_> {
    fn wants(&self, kind: AlertKind) -> bool {
        (self.wanted)(kind)
    }

    fn is_so(&mut self, subject: AlertSubject, severity: AlertSeverity, text: String, since: Option<Wall>) {
        self.facts.held.insert(subject, Fact { severity, text: text.into(), since });
    }

    fn unknown(&mut self, subject: AlertSubject) {
        self.facts.unknown.insert(subject);
    }
}

fn services(world: &World<'_>, found: &mut Found<'_>) {
    if !found.wants(AlertKind::ServiceDown) {
        return;
    }
    for (at, (service, view)) in world.model.services.iter().zip(&world.view.services).enumerate() {
        let subject = || AlertSubject::new(AlertKind::ServiceDown, "service", &service.name);
        match view.state {
            ServiceState::Unknown => found.unknown(subject()),
            // Forced by a person, and well without the force: an override, not a failure.
            ServiceState::Down if view.forced == Some(false) && view.real != ServiceState::Down => {}
            ServiceState::Down => {
                let text = format!("down: {}", world.failing_monitor(ServiceId::from_index(at)));
                found.is_so(subject(), AlertSeverity::Warning, text, Some(view.since.wall));
            }
            _ => {}
        }
    }
}

impl World<'_> {
    /// What the first failing monitor of a service got.
    pub fn failing_monitor(&self, id: ServiceId) -> Name {
        let failing = self.model.service(id).monitors.iter().find_map(|binding| {
            let view = &self.view.checks[binding.check.index()];
            let last = view.last.as_ref().filter(|_| view.state.is_false())?;
            Some(Name::clone(&last.detail))
        });
        failing.unwrap_or_else(|| "its monitors say so".into())
    }
}

fn vservers(world: &World<'_>, found: &mut Found<'_>) {
    if !found.wants(AlertKind::VserverDown) && !found.wants(AlertKind::VserverOnBackup) {
        return;
    }
    let unknown = undecided(world);
    for (at, (vserver, view)) in world.model.vservers.iter().zip(&world.view.vservers).enumerate() {
        let down = AlertSubject::new(AlertKind::VserverDown, "vserver", &vserver.name);
        let on_backup = AlertSubject::new(AlertKind::VserverOnBackup, "vserver", &vserver.name);
        // As long as a member of it or of its chain is unknown, it may come up by itself.
        let chain = world.model.backup_chain(VserverId::from_index(at));
        let pending = unknown[at] || chain.into_iter().any(|backup| unknown[backup.index()]);
        match (view.state, view.new_clients) {
            (VserverState::Down, _) if pending => {
                found.unknown(down);
                found.unknown(on_backup);
            }
            (VserverState::Down, NewClients::Refused) => {
                let text = match vserver.backup {
                    None => "down, and it has no backup",
                    Some(_) => "down, and no backup takes new clients",
                };
                found.is_so(down, AlertSeverity::Error, text.to_owned(), Some(view.since.wall));
            }
            (state, NewClients::Backup(backup)) => {
                let why = match state {
                    VserverState::Up => "spills by health",
                    VserverState::Down => "down",
                    VserverState::OutOfService => "out of service",
                };
                let text = format!("{why}: new clients go to {}", world.model.vserver(backup).name);
                found.is_so(on_backup, AlertSeverity::Warning, text, None);
            }
            _ => {}
        }
    }
    found.facts.held.retain(|subject, _| (found.wanted)(subject.kind));
}

/// Whether a member of each vserver is unknown; of a content-switching one: a member of a target.
fn undecided(world: &World<'_>) -> Vec<bool> {
    let state = |id: ServiceId| world.view.services[id.index()].state;
    let own: Vec<bool> = world
        .model
        .vservers
        .iter()
        .map(|vserver| vserver.members.iter().any(|m| state(m.service) == ServiceState::Unknown))
        .collect();
    let of = |(at, vserver): (usize, &crate::model::vserver::Vserver)| match &vserver.role {
        Role::Lb => own[at],
        Role::Cs { targets, .. } => targets.iter().any(|target| own[target.index()]),
    };
    world.model.vservers.iter().enumerate().map(of).collect()
}

fn dead_letters(world: &World<'_>, found: &mut Found<'_>) {
    if !found.wants(AlertKind::DeadLetter) {
        return;
    }
    let mut dead: BTreeMap<&Name, Vec<&Delivery>> = BTreeMap::new();
    for delivery in world.deliveries.deliveries.values().filter(|d| d.status == DeliveryStatus::Dead && !d.test) {
        dead.entry(&delivery.trigger).or_default().push(delivery);
    }
    for (trigger, deliveries) in dead {
        let newest = deliveries.iter().max_by_key(|d| (d.changed, d.id));
        let why = newest.and_then(|d| d.last_error.as_deref()).unwrap_or("no reason is known");
        let text = match deliveries.len() {
            1 => format!("a delivery was given up: {why}"),
            more => format!("{more} deliveries were given up, the newest: {why}"),
        };
        let since = deliveries.iter().map(|d| d.changed).min();
        let subject = AlertSubject::new(AlertKind::DeadLetter, "trigger", trigger);
        found.is_so(subject, AlertSeverity::Error, text, since);
    }
}

fn certificates(world: &World<'_>, ends: &[(Name, Wall)], found: &mut Found<'_>) {
    if !found.wants(AlertKind::Certificate) {
        return;
    }
    for (name, end) in ends {
        let over = *end <= world.now.wall;
        let text = if over { format!("expired at {end}") } else { format!("expires at {end}") };
        let severity = if over { AlertSeverity::Error } else { AlertSeverity::Warning };
        found.is_so(AlertSubject::new(AlertKind::Certificate, "certificate", name), severity, text, Some(*end));
    }
}

fn overrides(world: &World<'_>, found: &mut Found<'_>) {
    if !found.wants(AlertKind::Override) {
        return;
    }
    // A drill tells nobody but its own list: of its scenario only what people had set counts.
    let drill = world.view.live_drill();
    let of_drill =
        |key: &OverrideKey| drill.is_some_and(|d| key.object.kind == Kind::Scenario && key.object.name == d.scenario);
    let before = drill.into_iter().flat_map(|drill| {
        let object = ObjectRef::new(Kind::Scenario, Name::clone(&drill.scenario));
        let key = move |direction| OverrideKey { object: object.clone(), slot: Slot::of_direction(direction) };
        let set = Direction::BOTH.into_iter().zip(&drill.before);
        set.filter_map(move |(direction, set)| Some((key(direction), set.as_ref()?)))
    });
    let set = world.view.overrides.iter().filter(|(key, _)| !of_drill(key));
    for (key, set) in set.map(|(key, set)| (key.clone(), set)).chain(before) {
        let key = &key;
        let subject = AlertSubject {
            part: key.slot.word().into(),
            ..AlertSubject::new(AlertKind::Override, key.object.kind.word(), &key.object.name)
        };
        found.is_so(subject, AlertSeverity::Info, said(key, set), Some(set.since));
    }
}

/// `disabled by admin:nsroot: patching`
fn said(key: &OverrideKey, set: &Override) -> String {
    let what = match &set.value {
        OverrideValue::Disabled { .. } => "disabled".to_owned(),
        OverrideValue::Forced { up } => format!("forced {}", if *up { "up" } else { "down" }),
        OverrideValue::Switch { value } => format!("set to {value}"),
        OverrideValue::Mode { mode, .. } => format!("{} {}", key.slot.word(), mode.word()),
        OverrideValue::HeldDown => "held down since it failed".to_owned(),
        OverrideValue::Split { .. } => "split set".to_owned(),
    };
    let reason = set.act.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{what} by {}{reason}", set.act.actor)
}

fn shipping(world: &World<'_>, found: &mut Found<'_>) {
    if !found.wants(AlertKind::JournalUnshipped) {
        return;
    }
    for (name, shipping) in world.snapshot.ships.all() {
        let Some((since, why)) = &shipping.failing else { continue };
        let waiting = world.status.journal_entries.saturating_sub(shipping.confirmed);
        let text = format!("{waiting} entries of the journal wait to be shipped: {why}");
        let subject = AlertSubject::new(AlertKind::JournalUnshipped, "journal", &name);
        found.is_so(subject, AlertSeverity::Error, text, Some(*since));
    }
}

fn appliance(world: &World<'_>, found: &mut Found<'_>) {
    let subject = |kind| AlertSubject::new(kind, "appliance", &world.model.appliance.name);
    if world.config.unsaved && found.wants(AlertKind::Unsaved) {
        let text = "the running configuration is not saved; a restart would lose what was changed".to_owned();
        found.is_so(subject(AlertKind::Unsaved), AlertSeverity::Info, text, None);
    }
    if found.wants(AlertKind::ClockUnsynced) {
        match world.status.clock_synced {
            Some(false) => found.is_so(
                subject(AlertKind::ClockUnsynced),
                AlertSeverity::Warning,
                "the kernel says that the clock is not synchronised; times of journal, windows and signatures drift"
                    .into(),
                None,
            ),
            None => found.unknown(subject(AlertKind::ClockUnsynced)),
            Some(true) => {}
        }
    }
    if let Some(why) = world.status.not_durable.as_ref().filter(|_| found.wants(AlertKind::NotDurable)) {
        let text = format!("what is published may not survive a power loss: {why}");
        found.is_so(subject(AlertKind::NotDurable), AlertSeverity::Error, text, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::peer::{Peer, PeerTls};

    #[test]
    fn the_end_of_every_certificate_that_this_box_shows_is_known() {
        let pem = |day: u8| {
            let mut params = rcgen::CertificateParams::new(vec!["box".to_owned()]).unwrap();
            params.not_before = rcgen::date_time_ymd(2025, 1, 1);
            params.not_after = rcgen::date_time_ymd(2026, 1, day);
            let certificate = params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap();
            tls::Pem { file: "c.pem".into(), text: certificate.pem().into() }
        };
        let link = |certificate: &tls::Pem| {
            Some(PeerTls { certificate: certificate.clone(), key: certificate.clone(), ca: certificate.clone() })
        };
        let peer = |name: &str, tls| Peer { name: name.into(), site: name.into(), url: None, tls };
        let (dns, own, other) = (pem(2), pem(3), pem(4));
        let mut model = Model::empty();
        model.certificates = vec![tls::Certificate { name: "dns".into(), chain: dns, key: None }];
        model.peer_link.tls = link(&own);
        model.peers = vec![peer("a", link(&own)), peer("b", link(&other)), peer("c", None)];
        let day = |day: i64| Wall((1_767_225_600 + (day - 1) * 86_400) * 1_000_000);
        let expected = [("dns", day(2)), ("peer_link.certificate", day(3)), ("peer.b.certificate", day(4))];
        let ends = certificate_ends(&model);
        assert_eq!(ends.iter().map(|(name, end)| (&**name, *end)).collect::<Vec<_>>(), expected);
    }
}
