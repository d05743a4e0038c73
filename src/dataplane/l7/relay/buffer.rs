//! Buffers that are borrowed while there is something to put in them: an idle connection holds none, and one that waits
//! only that in which something stands. What was given back last is taken first, so that a few that stay in the cache
//! carry everything.

use std::cell::RefCell;

/// Bytes of a buffer; one read at most.
pub(super) const BUFFER_BYTES: usize = 16 * 1024;
/// Bytes of a buffer for a body that does not fit into the usual ones.
pub(super) const BULK_BYTES: usize = 64 * 1024;

/// Spare buffers of each size that a thread keeps.
const SPARE_MAX: usize = 128;
const SPARE_BULK_MAX: usize = 8;

thread_local! {
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    static SPARE_BULK: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Bytes that were read or are to be written, in a place that goes back to its thread's spares when dropped.
pub(super) struct Buffer {
    /// Always of its whole length, so that it can be read into; none where it is [`none`](Buffer::none).
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

// === impl Buffer ===

impl Buffer {
    pub fn new() -> Buffer {
        let spare = SPARE.with_borrow_mut(Vec::pop);
        Buffer { bytes: spare.unwrap_or_else(|| vec![0; BUFFER_BYTES]), start: 0, end: 0 }
    }

    /// Without a place; borrows one for the first byte that is put.
    pub const fn none() -> Buffer {
        Buffer { bytes: Vec::new(), start: 0, end: 0 }
    }

    /// Gives its place back where nothing stands there any more.
    pub fn rest(&mut self) {
        if self.is_empty() && !self.bytes.is_empty() {
            *self = Buffer::none();
        }
    }

    pub fn bulk() -> Buffer {
        let spare = SPARE_BULK.with_borrow_mut(Vec::pop);
        Buffer { bytes: spare.unwrap_or_else(|| vec![0; BULK_BYTES]), start: 0, end: 0 }
    }

    pub fn data(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    pub fn data_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.end]
    }

    pub fn len(&self) -> usize {
        self.end - self.start
    }

    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    pub fn is_bulk(&self) -> bool {
        self.bytes.len() >= BULK_BYTES
    }

    /// Leaves out the first `count` bytes.
    pub fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Makes room for reads without a move where there is some, and by moving what is there otherwise. The room may be
    /// nothing.
    pub fn room(&mut self) -> &mut [u8] {
        if self.end == self.bytes.len() && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        &mut self.bytes[self.end..]
    }

    /// `count` bytes were read into the room.
    pub fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.bytes.len());
    }

    /// Makes it as large as `bytes`, for a head that does not fit.
    pub fn grow(&mut self, bytes: usize) {
        if self.bytes.len() < bytes {
            self.bytes.resize(bytes, 0);
        }
    }

    /// Appends, growing where needed: for what we write ourselves, which is bounded by what was read.
    pub fn put(&mut self, data: &[u8]) {
        self.append(data.len()).copy_from_slice(data);
    }

    /// The same for a line of a field.
    pub fn put_field(&mut self, name: &[u8], value: &[u8]) {
        let (name_to, value_to) = self.append(name.len() + value.len() + 4).split_at_mut(name.len());
        name_to.copy_from_slice(name);
        let (colon, value_to) = value_to.split_at_mut(2);
        colon.copy_from_slice(b": ");
        let (value_to, end) = value_to.split_at_mut(value.len());
        value_to.copy_from_slice(value);
        end.copy_from_slice(b"\r\n");
    }

    /// The place of `count` more bytes.
    fn append(&mut self, count: usize) -> &mut [u8] {
        if self.bytes.is_empty() {
            *self = Buffer::new();
        }
        let (begin, end) = (self.end, self.end + count);
        if end > self.bytes.len() {
            self.bytes.resize(end.next_power_of_two(), 0);
        }
        self.end = end;
        &mut self.bytes[begin..end]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        let (spares, most) = match bytes.len() {
            BUFFER_BYTES => (&SPARE, SPARE_MAX),
            BULK_BYTES => (&SPARE_BULK, SPARE_BULK_MAX),
            // Grown for one message.
            _ => return,
        };
        // Fails only while the thread ends.
        let _ = spares.try_with(|spares| {
            let mut spares = spares.borrow_mut();
            if spares.len() < most {
                spares.push(bytes);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_moves_to_the_front_only_where_the_room_is_used_up() {
        let mut buffer = Buffer::new();
        buffer.put(&[7; BUFFER_BYTES]);
        assert!(buffer.room().is_empty());
        buffer.consume(BUFFER_BYTES - 3);
        assert_eq!(buffer.room().len(), BUFFER_BYTES - 3);
        assert_eq!(buffer.data(), [7; 3]);
        buffer.consume(3);
        assert_eq!(buffer.room().len(), BUFFER_BYTES);
    }

    #[test]
    fn a_place_is_borrowed_with_the_first_byte_and_given_back_after_the_last() {
        SPARE.with_borrow_mut(Vec::clear);
        let mut buffer = Buffer::none();
        assert!(buffer.is_empty() && buffer.room().is_empty());
        buffer.put_field(b"A", b"b");
        buffer.put(b"\r\n");
        buffer.consume(3);
        buffer.rest();
        assert_eq!((buffer.data(), SPARE.with_borrow(Vec::len)), (&b"b\r\n\r\n"[..], 0));
        buffer.consume(5);
        buffer.rest();
        buffer.rest();
        assert_eq!((buffer.len(), SPARE.with_borrow(Vec::len)), (0, 1));
        drop(buffer);
        assert_eq!(SPARE.with_borrow(Vec::len), 1);
    }

    #[test]
    fn a_buffer_goes_back_to_the_spares_unless_it_was_grown() {
        SPARE.with_borrow_mut(Vec::clear);
        let mut grown = Buffer::new();
        grown.grow(3 * BUFFER_BYTES);
        drop(grown);
        assert_eq!(SPARE.with_borrow(Vec::len), 0);
        drop(Buffer::new());
        assert_eq!(SPARE.with_borrow(Vec::len), 1);
    }
}
