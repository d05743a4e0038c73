//! HTTP/2: one request on a new connection, with prior knowledge or by ALPN; and gRPC's health service on top of it.
//!
//! The same judgement as HTTP/1.1. Flow control bounds what a server can send: no window is opened beyond what is
//! looked at.

use std::net::SocketAddr;

use bytes::Bytes;
use h2::{RecvStream, client};
use http::{HeaderMap, Method, Request, Uri};

use super::connect::Connection;
use super::http::judge;
use super::http::response::{Head, Response};
use super::http::{USER_AGENT, authority};
use super::{Answer, Found, Miss, To, connect, quoted};
use crate::model::check::{HttpExpect, HttpRequest};

/// Largest list of header fields. Bytes.
const HEADERS_MAX: u32 = 16 * 1024;

/// Longest answer of a health service. Bytes.
const HEALTH_MAX: usize = 1024;

/// What came back.
struct Got {
    status: u16,
    fields: HeaderMap,
    body: Vec<u8>,
    /// More body followed than was considered.
    cut: bool,
    trailers: Option<HeaderMap>,
}

pub(super) async fn probe(to: To<'_>, request: &HttpRequest, expect: &HttpExpect, considered: usize) -> Found {
    let method = Method::from_bytes(request.method.as_bytes()).map_err(|_| unsendable("the method"))?;
    let mut head = Request::builder().method(method).uri(uri(to, request.host.as_deref(), &request.path)?);
    let has = |name: &str| request.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    if !has("User-Agent") {
        head = head.header("user-agent", USER_AGENT);
    }
    for (name, value) in &request.headers {
        head = head.header(&**name, &**value);
    }
    let head = head.body(()).map_err(|_| unsendable("a header field"))?;
    let (got, address) = exchange(to, head, Bytes::copy_from_slice(&request.body), considered).await?;
    let fields = got.fields.iter().map(|(name, value)| (name.to_string(), value.as_bytes().trim_ascii().to_vec()));
    let head = Head { status: got.status, reason: String::new(), fields: fields.collect() };
    let response = Response::decoded(head, got.body, got.cut);
    judge::whole(&response, expect).map_err(|why| Miss::Fail(format!("{address}: {why}")))
}

/// `grpc.health.v1.Health/Check`.
pub(super) async fn grpc(to: To<'_>, service: &str) -> Found {
    let request = Request::builder()
        .method(Method::POST)
        .uri(uri(to, None, "/grpc.health.v1.Health/Check")?)
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("user-agent", USER_AGENT)
        .body(())
        .map_err(|_| unsendable("the request"))?;
    let (got, address) = exchange(to, request, question(service).into(), HEALTH_MAX).await?;
    let fail = |why: String| Err(Miss::Fail(format!("{address}: {why}")));
    if got.status != 200 {
        return fail(format!("HTTP status {}, so no gRPC is spoken there", got.status));
    }
    // Without a body the trailers come as the header fields.
    let trailers = got.trailers.as_ref().unwrap_or(&got.fields);
    let text = |name: &str| trailers.get(name).map(|value| value.as_bytes());
    match text("grpc-status") {
        Some(b"0") => {}
        Some(b"5") => return fail(format!("the service {service:?} is not known there (gRPC status 5)")),
        Some(b"12") => return fail("there is no health service (gRPC status 12)".to_owned()),
        Some(code) => {
            let said = text("grpc-message").map_or_else(String::new, |text| format!(": {}", quoted(text)));
            return fail(format!("gRPC status {}{said}", quoted(code).trim_matches('"')));
        }
        None => return fail("an answer without a gRPC status".to_owned()),
    }
    match status(&got.body) {
        Some(1) => Ok(Answer::pass(format!("{address}: SERVING"))),
        Some(2) => fail("NOT_SERVING".to_owned()),
        Some(3) => fail(format!("the service {service:?} is not known there (SERVICE_UNKNOWN)")),
        Some(code) => fail(format!("serving status {code}")),
        None => fail(format!("{} is no answer of a health service", quoted(&got.body))),
    }
}

fn unsendable(what: &str) -> Miss {
    Miss::Fail(format!("the request cannot be sent: {what} is not valid in HTTP/2"))
}

fn uri(to: To<'_>, host: Option<&str>, path: &str) -> Result<Uri, Miss> {
    let authority = host.map_or_else(|| authority(to.target, to.tls.is_some()), str::to_owned);
    let scheme = if to.tls.is_some() { "https" } else { "http" };
    Uri::builder()
        .scheme(scheme)
        .authority(authority)
        .path_and_query(path)
        .build()
        .map_err(|_| unsendable("the host or the path"))
}

