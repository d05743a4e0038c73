//! What a client may make an HTTP/2 connection do for nothing.
//!
//! Some frames cost the one who gets them work and the sender nothing, and no flow control holds them back: PING and
//! SETTINGS ask for an answer, RST_STREAM throws away what was begun, PRIORITY, empty DATA and unknown types do nothing at
//! all, and WINDOW_UPDATE may give way byte by byte. Each
//! kind draws on a bucket that refills over time; who empties one is cut off (ENHANCE_YOUR_CALM). The meter reads the
//! nine bytes before each frame and skips the rest. It also sees to it that SETTINGS come first (RFC 9113 §3.4), which the
//! frame layer behind does not.

use std::time::Duration;

/// RST_STREAM at once, and per second: a browser that leaves a page resets all of its streams.
const RESETS: Bucket = Bucket::new(400, 40);
/// PING, SETTINGS, PRIORITY, empty DATA and unknown types at once, and per second: a gRPC client sends a PING a round trip.
const CHATTER: Bucket = Bucket::new(2000, 500);

/// WINDOW_UPDATE at once, and per second: one for each frame of 16 KiB is more than a gigabyte a second.
const WINDOWS: Bucket = Bucket::new(100_000, 100_000);

const HEAD_BYTES: usize = 9;

const DATA: u8 = 0;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
/// The last that RFC 9113 knows.
const CONTINUATION: u8 = 9;
const FLAG_END_STREAM: u8 = 1;

/// Reads the frames that a client sends.
#[derive(Debug)]
pub struct Meter {
    /// Bytes of the preface still to come.
    preface: usize,
    head: [u8; HEAD_BYTES],
    /// Bytes of `head` that are there.
    filled: usize,
    /// Bytes of the current frame's payload still to come.
    payload: usize,
    resets: Bucket,
    chatter: Bucket,
    windows: Bucket,
    /// No frame was read yet.
    first: bool,
}

/// Why the client is to be cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It went over one of the bounds.
    Flood(&'static str),
    /// It did not begin with SETTINGS.
    NoSettings,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    most: u64,
    per_s: u64,
    /// In thousandths.
    level: u64,
    at: Duration,
}

// === impl Meter ===

impl Meter {
    pub fn new() -> Meter {
        Meter {
            preface: super::http2::PREFACE.len(),
            head: [0; HEAD_BYTES],
            filled: 0,
            payload: 0,
            resets: RESETS,
            chatter: CHATTER,
            windows: WINDOWS,
            first: true,
        }
    }

    /// The next bytes of the connection, `now` after it began.
    pub fn read(&mut self, mut bytes: &[u8], now: Duration) -> Result<(), Fault> {
        let skipped = self.preface.min(bytes.len());
        self.preface -= skipped;
        bytes = &bytes[skipped..];
        while !bytes.is_empty() {
            let skipped = self.payload.min(bytes.len());
            self.payload -= skipped;
            bytes = &bytes[skipped..];
            let taken = (HEAD_BYTES - self.filled).min(bytes.len());
            self.head[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
            self.filled += taken;
            bytes = &bytes[taken..];
            if self.filled == HEAD_BYTES {
                self.filled = 0;
                self.frame(now)?;
            }
        }
        Ok(())
    }

    fn frame(&mut self, now: Duration) -> Result<(), Fault> {
        let [a, b, c, kind, flags, ..] = self.head;
        self.payload = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
        if std::mem::take(&mut self.first) && kind != SETTINGS {
            return Err(Fault::NoSettings);
        }
        match kind {
            RST_STREAM if !self.resets.take(now) => Err(Fault::Flood("streams reset too often")),
            PING | SETTINGS | PRIORITY if !self.chatter.take(now) => Err(Fault::Flood("too many control frames")),
            CONTINUATION.. if kind > CONTINUATION && !self.chatter.take(now) => {
                Err(Fault::Flood("too many frames of unknown types"))
            }
            WINDOW_UPDATE if !self.windows.take(now) => Err(Fault::Flood("too many updates of windows")),
            DATA if self.payload == 0 && flags & FLAG_END_STREAM == 0 && !self.chatter.take(now) => {
                Err(Fault::Flood("too many empty frames"))
            }
            _ => Ok(()),
        }
    }
}

impl Default for Meter {
    fn default() -> Meter {
        Meter::new()
    }
}

// === impl Bucket ===

impl Bucket {
    const fn new(most: u64, per_s: u64) -> Bucket {
        Bucket { most: most * 1000, per_s, level: most * 1000, at: Duration::ZERO }
    }

