//! Connections: TCP and the Unix socket, HTTP/1.1 only. Everything a peer can hold has a limit: connections, the time
//! to send a head, the time to take an answer, the number and size of fields; bodies are limited where they are read.

pub(super) mod local;
mod patience;
mod secure;
mod share;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Version, header};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tower_service::Service as _;

use super::auth::Peer;
use super::problem::Problem;
use super::tls::TlsDoor;
use super::{App, route};
use crate::control::Handle;
use crate::model::access::SocketRules;
use crate::model::first_boot::FirstBoot;
use crate::model::person::is_number;
use patience::Patience;
use secure::Secure;
use share::{Seats, Share, Shares};

/// Connections at once, for each of the two doors: a flood over TCP leaves the local door open.
const CONNECTIONS_MAX: usize = 256;
/// From the start of a request to the end of its head; also how long an idle connection is kept.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const FIELDS_MAX: usize = 64;
/// Of a head, and of what is buffered of a body.
const BUFFER_MAX: usize = 64 << 10;
/// How long requests in flight may take once the process ends.
const GRACE: Duration = Duration::from_secs(2);
/// For so long then a connection is kept on which nobody has asked anything yet.
const FIRST_REQUEST: Duration = Duration::from_millis(500);

/// The ways in.
#[derive(Debug)]
pub struct Doors {
    pub tcp: Option<std::net::TcpListener>,
    pub unix: Option<std::os::unix::net::UnixListener>,
    pub tls: Arc<TlsDoor>,
    /// Where history is kept; `None`: in memory.
    pub state: Option<PathBuf>,
    /// What the appliance was handed at its first boot.
    pub first_boot: Option<FirstBoot>,
    /// People of the configuration and of the directory who have logged in to the machine may use the Unix socket with
    /// their roles.
    pub people: bool,
    /// This program on the disk, to be started for captures and archives; `None`: there are none.
    pub program: Option<PathBuf>,
}

/// As [`serve_through`], with a generated certificate only in memory.
pub fn serve(
    handle: Handle,
    tcp: Option<std::net::TcpListener>,
    unix: Option<std::os::unix::net::UnixListener>,
    shutdown: watch::Receiver<bool>,
) -> JoinHandle<()> {
    serve_through(
        handle,
        Doors {
            tcp,
            unix,
            tls: Arc::new(TlsDoor::new(None)),
            state: None,
            first_boot: None,
            people: false,
            program: None,
        },
        shutdown,
    )
}

/// Serves REST, events, metrics and health on the given listeners until `shutdown` turns true. The handle ends when
/// every connection is closed, at most two seconds later.
pub fn serve_through(handle: Handle, doors: Doors, shutdown: watch::Receiver<bool>) -> JoinHandle<()> {
    let app = App::new(handle.clone(), &doors, shutdown.clone());
    let Doors { tcp, unix, tls, people, .. } = doors;
    let router = route::router(app);
    tokio::spawn(async move {
        let mut doors = JoinSet::new();
        if let Some(listener) = tcp {
            match listener.set_nonblocking(true).and_then(|()| TcpListener::from_std(listener)) {
                Ok(listener) => {
                    drop(doors.spawn(accept_tcp(listener, handle.clone(), tls, router.clone(), shutdown.clone())))
                }
                Err(error) => tracing::error!(%error, "management cannot listen on its TCP socket"),
            }
        }
        if let Some(listener) = unix {
            match listener.set_nonblocking(true).and_then(|()| UnixListener::from_std(listener)) {
                Ok(listener) => drop(doors.spawn(accept_unix(listener, handle, router, people, shutdown))),
                Err(error) => tracing::error!(%error, "management cannot listen on its Unix socket"),
            }
        }
        while doors.join_next().await.is_some() {}
    })
}

async fn accept_tcp(
    listener: TcpListener,
    handle: Handle,
    tls: Arc<TlsDoor>,
    router: Router,
    mut shutdown: watch::Receiver<bool>,
) {
    let secure = Secure::new();
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let shares = Shares::default();
    let mut connections = JoinSet::new();
    loop {
        reap(&mut connections);
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopped(&mut shutdown) => break,
        };
        match accepted {
            Ok((stream, address)) => {
                let snapshot = handle.snapshot();
                if !snapshot.model.admin.hears(address.ip()) {
                    tracing::debug!(peer = %address.ip(), "closed: the address is not in `admin.allow`");
                    continue;
                }
                let Some(share) = shares.take(address.ip()) else {
                    tracing::debug!(peer = %address.ip(), "closed: the address has all the connections it may have");
                    continue;
                };
                let _ = stream.set_nodelay(true);
                let identity = match tls.current(&snapshot.model) {
                    Ok(identity) => identity,
                    Err(error) => {
                        tracing::error!(%error, "closed: the certificate of the management cannot be used");
                        continue;
                    }
                };
                let (secure, router, shutdown) = (secure.clone(), router.clone(), shutdown.clone());
                connections.spawn(async move {
                    match identity {
                        Some(identity) => secure.carry(stream, address, identity, router, shutdown).await,
                        None => carry(stream, Peer::Tcp { address, tls: false }, router, shutdown).await,
                    }
                    drop((slot, share));
                });
            }
            Err(error) => pause_after(&error).await,
        }
    }
    finish(connections).await;
}

