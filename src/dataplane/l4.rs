//! L4: TCP, with TLS or without. A connection is balanced once, on the snapshot of its beginning; then bytes are copied
//! until an end, an idle time-out or a flush. A half-close is passed on as a half-close and a reset as a reset.

mod copy;
mod pipe;
pub(super) mod udp;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use super::aside::Aside;
use super::conn::{ClientInfo, Stream, Transport, gone};
use super::connect::{Connected as Reached, connect as connect_to};
use super::ended::Exchange;
use super::member::{Acquired, Choice, Serving, Wanted, acquire, admit};
use super::{Shared, raised, reset_on_close};
use crate::dataplane::l7::policy::{self, Verdict};
use crate::dataplane::l7::routed::Routed;
use crate::model::ending::{Ending, Phase, Reason, Who};
use crate::model::id::{Name, VserverId};
use crate::snapshot::Snapshot;

pub(super) use pipe::set_most as set_most_pipes;

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
    let mut exchange = Exchange::begin(&info.conn, info.accepted_at);
    let Some(entry) = snapshot.model.vserver_id(&vserver) else {
        reset_on_close(client.socket());
        return exchange.finish(Ending::new(Who::Appliance, Phase::Accept, Reason::Removed), 0);
    };
    exchange.head();
    let live = Arc::clone(&snapshot.vservers[entry.index()].live);
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
    let _admitted = match admit(&snapshot, entry, &wanted) {
        Ok(admitted) => admitted,
        Err(refused) => {
            live.refused_total.fetch_add(1, Ordering::Relaxed);
            reset_on_close(client.socket());
            return exchange.finish(refused.ending, 0);
        }
    };
    let decision = decide(&snapshot, entry, &info);
    policy::count(&snapshot, &decision);
    if let Some(rule) = decision.rule(&snapshot) {
        exchange.by_rule(&snapshot.model.rules[rule.index()].name);
    }
    if decision.verdict == Verdict::Reject {
        reset_on_close(client.socket());
        return exchange.finish(Ending::new(Who::Appliance, Phase::Rule, Reason::Rejected), 0);
    }
    let routed = Routed::of(&snapshot, decision);
    let wanted = Wanted { only: routed.only(), ..wanted };
    let connected = tokio::select! {
        connected = connect(shared, snapshot, &info, &routed.vserver, &wanted, &mut exchange) => connected.map_err(Some),
        // Whoever waits in the surge queue may give up. A half-close is no end here.
        () = gone(client.socket(), false) => Err(Some(Ending::new(Who::Client, Phase::Queue, Reason::ClientGone))),
        () = raised(shared.kill.clone()) => Err(None),
        _ = info.conn.entry.when_cut() => Err(None),
    };
    let Connected { mut server, serving, idle } = match connected {
        Ok(connected) => connected,
        Err(ending) => {
            reset_on_close(client.socket());
            // Without an ending it is dropped, for what the connection was cut for.
            if let Some(ending) = ending {
                live.refused_total.fetch_add(1, Ordering::Relaxed);
                exchange.finish(ending, 0);
            }
            return;
        }
    };
    let (flushed, killed, kicked) = (serving.flushed(), raised(shared.kill.clone()), Arc::clone(&info.conn));
    let mut cut = Aside::new(async move {
        tokio::select! {
            reason = flushed => reason,
            () = killed => Reason::Shutdown,
            reason = kicked.entry.when_cut() => reason,
        }
    });
    let ended = {
        let mut copied = pin!(copy::both(&mut client, &mut server, already, idle, &exchange));
        poll_fn(|cx| match copied.as_mut().poll(cx) {
            Poll::Ready(ended) => Poll::Ready(Ok(ended)),
            Poll::Pending => cut.poll(cx).map(Err),
        })
        .await
    };
    let (clean, who, reason) = match ended {
        Ok(copy::Ended::Cleanly(who)) => (true, who, Reason::Done),
        Ok(copy::Ended::Broken(Who::Client)) => (false, Who::Client, Reason::ClientGone),
        Ok(copy::Ended::Broken(who)) if exchange.phase() == Phase::Body => (false, who, Reason::ResetInBody),
        Ok(copy::Ended::Broken(who)) => (false, who, Reason::ResetBeforeHead),
        Ok(copy::Ended::Idle) => (false, Who::Appliance, Reason::IdleTimeout),
        Err(reason) => (false, Who::Appliance, reason),
    };
    if !clean {
        reset_on_close(client.socket());
        reset_on_close(server.socket());
    }
    exchange.end(who, reason, 0);
}

