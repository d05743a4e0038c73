//! DNS over HTTPS (RFC 8484): GET and POST, over HTTP/2 and HTTP/1.1.
//!
//! Everything that a peer can hold has a limit: connections ([`clients`](super::clients)), streams, the size of heads and
//! bodies, the time for a request, and how long a connection may go on without a new one: then it is asked to end, and cut
//! where it has not after as long again. So who sends its requests byte by byte, or takes no answers, is gone soon.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine;
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, Version, header};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_rustls::server::TlsStream;

use super::clients::{Guest, Open};
use super::tcp::QUERY_MAX;
use super::{Entropy, Shared, wall};
use crate::dataplane::dns::answer::{Circumstances, Scratch, Transport, answer_with};
use crate::dataplane::dns::tsig::Walk;
use crate::dataplane::dns::wire::{HEADER, rcode};

/// Of a head, with the query in its URL, and of what is buffered of a body. Bytes.
const HEAD_MAX: usize = 16 << 10;
const FIELDS_MAX: usize = 64;
/// Of a body that is too long: what of it is read. Bytes.
const DISCARDED_MAX: usize = 256 << 10;
/// Of one HTTP/2 stream: more than the longest query.
const STREAM_WINDOW: u32 = 16 << 10;
const CONNECTION_WINDOW: u32 = 128 << 10;
const MESSAGE: &str = "application/dns-message";

/// What the requests of one connection share.
#[derive(Clone)]
struct Door(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    guest: Arc<Guest>,
    client: IpAddr,
    /// For a whole request.
    patience: Duration,
    /// Requests that may still come.
    left: AtomicU64,
    used_up: Notify,
    /// When the last request began.
    last: Mutex<Instant>,
}

/// A connection of either version.
trait Ends: Future<Output = hyper::Result<()>> {
    /// No more requests; those under way are finished.
    fn ask_to_end(self: Pin<&mut Self>);
}

type Stream = TokioIo<TlsStream<TcpStream>>;

/// One connection to its end.
pub(super) async fn carry(open: &Open, stream: TlsStream<TcpStream>, client: IpAddr) -> io::Result<()> {
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let door = Door(Arc::new(Inner {
        shared: Arc::clone(&open.shared),
        guest: Arc::clone(&open.guest),
        client,
        patience: open.limits.idle_timeout,
        left: AtomicU64::new(open.queries()),
        used_up: Notify::new(),
        last: Mutex::new(Instant::now()),
    }));
    let stream = TokioIo::new(stream);
    if is_http2 {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .max_concurrent_streams(open.limits.pipeline)
            .max_header_list_size(HEAD_MAX as u32)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_send_buf_size(64 << 10);
        drive(open, &door, builder.serve_connection(stream, door.clone())).await
    } else {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(open.limits.idle_timeout)
            .max_headers(FIELDS_MAX)
            .max_buf_size(HEAD_MAX);
        drive(open, &door, builder.serve_connection(stream, door.clone())).await
    }
}

async fn drive(open: &Open, door: &Door, connection: impl Ends) -> io::Result<()> {
    let mut connection = pin!(connection);
    let mut stopped = open.shared.stopped.clone();
    let mut is_ending = false;
    loop {
        tokio::select! {
            ended = connection.as_mut() => return ended.map_err(io::Error::other),
            () = door.is_quiet() => {
                if is_ending {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not take its answers"));
                }
                *door.0.last.lock() = Instant::now();
            }
            () = door.0.used_up.notified(), if !is_ending => {}
            _ = stopped.wait_for(|s| *s), if !is_ending => {}
        }
        is_ending = true;
        connection.as_mut().ask_to_end();
    }
}

