//! Open client connections.

use super::text;
use crate::snapshot::Snapshot;
use crate::snapshot::live::Connection;

dto! {
    /// An open connection of a client, or a session of datagrams.
    pub struct ConnectionDto {
        /// For DELETE; unique until the process ends.
        pub id: u64,
        pub client: String,
        pub vserver: String,
        /// As of the vserver.
        pub r#type: String,
        pub tls: bool,
        /// How long it has been open.
        pub age: String,
        /// Who serves it, or served its last request.
        pub service: Option<String>,
        /// Requests so far (HTTP).
        pub requests: u32,
        pub bytes_in: u64,
        pub bytes_out: u64,
        /// `active`: a request is under way; L4: always.
        pub state: String,
    }
}

// === impl ConnectionDto ===

impl ConnectionDto {
    pub fn of(snapshot: &Snapshot, connection: &Connection, now: std::time::Instant) -> ConnectionDto {
        use std::sync::atomic::Ordering::Relaxed;
        let protocol = snapshot.model.vserver_id(&connection.vserver).map(|id| snapshot.model.vserver(id).protocol);
        let age = now.saturating_duration_since(connection.since);
        ConnectionDto {
            id: connection.id,
            client: connection.client().to_string(),
            vserver: text(&connection.vserver),
            r#type: protocol.map_or_else(String::new, |protocol| text(protocol.word())),
            tls: connection.is_tls(),
            age: crate::config::units::format_duration(std::time::Duration::from_secs(age.as_secs())),
            service: connection.member().map(|member| text(&member.service)),
            requests: connection.requests(),
            bytes_in: connection.bytes_in.load(Relaxed),
            bytes_out: connection.bytes_out.load(Relaxed),
            state: text(if connection.is_idle() { "idle" } else { "active" }),
        }
    }
}