/// What the rules make of a connection: they look at its addresses and its handshake.
fn decide(snapshot: &Snapshot, vserver: VserverId, info: &ClientInfo) -> policy::Decision {
    let tls = info.tls.as_ref();
    let name = tls.and_then(|tls| tls.server_name.as_deref());
    let request = policy::Request::connection(info.client.ip(), info.local.port(), name, tls.is_some());
    policy::decide(snapshot, vserver, &request)
}

/// Tries members until one is reached: those of the vserver, then those of the chain.
async fn connect(
    shared: &Shared,
    mut snapshot: Arc<Snapshot>,
    info: &ClientInfo,
    vserver: &Name,
    wanted: &Wanted<'_>,
    exchange: &mut Exchange,
) -> Result<Connected, Ending> {
    let mut tried = Vec::new();
    // Why the last member was not reached: that none is left to be tried says less.
    let mut failure = None;
    // Waiting for a place is not a try: it has a time-out of its own.
    let mut left = CONNECT_BUDGET;
    loop {
        let wanted = Wanted { tried: &tried, now: shared.now(), ..*wanted };
        let acquired = acquire(&shared.plane, snapshot, vserver, &wanted).await;
        let acquired = acquired.map_err(|refused| failure.unwrap_or(refused.ending))?;
        exchange.chosen(&acquired);
        exchange.calling();
        let Acquired { snapshot: chosen_on, choice, serving, .. } = acquired;
        let began = tokio::time::Instant::now();
        let reached = tokio::time::timeout(left, reach(shared, &chosen_on, choice, &serving, info)).await;
        left = left.saturating_sub(began.elapsed());
        match reached.unwrap_or_else(|_| Err((Who::Server, Reason::ConnectTimeout, String::new()))) {
            Ok(reached) => {
                exchange.connected(reached.handshake);
                let server = reached.stream;
                let clients = chosen_on.model.vserver_id(vserver).map(|id| chosen_on.model.vserver(id).client_timeout);
                let servers = chosen_on.model.service(choice.service).settings.server_idle();
                let idle = clients.into_iter().chain(servers).min().unwrap_or(CONNECT_BUDGET);
                return Ok(Connected { server, serving, idle });
            }
            Err((who, reason, why)) => {
                exchange.unreached(&why);
                if left.is_zero() {
                    return Err(exchange.ending(who, reason));
                }
                failure = Some(exchange.ending(who, reason));
            }
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
) -> Result<Reached, (Who, Reason, String)> {
    let service = snapshot.model.service(choice.service);
    let failure = tokio::select! {
        connected = connect_to(shared, service, choice.address, info.origin(), None) => match connected {
            Ok(connected) => return Ok(connected),
            Err(failure) => failure,
        },
        // It went down while we were knocking: no failure of the connection, but no use either.
        reason = serving.flushed() => return Err((Who::Appliance, reason, String::new())),
    };
    serving.live().connect_failures_total.fetch_add(1, Ordering::Relaxed);
    tracing::debug!(service = &**serving.service(), address = %choice.address, reason = failure.reason.word(),
        why = failure.why, "cannot connect");
    let ours = matches!(failure.reason, Reason::NoSourcePort | Reason::NoDescriptor);
    Err((if ours { Who::Appliance } else { Who::Server }, failure.reason, failure.why))
}
