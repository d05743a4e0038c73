//! One request, from its head to its log line: where pingora asks, policy and selection answer.
//!
//! A request that finds no member is answered 503 before pingora looks for one, so that the client's connection stays
//! of use. A member that cannot be reached, or goes down while it is being reached, is passed over, whatever the method,
//! as nothing was sent; one that fails before its answer began is passed over for idempotent requests whose body can be
//! sent again. What is left after that is 502, or 504 where time ran out.

mod answer;
mod ctx;
mod edit;
mod grpc;
mod request;
mod retry;
mod server;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::HeaderMap;
use pingora_core::protocols::Digest;
use pingora_core::upstreams::peer::HttpPeer;
use pingora_error::{Error, ErrorType, Result};
use pingora_http::{RequestHeader, ResponseHeader};
use pingora_proxy::{FailToProxy, ProxyHttp, Session};

use crate::balance::extract;
use crate::balance::passive::Outcome;
use crate::dataplane::ended::Exchange;
use crate::dataplane::l7::pingora::{dial, peer};
use crate::dataplane::l7::policy::{self, Verdict};
use crate::dataplane::l7::routed::Routed;
use crate::dataplane::l7::sticky;
use crate::dataplane::member::{admit, learn};
use crate::model::ending::{Ending, Phase, Reason, Who};
use crate::model::id::Name;
use ctx::{Ctx, Head, values, wanted};

/// Interim answers (1xx) to one request at most: real servers send a few, and nothing else bounds them.
const INTERIM_MAX: u32 = 100;

pub(super) struct Hooks;

#[async_trait]
impl ProxyHttp for Hooks {
    type CTX = Ctx;

    fn new_ctx(&self) -> Ctx {
        Ctx::new()
    }

    /// No modules: compression is the servers' business.
    fn init_downstream_modules(&self, _: &mut pingora_core::modules::http::HttpModules) {}

    async fn early_request_filter(&self, session: &mut Session, ctx: &mut Ctx) -> Result<()> {
        ctx.begin(session);
        Ok(())
    }

    async fn request_filter(&self, session: &mut Session, ctx: &mut Ctx) -> Result<bool> {
        let link = ctx.link()?;
        if session.req_header().version == http::Version::HTTP_2
            && let Err(refusal) = request::admit_http2(session, &link)
        {
            if refusal.status == 400 {
                link.malformed();
            }
            ctx.ended = Some(Ending::new(Who::Client, Phase::Head, refusal.reason()));
            return answer::refuse(session, &link, &ctx.told(&link, refusal.status), refusal).await;
        }
        let snapshot = link.shared.plane.cell.load_full();
        let vserver = snapshot.model.vserver_id(&link.vserver);
        let Some(vserver) = vserver.filter(|&id| snapshot.model.vserver(id).protocol.is_http()) else {
            // Removed, or made a TCP vserver, while this connection was open.
            link.close();
            ctx.ended = Some(Ending::new(Who::Appliance, Phase::Head, Reason::Removed));
            return answer::page(session, &link, &ctx.told(&link, 503), 503).await;
        };
        let intended = snapshot.model.vserver(vserver);
        let live = &snapshot.vservers[vserver.index()].live;
        link.set_idle(intended.client_timeout);
        link.set_abort_on_close(intended.abort_on_close);
        session.set_read_timeout(Some(intended.client_timeout));
        session.set_write_timeout(Some(intended.client_timeout));
        session.set_total_drain_timeout(Some(Duration::from_secs(5)));
        ctx.upgrade = session.is_upgrade_req();
        // HTTP/1.0 knows no interim answers (RFC 9110 §15.2).
        let knows_interim = session.req_header().version != http::Version::HTTP_10;
        session.as_downstream_mut().set_ignore_info_resp(!knows_interim);
        ctx.step(Exchange::head);
        live.retry.request(link.shared.now());
        let admitted = {
            let value = values(session.req_header(), &link);
            admit(&snapshot, vserver, &wanted(&link, &value, None, &[]))
        };
        match admitted {
            Ok(admitted) => ctx.admitted = Some(admitted),
            Err(refused) => {
                live.refused_total.fetch_add(1, Ordering::Relaxed);
                ctx.ended = Some(refused.ending);
                let told = ctx.told(&link, refused.status().unwrap_or(0));
                return answer::refused(session, &link, &told, &refused).await;
            }
        }
        let decision = request::decide(&snapshot, vserver, session, &link);
        policy::count(&snapshot, &decision);
        if let Some(rule) = decision.rule(&snapshot) {
            ctx.step(|e| e.by_rule(&snapshot.model.rules[rule.index()].name));
        }
        match decision.verdict {
            Verdict::Respond { status, headers, body } => {
                ctx.ended = Some(Ending::new(Who::Appliance, Phase::Rule, Reason::Responded));
                answer::own(session, &link, &ctx.told(&link, status), status, &headers, Bytes::from(body)).await
            }
            Verdict::Redirect { status, location } => {
                ctx.ended = Some(Ending::new(Who::Appliance, Phase::Rule, Reason::Redirected));
                let location = [(Name::from("Location"), Name::from(location))];
                answer::own(session, &link, &ctx.told(&link, status), status, &location, Bytes::new()).await
            }
            Verdict::Reject => {
                ctx.ended = Some(Ending::new(Who::Appliance, Phase::Rule, Reason::Rejected));
                link.reset();
                session.set_keepalive(None);
                Ok(true)
            }
            Verdict::Balance { .. } => {
                ctx.routed = Some(Routed::of(&snapshot, decision));
                let Err(refused) = ctx.choose(&link, Arc::clone(&snapshot), session).await else { return Ok(false) };
                live.refused_total.fetch_add(1, Ordering::Relaxed);
                ctx.ended = Some(refused.ending);
                let told = ctx.told(&link, refused.status().unwrap_or(0));
                answer::refused(session, &link, &told, &refused).await
            }
        }
    }

