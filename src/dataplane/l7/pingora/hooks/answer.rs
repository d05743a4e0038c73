//! Writing answers: our own, and the last touches to a server's.

use std::time::Duration;

use bytes::Bytes;
use http::header::DATE;
use http::{HeaderMap, Version};
use pingora_core::protocols::http::ServerSession;
use pingora_error::{Error, ErrorSource, ErrorType, Result};
use pingora_http::ResponseHeader;
use pingora_proxy::Session;

use super::grpc;
use crate::dataplane::connect;
use crate::dataplane::ended::REQUEST_ID;
use crate::dataplane::l7::date;
use crate::dataplane::l7::head::Refusal;
use crate::dataplane::l7::head::trailer::may_trail;
use crate::dataplane::l7::link::Link;
use crate::dataplane::l7::pages;
use crate::dataplane::member::{Answer, Refused};
use crate::model::ending::{Ending, Phase, Reason, Who};
use crate::model::id::Name;

/// How long the rest of a body is read on after an answer of ours.
const DRAIN: Duration = Duration::from_secs(2);

/// Fields that say who this request is and how it went.
pub(super) type Told = Vec<(&'static str, String)>;

/// A short page for a status. `Ok(true)`: the request is answered.
pub(super) async fn page(session: &mut Session, link: &Link, told: &Told, status: u16) -> Result<bool> {
    if grpc::is_asked(session.req_header()) {
        // A client of gRPC takes nothing from a page: only trailers tell it, and those may stand in the head.
        let fields = grpc::trailers_only(status).map(|(name, value)| (Name::from(name), Name::from(value)));
        return own(session, link, told, 200, &fields, Bytes::new()).await;
    }
    let fields = [
        (Name::from("Content-Type"), Name::from("text/plain; charset=utf-8")),
        (Name::from("Cache-Control"), Name::from("no-store")),
    ];
    own(session, link, told, status, &fields, body(told, status)).await
}

/// What is told to a request that gets no member. `Ok(true)`: the request is answered.
pub(super) async fn refused(session: &mut Session, link: &Link, told: &Told, refused: &Refused) -> Result<bool> {
    let Some(status) = refused.status() else {
        link.reset();
        session.set_keepalive(None);
        return Ok(true);
    };
    let field = |name: &str, value: String| [(Name::from(name), Name::from(value))];
    match &refused.answer {
        Answer::Redirect(_) => {
            let target = std::str::from_utf8(session.req_header().raw_path()).unwrap_or("/");
            let location = field("Location", refused.location(target).unwrap_or_default());
            own(session, link, told, status, &location, Bytes::new()).await
        }
        Answer::TooManyRequests { retry_after_s } => {
            let retry_after = field("Retry-After", retry_after_s.to_string());
            own(session, link, told, status, &retry_after, body(told, status)).await
        }
        Answer::Unavailable | Answer::Reset => page(session, link, told, status).await,
    }
}

/// Says why a request of HTTP/2 goes no further; the connection stays of use.
pub(super) async fn refuse(session: &mut Session, link: &Link, told: &Told, refusal: Refusal) -> Result<bool> {
    tracing::debug!(client = %link.client, vserver = &*link.vserver, status = refusal.status, why = refusal.why,
        "request refused");
    let mut fields = vec![
        (Name::from("Content-Type"), Name::from("text/plain; charset=utf-8")),
        (Name::from("Cache-Control"), Name::from("no-store")),
    ];
    if refusal.status == 405 {
        fields.push((Name::from("Allow"), Name::from(pages::ALLOW)));
    }
    let body = pages::refusal_body(refusal, id(told).unwrap_or_default());
    own(session, link, told, refusal.status, &fields, Bytes::from(body)).await
}

/// An answer that no server gave. `Ok(true)`: the request is answered.
pub(super) async fn own(
    session: &mut Session,
    link: &Link,
    told: &Told,
    status: u16,
    fields: &[(Name, Name)],
    body: Bytes,
) -> Result<bool> {
    let mut head = ResponseHeader::build(status, Some(fields.len() + 3))?;
    for (name, value) in fields {
        head.append_header(name.to_string(), value.to_string())?;
    }
    date(&mut head)?;
    tell(&mut head, told)?;
    if !body.is_empty() && !head.headers.contains_key("content-type") {
        head.insert_header("Content-Type", "text/plain; charset=utf-8")?;
    }
    let bodiless = matches!(status, 204 | 304) || head.headers.contains_key("grpc-status");
    if !bodiless {
        head.insert_header("Content-Length", body.len())?;
    }
    link.settle_date(head.headers.get(DATE));
    if is_last(link) {
        session.set_keepalive(None);
    }
    let silent = bodiless || body.is_empty() || session.req_header().method == http::Method::HEAD;
    match session.as_downstream_mut() {
        // The engine would end the stream by an empty frame of its own, which makes trailers no trailers.
        ServerSession::Custom(stream) if silent => stream.write_response_header(Box::new(head), true).await?,
        _ => session.write_response_header(Box::new(head), silent).await?,
    }
    if !silent {
        session.write_response_body(Some(body), true).await?;
    }
    if session.req_header().version == Version::HTTP_2 {
        // A stream that is dropped with a body unread is reset, which some clients take for the whole answer.
        session.set_total_drain_timeout(Some(DRAIN));
        let _ = session.as_downstream_mut().drain_request_body().await;
    }
    Ok(true)
}

/// Says when, where nothing says it.
pub(super) fn date(head: &mut ResponseHeader) -> Result<()> {
    if head.headers.contains_key(DATE) {
        return Ok(());
    }
    date::now(|now| head.insert_header(DATE, now))
}

/// Takes out what may not stand behind a body.
pub(super) fn trailers(trailers: &mut HeaderMap) {
    let names = trailers.keys().filter(|name| !may_trail(name.as_str().as_bytes()));
    for name in names.cloned().collect::<Vec<_>>() {
        trailers.remove(name);
    }
}

pub(super) fn tell(head: &mut ResponseHeader, told: &Told) -> Result<()> {
    told.iter().try_for_each(|(name, value)| head.insert_header(*name, value.as_str()))
}

fn body(told: &Told, status: u16) -> Bytes {
    Bytes::from(pages::body(status, id(told)))
}

fn id(told: &Told) -> Option<&str> {
    told.iter().find(|(name, _)| *name == REQUEST_ID).map(|(_, id)| id.as_str())
}

/// A server's answer on its way to the client.
pub(super) fn of_server(session: &mut Session, link: &Link, head: &mut ResponseHeader) {
    let named = head.headers.get_all("connection").iter().filter_map(|value| value.to_str().ok());
    let framing = ["connection", "content-length", "transfer-encoding", "close"];
    let named: Vec<String> = named
        .flat_map(|value| value.split(',').map(|name| name.trim().to_ascii_lowercase()))
        .filter(|name| !name.is_empty() && !framing.contains(&name.as_str()))
        .collect();
    for hop_by_hop in named.iter().map(String::as_str).chain(["keep-alive", "proxy-connection", "upgrade"]) {
        head.remove_header(hop_by_hop);
    }
    if head.status == 204 {
        // It has no body, and says so (RFC 9110 §8.6).
        head.remove_header("content-length");
        head.remove_header("transfer-encoding");
    }
    // HTTP/1.0 knows no chunks: the body ends with the connection.
    if session.req_header().version == Version::HTTP_10 && head.headers.contains_key("transfer-encoding") {
        head.remove_header("transfer-encoding");
        session.set_keepalive(None);
    }
    if is_last(link) {
        session.set_keepalive(None);
    }
}

/// The status for a request that failed; 0 where there is nobody left to tell.
pub(super) fn status_of(error: &Error) -> u16 {
    match (error.etype(), error.esource()) {
        (ErrorType::HTTPStatus(status), _) => *status,
        (ErrorType::ReadTimedout | ErrorType::WriteTimedout | ErrorType::ConnectTimedout, ErrorSource::Upstream) => 504,
        (ErrorType::ReadTimedout, ErrorSource::Downstream) => 408,
        (_, ErrorSource::Upstream) => 502,
        // The guard found the body malformed.
        (ErrorType::ReadError, ErrorSource::Downstream) if is_malformed(error) => 400,
        (ErrorType::ReadError | ErrorType::WriteError | ErrorType::ConnectionClosed, ErrorSource::Downstream) => 0,
        (_, ErrorSource::Downstream) => 400,
        (_, ErrorSource::Internal | ErrorSource::Unset) => 500,
    }
}

/// How a request ended whose end the hooks did not bring about.
pub(super) fn ended_by(error: Option<&Error>, phase: Phase) -> Ending {
    let (who, reason) = who_and_why(error, phase);
    Ending::new(who, phase, reason)
}

fn who_and_why(error: Option<&Error>, phase: Phase) -> (Who, Reason) {
    use ErrorType::{
        ConnectError, ConnectTimedout, HTTPStatus, InternalError, InvalidCert, InvalidHTTPHeader, ReadTimedout,
        TLSHandshakeFailure, TLSHandshakeTimedout, WriteTimedout,
    };
    let Some(error) = error else { return (Who::Server, Reason::Done) };
    let io = error.root_cause().downcast_ref::<std::io::Error>();
    match (error.esource(), error.etype()) {
        (ErrorSource::Upstream, ConnectError) if phase == Phase::Connect && io.is_some() => {
            match io.map_or(Reason::ConnectFailed, connect::reason) {
                reason @ (Reason::NoSourcePort | Reason::NoDescriptor) => (Who::Appliance, reason),
                reason => (Who::Server, reason),
            }
        }
        (ErrorSource::Upstream, ConnectTimedout) => (Who::Server, Reason::ConnectTimeout),
        (ErrorSource::Upstream, TLSHandshakeFailure | TLSHandshakeTimedout | InvalidCert) => {
            (Who::Server, Reason::ServerTlsFailed)
        }
        (ErrorSource::Upstream, InvalidHTTPHeader) | (_, HTTPStatus(502)) => (Who::Server, Reason::BadAnswer),
        (ErrorSource::Upstream, ReadTimedout) if phase == Phase::Wait => (Who::Server, Reason::AnswerTimeout),
        (ErrorSource::Upstream, ReadTimedout | WriteTimedout) => (Who::Server, Reason::IdleTimeout),
        (ErrorSource::Upstream, _) => match phase {
            Phase::Body => (Who::Server, Reason::ResetInBody),
            Phase::Wait | Phase::Send => (Who::Server, Reason::ResetBeforeHead),
            _ => (Who::Server, Reason::ConnectFailed),
        },
        (ErrorSource::Downstream, WriteTimedout) => (Who::Client, Reason::ClientSlow),
        (ErrorSource::Downstream, ReadTimedout) => (Who::Client, Reason::IdleTimeout),
        (ErrorSource::Downstream, _) if is_malformed(error) => (Who::Client, Reason::BadRequest),
        (ErrorSource::Downstream, _) => (Who::Client, Reason::ClientGone),
        (_, InternalError) | (ErrorSource::Internal | ErrorSource::Unset, _) => (Who::Appliance, Reason::Internal),
    }
}

fn is_malformed(error: &Error) -> bool {
    let cause = error.root_cause().downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::InvalidData)
}

/// Whether the client can tell where this answer ends other than by the end of the connection.
pub(super) fn tells_its_end(head: &ResponseHeader) -> bool {
    head.headers.contains_key("content-length") || head.headers.contains_key("transfer-encoding")
}

/// The process drains, or the VIP went away.
fn is_last(link: &Link) -> bool {
    link.is_closing() || link.shared.is_draining()
}
