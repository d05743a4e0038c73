//! What is known of a request while pingora carries it, and who serves it.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pingora_error::{Error, ErrorType};
use pingora_http::RequestHeader;
use pingora_proxy::Session;

use super::answer::Told;
use crate::balance::extract;
use crate::dataplane::ended::{Asked, Exchange, REQUEST_ID};
use crate::dataplane::l7::link::Link;
use crate::dataplane::l7::pingora::peer::Connection;
use crate::dataplane::l7::routed::Routed;
use crate::dataplane::member::{Acquired, Admitted, Refused, Wanted, acquire};
use crate::model::balancing::Extract;
use crate::model::ending::Ending;
use crate::model::id::Name;
use crate::snapshot::Snapshot;

/// Time that all tries of one request may take together before the next one is not begun.
pub(super) const TRIES_BUDGET: Duration = Duration::from_secs(30);

pub(in crate::dataplane::l7::pingora) struct Ctx {
    /// Set by the first hook.
    pub link: Option<Arc<Link>>,
    pub exchange: Option<Exchange>,
    /// How it ended, where that is known better than from an error of the engine's.
    pub ended: Option<Ending>,
    pub began: Instant,
    /// Set once the request may go on.
    pub admitted: Option<Admitted>,
    /// What the rules made of it, where it is balanced.
    pub routed: Option<Routed>,
    /// The head as the server gets it, for copies.
    pub copied_head: Vec<u8>,
    pub chosen: Option<Acquired>,
    /// The chosen one has a connection for this request, and did not go down while it was made.
    pub reached: bool,
    /// Services that could not be reached, or failed.
    pub tried: Vec<Name>,
    /// A try failed: the next goes out on a connection that carried nothing before, so that one server that closes all
    /// that are kept costs one try.
    pub fresh: bool,
    /// The connection that was taken was closed already.
    pub stale: bool,
    /// Times that a server said that it did not begin.
    pub refusals: u32,
    /// Interim answers (1xx) of the server so far.
    pub interim: u32,
    pub upgrade: bool,
    /// The service's `max_requests` are over with this one.
    pub last_of_connection: bool,
}

// === impl Ctx ===

impl Ctx {
    pub fn new() -> Ctx {
        Ctx {
            link: None,
            exchange: None,
            ended: None,
            began: Instant::now(),
            admitted: None,
            routed: None,
            copied_head: Vec::new(),
            chosen: None,
            reached: false,
            tried: Vec::new(),
            fresh: false,
            stale: false,
            refusals: 0,
            interim: 0,
            upgrade: false,
            last_of_connection: false,
        }
    }

    /// Finds the connection that the request came on, and notes what is asked for.
    pub fn begin(&mut self, session: &Session) {
        let data = session.digest().and_then(|digest| digest.proxy_digest.as_ref()?.user_data.as_ref());
        self.link = data.and_then(|data| data.downcast_ref::<Arc<Link>>()).cloned();
        self.exchange = self.link.as_ref().map(|link| Exchange::begin(&link.info.conn, self.began));
        let request = session.req_header();
        // HTTP/2 names it beside the fields.
        let field = || request.headers.get("host").and_then(|host| host.to_str().ok());
        let host = request.uri.authority().map(http::uri::Authority::as_str).or_else(field).unwrap_or("");
        let protocol = match request.version {
            http::Version::HTTP_2 => "HTTP/2.0",
            http::Version::HTTP_10 => "HTTP/1.0",
            _ => "HTTP/1.1",
        };
        let field = |name: &str, before: usize| {
            request.headers.get_all(name).iter().nth(before).map(http::HeaderValue::as_bytes)
        };
        let (method, target) = (request.method.as_str(), request.uri.path());
        self.step(|e| e.describe(&Asked { method, host, target, protocol, field: &field }));
    }

    /// Without one this is no connection of ours.
    pub fn link(&self) -> pingora_error::Result<Arc<Link>> {
        self.link.clone().ok_or_else(|| Error::explain(ErrorType::InternalError, "a connection without a link"))
    }

    /// Chooses a member. A client of HTTP/2 that gives its stream up while it waits is noticed at once; of the others the
    /// engine says nothing before it writes to them.
    pub async fn choose(&mut self, link: &Link, snapshot: Arc<Snapshot>, session: &mut Session) -> Result<(), Refused> {
        // The work on a member that was tried before ends here.
        self.release();
        self.reached = false;
        let entry = self.routed.as_ref().map_or(&link.vserver, |routed| &routed.vserver);
        let acquired = if session.is_http2() && may_wait(&snapshot, entry) {
            // The session itself is asked whether the stream is still there.
            let head = session.req_header().clone();
            let value = values(&head, link);
            let wanted = wanted(link, &value, self.routed.as_ref(), &self.tried);
            let closed = session.as_downstream_mut().watch_h2_stream_close();
            tokio::select! {
                biased;
                acquired = acquire(&link.shared.plane, snapshot, entry, &wanted) => acquired?,
                _ = async { closed.expect("it is HTTP/2").await } => return Err(Refused::left()),
            }
        } else {
            let value = values(session.req_header(), link);
            let wanted = wanted(link, &value, self.routed.as_ref(), &self.tried);
            acquire(&link.shared.plane, snapshot, entry, &wanted).await?
        };
        self.step(|e| e.chosen(&acquired));
        self.chosen = Some(acquired);
        Ok(())
    }

