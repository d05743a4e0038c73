//! What a box answers for a name.

use std::net::UdpSocket;

use super::{BUSY, Box};

impl Box {
    /// The addresses of an A answer, sorted; asked over a socket of its own.
    pub fn resolve(&self, name: &str) -> Vec<String> {
        let mut query = vec![0x42, 0x42, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            query.push(u8::try_from(label.len()).expect("a label"));
            query.extend_from_slice(label.as_bytes());
        }
        query.extend_from_slice(&[0, 0, 1, 0, 1]);
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.set_read_timeout(Some(BUSY)).expect("a time-out");
        socket.send_to(&query, self.dns()).expect("the query is sent");
        let mut reply = [0; 1500];
        let length = socket.recv(&mut reply).expect("an answer");
        addresses(&reply[..length], query.len())
    }
}

/// Answers of one address each behind compressed names: enough for what these tests ask.
fn addresses(reply: &[u8], mut at: usize) -> Vec<String> {
    let answers = u16::from_be_bytes([reply[6], reply[7]]);
    let mut found = Vec::new();
    for _ in 0..answers {
        assert_eq!(reply[at] & 0xc0, 0xc0, "the owner is a pointer to the question");
        found.push(format!("{}.{}.{}.{}", reply[at + 12], reply[at + 13], reply[at + 14], reply[at + 15]));
        at += 16;
    }
    found.sort();
    found
}
