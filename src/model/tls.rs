//! Certificates, and how TLS is spoken to clients and to servers.

mod facts;

use std::fmt;
use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

pub use facts::{Facts, KeyKind};

use super::id::{CertificateId, Name};

/// A certificate with its chain and key, or certificates of authorities without one: NetScaler's `certKey`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    pub name: Name,
    /// The leaf first, then its chain.
    pub chain: Pem,
    /// `None`: usable as an authority only.
    pub key: Option<Pem>,
}

/// A PEM file as it was read when the configuration was loaded: a reload reads it again.
#[derive(Clone, PartialEq, Eq)]
pub struct Pem {
    /// As written in the configuration.
    pub file: Name,
    /// Its text. Of a key: secret, so never printed.
    pub text: Arc<str>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TlsVersion {
    #[default]
    V1_2,
    V1_3,
}

/// TLS towards clients (vservers of type SSL and SSL_TCP).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientTls {
    /// Chosen by the client's SNI against the names in each certificate; the first where none fits or none is sent.
    pub certificates: Vec<CertificateId>,
    /// Default 1.2.
    pub min_version: TlsVersion,
    /// Default 1.3.
    pub max_version: TlsVersion,
    pub client_auth: ClientAuth,
    /// A client whose SNI fits no certificate is refused (`unrecognized_name`). Default off.
    pub strict_sni: bool,
    /// Tickets (1.3, 1.2) and session ids (1.2) for resumption. Default on.
    pub resumption: bool,
    /// What clients are told to remember (vservers of type SSL). Default: nothing.
    pub hsts: Option<Hsts>,
}

/// The field `Strict-Transport-Security` of answers (RFC 6797): clients come by TLS alone for so long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hsts {
    /// Whole seconds; 0: they forget what they were told.
    pub max_age: std::time::Duration,
    pub include_subdomains: bool,
    pub preload: bool,
}

/// Whether clients show certificates of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClientAuth {
    #[default]
    None,
    /// Verified where sent.
    Optional { authority: CertificateId },
    /// Without one the handshake fails.
    Required { authority: CertificateId },
}

/// TLS towards servers (services of type SSL and SSL_TCP).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerTls {
    /// Whether the server's certificate is verified. Default off, as NetScaler's `serverAuth`.
    pub verify: bool,
    /// Verified against these instead of the system's roots.
    pub authority: Option<CertificateId>,
    /// Sent as SNI and verified; `None`: the name of the server object's host, else of the request, else none.
    pub server_name: Option<Name>,
    /// Shown where the server asks for one.
    pub certificate: Option<CertificateId>,
    /// Default 1.2.
    pub min_version: TlsVersion,
}

// === impl Certificate ===

impl Certificate {
    /// What the first certificate of the chain says; `None` where it cannot be read.
    pub fn facts(&self) -> Option<Facts> {
        Facts::of(self.chain.certificates().ok()?.first()?).ok()
    }
}

// === impl Pem ===

impl Pem {
    /// All certificates in the text, in order; at least one. Errors: in words.
    pub fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, String> {
        let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(self.text.as_bytes()).collect();
        match all {
            Ok(all) if all.is_empty() => Err("holds no certificate in PEM form".to_owned()),
            Ok(all) => Ok(all),
            Err(error) => Err(format!("is not PEM: {error}")),
        }
    }

    /// The first private key in the text. Errors: in words, without any of it.
    pub fn private_key(&self) -> Result<PrivateKeyDer<'static>, String> {
        let text = &self.text;
        PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|_| {
            if text.contains("ENCRYPTED") {
                "holds a key under a pass phrase; take the pass phrase off (`openssl pkey`)".to_owned()
            } else {
                "holds no private key in PEM form".to_owned()
            }
        })
    }
}

impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pem").field("file", &self.file).finish_non_exhaustive()
    }
}

// === impl TlsVersion ===

impl TlsVersion {
    /// `1.2`, `1.3`.
    pub fn word(self) -> &'static str {
        match self {
            TlsVersion::V1_2 => "1.2",
            TlsVersion::V1_3 => "1.3",
        }
    }
}

// === impl ClientTls ===

impl Default for ClientTls {
    fn default() -> ClientTls {
        ClientTls {
            certificates: Vec::new(),
            min_version: TlsVersion::V1_2,
            max_version: TlsVersion::V1_3,
            client_auth: ClientAuth::None,
            strict_sni: false,
            resumption: true,
            hsts: None,
        }
    }
}

// === impl Hsts ===

impl Hsts {
    /// Of the field.
    pub const NAME: &'static str = "Strict-Transport-Security";

    /// `max-age=31536000; includeSubDomains; preload`
    pub fn value(&self) -> String {
        let mut value = format!("max-age={}", self.max_age.as_secs());
        if self.include_subdomains {
            value += "; includeSubDomains";
        }
        if self.preload {
            value += "; preload";
        }
        value
    }
}
