//! What pingora asks of a session.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::HeaderMap;
use pingora_core::protocols::Digest;
use pingora_core::protocols::http::HttpTask;
use pingora_core::protocols::http::body_buffer::FixedBuffer;
use pingora_core::protocols::http::custom::CustomMessageWrite;
use pingora_core::protocols::http::custom::server::Session;
use pingora_core::protocols::l4::socket::SocketAddr;
use pingora_error::{Error, ErrorType, OrErr, Result};
use pingora_http::{RequestHeader, ResponseHeader};
use tokio::time::timeout;
use tokio_stream::Stream;

use super::{Http2Session, KEPT_MAX_BYTES};

/// Whether an answer ends with what was before this.
fn is_end(task: Option<&HttpTask>) -> bool {
    match task {
        Some(HttpTask::Done | HttpTask::Trailer(None)) => true,
        Some(HttpTask::Body(piece, true)) => piece.as_ref().is_none_or(Bytes::is_empty),
        _ => false,
    }
}

#[async_trait]
impl Session for Http2Session {
    fn req_header(&self) -> &RequestHeader {
        &self.request
    }

    fn req_header_mut(&mut self) -> &mut RequestHeader {
        &mut self.request
    }

    async fn read_body_bytes(&mut self) -> Result<Option<Bytes>> {
        self.piece().await
    }

    async fn drain_request_body(&mut self) -> Result<()> {
        match self.drain_limit {
            None => self.drain().await,
            Some(limit) => match timeout(limit, self.drain()).await {
                Ok(drained) => drained,
                Err(_) => Error::e_explain(ErrorType::ReadTimedout, "the rest of a body"),
            },
        }
    }

    async fn write_response_header(&mut self, head: Box<ResponseHeader>, end: bool) -> Result<()> {
        self.head(head, end)
    }

    async fn write_response_header_ref(&mut self, head: &ResponseHeader, end: bool) -> Result<()> {
        self.head(Box::new(head.clone()), end)
    }

    async fn write_body(&mut self, piece: Bytes, end: bool) -> Result<()> {
        self.write(piece, end).await
    }

    async fn write_trailers(&mut self, trailers: HeaderMap) -> Result<()> {
        self.trailers(trailers)
    }

    async fn response_duplex_vec(&mut self, tasks: Vec<HttpTask>) -> Result<bool> {
        let mut tasks = tasks.into_iter().peekable();
        let mut over = false;
        while let Some(task) = tasks.next() {
            // The last frame says that it is the last.
            let end = is_end(tasks.peek());
            match task {
                HttpTask::Header(head, last) => {
                    over |= last || (end && !head.status.is_informational());
                    self.head(head, over).map_err(|error| error.into_down())?;
                }
                HttpTask::Body(piece, last) => {
                    over |= last || end;
                    if let Some(piece) = piece.filter(|piece| !piece.is_empty()) {
                        self.write(piece, over).await.map_err(|error| error.into_down())?;
                    }
                }
                HttpTask::Trailer(trailers) => {
                    over = true;
                    if let Some(trailers) = trailers {
                        self.trailers(*trailers).map_err(|error| error.into_down())?;
                    }
                }
                HttpTask::Done => over = true,
                HttpTask::UpgradedBody(..) => {
                    return Error::e_explain(ErrorType::InternalError, "a tunnel in a stream");
                }
                HttpTask::Failed(error) => return Err(error),
            }
        }
        if over {
            self.end().map_err(|error| error.into_down())?;
        }
        Ok(over)
    }

    fn set_read_timeout(&mut self, limit: Option<Duration>) {
        self.read_limit = limit;
    }

    fn get_read_timeout(&self) -> Option<Duration> {
        self.read_limit
    }

    fn set_write_timeout(&mut self, limit: Option<Duration>) {
        self.write_limit = limit;
    }

    fn get_write_timeout(&self) -> Option<Duration> {
        self.write_limit
    }

    fn set_total_drain_timeout(&mut self, limit: Option<Duration>) {
        self.drain_limit = limit;
    }

    fn get_total_drain_timeout(&self) -> Option<Duration> {
        self.drain_limit
    }

    fn request_summary(&self) -> String {
        format!("{} of a stream", self.request.method)
    }

    fn response_written(&self) -> Option<&ResponseHeader> {
        self.written.as_deref()
    }

    async fn shutdown(&mut self, _code: u32, _why: &str) {
        if !self.ended {
            self.answering.0.lock().head.send_reset(h2::Reason::INTERNAL_ERROR);
        }
    }

    fn is_body_done(&mut self) -> bool {
        self.over
    }

    async fn finish(&mut self) -> Result<()> {
        self.end()
    }

    fn is_body_empty(&mut self) -> bool {
        self.bodiless
    }

    async fn read_body_or_idle(&mut self, no_body_expected: bool) -> Result<Option<Bytes>> {
        if !no_body_expected && !self.over {
            return self.piece().await;
        }
        let reset = std::future::poll_fn(|cx| self.answering.poll_reset(cx)).await;
        let why = reset.or_err(ErrorType::ReadError, "waiting for an answer")?;
        Error::e_explain(ErrorType::ReadError, format!("the client has reset the stream: {why}"))
    }

    fn body_bytes_sent(&self) -> usize {
        self.sent
    }

    fn body_bytes_read(&self) -> usize {
        self.read
    }

    fn digest(&self) -> Option<&Digest> {
        Some(&self.digest)
    }

    fn digest_mut(&mut self) -> Option<&mut Digest> {
        Arc::get_mut(&mut self.digest)
    }

    fn client_addr(&self) -> Option<&SocketAddr> {
        self.digest.socket_digest.as_ref()?.peer_addr()
    }

    fn server_addr(&self) -> Option<&SocketAddr> {
        self.digest.socket_digest.as_ref()?.local_addr()
    }

    /// Only for requests within requests, of which there are none.
    fn pseudo_raw_h1_request_header(&self) -> Bytes {
        Bytes::new()
    }

    fn enable_retry_buffering(&mut self) {
        self.kept.get_or_insert_with(|| FixedBuffer::new(KEPT_MAX_BYTES));
    }

    fn retry_buffer_truncated(&self) -> bool {
        self.kept.as_ref().is_some_and(FixedBuffer::is_truncated)
    }

    fn get_retry_buffer(&self) -> Option<Bytes> {
        self.kept.as_ref().filter(|kept| !kept.is_truncated()).and_then(FixedBuffer::get_buffer)
    }

    async fn finish_custom(&mut self) -> Result<()> {
        Ok(())
    }

    fn take_custom_message_reader(
        &mut self,
    ) -> Option<Box<dyn Stream<Item = Result<Bytes>> + Unpin + Send + Sync + 'static>> {
        None
    }

    fn restore_custom_message_reader(
        &mut self,
        _reader: Box<dyn Stream<Item = Result<Bytes>> + Unpin + Send + Sync + 'static>,
    ) -> Result<()> {
        Ok(())
    }

    fn take_custom_message_writer(&mut self) -> Option<Box<dyn CustomMessageWrite>> {
        None
    }

    fn restore_custom_message_writer(&mut self, _writer: Box<dyn CustomMessageWrite>) -> Result<()> {
        Ok(())
    }
}
