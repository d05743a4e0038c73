//! Connections for others of this program that must reach a server and verify it, as syslog does.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::RootCertStore;
use rustls_pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::connect::{Connection, tcp};
use super::{Deadline, Miss, resolve, tls};
use crate::model::check::{Host, Target, TlsProbe};
use crate::model::id::Name;

/// A connection, plain or TLS.
pub struct Outgoing(Connection);

/// How the server is verified.
#[derive(Clone, Debug)]
pub struct Verified {
    /// Instead of the system's roots.
    pub roots: Option<Vec<CertificateDer<'static>>>,
    pub server_name: Option<Name>,
}

impl Outgoing {
    /// Looks the name up, connects and shakes hands, all within `timeout`. Errors: in words.
    pub async fn open(host: &Host, port: u16, tls: Option<&Verified>, timeout: Duration) -> Result<Outgoing, String> {
        let target = Target { host: host.clone(), port, source: None };
        let opened = open(&target, tls, Deadline::after(timeout)).await;
        opened.map(Outgoing).map_err(|(Miss::Fail(why) | Miss::Void(why))| why)
    }
}

async fn open(target: &Target, tls: Option<&Verified>, deadline: Deadline) -> Result<Connection, Miss> {
    let addresses = resolve::lookup(target, false, deadline).await?;
    let (stream, address) = tcp(&addresses, None, deadline).await?;
    let Some(verified) = tls else { return Ok(Connection::Plain(stream)) };
    let config = match &verified.roots {
        None => tls::verifying()?,
        Some(roots) => {
            let mut store = RootCertStore::empty();
            store.add_parsable_certificates(roots.iter().cloned());
            tls::verifying_against(store)
        }
    };
    let probe = TlsProbe { server_name: verified.server_name.clone(), verify: true };
    let name = tls::server_name(&target.host, &probe)?;
    let stream = tls::connect(Arc::clone(&config), stream, address, &name, deadline).await?;
    Ok(Connection::Tls(Box::new(stream)))
}

impl AsyncRead for Outgoing {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Outgoing {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
