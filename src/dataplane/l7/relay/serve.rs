//! One request, from its head to the end of its answer: what limits and rules say of it, who serves it, and what is tried
//! when that fails.
//!
//! A member that cannot be reached, or goes down while it is being reached, is passed over, whatever the method, as
//! nothing was sent. One that ends the connection before its answer began is passed over where the request may be
//! repeated: its method is idempotent (RFC 9110 §9.2.2) and what was sent of it is still here, 64 KiB of a body at most.
//! A connection that was kept idle is not the member's fault: the first failure of that kind is tried again on a new one.
//! What is left after that is 502, or 504 where time ran out.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use super::buffer::Buffer;
use super::client::{Client, poll_stop};
use super::outset::{Outset, outset};
use super::pool::Definition;
use super::request::{Request, respond};
use super::server::Server;
use super::transit::{Terms, Transit};
use super::tries::{Failed, Remedy, Tries};
use super::write::Keep;
use super::{End, Relay};
use crate::dataplane::conn::{ClientInfo, Transport, gone};
use crate::dataplane::connect::connect;
use crate::dataplane::ended::Exchange;
use crate::dataplane::l7::head::Framing;
use crate::dataplane::l7::pages::Page;
use crate::dataplane::l7::policy::{self, Verdict};
use crate::dataplane::l7::routed::Routed;
use crate::dataplane::l7::sticky;
use crate::dataplane::member::{Acquired, Admitted, Refused, Wanted, acquire, admit};
use crate::model::balancing::Extract;
use crate::model::ending::{Ending, Phase, Reason, Who};
use crate::model::id::{Name, VserverId};
use crate::model::time::Tick;
use crate::snapshot::Snapshot;
use crate::snapshot::live::VserverLive;

/// What is done about a request, decided without its body.
enum Judged {
    Balance(Admitted, Option<Routed>),
    Page(Page, Ending),
    Reset(Ending),
}

/// Why nobody waits for a member any more.
enum Left {
    /// The client.
    Gone,
    Stopped,
}

/// What goes from member to member.
pub(super) struct Trip<'a> {
    pub request: &'a mut Request,
    pub routed: Option<&'a mut Routed>,
    pub story: &'a mut Exchange,
    /// Only over a connection that is made for it.
    fresh: bool,
    /// There may be another try.
    pub repeats: bool,
}

/// Serves one request. `None`: the connection is good for another.
pub(super) async fn serve<S: Transport>(
    relay: &Relay,
    client: &mut Client<S>,
    mut request: Request,
    mut snapshot: Arc<Snapshot>,
    vserver: VserverId,
    mut story: Exchange,
) -> Option<End> {
    // One reading of the clock will do, until something is waited for.
    let mut now = client.shared.tick(client.complete);
    let (_admitted, mut routed) = match judge(client, &request, &snapshot, vserver, &mut story, now) {
        Judged::Balance(admitted, routed) => (admitted, routed),
        Judged::Page(page, ending) => return respond(client, &request, &page, story, ending).await,
        Judged::Reset(ending) => {
            story.finish(ending, 0);
            return Some(End::Reset);
        }
    };
    let live = Arc::clone(&snapshot.vservers[vserver.index()].live);
    let retry = snapshot.model.vserver(vserver).retry.clone();
    live.retry.request(now);
    let mut tries = Tries::new(retry.max, client.began);
    loop {
        let acquired = match choose(client, &request, routed.as_ref(), snapshot, &tries.tried, now).await {
            Ok(Ok(acquired)) => acquired,
            Ok(Err(refused)) => {
                live.refused_total.fetch_add(1, Ordering::Relaxed);
                return nobody(client, &request, &refused, &tries, story).await;
            }
            Err(Left::Gone) => {
                story.end(Who::Client, Reason::ClientGone, 0);
                return Some(End::Close);
            }
            // The story ends for what the connection was cut for.
            Err(Left::Stopped) => return Some(End::Reset),
        };
        story.chosen(&acquired);
        let (fresh, repeats) = (tries.fresh, tries.has_more());
        let mut trip = Trip { request: &mut request, routed: routed.as_mut(), story: &mut story, fresh, repeats };
        let failed = match attempt(relay, client, &acquired, &mut trip).await {
            Ok((end, status)) => {
                story.end(Who::Server, Reason::Done, status);
                return end;
            }
            Err(failed) => failed,
        };
        let granted = |tried: &[Name], loads: bool| {
            may_retry(client, routed.as_ref(), &live, loads.then_some(retry.budget_percent), tried)
        };
        let over = tries.after(failed, acquired.serving.service(), granted);
        drop(acquired);
        client.signals.served();
        match over {
            None | Some((Remedy::Another { .. } | Remedy::Fresh, _)) => {}
            Some((Remedy::Page(status), ending)) => {
                // Whatever the server made of the request: it is over, and so is the connection.
                client.signals.close();
                let ending = ending.unwrap_or_else(|| story.ending(Who::Appliance, Reason::Internal));
                return respond(client, &request, &Page::error(status), story, ending).await;
            }
            Some((Remedy::End(end, status), ending)) => {
                if let Some(ending) = ending {
                    story.finish(ending, status);
                }
                return Some(end);
            }
        }
        (snapshot, now) = (client.shared.plane.cell.load_full(), client.shared.now());
    }
}

