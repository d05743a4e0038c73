//! How the two ends of the link speak TLS: version 1.3 alone, a certificate from each side, and no resumption, so that
//! every connection verifies anew that neither has expired.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::server::{NoServerSessionStorage, ParsedCertificate, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use rustls_pki_types::{CertificateDer, ServerName};

use crate::model::id::Name;
use crate::model::peer::{Peer, PeerTls};
use crate::model::tls::Pem;

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

const VERSIONS: &[&rustls::SupportedProtocolVersion] = &[&rustls::version::TLS13];

fn roots(ca: &Pem) -> Result<Arc<RootCertStore>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in ca.certificates().map_err(|why| format!("`ca` ({}) {why}", ca.file))? {
        roots.add(certificate).map_err(|error| format!("`ca` ({}) cannot be used: {error}", ca.file))?;
    }
    Ok(Arc::new(roots))
}

/// For whoever asks. Errors: in words.
pub(super) fn asking(tls: &PeerTls) -> Result<Arc<ClientConfig>, String> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(VERSIONS)
        .map_err(|error| error.to_string())?;
    let (chain, key) = (tls.certificate.certificates()?, tls.key.private_key()?);
    let mut config = builder
        .with_root_certificates(roots(&tls.ca)?)
        .with_client_auth_cert(chain, key)
        .map_err(|error| format!("`certificate` ({}) cannot be used: {error}", tls.certificate.file))?;
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// For whoever is asked. Errors: in words.
pub(super) fn answering(tls: &PeerTls) -> Result<Arc<ServerConfig>, String> {
    let verifier = WebPkiClientVerifier::builder_with_provider(roots(&tls.ca)?, provider())
        .build()
        .map_err(|error| format!("`ca` ({}) cannot be used: {error}", tls.ca.file))?;
    let builder = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(VERSIONS)
        .map_err(|error| error.to_string())?;
    let (chain, key) = (tls.certificate.certificates()?, tls.key.private_key()?);
    let mut config = builder
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)
        .map_err(|error| format!("`certificate` ({}) cannot be used: {error}", tls.certificate.file))?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// The peer that a certificate is for: names in subjectAltName count, the common name does not.
pub(super) fn named<'a>(certificate: &CertificateDer<'_>, peers: &'a [Peer]) -> Option<&'a Name> {
    let parsed = ParsedCertificate::try_from(certificate).ok()?;
    let is_for = |peer: &&Peer| {
        let name = ServerName::try_from(&*peer.name);
        name.is_ok_and(|name| rustls::client::verify_server_name(&parsed, &name).is_ok())
    };
    peers.iter().find(is_for).map(|peer| &peer.name)
}
