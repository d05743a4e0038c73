//! The certificates of one vserver: which a client gets.

use std::collections::HashMap;
use std::sync::Arc;

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::provider;
use crate::model::id::Name;
use crate::model::tls::{Certificate, Facts};

/// By name: an exact one, then a wildcard for the part before the first dot, then the first of all. Of several with the
/// same name the first whose key the client can verify with, so that ECDSA and RSA can stand side by side.
#[derive(Debug)]
pub(super) struct Certificates {
    all: Vec<Arc<CertifiedKey>>,
    exact: HashMap<Name, Vec<usize>>,
    /// By what follows `*.`.
    wildcard: HashMap<Name, Vec<usize>>,
    strict: bool,
}

/// A certificate with its key, ready to be shown. Errors: in words, without the key.
pub(super) fn certified(certificate: &Certificate) -> Result<CertifiedKey, String> {
    let named = |why: String| format!("certificate `{}`: {why}", certificate.name);
    let key = certificate.key.as_ref().ok_or_else(|| named("has no key".to_owned()))?;
    let (chain, key) = (certificate.chain.certificates().map_err(named)?, key.private_key().map_err(named)?);
    CertifiedKey::from_der(chain, key, &provider()).map_err(|error| named(error.to_string()))
}

// === impl Certificates ===

impl Certificates {
    /// `strict`: nobody gets one whose names do not fit.
    pub fn new(certificates: &[Certificate], strict: bool) -> Result<Certificates, String> {
        let mut built = Certificates { all: Vec::new(), exact: HashMap::new(), wildcard: HashMap::new(), strict };
        for (index, certificate) in certificates.iter().enumerate() {
            let key = certified(certificate)?;
            let facts = key.end_entity_cert().map_err(|e| e.to_string()).and_then(Facts::of);
            built.all.push(Arc::new(key));
            for name in facts?.names {
                match name.strip_prefix("*.") {
                    Some(parent) => built.wildcard.entry(parent.into()).or_default().push(index),
                    None => built.exact.entry(name).or_default().push(index),
                }
            }
        }
        Ok(built)
    }

    /// Whether there is one for a client that asks for `name`.
    pub fn serves(&self, name: Option<&str>) -> bool {
        !self.fitting(name).is_empty() || !self.strict
    }

    fn fitting(&self, name: Option<&str>) -> &[usize] {
        let Some(name) = name else { return &[] };
        let name = name.to_ascii_lowercase();
        let wildcard = || self.wildcard.get(name.split_once('.')?.1);
        self.exact.get(&*name).or_else(wildcard).map_or(&[], |found| &found[..])
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut fitting = self.fitting(hello.server_name());
        if fitting.is_empty() {
            if self.strict {
                return None;
            }
            fitting = &[0];
        }
        let keys = || fitting.iter().filter_map(|&index| self.all.get(index));
        let usable = |key: &&Arc<CertifiedKey>| key.key.choose_scheme(hello.signature_schemes()).is_some();
        keys().find(usable).or_else(|| keys().next()).cloned()
    }
}
