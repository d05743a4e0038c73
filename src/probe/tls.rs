//! TLS for probes. Certificates are verified against the system's roots, or not at all where the check says so, which is
//! what NetScaler's `secure` monitors do. Sessions are not resumed: a sample must show that a new client gets in.

pub(super) mod blame;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{Deadline, Miss};
use crate::model::check::{Host, TlsProbe};

pub(super) async fn handshake(
    stream: TcpStream,
    address: SocketAddr,
    host: &Host,
    tls: &TlsProbe,
    alpn: &[&[u8]],
    deadline: Deadline,
) -> Result<TlsStream<TcpStream>, Miss> {
    let mut config = if tls.verify { verifying()? } else { trusting() };
    if !alpn.is_empty() {
        Arc::make_mut(&mut config).alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    }
    connect(config, stream, address, &server_name(host, tls)?, deadline).await
}

pub(super) async fn connect(
    config: Arc<ClientConfig>,
    stream: TcpStream,
    address: SocketAddr,
    name: &ServerName<'static>,
    deadline: Deadline,
) -> Result<TlsStream<TcpStream>, Miss> {
    let handshake = TlsConnector::from(config).connect(name.clone(), stream);
    match deadline.within(|| format!("the TLS handshake with {address}"), handshake).await? {
        Ok(stream) => Ok(stream),
        Err(error) => {
            let what = format!("TLS handshake with {address} as {}", name.to_str());
            match blame::of(&error) {
                Some(why) => Err(Miss::Fail(format!("{what}: {why}"))),
                None => Err(Miss::from_io(&error, &what)),
            }
        }
    }
}

/// The name that is sent and verified. An address is verified, and not sent (SNI carries names only).
pub(super) fn server_name(host: &Host, tls: &TlsProbe) -> Result<ServerName<'static>, Miss> {
    let text = match (&tls.server_name, host) {
        (Some(name), _) | (None, Host::Name(name)) => name,
        (None, Host::Ip(ip)) => return Ok(ServerName::from(*ip)),
    };
    // A name of DNS may end in a dot; one of TLS may not.
    let name = text.strip_suffix('.').unwrap_or(text);
    ServerName::try_from(name.to_owned()).map_err(|_| Miss::Fail(format!("{text} is not a TLS server name")))
}

/// Verifies against the system's roots, which are read once for the life of the process.
pub(super) fn verifying() -> Result<Arc<ClientConfig>, Miss> {
    static CONFIG: OnceLock<Option<Arc<ClientConfig>>> = OnceLock::new();
    let config = CONFIG.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        (!roots.is_empty()).then(|| verifying_against(roots))
    });
    config.clone().ok_or_else(|| {
        Miss::Void(
            "no root certificates on this machine to verify the server with (package ca-certificates)".to_owned(),
        )
    })
}

pub(super) fn verifying_against(roots: RootCertStore) -> Arc<ClientConfig> {
    let mut config = builder().with_root_certificates(roots).with_no_client_auth();
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

/// Takes whatever certificate comes.
fn trusting() -> Arc<ClientConfig> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    let make = || {
        let verifier = Arc::new(Trusting(provider()));
        let mut config = builder().dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        config.resumption = Resumption::disabled();
        Arc::new(config)
    };
    CONFIG.get_or_init(make).clone()
}

fn builder() -> rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .expect("ring offers the suites of TLS 1.2 and 1.3")
}

fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    PROVIDER.get_or_init(|| Arc::new(rustls::crypto::ring::default_provider())).clone()
}

/// Accepts every chain, and still demands that the peer holds the key of the certificate that it shows.
#[derive(Debug)]
struct Trusting(Arc<CryptoProvider>);

// === impl Trusting ===

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    use rustls::ServerConfig;
    use rustls_pki_types::PrivateKeyDer;
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;

    /// A server with a certificate for `names` from an authority of its own, and that authority.
    async fn server(names: &[&str]) -> (SocketAddr, RootCertStore) {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let ca = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let cert = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let acceptor = TlsAcceptor::from(Arc::new(config));
            while let Ok((stream, _)) = listener.accept().await {
                let _ = acceptor.accept(stream).await;
            }
        });
        let mut roots = RootCertStore::empty();
        roots.add(ca.der().clone()).unwrap();
        (address, roots)
    }

    async fn verify(address: SocketAddr, roots: &RootCertStore, host: Host, name: Option<&str>) -> Result<(), Miss> {
        let tls = TlsProbe { server_name: name.map(Into::into), verify: true };
        let stream = TcpStream::connect(address).await.unwrap();
        let deadline = Deadline::after(Duration::from_secs(20));
        let name = server_name(&host, &tls)?;
        connect(verifying_against(roots.clone()), stream, address, &name, deadline).await.map(drop)
    }

    #[tokio::test]
    async fn a_certificate_is_verified_for_the_host_or_the_given_name() {
        let (address, roots) = server(&["a.example", "127.0.0.1"]).await;
        let ip = || Host::Ip(address.ip());
        assert_eq!(verify(address, &roots, ip(), None).await, Ok(()));
        assert_eq!(verify(address, &roots, ip(), Some("a.example.")).await, Ok(()));
        assert_eq!(verify(address, &roots, Host::Name("a.example".into()), None).await, Ok(()));
        let Err(Miss::Fail(why)) = verify(address, &roots, ip(), Some("b.example")).await else { panic!() };
        assert!(why.contains("as b.example: invalid peer certificate"), "{why}");
        assert!(matches!(verify(address, &roots, ip(), Some("not a name")).await, Err(Miss::Fail(_))));
    }
}