async fn accept_unix(
    listener: UnixListener,
    handle: Handle,
    router: Router,
    people: bool,
    mut shutdown: watch::Receiver<bool>,
) {
    let path = listener.local_addr().ok().and_then(|at| Some(at.as_pathname()?.to_owned()));
    let mut published = handle.published();
    let mut rules = None;
    let own_uid = own_uid();
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let seats = Seats::default();
    let mut connections = JoinSet::new();
    loop {
        reap(&mut connections);
        let snapshot = handle.snapshot();
        if let Some(path) = path.as_deref().filter(|_| rules.as_ref() != Some(&snapshot.model.admin.socket)) {
            local::set_permissions(path, rules.insert(snapshot.model.admin.socket.clone()), people);
        }
        drop(snapshot);
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Ok(()) = published.changed() => continue,
            () = stopped(&mut shutdown) => break,
        };
        match accepted.and_then(|(stream, _)| Ok((stream.peer_cred()?, stream))) {
            Ok((cred, stream)) => {
                let (uid, gid) = (cred.uid(), cred.gid());
                let own = uid == 0 || Some(uid) == own_uid;
                // Others leave places to root, and to the own user.
                let seat = if own { None } else { seats.user(uid) };
                if !own && seat.is_none() {
                    tracing::debug!(uid, "closed: the user has all the connections they may have");
                    continue;
                }
                let (seats, rules) = (seats.clone(), rules.clone().unwrap_or_default());
                let is_person = people && is_number(uid);
                let connection = carry(stream, Peer::Unix { uid, gid, own }, router.clone(), shutdown.clone());
                connections.spawn(async move {
                    let seat = match seat {
                        None => None,
                        Some(seat) if is_person => Some(seat),
                        Some(seat) => match seated(seat, &seats, uid, gid, rules).await {
                            None => return,
                            seat => seat,
                        },
                    };
                    connection.await;
                    drop((slot, seat));
                });
            }
            Err(error) => pause_after(&error).await,
        }
    }
    finish(connections).await;
}

/// Where somebody sits once their role is known: who has none is told so with their request, and takes no place of those
/// who have one. `None`: no place is left for such.
async fn seated(seat: Share<u32>, seats: &Seats, uid: u32, gid: u32, rules: SocketRules) -> Option<Share<u32>> {
    let role = tokio::task::spawn_blocking(move || local::role_of(uid, gid, &rules)).await.ok().flatten();
    if role.is_some() { Some(seat) } else { seats.stranger(uid) }
}

/// The user that this process runs as, as the kernel tells it to a peer.
fn own_uid() -> Option<u32> {
    let (one, _other) = UnixStream::pair().ok()?;
    Some(one.peer_cred().ok()?.uid())
}

async fn carry<S>(stream: S, peer: Peer, router: Router, mut shutdown: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let asked = Arc::new(AtomicBool::new(false));
    let asks = Arc::clone(&asked);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        asks.store(true, Ordering::Relaxed);
        let mut router = router.clone();
        async move {
            if !names_its_host(&request) {
                let refused = Problem::bad_request("an HTTP/1.1 request needs one Host field");
                return Ok(refused.into_response());
            }
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(peer);
            Ok::<_, Infallible>(router.call(request).await.unwrap_or_else(|never| match never {}))
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_headers(FIELDS_MAX)
        .max_buf_size(BUFFER_MAX)
        .title_case_headers(true)
        .serve_connection(TokioIo::new(Patience::new(stream)), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopped(&mut shutdown) => {
            // On one that was accepted a moment ago the request is still on its way.
            let first = if asked.load(Ordering::Relaxed) { Duration::ZERO } else { FIRST_REQUEST };
            match tokio::time::timeout(first, connection.as_mut()).await {
                Ok(ended) => ended,
                Err(_) => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, ?peer, "a management connection ended early");
    }
}

/// RFC 9112 §3.2: exactly one Host in HTTP/1.1, at most one in HTTP/1.0.
fn names_its_host(request: &Request<Incoming>) -> bool {
    let hosts = request.headers().get_all(header::HOST).iter().count();
    hosts == 1 || (hosts == 0 && request.version() < Version::HTTP_11)
}

/// Returns once the process ends.
pub(super) async fn stopped(shutdown: &mut watch::Receiver<bool>) {
    // A sender that is gone means the same.
    let _ = shutdown.wait_for(|stop| *stop).await;
}

fn reap(connections: &mut JoinSet<()>) {
    while connections.try_join_next().is_some() {}
}

/// Out of file descriptors: without a pause the loop would burn a core until one is free.
async fn pause_after(error: &std::io::Error) {
    tracing::warn!(%error, "management cannot accept a connection");
    tokio::time::sleep(Duration::from_millis(100)).await;
}

async fn finish(mut connections: JoinSet<()>) {
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, all).await.is_err() {
        connections.abort_all();
    }
}
