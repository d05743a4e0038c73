//! Certificates as REST shows them: what they say, how long they are good, who uses them. Never their keys.

use crate::control::World;
use crate::model::Model;
use crate::model::id::CertificateId;
use crate::model::peer::PeerTls;
use crate::model::time::Wall;
use crate::model::tls::{ClientAuth, ClientTls, KeyKind};

dto! {
    /// A certificate, or certificates of authorities.
    pub struct CertificateDto {
        pub name: String,
        /// As configured, relative to the configuration's file.
        pub file: String,
        /// Whether it has a key, and so can be shown to clients.
        pub has_key: bool,
        pub subject: String,
        pub issuer: String,
        /// Hosts that it is for.
        pub names: Vec<String>,
        /// Addresses that it is for.
        pub addresses: Vec<String>,
        pub serial: String,
        /// `RSA 2048`, `EC 256`.
        pub key: String,
        pub not_before: String,
        pub not_after: String,
        /// Whole days until it expires; negative once it has.
        pub days_left: i64,
        /// Certificates in the file.
        pub chain_length: u64,
        /// `vserver web`, `service app`, `dns.tls`, `dns.https`, `peer box-b`, `peer_link`.
        pub used_by: Vec<String>,
    }
}

// === impl CertificateDto ===

impl CertificateDto {
    pub fn of(world: &World<'_>, id: CertificateId) -> CertificateDto {
        let certificate = &world.model.certificates[id.index()];
        let facts = certificate.facts();
        let texts = |names: &[crate::model::id::Name]| names.iter().map(ToString::to_string).collect();
        let facts = facts.as_ref();
        CertificateDto {
            name: certificate.name.to_string(),
            file: certificate.chain.file.to_string(),
            has_key: certificate.key.is_some(),
            subject: facts.map(|f| f.subject.to_string()).unwrap_or_default(),
            issuer: facts.map(|f| f.issuer.to_string()).unwrap_or_default(),
            names: facts.map(|f| texts(&f.names)).unwrap_or_default(),
            addresses: facts.map(|f| texts(&f.addresses)).unwrap_or_default(),
            serial: facts.map(|f| f.serial.to_string()).unwrap_or_default(),
            key: facts.map(|f| key(f.key)).unwrap_or_default(),
            not_before: facts.map(|f| at(f.not_before)).unwrap_or_default(),
            not_after: facts.map(|f| at(f.not_after)).unwrap_or_default(),
            days_left: facts.map_or(0, |f| left(f.not_after, world.now.wall).div_euclid(86_400)),
            chain_length: certificate.chain.certificates().map_or(0, |chain| chain.len() as u64),
            used_by: used_by(world.model, id),
        }
    }
}

/// Seconds until then; negative afterwards.
pub(crate) fn left(until: i64, now: Wall) -> i64 {
    until - now.0.div_euclid(1_000_000)
}

fn at(seconds: i64) -> String {
    Wall(seconds.saturating_mul(1_000_000)).to_string()
}

fn key(kind: KeyKind) -> String {
    match kind {
        KeyKind::Rsa(bits) => format!("RSA {bits}"),
        KeyKind::Ec(bits) => format!("EC {bits}"),
        KeyKind::Other => "other".to_owned(),
    }
}

/// Shown to clients, or asked of them.
fn is_in(tls: &ClientTls, id: CertificateId) -> bool {
    let authority = match tls.client_auth {
        ClientAuth::None => None,
        ClientAuth::Optional { authority } | ClientAuth::Required { authority } => Some(authority),
    };
    tls.certificates.contains(&id) || authority == Some(id)
}

fn of_peer(tls: &PeerTls, file: &str) -> bool {
    [&tls.certificate, &tls.ca].into_iter().any(|pem| *pem.file == *file)
}

fn used_by(model: &Model, id: CertificateId) -> Vec<String> {
    let mut users = Vec::new();
    for vserver in &model.vservers {
        let Some(tls) = &vserver.tls else { continue };
        if is_in(tls, id) {
            users.push(format!("vserver {}", vserver.name));
        }
    }
    for service in &model.services {
        let Some(tls) = &service.settings.tls else { continue };
        if tls.certificate == Some(id) || tls.authority == Some(id) {
            users.push(format!("service {}", service.name));
        }
    }
    for (section, encrypted) in [("dns.tls", &model.dns.tls), ("dns.https", &model.dns.https)] {
        if encrypted.as_ref().is_some_and(|encrypted| is_in(&encrypted.tls, id)) {
            users.push(section.to_owned());
        }
    }
    // Peers name files.
    let file = &model.certificates[id.index()].chain.file;
    let ends = model.peers.iter().map(|peer| (format!("peer {}", peer.name), &peer.tls));
    let ends = ends.chain([("peer_link".to_owned(), &model.peer_link.tls)]);
    users.extend(ends.filter(|(_, tls)| tls.as_ref().is_some_and(|tls| of_peer(tls, file))).map(|(user, _)| user));
    users
}
