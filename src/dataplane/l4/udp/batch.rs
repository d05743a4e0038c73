//! Many datagrams with one system call. What one call has received the next may send on, from the same buffers.
//!
//! No safe interface among our dependencies receives a batch with the address that was asked, which an answer must come
//! from where a VIP is bound to all addresses. All pointers are set anew before each call, from boxes that never move.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use crate::dataplane::datagram::{CONTROL, forget_interface, peer_of};

/// Datagrams of a batch.
pub(super) const SIZE: usize = 32;
/// The largest datagram there is. Pages of a buffer that are never written to take no memory.
const BYTES: usize = 65_536;

/// The address that was asked, as the kernel tells it and wants to be told; empty where the socket has only one.
#[derive(Clone, Copy, Default)]
pub(super) struct Asked {
    words: [u64; CONTROL],
    length: usize,
}

pub(super) struct Batch {
    bytes: Box<[u8]>,
    lengths: [usize; SIZE],
    peers: Box<[libc::sockaddr_storage; SIZE]>,
    peer_lengths: [libc::socklen_t; SIZE],
    asked: Box<[Asked; SIZE]>,
    count: usize,
}

// === impl Batch ===

impl Batch {
    pub fn new() -> Batch {
        Batch {
            bytes: vec![0; SIZE * BYTES].into_boxed_slice(),
            lengths: [0; SIZE],
            // SAFETY: a socket address of all zeros is a valid value of this plain structure.
            peers: Box::new([unsafe { zeroed() }; SIZE]),
            peer_lengths: [0; SIZE],
            asked: Box::new([Asked::default(); SIZE]),
            count: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn clear(&mut self) {
        self.count = 0;
    }

    pub fn room(&self) -> usize {
        SIZE - self.count
    }

    pub fn datagram(&self, at: usize) -> &[u8] {
        &self.bytes[at * BYTES..at * BYTES + self.lengths[at]]
    }

    pub fn datagram_mut(&mut self, at: usize) -> &mut [u8] {
        &mut self.bytes[at * BYTES..at * BYTES + self.lengths[at]]
    }

    pub fn asked(&self, at: usize) -> Asked {
        self.asked[at]
    }

    /// Who sent it. `None`: nobody that could be answered.
    pub fn peer(&self, at: usize) -> Option<SocketAddr> {
        peer_of(&self.peers[at], self.peer_lengths[at]).filter(|peer| peer.port() != 0)
    }

    /// Sets whom a datagram goes to, and from which address.
    pub fn address(&mut self, at: usize, to: SocketAddr, from: Asked) {
        let to = socket2::SockAddr::from(to);
        // SAFETY: `SockAddr` is such a storage, filled up to its length.
        self.peers[at] = unsafe { *to.as_ptr().cast::<libc::sockaddr_storage>() };
        self.peer_lengths[at] = to.len();
        self.asked[at] = from;
    }

    /// Takes away the datagrams from `at` on.
    pub fn truncate(&mut self, at: usize) {
        self.count = self.count.min(at);
    }

    /// Receives what is there, at most `most`, behind what the batch holds. How many came; fewer than `most` mean that
    /// no more was there.
    pub fn receive(&mut self, socket: &UdpSocket, most: usize) -> io::Result<usize> {
        let most = most.min(self.room());
        let first = self.count;
        // SAFETY: null pointers and zero lengths are a valid value of these plain structures.
        let (mut parts, mut headers): ([libc::iovec; SIZE], [libc::mmsghdr; SIZE]) = unsafe { (zeroed(), zeroed()) };
        for i in 0..most {
            let at = first + i;
            let buffer = &mut self.bytes[at * BYTES..(at + 1) * BYTES];
            parts[i] = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: BYTES };
            let header = &mut headers[i].msg_hdr;
            header.msg_name = (&raw mut self.peers[at]).cast();
            header.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
            header.msg_iov = &raw mut parts[i];
            header.msg_iovlen = 1;
            header.msg_control = self.asked[at].words.as_mut_ptr().cast();
            header.msg_controllen = size_of::<[u64; CONTROL]>() as _;
        }
        // SAFETY: the first `most` headers point to buffers of `self` or of this frame with their true lengths, and none
        // moves before the call returns.
        let count = unsafe {
            let flags = libc::MSG_DONTWAIT;
            libc::recvmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), most as _, flags, std::ptr::null_mut())
        };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        for (i, header) in headers[..count].iter().enumerate() {
            let at = first + i;
            self.lengths[at] = (header.msg_len as usize).min(BYTES);
            self.peer_lengths[at] = header.msg_hdr.msg_namelen;
            let asked = &mut self.asked[at];
            asked.length = header.msg_hdr.msg_controllen as _;
            // The answer must come from the address that was asked, but may leave by another interface.
            forget_interface(&mut asked.words, asked.length);
        }
        self.count = first + count;
        Ok(count)
    }

    /// Sends all that the batch holds to where it is addressed, and empties it. What the system cannot take at once is
    /// dropped, as datagrams are; how many were.
    pub fn send(&mut self, socket: &UdpSocket) -> usize {
        // SAFETY: null pointers and zero lengths are a valid value of these plain structures.
        let (mut parts, mut headers): ([libc::iovec; SIZE], [libc::mmsghdr; SIZE]) = unsafe { (zeroed(), zeroed()) };
        for at in 0..self.count {
            let length = self.lengths[at];
            let buffer = &mut self.bytes[at * BYTES..(at + 1) * BYTES];
            parts[at] = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: length };
            let header = &mut headers[at].msg_hdr;
            header.msg_name = (&raw mut self.peers[at]).cast();
            header.msg_namelen = self.peer_lengths[at];
            header.msg_iov = &raw mut parts[at];
            header.msg_iovlen = 1;
            if self.asked[at].length > 0 {
                header.msg_control = self.asked[at].words.as_mut_ptr().cast();
                header.msg_controllen = self.asked[at].length as _;
            }
        }
        let (mut sent, mut dropped) = (0, 0);
        while sent < self.count {
            // SAFETY: as above; `sent` is below `count`, and `count` headers are filled.
            let result = unsafe {
                let left = &mut headers[sent..self.count];
                let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
                libc::sendmmsg(socket.as_raw_fd(), left.as_mut_ptr(), left.len() as _, flags)
            };
            // An error is that of the first message left: the others may still go.
            match usize::try_from(result) {
                Ok(count) if count > 0 => sent += count,
                _ => (sent, dropped) = (sent + 1, dropped + 1),
            }
        }
        self.count = 0;
        dropped
    }
}
