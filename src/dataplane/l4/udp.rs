//! UDP: a thread for each VIP, which receives and sends many datagrams with one system call and needs none to learn that
//! nothing is left. What becomes of them is the type's business: [`sessions`] (UDP, and the datagrams of ANY), or
//! [`queries`] (DNS). Both end with their VIP: what comes back could not be sent from its address.

mod batch;
mod queries;
mod session;
mod sessions;
mod table;

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll as Polled, Waker as TaskWaker};
use std::time::{Duration, Instant};

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};
use socket2::{Domain, Socket, Type};

use self::queries::Queries;
use self::sessions::Sessions;
use crate::dataplane::datagram::tell_destination;
use crate::dataplane::handed;
use crate::dataplane::member::{Acquired, Refused, Wanted, acquire};
use crate::dataplane::places::Place;
use crate::dataplane::{Open, Shared};
use crate::model::ending::Reason;
use crate::model::id::Name;
use crate::model::service::Protocol;
use crate::snapshot::live::VserverLive;

/// How often what is under way is looked at that may have to end.
const LOOK: Duration = Duration::from_millis(250);

/// How long the process that another has followed waits for what members still answer.
const ANSWERS: Duration = Duration::from_secs(5);

const VIP: Token = Token(usize::MAX - 1);
const WAKE: Token = Token(usize::MAX - 2);

/// The thread of one VIP.
pub(in crate::dataplane) struct Server {
    stop: Arc<AtomicBool>,
    /// Takes nothing more from clients.
    leaving: Arc<AtomicBool>,
    waker: Arc<Waker>,
    /// The thread's; with this one open the address stays taken until both are closed.
    socket: UdpSocket,
}

/// A VIP as its thread sees it.
struct Vip {
    shared: Arc<Shared>,
    vserver: Name,
    live: Arc<VserverLive>,
    address: SocketAddr,
    socket: UdpSocket,
    poll: Poll,
    /// Held here too: a waker that is let go of right after it was used takes its event with it, and a thread without
    /// traffic would sleep on and hold the address.
    _waker: Arc<Waker>,
}

/// What is done with datagrams.
trait Carry {
    /// Nothing is under way: there is nothing to look at.
    fn is_idle(&self) -> bool;
    /// The socket watched under `slot` has something from a member.
    fn answers(&mut self, vip: &Vip, slot: usize, now: Instant);
    /// All sockets that had something have been asked.
    fn answered(&mut self, vip: &Vip);
    /// Passes on what clients have sent. True where more may be there.
    fn datagrams(&mut self, vip: &Vip, now: Instant) -> bool;
    /// Ends what must end.
    fn look(&mut self, vip: &Vip, now: Instant);
    /// Ends everything: the VIP goes.
    fn stop(self);
}

// === impl Server ===

impl Server {
    /// `socket`: bound, not blocking. Must be called inside a tokio runtime.
    pub fn start(
        shared: &Arc<Shared>,
        socket: UdpSocket,
        vserver: &Name,
        live: &Arc<VserverLive>,
    ) -> io::Result<Server> {
        let address = socket.local_addr()?;
        if address.ip().is_unspecified() {
            tell_destination(&socket)?;
        }
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKE)?);
        poll.registry().register(&mut SourceFd(&socket.as_raw_fd()), VIP, Interest::READABLE)?;
        let (stop, leaving) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let own = socket.try_clone()?;
        let is_dns = is_dns(shared, vserver);
        let (shared, vserver, live) = (Arc::clone(shared), Arc::clone(vserver), Arc::clone(live));
        let vip = Vip { shared, vserver, live, address, socket, poll, _waker: Arc::clone(&waker) };
        let (until, runtime) = ((Arc::clone(&stop), Arc::clone(&leaving)), tokio::runtime::Handle::current());
        std::thread::Builder::new().name("udp".into()).spawn(move || {
            // Choosing a member may set a timer, although nobody waits for it here.
            let _entered = runtime.enter();
            match is_dns {
                true => vip.serve(Queries::new(), &until.0, &until.1),
                false => vip.serve(Sessions::new(), &until.0, &until.1),
            }
        })?;
        Ok(Server { stop, leaving, waker, socket: own })
    }

    /// The socket, for another process.
    pub fn handed(&self, owner: &str, asked: SocketAddr) -> io::Result<handed::Socket> {
        handed::Socket::datagram(owner, asked, &self.socket)
    }

    /// Takes nothing more from clients, since another process does; passes on what members still answer.
    pub fn leave(&self) {
        self.leaving.store(true, Ordering::Release);
        let _ = self.waker.wake();
    }

    pub fn close(&self) {
        self.stop.store(true, Ordering::Release);
        let _ = self.waker.wake();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
    }
}

