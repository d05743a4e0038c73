//! Sockets that one process of this program hands to the next, so that an upgrade closes none.
//!
//! A listening socket that two processes hold has one queue in the kernel: whoever accepts next takes the next
//! connection, and none is refused while one of the two is there. So the new process listens before the old one stops.
//! A socket is found again by the address that it is bound to, whatever the configuration calls it by now; where a port
//! of 0 was asked for, by its owner and what was asked, so that it keeps the port that it was given.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use parking_lot::Mutex;
use socket2::SockRef;

/// What a Unix socket is said to have asked for.
const NOWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

/// One socket that listens, or that takes datagrams.
#[derive(Debug)]
pub struct Socket {
    /// `vserver web`, `dns`, `dns-tls`, `admin`: told apart where the port was left to the kernel.
    pub owner: String,
    pub datagrams: bool,
    /// As configured; port 0 included.
    pub asked: SocketAddr,
    pub fd: OwnedFd,
}

/// What a former process has handed over and nobody has taken yet. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Handed(Arc<Mutex<Vec<Socket>>>);

// === impl Socket ===

impl Socket {
    /// Of a listener that goes on: both have it.
    pub fn stream(owner: &str, asked: SocketAddr, listener: &impl AsFd) -> io::Result<Socket> {
        Socket::same(owner, false, asked, listener)
    }

    /// The same of a listener on a Unix socket.
    pub fn local(owner: &str, listener: &UnixListener) -> io::Result<Socket> {
        Socket::same(owner, false, NOWHERE, listener)
    }

    /// The same of a socket of datagrams.
    pub fn datagram(owner: &str, asked: SocketAddr, socket: &impl AsFd) -> io::Result<Socket> {
        Socket::same(owner, true, asked, socket)
    }

    fn same(owner: &str, datagrams: bool, asked: SocketAddr, fd: &impl AsFd) -> io::Result<Socket> {
        let fd = fd.as_fd().try_clone_to_owned()?;
        Ok(Socket { owner: owner.to_owned(), datagrams, asked, fd })
    }

    /// Another one of the same.
    pub fn copy(&self) -> io::Result<Socket> {
        Socket::same(&self.owner, self.datagrams, self.asked, &self.fd)
    }

    /// Where it is bound.
    fn address(&self) -> Option<SocketAddr> {
        SockRef::from(&self.fd).local_addr().ok()?.as_socket()
    }

    fn is(&self, owner: &str, datagrams: bool, asked: SocketAddr) -> bool {
        let same_place = match asked.port() {
            0 => self.owner == owner && self.asked == asked,
            _ => self.address() == Some(asked),
        };
        self.datagrams == datagrams && same_place
    }
}

// === impl Handed ===

impl Handed {
    pub fn new(sockets: Vec<Socket>) -> Handed {
        Handed(Arc::new(Mutex::new(sockets)))
    }

    /// The listener of this address, not blocking.
    pub fn listener(&self, owner: &str, asked: SocketAddr) -> Option<TcpListener> {
        let listener = TcpListener::from(self.take(owner, false, asked).into_iter().next()?);
        listener.set_nonblocking(true).is_ok().then_some(listener)
    }

    /// All sockets of datagrams of this address, in the order in which they were made: what waits in one of them is read
    /// by nobody else. As blocking as they were.
    pub fn datagrams(&self, owner: &str, asked: SocketAddr) -> Vec<UdpSocket> {
        self.take(owner, true, asked).into_iter().map(UdpSocket::from).collect()
    }

    /// The socket of the command line, not blocking.
    pub fn local(&self, owner: &str) -> Option<UnixListener> {
        let listener = UnixListener::from(self.take(owner, false, NOWHERE).into_iter().next()?);
        listener.set_nonblocking(true).is_ok().then_some(listener)
    }

    /// Closes what nobody has taken: nothing asks for it any more. How many those were.
    pub fn close(&self) -> usize {
        std::mem::take(&mut *self.0.lock()).len()
    }

    fn take(&self, owner: &str, datagrams: bool, asked: SocketAddr) -> Vec<OwnedFd> {
        let mut all = self.0.lock();
        let (taken, left) = std::mem::take(&mut *all).into_iter().partition(|one| one.is(owner, datagrams, asked));
        *all = left;
        let taken: Vec<Socket> = taken;
        taken.into_iter().map(|one| one.fd).collect()
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "clients of a test may block")]
mod tests {
    use super::*;

    fn any() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    #[test]
    fn a_socket_is_found_by_its_address_whatever_its_owner_is_called_and_only_once() {
        let listener = TcpListener::bind(any()).unwrap();
        let at = listener.local_addr().unwrap();
        let handed = Handed::new(vec![Socket::stream("vserver old", at, &listener).unwrap()]);
        assert!(handed.datagrams("vserver new", at).is_empty(), "it takes no datagrams");
        let found = handed.listener("vserver new", at).unwrap();
        assert_eq!(found.local_addr().unwrap(), at);
        assert!(handed.listener("vserver new", at).is_none());
    }

    #[test]
    fn a_port_that_the_kernel_chose_goes_to_the_owner_that_asked_for_any() {
        let sockets = [TcpListener::bind(any()).unwrap(), TcpListener::bind(any()).unwrap()];
        let owned = ["vserver a", "vserver b"];
        let handed = owned.iter().zip(&sockets).map(|(owner, one)| Socket::stream(owner, any(), one).unwrap());
        let handed = Handed::new(handed.collect());
        assert!(handed.listener("vserver c", any()).is_none());
        let found = handed.listener("vserver b", any()).unwrap();
        assert_eq!(found.local_addr().unwrap(), sockets[1].local_addr().unwrap());
        assert_eq!(handed.close(), 1);
    }

    #[test]
    fn a_connection_that_came_before_the_old_process_closed_is_accepted_by_the_new_one() {
        let old = TcpListener::bind(any()).unwrap();
        let at = old.local_addr().unwrap();
        let handed = Handed::new(vec![Socket::stream("vserver a", any(), &old).unwrap()]);
        let client = std::net::TcpStream::connect(at).unwrap();
        drop(old);
        let new = handed.listener("vserver a", any()).unwrap();
        new.set_nonblocking(false).unwrap();
        assert_eq!(new.accept().unwrap().1, client.local_addr().unwrap());
    }
}
