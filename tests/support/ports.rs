//! Ports for what must know its port before it listens, or must have it again after it was gone.

use std::net::{TcpListener, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering};

/// Below those that the kernel gives to whoever asks for any port (32768 to 60999): neither a test that listens on one
/// of these nor a connection ever gets in the way.
const FIRST: u32 = 12_000;
const COUNT: u32 = 20_000;

/// A port that nobody else in this process gets, free for connections and for datagrams.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Processes that run beside each other begin apart.
    let begin = std::process::id().wrapping_mul(211);
    (0..COUNT)
        .map(|_| begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT + FIRST)
        .filter_map(|port| u16::try_from(port).ok())
        .find(|&port| TcpListener::bind(("127.0.0.1", port)).is_ok() && UdpSocket::bind(("127.0.0.1", port)).is_ok())
        .expect("a free port")
}
