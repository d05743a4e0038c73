//! A look at the world that is taken along. Reading between two steps holds the one writer up, so what takes long (all
//! services, the metrics) copies the state, which is cheap, and is written elsewhere.

use std::sync::Arc;

use super::App;
use super::problem::Problem;
use crate::config::Source;
use crate::control::{ConfigStatus, RunStatus, World};
use crate::model::Model;
use crate::model::alert::AlertBook;
use crate::model::delivery::{DeliveryBook, QueryBook};
use crate::model::drill::DrillBook;
use crate::model::lookup::{KnownNames, Membership};
use crate::model::peer::PeerBook;
use crate::model::state::StateView;
use crate::model::time::Now;
use crate::snapshot::Snapshot;

/// Everything that a [`World`] shows, owned.
pub(super) struct Look {
    now: Now,
    model: Arc<Model>,
    view: StateView,
    names: KnownNames,
    membership: Membership,
    config: ConfigStatus,
    sources: Vec<Source>,
    snapshot: Arc<Snapshot>,
    status: RunStatus,
    peers: Arc<PeerBook>,
    deliveries: Arc<DeliveryBook>,
    queries: QueryBook,
    alerts: Arc<AlertBook>,
    drills: Arc<DrillBook>,
}

// === impl Look ===

impl Look {
    pub fn world(&self) -> World<'_> {
        World {
            now: self.now,
            model: &self.model,
            view: &self.view,
            names: &self.names,
            membership: &self.membership,
            config: &self.config,
            sources: &self.sources,
            snapshot: &self.snapshot,
            status: &self.status,
            peers: &self.peers,
            deliveries: &self.deliveries,
            queries: &self.queries,
            alerts: &self.alerts,
            drills: &self.drills,
        }
    }
}

// === impl App ===

impl App {
    /// State and published snapshot of one model.
    pub(super) async fn look(&self) -> Result<Look, Problem> {
        // They are read one after the other; between them a new configuration may come.
        for _ in 0..3 {
            let look = |world: &World<'_>| {
                (
                    world.now,
                    Arc::clone(world.model),
                    world.view.clone(),
                    (world.names.clone(), world.membership.clone()),
                    world.config.clone(),
                    world.sources.to_vec(),
                    world.status.clone(),
                    (Arc::clone(world.deliveries), world.queries.clone(), Arc::clone(world.alerts)),
                    (Arc::clone(world.peers), Arc::clone(world.drills)),
                )
            };
            let (now, model, view, (names, membership), config, sources, status, books, (peers, drills)) =
                self.read(look).await?;
            let (deliveries, queries, alerts) = books;
            let snapshot = self.handle().snapshot();
            if Arc::ptr_eq(&snapshot.model, &model) {
                return Ok(Look {
                    now,
                    model,
                    view,
                    names,
                    membership,
                    config,
                    sources,
                    snapshot,
                    status,
                    peers,
                    deliveries,
                    queries,
                    alerts,
                    drills,
                });
            }
        }
        Err(Problem::busy("the configuration is changing; try again"))
    }

    /// Looks at a copy of the world, on a thread where it may take its time.
    pub(super) async fn study<T: Send + 'static>(
        &self,
        look: impl FnOnce(&World<'_>) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let taken = self.look().await?;
        let studied = tokio::task::spawn_blocking(move || look(&taken.world()));
        studied.await.map_err(|_| Problem::busy("the look was cut short; try again"))
    }
}
