//! Copying both ways between two streams.
//!
//! ```text
//!            a read of 16 KiB or more, both sides plain
//!   ┌──────┐ ─────────────────────────────────────────▶ ┌────────┐   less than that:
//!   │ copy │                                            │ splice │   back to copy
//!   └──┬───┘ ◀───────────────────────────────────────── └───┬────┘
//!      │ what the other side does not take at once waits;   │
//!      ▼ nothing is read until it has gone                  ▼
//!     rest                                                 pipe
//! ```
//!
//! Small messages cost least with one receive and one send through a buffer that all connections of a thread share; bulk
//! costs least where the kernel moves pages through a pipe. Neither is held by a connection that is idle. Readiness is
//! asked for the way `AsyncRead` does it: a read that does not fill the buffer is known to have drained the socket, so no
//! second one is paid to learn that nothing is left.

use std::cell::RefCell;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::pipe::Pipe;
use crate::dataplane::conn::Transport;
use crate::dataplane::ended::Exchange;
use crate::model::ending::Who;

/// One read at most. Shared by all connections of a thread, so that an idle connection holds no buffer.
const CHUNK_BYTES: usize = 64 * 1024;

/// From here on pages are moved instead of bytes copied.
const SPLICE_BYTES: usize = 16 * 1024;

thread_local! {
    static CHUNK: RefCell<Box<[u8]>> = RefCell::new(vec![0; CHUNK_BYTES].into());
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Both sides have sent their end, and it was passed on. Who sent it first.
    Cleanly(Who),
    /// A reset or an error on the side named: both are to be reset.
    Broken(Who),
    /// Nothing moved for the idle time-out: both are to be reset.
    Idle,
}

/// Copies until both directions have ended, one has failed, or nothing has moved for `idle`. `already`: what was read of
/// the client before; it goes first.
pub(super) async fn both<C, S>(
    client: &mut C,
    server: &mut S,
    already: Vec<u8>,
    idle: Duration,
    exchange: &Exchange,
) -> Ended
where
    C: Transport,
    S: Transport,
{
    let mut inwards = Way::new(Who::Client, Who::Server, exchange);
    inwards.begin_with(already);
    let mut outwards = Way::new(Who::Server, Who::Client, exchange);
    let mut first = None;
    let mut last = Instant::now();
    let mut timer = pin!(tokio::time::sleep_until(last + idle));
    std::future::poll_fn(move |cx| {
        let forth = inwards.poll(cx, client, server, outwards.is_done());
        if let Poll::Ready(Err(who)) = forth {
            return Poll::Ready(Ended::Broken(who));
        }
        if forth.is_ready() {
            first.get_or_insert(Who::Client);
        }
        let back = outwards.poll(cx, server, client, inwards.is_done());
        if let Poll::Ready(Err(who)) = back {
            return Poll::Ready(Ended::Broken(who));
        }
        if back.is_ready() {
            let who = *first.get_or_insert(Who::Server);
            if forth.is_ready() {
                return Poll::Ready(Ended::Cleanly(who));
            }
        }
        if inwards.has_moved() | outwards.has_moved() {
            last = Instant::now();
        }
        // One timer that is set anew when it rings, not at every byte.
        while timer.as_mut().poll(cx).is_ready() {
            if last.elapsed() >= idle {
                return Poll::Ready(Ended::Idle);
            }
            timer.as_mut().reset(last + idle);
        }
        Poll::Pending
    })
    .await
}

/// One direction.
struct Way<'a> {
    state: State,
    /// The last read was large: splice the next one.
    is_bulk: bool,
    /// The last write was held back, to leave together with the end that seems to follow.
    is_held: bool,
    /// Something was read or written since it was last asked.
    moved: bool,
    /// Nothing has come yet.
    at_first: bool,
    from: Who,
    to: Who,
    exchange: &'a Exchange,
}

