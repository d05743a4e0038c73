//! What is looked at, again and again.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::super::client::{Client, Failure};
use crate::admin::dto::Items;

#[derive(Deserialize)]
pub(super) struct Status {
    pub name: String,
    pub now: String,
    pub config: Config,
    pub problems: Vec<Problem>,
}

#[derive(Deserialize)]
pub(super) struct Config {
    pub unsaved: bool,
}

#[derive(Deserialize)]
pub(super) struct Problem {
    pub severity: String,
    pub kind: String,
    pub object: String,
    pub text: String,
}

#[derive(Deserialize)]
pub(super) struct Vserver {
    pub name: String,
    pub state: String,
    pub effective_state: String,
    pub health: u8,
    pub new_clients: String,
    pub active_backup: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Service {
    pub name: String,
    pub state: String,
    pub active: u32,
    pub drain: Option<Drain>,
    pub forced: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Drain {
    pub kind: String,
    pub remaining: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Statistics {
    pub name: String,
    pub requests: Flow,
    pub client_connections: u32,
    pub server_connections: u32,
    pub surge_count: u32,
    pub times: Vec<Times>,
}

#[derive(Deserialize)]
pub(super) struct Flow {
    pub rate: u64,
}

#[derive(Deserialize)]
pub(super) struct Times {
    pub part: String,
    pub p50_ms: f64,
    pub p99_ms: f64,
}

/// One look.
pub(super) struct Seen {
    pub status: Status,
    pub vservers: Vec<Vserver>,
    pub services: Vec<Service>,
    pub of_vservers: Vec<Statistics>,
    pub of_services: Vec<Statistics>,
}

pub(super) async fn look(client: &Client) -> Result<Seen, Failure> {
    async fn list<T: DeserializeOwned>(client: &Client, path: &str) -> Result<Vec<T>, Failure> {
        client.get::<Items<T>>(&format!("/api/v1/{path}")).await.map(|list| list.items)
    }
    Ok(Seen {
        status: client.get("/api/v1/status").await?,
        vservers: list(client, "vservers").await?,
        services: list(client, "services").await?,
        of_vservers: list(client, "stats/vservers").await?,
        of_services: list(client, "stats/services").await?,
    })
}

// === impl Seen ===

impl Seen {
    /// Requests per second of a vserver.
    pub fn rate_of_vserver(&self, name: &str) -> u64 {
        rate(&self.of_vservers, name)
    }

    /// Requests per second of a service.
    pub fn rate_of_service(&self, name: &str) -> u64 {
        rate(&self.of_services, name)
    }
}

fn rate(of: &[Statistics], name: &str) -> u64 {
    of.iter().find(|s| s.name == name).map_or(0, |s| s.requests.rate)
}
