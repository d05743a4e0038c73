//! What is asked of a server's connection before a request goes out on it, and of its answer before anything sees it.

use std::os::fd::RawFd;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use pingora_core::protocols::Digest;
use pingora_error::{Error, ErrorType, Result};
use pingora_http::ResponseHeader;

use super::ctx::Ctx;
use crate::dataplane::l7::pingora::dial;
use crate::dataplane::l7::relay::answer;
use crate::model::tls::TlsVersion;

/// Whether the request may go out on this connection; `kept`: its socket, where it carried a request before.
pub(super) fn accept(ctx: &mut Ctx, kept: Option<RawFd>, digest: Option<&Digest>) -> Result<()> {
    let Some(chosen) = &ctx.chosen else { return Ok(()) };
    let settings = &chosen.snapshot.model.service(chosen.choice.service).settings;
    // Over HTTP/2 a server may speak at any time, and says itself what it did not begin.
    if kept.filter(|_| !settings.http2 || ctx.upgrade).is_some_and(|socket| !is_quiet(socket)) {
        ctx.stale = true;
        return Err(
            Error::explain(ErrorType::ConnectionClosed, "the server closed a connection that was kept").into_up()
        );
    }
    ctx.last_of_connection = dial::asked(digest) == settings.max_requests;
    let spoken = digest.and_then(|digest| digest.ssl_digest.as_ref()).map(|ssl| &*ssl.version);
    if settings.tls.as_ref().is_some_and(|tls| tls.min_version == TlsVersion::V1_3)
        && !spoken.is_some_and(|version| version.contains("1_3") || version.contains("1.3"))
    {
        return Err(Error::explain(ErrorType::TLSHandshakeFailure, "an old version of TLS").into_up());
    }
    Ok(())
}

/// Whether nothing lies there, asked of the kernel: the engine knows only what the runtime has noticed so far, and a
/// request that may not be repeated would be lost on a connection that is closed already.
fn is_quiet(socket: RawFd) -> bool {
    let peeked = recv(socket, &mut [0], MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT);
    matches!(peeked, Err(Errno::EAGAIN | Errno::EINTR))
}

/// Whether the head can be read in one way only, by the rules of the relay. The engine's parser hides what it tolerates
/// in the spelling (bare LF, folded lines), and a Content-Length beside Transfer-Encoding, which it takes out (RFC 9112
/// §6.3); the rest of the framing is all there.
pub(super) fn judge(response: &ResponseHeader) -> Result<()> {
    let minor = match response.version {
        http::Version::HTTP_10 => 0,
        http::Version::HTTP_2 if response.headers.get_all(http::header::CONTENT_LENGTH).iter().count() < 2 => {
            return Ok(());
        }
        _ => 1,
    };
    let mut head = format!("HTTP/1.{minor} {}\r\n", response.status.as_str()).into_bytes();
    for (name, value) in &response.headers {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            head.extend_from_slice(part);
        }
    }
    head.extend_from_slice(b"\r\n");
    let judged = answer::parse(&head, false, &mut Vec::new());
    judged.map(|_| ()).map_err(|why| Error::explain(ErrorType::HTTPStatus(502), why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_that_could_be_read_in_two_ways_is_no_answer_to_any_client() {
        let judged = |version, fields: &[(&'static str, &str)]| {
            let mut head = ResponseHeader::build(200, None).unwrap();
            head.set_version(version);
            for (name, value) in fields {
                head.append_header(*name, value.to_string()).unwrap();
            }
            judge(&head).map_err(|error| error.etype().clone())
        };
        let (v11, chunked) = (http::Version::HTTP_11, ("Transfer-Encoding", "chunked"));
        for fields in [&[][..], &[("Content-Length", "2")], &[chunked], &[("Connection", "close"), ("X", "a")]] {
            assert_eq!(judged(v11, fields), Ok(()), "{fields:?}");
        }
        for fields in [
            &[("Content-Length", "2"), chunked][..],
            &[("Content-Length", "2"), ("Content-Length", "2")],
            &[("Content-Length", "2, 2")],
            &[("Content-Length", "+2")],
            &[("Content-Length", "-2")],
            &[chunked, chunked],
            &[("Transfer-Encoding", "chunked, identity")],
            &[("Transfer-Encoding", "xchunked"), ("Content-Length", "2")],
            &[("Content_Length", "2")],
            &[("Connection", "content-length"), ("Content-Length", "2")],
        ] {
            assert_eq!(judged(v11, fields), Err(ErrorType::HTTPStatus(502)), "{fields:?}");
        }
        assert_eq!(judged(http::Version::HTTP_10, &[chunked]), Err(ErrorType::HTTPStatus(502)));
    }
}
