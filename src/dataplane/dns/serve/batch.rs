//! Many datagrams with one system call: `recvmmsg` and `sendmmsg`.
//!
//! This is the one place of the DNS service with `unsafe`: no safe interface in our dependencies does both calls with an
//! own source address for each answer. Against one `recvfrom` and `sendto` a query they save about a sixth of the whole
//! cost under load. All pointers are set anew before each call, from boxes that never move while it runs.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd;

/// Datagrams of a batch.
const SIZE: usize = 32;
/// Bytes of a query that are read; real queries stay far below, and a longer one is FORMERR.
const QUERY_MAX: usize = 2048;
/// Room for one control message with a destination address, in words.
const CONTROL: usize = 8;

pub(super) struct Batch {
    received: usize,
    queries: Box<[[u8; QUERY_MAX]]>,
    lengths: [usize; SIZE],
    peers: Box<[libc::sockaddr_storage]>,
    peer_lengths: [libc::socklen_t; SIZE],
    /// The address that was asked, as the kernel told it and wants to be told; aligned for `cmsghdr`.
    controls: Box<[[u64; CONTROL]]>,
    control_lengths: [usize; SIZE],
    replies: Box<[Vec<u8>]>,
}

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

// === impl Batch ===

impl Batch {
    pub fn new() -> Batch {
        Batch {
            received: 0,
            queries: vec![[0; QUERY_MAX]; SIZE].into_boxed_slice(),
            lengths: [0; SIZE],
            // SAFETY: a socket address of all zeros is a valid value of this plain structure.
            peers: vec![unsafe { zeroed() }; SIZE].into_boxed_slice(),
            peer_lengths: [0; SIZE],
            controls: vec![[0; CONTROL]; SIZE].into_boxed_slice(),
            control_lengths: [0; SIZE],
            replies: (0..SIZE).map(|_| Vec::with_capacity(1232)).collect(),
        }
    }

    /// Waits for a datagram (at most the read time-out of the socket) and takes along what else is there.
    pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<()> {
        self.received = 0;
        // SAFETY: null pointers and zero lengths are a valid value of these plain structures.
        let (mut parts, mut headers): ([libc::iovec; SIZE], [libc::mmsghdr; SIZE]) = unsafe { (zeroed(), zeroed()) };
        for i in 0..SIZE {
            parts[i] = libc::iovec { iov_base: self.queries[i].as_mut_ptr().cast(), iov_len: QUERY_MAX };
            let header = &mut headers[i].msg_hdr;
            header.msg_name = (&raw mut self.peers[i]).cast();
            header.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
            header.msg_iov = &raw mut parts[i];
            header.msg_iovlen = 1;
            header.msg_control = self.controls[i].as_mut_ptr().cast();
            header.msg_controllen = size_of::<[u64; CONTROL]>() as _;
        }
        // SAFETY: every header points to buffers of `self` or of this frame with their true lengths, and none moves
        // before the call returns; SIZE headers are there.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                SIZE as libc::c_uint,
                libc::MSG_WAITFORONE,
                std::ptr::null_mut(),
            )
        };
        if count < 0 {
            return Err(io::Error::last_os_error());
        }
        self.received = count as usize;
        for (i, header) in headers[..self.received].iter().enumerate() {
            self.lengths[i] = (header.msg_len as usize).min(QUERY_MAX);
            self.peer_lengths[i] = header.msg_hdr.msg_namelen;
            self.control_lengths[i] = header.msg_hdr.msg_controllen as _;
        }
        Ok(())
    }

    /// Hands each query with its sender to `answer`, which writes the reply or leaves it empty.
    pub fn answer(&mut self, mut answer: impl FnMut(&[u8], SocketAddr, &mut Vec<u8>)) {
        for i in 0..self.received {
            let reply = &mut self.replies[i];
            reply.clear();
            // Nobody can be answered at port 0; what a closing socket gives has no sender at all.
            let peer = peer_of(&self.peers[i], self.peer_lengths[i]).filter(|p| p.port() != 0);
            if let Some(peer) = peer {
                answer(&self.queries[i][..self.lengths[i]], peer, reply);
            }
            // The answer must come from the address that was asked, but may leave by another interface.
            forget_interface(&mut self.controls[i], self.control_lengths[i]);
        }
    }

    /// Sends the replies. What the system cannot take at once is dropped: the client asks again.
    pub fn send(&mut self, socket: &UdpSocket) {
        // SAFETY: null pointers and zero lengths are a valid value of these plain structures.
        let (mut parts, mut headers): ([libc::iovec; SIZE], [libc::mmsghdr; SIZE]) = unsafe { (zeroed(), zeroed()) };
        let mut count = 0;
        for i in (0..self.received).filter(|&i| !self.replies[i].is_empty()) {
            let reply = &self.replies[i];
            // Only read from, whatever the type says.
            parts[count] = libc::iovec { iov_base: reply.as_ptr().cast_mut().cast(), iov_len: reply.len() };
            let header = &mut headers[count].msg_hdr;
            header.msg_name = (&raw mut self.peers[i]).cast();
            header.msg_namelen = self.peer_lengths[i];
            header.msg_iov = &raw mut parts[count];
            header.msg_iovlen = 1;
            if self.control_lengths[i] > 0 {
                header.msg_control = self.controls[i].as_mut_ptr().cast();
                header.msg_controllen = self.control_lengths[i] as _;
            }
            count += 1;
        }
        let mut sent = 0;
        while sent < count {
            // SAFETY: as above; `sent` is below `count`, and `count` headers are filled.
            let result = unsafe {
                libc::sendmmsg(
                    socket.as_raw_fd(),
                    headers[sent..count].as_mut_ptr(),
                    (count - sent) as libc::c_uint,
                    libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
                )
            };
            // An error is that of the first message left: the others may still go.
            sent += usize::try_from(result).unwrap_or(0).max(1);
        }
        self.received = 0;
    }
}

fn peer_of(storage: &libc::sockaddr_storage, length: libc::socklen_t) -> Option<SocketAddr> {
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
fn forget_interface(control: &mut [u64; CONTROL], length: usize) {
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
