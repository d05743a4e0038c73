//! A connection as dialogues use it: everything is awaited until the deadline, and everything that a peer sends counts
//! against one bound, so that neither a hanging nor a flooding server holds or fills anything.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::connect::Connection;
use super::{Deadline, Miss, quoted};

/// Most bytes that a server may send in one dialogue.
pub(super) const RECEIVED_MAX: usize = 256 * 1024;

/// Longest line of a dialogue by lines. Bytes.
const LINE_MAX: usize = 4 * 1024;

pub(super) struct Wire {
    connection: Connection,
    address: SocketAddr,
    deadline: Deadline,
    /// Received and not yet used.
    buffer: Vec<u8>,
    left: usize,
}

// === impl Wire ===

impl Wire {
    pub(super) fn new(connection: Connection, address: SocketAddr, deadline: Deadline) -> Wire {
        Wire { connection, address, deadline, buffer: Vec::new(), left: RECEIVED_MAX }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), Miss> {
        let address = self.address;
        let write = async {
            self.connection.write_all(bytes).await?;
            self.connection.flush().await
        };
        let written = self.deadline.within(|| format!("{address} to take what is sent"), write).await?;
        written.map_err(|error| Miss::from_io(&error, &format!("dialogue with {address}")))
    }

    /// The next `count` bytes. `what` completes the sentence "waiting for … from ADDRESS".
    pub(super) async fn exact(&mut self, count: usize, what: &str) -> Result<Vec<u8>, Miss> {
        while self.buffer.len() < count {
            self.more(what).await?;
        }
        let rest = self.buffer.split_off(count);
        Ok(std::mem::replace(&mut self.buffer, rest))
    }

    /// The next line, without its end.
    pub(super) async fn line(&mut self, what: &str) -> Result<Vec<u8>, Miss> {
        loop {
            if let Some(end) = self.buffer.iter().position(|&b| b == b'\n') {
                let rest = self.buffer.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                line.pop();
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(line);
            }
            if self.buffer.len() > LINE_MAX {
                let start = quoted(&self.buffer);
                return Err(Miss::Fail(format!("{} sent a line without an end: {start}", self.address)));
            }
            self.more(what).await?;
        }
    }

    async fn more(&mut self, what: &str) -> Result<(), Miss> {
        let address = self.address;
        if self.left == 0 {
            let kib = RECEIVED_MAX / 1024;
            return Err(Miss::Fail(format!("{address} sent more than {kib} KiB, waiting for {what}")));
        }
        let mut chunk = [0; 4 * 1024];
        let room = chunk.len().min(self.left);
        let read = self.connection.read(&mut chunk[..room]);
        let early = || Miss::Fail(format!("{address} closed the connection, waiting for {what}"));
        match self.deadline.within(|| format!("{what} from {address}"), read).await? {
            Ok(0) => Err(early()),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(early()),
            Err(error) => Err(Miss::from_io(&error, &format!("dialogue with {address}"))),
            Ok(n) => {
                self.left -= n;
                self.buffer.extend_from_slice(&chunk[..n]);
                Ok(())
            }
        }
    }

    /// The connection itself, for a client that speaks its protocol by itself. Nothing may be left unread.
    pub(super) fn into_connection(self) -> Connection {
        debug_assert!(self.buffer.is_empty());
        self.connection
    }
}
