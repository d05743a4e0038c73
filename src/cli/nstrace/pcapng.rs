//! A file of packets as Wireshark reads it (draft-ietf-opsawg-pcapng): one section, one interface of raw IP, one block a
//! packet; little endian throughout.

use std::io::{self, Write};

/// LINKTYPE_RAW: packets begin with their IP header.
const RAW: u16 = 101;

/// What a packet costs beside its bytes, at most.
pub(super) const OVERHEAD: u64 = 36;

pub(super) struct Writer<W> {
    to: W,
    written: u64,
}

// === impl Writer ===

impl<W: Write> Writer<W> {
    pub fn new(to: W) -> io::Result<Writer<W>> {
        let mut writer = Writer { to, written: 0 };
        let mut section = Vec::new();
        section.extend(0x1a2b_3c4d_u32.to_le_bytes());
        section.extend([1, 0, 0, 0]);
        // Of unknown length.
        section.extend(u64::MAX.to_le_bytes());
        writer.block(0x0a0d_0d0a, &section)?;
        let mut interface = Vec::new();
        interface.extend(RAW.to_le_bytes());
        interface.extend([0; 2]);
        // Each packet says how long it was.
        interface.extend(0_u32.to_le_bytes());
        writer.block(1, &interface)?;
        Ok(writer)
    }

    /// `at`: microseconds since 1970; `whole`: how long the packet was of which this is the beginning.
    pub fn packet(&mut self, at: i64, content: &[u8], whole: usize) -> io::Result<()> {
        let length = u32::try_from(content.len()).map_err(io::Error::other)?;
        let whole = u32::try_from(whole).map_err(io::Error::other)?;
        let at = at.unsigned_abs();
        let mut block = Vec::with_capacity(content.len() + 24);
        block.extend(0_u32.to_le_bytes());
        block.extend(((at >> 32) as u32).to_le_bytes());
        block.extend((at as u32).to_le_bytes());
        block.extend(length.to_le_bytes());
        block.extend(whole.to_le_bytes());
        block.extend(content);
        block.resize(block.len().next_multiple_of(4), 0);
        self.block(6, &block)
    }

    /// Bytes so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    pub fn end(self) -> io::Result<W> {
        Ok(self.to)
    }

    fn block(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(body.len() + 12).map_err(io::Error::other)?.to_le_bytes();
        for part in [&kind.to_le_bytes()[..], &length, body, &length] {
            self.to.write_all(part)?;
            self.written += part.len() as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_tells_its_length_at_both_ends_and_packets_are_padded_to_words() {
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.packet(0x1_0000_0002, &[0x45, 2, 3, 4, 5], 900).unwrap();
        let written = writer.written();
        let file = writer.end().unwrap();
        assert_eq!(file.len() as u64, written);
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let (mut at, mut kinds) = (0, Vec::new());
        while at < file.len() {
            let length = word(at + 4) as usize;
            assert_eq!((length % 4, word(at + length - 4) as usize), (0, length));
            kinds.push(word(at));
            at += length;
        }
        assert_eq!(kinds, [0x0a0d_0d0a, 1, 6]);
        let packet = file.len() - 40;
        assert_eq!([word(packet + 12), word(packet + 16), word(packet + 20), word(packet + 24)], [1, 2, 5, 900]);
        assert_eq!(file[packet + 28..packet + 36], [0x45, 2, 3, 4, 5, 0, 0, 0]);
    }
}