    /// Which connection the next try needs.
    pub fn connection(&self) -> Connection {
        match (self.upgrade, self.fresh) {
            (true, _) => Connection::Upgrade,
            (false, true) => Connection::Fresh,
            (false, false) => Connection::Any,
        }
    }

    /// The member is reached: from here on its flush ends the request. One that came while it was being reached does
    /// not, as nothing was sent yet. `false`: it came; another member is to be tried.
    pub fn reached(&mut self) -> bool {
        let (Some(link), Some(chosen)) = (&self.link, &self.chosen) else { return false };
        if chosen.serving.is_flushed() {
            return false;
        }
        link.serve(chosen.serving.flushed());
        self.reached = true;
        true
    }

    /// What an answer with this status says of the request: its id where it is an error, and everything to a client that
    /// the vserver lets know.
    pub fn told(&self, link: &Link, status: u16) -> Told {
        let Some(exchange) = &self.exchange else { return Told::new() };
        let snapshot = link.shared.plane.cell.load();
        let vserver = snapshot.model.vserver_id(&link.vserver).map(|id| snapshot.model.vserver(id));
        let told = vserver.map(|vserver| exchange.diagnostics(vserver, self.ended)).unwrap_or_default();
        if told.is_empty() && status >= 400 { vec![(REQUEST_ID, exchange.id())] } else { told }
    }

    /// Tells the exchange of a step.
    pub fn step(&mut self, step: impl FnOnce(&mut Exchange)) {
        if let Some(exchange) = &mut self.exchange {
            step(exchange);
        }
    }

    /// The member's work is done.
    pub fn release(&mut self) {
        if self.chosen.take().is_some()
            && let Some(link) = &self.link
        {
            link.served();
        }
    }

    /// The request is whole: its copies leave.
    pub fn send_copies(&mut self) {
        let (Some(link), Some(routed)) = (&self.link, &mut self.routed) else { return };
        if !routed.copies.is_empty() && !self.copied_head.is_empty() {
            let copies = std::mem::take(&mut routed.copies);
            copies.send(&link.shared, link.client, link.info.local, &self.copied_head);
        }
    }

    pub fn pass_over(&mut self) {
        if let Some(chosen) = &self.chosen {
            self.tried.push(Arc::clone(chosen.serving.service()));
        }
    }

    /// The chosen one cannot be reached.
    pub fn unreached(&mut self, why: &str) {
        if let (Some(chosen), Some(link)) = (&self.chosen, &self.link) {
            chosen.serving.live().cannot_connect(link.shared.now(), why);
        }
        self.step(|e| e.unreached(why));
    }

    pub fn may_try_again(&self) -> bool {
        self.began.elapsed() < TRIES_BUDGET
    }
}

impl Drop for Ctx {
    /// One that is dropped under way was broken off; [`Exchange`] knows why where it was the whole connection.
    fn drop(&mut self) {
        let cut = self.link.as_ref().and_then(|link| link.cut_for());
        if let (Some((who, reason)), Some(exchange)) = (cut, self.exchange.take()) {
            exchange.end(who, reason, 0);
        }
    }
}

/// What is asked for on behalf of this request.
pub(in crate::dataplane::l7::pingora) fn wanted<'a>(
    link: &'a Link,
    value: &'a (dyn Fn(&Extract) -> Option<String> + Sync),
    routed: Option<&'a Routed>,
    tried: &'a [Name],
) -> Wanted<'a> {
    Wanted {
        client: link.client,
        local: link.info.local,
        value,
        tls_session: link.info.tls.as_ref().and_then(|tls| tls.session.as_deref()),
        only: routed.and_then(Routed::only),
        tried,
        now: link.shared.now(),
        dry: false,
    }
}

/// Whether a client of this vserver may come to wait for a member, of it or of its backups.
fn may_wait(snapshot: &Snapshot, vserver: &str) -> bool {
    let Some(id) = snapshot.model.vserver_id(vserver) else { return false };
    std::iter::once(id).chain(snapshot.model.backup_chain(id)).any(|id| {
        snapshot.model.vserver(id).members.iter().any(|member| {
            let settings = &snapshot.model.service(member.service).settings;
            settings.max_client > 0 || settings.max_bandwidth > 0
        })
    })
}

/// The values of a request.
pub(in crate::dataplane::l7::pingora) fn values<'a>(
    head: &'a RequestHeader,
    link: &Link,
) -> impl Fn(&Extract) -> Option<String> + Sync + 'a {
    let parts = Head { fields: &head.headers, target: head.raw_path(), client: link.client.ip() };
    move |extract| extract::value(&parts, extract)
}

/// A head as extracts see it.
pub(in crate::dataplane::l7::pingora) struct Head<'a> {
    pub fields: &'a http::HeaderMap,
    pub target: &'a [u8],
    pub client: IpAddr,
}

impl extract::Parts for Head<'_> {
    fn field(&self, name: &str, nth: usize) -> Option<&str> {
        self.fields.get_all(name).iter().nth(nth)?.to_str().ok()
    }

    fn target(&self) -> &str {
        // Visible ASCII: the head passed the guard.
        std::str::from_utf8(self.target).unwrap_or("")
    }

    fn client(&self) -> IpAddr {
        self.client
    }
}
