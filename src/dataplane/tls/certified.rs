//! The check of a client's certificate, which tells the client's session until when it is good.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;

use super::session;

/// Asks `0`, and notes the end of what it accepts.
#[derive(Debug)]
pub(super) struct Certified(pub Arc<dyn ClientCertVerifier>);

/// The last second (of Unix time) at which these are all valid; 0 where one cannot be read.
fn not_after<'a>(chain: impl Iterator<Item = &'a CertificateDer<'a>>) -> u64 {
    let end = |certificate: &CertificateDer<'_>| {
        let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
        u64::try_from(parsed.validity().not_after.timestamp()).ok()
    };
    chain.map(|certificate| end(certificate).unwrap_or(0)).min().unwrap_or(0)
}

// === impl Certified ===

impl ClientCertVerifier for Certified {
    fn offer_client_auth(&self) -> bool {
        self.0.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.0.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.0.verify_client_cert(end_entity, intermediates, now)?;
        session::certified(not_after([end_entity].into_iter().chain(intermediates)), now);
        Ok(verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_ends_with_the_certificate_that_ends_first_and_at_once_where_one_cannot_be_read() {
        let issue = |year| {
            let mut params = rcgen::CertificateParams::new(["a.test".to_owned()]).unwrap();
            params.not_after = rcgen::date_time_ymd(year, 1, 1);
            params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().der().clone()
        };
        let (early, late) = (issue(2030), issue(2040));
        assert_eq!(not_after([&early, &late].into_iter()), not_after([&early].into_iter()));
        assert!(not_after([&early].into_iter()) < not_after([&late].into_iter()));
        assert_eq!(not_after([&late].into_iter()), 2_208_988_800, "1 January 2040");
        assert_eq!(not_after([&late, &CertificateDer::from(vec![0x30])].into_iter()), 0);
    }
}
