//! Whom a client trusts over TLS: the system's authorities, those of a file, or one certificate by its fingerprint.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use sha2::{Digest, Sha256};

/// The authorities of a PEM file, and no others.
pub(super) fn authorities(builder: reqwest::ClientBuilder, file: &Path) -> Result<reqwest::ClientBuilder, String> {
    let shown = file.display();
    let text = std::fs::read(file).map_err(|error| format!("--ca: {shown} cannot be read: {error}"))?;
    match reqwest::Certificate::from_pem_bundle(&text) {
        Ok(all) if !all.is_empty() => Ok(builder.tls_certs_only(all)),
        _ => Err(format!("--ca: {shown} holds no certificate in PEM form")),
    }
}

/// The certificate of this fingerprint, whoever signed it and whatever names it has.
pub(super) fn pinned(builder: reqwest::ClientBuilder, fingerprint: &str) -> Result<reqwest::ClientBuilder, String> {
    let wanted = parse(fingerprint)
        .ok_or_else(|| format!("--fingerprint: `{fingerprint}` is no SHA-256 fingerprint (64 hexadecimal digits)"))?;
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned { wanted, provider }))
        .with_no_client_auth();
    Ok(builder.tls_backend_preconfigured(config))
}

/// What is wrong with a certificate, and what to do; `None`: it is something else.
pub(super) fn said(reason: &(dyn std::error::Error + 'static)) -> Option<String> {
    // Errors of I/O carry others, of which they tell no source.
    if let Some(inner) = reason.downcast_ref::<std::io::Error>().and_then(|io| io.get_ref()) {
        return said(inner);
    }
    match reason.downcast_ref::<Error>()? {
        Error::InvalidCertificate(CertificateError::Other(other)) => Some(other.0.to_string()),
        Error::InvalidCertificate(why) => Some(format!(
            "its certificate is not trusted ({why}); name its authority with --ca, or the certificate itself with \
             --fingerprint, as the appliance printed it at its start"
        )),
        _ => None,
    }
}

/// `AA:BB:…`, with or without colons, in any case, with `sha256:` before it or not.
fn parse(text: &str) -> Option<[u8; 32]> {
    let digits = text.trim().to_ascii_lowercase();
    let digits = digits.strip_prefix("sha256:").unwrap_or(&digits).replace(':', "");
    if digits.len() != 64 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&digits[at..at + 2], 16).ok()?;
    }
    Some(bytes)
}

fn shown(fingerprint: &[u8]) -> String {
    fingerprint.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}

#[derive(Debug)]
struct Pinned {
    wanted: [u8; 32],
    provider: Arc<CryptoProvider>,
}

/// Another certificate than the one that was asked for.
#[derive(Debug, thiserror::Error)]
#[error(
    "the certificate has the fingerprint {0}, not the one that was given: either it was replaced, or somebody else answers"
)]
struct Another(String);

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let found: [u8; 32] = Sha256::digest(leaf).into();
        if found == self.wanted {
            return Ok(ServerCertVerified::assertion());
        }
        let other = OtherError(Arc::new(Another(shown(&found))));
        Err(Error::InvalidCertificate(CertificateError::Other(other)))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_reads_as_every_tool_writes_it() {
        let bytes: Vec<u8> = (0..32).collect();
        let colons = shown(&bytes);
        assert!(colons.starts_with("00:01:02"));
        for text in [colons.clone(), colons.replace(':', "").to_lowercase(), format!("SHA256:{colons}")] {
            assert_eq!(parse(&text).map(|b| b.to_vec()), Some(bytes.clone()), "{text}");
        }
        assert_eq!(parse("00:01"), None);
        assert_eq!(parse(&"é".repeat(32)), None);
    }
}
