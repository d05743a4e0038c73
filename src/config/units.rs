//! Durations, sizes and rates as people write them.

use std::time::Duration;

pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let _ = text;
    todo!()
}

pub fn format_duration(duration: Duration) -> String {
    let _ = duration;
    todo!()
}

/// Bytes.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let _ = text;
    todo!()
}

pub fn format_size(bytes: u64) -> String {
    let _ = bytes;
    todo!()
}

/// Bits per second.
pub fn parse_rate(text: &str) -> Result<u64, String> {
    let _ = text;
    todo!()
}