    fn take(&mut self, now: Duration) -> bool {
        let passed = u64::try_from(now.saturating_sub(self.at).as_millis()).unwrap_or(u64::MAX);
        if passed > 0 {
            self.level = self.level.saturating_add(passed.saturating_mul(self.per_s)).min(self.most);
            self.at = now;
        }
        let taken = self.level.checked_sub(1000);
        self.level = taken.unwrap_or(self.level);
        taken.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::http2::PREFACE;
    use super::*;

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags], &[0, 0, 0, 1], payload].concat()
    }

    fn begin(meter: &mut Meter) {
        meter.read(PREFACE, Duration::ZERO).unwrap();
        meter.read(&frame(SETTINGS, 0, &[]), Duration::ZERO).unwrap();
        *meter = Meter { chatter: CHATTER, ..*meter };
    }

    #[test]
    fn what_does_not_begin_with_settings_is_cut_off() {
        for (kind, read) in [(PING, Err(Fault::NoSettings)), (1, Err(Fault::NoSettings)), (SETTINGS, Ok(()))] {
            let mut meter = Meter::new();
            assert_eq!(meter.read(&[PREFACE, &frame(kind, 0, &[])].concat(), Duration::ZERO), read);
        }
    }

    /// How many of these frames pass at one moment.
    fn passes(frame: &[u8]) -> usize {
        let mut meter = Meter::new();
        begin(&mut meter);
        (0..1_000_000).take_while(|_| meter.read(frame, Duration::ZERO).is_ok()).count()
    }

    #[test]
    fn each_kind_that_costs_its_sender_nothing_is_bounded() {
        assert_eq!(passes(&frame(RST_STREAM, 0, &[0; 4])), 400);
        assert_eq!(passes(&frame(PING, 0, &[0; 8])), 2000);
        assert_eq!(passes(&frame(SETTINGS, 0, &[])), 2000);
        assert_eq!(passes(&frame(PRIORITY, 0, &[0; 5])), 2000);
        assert_eq!(passes(&frame(DATA, 0, &[])), 2000);
        assert_eq!(passes(&frame(10, 0, b"x")), 2000);
        assert_eq!(passes(&frame(255, 0, &[])), 2000);
        assert_eq!(passes(&frame(WINDOW_UPDATE, 0, &[0, 0, 0, 1])), 100_000);
    }

    #[test]
    fn frames_that_carry_something_are_not() {
        for frame in [frame(DATA, 0, b"x"), frame(DATA, 1, b""), frame(1, 4, b"head"), frame(CONTINUATION, 4, b"head")]
        {
            assert_eq!(passes(&frame), 1_000_000);
        }
    }

    #[test]
    fn a_bound_refills_with_time() {
        let reset = frame(RST_STREAM, 0, &[0; 4]);
        for (after, more) in [(0, 0), (1, 40), (3, 120), (10, 400), (100, 400)] {
            let mut meter = Meter::new();
            begin(&mut meter);
            for _ in 0..400 {
                meter.read(&reset, Duration::ZERO).unwrap();
            }
            for _ in 0..more {
                meter.read(&reset, Duration::from_secs(after)).unwrap();
            }
            assert!(meter.read(&reset, Duration::from_secs(after)).is_err(), "{after}");
        }
    }

    #[test]
    fn it_does_not_matter_how_the_bytes_are_cut() {
        let ping = frame(PING, 0, &[6; 8]);
        let stream = [
            PREFACE,
            &frame(SETTINGS, 0, &[1; 6]),
            &frame(DATA, 0, &[3; 70]),
            &ping.repeat(1999),
            &frame(RST_STREAM, 0, &[0; 4]),
        ]
        .concat();
        for size in [1, 2, 8, 9, 10, 23, 24, 25, 1000] {
            let mut meter = Meter::new();
            for bytes in stream.chunks(size) {
                meter.read(bytes, Duration::ZERO).unwrap();
            }
            let over = ping.chunks(size).try_for_each(|bytes| meter.read(bytes, Duration::ZERO));
            assert_eq!(over, Err(Fault::Flood("too many control frames")), "{size}");
        }
    }
}
