//! HTTP and HTTP-ECV: one HTTP/1.1 request on a new connection, its answer read and judged.
//!
//! The answer is read to its end, so that a server that breaks off in the middle fails, but never beyond what is looked
//! at (64 KiB of body, 24 KiB for monitors): a health page that streams for ever is judged by its beginning. What the
//! head decides alone, a wrong status or a drain code, is decided without waiting for the body.

pub(super) mod judge;
pub(super) mod response;

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Found, Miss, To, connect, resolve};
use crate::model::check::{HttpExpect, HttpRequest, Target};
use response::Response;

/// How much of a body a user's check looks at. Bytes.
pub(super) const CONSIDERED_BY_CHECKS: usize = 64 * 1024;

/// How much of a body a monitor looks at: NetScaler's bound. Bytes.
pub(super) const CONSIDERED_BY_MONITORS: usize = 24 * 1024;

pub(super) const USER_AGENT: &str = concat!("bascule/", env!("CARGO_PKG_VERSION"), " (health check)");

/// An answer as far as it had to be read.
pub(super) enum Fetched {
    /// The head decided alone.
    Decided(judge::Judgement),
    Whole(Response),
}

pub(super) async fn probe(to: To<'_>, request: &HttpRequest, expect: &HttpExpect, considered: usize) -> Found {
    let (fetched, address) = fetch(to, request, considered, |head| judge::head_alone(head, expect)).await?;
    let judged = match fetched {
        Fetched::Decided(judged) => judged,
        Fetched::Whole(response) => judge::whole(&response, expect),
    };
    judged.map_err(|why| Miss::Fail(format!("{address}: {why}")))
}

/// Makes the request and reads the answer, up to where `alone` is content with the head.
pub(super) async fn fetch(
    to: To<'_>,
    request: &HttpRequest,
    considered: usize,
    alone: impl Fn(&response::Head) -> Option<judge::Judgement>,
) -> Result<(Fetched, SocketAddr), Miss> {
    let To { target, addresses, tls, deadline } = to;
    let bytes = encode(request, target, tls.is_some())?;
    let (mut connection, address) = connect::open(target, addresses, tls, deadline).await?;
    let what = || format!("HTTP request to {address}");

    // A server may answer and close before it has read the request, so a failed write is not the end of it: the answer,
    // or its absence, decides.
    let write = async {
        connection.write_all(&bytes).await?;
        connection.flush().await
    };
    let written = deadline.within(|| format!("{address} to take the request"), write).await?;

    let mut response = Response::new(request.method.eq_ignore_ascii_case("HEAD"), considered);
    let mut buffer = [0; 8 * 1024];
    while !response.is_complete() {
        if let Some(decided) = response.head().and_then(&alone) {
            return Ok((Fetched::Decided(decided), address));
        }
        let progress = || format!("{} from {address}", response.missing());
        match deadline.within(progress, connection.read(&mut buffer)).await? {
            // A close without TLS's farewell is common, and where a length was announced a truncation shows anyway.
            Ok(0) => response.end(),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => response.end(),
            Err(error) => return Err(Miss::from_io(written.as_ref().err().unwrap_or(&error), &what())),
            Ok(n) => response.push(&buffer[..n]),
        }
        .map_err(|why| Miss::Fail(format!("{address}: {why}")))?;
    }
    Ok((Fetched::Whole(response), address))
}

