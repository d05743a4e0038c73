//! Heads as they go on: what was read, field by field as it stands, without what is about the one connection, and with
//! what we say ourselves.

use std::borrow::Cow;
use std::net::IpAddr;

use super::answer::{Answer, Framing};
use super::buffer::Buffer;
use crate::balance::extract;
use crate::dataplane::ended::REQUEST_ID;
use crate::dataplane::l7::date;
use crate::dataplane::l7::forward::is_look_alike;
use crate::dataplane::l7::head::field::is_named;
use crate::dataplane::l7::head::{self, Field, Head, Kind};
use crate::dataplane::l7::pages::{self, Page};
use crate::dataplane::l7::policy::edits::HeadEdits;
use crate::model::id::Name;

/// A field of our own in a request. Stands for every field of its name, and for those that could be taken for it.
pub(super) type Said = (Name, String);

/// A field that says who a request is and how it went.
pub(super) type Told = (&'static str, String);

/// A head with its fields, where it stands.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub head: &'a [u8],
    pub fields: &'a [Field],
}

/// A head as extracts see it.
pub(super) struct Parts<'a> {
    pub source: Source<'a>,
    /// In origin form; empty for an answer.
    pub target: &'a str,
    pub client: IpAddr,
}

/// What is to become of a server's answer on its way to the client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Towards<'a> {
    /// The client speaks HTTP/1.1: it knows chunks.
    pub knows_chunks: bool,
    pub keep: Keep,
    pub set_cookie: Option<&'a str>,
    pub edits: Option<&'a HeadEdits>,
    /// Fields for a client that is told how the answer came about.
    pub told: &'a [Told],
}

/// What the client is told of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// It goes on, as is usual.
    Open,
    /// It goes on, which a client of HTTP/1.0 must be told.
    OpenSaid,
    Close,
}

impl extract::Parts for Parts<'_> {
    fn field(&self, name: &str, nth: usize) -> Option<&str> {
        let Source { head, fields } = self.source;
        let mut named = fields.iter().filter(|field| field.name.of(head).eq_ignore_ascii_case(name.as_bytes()));
        std::str::from_utf8(named.nth(nth)?.value.of(head)).ok()
    }

    fn target(&self) -> &str {
        self.target
    }

    fn client(&self) -> IpAddr {
        self.client
    }
}

/// What goes on of a request besides its fields.
#[derive(Clone, Copy)]
pub(super) struct Onwards<'a> {
    pub edits: Option<&'a HeadEdits>,
    pub said: &'a [Said],
    /// For a request that names none.
    pub host: &'a str,
    /// The connection is not to be used again.
    pub last: bool,
    /// Trailers of a chunked body go on.
    pub trails: bool,
}

/// The head of a request on its way to a server.
pub(super) fn request(out: &mut Buffer, from: Source<'_>, parsed: &Head, onwards: &Onwards<'_>) {
    let Onwards { edits, said, host, last, trails } = *onwards;
    let trails = trails && parsed.framing == head::Framing::Chunked;
    let target = edits.and_then(|edits| edits.target.as_deref()).unwrap_or_else(|| parsed.target(from.head));
    out.put(parsed.method.of(from.head));
    out.put(b" ");
    out.put(target.as_bytes());
    out.put(b" HTTP/1.1\r\n");
    let is_ours = |name: &str| {
        let stands_for = |ours: &str| name.eq_ignore_ascii_case(ours) || is_look_alike(name, ours);
        said.iter().any(|(ours, _)| stands_for(ours))
    };
    // Mostly the length tells that it is none.
    let is_ours_of = |field: Field| {
        let name = field.name.of(from.head);
        said.iter().any(|(ours, _)| ours.len() == name.len()) && is_ours(field.name.text(from.head))
    };
    let mut has_host = false;
    for &field in from.fields {
        // HTTP/1.0 knows no interim answers.
        let expects = field.kind == Kind::Expect && parsed.minor == 0;
        let announces = trails && field.kind == Kind::Trailer;
        if !announces && (expects || ends_here(from, field, parsed.connection.names_fields) || is_ours_of(field)) {
            continue;
        }
        match edits {
            Some(edits)
                if field.kind != Kind::ContentLength && edits.removes_from_request(field.name.text(from.head)) =>
            {
                continue;
            }
            Some(edits) if field.kind == Kind::Cookie => {
                if let Some(cookie) = edits.cookie(field.value.of(from.head)) {
                    out.put_field(field.name.of(from.head), &cookie);
                }
                continue;
            }
            _ => put_field(out, from.head, field),
        }
        has_host |= field.kind == Kind::Host;
    }
    for (name, value) in edits.into_iter().flat_map(HeadEdits::added).filter(|(name, _)| !is_ours(name)) {
        has_host |= name.eq_ignore_ascii_case("host");
        put(out, name, value);
    }
    if parsed.framing == head::Framing::Chunked {
        out.put(b"Transfer-Encoding: chunked\r\n");
    }
    if !has_host {
        put(out, "Host", host);
    }
    for (name, value) in said {
        put(out, name, value);
    }
    if last {
        out.put(b"Connection: close\r\n");
    }
    out.put(b"\r\n");
}

