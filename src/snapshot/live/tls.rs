//! Handshakes with the clients of one vserver, counted.

use std::sync::atomic::AtomicU64;

/// Why handshakes fail: a closed list, for `failed_total`.
pub const TLS_FAILURES: [&str; 9] = [
    "timeout",
    "client_gone",
    "malformed",
    "nothing_in_common",
    "unknown_name",
    "client_certificate",
    "refused_by_client",
    "too_many",
    "internal",
];

/// Totals never fall.
#[derive(Debug, Default)]
pub struct TlsLive {
    /// Handshakes with all of their cryptography.
    pub full_total: AtomicU64,
    /// Handshakes that resumed a session.
    pub resumed_total: AtomicU64,
    /// By [`TLS_FAILURES`].
    pub failed_total: [AtomicU64; TLS_FAILURES.len()],
}