/// Asks limits and rules.
fn judge<S>(
    client: &Client<S>,
    request: &Request,
    snapshot: &Arc<Snapshot>,
    vserver: VserverId,
    story: &mut Exchange,
    now: Tick,
) -> Judged {
    let (input, address) = (client.input(), client.info.client.ip());
    let value = |extract: &Extract| request.value(input, address, extract);
    let admitted = match admit(snapshot, vserver, &wanted(&client.info, &value, None, &[], now)) {
        Ok(admitted) => admitted,
        Err(refused) => {
            snapshot.vservers[vserver.index()].live.refused_total.fetch_add(1, Ordering::Relaxed);
            let page = Page::refused(&refused, request.head.target(input));
            return page.map_or(Judged::Reset(refused.ending), |page| Judged::Page(page, refused.ending));
        }
    };
    if !snapshot.routing.reach(vserver).rules {
        return Judged::Balance(admitted, None);
    }
    let fields: Vec<(&str, &[u8])> = request.named_fields(input).collect();
    let decision = policy::decide(snapshot, vserver, &request.as_asked(input, &fields, &client.info));
    policy::count(snapshot, &decision);
    if let Some(rule) = decision.rule(snapshot) {
        story.by_rule(&snapshot.model.rules[rule.index()].name);
    }
    let by_rule = |reason| Ending::new(Who::Appliance, Phase::Rule, reason);
    match decision.verdict {
        Verdict::Respond { status, headers, body } => {
            Judged::Page(Page { status, fields: headers, body: Some(body) }, by_rule(Reason::Responded))
        }
        Verdict::Redirect { status, location } => {
            Judged::Page(Page::redirect(status, location), by_rule(Reason::Redirected))
        }
        Verdict::Reject => Judged::Reset(by_rule(Reason::Rejected)),
        Verdict::Balance { .. } => Judged::Balance(admitted, Some(Routed::of(snapshot, decision))),
    }
}

