//! Many datagrams with one system call: `recvmmsg` and `sendmmsg`.
//!
//! This is the one place of the DNS service with `unsafe`: no safe interface in our dependencies does both calls with an
//! own source address for each answer. Against one `recvfrom` and `sendto` a query they save about a sixth of the whole
//! cost under load. All pointers are set anew before each call, from boxes that never move while it runs.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use crate::dataplane::datagram::{CONTROL, forget_interface, peer_of};

/// Datagrams of a batch.
const SIZE: usize = 32;
/// Bytes of a query that are read; real queries stay far below, and a longer one is FORMERR.
const QUERY_MAX: usize = 2048;
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