async fn exchange(to: To<'_>, request: Request<()>, body: Bytes, considered: usize) -> Result<(Got, SocketAddr), Miss> {
    let To { target, addresses, tls, deadline } = to;
    let (connection, address) = connect::open_for(target, addresses, tls, &[b"h2"], deadline).await?;
    if tls.is_some() && connection.alpn() != Some(b"h2") {
        return Err(Miss::Fail(format!("{address} does not agree to HTTP/2 by ALPN")));
    }
    let got =
        deadline.within(|| format!("an answer over HTTP/2 from {address}"), ask(connection, request, body, considered));
    match got.await? {
        Ok(got) => Ok((got, address)),
        Err(error) if error.get_io().is_some() => {
            let io = error.into_io().unwrap_or_else(|| std::io::ErrorKind::Other.into());
            Err(Miss::from_io(&io, &format!("HTTP/2 with {address}")))
        }
        Err(error) => Err(Miss::Fail(format!("{address}: {error}"))),
    }
}

async fn ask(connection: Connection, request: Request<()>, body: Bytes, considered: usize) -> Result<Got, h2::Error> {
    let window = u32::try_from(considered).unwrap_or(u32::MAX).clamp(16 * 1024, 1 << 20);
    let mut builder = client::Builder::new();
    builder
        .enable_push(false)
        .max_header_list_size(HEADERS_MAX)
        .initial_window_size(window)
        .initial_connection_window_size(window)
        .max_concurrent_reset_streams(4);
    let (sender, driver) = builder.handshake::<_, Bytes>(connection).await?;
    let exchange = async move {
        let mut sender = sender.ready().await?;
        let (response, mut stream) = sender.send_request(request, body.is_empty())?;
        if !body.is_empty() {
            stream.send_data(body, true)?;
        }
        read(response.await?, considered).await
    };
    tokio::pin!(exchange, driver);
    tokio::select! {
        got = &mut exchange => got,
        // The connection is over: what has come may still be enough.
        ended = &mut driver => match ended {
            Err(error) => Err(error),
            Ok(()) => exchange.await,
        },
    }
}

async fn read(response: http::Response<RecvStream>, considered: usize) -> Result<Got, h2::Error> {
    let (head, mut stream) = response.into_parts();
    let mut got =
        Got { status: head.status.as_u16(), fields: head.headers, body: Vec::new(), cut: false, trailers: None };
    while let Some(chunk) = stream.data().await {
        let chunk = chunk?;
        // No capacity is given back: the first window is all that a server may use.
        let room = considered - got.body.len();
        got.body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room || got.body.len() == considered {
            got.cut = !stream.is_end_stream();
            return Ok(got);
        }
    }
    got.trailers = stream.trailers().await?;
    Ok(got)
}

/// The message `HealthCheckRequest { service }`, uncompressed, with gRPC's head.
fn question(service: &str) -> Vec<u8> {
    let mut message = Vec::new();
    if !service.is_empty() {
        message.push(0x0a);
        let mut left = service.len();
        while left >= 0x80 {
            message.push((left % 0x80) as u8 | 0x80);
            left /= 0x80;
        }
        message.push(left as u8);
        message.extend_from_slice(service.as_bytes());
    }
    let mut bytes = vec![0];
    bytes.extend((message.len() as u32).to_be_bytes());
    bytes.extend(message);
    bytes
}

/// `HealthCheckResponse.status` of one message; 0 where the field is left out. `None`: it is none.
fn status(body: &[u8]) -> Option<u64> {
    let (head, mut message) = body.split_at_checked(5)?;
    let length = u32::from_be_bytes(head[1..].try_into().ok()?);
    if head[0] != 0 || usize::try_from(length).ok()? != message.len() {
        return None;
    }
    let mut found = 0;
    while !message.is_empty() {
        let key = varint(&mut message)?;
        match (key >> 3, key & 7) {
            (1, 0) => found = varint(&mut message)?,
            (_, 0) => drop(varint(&mut message)?),
            (_, 1) => message = message.get(8..)?,
            (_, 2) => {
                let length = usize::try_from(varint(&mut message)?).ok()?;
                message = message.get(length..)?;
            }
            (_, 5) => message = message.get(4..)?,
            _ => return None,
        }
    }
    Some(found)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_health_question_and_its_answers_are_the_bytes_of_protobuf() {
        assert_eq!(question(""), [0, 0, 0, 0, 0]);
        assert_eq!(question("a.B"), [0, 0, 0, 0, 5, 0x0a, 3, b'a', b'.', b'B']);
        assert_eq!(&question(&"x".repeat(200))[5..8], [0x0a, 0xc8, 0x01]);
        assert_eq!(status(&[0, 0, 0, 0, 2, 0x08, 1]), Some(1));
        assert_eq!(status(&[0, 0, 0, 0, 0]), Some(0));
        assert_eq!(status(&[0, 0, 0, 0, 5, 0x12, 1, b'x', 0x08, 2]), Some(2), "unknown fields are passed over");
        for broken in [&[][..], &[1, 0, 0, 0, 0], &[0, 0, 0, 0, 9, 8, 1], &[0, 0, 0, 0, 1, 8], &[0, 0, 0, 0, 1, 0x0b]] {
            assert_eq!(status(broken), None, "{broken:?}");
        }
        assert_eq!(status(&[&[0, 0, 0, 0, 12, 8][..], &[0xff; 11]].concat()), None);
    }
}
