//! ARP and neighbour advertisements on the wire: one socket of packets for each interface that is asked on.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::arp::{self, Heard};
use super::machine::{Link, Machine};

/// What is heard and not yet looked at; more is lost, as packets are.
const HEARD_MOST: usize = 256;
/// Longest frame that is read; an ARP packet is shorter.
const FRAME_MOST: usize = 128;

/// How long a full queue of a link is waited for.
const ROOM_PATIENCE: Duration = Duration::from_millis(50);

/// Every node on the link (RFC 4291 §2.7.1).
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// The sockets that are open, by the number of the link.
pub(super) struct Ears {
    open: HashMap<u32, Ear>,
    heard: mpsc::Sender<(u32, Heard)>,
}

struct Ear {
    socket: Arc<UdpSocket>,
    hearing: JoinHandle<()>,
}

// === impl Ears ===

impl Ears {
    pub fn new() -> (Ears, mpsc::Receiver<(u32, Heard)>) {
        let (heard, all) = mpsc::channel(HEARD_MOST);
        (Ears { open: HashMap::new(), heard }, all)
    }

    /// Listens on exactly these links from now on. What cannot be opened is the error of the first act on it.
    pub fn listen_on(&mut self, links: &[u32]) {
        self.open.retain(|link, _| links.contains(link));
    }

    /// Asks whether somebody has `ip`. Listens from then on: the answer must not come too soon.
    pub async fn probe(&mut self, link: &Link, ip: Ipv4Addr) -> io::Result<()> {
        let Some(mac) = link.mac else { return Ok(()) };
        send(self.on(link)?, &arp::probe(mac, ip)).await
    }

    pub async fn announce(&mut self, link: &Link, ip: IpAddr) -> io::Result<()> {
        match (ip, link.mac) {
            (IpAddr::V4(ip), Some(mac)) => send(self.on(link)?, &arp::announcement(mac, ip)).await,
            (IpAddr::V6(ip), Some(mac)) => advertise(link.index, ip, mac.0),
            (_, None) => Ok(()),
        }
    }

    fn on(&mut self, link: &Link) -> io::Result<&UdpSocket> {
        if self.open.get(&link.index).is_none_or(|ear| ear.hearing.is_finished()) {
            let socket = Arc::new(open(link)?);
            let hearing = tokio::spawn(hear(Arc::clone(&socket), link.index, self.heard.clone()));
            self.open.insert(link.index, Ear { socket, hearing });
        }
        Ok(&self.open[&link.index].socket)
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.hearing.abort();
    }
}

/// A frame that no room is found for in time is lost, as frames are.
async fn send(socket: &UdpSocket, frame: &[u8]) -> io::Result<()> {
    match tokio::time::timeout(ROOM_PATIENCE, socket.send(frame)).await {
        Ok(Err(error)) => Err(error),
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}

/// A socket of ARP packets, bound to a link.
fn open(link: &Link) -> io::Result<UdpSocket> {
    let protocol = i32::from(arp::ETHERTYPE.to_be());
    let socket = Socket::new(Domain::PACKET, Type::RAW.nonblocking(), Some(Protocol::from(protocol)))?;
    let gone = || io::Error::new(io::ErrorKind::NotFound, format!("{} is gone", link.name));
    let found = nix::ifaddrs::getifaddrs()?
        .filter_map(|found| found.address?.as_link_addr().copied())
        .find(|found| u32::try_from(found.ifindex()).is_ok_and(|index| index == link.index));
    nix::sys::socket::bind(socket.as_raw_fd(), &found.ok_or_else(gone)?)?;
    // What came from other links before it was bound to this one.
    socket.set_nonblocking(true)?;
    let mut elsewhere = [std::mem::MaybeUninit::uninit(); FRAME_MOST];
    while socket.recv(&mut elsewhere).is_ok() {}
    // To the kernel's send and recv every socket of datagrams is one, whatever its protocol.
    UdpSocket::from_std(std::net::UdpSocket::from(socket))
}

/// Ends where the link is gone or nobody listens any more.
async fn hear(socket: Arc<UdpSocket>, link: u32, heard: mpsc::Sender<(u32, Heard)>) {
    let mut frame = [0; FRAME_MOST];
    loop {
        match socket.recv(&mut frame).await {
            Ok(bytes) => {
                let told = arp::parse(&frame[..bytes]).map(|said| heard.try_send((link, said)));
                if matches!(told, Some(Err(mpsc::error::TrySendError::Closed(_)))) {
                    return;
                }
            }
            // It may come back.
            Err(error) if error.raw_os_error() == Some(libc::ENETDOWN) => {}
            Err(_) => return,
        }
    }
}

/// An unsolicited neighbour advertisement (RFC 4861 §7.2.6), overriding what neighbours know.
fn advertise(link: u32, ip: Ipv6Addr, mac: [u8; 6]) -> io::Result<()> {
    let socket = Socket::new(Domain::IPV6, Type::RAW, Some(Protocol::ICMPV6))?;
    socket.set_multicast_if_v6(link)?;
    socket.set_multicast_hops_v6(255)?;
    socket.set_multicast_loop_v6(false)?;
    socket.bind(&SocketAddr::from((ip, 0)).into())?;
    let to = SocketAddr::V6(SocketAddrV6::new(ALL_NODES, 0, 0, link));
    // The kernel fills in the checksum.
    socket.send_to(&advertisement(ip, mac), &to.into()).map(|_| ())
}

fn advertisement(ip: Ipv6Addr, mac: [u8; 6]) -> [u8; 32] {
    let mut packet = [0; 32];
    packet[0] = 136;
    // Override; not solicited; no router.
    packet[4] = 0x20;
    packet[8..24].copy_from_slice(&ip.octets());
    // Target link-layer address, one unit of eight bytes.
    (packet[24], packet[25]) = (2, 1);
    packet[26..32].copy_from_slice(&mac);
    packet
}

/// Links that have addresses of IPv4 whose conflicts are to be heard of.
pub(super) fn needed(machine: &Machine, interfaces: impl Fn(&str) -> bool) -> Vec<u32> {
    machine.links.iter().filter(|link| interfaces(&link.name)).map(|link| link.index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_advertisement_overrides_what_neighbours_know() {
        let packet = advertisement("2001:db8::10".parse().unwrap(), [2, 0, 0x5e, 0, 0x53, 1]);
        let shown: String = packet.iter().map(|byte| format!("{byte:02x}")).collect();
        let expected = ["88000000", "20000000", "20010db8000000000000000000000010", "0201", "02005e005301"].concat();
        assert_eq!(shown, expected);
    }
}
