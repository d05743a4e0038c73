//! Copying both ways between two sockets.

use std::cell::RefCell;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use crate::snapshot::live::ServiceLive;

/// One read at most. Shared by all connections of a thread, so that an idle connection holds no buffer.
const CHUNK_BYTES: usize = 64 * 1024;

thread_local! {
    static CHUNK: RefCell<Box<[u8]>> = RefCell::new(vec![0; CHUNK_BYTES].into());
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Both sides have sent their end, and it was passed on.
    Cleanly,
    /// A reset, an error or the idle time-out: both sides are to be reset.
    Cut,
}

/// Copies until both directions have ended, one has failed, or nothing has moved for `idle`.
pub(super) async fn both(client: &TcpStream, server: &TcpStream, idle: Duration, live: &ServiceLive) -> Ended {
    let activity = Activity::new();
    let inwards = one_way(client, server, &live.bytes_in_total, &activity);
    let outwards = one_way(server, client, &live.bytes_out_total, &activity);
    tokio::select! {
        done = async { tokio::try_join!(inwards, outwards) } => match done {
            Ok(_) => Ended::Cleanly,
            Err(_) => Ended::Cut,
        },
        () = activity.silent_for(idle) => Ended::Cut,
    }
}

async fn one_way(from: &TcpStream, to: &TcpStream, total: &AtomicU64, activity: &Activity) -> io::Result<()> {
    loop {
        from.readable().await?;
        let Some((read, rest)) = forward(from, to)? else { continue };
        activity.mark();
        if read == 0 {
            return pass_on_end(to);
        }
        total.fetch_add(read as u64, Ordering::Relaxed);
        write_all(to, &rest, activity).await?;
    }
}

/// One read and, as far as the other side takes it at once, one write. How much was read (0: end), and what is left to
/// be written. `None`: nothing was there.
fn forward(from: &TcpStream, to: &TcpStream) -> io::Result<Option<(usize, Vec<u8>)>> {
    CHUNK.with_borrow_mut(|chunk| {
        let read = match from.try_read(chunk) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        };
        let written = match to.try_write(&chunk[..read]) {
            _ if read == 0 => 0,
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error),
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
