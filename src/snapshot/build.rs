//! (Model, StateView) → Snapshot.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use super::Snapshot;
use super::live::Registry;
use super::zones::ZoneIndex;
use crate::model::Model;
use crate::model::id::Name;
use crate::model::state::StateView;

/// What a snapshot is made of.
pub struct Parts<'a> {
    pub generation: u64,
    pub model: &'a Arc<Model>,
    pub view: &'a StateView,
    pub registry: &'a mut Registry,
    pub zones: &'a Arc<ZoneIndex>,
    /// Addresses of server names that resolve, by name.
    pub resolved: &'a HashMap<Name, IpAddr>,
    /// For `last_good`; the one published before.
    pub previous: Option<&'a Snapshot>,
    /// Durable states, where they lag behind the view; by `ScenarioId`.
    pub scenario_active: Vec<bool>,
    pub ready: bool,
}

pub fn build(parts: Parts<'_>) -> Snapshot {
    let _ = parts.generation;
    todo!()
}