/// Finds a member. Waits where all are at their limit, and as long as the client does: one that ends its sending side
/// meanwhile, which a client that waits for an answer seldom does, has left.
async fn choose<S: Transport>(
    client: &mut Client<S>,
    request: &Request,
    routed: Option<&Routed>,
    snapshot: Arc<Snapshot>,
    tried: &[Name],
    now: Tick,
) -> Result<Result<Acquired, Refused>, Left> {
    // Apart from the client while it is looked at.
    let input = client.input.take();
    let chosen = {
        let read = input.as_ref().map_or(&[][..], Buffer::data);
        let (shared, info) = (Arc::clone(&client.shared), Arc::clone(&client.info));
        let vserver = Name::clone(routed.map_or(&client.vserver, |routed| &routed.vserver));
        let value = |extract: &Extract| request.value(read, info.client.ip(), extract);
        let wanted = wanted(&info, &value, routed, tried, now);
        let mut acquired = std::pin::pin!(acquire(&shared.plane, snapshot, &vserver, &wanted));
        // Most need not wait.
        let at_once = std::future::poll_fn(|cx| match acquired.as_mut().poll(cx) {
            Poll::Ready(acquired) => Poll::Ready(Some(acquired)),
            Poll::Pending => Poll::Ready(None),
        });
        match at_once.await {
            Some(acquired) => Ok(acquired),
            None => {
                client.timer.set(None);
                let Client { stream, signals, timer, .. } = &mut *client;
                let mut gone = std::pin::pin!(gone(stream.socket(), true));
                std::future::poll_fn(|cx| {
                    if let Poll::Ready(acquired) = acquired.as_mut().poll(cx) {
                        return Poll::Ready(Ok(acquired));
                    }
                    if gone.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(Err(Left::Gone));
                    }
                    poll_stop(signals, timer, &info, cx).map(|_| Err(Left::Stopped))
                })
                .await
            }
        }
    };
    client.input = input;
    chosen
}

fn wanted<'a>(
    info: &'a ClientInfo,
    value: &'a (dyn Fn(&Extract) -> Option<String> + Sync),
    routed: Option<&'a Routed>,
    tried: &'a [Name],
    now: Tick,
) -> Wanted<'a> {
    Wanted {
        client: info.client,
        local: info.local,
        value,
        tls_session: info.tls.as_ref().and_then(|tls| tls.session.as_deref()),
        only: routed.and_then(Routed::only),
        tried,
        now,
        dry: false,
    }
}

/// Whether there is anybody left to try, and the budget, where it is drawn on, has room for it.
fn may_retry<S>(
    client: &Client<S>,
    routed: Option<&Routed>,
    live: &VserverLive,
    budget_percent: Option<u8>,
    tried: &[Name],
) -> bool {
    let snapshot = client.shared.plane.cell.load();
    let now = client.shared.now();
    let wanted = Wanted { dry: true, ..wanted(&client.info, &|_| None, routed, tried, now) };
    let vserver = snapshot.model.vserver_id(routed.map_or(&client.vserver, |routed| &routed.vserver));
    if vserver.is_none_or(|id| policy::choose(&snapshot, id, &wanted).is_err()) {
        return false;
    }
    budget_percent.is_none_or(|percent| live.retry.take(now, percent))
}

/// No member is to be had, or none that was not tried.
async fn nobody<S: Transport>(
    client: &mut Client<S>,
    request: &Request,
    refused: &Refused,
    tries: &Tries,
    story: Exchange,
) -> Option<End> {
    if let Some((status, ending)) = tries.last {
        // That none is left to be tried says less.
        client.signals.close();
        return respond(client, request, &Page::error(status), story, ending.unwrap_or(refused.ending)).await;
    }
    match Page::refused(refused, request.head.target(client.input())) {
        Some(page) => respond(client, request, &page, story, refused.ending).await,
        None => {
            story.finish(refused.ending, 0);
            Some(End::Reset)
        }
    }
}

