//! Whom an answer is for.

use std::net::IpAddr;

use super::{Event, Transport};
use crate::model::time::Wall;

/// Whom an answer is for and how it travels.
pub struct Circumstances<'t> {
    /// Whose address decides: who asks, or the subnet that it asks for.
    pub client: IpAddr,
    /// Who asks.
    pub peer: IpAddr,
    pub transport: Transport,
    /// Fresh random bits for weighted answers.
    pub entropy: u64,
    pub now: Wall,
    /// Told what happens, and then nothing moves: turns of `round_robin` stay as they are.
    pub(in crate::dataplane::dns) trace: Option<&'t mut dyn FnMut(Event<'_>)>,
}

// === impl Circumstances ===

impl Circumstances<'_> {
    pub fn new(peer: IpAddr, transport: Transport, entropy: u64, now: Wall) -> Circumstances<'static> {
        Circumstances { client: peer, peer, transport, entropy, now, trace: None }
    }
}
