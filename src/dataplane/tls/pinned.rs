//! A peer whose very certificate stands in the list of authorities: `openssl req -x509` makes one that is an authority and
//! its own leaf at once, which the path building of RFC 5280 §6 does not take for a peer's.
//!
//! Whoever shows exactly such a certificate, and proves that it has its key, is who the operator put there. Dates and, of
//! a server, the name are looked at as of any other. Everything else is judged by its path.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::{provider, roots};
use crate::model::tls::{Certificate, Facts};

/// The certificates themselves, beside the verifier of paths that they are the roots of.
#[derive(Debug)]
pub(super) struct Pinned<V: ?Sized> {
    paths: Arc<V>,
    listed: Vec<CertificateDer<'static>>,
}

/// Servers by these authorities. Errors: in words.
pub(super) fn servers(authority: &Certificate) -> Result<Pinned<dyn ServerCertVerifier>, String> {
    let paths = WebPkiServerVerifier::builder_with_provider(Arc::new(roots(authority)?), provider());
    let paths = paths.build().map_err(|error| error.to_string())?;
    Ok(Pinned { paths, listed: authority.chain.certificates()? })
}

/// Clients by these authorities. Errors: in words.
pub(super) fn clients(authority: &Certificate, required: bool) -> Result<Pinned<dyn ClientCertVerifier>, String> {
    let paths = WebPkiClientVerifier::builder_with_provider(Arc::new(roots(authority)?), provider());
    let paths = if required { paths } else { paths.allow_unauthenticated() };
    let paths = paths.build().map_err(|error| error.to_string())?;
    Ok(Pinned { paths, listed: authority.chain.certificates()? })
}

// === impl Pinned ===

impl<V: ?Sized> Pinned<V> {
    /// Whether this very certificate is listed, and good now.
    fn knows(&self, shown: &CertificateDer<'_>, now: UnixTime) -> Result<bool, Error> {
        if !self.listed.iter().any(|listed| listed.as_ref() == shown.as_ref()) {
            return Ok(false);
        }
        let facts = Facts::of(shown).map_err(|_| CertificateError::BadEncoding)?;
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        match (facts.not_before <= now, now <= facts.not_after) {
            (true, true) => Ok(true),
            (false, _) => Err(CertificateError::NotValidYet.into()),
            (_, false) => Err(CertificateError::Expired.into()),
        }
    }
}

impl ServerCertVerifier for Pinned<dyn ServerCertVerifier> {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.knows(shown, now)? {
            verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
            return Ok(ServerCertVerified::assertion());
        }
        self.paths.verify_server_cert(shown, intermediates, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.paths.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.paths.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.paths.supported_verify_schemes()
    }
}

impl ClientCertVerifier for Pinned<dyn ClientCertVerifier> {
    fn offer_client_auth(&self) -> bool {
        self.paths.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.paths.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.paths.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if self.knows(shown, now)? {
            return Ok(ClientCertVerified::assertion());
        }
        self.paths.verify_client_cert(shown, intermediates, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.paths.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.paths.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.paths.supported_verify_schemes()
    }
}