enum State {
    /// Everything that was read has been passed on.
    Open,
    /// Read and not yet taken; from this position on.
    Rest(Vec<u8>, usize),
    /// Bytes that wait in a pipe.
    Piped(Pipe, usize),
    /// Taken, but perhaps still in a buffer of TLS.
    Flushing,
    Ending(End),
    Done,
}

/// How the side that is read from ended.
#[derive(Clone, Copy)]
enum End {
    Whole,
    /// TLS without its closing alert: the other side must not be told that this was the whole.
    Truncated,
}

// === impl Way ===

impl<'a> Way<'a> {
    fn new(from: Who, to: Who, exchange: &'a Exchange) -> Way<'a> {
        let (is_bulk, is_held, moved, at_first) = (false, false, false, true);
        Way { state: State::Open, is_bulk, is_held, moved, at_first, from, to, exchange }
    }

    fn begin_with(&mut self, already: Vec<u8>) {
        if !already.is_empty() {
            self.count(already.len());
            self.state = State::Rest(already, 0);
        }
    }

    fn count(&mut self, bytes: usize) {
        let at_first = std::mem::take(&mut self.at_first);
        if self.from == Who::Client {
            self.exchange.moved_in(bytes as u64);
            if at_first {
                self.exchange.sent();
            }
        } else {
            self.exchange.moved_out(bytes as u64);
            if at_first {
                self.exchange.first_byte();
            }
        }
    }

    fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    fn has_moved(&mut self) -> bool {
        std::mem::take(&mut self.moved)
    }

    /// Moves what can be moved. Ready once the end has been passed on; an error names the side that failed. `closing`: the other direction is done, so that
    /// both sockets are closed once this one is.
    fn poll<F, T>(&mut self, cx: &mut Context<'_>, from: &mut F, to: &mut T, closing: bool) -> Poll<Result<(), Who>>
    where
        F: Transport,
        T: Transport,
    {
        let receiver = self.to;
        loop {
            match &mut self.state {
                State::Open => match self.take(cx, from, to) {
                    Poll::Pending => {
                        self.release(to);
                        return Poll::Pending;
                    }
                    Poll::Ready(taken) => taken?,
                },
                State::Rest(bytes, at) => {
                    let written = ready!(Pin::new(&mut *to).poll_write(cx, &bytes[*at..])).map_err(|_| receiver)?;
                    if written == 0 {
                        return Poll::Ready(Err(receiver));
                    }
                    self.moved = true;
                    *at += written;
                    if *at == bytes.len() {
                        self.state = State::Flushing;
                    }
                }
                State::Piped(pipe, left) => {
                    let Some(socket) = to.plain() else { return Poll::Ready(Err(receiver)) };
                    ready!(socket.poll_write_ready(cx)).map_err(|_| receiver)?;
                    match socket.try_io(Interest::WRITABLE, || pipe.drain(socket, *left)) {
                        Ok(written) if written > 0 => {
                            *left -= written;
                            if *left == 0
                                && let State::Piped(pipe, _) = std::mem::replace(&mut self.state, State::Open)
                            {
                                pipe.give_back();
                            }
                            self.moved = true;
                            self.count(written);
                        }
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        _ => return Poll::Ready(Err(receiver)),
                    }
                }
                State::Flushing => {
                    ready!(Pin::new(&mut *to).poll_flush(cx)).map_err(|_| receiver)?;
                    self.state = State::Open;
                }
                State::Ending(end) => {
                    ready!(pass_on(*end, cx, to, closing)).map_err(|_| receiver)?;
                    self.moved = true;
                    self.state = State::Done;
                }
                State::Done => return Poll::Ready(Ok(())),
            }
        }
    }

    /// One read and, as far as the other side takes it at once, one write.
    fn take<F, T>(&mut self, cx: &mut Context<'_>, from: &mut F, to: &mut T) -> Poll<Result<(), Who>>
    where
        F: Transport,
        T: Transport,
    {
        if self.is_bulk
            && to.plain().is_some()
            && let Some(socket) = from.plain()
        {
            return self.splice(cx, socket);
        }
        CHUNK.with_borrow_mut(|chunk| {
            let mut buffer = ReadBuf::new(chunk);
            match ready!(Pin::new(&mut *from).poll_read(cx, &mut buffer)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    self.state = State::Ending(End::Truncated);
                    return Poll::Ready(Ok(()));
                }
                Err(_) => return Poll::Ready(Err(self.from)),
            }
            let read = buffer.filled();
            if read.is_empty() {
                self.state = State::Ending(End::Whole);
                return Poll::Ready(Ok(()));
            }
            self.moved = true;
            self.is_bulk = read.len() >= SPLICE_BYTES;
            self.count(read.len());
            // Short, and yet there is more: most likely the end, which can go with these bytes in one packet.
            let seems_last = read.len() < SPLICE_BYTES && from.plain().is_some_and(is_readable);
            let held = if seems_last { to.plain().and_then(|socket| hold(socket, read)) } else { None };
            self.is_held = held.is_some();
            let written = match held {
                Some(written) => written,
                None => match Pin::new(&mut *to).poll_write(cx, read) {
                    Poll::Ready(written) => written.map_err(|_| self.to)?,
                    Poll::Pending => 0,
                },
            };
            self.state = if written < read.len() {
                State::Rest(read[written..].to_vec(), 0)
            } else if to.plain().is_some() {
                State::Open
            } else {
                State::Flushing
            };
            Poll::Ready(Ok(()))
        })
    }

    /// The end did not follow after all: what was held back goes now.
    fn release<T: Transport>(&mut self, to: &T) {
        if std::mem::take(&mut self.is_held) {
            // Setting it again pushes what waits. Fails only where the socket is gone.
            let _ = to.socket().set_nodelay(true);
        }
    }

    /// One read into an empty pipe, so that "would block" can only mean that the socket has nothing.
    fn splice(&mut self, cx: &mut Context<'_>, from: &TcpStream) -> Poll<Result<(), Who>> {
        ready!(from.poll_read_ready(cx)).map_err(|_| self.from)?;
        let Some(pipe) = Pipe::take() else {
            self.is_bulk = false;
            return Poll::Ready(Ok(()));
        };
        match from.try_io(Interest::READABLE, || pipe.fill(from)) {
            Ok(0) => {
                pipe.give_back();
                self.state = State::Ending(End::Whole);
            }
            Ok(read) => {
                self.moved = true;
                self.is_bulk = read >= SPLICE_BYTES;
                self.state = State::Piped(pipe, read);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => pipe.give_back(),
            // It may be that this socket cannot be spliced; copying will tell.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => self.is_bulk = false,
            Err(_) => return Poll::Ready(Err(self.from)),
        }
        Poll::Ready(Ok(()))
    }
}

/// Whether another read would tell something, by what is known without asking the kernel.
fn is_readable(socket: &TcpStream) -> bool {
    socket.try_io(Interest::READABLE, || Ok(())).is_ok()
}

/// Hands bytes to the kernel to be sent with what follows. `None`: not now, or not this way.
fn hold(to: &TcpStream, bytes: &[u8]) -> Option<usize> {
    to.try_io(Interest::WRITABLE, || {
        socket2::SockRef::from(to).send_with_flags(bytes, libc::MSG_MORE | libc::MSG_NOSIGNAL)
    })
    .ok()
}

/// Passes an end on: a half-close, or nothing where both sockets are about to be closed anyway.
fn pass_on<T: Transport>(end: End, cx: &mut Context<'_>, to: &mut T, closing: bool) -> Poll<io::Result<()>> {
    let ended = match (end, to.plain()) {
        // A close sends what is held back, and the end with it.
        (_, Some(_)) if closing => Ok(()),
        (End::Whole, _) => ready!(Pin::new(&mut *to).poll_shutdown(cx)),
        (End::Truncated, _) => socket2::SockRef::from(to.socket()).shutdown(std::net::Shutdown::Write),
    };
    Poll::Ready(match ended {
        // The other side has gone already.
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
        ended => ended,
    })
}
