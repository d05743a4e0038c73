//! L7: HTTP/1.1 behind our own listeners. Each request is judged ([`head`]), decided ([`policy`]) and given to a member
//! of its own, on the snapshot of its moment; pingora carries the bytes.

mod forward;
pub mod head;
mod link;
mod pages;
mod pingora;
pub mod policy;
mod sticky;
mod stream;

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::watch;

use super::{Shared, raised, reset_on_close};
use crate::model::id::Name;
use link::Link;
use stream::ClientStream;

pub(crate) use pingora::Engine;

/// How long a closing connection reads on, so that its client can take the last answer.
const LINGER: Duration = Duration::from_secs(2);
/// Bytes that it reads on at most.
const LINGER_BYTES: usize = 1024 * 1024;

/// How a connection ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// By one of the two sides, or by us between two requests.
    Regular,
    /// A flush, or the limit of the drain.
    Cut,
}

/// Serves one connection to the end.
pub(crate) async fn serve(shared: &Arc<Shared>, socket: TcpStream, client: SocketAddr, vserver: Name) {
    let socket = Arc::new(socket);
    let link = Arc::new(Link::new(Arc::clone(shared), client, vserver));
    let vip_flush = {
        let snapshot = shared.plane.cell.load();
        snapshot.model.vserver_id(&link.vserver).map(|id| {
            link.set_idle(snapshot.model.vserver(id).client_timeout);
            snapshot.vservers[id.index()].live.flush.subscribe()
        })
    };
    let stream = ClientStream::new(Arc::clone(&socket), Arc::clone(&link));
    let end = carry(shared, &link, stream, vip_flush).await;
    if end == End::Cut || link.is_reset() {
        return reset_on_close(&socket);
    }
    if link.lingers() {
        tokio::select! {
            () = linger(&socket) => {}
            () = raised(shared.kill.clone()) => {}
        }
    }
}

/// Runs the engine, and watches for what may end the connection from outside.
async fn carry(shared: &Arc<Shared>, link: &Link, stream: ClientStream, flush: Option<watch::Receiver<u64>>) -> End {
    let mut requests = pin!(shared.l7.run(stream));
    let mut killed = pin!(raised(shared.kill.clone()));
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
        if link.poll_flushed(cx).is_ready() || killed.as_mut().poll(cx).is_ready() {
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

async fn bumped(flush: Option<watch::Receiver<u64>>) {
    if let Some(mut flush) = flush
        && flush.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

/// Ends our side and reads on for a moment: closing with unread bytes would be a reset, which may overtake the answer.
async fn linger(socket: &TcpStream) {
    let _ = socket2::SockRef::from(socket).shutdown(std::net::Shutdown::Write);
    let drained = async {
        let (mut left, mut scrap) = (LINGER_BYTES, [0; 4096]);
        while left > 0 && socket.readable().await.is_ok() {
            match socket.try_read(&mut scrap) {
                Ok(0) => return,
                Ok(read) => left = left.saturating_sub(read),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    };
    let _ = tokio::time::timeout(LINGER, drained).await;
}
