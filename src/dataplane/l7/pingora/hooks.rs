//! One request, from its head to its log line: where pingora asks, policy and selection answer.
//!
//! A request that finds no member is answered 503 before pingora looks for one, so that the client's connection stays
//! of use. A member that cannot be reached is passed over, whatever the method, as nothing was sent; one that fails
//! before its answer began is passed over for idempotent requests whose body can be sent again. What is left after that
//! is 502, or 504 where time ran out.

mod answer;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use pingora_core::upstreams::peer::HttpPeer;
use pingora_error::{Error, ErrorSource, ErrorType, Result};
use pingora_http::{RequestHeader, ResponseHeader};
use pingora_proxy::{FailToProxy, ProxyHttp, Session};

use super::upgrade::Upgrade;
use crate::dataplane::l7::forward::{ClientField, client_field};
use crate::dataplane::l7::link::Link;
use crate::dataplane::l7::policy::{self, Decision, Request};
use crate::dataplane::l7::sticky;
use crate::dataplane::member::{Choice, Serving, Wanted, acquire};
use crate::model::id::Name;
use crate::snapshot::Snapshot;

/// Time that all tries of one request may take together before the next one is not begun.
const TRIES_BUDGET: Duration = Duration::from_secs(30);
/// Idle connections to servers are closed after this, or after the service's time-out where that is shorter.
const POOLED_MAX: Duration = Duration::from_secs(60);
/// Failures after the request was sent, of one request, that are tried again.
const RESENDS_MAX: u32 = 2;

pub(super) struct Hooks;

/// What is known of a request.
pub(super) struct Ctx {
    link: Option<Arc<Link>>,
    began: Instant,
    /// Who serves it, on which snapshot.
    chosen: Option<Chosen>,
    tried: Vec<Name>,
    resends: u32,
    upgrade: bool,
}

struct Chosen {
    snapshot: Arc<Snapshot>,
    choice: Choice,
    serving: Serving,
}

// === impl Ctx ===

impl Ctx {
    /// Set by the first hook. Without it this is no connection of ours.
    fn link(&self) -> Result<Arc<Link>> {
        self.link.clone().ok_or_else(|| Error::explain(ErrorType::InternalError, "a connection without a link"))
    }

    /// Chooses a member. `false`: none is usable.
    fn choose(&mut self, link: &Link, snapshot: Arc<Snapshot>, session: &Session) -> bool {
        // The work on a member that was tried before ends here.
        self.release();
        let cookies: Vec<&str> =
            session.req_header().headers.get_all("cookie").iter().filter_map(|v| v.to_str().ok()).collect();
        let cookie = |name: &str| {
            cookies.iter().find_map(|field| crate::balance::persistence::cookie::find(field, name)).map(str::to_owned)
        };
        let wanted = Wanted {
            client: link.client.ip(),
            cookie: &cookie,
            tried: &self.tried,
            now: link.shared.now(),
            dry: false,
        };
        let Some((snapshot, choice, serving)) = acquire(&link.shared.plane, snapshot, &link.vserver, &wanted) else {
            return false;
        };
        link.serve(serving.flushed());
        self.chosen = Some(Chosen { snapshot, choice, serving });
        true
    }

    /// The member's work is done.
    fn release(&mut self) {
        if self.chosen.take().is_some()
            && let Some(link) = &self.link
        {
            link.served();
        }
    }

    fn pass_over(&mut self) {
        if let Some(chosen) = &self.chosen {
            self.tried.push(Arc::clone(chosen.serving.service()));
        }
    }

    fn may_try_again(&self) -> bool {
        self.began.elapsed() < TRIES_BUDGET
    }
}

// === impl Chosen ===

impl Chosen {
    fn peer(&self, upgrade: bool) -> HttpPeer {
        let settings = &self.snapshot.model.service(self.choice.service).settings;
        // An address, never a name: this cannot fail or block.
        let mut peer = HttpPeer::new(self.choice.address, false, String::new());
        let options = &mut peer.options;
        options.connection_timeout = Some(settings.connect_timeout);
        options.total_connection_timeout = Some(settings.connect_timeout);
        options.read_timeout = Some(settings.server_timeout);
        options.write_timeout = Some(settings.server_timeout);
        options.idle_timeout = Some(settings.server_timeout.min(POOLED_MAX));
        if upgrade {
            options.custom_l4 = Some(
                Upgrade { connect_timeout: settings.connect_timeout, answer_timeout: settings.server_timeout }
                    .connector(),
            );
            options.read_timeout = None;
            options.idle_timeout = Some(Duration::from_secs(1));
        }
        peer.group_key = self.group_key(upgrade);
        peer
    }

    /// Pooled connections are shared by requests with the same key only: the same service, and no flush in between.
    fn group_key(&self, upgrade: bool) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.serving.service().hash(&mut hasher);
        self.serving.live().flush.borrow().hash(&mut hasher);
        upgrade.hash(&mut hasher);
        hasher.finish()
    }
}