// === impl Vip ===

impl Vip {
    fn serve(mut self, mut carry: impl Carry, stop: &AtomicBool, leaving: &AtomicBool) {
        let mut events = Events::with_capacity(256);
        let (mut is_readable, mut looked) = (false, Instant::now());
        // Since it takes nothing more from clients; the process waits for the answers that are on their way.
        let mut left: Option<(Instant, Option<Open>)> = None;
        while !stop.load(Ordering::Acquire) {
            if leaving.load(Ordering::Acquire) {
                let (since, waits) = left.get_or_insert_with(|| {
                    let _ = self.poll.registry().deregister(&mut SourceFd(&self.socket.as_raw_fd()));
                    is_readable = false;
                    (Instant::now(), Some(self.shared.open()))
                });
                if carry.is_idle() {
                    break;
                }
                if since.elapsed() >= ANSWERS {
                    *waits = None;
                }
            }
            let patience = match is_readable {
                true => Some(Duration::ZERO),
                false => (!carry.is_idle()).then_some(LOOK),
            };
            match self.poll.poll(&mut events, patience) {
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    tracing::error!(vserver = &*self.vserver, %error, "no datagrams any more");
                    break;
                }
                _ => {}
            }
            let now = Instant::now();
            for event in &events {
                match event.token() {
                    VIP => is_readable = left.is_none(),
                    WAKE => {}
                    Token(slot) => carry.answers(&self, slot, now),
                }
            }
            carry.answered(&self);
            if is_readable {
                is_readable = carry.datagrams(&self, now);
            }
            if looked + LOOK <= now {
                looked = now;
                carry.look(&self, now);
            }
        }
        carry.stop();
    }

    /// Has the socket's readiness reported under `slot`.
    fn watch(&self, socket: &UdpSocket, slot: usize) -> io::Result<()> {
        self.poll.registry().register(&mut SourceFd(&socket.as_raw_fd()), Token(slot), Interest::READABLE)
    }

    /// A place among the open files.
    fn place(&self) -> Option<Place> {
        self.shared.places.try_take_for_datagrams(|| Arc::clone(&self.shared.plane.cell.load().connections))
    }

    /// A member, at once: a datagram does not wait in the surge queue.
    fn acquire(&self, client: SocketAddr, tried: &[Name]) -> Result<Acquired, Refused> {
        let wanted = self.wanted(client, tried);
        let snapshot = self.shared.plane.cell.load_full();
        let mut chosen = pin!(acquire(&self.shared.plane, snapshot, &self.vserver, &wanted));
        match chosen.as_mut().poll(&mut Context::from_waker(TaskWaker::noop())) {
            Polled::Ready(acquired) => acquired,
            Polled::Pending => Err(Refused::unavailable(Reason::QueueFull)),
        }
    }

    fn wanted<'a>(&self, client: SocketAddr, tried: &'a [Name]) -> Wanted<'a> {
        Wanted {
            client,
            local: self.address,
            value: &|_| None,
            tls_session: None,
            only: None,
            tried,
            now: self.shared.now(),
            dry: false,
        }
    }
}

fn is_dns(shared: &Shared, vserver: &Name) -> bool {
    let snapshot = shared.plane.cell.load();
    snapshot.model.vserver_id(vserver).is_some_and(|id| snapshot.model.vserver(id).protocol == Protocol::Dns)
}

/// A socket that talks to this member only, and is told where it is not there; not blocking.
fn connect(shared: &Shared, to: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(to), Type::DGRAM.nonblocking(), Some(socket2::Protocol::UDP))?;
    if let Some(source) = shared.plane.cell.load().source_for(to.ip()) {
        crate::dataplane::connect::leave_from(&socket, source)?;
    }
    // Takes a free port.
    socket.connect(&to.into())?;
    Ok(socket.into())
}
