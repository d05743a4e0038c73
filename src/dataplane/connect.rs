//! A connection to a server, ready for its first byte of payload: TCP, the PROXY protocol header, the handshake. One way
//! for L4 and for both engines of L7.

mod open;

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;

use super::conn::{Origin, Stream};
use super::seldom::Seldom;
use super::{Shared, proxy, tls};
use crate::balance::passive::Outcome;
use crate::model::ending::Reason;
use crate::model::service::Service;
pub(crate) use open::{leave_from, open};

/// A server that was reached.
pub(crate) struct Connected {
    pub stream: Stream,
    /// How long its handshake took, where TLS is spoken.
    pub handshake: Option<Duration>,
    /// It began with a PROXY protocol header: it is this client's, and never to be used for another.
    pub is_the_clients: bool,
}

/// A server that was not reached.
#[derive(Debug)]
pub(crate) struct CannotConnect {
    /// `ConnectFailed`, `ConnectTimeout`, `ServerTlsFailed`, `NoSourcePort` or `NoDescriptor`.
    pub reason: Reason,
    pub why: String,
}

/// Connects to `service` at `address` for `client`, within the service's `connect_timeout` altogether. `host`: whom the
/// request asks for (HTTP), which names the server where nothing else does.
pub(crate) async fn connect(
    shared: &Shared,
    service: &Service,
    address: SocketAddr,
    origin: Origin<'_>,
    host: Option<&str>,
) -> Result<Connected, CannotConnect> {
    let limit = service.settings.connect_timeout;
    let began = Instant::now();
    let all = Box::pin(connect_within(shared, service, address, origin, host, began));
    let connected = tokio::time::timeout(limit, all).await.unwrap_or_else(|_| {
        Err(CannotConnect { reason: Reason::ConnectTimeout, why: format!("no answer within {limit:?}") })
    });
    match &connected {
        Err(CannotConnect { reason: reason @ (Reason::NoSourcePort | Reason::NoDescriptor), why }) => {
            // Ours, and worth more than a line for each request: something is to be done about it.
            static TOLD: Seldom = Seldom::new();
            if let Some(left_out) = TOLD.due(shared.now()) {
                let (reason, service) = (reason.word(), &*service.name);
                tracing::warn!(reason, service, %address, why, left_out, "nothing left to connect with");
            }
        }
        // Passive health.
        Err(CannotConnect { why, .. }) => {
            let (snapshot, now) = (shared.plane.cell.load(), shared.now());
            if let Some(id) = snapshot.model.service_id(&service.name) {
                snapshot.services[id.index()].live.cannot_connect(now, why);
                shared.judge(&service.name, &snapshot.services[id.index()].live, Outcome::ConnectFailed, now);
            }
        }
        Ok(_) => {}
    }
    connected
}

async fn connect_within(
    shared: &Shared,
    service: &Service,
    address: SocketAddr,
    origin: Origin<'_>,
    host: Option<&str>,
    began: Instant,
) -> Result<Connected, CannotConnect> {
    let source = shared.plane.cell.load().source_for(address.ip());
    let mut socket = open(address, source).await?;
    let accepted = began.elapsed();
    let settings = &service.settings;
    if let Some(version) = settings.proxy_protocol {
        socket.write_all(&proxy::header(version, (origin.client, origin.local), origin.tls)).await?;
    }
    let is_the_clients = settings.proxy_protocol.is_some();
    if settings.tls.is_none() {
        return Ok(Connected { stream: socket.into(), handshake: None, is_the_clients });
    }
    let name = tls::server_name(service, address, host);
    let shown = name.to_str().into_owned();
    let stream = shared
        .tls_clients
        .connect(&service.name, name, socket)
        .await
        .map_err(|why| CannotConnect { reason: Reason::ServerTlsFailed, why: format!("TLS as {shown}: {why}") })?;
    let handshake = Some(began.elapsed().saturating_sub(accepted));
    Ok(Connected { stream: stream.into(), handshake, is_the_clients })
}

/// What a failed connect was for lack of.
pub(crate) fn reason(error: &io::Error) -> Reason {
    match error.raw_os_error() {
        Some(libc::EADDRNOTAVAIL) => Reason::NoSourcePort,
        Some(libc::EMFILE | libc::ENFILE) => Reason::NoDescriptor,
        _ if error.kind() == io::ErrorKind::TimedOut => Reason::ConnectTimeout,
        _ => Reason::ConnectFailed,
    }
}

impl From<io::Error> for CannotConnect {
    fn from(error: io::Error) -> CannotConnect {
        CannotConnect { reason: reason(&error), why: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_up_is_told_apart_from_a_server_that_is_not_there() {
        let of = |code| reason(&io::Error::from_raw_os_error(code));
        assert_eq!(of(libc::EADDRNOTAVAIL), Reason::NoSourcePort);
        assert_eq!(of(libc::EMFILE), Reason::NoDescriptor);
        assert_eq!(of(libc::ENFILE), Reason::NoDescriptor);
        assert_eq!(of(libc::ETIMEDOUT), Reason::ConnectTimeout);
        assert_eq!(of(libc::ECONNREFUSED), Reason::ConnectFailed);
    }
}
