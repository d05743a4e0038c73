//! Copying both ways where TLS lies on one side or on both: what is read is not what is on the wire, so the sockets
//! cannot be joined.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::copy::{Activity, Ended};
use crate::dataplane::conn::Stream;
use crate::dataplane::ended::Exchange;
use crate::model::ending::Who;

/// One read at most: a record of TLS. Shared by all connections of a thread, so that an idle connection holds no buffer.
const CHUNK_BYTES: usize = 16 * 1024;

thread_local! {
    static CHUNK: RefCell<Box<[u8]>> = RefCell::new(vec![0; CHUNK_BYTES].into());
}

/// Copies until both directions have ended, one has failed, or nothing has moved for `idle`.
pub(super) async fn both(client: &mut Stream, server: &mut Stream, idle: Duration, exchange: &Exchange) -> Ended {
    let activity = Activity::new();
    let (mut inwards, mut outwards) = (Way::new(Who::Client, Who::Server), Way::new(Who::Server, Who::Client));
    let mut first = None;
    let copied = poll_fn(|cx| {
        let there = inwards.poll(cx, client, server, exchange, &activity)?;
        let back = outwards.poll(cx, server, client, exchange, &activity)?;
        match (there.is_ready(), back.is_ready()) {
            (true, true) => return Poll::Ready(Ok(first.unwrap_or(Who::Client))),
            (true, false) => first = Some(Who::Client),
            (false, true) => first = Some(Who::Server),
            (false, false) => {}
        }
        Poll::Pending
    });
    tokio::select! {
        done = copied => match done {
            Ok(who) => Ended::Cleanly(who),
            Err(who) => Ended::Broken(who),
        },
        () = activity.silent_for(idle) => Ended::Idle,
    }
}

/// One direction.
struct Way {
    from: Who,
    to: Who,
    moved: bool,
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
    fn new(from: Who, to: Who) -> Way {
        Way { from, to, moved: false, rest: Vec::new(), unflushed: false, ended: false, over: false }
    }

    fn count(&mut self, bytes: u64, exchange: &Exchange) {
        let first = !std::mem::replace(&mut self.moved, true);
        if self.from == Who::Client {
            exchange.moved_in(bytes);
            if first {
                exchange.sent();
            }
        } else {
            exchange.moved_out(bytes);
            if first {
                exchange.first_byte();
            }
        }
    }

    /// Ready once the end was passed on. An error names the side that failed.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        from: &mut Stream,
        to: &mut Stream,
        exchange: &Exchange,
        activity: &Activity,
    ) -> Poll<Result<(), Who>> {
        let receiver = self.to;
        while !self.over {
            while !self.rest.is_empty() {
                let written = ready!(Pin::new(&mut *to).poll_write(cx, &self.rest)).map_err(|_| receiver)?;
                if written == 0 {
                    return Poll::Ready(Err(receiver));
                }
                activity.mark();
                self.unflushed = true;
                self.rest.drain(..written);
            }
            if self.ended {
                self.over = passed_on(ready!(Pin::new(&mut *to).poll_shutdown(cx))).map_err(|_| receiver)?;
                continue;
            }
            match self.poll_forward(cx, from, to)? {
                Poll::Ready(read) => {
                    activity.mark();
                    self.ended = read == 0;
                    if read > 0 {
                        self.count(read as u64, exchange);
                    }
                }
                Poll::Pending => {
                    if self.unflushed {
                        ready!(Pin::new(&mut *to).poll_flush(cx)).map_err(|_| receiver)?;
                        self.unflushed = false;
                    }
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// One read, and as far as the other side takes it at once one write. 0: the end.
    fn poll_forward(&mut self, cx: &mut Context<'_>, from: &mut Stream, to: &mut Stream) -> Poll<Result<usize, Who>> {
        let (sender, receiver) = (self.from, self.to);
        CHUNK.with_borrow_mut(|chunk| {
            let mut read = ReadBuf::new(chunk);
            match ready!(Pin::new(from).poll_read(cx, &mut read)) {
                // An end of the connection without one of TLS: many clients leave so.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Poll::Ready(Ok(0)),
                done => done.map_err(|_| sender)?,
            }
            let read = read.filled();
            if !read.is_empty() {
                let written = match Pin::new(to).poll_write(cx, read) {
                    Poll::Ready(written) => written.map_err(|_| receiver)?,
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
