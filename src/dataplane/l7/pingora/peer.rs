//! The server of one request as the engine wants to be told of it: address, time-outs, TLS, version of HTTP, and the key
//! under which its connections are shared.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use pingora_core::protocols::tls::CaType;
use pingora_core::upstreams::peer::HttpPeer;
use pingora_core::utils::tls::{CertKey, WrappedX509, parse_x509};

use super::dial::Dial;
use crate::dataplane::l7::link::Link;
use crate::dataplane::member::Acquired;
use crate::dataplane::{proxy, tls};
use crate::model::Model;
use crate::model::id::{CertificateId, Name};
use crate::model::service::Service;
use crate::model::tls::Certificate;

/// Idle connections to servers are closed after this, or after the service's time-out where that is shorter.
const POOLED_MAX: Duration = Duration::from_secs(60);
/// Streams on one HTTP/2 connection to a server; fewer where the server says so.
const STREAMS_MAX: usize = 100;
/// A PING goes to a server of HTTP/2 this often; one without an answer for five seconds is given up.
const PING: Duration = Duration::from_secs(30);
/// Bytes of an answer of HTTP/2 that are taken before the client has, for one stream, and for all of a connection.
const STREAM_WINDOW_BYTES: u32 = 256 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 4 * 1024 * 1024;

/// Tells connections that are not to be shared from all others.
static FRESH: AtomicU64 = AtomicU64::new(0);

/// What a request needs a connection for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Connection {
    /// One that carried others before is welcome.
    Any,
    /// One that carried none.
    Fresh,
    /// One that becomes a tunnel.
    Upgrade,
}

/// What TLS to servers needs that is dear to make, by service.
#[derive(Default)]
pub(super) struct Prepared(Mutex<HashMap<Name, Arc<Material>>>);

#[derive(Default)]
struct Material {
    authority: Option<Certificate>,
    certificate: Option<Certificate>,
    ca: Option<Arc<CaType>>,
    own: Option<Arc<CertKey>>,
}

/// The peer of `chosen` for a request with this Host. Errors: in words, where its certificates cannot be used.
pub(super) fn peer(
    prepared: &Prepared,
    link: &Link,
    chosen: &Acquired,
    host: Option<&str>,
    connection: Connection,
) -> Result<HttpPeer, String> {
    let upgrade = connection == Connection::Upgrade;
    let service = chosen.snapshot.model.service(chosen.choice.service);
    let settings = &service.settings;
    let address = chosen.choice.address;
    // An address, never a name: this cannot fail or block.
    let mut peer = match &settings.tls {
        None => HttpPeer::new(address, false, String::new()),
        Some(_) => HttpPeer::new(address, true, tls::server_name(service, address, host).to_str().into_owned()),
    };
    let options = &mut peer.options;
    options.connection_timeout = Some(settings.connect_timeout);
    options.total_connection_timeout = Some(settings.connect_timeout);
    let idle = settings.server_idle();
    options.read_timeout = idle;
    options.write_timeout = idle;
    options.idle_timeout = Some(idle.unwrap_or(POOLED_MAX).min(POOLED_MAX));
    let info = &link.info;
    let header = settings.proxy_protocol;
    let header = header.map(|version| proxy::header(version, (info.client, info.local), info.tls.as_ref()));
    let source = chosen.snapshot.source_for(address.ip());
    let dial = Dial { connect_timeout: settings.connect_timeout, proxy_header: header.clone(), upgrade, source };
    options.custom_l4 = Some(dial.connector());
    if connection != Connection::Any {
        // Nobody comes back for it.
        options.idle_timeout = Some(Duration::from_secs(1));
    }
    if settings.http2 && !upgrade {
        // In the clear there is nothing to agree by: the server is taken at its word.
        options.set_http_version(2, if settings.tls.is_some() { 1 } else { 2 });
        options.max_h2_streams = STREAMS_MAX;
        options.h2_ping_interval = Some(PING);
        options.h2_stream_window_size = Some(STREAM_WINDOW_BYTES);
        options.h2_connection_window_size = Some(CONNECTION_WINDOW_BYTES);
    }
    let mut shared_by = DefaultHasher::new();
    if let Some(tls) = &settings.tls {
        let material = prepared.of(&chosen.snapshot.model, service)?;
        peer.options.verify_cert = tls.verify;
        peer.options.verify_hostname = tls.verify;
        peer.options.ca.clone_from(&material.ca);
        peer.client_cert_key.clone_from(&material.own);
        // Another certificate of the same name is another one.
        (link.shared.tls_clients.stamp(&service.name), tls.verify, tls.min_version).hash(&mut shared_by);
    }
    // Connections are shared by requests with the same key only: the same service, and no flush in between; the same
    // client where they begin with who it is.
    chosen.serving.service().hash(&mut shared_by);
    chosen.serving.live().flush.borrow().hash(&mut shared_by);
    (upgrade, settings.http2).hash(&mut shared_by);
    if header.is_some() {
        (info.client, info.accepted_at, header).hash(&mut shared_by);
    }
    if settings.http2 && settings.max_requests > 0 {
        // Nobody counts on a connection that is shared at once: after so many requests of all, another one is made.
        let all = chosen.serving.live().requests_total.load(Ordering::Relaxed);
        (all / u64::from(settings.max_requests)).hash(&mut shared_by);
    }
    if connection == Connection::Fresh {
        FRESH.fetch_add(1, Ordering::Relaxed).hash(&mut shared_by);
    }
    peer.group_key = shared_by.finish();
    Ok(peer)
}

// === impl Prepared ===

impl Prepared {
    fn of(&self, model: &Model, service: &Service) -> Result<Arc<Material>, String> {
        let tls = service.settings.tls.as_ref();
        let named = |id: Option<CertificateId>| id.map(|id| &model.certificates[id.index()]);
        let authority = named(tls.and_then(|tls| tls.authority));
        let certificate = named(tls.and_then(|tls| tls.certificate));
        let mut known = self.0.lock();
        if let Some(material) = known.get(&service.name)
            && material.authority.as_ref() == authority
            && material.certificate.as_ref() == certificate
        {
            return Ok(Arc::clone(material));
        }
        let material = Arc::new(Material::new(authority, certificate)?);
        known.retain(|name, _| model.service_id(name).is_some());
        known.insert(Arc::clone(&service.name), Arc::clone(&material));
        Ok(material)
    }
}

// === impl Material ===

/// The engine panics on what does not.
fn parses(der: &[u8]) -> Result<(), String> {
    let parsed = x509_parser::parse_x509_certificate(der);
    parsed.map(|_| ()).map_err(|error| format!("is no certificate: {error}"))
}

impl Material {
    fn new(authority: Option<&Certificate>, certificate: Option<&Certificate>) -> Result<Material, String> {
        let ca = match authority {
            None => None,
            Some(authority) => {
                let all = authority.chain.certificates()?;
                all.iter().try_for_each(|der| parses(der))?;
                let wrapped = all.into_iter().map(|der| WrappedX509::new(der.to_vec(), parse_x509));
                Some(Arc::from(wrapped.collect::<Box<[_]>>()))
            }
        };
        let own = match certificate {
            None => None,
            Some(certificate) => {
                let key = certificate.key.as_ref().ok_or("a certificate without its key")?.private_key()?;
                let all = certificate.chain.certificates()?;
                all.iter().try_for_each(|der| parses(der))?;
                let chain = all.into_iter().map(|der| der.to_vec()).collect();
                Some(Arc::new(CertKey::new(chain, key.secret_der().to_vec())))
            }
        };
        Ok(Material { authority: authority.cloned(), certificate: certificate.cloned(), ca, own })
    }
}