#[async_trait]
impl ProxyHttp for Hooks {
    type CTX = Ctx;

    fn new_ctx(&self) -> Ctx {
        Ctx { link: None, began: Instant::now(), chosen: None, tried: Vec::new(), resends: 0, upgrade: false }
    }

    /// No modules: compression is the servers' business.
    fn init_downstream_modules(&self, _: &mut pingora_core::modules::http::HttpModules) {}

    async fn early_request_filter(&self, session: &mut Session, ctx: &mut Ctx) -> Result<()> {
        ctx.link = session
            .digest()
            .and_then(|digest| digest.proxy_digest.as_ref())
            .and_then(|digest| digest.user_data.as_ref())
            .and_then(|data| data.downcast_ref::<Arc<Link>>())
            .cloned();
        Ok(())
    }

    async fn request_filter(&self, session: &mut Session, ctx: &mut Ctx) -> Result<bool> {
        let link = ctx.link()?;
        let snapshot = link.shared.plane.cell.load_full();
        // Removed while this connection was open.
        let Some(vserver) = snapshot.model.vserver_id(&link.vserver) else {
            link.close();
            return answer::page(session, &link, 503).await;
        };
        let intended = snapshot.model.vserver(vserver);
        let live = &snapshot.vservers[vserver.index()].live;
        live.requests_total.fetch_add(1, Ordering::Relaxed);
        link.set_idle(intended.client_timeout);
        session.set_read_timeout(Some(intended.client_timeout));
        session.set_write_timeout(Some(intended.client_timeout));
        session.set_total_drain_timeout(Some(Duration::from_secs(5)));
        ctx.upgrade = session.is_upgrade_req();
        let decision = decide(&snapshot, vserver, session, link.client);
        policy::count(&snapshot, &decision);
        match decision {
            Decision::Respond { status, headers, body, .. } => {
                answer::own(session, &link, status, &headers, Bytes::from(body)).await
            }
            Decision::Redirect { status, location, .. } => {
                let location = [(Name::from("Location"), Name::from(location))];
                answer::own(session, &link, status, &location, Bytes::new()).await
            }
            Decision::Reject { .. } => {
                link.reset();
                session.set_keepalive(None);
                Ok(true)
            }
            Decision::Balance => {
                if ctx.choose(&link, Arc::clone(&snapshot), session) {
                    return Ok(false);
                }
                live.refused_total.fetch_add(1, Ordering::Relaxed);
                answer::page(session, &link, 503).await
            }
        }
    }

    async fn upstream_peer(&self, session: &mut Session, ctx: &mut Ctx) -> Result<Box<HttpPeer>> {
        if ctx.chosen.is_none() || !ctx.tried.is_empty() || ctx.resends > 0 {
            let link = ctx.link()?;
            let snapshot = link.shared.plane.cell.load_full();
            if !ctx.choose(&link, snapshot, session) {
                // Everybody was tried; pingora keeps no error of the last try.
                return Err(Error::explain(ErrorType::HTTPStatus(502), "no member could be reached"));
            }
        }
        let chosen = ctx.chosen.as_ref().expect("chosen above");
        Ok(Box::new(chosen.peer(ctx.upgrade)))
    }

    async fn upstream_request_filter(
        &self,
        session: &mut Session,
        request: &mut RequestHeader,
        ctx: &mut Ctx,
    ) -> Result<()> {
        let (link, Some(chosen)) = (ctx.link()?, &ctx.chosen) else { return Ok(()) };
        let service = chosen.snapshot.model.service(chosen.choice.service);
        let Some(vserver) = chosen.snapshot.model.vserver_id(&link.vserver) else { return Ok(()) };
        let vserver = chosen.snapshot.model.vserver(vserver);
        let sent = session.req_header().headers.get_all("x-forwarded-for").iter().filter_map(|v| v.to_str().ok());
        match client_field(vserver, service, link.client.ip(), sent) {
            Some(ClientField::Replace { name, value }) => request.insert_header(name.to_string(), value)?,
            Some(ClientField::Append { value }) => request.insert_header("X-Forwarded-For", value)?,
            None => {}
        }
        Ok(())
    }

