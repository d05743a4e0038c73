//! Copying both ways between two sockets.

use std::cell::RefCell;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use crate::dataplane::ended::Exchange;
use crate::model::ending::Who;

/// One read at most. Shared by all connections of a thread, so that an idle connection holds no buffer.
const CHUNK_BYTES: usize = 64 * 1024;

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

/// Copies until both directions have ended, one has failed, or nothing has moved for `idle`.
pub(super) async fn both(client: &TcpStream, server: &TcpStream, idle: Duration, exchange: &Exchange) -> Ended {
    let activity = Activity::new();
    let first = OnceLock::new();
    let inwards = async {
        let moved = |bytes, at_first| {
            exchange.moved_in(bytes);
            if at_first {
                exchange.sent();
            }
        };
        one_way((client, Who::Client), (server, Who::Server), &activity, moved).await?;
        Ok(_ = first.set(Who::Client))
    };
    let outwards = async {
        let moved = |bytes, at_first| {
            exchange.moved_out(bytes);
            if at_first {
                exchange.first_byte();
            }
        };
        one_way((server, Who::Server), (client, Who::Client), &activity, moved).await?;
        Ok(_ = first.set(Who::Server))
    };
    tokio::select! {
        done = async { tokio::try_join!(inwards, outwards) } => match done {
            Ok(_) => Ended::Cleanly(first.get().copied().unwrap_or(Who::Client)),
            Err(who) => Ended::Broken(who),
        },
        () = activity.silent_for(idle) => Ended::Idle,
    }
}

/// Copies in one direction to its end. `moved` is told how much was read, and whether it was the first. An error names
/// the side that failed.
async fn one_way(
    (from, sender): (&TcpStream, Who),
    (to, receiver): (&TcpStream, Who),
    activity: &Activity,
    moved: impl Fn(u64, bool),
) -> Result<(), Who> {
    let mut at_first = true;
    loop {
        from.readable().await.map_err(|_| sender)?;
        let Some((read, rest)) = forward((from, sender), (to, receiver))? else { continue };
        activity.mark();
        if read == 0 {
            return pass_on_end(to).map_err(|_| receiver);
        }
        moved(read as u64, std::mem::take(&mut at_first));
        write_all(to, &rest, activity).await.map_err(|_| receiver)?;
    }
}

/// One read and, as far as the other side takes it at once, one write. How much was read (0: end), and what is left to
/// be written. `None`: nothing was there.
fn forward(
    (from, sender): (&TcpStream, Who),
    (to, receiver): (&TcpStream, Who),
) -> Result<Option<(usize, Vec<u8>)>, Who> {
    CHUNK.with_borrow_mut(|chunk| {
        let read = match from.try_read(chunk) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(_) => return Err(sender),
        };
        let written = match to.try_write(&chunk[..read]) {
            _ if read == 0 => 0,
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(_) => return Err(receiver),
        };
        Ok(Some((read, chunk[written..read].to_vec())))
    })
}

async fn write_all(to: &TcpStream, mut rest: &[u8], activity: &Activity) -> io::Result<()> {
    while !rest.is_empty() {
        to.writable().await?;
        match to.try_write(rest) {
            Ok(written) => {
                rest = &rest[written..];
                activity.mark();
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Passes a half-close on.
fn pass_on_end(to: &TcpStream) -> io::Result<()> {
    match socket2::SockRef::from(to).shutdown(std::net::Shutdown::Write) {
        // The other side has gone already.
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
        done => done,
    }
}

/// When a byte last moved, in milliseconds since the beginning.
pub(super) struct Activity {
    began: Instant,
    last_ms: AtomicU64,
}

impl Activity {
    pub fn new() -> Activity {
        Activity { began: Instant::now(), last_ms: AtomicU64::new(0) }
    }

    pub fn mark(&self) {
        self.last_ms.store(self.elapsed_ms(), Ordering::Relaxed);
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// One timer that is set anew when it rings, not at every byte.
    pub async fn silent_for(&self, limit: Duration) {
        let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        loop {
            let silent_ms = self.elapsed_ms().saturating_sub(self.last_ms.load(Ordering::Relaxed));
            if silent_ms >= limit_ms {
                return;
            }
            tokio::time::sleep(Duration::from_millis(limit_ms - silent_ms)).await;
        }
    }
}