impl Ends for http1::Connection<Stream, Door> {
    fn ask_to_end(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl Ends for http2::Connection<Stream, Door, TokioExecutor> {
    fn ask_to_end(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

// === impl Door ===

impl Service<Request<Incoming>> for Door {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let door = self.clone();
        *door.0.last.lock() = Instant::now();
        let before = door.0.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if before.is_ok_and(|left| left <= 1) || before.is_err() {
            door.0.used_up.notify_one();
        }
        let is_head = request.method() == Method::HEAD;
        Box::pin(async move {
            let _work = door.0.guest.works();
            let response = door.respond(request).await;
            // Over HTTP/2 a body to HEAD would be sent.
            Ok(if is_head { without_body(response) } else { response })
        })
    }
}

impl Door {
    /// Returns once no request has come for too long.
    async fn is_quiet(&self) {
        loop {
            let at = *self.0.last.lock() + self.0.patience;
            if Instant::now() >= at {
                return;
            }
            tokio::time::sleep_until(at).await;
        }
    }

    async fn respond(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let patience = self.0.patience;
        let query = match tokio::time::timeout(patience, self.query(request)).await {
            Ok(Ok(query)) => query,
            Ok(Err(status)) => return self.refuse(status),
            Err(_) => return self.refuse(StatusCode::REQUEST_TIMEOUT),
        };
        let shared = &self.0.shared;
        let snapshot = shared.cell.load();
        let mut reply = Vec::new();
        let circumstances = Circumstances::new(self.0.client, Transport::Https, Entropy::new().next(), wall());
        let outcome = answer_with(&mut Scratch::default(), &snapshot, &query, circumstances, &mut reply);
        shared.count(&snapshot, Transport::Https, &outcome);
        drop(snapshot);
        if !outcome.reply {
            return self.refuse(StatusCode::BAD_REQUEST);
        }
        let lasts = match outcome.rcode {
            rcode::NOERROR | rcode::NXDOMAIN => lifetime(&reply),
            _ => None,
        };
        // Private: what is answered may be for this client only.
        let lasts = lasts.map_or_else(|| "no-store".to_owned(), |seconds| format!("private, max-age={seconds}"));
        let mut response = Response::new(Full::new(Bytes::from(reply)));
        let fields = response.headers_mut();
        fields.insert(header::CONTENT_TYPE, HeaderValue::from_static(MESSAGE));
        fields.insert(header::CACHE_CONTROL, HeaderValue::from_str(&lasts).expect("it is ASCII"));
        response
    }

    /// The message that a request brings. What else it brings is read all the same, within reason: many clients look at an
    /// answer only when they have sent everything.
    async fn query(&self, request: Request<Incoming>) -> Result<Vec<u8>, StatusCode> {
        let (head, incoming) = request.into_parts();
        let asked = self.judge(&head);
        let sent = body(incoming).await;
        match asked? {
            Some(query) => Ok(query),
            None => sent,
        }
    }

    /// The message in a head; `None`: it is the body.
    fn judge(&self, head: &http::request::Parts) -> Result<Option<Vec<u8>>, StatusCode> {
        if head.version == Version::HTTP_11 && head.headers.get_all(header::HOST).iter().count() != 1 {
            return Err(StatusCode::BAD_REQUEST);
        }
        let snapshot = self.0.shared.cell.load();
        if snapshot.model.dns.https.as_ref().is_none_or(|https| *https.path != *head.uri.path()) {
            return Err(StatusCode::NOT_FOUND);
        }
        match head.method {
            Method::GET | Method::HEAD => {
                let pairs = head.uri.query().unwrap_or("").split('&');
                let text = pairs.filter_map(|pair| pair.strip_prefix("dns=")).next().ok_or(StatusCode::BAD_REQUEST)?;
                let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
                let query = engine.decode(text.trim_end_matches('=')).map_err(|_| StatusCode::BAD_REQUEST)?;
                if query.len() > QUERY_MAX { Err(StatusCode::URI_TOO_LONG) } else { Ok(Some(query)) }
            }
            Method::POST => {
                let kind = head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
                let kind = kind.map(|kind| kind.split(';').next().unwrap_or(kind).trim());
                let is_message = kind.is_some_and(|kind| kind.eq_ignore_ascii_case(MESSAGE));
                if is_message { Ok(None) } else { Err(StatusCode::UNSUPPORTED_MEDIA_TYPE) }
            }
            _ => Err(StatusCode::METHOD_NOT_ALLOWED),
        }
    }

    fn refuse(&self, status: StatusCode) -> Response<Full<Bytes>> {
        self.0.shared.cell.load().dns.http_refused_total.fetch_add(1, Ordering::Relaxed);
        let text = match status {
            StatusCode::NOT_FOUND => "no DNS here; see `dns.https.path`\n",
            StatusCode::METHOD_NOT_ALLOWED => "GET or POST\n",
            StatusCode::UNSUPPORTED_MEDIA_TYPE => "POST takes application/dns-message\n",
            StatusCode::PAYLOAD_TOO_LARGE | StatusCode::URI_TOO_LONG => "a query of more than 4096 bytes\n",
            StatusCode::REQUEST_TIMEOUT => "the query did not come in time\n",
            _ => "not a DNS query; GET takes it as `?dns=` in base64url, POST as its body\n",
        };
        let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
        *response.status_mut() = status;
        let fields = response.headers_mut();
        fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        if status == StatusCode::METHOD_NOT_ALLOWED {
            fields.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD, POST"));
        }
        response
    }
}

/// The head of the answer to GET (RFC 9110 §9.3.2), which says how long the body would be.
fn without_body(response: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
    let (mut head, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    Response::from_parts(head, Full::new(Bytes::new()))
}

/// A body that is a query. One that is too long is read on for a while.
async fn body(mut body: Incoming) -> Result<Vec<u8>, StatusCode> {
    let mut query = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| StatusCode::BAD_REQUEST)?.into_data() else { continue };
        length += data.len();
        if length <= QUERY_MAX {
            query.extend_from_slice(&data);
        } else if length > DISCARDED_MAX {
            break;
        }
    }
    if length > QUERY_MAX { Err(StatusCode::PAYLOAD_TOO_LARGE) } else { Ok(query) }
}

/// How long a reply may be kept (RFC 8484 §5.1): the least TTL of its answer, or of the SOA that says there is none.
fn lifetime(reply: &[u8]) -> Option<u32> {
    let count = |at: usize| u16::from_be_bytes([reply[at], reply[at + 1]]);
    let mut walk = Walk { message: reply, at: HEADER };
    for _ in 0..count(4) {
        walk.name()?;
        walk.at += 4;
    }
    let records = if count(6) > 0 { count(6) } else { count(8) };
    let mut least: Option<u32> = None;
    for _ in 0..records {
        walk.name()?;
        walk.at += 4;
        let ttl = u32::from(walk.u16()?) << 16 | u32::from(walk.u16()?);
        least = Some(least.map_or(ttl, |least| least.min(ttl)));
        let length = usize::from(walk.u16()?);
        walk.at += length;
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_has_no_body_and_says_how_long_it_would_be() {
        let response = without_body(Response::new(Full::new(Bytes::from_static(b"12345"))));
        assert_eq!(
            (response.body().size_hint().exact(), &response.headers()["content-length"]),
            (Some(0), &"5".parse::<HeaderValue>().unwrap())
        );
    }

    #[test]
    fn a_reply_is_kept_as_long_as_its_shortest_record_and_one_without_records_not_at_all() {
        let mut reply = vec![0, 0, 0x84, 0, 0, 1, 0, 2, 0, 0, 0, 0];
        reply.extend_from_slice(b"\x01a\x00\x00\x01\x00\x01");
        for ttl in [60u32, 30] {
            reply.extend_from_slice(b"\xc0\x0c\x00\x01\x00\x01");
            reply.extend_from_slice(&ttl.to_be_bytes());
            reply.extend_from_slice(&[0, 4, 192, 0, 2, 1]);
        }
        assert_eq!(lifetime(&reply), Some(30));
        reply[7] = 1;
        assert_eq!(lifetime(&reply), Some(60));
        reply[7] = 0;
        assert_eq!(lifetime(&reply), None, "neither an answer nor a SOA");
        reply[9] = 2;
        assert_eq!(lifetime(&reply), Some(30), "without an answer the authority section says it");
    }
}
