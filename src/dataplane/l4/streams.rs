//! Copying both ways where TLS lies on one side or on both: what is read is not what is on the wire, so the sockets
//! cannot be joined.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::copy::{Activity, Ended};
use crate::dataplane::conn::Stream;
use crate::snapshot::live::ServiceLive;

/// One read at most: a record of TLS. Shared by all connections of a thread, so that an idle connection holds no buffer.
const CHUNK_BYTES: usize = 16 * 1024;

thread_local! {
    static CHUNK: RefCell<Box<[u8]>> = RefCell::new(vec![0; CHUNK_BYTES].into());
}

/// Copies until both directions have ended, one has failed, or nothing has moved for `idle`.
pub(super) async fn both(client: &mut Stream, server: &mut Stream, idle: Duration, live: &ServiceLive) -> Ended {
    let activity = Activity::new();
    let (mut inwards, mut outwards) = (Way::default(), Way::default());
    let copied = poll_fn(|cx| {
        let there = inwards.poll(cx, client, server, &live.bytes_in_total, &activity)?;
        let back = outwards.poll(cx, server, client, &live.bytes_out_total, &activity)?;
        if there.is_ready() && back.is_ready() { Poll::Ready(Ok::<(), io::Error>(())) } else { Poll::Pending }
    });
    tokio::select! {
        done = copied => if done.is_ok() { Ended::Cleanly } else { Ended::Cut },
        () = activity.silent_for(idle) => Ended::Cut,
    }
}

/// One direction.
#[derive(Default)]
struct Way {
    /// Read, and not taken by the other side yet.
    rest: Vec<u8>,
    unflushed: bool,
    /// The end was read.
    ended: bool,
    /// The end was passed on.
    over: bool,
}

// === impl Way ===

impl Way {
    /// Ready once the end was passed on.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        from: &mut Stream,
        to: &mut Stream,
        total: &AtomicU64,
        activity: &Activity,
    ) -> Poll<io::Result<()>> {
        while !self.over {
            while !self.rest.is_empty() {
                let written = ready!(Pin::new(&mut *to).poll_write(cx, &self.rest))?;
                if written == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
                activity.mark();
                self.unflushed = true;
                self.rest.drain(..written);
            }
            if self.ended {
                self.over = passed_on(ready!(Pin::new(&mut *to).poll_shutdown(cx)))?;
                continue;
            }
            match self.poll_forward(cx, from, to)? {
                Poll::Ready(read) => {
                    activity.mark();
                    total.fetch_add(read as u64, Ordering::Relaxed);
                    self.ended = read == 0;
                }
                Poll::Pending => {
                    if self.unflushed {
                        ready!(Pin::new(&mut *to).poll_flush(cx))?;
                        self.unflushed = false;
                    }
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// One read, and as far as the other side takes it at once one write. 0: the end.
    fn poll_forward(&mut self, cx: &mut Context<'_>, from: &mut Stream, to: &mut Stream) -> Poll<io::Result<usize>> {
        CHUNK.with_borrow_mut(|chunk| {
            let mut read = ReadBuf::new(chunk);
            match ready!(Pin::new(from).poll_read(cx, &mut read)) {
                // An end of the connection without one of TLS: many clients leave so.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Poll::Ready(Ok(0)),
                done => done?,
            }
            let read = read.filled();
            if !read.is_empty() {
                let written = match Pin::new(to).poll_write(cx, read) {
                    Poll::Ready(written) => written?,
                    Poll::Pending => 0,
                };
                self.unflushed = true;
                self.rest.extend_from_slice(&read[written..]);
            }
            Poll::Ready(Ok(read.len()))
        })
    }
}

/// The other side may have gone already.
fn passed_on(done: io::Result<()>) -> io::Result<bool> {
    match done {
        Err(error) if error.kind() != io::ErrorKind::NotConnected => Err(error),
        _ => Ok(true),
    }
}
