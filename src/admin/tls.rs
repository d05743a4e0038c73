//! TLS on the management address: which certificate is shown now, and the one that the appliance makes for itself.
//!
//! The configuration is looked at with every connection, so a certificate that is replaced is shown from the next one on;
//! open connections go on with what they began with.

use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rustls::ServerConfig;
use rustls_pki_types::CertificateDer;
use sha2::{Digest, Sha256};

use crate::model::Model;
use crate::model::access::AdminTls;
use crate::model::id::Name;
use crate::model::tls::{Certificate, Facts, Pem};

/// Longer ones are refused by some clients.
const VALID_DAYS: i64 = 825;
/// Renewed this long before it ends.
const RENEW_DAYS: i64 = 30;
const DAY_SECONDS: i64 = 86_400;
const CERTIFICATE_FILE: &str = "admin-tls.crt";
const KEY_FILE: &str = "admin-tls.key";

/// What the management address shows, kept until something of it changes.
#[derive(Debug)]
pub struct TlsDoor {
    /// Where the generated certificate is kept; `None`: in memory, anew with each start.
    state: Option<PathBuf>,
    current: Mutex<Option<(Origin, Arc<Identity>)>>,
}

/// What an identity was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    Certificate(Certificate),
    Generated { name: Name, listen: SocketAddr },
}

/// A certificate ready to be shown.
#[derive(Debug)]
pub struct Identity {
    pub(super) config: Arc<ServerConfig>,
    /// SHA-256 of the certificate in hex with colons, as `openssl x509 -fingerprint -sha256` prints it.
    pub fingerprint: String,
    /// When it ends, in seconds since 1970.
    pub not_after: i64,
}

// === impl TlsDoor ===

impl TlsDoor {
    /// `state`: the state directory, if there is one.
    pub fn new(state: Option<PathBuf>) -> TlsDoor {
        TlsDoor { state, current: Mutex::new(None) }
    }

    /// What is shown under this configuration; `Ok(None)`: no TLS. Errors, in words: the certificate cannot be used.
    pub fn current(&self, model: &Model) -> Result<Option<Arc<Identity>>, String> {
        let Some(tls) = model.admin.tls else { return Ok(None) };
        let origin = match tls {
            AdminTls::Certificate(id) => Origin::Certificate(model.certificates[id.index()].clone()),
            AdminTls::Generated => {
                Origin::Generated { name: Name::clone(&model.appliance.name), listen: model.admin.listen }
            }
        };
        let now = jiff::Timestamp::now().as_second();
        let mut current = self.current.lock();
        if let Some((from, identity)) = &*current
            && *from == origin
            && (matches!(origin, Origin::Certificate(_)) || !is_due(identity.not_after, now))
        {
            return Ok(Some(Arc::clone(identity)));
        }
        let identity = match &origin {
            Origin::Certificate(certificate) => {
                let key = certificate.key.as_ref().ok_or("the certificate has no key")?;
                identity(&certificate.chain, key)?
            }
            Origin::Generated { name, listen } => self.generated(name, *listen, now)?,
        };
        tracing::info!(fingerprint = %identity.fingerprint, "management shows a certificate");
        let identity = Arc::new(identity);
        *current = Some((origin, Arc::clone(&identity)));
        Ok(Some(identity))
    }

    /// The certificate that is kept, or another under the same key.
    fn generated(&self, name: &str, listen: SocketAddr, now: i64) -> Result<Identity, String> {
        let kept = self.state.as_deref().and_then(|dir| {
            let read = |file: &str| std::fs::read_to_string(dir.join(file)).ok();
            Some((read(CERTIFICATE_FILE)?, read(KEY_FILE)?))
        });
        let kept_key = kept.as_ref().and_then(|(_, key)| rcgen::KeyPair::from_pem(key).ok());
        if let Some((chain, key)) = kept
            && let Ok(identity) = identity(&pem(&chain), &pem(&key))
            && !is_due(identity.not_after, now)
            && is_for(&pem(&chain), name, listen)
        {
            return Ok(identity);
        }
        let key = match kept_key {
            Some(key) => key,
            None => rcgen::KeyPair::generate().map_err(|error| error.to_string())?,
        };
        let chain = self_signed(name, listen, now, &key)?;
        let key = key.serialize_pem();
        if let Some(dir) = &self.state {
            let written = write(&dir.join(KEY_FILE), &key, 0o600)
                .and_then(|()| write(&dir.join(CERTIFICATE_FILE), &chain, 0o644));
            if let Err(error) = written {
                tracing::error!(%error, "the certificate of the management cannot be kept; the next start makes another");
            }
        }
        identity(&pem(&chain), &pem(&key))
    }
}

fn is_due(not_after: i64, now: i64) -> bool {
    not_after - now < RENEW_DAYS * DAY_SECONDS
}

fn pem(text: &str) -> Pem {
    Pem { file: "".into(), text: text.into() }
}

