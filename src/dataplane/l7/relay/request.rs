//! A request whose head was read, and answers to it that no server gave.

use std::net::IpAddr;

use super::End;
use super::buffer::Buffer;
use super::client::Client;
use super::kept::BODY_MAX_BYTES;
use super::write::{self, Keep, Parts, Source, Told};
use crate::balance::extract;
use crate::dataplane::conn::{ClientInfo, Transport};
use crate::dataplane::ended::{Asked, Exchange, REQUEST_ID};
use crate::dataplane::l7::head::{self, Field, Framing, Head, Kind, Options, Refusal};
use crate::dataplane::l7::pages::Page;
use crate::dataplane::l7::policy;
use crate::model::balancing::Extract;
use crate::model::ending::Ending;

/// A request whose head stands at the beginning of the client's input.
pub(super) struct Request {
    /// Bytes of the head.
    pub length: usize,
    pub head: Head,
    pub fields: Vec<Field>,
    pub to_head: bool,
    /// May be sent twice (RFC 9110 §9.2.2).
    pub idempotent: bool,
    /// The head and a part of the body are not in the input any more.
    pub gone: bool,
}

// === impl Request ===

impl Request {
    /// `length`: of the head at the beginning of `input`.
    pub fn parse(input: &[u8], length: usize) -> Result<Request, Refusal> {
        let mut fields = Vec::with_capacity(32);
        let bytes = &input[..length];
        let head = head::parse(bytes, &mut fields)?;
        let method = head.method.of(bytes);
        let to_head = method == b"HEAD";
        let idempotent = matches!(method, b"GET" | b"HEAD" | b"PUT" | b"DELETE" | b"OPTIONS");
        Ok(Request { length, head, fields, to_head, idempotent, gone: false })
    }

    pub fn describe(&self, story: &mut Exchange, input: &[u8]) {
        if story.is_asked_about() {
            let field = |name: &str, before: usize| {
                let mut named = self.named_fields(input).filter(|(named, _)| named.eq_ignore_ascii_case(name));
                named.nth(before).map(|(_, value)| value)
            };
            story.describe(&Asked {
                method: self.head.method.text(input),
                host: self.host(input),
                target: self.head.target(input),
                protocol: if self.head.minor == 0 { "HTTP/1.0" } else { "HTTP/1.1" },
                field: &field,
            });
        }
    }

    /// It asks for another protocol on this connection.
    pub fn is_upgrade(&self) -> bool {
        let has_upgrade = || self.fields.iter().any(|field| field.kind == Kind::Upgrade);
        self.head.minor == 1 && self.head.connection.upgrade && has_upgrade()
    }

    /// All of it is in the input, and stays there until its answer has begun.
    pub fn is_whole(&self, input: &[u8]) -> bool {
        !self.gone && self.head.framing != Framing::Chunked && input.len() - self.length >= self.body_length()
    }

    /// Its body is not known to be more than can be kept to be sent again.
    pub fn fits(&self) -> bool {
        self.body_length() <= BODY_MAX_BYTES
    }

    /// Bytes of the body, where its head says how many.
    pub fn body_length(&self) -> usize {
        match self.head.framing {
            Framing::Length(length) => usize::try_from(length).unwrap_or(usize::MAX),
            Framing::None | Framing::Chunked => 0,
        }
    }

    /// What becomes of the connection, as the client wants it.
    pub fn keep(&self) -> Keep {
        match (self.head.minor, self.head.connection) {
            (_, Options { close: true, .. }) => Keep::Close,
            (1, _) => Keep::Open,
            (_, Options { keep_alive: true, .. }) => Keep::OpenSaid,
            _ => Keep::Close,
        }
    }

    pub fn source<'a>(&'a self, input: &'a [u8]) -> Source<'a> {
        Source { head: &input[..self.length.min(input.len())], fields: &self.fields }
    }

    /// The Host field; empty where HTTP/1.0 had none.
    pub fn host<'a>(&self, input: &'a [u8]) -> &'a str {
        self.head.host.map_or("", |host| host.text(input))
    }

    /// As limits, methods and persistence ask for it.
    pub fn value(&self, input: &[u8], client: IpAddr, extract: &Extract) -> Option<String> {
        extract::value(&Parts { source: self.source(input), target: self.head.target(input), client }, extract)
    }

    /// As rules see it; `fields` are its [`named_fields`](Self::named_fields).
    pub fn as_asked<'a>(
        &'a self,
        input: &'a [u8],
        fields: &'a [(&'a str, &'a [u8])],
        info: &'a ClientInfo,
    ) -> policy::Request<'a> {
        let tls = info.tls.as_ref();
        policy::Request {
            method: self.head.method.text(input),
            target: self.head.target(input),
            host: self.host(input),
            fields,
            client: info.client.ip(),
            port: info.local.port(),
            tls: tls.is_some(),
            server_name: tls.and_then(|tls| tls.server_name.as_deref()),
        }
    }

    pub fn named_fields<'a>(&'a self, input: &'a [u8]) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        self.fields.iter().map(|field| (field.name.text(input), field.value.of(input)))
    }
}

/// Gives an answer of our own. `None`: the connection is good for another request.
pub(super) async fn respond<S: Transport>(
    client: &mut Client<S>,
    request: &Request,
    page: &Page,
    story: Exchange,
    ending: Ending,
) -> Option<End> {
    // What is still to come of the body would be taken for the next request.
    let whole = request.is_whole(client.input());
    let goes_on = whole && !client.signals.is_closing() && !client.shared.is_draining();
    let keep = if goes_on { request.keep() } else { Keep::Close };
    let mut out = Buffer::new();
    let bytes = write::own(&mut out, page, &told(client, &story, page.status, ending), request.to_head, keep);
    let sent = client.send(out).await;
    if sent {
        story.told(bytes);
    }
    story.finish(ending, page.status);
    if !sent {
        return Some(End::Close);
    }
    if whole {
        client.consume(request.length + request.body_length());
    }
    if keep == Keep::Close { Some(End::Linger) } else { None }
}

/// What says in an answer of our own who the request is and how it ended.
fn told<S>(client: &Client<S>, story: &Exchange, status: u16, ending: Ending) -> Vec<Told> {
    let snapshot = client.shared.plane.cell.load();
    let vserver = snapshot.model.vserver_id(&client.vserver).map(|id| snapshot.model.vserver(id));
    let told = vserver.map(|vserver| story.diagnostics(vserver, Some(ending))).unwrap_or_default();
    if told.is_empty() && status >= 400 { vec![(REQUEST_ID, story.id())] } else { told }
}
