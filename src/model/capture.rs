//! Captures of packets, and whatever else is written beside what the appliance lives on.

/// Nothing of that begins or goes on where the disk has less than this left. Bytes.
pub const KEEP_FREE: u64 = 128 << 20;

/// Where captures and archives lie in the state directory. No part of the state: a backup leaves them out.
pub const TRACES: &str = "traces";
pub const ARCHIVES: &str = "support";

/// How a capture says that it has begun, before anything else that it says.
pub const BEGUN: &str = "tracing for ";
