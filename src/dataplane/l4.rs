//! L4: TCP, with TLS or without. A connection is balanced once, on the snapshot of its beginning; then bytes are copied
//! until an end, an idle time-out or a flush. A half-close is passed on as a half-close and a reset as a reset.

mod copy;
mod streams;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::AsyncWriteExt;

use super::conn::{ClientInfo, Stream, Transport};
use super::connect::connect as connect_to;
use super::member::{Acquired, Choice, Refused, Serving, Wanted, acquire, admit};
use super::{Shared, raised, reset_on_close};
use crate::model::ending::Reason;
use crate::model::id::Name;
use crate::snapshot::Snapshot;
use crate::snapshot::live::ServiceLive;

/// Time that all tries to reach a member may take together.
const CONNECT_BUDGET: Duration = Duration::from_secs(30);

/// A member that was reached.
struct Connected {
    server: Stream,
    serving: Serving,
    /// The shorter of the client's and the server's idle time-out.
    idle: Duration,
}

/// Serves one connection to the end. `already`: bytes of the client that were read; they go to the server first.
pub(crate) async fn serve(
    shared: &Arc<Shared>,
    snapshot: Arc<Snapshot>,
    mut client: Stream,
    already: Vec<u8>,
    info: ClientInfo,
    vserver: Name,
) {
    let Some(entry) = snapshot.model.vserver_id(&vserver) else { return reset_on_close(client.socket()) };
    let live = Arc::clone(&snapshot.vservers[entry.index()].live);
    live.requests_total.fetch_add(1, Ordering::Relaxed);
    let wanted = Wanted {
        client: info.client,
        local: info.local,
        value: &|_| None,
        tls_session: info.tls.as_ref().and_then(|tls| tls.session.as_deref()),
        only: None,
        tried: &[],
        now: shared.now(),
        dry: false,
    };
    let Ok(_admitted) = admit(&snapshot, entry, &wanted) else {
        live.refused_total.fetch_add(1, Ordering::Relaxed);
        return reset_on_close(client.socket());
    };
    let connected = tokio::select! {
        connected = connect(shared, snapshot, &info, &vserver, &wanted) => connected,
        () = raised(shared.kill.clone()) => return reset_on_close(client.socket()),
    };
    let Ok(Connected { mut server, serving, idle }) = connected else {
        live.refused_total.fetch_add(1, Ordering::Relaxed);
        return reset_on_close(client.socket());
    };
    let ended = tokio::select! {
        ended = carry(&mut client, &mut server, &already, idle, serving.live()) => ended,
        () = serving.flushed() => copy::Ended::Cut,
        () = raised(shared.kill.clone()) => copy::Ended::Cut,
    };
    if ended == copy::Ended::Cut {
        reset_on_close(client.socket());
        reset_on_close(server.socket());
    }
}

async fn carry(
    client: &mut Stream,
    server: &mut Stream,
    already: &[u8],
    idle: Duration,
    live: &ServiceLive,
) -> copy::Ended {
    if !already.is_empty() {
        if !matches!(tokio::time::timeout(idle, server.write_all(already)).await, Ok(Ok(()))) {
            return copy::Ended::Cut;
        }
        live.bytes_in_total.fetch_add(already.len() as u64, Ordering::Relaxed);
    }
    match (client.plain(), server.plain()) {
        (Some(client), Some(server)) => copy::both(client, server, idle, live).await,
        _ => streams::both(client, server, idle, live).await,
    }
}

/// Tries members until one is reached: those of the vserver, then those of the chain.
async fn connect(
    shared: &Shared,
    mut snapshot: Arc<Snapshot>,
    info: &ClientInfo,
    vserver: &Name,
    wanted: &Wanted<'_>,
) -> Result<Connected, Refused> {
    let mut tried = Vec::new();
    // Waiting for a place is not a try: it has a time-out of its own.
    let mut left = CONNECT_BUDGET;
    loop {
        let wanted = Wanted { tried: &tried, now: shared.now(), ..*wanted };
        let Acquired { snapshot: chosen_on, choice, serving, .. } =
            acquire(&shared.plane, snapshot, vserver, &wanted).await?;
        let began = tokio::time::Instant::now();
        let reached =
            tokio::time::timeout(left, reach(shared, &chosen_on, choice, &serving, info)).await.ok().flatten();
        left = left.saturating_sub(began.elapsed());
        if let Some(server) = reached {
            let clients = chosen_on.model.vserver_id(vserver).map(|id| chosen_on.model.vserver(id).client_timeout);
            let servers = chosen_on.model.service(choice.service).settings.server_idle();
            let idle = clients.into_iter().chain(servers).min().unwrap_or(CONNECT_BUDGET);
            return Ok(Connected { server, serving, idle });
        }
        if left.is_zero() {
            return Err(Refused::unavailable(Reason::ConnectTimeout));
        }
        tried.push(Arc::clone(serving.service()));
        snapshot = shared.plane.cell.load_full();
    }
}

async fn reach(
    shared: &Shared,
    snapshot: &Snapshot,
    choice: Choice,
    serving: &Serving,
    info: &ClientInfo,
) -> Option<Stream> {
    let service = snapshot.model.service(choice.service);
    let failure = tokio::select! {
        connected = connect_to(shared, service, choice.address, info, None) => match connected {
            Ok(connected) => return Some(connected.stream),
            Err(failure) => failure,
        },
        // It went down while we were knocking: no failure of the connection, but no use either.
        () = serving.flushed() => return None,
    };
    serving.live().connect_failures_total.fetch_add(1, Ordering::Relaxed);
    tracing::debug!(service = &**serving.service(), address = %choice.address, reason = failure.reason.word(),
        why = failure.why, "cannot connect");
    None
}
