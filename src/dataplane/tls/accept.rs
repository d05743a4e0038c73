//! The handshake with a client, and the look into one that is passed through.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustls::server::Acceptor;
use rustls::{HandshakeKind, ServerConnection};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

use super::failure::Failure;
use super::servers::Servers;
use super::{hello, session, version_of};
use crate::dataplane::conn::{ClientInfo, TlsInfo};
use crate::dataplane::{PARTING, Shared, reset_on_close};
use crate::model::ending::{Phase, Reason, Who};
use crate::model::id::Name;
use crate::snapshot::live::{Connection, VserverLive};

/// Time for a whole handshake.
const LIMIT: Duration = Duration::from_secs(10);
/// The fatal alert `unrecognized_name` (RFC 6066 §3), as a record.
const UNRECOGNIZED_NAME: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

/// A handshake that came to nothing.
enum Failed {
    /// And what is left of the connection.
    By { failure: Failure, why: String, left: Option<TcpStream> },
    /// The connection was cut: it gave way to another, or somebody ended it.
    Cut(Reason),
}

/// Speaks TLS with a client. `None`: it failed, which is counted and logged, and the connection is closed.
pub(crate) async fn terminate(
    shared: &Shared,
    vserver: &Name,
    live: &VserverLive,
    stream: TcpStream,
    info: &mut ClientInfo,
) -> Option<TlsStream<TcpStream>> {
    let entry = Arc::clone(&info.conn.entry);
    let _under_way = shared.handshakes.begin(&entry);
    let began = Instant::now();
    let handshake = session::identified(handshake(&shared.tls, vserver, stream, Some(&entry)));
    let handshake = tokio::time::timeout(LIMIT, handshake);
    let (done, identity) = match tokio::select! { done = handshake => done, () = shared.parting() => return None } {
        Ok(done) => done,
        Err(_) => {
            failed(vserver, live, info, Failure::Timeout, "handshake not over in time");
            return None;
        }
    };
    match done {
        Ok(stream) => {
            let told = told(stream.get_ref().1, identity);
            let total = if told.resumed { &live.tls.resumed_total } else { &live.tls.full_total };
            total.fetch_add(1, Ordering::Relaxed);
            info.tls = Some(told);
            let handshake = began.elapsed();
            info.handshake = Some(handshake);
            info.conn.secured(handshake);
            Some(stream)
        }
        Err(Failed::Cut(reason)) => {
            cut(vserver, live, info, reason);
            None
        }
        Err(Failed::By { failure, why, left }) => {
            failed(vserver, live, info, failure, &why);
            if let Some(left) = left {
                let _ = tokio::time::timeout(PARTING, part(left)).await;
            }
            None
        }
    }
}

/// Speaks TLS with a client of the DNS service; `name` is that of the table. Errors: in words.
pub(crate) async fn terminate_dns(
    servers: &Servers,
    name: &str,
    stream: TcpStream,
    limit: Duration,
) -> Result<TlsStream<TcpStream>, String> {
    // On the heap: it is large, and most connections of the service have none.
    let handshake = Box::pin(session::identified(handshake(servers, name, stream, None)));
    let handshake = tokio::time::timeout(limit, handshake);
    match handshake.await {
        Ok((Ok(stream), _)) => Ok(stream),
        Ok((Err(Failed::Cut(_)), _)) => Err("cut".to_owned()),
        Ok((Err(Failed::By { failure, why, left }), _)) => {
            if let Some(left) = left {
                let _ = tokio::time::timeout(PARTING, part(left)).await;
            }
            Err(format!("{}: {why}", failure.word()))
        }
        Err(_) => Err("handshake not over in time".to_owned()),
    }
}

/// Resolves once the connection was cut; one without an entry in the table never is.
async fn when_cut(entry: Option<&Connection>) -> Reason {
    match entry {
        Some(entry) => entry.when_cut().await,
        None => std::future::pending().await,
    }
}

