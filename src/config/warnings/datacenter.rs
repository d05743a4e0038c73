//! Data centres, their pairs, and the boxes that tell what they see.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use super::Warnings;
use crate::model::Model;
use crate::model::check::Host;
use crate::model::condition::{Signal, Subject};
use crate::model::id::{Name, ScenarioId, VserverId};
use crate::model::zone::{Record, RecordType};

/// A signal of this box without its list is unknown for ever, and so is what another site sees: nothing tells it here.
pub(super) fn unknown_signals(cx: &mut Warnings<'_>, id: ScenarioId) {
    let model = cx.model;
    let scenario = model.scenario(id);
    if scenario.pair.is_some() {
        return;
    }
    let mut seen = HashSet::new();
    for term in scenario.directions.iter().flat_map(|rules| rules.when.terms()) {
        let Subject::Datacenter { datacenter, signal, observer } = &term.subject else { continue };
        if let Some(observer) = observer {
            if !is_heard(model, observer) {
                let what =
                    format!("`{}` is never known: no `[peer.NAME]` with a `url` stands in `{observer}`", term.text);
                cx.warn_scenario(id, &what);
            }
            continue;
        }
        let site = &model.datacenters[datacenter.index()];
        let missing = match signal {
            Signal::Wan => site.wan.is_none(),
            Signal::Lan => site.lan.is_none(),
            Signal::Access => site.wan.is_none() && site.lan.is_none(),
            Signal::Internet => site.internet.is_none(),
            Signal::Maintenance => false,
        };
        if missing && seen.insert((datacenter, signal)) {
            let what = format!(
                "`dc:{0}.{1}` is never known: the data centre `{0}` has no such list",
                site.name,
                signal.word()
            );
            cx.warn_scenario(id, &what);
        }
    }
}

/// Whether a box of `site` is asked what it sees.
fn is_heard(model: &Model, site: &str) -> bool {
    model.peers.iter().any(|peer| *peer.site == *site && peer.url.is_some())
}

/// Peers whose word nobody reads.
pub(super) fn peers(cx: &mut Warnings<'_>) {
    let model = cx.model;
    for peer in &model.peers {
        let name = &*peer.name;
        let site = &*peer.site;
        let known =
            model.datacenter_id(site).is_some() || model.pairs.iter().any(|p| p.witness.as_deref() == Some(site));
        if !known {
            let what = format!("`{site}` is neither a data centre nor a witness; nothing reads what this peer says");
            cx.warn("peer", name, Some("site"), &what);
        } else if peer.url.is_none() {
            cx.warn("peer", name, None, "has no `url`, so it is not asked; what it sees is unknown here");
        }
    }
}

pub(super) fn pairs(cx: &mut Warnings<'_>) {
    let model = cx.model;
    for pair in &model.pairs {
        let witness = pair.witness.as_deref().filter(|witness| model.appliance.site.as_deref() != Some(witness));
        if let Some(witness) = witness.filter(|witness| !is_heard(model, witness)) {
            let what = format!(
                "no `[peer.NAME]` with a `url` stands in `{witness}`, so what it sees is never known; except for \
                 maintenance the pair stays where it is until somebody moves it"
            );
            cx.warn("datacenter_pair", &pair.name, Some("witness"), &what);
        }
    }
    let paired: HashSet<usize> = model.pairs.iter().flat_map(|p| [p.active.index(), p.backup.index()]).collect();
    let alone: Vec<&str> =
        (0..model.datacenters.len()).filter(|i| !paired.contains(i)).map(|i| &*model.datacenters[i].name).collect();
    if let [first, .., last] = alone[..] {
        let what =
            format!("no `datacenter_pair` names `{first}` and `{last}`; nothing moves traffic between them by itself");
        cx.warn("datacenter", first, None, &what);
    }
}

/// One anchor that is down, or one that is near, would say that this box has lost the Internet, or has it.
pub(super) fn anchors(cx: &mut Warnings<'_>) {
    let model = cx.model;
    let Some(own) = model.appliance.site.as_deref().and_then(|site| model.datacenter_id(site)) else { return };
    if !model.pairs.iter().any(|pair| pair.active == own || pair.backup == own) {
        return;
    }
    let site = &model.datacenters[own.index()];
    if let Some(list) = site.internet.as_ref().filter(|list| list.targets.len() < 3 || list.quorum < 2) {
        let (targets, quorum) = (list.targets.len(), list.quorum);
        let what = format!(
            "{targets} with a quorum of {quorum}; name at least three neutral anchors with a quorum of two, or one of them decides \
             whether this site counts as cut off"
        );
        cx.warn("datacenter", &site.name, Some("internet"), &what);
    }
}

/// A backup that stands in another data centre hides, in the effective state, that nothing is left in this one. Where an
/// address stands is what the records say of it.
pub(super) fn backups(cx: &mut Warnings<'_>) {
    let model = cx.model;
    let mut sites: HashMap<IpAddr, &Name> = HashMap::new();
    for rrset in model.zones.iter().flat_map(|zone| &zone.rrsets) {
        for record in &rrset.records {
            let site = record.datacenter.as_ref().or(rrset.datacenter.as_ref());
            if let (Some(site), Some(address)) = (site, address_of(record)) {
                sites.insert(address, site);
            }
        }
    }
    for (index, vserver) in model.vservers.iter().enumerate() {
        let Some(home) = vserver.address.and_then(|address| sites.get(&address.ip())) else { continue };
        let elsewhere = model.backup_chain(VserverId::from_index(index)).find_map(|backup| {
            let backup = model.vserver(backup);
            let hosts = backup.members.iter().filter_map(|member| match model.service(member.service).host {
                Host::Ip(ip) => Some(ip),
                Host::Name(_) => None,
            });
            let mut addresses = backup.address.map(|address| address.ip()).into_iter().chain(hosts);
            addresses.find_map(|ip| sites.get(&ip).filter(|site| *site != home).map(|site| (backup, *site)))
        });
        if let Some((backup, site)) = elsewhere {
            let what = format!(
                "`{}` leads to {site}, and this vserver stands in {home}, as the records say: while it serves, `vs:{1}` is \
                 true with nothing left in {home}; conditions that must see that want `vs:{1}.primary`",
                backup.name, vserver.name
            );
            cx.warn("vserver", &vserver.name, Some("backup"), &what);
        }
    }
}

fn address_of(record: &Record) -> Option<IpAddr> {
    match record.rtype {
        RecordType::A => <[u8; 4]>::try_from(&*record.rdata).ok().map(IpAddr::from),
        RecordType::AAAA => <[u8; 16]>::try_from(&*record.rdata).ok().map(IpAddr::from),
        _ => None,
    }
}
