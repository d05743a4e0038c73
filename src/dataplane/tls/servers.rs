//! TLS to clients: one configuration for each vserver and each encrypted listener of DNS, made when its definition or one of its certificates changes, and
//! kept as long as they do not. Made where the listeners follow a new generation, so that no handshake waits for it.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use rustls::ServerConfig;
use rustls::server::NoServerSessionStorage;

use super::certificates::Certificates;
use super::certified::Certified;
use super::session::Sessions;
use super::{pinned, provider, versions};
use crate::model::Model;
use crate::model::dns::Encrypted;
use crate::model::id::Name;
use crate::model::service::Protocol;
use crate::model::tls::{Certificate, ClientAuth, ClientTls, TlsVersion};
use crate::model::vserver::Vserver;

/// Names of the tables of the DNS service that speak TLS.
pub(crate) const DNS_TLS: &str = "dns.tls";
pub(crate) const DNS_HTTPS: &str = "dns.https";

/// By vserver, or by table of the DNS service.
#[derive(Default)]
pub(crate) struct Servers {
    current: RwLock<HashMap<Name, Arc<Server>>>,
    /// What `current` was made of: an equal pointer is an equal model.
    followed: Mutex<Option<Arc<Model>>>,
}

/// How one vserver speaks TLS.
pub(super) struct Server {
    definition: Definition,
    sessions: Option<Arc<Sessions>>,
    /// Errors: in words; every handshake fails.
    pub made: Result<Made, String>,
}

pub(super) struct Made {
    pub config: Arc<ServerConfig>,
    pub certificates: Arc<Certificates>,
}

/// All that a configuration is made of, certificates with their text.
#[derive(PartialEq)]
struct Definition {
    certificates: Vec<Certificate>,
    versions: (TlsVersion, TlsVersion),
    clients: ClientCertificates,
    strict: bool,
    resumption: bool,
    /// Application protocols, the preferred one first; empty: not negotiated.
    alpn: Vec<Vec<u8>>,
}

/// Client certificates: must there be one, and whose.
type ClientCertificates = Option<(bool, Certificate)>;

// === impl Servers ===

impl Servers {
    /// Makes what is new or has changed for vservers, and forgets what is gone.
    pub fn follow(&self, model: &Arc<Model>) {
        self.take(model, |model| {
            let vservers = model.vservers.iter().filter(|v| v.protocol.is_tls() && v.address.is_some());
            vservers.map(|vserver| (Arc::clone(&vserver.name), Definition::of_vserver(model, vserver))).collect()
        });
    }

    /// The same for the listeners of the DNS service, under the names of their tables.
    pub fn follow_dns(&self, model: &Arc<Model>) {
        self.take(model, |model| {
            let of = |(name, encrypted, alpn): (&str, &Option<Encrypted>, &[&[u8]])| {
                let tls = &encrypted.as_ref()?.tls;
                Some((name.into(), Definition::of(model, tls, alpn)))
            };
            let tls: (_, _, &[&[u8]]) = (DNS_TLS, &model.dns.tls, &[b"dot"]);
            let https: (_, _, &[&[u8]]) = (DNS_HTTPS, &model.dns.https, &[b"h2", b"http/1.1"]);
            [tls, https].into_iter().filter_map(of).collect()
        });
    }

    fn take(&self, model: &Arc<Model>, wanted: impl FnOnce(&Model) -> Vec<(Name, Definition)>) {
        let mut followed = self.followed.lock();
        if followed.as_ref().is_some_and(|followed| Arc::ptr_eq(followed, model)) {
            return;
        }
        let known = self.current.read().clone();
        let mut next = HashMap::new();
        for (name, definition) in wanted(model) {
            let server = match known.get(&name) {
                Some(server) if server.definition == definition => Arc::clone(server),
                former => Arc::new(Server::make(definition, former.map(|server| &**server))),
            };
            if let Err(why) = &server.made {
                tracing::error!(listener = &*name, why, "no TLS");
            }
            next.insert(name, server);
        }
        *self.current.write() = next;
        *followed = Some(Arc::clone(model));
    }

    pub(super) fn get(&self, vserver: &str) -> Option<Arc<Server>> {
        self.current.read().get(vserver).cloned()
    }
}

// === impl Definition ===

impl Definition {
    fn of_vserver(model: &Model, vserver: &Vserver) -> Definition {
        let alpn: &[&[u8]] = match (vserver.protocol, vserver.http2) {
            (Protocol::Ssl, true) => &[b"h2", b"http/1.1"],
            (Protocol::Ssl, false) => &[b"http/1.1"],
            _ => &[],
        };
        Definition::of(model, &vserver.tls.clone().unwrap_or_default(), alpn)
    }

    fn of(model: &Model, tls: &ClientTls, alpn: &[&[u8]]) -> Definition {
        let certificate = |id: &crate::model::id::CertificateId| model.certificates[id.index()].clone();
        let clients = match &tls.client_auth {
            ClientAuth::None => None,
            ClientAuth::Optional { authority } => Some((false, certificate(authority))),
            ClientAuth::Required { authority } => Some((true, certificate(authority))),
        };
        Definition {
            certificates: tls.certificates.iter().map(certificate).collect(),
            versions: (tls.min_version, tls.max_version),
            clients,
            strict: tls.strict_sni,
            resumption: tls.resumption,
            alpn: alpn.iter().map(|name| name.to_vec()).collect(),
        }
    }

    fn make(&self, sessions: Option<&Sessions>) -> Result<Made, String> {
        if self.certificates.is_empty() {
            return Err("no certificate is bound".to_owned());
        }
        let certificates = Arc::new(Certificates::new(&self.certificates, self.strict)?);
        let (min, max) = self.versions;
        let builder = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&versions(min, max))
            .map_err(|error| error.to_string())?;
        let builder = match &self.clients {
            None => builder.with_no_client_auth(),
            Some((required, authority)) => {
                let verifier = pinned::clients(authority, *required)?;
                builder.with_client_cert_verifier(Arc::new(Certified(Arc::new(verifier))))
            }
        };
        let mut config = builder.with_cert_resolver(Arc::clone(&certificates) as _);
        config.alpn_protocols.clone_from(&self.alpn);
        match sessions {
            Some(sessions) => sessions.install(&mut config),
            None => {
                config.session_storage = Arc::new(NoServerSessionStorage {});
                config.send_tls13_tickets = 0;
            }
        }
        Ok(Made { config: Arc::new(config), certificates })
    }
}

// === impl Server ===

impl Server {
    /// Sessions of `former` stay good unless other client certificates are asked for now: resuming would pass them by.
    fn make(definition: Definition, former: Option<&Server>) -> Server {
        let kept = former.filter(|former| former.definition.clients == definition.clients);
        let sessions = match (definition.resumption, kept.and_then(|former| former.sessions.clone())) {
            (false, _) => None,
            (true, Some(sessions)) => Some(sessions),
            (true, None) => Sessions::new().ok().map(Arc::new),
        };
        let made = definition.make(sessions.as_deref());
        Server { definition, sessions, made }
    }
}
