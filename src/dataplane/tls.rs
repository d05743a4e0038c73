//! TLS, both ways. To clients: certificates chosen by SNI, one configuration for each vserver, kept for as long as its
//! definition and its certificates stay the same, so that a reload touches neither open connections nor sessions that
//! can be resumed. To servers: verification, a certificate of our own, resumption, one configuration for each service.
//!
//! ```text
//! accepted ─▶ [PROXY header] ─▶ ClientHello ─▶ SNI ─▶ certificate ─▶ handshake ─▶ l7 or l4      (SSL, SSL_TCP)
//!                                   └──────────▶ SNI, session ─▶ l4, the ClientHello first      (SSL_BRIDGE)
//! ```

mod accept;
mod certificates;
mod certified;
mod clients;
mod failure;
mod handshakes;
mod hello;
mod pinned;
mod servers;
mod session;
mod trusting;

pub(crate) use accept::{look, terminate, terminate_dns};
pub(crate) use clients::{Clients, server_name};
pub(crate) use handshakes::Handshakes;
pub(crate) use servers::{DNS_HTTPS, DNS_TLS, Servers};

use std::sync::{Arc, OnceLock};

use rustls::crypto::CryptoProvider;
use rustls::{RootCertStore, SupportedProtocolVersion};

use crate::model::tls::{Certificate, TlsVersion};

/// ring, the one provider.
fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    Arc::clone(PROVIDER.get_or_init(|| Arc::new(rustls::crypto::ring::default_provider())))
}

/// From `min` to `max`, both included.
fn versions(min: TlsVersion, max: TlsVersion) -> Vec<&'static SupportedProtocolVersion> {
    let all = [(TlsVersion::V1_2, &rustls::version::TLS12), (TlsVersion::V1_3, &rustls::version::TLS13)];
    all.into_iter().filter(|(version, _)| (min..=max).contains(version)).map(|(_, version)| version).collect()
}

/// The certificates of an authority. Errors: in words.
fn roots(authority: &Certificate) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in authority.chain.certificates()? {
        roots.add(certificate).map_err(|error| format!("certificate `{}`: {error}", authority.name))?;
    }
    Ok(roots)
}

fn version_of(version: Option<rustls::ProtocolVersion>) -> TlsVersion {
    match version {
        Some(rustls::ProtocolVersion::TLSv1_3) => TlsVersion::V1_3,
        _ => TlsVersion::V1_2,
    }
}
