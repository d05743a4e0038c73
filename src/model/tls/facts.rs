//! What a certificate says about itself.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls_pki_types::CertificateDer;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;
use x509_parser::public_key::PublicKey;

use crate::model::id::Name;

/// Read from the certificate alone; whether anybody trusts it is another question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// As `CN=www.example.test, O=Example`.
    pub subject: Name,
    pub issuer: Name,
    /// Names of hosts that it is for, in lower case: subjectAltName, else the common name.
    pub names: Vec<Name>,
    /// Addresses of hosts that it is for, as text.
    pub addresses: Vec<Name>,
    /// Seconds since 1970, UTC.
    pub not_before: i64,
    /// Seconds since 1970, UTC.
    pub not_after: i64,
    pub key: KeyKind,
    /// The signature algorithm is one that nobody should accept any more (MD5, SHA-1).
    pub weak_signature: bool,
    /// It may sign others.
    pub is_authority: bool,
    /// Of the DER text, in lower-case hex.
    pub serial: Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Bits of the modulus.
    Rsa(usize),
    /// Bits of the curve's field.
    Ec(usize),
    Other,
}

// === impl Facts ===

impl Facts {
    /// Errors: in words.
    pub fn of(der: &CertificateDer<'_>) -> Result<Facts, String> {
        let (_, certificate) = X509Certificate::from_der(der).map_err(|_| "is no X.509 certificate".to_owned())?;
        let (names, addresses) = alternatives(&certificate);
        let validity = certificate.validity();
        Ok(Facts {
            subject: certificate.subject().to_string().into(),
            issuer: certificate.issuer().to_string().into(),
            names,
            addresses,
            not_before: validity.not_before.timestamp(),
            not_after: validity.not_after.timestamp(),
            key: key(&certificate),
            weak_signature: is_weak(&certificate.signature_algorithm.algorithm.to_id_string()),
            is_authority: certificate.is_ca(),
            serial: certificate.raw_serial_as_string().replace(':', "").into(),
        })
    }

    /// Time from `now` to the end of its validity; negative once it has expired. In seconds.
    pub fn left(&self, now: SystemTime) -> i64 {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        self.not_after - i64::try_from(now.as_secs()).unwrap_or(i64::MAX)
    }
}

/// Names and addresses of hosts.
fn alternatives(certificate: &X509Certificate<'_>) -> (Vec<Name>, Vec<Name>) {
    let (mut names, mut addresses) = (Vec::new(), Vec::new());
    if let Ok(Some(extension)) = certificate.subject_alternative_name() {
        for name in &extension.value.general_names {
            match name {
                GeneralName::DNSName(name) => names.push(name.to_ascii_lowercase().into()),
                GeneralName::IPAddress(octets) => addresses.extend(address(octets)),
                _ => {}
            }
        }
        return (names, addresses);
    }
    let common = certificate.subject().iter_common_name().filter_map(|name| name.as_str().ok());
    names.extend(common.map(|name| Name::from(name.to_ascii_lowercase())));
    (names, addresses)
}

fn address(octets: &[u8]) -> Option<Name> {
    let ip: std::net::IpAddr = match octets.len() {
        4 => <[u8; 4]>::try_from(octets).ok()?.into(),
        16 => <[u8; 16]>::try_from(octets).ok()?.into(),
        _ => return None,
    };
    Some(ip.to_string().into())
}

fn key(certificate: &X509Certificate<'_>) -> KeyKind {
    match certificate.public_key().parsed() {
        Ok(PublicKey::RSA(key)) => KeyKind::Rsa(key.key_size()),
        Ok(PublicKey::EC(point)) => KeyKind::Ec(point.key_size()),
        _ => KeyKind::Other,
    }
}

/// MD2, MD5 and SHA-1 with RSA, SHA-1 with DSA and ECDSA.
fn is_weak(algorithm: &str) -> bool {
    let weak = [
        "1.2.840.113549.1.1.2",
        "1.2.840.113549.1.1.4",
        "1.2.840.113549.1.1.5",
        "1.2.840.10040.4.3",
        "1.2.840.10045.4.1",
    ];
    weak.contains(&algorithm)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn names_addresses_and_dates_are_read_from_the_certificate() {
        let names = ["WWW.example.test".to_owned(), "*.example.test".to_owned(), "192.0.2.1".to_owned()];
        let mut params = rcgen::CertificateParams::new(names).unwrap();
        params.not_before = rcgen::date_time_ymd(2026, 1, 1);
        params.not_after = rcgen::date_time_ymd(2026, 2, 1);
        params.distinguished_name.push(rcgen::DnType::CommonName, "www.example.test");
        let key = rcgen::KeyPair::generate().unwrap();
        let facts = Facts::of(params.self_signed(&key).unwrap().der()).unwrap();
        assert_eq!(facts.names, ["www.example.test".into(), "*.example.test".into()] as [Name; 2]);
        assert_eq!(facts.addresses, ["192.0.2.1".into()] as [Name; 1]);
        assert_eq!(facts.not_after - facts.not_before, 31 * 86_400);
        assert_eq!(facts.key, KeyKind::Ec(256));
        assert!(facts.subject.contains("CN=www.example.test"), "{}", facts.subject);
        assert_eq!(facts.issuer, facts.subject);
        assert!(!facts.weak_signature && !facts.is_authority);
        let at = |seconds: i64| UNIX_EPOCH + Duration::from_secs(seconds.unsigned_abs());
        assert_eq!(facts.left(at(facts.not_after - 60)), 60);
        assert_eq!(facts.left(at(facts.not_after + 1)), -1);
    }

    #[test]
    fn the_common_name_counts_only_where_there_are_no_others() {
        let mut params = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, "Old.example.test");
        let key = rcgen::KeyPair::generate().unwrap();
        assert_eq!(
            Facts::of(params.self_signed(&key).unwrap().der()).unwrap().names,
            ["old.example.test".into()] as [Name; 1]
        );
        assert!(Facts::of(&CertificateDer::from(vec![0x30, 0x00])).is_err());
    }
}
