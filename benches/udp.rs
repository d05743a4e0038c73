//! UDP load and its server, for `scripts/bench`: `udp echo ADDRESS`, `udp load ADDRESS SECONDS CLIENTS BYTES`, and
//! `udp reflect ADDRESS`, which makes an answer of each DNS query without reading it. Standard library only; compiled by
//! the script.
//!
//! Every client has one datagram under way: all send, then all read their answer, until the time is over.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// An answer that takes longer is lost.
const PATIENCE: Duration = Duration::from_millis(500);

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["echo", address] => echo(address, |_| {}),
        // The bit that tells an answer from a query.
        ["reflect", address] => echo(address, |message| message.iter_mut().skip(2).take(1).for_each(|flags| *flags |= 0x80)),
        ["load", address, seconds, clients, bytes] => {
            let number = |word: &str| word.parse::<usize>().expect("a number");
            load(address, number(seconds) as u64, number(clients), number(bytes))
        }
        _ => panic!("udp echo ADDRESS | udp reflect ADDRESS | udp load ADDRESS SECONDS CLIENTS BYTES"),
    }
}

fn echo(address: &str, change: impl Fn(&mut [u8])) -> std::io::Result<()> {
    let socket = UdpSocket::bind(address)?;
    let mut datagram = [0; 65_536];
    loop {
        let (length, peer) = socket.recv_from(&mut datagram)?;
        change(&mut datagram[..length]);
        // A client that has gone is no reason to end.
        let _ = socket.send_to(&datagram[..length], peer);
    }
}

fn load(address: &str, seconds: u64, clients: usize, bytes: usize) -> std::io::Result<()> {
    let mut sockets = Vec::new();
    for _ in 0..clients {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect(address)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        sockets.push(socket);
    }
    let mut datagram = vec![0; bytes];
    let (mut sent, mut came) = (0_u64, 0_u64);
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        for socket in &sockets {
            datagram[..8].copy_from_slice(&sent.to_ne_bytes());
            sent += u64::from(socket.send(&datagram).is_ok());
        }
        for socket in &sockets {
            came += u64::from(socket.recv(&mut datagram).is_ok_and(|length| length == bytes));
        }
    }
    println!("sent {sent} came {came}");
    Ok(())
}