/// Names that a client of this machine or of the address may call it by.
fn names(name: &str, listen: SocketAddr) -> Vec<String> {
    let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    if rustls_pki_types::DnsName::try_from(name).is_ok() {
        names.push(name.to_ascii_lowercase());
    }
    let ip = listen.ip();
    if !ip.is_unspecified() && !names.contains(&ip.to_string()) {
        names.push(ip.to_string());
    }
    names
}

/// The box may have been renamed, or may listen elsewhere by now.
fn is_for(chain: &Pem, name: &str, listen: SocketAddr) -> bool {
    let facts = chain.certificates().ok().and_then(|all| Facts::of(all.first()?).ok());
    let has = |facts: &Facts, name: &String| facts.names.iter().chain(&facts.addresses).any(|own| **own == **name);
    facts.is_some_and(|facts| names(name, listen).iter().all(|name| has(&facts, name)))
}

fn self_signed(name: &str, listen: SocketAddr, now: i64, key: &rcgen::KeyPair) -> Result<String, String> {
    let said = |error: rcgen::Error| error.to_string();
    let mut params = rcgen::CertificateParams::new(names(name, listen)).map_err(said)?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    params.distinguished_name.push(rcgen::DnType::OrganizationName, "Bascule management");
    params.key_usages = vec![rcgen::KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
    // The crate takes midnights.
    let day = |second| match jiff::Timestamp::from_second(second) {
        Ok(at) => {
            let date = jiff::tz::TimeZone::UTC.to_datetime(at).date();
            Ok(rcgen::date_time_ymd(date.year().into(), date.month().unsigned_abs(), date.day().unsigned_abs()))
        }
        Err(error) => Err(error.to_string()),
    };
    // From the day before: clocks differ.
    (params.not_before, params.not_after) = (day(now - DAY_SECONDS)?, day(now + VALID_DAYS * DAY_SECONDS)?);
    Ok(params.self_signed(key).map_err(said)?.pem())
}

/// Whoever sees the file sees all of it, and the key nobody else.
fn write(path: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    use std::io::Write as _;
    let new = path.with_extension("new");
    let _ = std::fs::remove_file(&new);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, path)
}

fn identity(chain: &Pem, key: &Pem) -> Result<Identity, String> {
    let (chain, key) = (chain.certificates()?, key.private_key()?);
    let leaf = chain.first().ok_or("holds no certificate")?;
    let (fingerprint, not_after) = (fingerprint(leaf), Facts::of(leaf)?.not_after);
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| error.to_string())?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Identity { config: Arc::new(config), fingerprint, not_after })
}

fn fingerprint(leaf: &CertificateDer<'_>) -> String {
    let digest: [u8; 32] = Sha256::digest(leaf).into();
    digest.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str) -> Model {
        let mut model = Model::empty();
        model.appliance.name = name.into();
        model.admin.tls = Some(AdminTls::Generated);
        model
    }

    fn shown(door: &TlsDoor, model: &Model) -> String {
        door.current(model).unwrap().unwrap().fingerprint.clone()
    }

    #[test]
    fn a_generated_certificate_is_kept_and_its_key_is_nobody_elses() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let door = || TlsDoor::new(Some(dir.path().to_owned()));
        let first = shown(&door(), &model("box-a"));
        assert_eq!(first.len(), 95);
        assert_eq!(shown(&door(), &model("box-a")), first, "over a restart");
        let mode = |file| std::fs::metadata(dir.path().join(file)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(KEY_FILE), mode(CERTIFICATE_FILE)), (0o600, 0o644));
        let key = std::fs::read_to_string(dir.path().join(KEY_FILE)).unwrap();
        assert_ne!(shown(&door(), &model("box-b")), first, "the box has another name");
        assert_eq!(std::fs::read_to_string(dir.path().join(KEY_FILE)).unwrap(), key, "under the same key");
    }

    #[test]
    fn a_certificate_is_renewed_before_it_ends() {
        let dir = tempfile::tempdir().unwrap();
        let door = TlsDoor::new(Some(dir.path().to_owned()));
        let listen = "192.0.2.1:9443".parse().unwrap();
        let at = |days: i64| door.generated("box", listen, (20_000 + days) * DAY_SECONDS).unwrap().not_after;
        let first = at(0);
        assert_eq!(at(VALID_DAYS - RENEW_DAYS - 2), first);
        assert!(at(VALID_DAYS - RENEW_DAYS + 1) > first);
    }

    #[test]
    fn without_the_table_there_is_no_tls_and_what_is_broken_is_said() {
        let door = TlsDoor::new(None);
        assert!(door.current(&Model::empty()).unwrap().is_none());
        let mut broken = model("box");
        broken.certificates = vec![Certificate { name: "c".into(), chain: pem("x"), key: Some(pem("y")) }];
        broken.admin.tls = Some(AdminTls::Certificate(crate::model::id::CertificateId::from_index(0)));
        assert!(door.current(&broken).unwrap_err().contains("no certificate"));
    }
}