/// A head of [`request`] for a copy: without framing, whatever belongs to one connection, and the empty line.
pub(super) fn copied(head: &[u8]) -> Vec<u8> {
    let own = ["content-length", "transfer-encoding", "connection", "expect"];
    let is_own = |line: &[u8]| {
        let name = line.split(|&b| b == b':').next().unwrap_or_default();
        own.iter().any(|own| name.eq_ignore_ascii_case(own.as_bytes()))
    };
    let lines = head.split_inclusive(|&b| b == b'\n');
    lines.filter(|line| *line != b"\r\n" && !is_own(line)).flatten().copied().collect()
}

/// The head of a server's answer on its way to the client, interim ones too.
pub(super) fn answer(out: &mut Buffer, from: Source<'_>, answer: &Answer, towards: &Towards<'_>) {
    let edits = towards.edits;
    match edits.and_then(|edits| edits.status) {
        Some(status) => put_status(out, status, pages::reason(status).as_bytes()),
        None => put_status(out, answer.status, answer.reason.of(from.head)),
    }
    let (mut is_chunked, mut is_dated) = (false, answer.is_interim());
    // RFC 9112 §6.3: neither has a body, whatever they say.
    let bodiless = answer.is_interim() || answer.status == 204;
    for &field in from.fields {
        let dropped = match field.kind {
            Kind::TransferEncoding => {
                is_chunked = !bodiless && answer.status != 304;
                true
            }
            Kind::ContentLength => bodiless,
            // Of a chunked body whose trailers go on.
            Kind::Trailer => !(answer.framing == Framing::Chunked && towards.knows_chunks),
            _ => {
                let name = field.name.of(from.head);
                is_dated |= name.eq_ignore_ascii_case(b"date");
                let edited = edits.is_some_and(|edits| {
                    let name = field.name.text(from.head);
                    let is_cookie = name.eq_ignore_ascii_case("set-cookie");
                    edits.removes(name) || (is_cookie && !edits.keeps_set_cookie(field.value.of(from.head)))
                });
                edited
                    || towards.told.iter().any(|(told, _)| told.as_bytes().eq_ignore_ascii_case(name))
                    || ends_here(from, field, answer.connection.names_fields)
            }
        };
        if !dropped {
            put_field(out, from.head, field);
        }
    }
    for (name, value) in edits.into_iter().flat_map(HeadEdits::added) {
        put(out, name, value);
    }
    if !is_dated && !edits.is_some_and(|edits| edits.removes("date")) {
        date::now(|now| put(out, "Date", now));
    }
    if is_chunked && towards.knows_chunks {
        out.put(b"Transfer-Encoding: chunked\r\n");
    }
    if !answer.is_interim() {
        for (name, value) in towards.told {
            put(out, name, value);
        }
        if let Some(cookie) = towards.set_cookie {
            put(out, "Set-Cookie", cookie);
        }
        put_keep(out, towards.keep);
    }
    out.put(b"\r\n");
}

/// An answer of our own. `told`: what says who the request is; `silent`: the body is not sent (to HEAD). Returns the
/// length of the body that goes out.
pub(super) fn own(out: &mut Buffer, page: &Page, told: &[Told], silent: bool, keep: Keep) -> u64 {
    let Page { status, fields, body } = page;
    let id = told.iter().find(|(name, _)| *name == REQUEST_ID).map(|(_, id)| id.as_str());
    let text = || pages::body(*status, id).into_bytes();
    let body = body.as_ref().map_or_else(|| Cow::Owned(text()), |body| Cow::Borrowed(&body[..]));
    put_status(out, *status, pages::reason(*status).as_bytes());
    let is = |name: &str, words: &[&str]| words.iter().any(|word| name.eq_ignore_ascii_case(word));
    for (name, value) in fields.iter().filter(|(n, _)| !is(n, &["content-length", "transfer-encoding", "connection"])) {
        put(out, name, value);
    }
    if !fields.iter().any(|(name, _)| is(name, &["date"])) {
        date::now(|now| put(out, "Date", now));
    }
    for (name, value) in told {
        put(out, name, value);
    }
    if !body.is_empty() && !fields.iter().any(|(name, _)| is(name, &["content-type"])) {
        put(out, "Content-Type", "text/plain; charset=utf-8");
    }
    let bodiless = *status < 200 || matches!(status, 204 | 304);
    if !bodiless {
        put(out, "Content-Length", &body.len().to_string());
    }
    put_keep(out, keep);
    out.put(b"\r\n");
    if silent || bodiless {
        return 0;
    }
    out.put(&body);
    body.len() as u64
}

fn ends_here(from: Source<'_>, field: Field, names_fields: bool) -> bool {
    field.kind.is_hop_by_hop() || (names_fields && is_named(from.head, from.fields, field))
}

fn put_status(out: &mut Buffer, status: u16, reason: &[u8]) {
    let digit = |by: u16| b'0' + u8::try_from(status / by % 10).unwrap_or(0);
    out.put(b"HTTP/1.1 ");
    out.put(&[digit(100), digit(10), digit(1), b' ']);
    out.put(reason);
    out.put(b"\r\n");
}

fn put_field(out: &mut Buffer, head: &[u8], field: Field) {
    out.put_field(field.name.of(head), field.value.of(head));
}

fn put(out: &mut Buffer, name: &str, value: &str) {
    out.put_field(name.as_bytes(), value.as_bytes());
}

fn put_keep(out: &mut Buffer, keep: Keep) {
    match keep {
        Keep::Open => {}
        Keep::OpenSaid => out.put(b"Connection: keep-alive\r\n"),
        Keep::Close => out.put(b"Connection: close\r\n"),
    }
}