/// The request as it goes over the wire. Fields that the operator wrote replace ours of the same name.
fn encode(request: &HttpRequest, target: &Target, tls: bool) -> Result<Vec<u8>, Miss> {
    let is_safe = |text: &str| !text.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t');
    let is_word = |text: &str| !text.is_empty() && !text.contains(' ') && is_safe(text);
    let refuse = |what: &str| Err(Miss::Fail(format!("the request cannot be sent: {what} is not valid in HTTP")));
    if !is_word(&request.method) {
        return refuse("the method");
    }
    if !is_word(&request.path) {
        return refuse("the path");
    }
    if request.host.as_ref().is_some_and(|host| !is_safe(host)) {
        return refuse("the host");
    }

    let mut text = format!("{} {} HTTP/1.1\r\n", request.method, request.path);
    let mut field = |name: &str, value: &str| {
        text.push_str(name);
        text.push_str(": ");
        text.push_str(value);
        text.push_str("\r\n");
    };
    let has = |name: &str| request.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    if !has("Host") {
        match &request.host {
            Some(host) => field("Host", host),
            None => field("Host", &authority(target, tls)),
        }
    }
    if !has("User-Agent") {
        field("User-Agent", USER_AGENT);
    }
    if !has("Accept") {
        field("Accept", "*/*");
    }
    if !has("Content-Length") && !request.body.is_empty() {
        field("Content-Length", &request.body.len().to_string());
    }
    for (name, value) in &request.headers {
        if !is_word(name) || name.contains(':') || !is_safe(value) {
            return refuse("a header field");
        }
        field(name, value);
    }
    if !has("Connection") {
        field("Connection", "close");
    }
    text.push_str("\r\n");
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(&request.body);
    Ok(bytes)
}

/// Host and port, without a port that the scheme implies.
pub(super) fn authority(target: &Target, tls: bool) -> String {
    let implied = if tls { 443 } else { 80 };
    let host = resolve::bracketed(&target.host);
    if target.port == implied { host } else { format!("{host}:{}", target.port) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::check::Host;

    fn get(path: &str) -> HttpRequest {
        HttpRequest { method: "GET".into(), path: path.into(), host: None, headers: Vec::new(), body: Vec::new() }
    }

    fn sent(request: &HttpRequest, target: &str) -> String {
        let bytes = encode(request, &Target::new(target.parse().unwrap()), false).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_request_names_its_host_and_closes_the_connection() {
        let text = sent(&get("/health?deep=1"), "192.0.2.1:8080");
        assert!(text.starts_with("GET /health?deep=1 HTTP/1.1\r\nHost: 192.0.2.1:8080\r\nUser-Agent: bascule/"));
        assert!(text.ends_with("Connection: close\r\n\r\n"));
        assert!(sent(&get("/"), "[2001:db8::1]:8080").contains("Host: [2001:db8::1]:8080\r\n"));
        assert!(sent(&get("/"), "192.0.2.1:80").contains("Host: 192.0.2.1\r\n"));
    }

    #[test]
    fn fields_that_the_operator_wrote_replace_ours() {
        let mut request = get("/");
        request.headers = vec![("host".into(), "a.example".into()), ("USER-AGENT".into(), "probe".into())];
        let text = sent(&request, "192.0.2.1:80");
        assert_eq!(text.matches("ost: ").count(), 1, "{text}");
        assert!(text.contains("USER-AGENT: probe\r\n") && !text.contains("bascule"));
    }

    #[test]
    fn a_body_is_announced_and_sent_as_written() {
        let mut request = get("/");
        request.body = b"a\r\n\0b".to_vec();
        let text = sent(&request, "192.0.2.1:80");
        assert!(text.contains("Content-Length: 5\r\n") && text.ends_with("\r\n\r\na\r\n\0b"));
    }

    #[test]
    fn a_line_break_cannot_smuggle_a_second_request() {
        let target = Target::at(Host::Name("a.example".into()), 80);
        for request in [
            get("/ HTTP/1.1\r\nX: y"),
            HttpRequest { method: "GET\r\n".into(), ..get("/") },
            HttpRequest { host: Some("a\r\nb".into()), ..get("/") },
            HttpRequest { headers: vec![("a".into(), "b\r\nc: d".into())], ..get("/") },
            HttpRequest { headers: vec![("a: b".into(), "c".into())], ..get("/") },
        ] {
            assert!(matches!(encode(&request, &target, false), Err(Miss::Fail(_))), "{request:?}");
        }
    }

    #[test]
    fn a_drain_code_passes_as_trofs() {
        let expect = HttpExpect { trofs_code: Some(503), ..judge::tests::expect_200() };
        let mut response = Response::new(false, 100);
        response.push(b"HTTP/1.1 503 Draining\r\n").unwrap();
        assert!(response.head().is_none());
        response.push(b"Content-Length: 10\r\n\r\n").unwrap();
        let decided = judge::head_alone(response.head().unwrap(), &expect);
        assert_eq!(decided, Some(Ok(super::super::Answer::trofs("503 Draining, which asks to be drained"))));
    }
}