    async fn upstream_peer(&self, session: &mut Session, ctx: &mut Ctx) -> Result<Box<HttpPeer>> {
        if ctx.chosen.is_none() || !ctx.tried.is_empty() || ctx.fresh || ctx.refusals > 0 {
            let link = ctx.link()?;
            let snapshot = link.shared.plane.cell.load_full();
            if ctx.choose(&link, snapshot, session).await.is_err() {
                // Everybody was tried; pingora keeps no error of the last try.
                return Err(Error::explain(ErrorType::HTTPStatus(502), "no member could be reached"));
            }
        }
        ctx.step(Exchange::calling);
        let chosen = ctx.chosen.as_ref().expect("chosen above");
        let link = ctx.link()?;
        let host = session.req_header().headers.get("host").and_then(|host| host.to_str().ok());
        match peer::peer(link.shared.l7.prepared(), &link, chosen, host, ctx.connection()) {
            Ok(peer) => Ok(Box::new(peer)),
            Err(why) => Err(Error::explain(ErrorType::InvalidCert, why).into_up()),
        }
    }

    async fn connected_to_upstream(
        &self,
        _session: &mut Session,
        reused: bool,
        _peer: &HttpPeer,
        fd: std::os::fd::RawFd,
        digest: Option<&Digest>,
        ctx: &mut Ctx,
    ) -> Result<()> {
        server::accept(ctx, reused.then_some(fd), digest)?;
        if ctx.reached() {
            ctx.ended = None;
            ctx.step(|e| if reused { e.reused() } else { e.connected(dial::handshake(digest)) });
            return Ok(());
        }
        Err(Error::explain(ErrorType::ConnectError, "the member went down while it was being reached").into_up())
    }

    async fn upstream_request_filter(
        &self,
        session: &mut Session,
        request: &mut RequestHeader,
        ctx: &mut Ctx,
    ) -> Result<()> {
        let link = ctx.link()?;
        if let Some(routed) = &mut ctx.routed {
            edit::request(request, &routed.edits)?;
            routed.copies.restart();
        }
        request::for_server(session.req_header(), request, &link, ctx)?;
        if ctx.last_of_connection && request.version != http::Version::HTTP_2 {
            request.insert_header("Connection", "close")?;
        }
        if ctx.routed.as_ref().is_some_and(|routed| !routed.copies.is_empty()) {
            ctx.copied_head = edit::copied(request);
        }
        // Again at the end of a body.
        ctx.step(|e| e.sent());
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
        if let (Some(bytes), Some(routed)) = (&body, &mut ctx.routed) {
            routed.copies.body(bytes);
        }
        if end {
            ctx.send_copies();
        }
        if let Some(link) = &ctx.link {
            link.owes_body(!end);
            link.moved();
        }
        if let Some(exchange) = &ctx.exchange {
            if let Some(bytes) = body {
                exchange.moved_in(bytes.len() as u64);
            }
            if end {
                exchange.sent();
            }
        }
        Ok(())
    }

    async fn upstream_response_filter(
        &self,
        _: &mut Session,
        response: &mut ResponseHeader,
        _: &mut Ctx,
    ) -> Result<()> {
        server::judge(response)
    }

