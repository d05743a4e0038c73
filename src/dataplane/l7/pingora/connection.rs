//! One client connection under this engine, from its first byte to its close.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;

use super::Engine;
use super::http2::Http2Stream;
use crate::dataplane::conn::{ClientInfo, Transport};
use crate::dataplane::l7::close;
use crate::dataplane::l7::head::http2::is_preface;
use crate::dataplane::l7::link::Link;
use crate::dataplane::l7::stream::{ClientStream, HEAD_LIMIT};
use crate::dataplane::{Shared, raised, reset_on_close};
use crate::model::ending::Reason;
use crate::model::id::Name;
use crate::snapshot::live::Flush;

/// How a connection ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// By one of the two sides, or by us between two requests.
    Regular,
    /// A flush, or the limit of the drain.
    Cut,
}

/// Carries a connection to its end. `already_read`: bytes of the client that were taken from `stream` before; they begin
/// with the first byte of a request (or of the connection), so that nothing is answered twice. Every request on it from
/// then on is this engine's.
pub(in crate::dataplane::l7) async fn take_over<S: Transport>(
    shared: &Arc<Shared>,
    stream: S,
    info: ClientInfo,
    already_read: Bytes,
    vserver: Name,
) {
    let link = Arc::new(Link::new(Arc::clone(shared), info, vserver));
    let vip_flush = {
        let snapshot = shared.plane.cell.load();
        snapshot.model.vserver_id(&link.vserver).map(|id| {
            link.set_idle(snapshot.model.vserver(id).client_timeout);
            snapshot.vservers[id.index()].live.flush.subscribe()
        })
    };
    let end = carry(shared, &link, serve(&shared.l7, Box::new(stream), already_read, &link), vip_flush).await;
    // The engine has dropped its stream, which leaves the connection behind.
    let Some(mut left) = link.take_left() else { return };
    if end == End::Cut || link.is_reset() {
        return reset_on_close(left.socket());
    }
    if link.lingers() {
        close::linger(shared, left).await;
    } else if link.info.tls.is_some() {
        // close_notify: without it the client cannot tell an end from a cut.
        let _ = tokio::time::timeout(close::LINGER, left.shutdown()).await;
    }
}

/// Answers all requests, in the version of HTTP that the client speaks.
async fn serve(engine: &Engine, mut stream: Box<dyn Transport>, already_read: Bytes, link: &Arc<Link>) {
    let mut read = BytesMut::from(already_read);
    let http2 = match &link.info.tls {
        Some(tls) => tls.http2,
        None if offers_http2(link) => {
            let Some(http2) = begins_with_preface(&mut stream, &mut read, link).await else { return };
            http2
        }
        None => false,
    };
    if http2 {
        engine.run_http2(Http2Stream::new(stream, read.freeze(), Arc::clone(link)), link).await;
    } else {
        engine.run(ClientStream::new(stream, read.freeze(), Arc::clone(link))).await;
    }
}

fn offers_http2(link: &Link) -> bool {
    let snapshot = link.shared.plane.cell.load();
    snapshot.model.vserver_id(&link.vserver).is_some_and(|id| snapshot.model.vserver(id).http2)
}

/// Reads until it is settled whether the client speaks HTTP/2 with prior knowledge. `None`: it does not speak at all, or
/// is to go.
async fn begins_with_preface(stream: &mut Box<dyn Transport>, read: &mut BytesMut, link: &Link) -> Option<bool> {
    loop {
        if let Some(settled) = is_preface(read) {
            return Some(settled);
        }
        let limit = if read.is_empty() { link.idle() } else { HEAD_LIMIT };
        let more = tokio::select! {
            more = tokio::time::timeout(limit, stream.read_buf(read)) => more,
            () = link.closed() => return None,
        };
        match more {
            Ok(Ok(1..)) => {}
            // HTTP/1.1 says what is wrong with a head that does not end.
            Ok(Ok(0)) | Err(_) if !read.is_empty() => return Some(false),
            _ => return None,
        }
    }
}

/// Runs the engine, and watches for what may end the connection from outside.
async fn carry(
    shared: &Arc<Shared>,
    link: &Link,
    requests: impl Future<Output = ()>,
    flush: Option<watch::Receiver<Flush>>,
) -> End {
    let mut requests = Box::pin(requests);
    let mut killed = pin!(raised(shared.kill.clone()));
    let conn = &link.info.conn.entry;
    let mut closing = pin!(async {
        tokio::select! {
            () = raised(shared.drain.clone()) => {}
            // The VIP went down under its own `downStateFlush`: what its members do for it is cut by `flushed`.
            () = bumped(flush) => {}
        }
    });
    let mut closed = false;
    std::future::poll_fn(|cx| {
        if requests.as_mut().poll(cx).is_ready() {
            return Poll::Ready(End::Regular);
        }
        // After the requests: they may just have set what it waits for.
        if let Poll::Ready(reason) = link.poll_flushed(cx) {
            conn.cut(reason);
        }
        if killed.as_mut().poll(cx).is_ready() {
            conn.cut(Reason::Shutdown);
        }
        // Before the engine is dropped: what it has under way ends for this reason.
        if conn.poll_cut(cx).is_ready() {
            return Poll::Ready(End::Cut);
        }
        if !closed && closing.as_mut().poll(cx).is_ready() {
            closed = true;
            link.close();
        }
        Poll::Pending
    })
    .await
}

async fn bumped(flush: Option<watch::Receiver<Flush>>) {
    if let Some(mut flush) = flush
        && flush.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}
