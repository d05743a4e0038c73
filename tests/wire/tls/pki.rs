//! Authorities and certificates that exist for one test.

use std::io;
use std::sync::Arc;

use bascule::model::tls::{Certificate, Pem};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::world::{Server, connect};

pub const BOTH: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13, &rustls::version::TLS12];

pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub pem: String,
}

/// A certificate with its key, as PEM.
#[derive(Clone)]
pub struct Issued {
    pub name: String,
    pub chain: String,
    pub key: String,
}

/// As `openssl req -x509` makes one: an authority and a leaf at once; good until the end of that year.
pub fn self_signed(name: &str, hosts: &[&str], year: i32) -> Issued {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut params = CertificateParams::new(hosts).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.not_after = rcgen::date_time_ymd(year, 12, 31);
    let key = KeyPair::generate().unwrap();
    let chain = params.self_signed(&key).unwrap().pem();
    Issued { name: name.to_owned(), chain, key: key.serialize_pem() }
}

// === impl Authority ===

impl Authority {
    pub fn new(common_name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, common_name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }

    /// For these hosts, under `name` in the configuration.
    pub fn issue(&self, name: &str, hosts: &[&str]) -> Issued {
        self.issue_until(name, hosts, 4096)
    }

    /// Good until the end of that year.
    pub fn issue_until(&self, name: &str, hosts: &[&str], year: i32) -> Issued {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut params = CertificateParams::new(hosts).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_after = rcgen::date_time_ymd(year, 12, 31);
        let key = KeyPair::generate().unwrap();
        let chain = params.signed_by(&key, &self.issuer).unwrap().pem();
        Issued { name: name.to_owned(), chain, key: key.serialize_pem() }
    }

    /// As a certificate of the configuration, without its key.
    pub fn certificate(&self, name: &str) -> Certificate {
        Certificate { name: name.into(), chain: pem("ca.pem", &self.pem), key: None }
    }

    pub fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()).unwrap();
        roots
    }

    /// A client that trusts this authority alone.
    pub fn client(&self, versions: &[&'static SupportedProtocolVersion]) -> ClientConfig {
        let builder = ClientConfig::builder_with_provider(provider()).with_protocol_versions(versions).unwrap();
        builder.with_root_certificates(self.roots()).with_no_client_auth()
    }

    /// The same, with a certificate of its own.
    pub fn client_as(&self, issued: &Issued) -> ClientConfig {
        let builder = ClientConfig::builder_with_provider(provider()).with_protocol_versions(BOTH).unwrap();
        builder.with_root_certificates(self.roots()).with_client_auth_cert(issued.certs(), issued.key()).unwrap()
    }
}

// === impl Issued ===

impl Issued {
    pub fn certificate(&self) -> Certificate {
        Certificate {
            name: self.name.as_str().into(),
            chain: pem("cert.pem", &self.chain),
            key: Some(pem("cert.key", &self.key)),
        }
    }

    fn certs(&self) -> Vec<CertificateDer<'static>> {
        CertificateDer::pem_slice_iter(self.chain.as_bytes()).map(Result::unwrap).collect()
    }

    fn key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap()
    }

    /// A server that speaks these versions.
    pub fn server_of(&self, versions: &[&'static SupportedProtocolVersion]) -> Arc<ServerConfig> {
        let builder = ServerConfig::builder_with_provider(provider()).with_protocol_versions(versions).unwrap();
        Arc::new(builder.with_no_client_auth().with_single_cert(self.certs(), self.key()).unwrap())
    }

    /// A server that shows this certificate, and asks for one where `clients` says whose.
    pub fn server(&self, clients: Option<&Authority>) -> Arc<ServerConfig> {
        let builder = ServerConfig::builder_with_provider(provider()).with_protocol_versions(BOTH).unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let roots = Arc::new(authority.roots());
                let verifier = rustls::server::WebPkiClientVerifier::builder_with_provider(roots, provider());
                builder.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        Arc::new(builder.with_single_cert(self.certs(), self.key()).unwrap())
    }
}

fn pem(file: &str, text: &str) -> Pem {
    Pem { file: file.into(), text: text.into() }
}

pub fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A handshake as `name` would make it.
pub async fn handshake(
    config: &Arc<ClientConfig>,
    to: std::net::SocketAddr,
    name: &str,
) -> io::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from(name.to_owned()).unwrap();
    TlsConnector::from(Arc::clone(config)).connect(name, connect(to).await).await
}

/// Whether the certificate that the server showed is this one.
pub fn shown(stream: &TlsStream<TcpStream>, issued: &Issued) -> bool {
    stream.get_ref().1.peer_certificates().unwrap()[0] == issued.certs()[0]
}

/// A server that speaks TLS on each connection and answers every request with the name that it was asked for (SNI).
pub async fn tls_server(config: Arc<ServerConfig>) -> Server {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    Server::each(move |stream| {
        let acceptor = TlsAcceptor::from(Arc::clone(&config));
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            let name = stream.get_ref().1.server_name().unwrap_or("-").to_owned();
            let resumed = stream.get_ref().1.handshake_kind() == Some(rustls::HandshakeKind::Resumed);
            let name = if resumed { format!("{name} again") } else { name };
            let mut read = Vec::new();
            while stream.read_buf(&mut read).await.is_ok_and(|read| read > 0) {
                if read.ends_with(b"\r\n\r\n") {
                    read.clear();
                    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{name}", name.len());
                    if stream.write_all(answer.as_bytes()).await.is_err() || stream.flush().await.is_err() {
                        return;
                    }
                }
            }
        }
    })
    .await
}
