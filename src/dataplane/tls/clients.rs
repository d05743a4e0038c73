//! TLS to servers: one configuration for each service, so that each resumes its own sessions. Made where the listeners
//! follow a new generation, and kept while its definition stays the same.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use rustls::client::Resumption;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::certificates::certified;
use super::trusting::Trusting;
use super::{pinned, provider, versions};
use crate::model::Model;
use crate::model::check::Host;
use crate::model::id::Name;
use crate::model::service::Service;
use crate::model::tls::{Certificate, TlsVersion};

/// Sessions with one service that are kept for resumption.
const SESSIONS_MOST: usize = 64;

/// By service.
#[derive(Default)]
pub(crate) struct Clients {
    current: RwLock<HashMap<Name, Arc<Client>>>,
    /// What `current` was made of: an equal pointer is an equal model.
    followed: Mutex<Option<Arc<Model>>>,
}

/// How TLS is spoken to one service.
struct Client {
    /// Differs between any two that were made.
    stamp: u64,
    definition: Definition,
    /// Errors: in words; no connection is made.
    config: Result<Arc<ClientConfig>, String>,
}

#[derive(Clone, PartialEq)]
struct Definition {
    verify: bool,
    authority: Option<Certificate>,
    certificate: Option<Certificate>,
    min: TlsVersion,
    http2: bool,
}

// === impl Clients ===

impl Clients {
    /// Makes what is new or has changed, and forgets what is gone.
    pub fn follow(&self, model: &Arc<Model>) {
        let mut followed = self.followed.lock();
        if followed.as_ref().is_some_and(|followed| Arc::ptr_eq(followed, model)) {
            return;
        }
        let known = self.current.read().clone();
        let mut next: HashMap<Name, Arc<Client>> = HashMap::new();
        // Members of a group are alike: what is dear (roots, keys) is made once for all of them.
        let mut last: Option<Arc<Client>> = None;
        for service in model.services.iter().filter(|service| service.settings.tls.is_some()) {
            let definition = Definition::of(model, service);
            let client = match (known.get(&service.name), &last) {
                (Some(client), _) if client.definition == definition => Arc::clone(client),
                (_, Some(alike)) if alike.definition == definition => Arc::new(alike.another()),
                _ => Arc::new(Client::make(definition)),
            };
            if let Err(why) = &client.config {
                tracing::error!(service = &*service.name, why, "no TLS");
            }
            last = Some(Arc::clone(&client));
            next.insert(Arc::clone(&service.name), client);
        }
        *self.current.write() = next;
        *followed = Some(Arc::clone(model));
    }

    /// Changes when a connection to this service would be made in another way (verification, certificates): one that is
    /// open is of no use then. 0: no TLS.
    pub fn stamp(&self, service: &str) -> u64 {
        self.current.read().get(service).map_or(0, |client| client.stamp)
    }

    /// Speaks TLS with a server. Errors: in words.
    pub async fn connect(
        &self,
        service: &str,
        name: ServerName<'static>,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, String> {
        let client = self.current.read().get(service).cloned();
        let config = match client.as_ref().map(|client| &client.config) {
            Some(Ok(config)) => Arc::clone(config),
            Some(Err(why)) => return Err(why.clone()),
            // The service changed its type a moment ago.
            None => return Err("not configured".to_owned()),
        };
        TlsConnector::from(config).connect(name, stream).await.map_err(|error| error.to_string())
    }
}

/// The name that a server is asked for and verified by: the service's own, its host's, the request's; an address is
/// verified and not sent.
pub(crate) fn server_name(service: &Service, address: SocketAddr, requested: Option<&str>) -> ServerName<'static> {
    let own = service.settings.tls.as_ref().and_then(|tls| tls.server_name.as_deref());
    let host = match &service.host {
        Host::Name(name) => Some(&**name),
        Host::Ip(_) => None,
    };
    let name = own.or(host).or_else(|| requested.map(without_port));
    // A name of DNS may end in a dot; one of TLS may not.
    let name = name.map(|name| name.strip_suffix('.').unwrap_or(name).to_owned());
    name.and_then(|name| ServerName::try_from(name).ok()).unwrap_or_else(|| ServerName::from(address.ip()))
}

