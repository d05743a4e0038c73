//! Authoritative DNS: [`wire`] reads queries and writes messages, [`mod@answer`] turns a query and a snapshot into a reply,
//! [`serve`] carries both over UDP and TCP, [`mod@explain`] says why an answer is what it is.
//!
//! The answer to a name that scenarios steer is decided at the query, from the published state in the snapshot
//! (`balance::records`), so a transition reaches the next query without any zone being rebuilt.

use std::time::{SystemTime, UNIX_EPOCH};

pub mod answer;
mod cookie;
pub mod explain;
mod notified;
mod notify;
pub mod secondary;
pub mod serve;
pub mod transfer;
pub mod tsig;
mod turns;
pub mod wire;

pub use answer::{Outcome, Transport, answer};
pub use explain::{Explanation, Step, explain};
pub use serve::DnsServer;

/// The clock that signatures are dated by. Unix seconds.
fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