/// Gives the request to one member. `Ok`: how the connection goes on, and the status of the answer.
async fn attempt<S: Transport>(
    relay: &Relay,
    client: &mut Client<S>,
    acquired: &Acquired,
    trip: &mut Trip<'_>,
) -> Result<(Option<End>, u16), Failed> {
    let (request, story) = (&mut *trip.request, &mut *trip.story);
    let service = acquired.snapshot.model.service(acquired.choice.service);
    let live = &acquired.snapshot.services[acquired.choice.service.index()].live;
    let host = request.head.host.map(|host| host.text(client.input()));
    let stamp = service.settings.tls.as_ref().map_or(0, |_| client.shared.tls_clients.stamp(&service.name));
    let definition = Definition::of(service, acquired.choice.address, live, host, stamp);
    let whole = request.is_whole(client.input());
    let repeatable = request.idempotent && (whole || (request.fits() && request.head.framing != Framing::Chunked));
    let pooled = if trip.fresh { None } else { relay.pool.take(live, &definition, relay.clock.now()) };
    // A request that may not be repeated gets a kept connection only if the kernel says that it is still good.
    let pooled = pooled.and_then(|mut server| (repeatable || server.is_quiet_now()).then_some(server));
    let reused = pooled.is_some();
    let mut server = match pooled {
        Some(server) => {
            story.reused();
            server
        }
        None => reach(client, request, acquired, story).await?,
    };
    // Its flush ends the request from here on. One that came while it was being reached does not: nothing was sent.
    if acquired.serving.is_flushed() {
        return Err(Failed::passed_over(story, Reason::Flushed));
    }
    client.signals.serve(acquired.serving.flushes());
    server.requests += 1;
    let most = service.settings.max_requests;
    let last = server.is_the_clients || (most > 0 && server.requests >= most);
    let asked = acquired.snapshot.model.vserver_id(&client.vserver).map(|id| acquired.snapshot.model.vserver(id));
    let terms = Terms {
        to_head: request.to_head,
        minor: request.head.minor,
        expects: request.head.expects && request.head.minor == 1,
        abort_on_close: asked.is_some_and(|asked| asked.abort_on_close),
        keep: request.keep(),
        set_cookie: sticky::set_cookie(&acquired.snapshot, acquired.choice),
        client_limit: client.limit,
        server_limit: service.settings.server_idle(),
    };
    let Outset { out, body, kept, copied_head } = outset(client, acquired, trip, whole, reused, last);
    let (request, story) = (&mut *trip.request, &mut *trip.story);
    let mut transit = Transit::new(&terms, story, server, out, body);
    transit.keep(kept);
    transit.watch(acquired);
    transit.diagnose(asked.filter(|asked| !asked.diagnostics.is_empty()));
    transit.route(trip.routed.as_deref_mut(), copied_head);
    let ended = transit.run(client).await;
    client.signals.served();
    if let Err(fail) = ended {
        let failed = Failed::in_transit(&transit, fail, whole, request.idempotent, reused);
        if let Some(kept) = transit.kept.take() {
            kept.put_back(&transit.body, request, client);
        }
        return Err(failed);
    }
    if whole {
        client.consume(request.length + request.body_length());
    }
    let kept = transit.begun.is_some_and(|begun| begun.keep != Keep::Close);
    let status = transit.status();
    if !last && transit.is_clean() && !client.signals.is_closing() {
        relay.pool.put(live, definition, transit.server, service.settings.server_idle(), relay.clock.now());
    }
    Ok((if kept { None } else { Some(End::Linger) }, status))
}

/// Makes a connection to the member.
async fn reach<S: Transport>(
    client: &mut Client<S>,
    request: &Request,
    acquired: &Acquired,
    story: &mut Exchange,
) -> Result<Server, Failed> {
    let service = acquired.snapshot.model.service(acquired.choice.service);
    let (shared, info) = (Arc::clone(&client.shared), Arc::clone(&client.info));
    let host = request.head.host.map(|host| host.text(client.input()).to_owned());
    story.calling();
    // It has its own time limit.
    client.timer.set(None);
    let mut flushed = std::pin::pin!(acquired.serving.flushed());
    let mut connecting = Box::pin(connect(&shared, service, acquired.choice.address, info.origin(), host.as_deref()));
    let connected = std::future::poll_fn(|cx| {
        if let Poll::Ready(connected) = connecting.as_mut().poll(cx) {
            return Poll::Ready(Ok(connected));
        }
        if let Poll::Ready(reason) = flushed.as_mut().poll(cx) {
            return Poll::Ready(Err(Failed::passed_over(story, reason)));
        }
        client.poll_stop(cx).map(|_| Err(Failed::cut()))
    })
    .await?;
    match connected {
        Ok(connected) => {
            story.connected(connected.handshake);
            Ok(Server::new(connected.stream, connected.is_the_clients))
        }
        Err(failure) => {
            acquired.serving.live().connect_failures_total.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(service = &**acquired.serving.service(), address = %acquired.choice.address,
                reason = failure.reason.word(), why = failure.why, "cannot connect");
            story.unreached(&failure.why);
            Err(Failed::unreached(story, failure.reason))
        }
    }
}
