//! Failures of the world: whose side, and whether trying again can help.

use std::sync::Arc;

/// An error that neither the operator's text nor a declined request explains.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{side}: {what}")]
pub struct Fault {
    pub side: Side,
    /// In words, with the name of the object and the address concerned.
    pub what: Arc<str>,
    /// Whether the same attempt may succeed later.
    pub retry: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// A client of ours.
    Client,
    /// A server behind us.
    Server,
    /// This machine: disk, sockets, permissions.
    Local,
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Side::Client => "client",
            Side::Server => "server",
            Side::Local => "this machine",
        })
    }
}
