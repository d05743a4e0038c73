//! The accept loop of one VIP.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::dataplane::conn::ClientInfo;
use crate::dataplane::ended::Conn;
use crate::dataplane::places::Place;
use crate::dataplane::seldom::Seldom;
use crate::dataplane::{Shared, connect, l4, l7, proxy, raised, reset_on_close, tls};
use crate::model::ending::{Phase, Reason, Who};
use crate::model::id::Name;
use crate::model::service::Protocol;
use crate::snapshot::live::{Counted, VserverLive};

/// Wait after an error that is ours (no file descriptor, no memory): the connection stays in the backlog.
const BACKOFF: Duration = Duration::from_millis(50);

/// Accepts until `stopped`. At the bound of connections it stops accepting until idle ones have made room; the kernel's
/// backlog holds the rest.
pub(super) async fn run(
    shared: Arc<Shared>,
    listener: Arc<TcpListener>,
    vserver: Name,
    live: Arc<VserverLive>,
    stopped: watch::Receiver<bool>,
) {
    let stopping = raised(stopped);
    tokio::pin!(stopping);
    let told = Seldom::new();
    loop {
        let place = tokio::select! {
            () = &mut stopping => break,
            place = shared.places.take(|| Arc::clone(&shared.plane.cell.load().connections)) => place,
        };
        tokio::select! {
            () = &mut stopping => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, client)) => spawn(&shared, stream, client, &vserver, &live, place),
                Err(error) => if !is_the_clients(&error) {
                    if connect::reason(&error) == Reason::NoDescriptor {
                        live.no_descriptor_total.fetch_add(1, Ordering::Relaxed);
                    }
                    if let Some(left_out) = told.due(shared.now()) {
                        tracing::warn!(vserver = &*vserver, %error, left_out, "cannot accept");
                    }
                    tokio::time::sleep(BACKOFF).await;
                },
            },
        }
    }
    // Connections that were complete before the socket closes are served, not reset.
    while let Ok(Ok((stream, client))) = tokio::time::timeout(Duration::ZERO, listener.accept()).await {
        let Some(place) = shared.places.try_take() else { break };
        spawn(&shared, stream, client, &vserver, &live, place);
    }
}

fn is_the_clients(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

fn spawn(
    shared: &Arc<Shared>,
    stream: TcpStream,
    client: SocketAddr,
    vserver: &Name,
    live: &Arc<VserverLive>,
    place: Place,
) {
    // Counted here and not in the task, so that a drain that begins now sees it.
    let info = ClientInfo::accepted(&stream, Conn::open(shared, client, vserver, live, Instant::now()));
    let open = shared.open();
    let counted = Counted::new(live, |live| &live.connections);
    let (shared, vserver, live) = (Arc::clone(shared), Arc::clone(vserver), Arc::clone(live));
    tokio::spawn(async move {
        serve(&shared, stream, info, vserver, &live).await;
        drop((counted, place, open));
    });
}

async fn serve(
    shared: &Arc<Shared>,
    mut stream: TcpStream,
    mut info: ClientInfo,
    vserver: Name,
    live: &Arc<VserverLive>,
) {
    let snapshot = shared.plane.cell.load_full();
    let Some(id) = snapshot.model.vserver_id(&vserver) else {
        // A moment ago.
        reset_on_close(&stream);
        return info.conn.ended(Who::Appliance, Phase::Accept, Reason::Removed);
    };
    let (protocol, has_header) = (snapshot.model.vserver(id).protocol, snapshot.model.vserver(id).proxy_protocol);
    if has_header && !Box::pin(told(shared, &mut stream, &mut info, &vserver, live)).await {
        return reset_on_close(&stream);
    }
    // Boxed where it is not plain HTTP: a connection's task is as large as its largest state.
    match protocol {
        Protocol::Http => {
            drop(snapshot);
            l7::serve(shared, stream, info, vserver).await;
        }
        Protocol::Ssl => {
            drop(snapshot);
            if let Some(stream) = Box::pin(tls::terminate(shared, &vserver, live, stream, &mut info)).await {
                l7::serve(shared, Box::new(stream), info, vserver).await;
            }
        }
        Protocol::SslTcp => {
            drop(snapshot);
            if let Some(stream) = Box::pin(tls::terminate(shared, &vserver, live, stream, &mut info)).await {
                let snapshot = shared.plane.cell.load_full();
                Box::pin(l4::serve(shared, snapshot, stream.into(), Vec::new(), info, vserver)).await;
            }
        }
        Protocol::SslBridge => match Box::pin(tls::look(shared, &vserver, live, &mut stream, &mut info)).await {
            Some(hello) => Box::pin(l4::serve(shared, snapshot, stream.into(), hello, info, vserver)).await,
            None => reset_on_close(&stream),
        },
        _ => Box::pin(l4::serve(shared, snapshot, stream.into(), Vec::new(), info, vserver)).await,
    }
}

/// Takes the PROXY protocol header off. `false`: there was none to be believed.
async fn told(
    shared: &Shared,
    stream: &mut TcpStream,
    info: &mut ClientInfo,
    vserver: &Name,
    live: &VserverLive,
) -> bool {
    let read = tokio::select! {
        read = proxy::read(stream) => read,
        reason = info.conn.entry.when_cut() => {
            info.conn.ended(Who::Appliance, Phase::Accept, reason);
            return false;
        }
        () = shared.parting() => {
            info.conn.ended(Who::Appliance, Phase::Accept, Reason::Shutdown);
            return false;
        }
    };
    match read {
        Ok(Some((client, local))) => {
            (info.client, info.local) = (client, local);
            info.conn.entry.set_client(client);
        }
        Ok(None) => {}
        Err(error) => {
            live.bad_proxy_headers_total.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(client = %info.client, vserver = &**vserver, %error, "no PROXY protocol header");
            info.conn.ended(Who::Client, Phase::Accept, Reason::BadProxyHeader);
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size<A, B, C, D, E, F>(_: impl FnOnce(A, B, C, D, E) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_connection_that_waits_for_its_client_is_small() {
        type Shareds = &'static Arc<Shared>;
        let bytes = size(|shared: Shareds, stream, info, vserver, live: &'static Arc<VserverLive>| {
            serve(shared, stream, info, vserver, live)
        });
        assert!(bytes < 5 * 1024, "{bytes}");
    }
}