async fn handshake(
    servers: &Servers,
    vserver: &str,
    stream: TcpStream,
    entry: Option<&Connection>,
) -> Result<TlsStream<TcpStream>, Failed> {
    let mut acceptor = pin!(LazyConfigAcceptor::new(Acceptor::default(), stream));
    let begun = tokio::select! { begun = acceptor.as_mut() => Ok(begun), reason = when_cut(entry) => Err(reason) };
    let mut begun = match begun {
        Ok(Ok(begun)) => begun,
        Ok(Err(error)) => return Err(Failed::new(&error, acceptor.take_io())),
        Err(reason) => {
            // Nothing is left of it in the kernel either.
            acceptor.take_io().inspect(reset_on_close);
            return Err(Failed::Cut(reason));
        }
    };
    let server = servers.get(vserver);
    let made = match server.as_deref().map(|server| &server.made) {
        Some(Ok(made)) => made,
        Some(Err(why)) => {
            return Err(Failed::By { failure: Failure::Internal, why: why.clone(), left: Some(begun.io) });
        }
        // The vserver changed its type a moment ago.
        None => {
            return Err(Failed::By { failure: Failure::Internal, why: "not configured".into(), left: Some(begun.io) });
        }
    };
    if !made.certificates.serves(begun.client_hello().server_name()) {
        let why = format!("no certificate for {:?}", begun.client_hello().server_name().unwrap_or(""));
        let _ = begun.io.write_all(&UNRECOGNIZED_NAME).await;
        return Err(Failed::By { failure: Failure::UnknownName, why, left: Some(begun.io) });
    }
    let accept = begun.into_stream(Arc::clone(&made.config)).into_fallible();
    tokio::select! {
        done = accept => done.map_err(|(error, left)| Failed::new(&error, Some(left))),
        reason = when_cut(entry) => Err(Failed::Cut(reason)),
    }
}

/// Reads the ClientHello of a connection that is passed through. What was read goes to the server first. `None`: it is no
/// TLS, or did not come in time.
pub(crate) async fn look(
    shared: &Shared,
    vserver: &Name,
    live: &VserverLive,
    stream: &mut TcpStream,
    info: &mut ClientInfo,
) -> Option<Vec<u8>> {
    let mut read = Vec::new();
    let looked = async {
        loop {
            if stream.read_buf(&mut read).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(hello) = hello::parse(&read).map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))? {
                return Ok(hello);
            }
        }
    };
    let looked = tokio::time::timeout(LIMIT, looked);
    let entry = Arc::clone(&info.conn.entry);
    let looked = tokio::select! {
        looked = looked => looked,
        reason = entry.when_cut() => {
            cut(vserver, live, info, reason);
            return None;
        }
        () = shared.parting() => return None,
    };
    match looked.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
        Ok(hello) => {
            info.conn.entry.set_tls();
            info.tls = Some(TlsInfo {
                server_name: hello.server_name,
                http2: false,
                version: hello.version,
                resumed: false,
                session: hello.session,
            });
            Some(read)
        }
        Err(error) => {
            failed(vserver, live, info, Failure::of(&error), &error.to_string());
            None
        }
    }
}

fn told(connection: &ServerConnection, identity: Option<session::Identity>) -> TlsInfo {
    TlsInfo {
        server_name: connection.server_name().map(|name| name.to_ascii_lowercase().into()),
        http2: connection.alpn_protocol() == Some(b"h2"),
        version: version_of(connection.protocol_version()),
        resumed: connection.handshake_kind() == Some(HandshakeKind::Resumed),
        session: identity.map(|identity| identity.to_vec()),
    }
}

fn cut(vserver: &Name, live: &VserverLive, info: &ClientInfo, reason: Reason) {
    match reason {
        Reason::TooManyConnections => failed(vserver, live, info, Failure::TooMany, "gave way to another connection"),
        _ => info.conn.ended(Who::Appliance, Phase::Tls, reason),
    }
}

fn failed(vserver: &Name, live: &VserverLive, info: &ClientInfo, failure: Failure, why: &str) {
    live.tls.failed_total[failure.index()].fetch_add(1, Ordering::Relaxed);
    tracing::debug!(client = %info.client, vserver = &**vserver, failure = failure.word(), why, "TLS failed");
    let (who, reason) = match failure {
        Failure::Internal => (Who::Appliance, Reason::TlsFailed),
        Failure::TooMany => (Who::Appliance, Reason::TooManyConnections),
        _ => (Who::Client, Reason::TlsFailed),
    };
    info.conn.ended(who, Phase::Tls, reason);
}

/// Ends our side and reads on until the client ends its: a close with unread bytes would be a reset, which may overtake
/// the alert.
async fn part(mut left: TcpStream) {
    let mut scrap = [0; 1024];
    let _ = left.shutdown().await;
    while left.read(&mut scrap).await.is_ok_and(|read| read > 0) {}
}

// === impl Failed ===

impl Failed {
    fn new(error: &io::Error, left: Option<TcpStream>) -> Failed {
        Failed::By { failure: Failure::of(error), why: error.to_string(), left }
    }
}
