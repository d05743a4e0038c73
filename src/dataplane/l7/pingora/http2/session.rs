//! One stream of a client's HTTP/2 connection, as pingora asks for it.
//!
//! pingora has a session of its own for this. It writes its `Date` over the server's, ends every answer whose length is
//! not known by an empty frame, and sets a timer for each piece of a body; so the session is ours.

mod asked;

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Response};
use parking_lot::Mutex;
use pingora_core::protocols::Digest;
use pingora_core::protocols::http::body_buffer::FixedBuffer;
use pingora_error::{Error, ErrorType, OrErr, Result};
use pingora_http::{RequestHeader, ResponseHeader};
use tokio::time::timeout;

use super::unsent::{OfConnection, Waiting};
use crate::dataplane::l7::head::frames::Fault;
use crate::dataplane::l7::link::Link;

/// Bytes of a body that are kept so that the request can be sent again.
const KEPT_MAX_BYTES: usize = 64 * 1024;
/// What ends with the connection.
const OF_CONNECTION: [&str; 5] = ["transfer-encoding", "connection", "upgrade", "keep-alive", "proxy-connection"];

/// The answering side of a stream, shared with whoever watches for the client's reset.
#[derive(Clone)]
pub(super) struct Answering(Arc<Mutex<Side>>);

struct Side {
    head: SendResponse<Bytes>,
    /// Once the head is sent.
    body: Option<SendStream<Bytes>>,
}

pub(super) struct Http2Session {
    request: RequestHeader,
    body: RecvStream,
    /// The request has no body at all.
    bodiless: bool,
    /// Nothing of the body is to come any more.
    over: bool,
    answering: Answering,
    /// The connection, and which of its answers wait for the client.
    connection: (Arc<Link>, Arc<OfConnection>),
    written: Option<Box<ResponseHeader>>,
    /// END_STREAM is sent.
    ended: bool,
    read: usize,
    sent: usize,
    kept: Option<FixedBuffer>,
    digest: Arc<Digest>,
    read_limit: Option<Duration>,
    write_limit: Option<Duration>,
    drain_limit: Option<Duration>,
}

// === impl Answering ===

impl Answering {
    /// The client has reset the stream, or is gone.
    pub fn poll_reset(&self, cx: &mut Context<'_>) -> Poll<std::result::Result<h2::Reason, h2::Error>> {
        let side = &mut *self.0.lock();
        match &mut side.body {
            Some(body) => body.poll_reset(cx),
            None => side.head.poll_reset(cx),
        }
    }
}

// === impl Http2Session ===

impl Http2Session {
    pub fn new(
        request: http::Request<RecvStream>,
        head: SendResponse<Bytes>,
        digest: Arc<Digest>,
        connection: (Arc<Link>, Arc<OfConnection>),
    ) -> Http2Session {
        let (request, body) = request.into_parts();
        let bodiless = body.is_end_stream();
        Http2Session {
            request: request.into(),
            body,
            bodiless,
            over: bodiless,
            answering: Answering(Arc::new(Mutex::new(Side { head, body: None }))),
            connection,
            written: None,
            ended: false,
            read: 0,
            sent: 0,
            kept: None,
            digest,
            read_limit: None,
            write_limit: None,
            drain_limit: None,
        }
    }

    pub fn answering(&self) -> Answering {
        self.answering.clone()
    }

    /// The next piece of the body; `None` at its end. Trailers are left where they are.
    async fn piece(&mut self) -> Result<Option<Bytes>> {
        if self.over {
            return Ok(None);
        }
        let Some(piece) = self.body.data().await else {
            self.over = true;
            return Ok(None);
        };
        let piece = piece.or_err(ErrorType::ReadError, "reading the body of a stream")?;
        self.read += piece.len();
        if let Some(kept) = &mut self.kept {
            kept.write_to_buffer(&piece);
        }
        let _ = self.body.flow_control().release_capacity(piece.len());
        self.over = self.body.is_end_stream();
        Ok(Some(piece))
    }

    async fn drain(&mut self) -> Result<()> {
        while self.piece().await?.is_some() {}
        Ok(())
    }

    fn head(&mut self, mut head: Box<ResponseHeader>, end: bool) -> Result<()> {
        // Interim answers do not pass; a second head is none.
        if self.ended || head.status.is_informational() || self.written.is_some() {
            return Ok(());
        }
        for name in OF_CONNECTION {
            head.remove_header(name);
        }
        let response = Response::from_parts(head.as_owned_parts(), ());
        let side = &mut *self.answering.0.lock();
        let sent = side.head.send_response(response, end);
        side.body = Some(sent.or_err(ErrorType::WriteError, "sending the head of an answer")?);
        self.written = Some(head);
        self.ended = end;
        Ok(())
    }

    /// Sends what the client has a window for.
    fn poll_piece(&self, cx: &mut Context<'_>, rest: &mut Bytes, end: bool) -> Poll<Result<()>> {
        let side = &mut *self.answering.0.lock();
        let Some(body) = &mut side.body else {
            return Poll::Ready(Error::e_explain(ErrorType::InternalError, "a body before its head"));
        };
        loop {
            body.reserve_capacity(rest.len());
            if !rest.is_empty() && body.capacity() == 0 {
                match body.poll_capacity(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(None) => {
                        return Poll::Ready(Error::e_explain(ErrorType::WriteError, "a stream that ended"));
                    }
                    Poll::Ready(Some(Err(error))) => {
                        return Poll::Ready(Error::e_because(ErrorType::WriteError, "waiting for a window", error));
                    }
                    Poll::Ready(Some(Ok(0))) => continue,
                    Poll::Ready(Some(Ok(_))) => {}
                }
            }
            let piece = rest.split_to(body.capacity().min(rest.len()));
            let last = rest.is_empty();
            body.send_data(piece, end && last).or_err(ErrorType::WriteError, "sending a piece of an answer")?;
            if last {
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// The client has no window for what is there.
    fn wait(&self) -> Waiting {
        let (link, unsent) = &self.connection;
        let (waiting, is_too_much) = unsent.wait();
        if is_too_much {
            link.fault(Fault::Flood("too many answers that it does not take"));
        }
        waiting
    }

    async fn write(&mut self, mut rest: Bytes, end: bool) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        let length = rest.len();
        let mut waiting = None;
        let writing = std::future::poll_fn(|cx| {
            let polled = self.poll_piece(cx, &mut rest, end);
            if polled.is_pending() && waiting.is_none() {
                waiting = Some(self.wait());
            }
            polled
        });
        match self.write_limit {
            None => writing.await?,
            Some(limit) => match timeout(limit, writing).await {
                Ok(written) => written?,
                Err(_) => return Error::e_explain(ErrorType::WriteTimedout, "the client takes nothing"),
            },
        }
        self.sent += length;
        self.ended = end;
        Ok(())
    }

    fn trailers(&mut self, trailers: HeaderMap) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        let side = &mut *self.answering.0.lock();
        if let Some(body) = &mut side.body {
            body.send_trailers(trailers).or_err(ErrorType::WriteError, "sending trailers")?;
            self.ended = true;
        }
        Ok(())
    }

    /// The answer is whole.
    fn end(&mut self) -> Result<()> {
        let side = &mut *self.answering.0.lock();
        if let Some(body) = side.body.as_mut().filter(|_| !self.ended) {
            body.send_data(Bytes::new(), true).or_err(ErrorType::WriteError, "ending an answer")?;
            self.ended = true;
        }
        Ok(())
    }
}
