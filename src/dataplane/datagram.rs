//! What receivers of datagrams have in common: the address that was asked, and who asked.

use std::io;
use std::mem::size_of;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd;

/// Room for one control message with a destination address, in words: aligned for `cmsghdr`.
pub(super) const CONTROL: usize = 8;

/// Asks the kernel to tell with each datagram which address it came to.
pub(super) fn tell_destination(socket: &UdpSocket) -> io::Result<()> {
    let (level, option) = match socket.local_addr()? {
        SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_PKTINFO),
        SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO),
    };
    let on: libc::c_int = 1;
    // SAFETY: `on` lives over the call and its size is passed.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The address that the kernel wrote; `None` where it wrote none.
pub(super) fn peer_of(storage: &libc::sockaddr_storage, length: libc::socklen_t) -> Option<SocketAddr> {
    match libc::c_int::from(storage.ss_family) {
        libc::AF_INET if length as usize >= size_of::<libc::sockaddr_in>() => {
            // SAFETY: the family and the length say that the kernel wrote a `sockaddr_in`, for which the storage is large
            // enough and aligned.
            let v4 = unsafe { &*(&raw const *storage).cast::<libc::sockaddr_in>() };
            let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
            Some(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
        }
        libc::AF_INET6 if length as usize >= size_of::<libc::sockaddr_in6>() => {
            // SAFETY: as above, for `sockaddr_in6`.
            let v6 = unsafe { &*(&raw const *storage).cast::<libc::sockaddr_in6>() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            Some(SocketAddrV6::new(ip, u16::from_be(v6.sin6_port), v6.sin6_flowinfo, v6.sin6_scope_id).into())
        }
        _ => None,
    }
}

/// Clears the interface in a destination that the kernel told, so that routing chooses; a link-local address keeps it,
/// being nothing without.
pub(super) fn forget_interface(control: &mut [u64; CONTROL], length: usize) {
    const HEADER: usize = size_of::<libc::cmsghdr>();
    if length < HEADER {
        return;
    }
    // SAFETY: plain bytes of the same size; only reads and writes of bytes follow.
    let bytes = unsafe { &mut *(&raw mut *control).cast::<[u8; CONTROL * 8]>() };
    let int = |at: usize| i32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let (level, kind) = (int(HEADER - 8), int(HEADER - 4));
    if (level, kind) == (libc::IPPROTO_IP, libc::IP_PKTINFO) {
        bytes[HEADER..HEADER + 4].fill(0);
    } else if (level, kind) == (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) {
        let ip: [u8; 16] = bytes[HEADER..HEADER + 16].try_into().expect("sixteen bytes");
        if !IpAddr::from(ip).is_unspecified() && !Ipv6Addr::from(ip).is_unicast_link_local() {
            bytes[HEADER + 16..HEADER + 20].fill(0);
        }
    }
}
