//! The thread that sends lines of the log over syslog, one after the other.
//!
//! Nobody confirms a line: it counts as sent once the kernel has it. Where a receiver is away the line at hand waits for
//! it, and those behind it in their queue, which is bounded.

use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::tap::Line;
use crate::model::syslog::{Destination, Message, Syslog};
use crate::snapshot::live::LogLive;

/// Of a connection, and of a write.
const PATIENCE: Duration = Duration::from_secs(5);
/// After a failure: at first, and at most.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Whether a thread is to give up what it cannot get rid of.
#[derive(Default)]
pub(super) struct Away {
    gives_up: Mutex<bool>,
    told: Condvar,
}

/// An open way to the receiver.
enum Way {
    Udp(UdpSocket),
    Tcp(TcpStream),
    Unix(UnixDatagram),
}

/// Until the queue has no sender and is empty, or it is to give up.
pub(super) fn send_all(queue: &Receiver<Line>, appliance: &str, to: &Syslog, live: &LogLive, away: &Away) {
    let mut way = None;
    let mut failing = false;
    while let Ok(line) = queue.recv() {
        let at = line.at.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
        let (severity, text) = (line.severity, line.text.as_str());
        let message = Message { severity, at: &at, host: appliance, kind: "log", text };
        let message = to.line(&message, std::process::id());
        let mut pause = FIRST_PAUSE;
        loop {
            let sent = match &mut way {
                Some(way) => Way::send(way, &message),
                None => Way::open(&to.to).and_then(|opened| way.insert(opened).send(&message)),
            };
            let Err(error) = sent else { break };
            way = None;
            if !std::mem::replace(&mut failing, true) {
                let receiver = to.to.to_string();
                tracing::warn!(receiver, %error, "the log does not get to syslog; what waits too long is dropped");
            }
            if away.wait(pause) {
                // With this line all that wait behind it.
                let waiting = 1 + queue.try_iter().count() as u64;
                live.syslog_dropped_total.fetch_add(waiting, Relaxed);
                return;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        live.syslog_sent_total.fetch_add(1, Relaxed);
        if std::mem::take(&mut failing) {
            tracing::info!(receiver = to.to.to_string(), "the log gets to syslog again");
        }
    }
}

// === impl Away ===

impl Away {
    pub fn give_up(&self) {
        *self.gives_up.lock() = true;
        self.told.notify_all();
    }

    /// True where it is to give up, at once or while it waits.
    fn wait(&self, pause: Duration) -> bool {
        let mut gives_up = self.gives_up.lock();
        if !*gives_up {
            self.told.wait_for(&mut gives_up, pause);
        }
        *gives_up
    }
}

// === impl Way ===

impl Way {
    fn open(to: &Destination) -> io::Result<Way> {
        match to {
            Destination::Udp(to) => {
                let address = address(to)?;
                let any: SocketAddr = if address.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
                let socket = UdpSocket::bind(any)?;
                socket.connect(address)?;
                Ok(Way::Udp(socket))
            }
            Destination::Tcp(to) => {
                let stream = TcpStream::connect_timeout(&address(to)?, PATIENCE)?;
                stream.set_write_timeout(Some(PATIENCE))?;
                Ok(Way::Tcp(stream))
            }
            Destination::Unix(path) => {
                let socket = UnixDatagram::unbound()?;
                socket.set_write_timeout(Some(PATIENCE))?;
                socket.connect(&**path)?;
                Ok(Way::Unix(socket))
            }
        }
    }

    fn send(&mut self, message: &str) -> io::Result<()> {
        match self {
            Way::Udp(socket) => socket.send(message.as_bytes()).map(drop),
            Way::Unix(socket) => socket.send(message.as_bytes()).map(drop),
            // RFC 6587 §3.4.1.
            Way::Tcp(stream) => stream.write_all(format!("{} {message}", message.len()).as_bytes()),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "on a thread of its own, which no runtime waits for")]
fn address(to: &str) -> io::Result<SocketAddr> {
    to.to_socket_addrs()?.next().ok_or_else(|| io::Error::other("the name has no address"))
}