    async fn response_filter(&self, session: &mut Session, response: &mut ResponseHeader, ctx: &mut Ctx) -> Result<()> {
        let link = ctx.link()?;
        if response.status == 101 {
            if !ctx.upgrade {
                return Err(Error::explain(ErrorType::HTTPStatus(502), "switching protocols without being asked to"));
            }
            link.open_tunnel();
            session.set_read_timeout(None);
            link.settle_date(response.headers.get(http::header::DATE));
            return Ok(());
        }
        if response.status.is_informational() {
            ctx.interim += 1;
            if ctx.interim > INTERIM_MAX {
                return Err(Error::explain(ErrorType::HTTPStatus(502), "interim answers without an end"));
            }
            return Ok(());
        }
        if ctx.chosen.as_ref().is_some_and(|chosen| chosen.serving.is_draining()) {
            // So that the client's next request finds it elsewhere, or sees that it may not.
            link.close();
        }
        ctx.step(|e| e.said(response.status.as_u16()));
        if let Some(chosen) = &ctx.chosen {
            let parts = Head { fields: &response.headers, target: b"", client: link.client.ip() };
            learn(&chosen.snapshot, chosen.choice, || link.shared.now(), &|wanted| extract::value(&parts, wanted));
        }
        answer::date(response)?;
        if let Some(routed) = ctx.routed.as_ref().filter(|routed| routed.edits_answer()) {
            edit::answer(response, routed, ctx.exchange.as_mut())?;
        }
        answer::of_server(session, &link, response);
        if let Some(chosen) = &ctx.chosen {
            let model = &chosen.snapshot.model;
            let vserver = model.vserver_id(&link.vserver).map(|id| model.vserver(id));
            if let (Some(vserver), Some(exchange)) = (vserver.filter(|v| !v.diagnostics.is_empty()), &ctx.exchange) {
                answer::tell(response, &exchange.diagnostics(vserver, None))?;
            }
            if let Some(cookie) = sticky::set_cookie(&chosen.snapshot, chosen.choice) {
                response.append_header("Set-Cookie", cookie)?;
            }
        }
        link.settle_date(response.headers.get(http::header::DATE));
        Ok(())
    }

    /// What may not stand behind a body ends here.
    async fn response_trailer_filter(
        &self,
        _: &mut Session,
        trailers: &mut HeaderMap,
        _: &mut Ctx,
    ) -> Result<Option<Bytes>> {
        answer::trailers(trailers);
        Ok(None)
    }

    fn response_body_filter(
        &self,
        _session: &mut Session,
        body: &mut Option<Bytes>,
        _end: bool,
        ctx: &mut Ctx,
    ) -> Result<Option<Duration>> {
        if let Some(link) = &ctx.link {
            link.moved();
        }
        if let (Some(bytes), Some(exchange)) = (body, &ctx.exchange) {
            exchange.moved_out(bytes.len() as u64);
        }
        Ok(None)
    }

    fn fail_to_connect(&self, _: &mut Session, _: &HttpPeer, ctx: &mut Ctx, mut error: Box<Error>) -> Box<Error> {
        if let Some(chosen) = &ctx.chosen {
            let (service, live) = (chosen.serving.service(), chosen.serving.live());
            live.connect_failures_total.fetch_add(1, Ordering::Relaxed);
            // A connection for an upgrade is made by ourselves, and judged there.
            if let Some(link) = ctx.link.as_ref().filter(|_| !ctx.upgrade) {
                link.shared.judge(service, live, Outcome::ConnectFailed, link.shared.now());
            }
        }
        ctx.unreached(&error.to_string());
        ctx.pass_over();
        // Until another is reached: that none is left to be tried says less.
        ctx.ended = Some(answer::ended_by(Some(&error), Phase::Connect));
        error.set_retry(retry::on_another(ctx));
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
        if !ctx.reached {
            // Nothing was sent, whatever the method.
            error.set_retry(retry::before_sending(ctx));
            return error;
        }
        retry::after_connect(session, &mut error, ctx, reused);
        if error.retry() {
            ctx.ended = ctx.exchange.as_ref().map(|exchange| answer::ended_by(Some(&error), exchange.phase()));
        }
        error
    }

    async fn fail_to_proxy(&self, session: &mut Session, error: &Error, ctx: &mut Ctx) -> FailToProxy {
        let status = answer::status_of(error);
        let Some(link) = &ctx.link else { return FailToProxy { error_code: status, can_reuse_downstream: false } };
        match session.response_written().filter(|begun| begun.status == 101 || !begun.status.is_informational()) {
            // Nothing of ours may get into a tunnel: its end says that something went wrong.
            Some(begun) if begun.status == 101 => link.reset(),
            // An end of the connection tells the client that the answer is not whole, unless that is how it ends.
            Some(begun) if answer::tells_its_end(begun) => {}
            Some(_) => link.reset(),
            None if status > 0 => {
                session.set_keepalive(None);
                let ended = || ctx.exchange.as_ref().map(|exchange| answer::ended_by(Some(error), exchange.phase()));
                ctx.ended = ctx.ended.or_else(ended);
                let _ = answer::page(session, link, &ctx.told(link, status), status).await;
            }
            None => {}
        }
        FailToProxy { error_code: status, can_reuse_downstream: false }
    }

    async fn logging(&self, session: &mut Session, error: Option<&Error>, ctx: &mut Ctx) {
        if ctx.reached && session.as_mut().is_body_empty() {
            ctx.send_copies();
        }
        if let (Some(error), Some(link)) = (error, &ctx.link) {
            let service = ctx.chosen.as_ref().map_or("", |c| c.serving.service());
            tracing::debug!(client = %link.client, vserver = &*link.vserver, service, %error, "request failed");
        }
        if let Some(exchange) = ctx.exchange.take() {
            let ending = ctx.ended.unwrap_or_else(|| answer::ended_by(error, exchange.phase()));
            let status = session.response_written().map_or(0, |head| head.status.as_u16());
            exchange.told_alone(session.as_downstream().body_bytes_sent() as u64);
            exchange.finish(ending, status);
        }
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