/// `[::1]:8080` → `::1`.
fn without_port(host: &str) -> &str {
    if let Some(inside) = host.strip_prefix('[') {
        return inside.split(']').next().unwrap_or(inside);
    }
    host.split(':').next().unwrap_or(host)
}

/// The system's, read once for the life of the process.
fn system_roots() -> Result<RootCertStore, String> {
    static ROOTS: OnceLock<RootCertStore> = OnceLock::new();
    let roots = ROOTS.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        roots
    });
    if roots.is_empty() {
        let why = "no root certificates on this machine to verify servers with (package ca-certificates)";
        return Err(why.to_owned());
    }
    Ok(roots.clone())
}

// === impl Definition ===

impl Definition {
    fn of(model: &Model, service: &Service) -> Definition {
        let tls = service.settings.tls.clone().unwrap_or_default();
        let certificate = |id: crate::model::id::CertificateId| model.certificates[id.index()].clone();
        Definition {
            verify: tls.verify,
            authority: tls.authority.map(certificate),
            certificate: tls.certificate.map(certificate),
            min: tls.min_version,
            http2: service.settings.http2,
        }
    }

    fn make(&self) -> Result<ClientConfig, String> {
        let builder = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&versions(self.min, TlsVersion::V1_3))
            .map_err(|error| error.to_string())?;
        let builder = match (self.verify, &self.authority) {
            (false, _) => builder.dangerous().with_custom_certificate_verifier(Arc::new(Trusting(provider()))),
            (true, Some(authority)) => {
                builder.dangerous().with_custom_certificate_verifier(Arc::new(pinned::servers(authority)?))
            }
            (true, None) => builder.with_root_certificates(system_roots()?),
        };
        let mut config = match &self.certificate {
            None => builder.with_no_client_auth(),
            Some(certificate) => {
                let shown = rustls::sign::SingleCertAndKey::from(certified(certificate)?);
                builder.with_client_cert_resolver(Arc::new(shown))
            }
        };
        if self.http2 {
            config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        }
        Ok(config)
    }
}

// === impl Client ===

impl Client {
    fn make(definition: Definition) -> Client {
        let config = definition.make().map(sessions_of_its_own);
        Client { stamp: stamp(), definition, config }
    }

    /// For another service of the same definition.
    fn another(&self) -> Client {
        let config = self.config.clone().map(|config| sessions_of_its_own((*config).clone()));
        Client { stamp: stamp(), definition: self.definition.clone(), config }
    }
}

fn stamp() -> u64 {
    static MADE: AtomicU64 = AtomicU64::new(1);
    MADE.fetch_add(1, Ordering::Relaxed)
}

fn sessions_of_its_own(mut config: ClientConfig) -> Arc<ClientConfig> {
    config.resumption = Resumption::in_memory_sessions(SESSIONS_MOST);
    Arc::new(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::service::Protocol;

    #[test]
    fn a_server_is_asked_for_by_its_own_name_its_hosts_or_the_requests() {
        let address: SocketAddr = "192.0.2.1:443".parse().unwrap();
        let mut service = Service::new("web1", Protocol::Ssl, address);
        let text = |service: &Service, host| server_name(service, address, host).to_str().into_owned();
        assert_eq!(text(&service, None), "192.0.2.1");
        assert_eq!(text(&service, Some("www.test:8443")), "www.test");
        assert_eq!(text(&service, Some("[2001:db8::1]:8443")), "2001:db8::1");
        assert_eq!(text(&service, Some("not a name")), "192.0.2.1");
        service.host = Host::Name("web1.test.".into());
        assert_eq!(text(&service, Some("www.test")), "web1.test");
        service.settings.tls.as_mut().unwrap().server_name = Some("own.test".into());
        assert_eq!(text(&service, Some("www.test")), "own.test");
    }
}