    /// An empty last piece would end a chunked body twice.
    async fn request_body_filter(
        &self,
        _session: &mut Session,
        body: &mut Option<Bytes>,
        end: bool,
        ctx: &mut Ctx,
    ) -> Result<()> {
        if end && body.as_ref().is_some_and(Bytes::is_empty) {
            *body = None;
        }
        if let (Some(bytes), Some(chosen)) = (&body, &ctx.chosen) {
            chosen.serving.live().bytes_in_total.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn response_filter(&self, session: &mut Session, response: &mut ResponseHeader, ctx: &mut Ctx) -> Result<()> {
        let link = ctx.link()?;
        if response.status == 101 && ctx.upgrade {
            link.open_tunnel();
            session.set_read_timeout(None);
            return Ok(());
        }
        if response.status.is_informational() {
            return Ok(());
        }
        answer::of_server(session, &link, response);
        if let Some(cookie) = ctx.chosen.as_ref().and_then(|c| sticky::set_cookie(&c.snapshot, c.choice)) {
            response.append_header("Set-Cookie", cookie)?;
        }
        Ok(())
    }

    fn response_body_filter(
        &self,
        _session: &mut Session,
        body: &mut Option<Bytes>,
        _end: bool,
        ctx: &mut Ctx,
    ) -> Result<Option<Duration>> {
        if let (Some(bytes), Some(chosen)) = (body, &ctx.chosen) {
            chosen.serving.live().bytes_out_total.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        Ok(None)
    }

    fn fail_to_connect(&self, _: &mut Session, _: &HttpPeer, ctx: &mut Ctx, mut error: Box<Error>) -> Box<Error> {
        if let Some(chosen) = &ctx.chosen {
            chosen.serving.live().connect_failures_total.fetch_add(1, Ordering::Relaxed);
        }
        ctx.pass_over();
        error.set_retry(ctx.may_try_again() && self.another(ctx));
        error
    }

    fn error_while_proxy(
        &self,
        _peer: &HttpPeer,
        session: &mut Session,
        mut error: Box<Error>,
        ctx: &mut Ctx,
        reused: bool,
    ) -> Box<Error> {
        let repeatable = session.req_header().method.is_idempotent()
            && !session.as_ref().retry_buffer_truncated()
            && session.response_written().is_none()
            && !ctx.upgrade;
        let broken = matches!(
            error.etype(),
            ErrorType::ConnectionClosed | ErrorType::ReadError | ErrorType::WriteError | ErrorType::ConnectError
        ) && *error.esource() == ErrorSource::Upstream;
        if !repeatable || ctx.resends >= RESENDS_MAX || !ctx.may_try_again() {
            error.set_retry(false);
        } else if reused {
            // The server closed an idle connection as we took it: its fault only if a fresh one fails too.
            error.retry.decide_reuse(true);
        } else if broken {
            ctx.pass_over();
            error.set_retry(self.another(ctx));
        } else {
            error.set_retry(false);
        }
        if error.retry() {
            ctx.resends += 1;
        }
        error
    }

    async fn fail_to_proxy(&self, session: &mut Session, error: &Error, ctx: &mut Ctx) -> FailToProxy {
        let status = answer::status_of(error);
        // Where the answer had begun, cutting the connection is the only way to say that it is not whole.
        if session.response_written().is_some_and(|r| !r.status.is_informational()) {
            if let Some(link) = &ctx.link {
                link.reset();
            }
        } else if status > 0
            && let Some(link) = &ctx.link
        {
            session.set_keepalive(None);
            let _ = answer::page(session, link, status).await;
        }
        FailToProxy { error_code: status, can_reuse_downstream: false }
    }

    async fn logging(&self, session: &mut Session, error: Option<&Error>, ctx: &mut Ctx) {
        if let (Some(error), Some(link)) = (error, &ctx.link) {
            let service = ctx.chosen.as_ref().map_or("", |c| c.serving.service());
            tracing::debug!(client = %link.client, vserver = &*link.vserver, service, %error, "request failed");
        }
        let _ = session;
        ctx.release();
    }

    /// Logged by `logging`, once and in our words.
    fn suppress_error_log(&self, _: &Session, _: &Ctx, _: &Error) -> bool {
        true
    }

    fn suppress_proxy_warn_log(&self, _: &Session, _: &Ctx, _: &Error, _: pingora_proxy::ProxyWarnLogContext) -> bool {
        true
    }
}

// === impl Hooks ===

impl Hooks {
    /// Whether there is anybody left to try, so that the status of the last failure is kept where there is not.
    fn another(&self, ctx: &Ctx) -> bool {
        let Some(link) = &ctx.link else { return false };
        let snapshot = link.shared.plane.cell.load();
        let wanted = Wanted {
            client: link.client.ip(),
            cookie: &|_| None,
            tried: &ctx.tried,
            now: link.shared.now(),
            dry: true,
        };
        snapshot.model.vserver_id(&link.vserver).is_some_and(|id| policy::choose(&snapshot, id, &wanted).is_some())
    }
}

fn decide(
    snapshot: &Snapshot,
    vserver: crate::model::id::VserverId,
    session: &Session,
    client: SocketAddr,
) -> Decision {
    if snapshot.routing.rules_of(vserver).is_empty() {
        return Decision::Balance;
    }
    let head = session.req_header();
    let fields: Vec<(&str, &[u8])> =
        head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let request = Request {
        method: head.method.as_str(),
        // Visible ASCII: the head passed the guard.
        target: std::str::from_utf8(head.raw_path()).unwrap_or("/"),
        host: head.headers.get("host").and_then(|v| v.to_str().ok()).unwrap_or(""),
        fields: &fields,
        client: client.ip(),
    };
    policy::decide(snapshot, vserver, &request)
}
