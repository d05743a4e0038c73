//! Counters that somebody cleared: `stat … -clearstats` in the shell and by NITRO, `clear ns stats`.
//!
//! Nothing is set back. What an object had counted at that moment is kept here and taken off wherever the counters are
//! asked for as `stat` shows them; `/metrics`, the history and `/api/v1/stats` count on. What is kept is forgotten with
//! the object, and with the process, whose counters begin at 0 too.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::control::World;
use crate::model::id::{ServiceId, VserverId};
use crate::model::time::Wall;
use crate::snapshot::live::{ServiceLive, Stats, VserverLive};

/// Resources whose counters are of the whole appliance, in NITRO's words.
pub(super) const WHOLE: [&str; 6] = ["ns", "protocolhttp", "protocoltcp", "protocolip", "ssl", "interface"];

#[derive(Default)]
pub(super) struct Cleared(Mutex<Kept>);

/// Objects are known by where their counters are: a name may go to another object.
#[derive(Default)]
struct Kept {
    vservers: HashMap<usize, Mark<VserverLive>>,
    services: HashMap<usize, Mark<ServiceLive>>,
    /// By resource and key.
    whole: HashMap<(&'static str, String), Map<String, Value>>,
}

struct Mark<T> {
    /// Keeps the place from being used again.
    of: Weak<T>,
    at: Wall,
    was: Stats,
}

// === impl Cleared ===

impl Cleared {
    /// Counters of a vserver since they were cleared, and when that was.
    pub fn vserver(&self, world: &World<'_>, id: VserverId) -> (Stats, Option<Wall>) {
        // A snapshot of another model says nothing of these positions.
        let Some(entry) = world.snapshot.vservers.get(id.index()) else { return (Stats::default(), None) };
        since(Stats::of_vserver(world.snapshot, id, world.now.tick), self.0.lock().vservers.get(&place(&entry.live)))
    }

    /// The same of a service, or of a member of a group.
    pub fn service(&self, world: &World<'_>, id: ServiceId) -> (Stats, Option<Wall>) {
        let Some(entry) = world.snapshot.services.get(id.index()) else { return (Stats::default(), None) };
        since(Stats::of_service(world.snapshot, id, world.now.tick), self.0.lock().services.get(&place(&entry.live)))
    }

    pub fn clear_vserver(&self, world: &World<'_>, id: VserverId) {
        let Some(entry) = world.snapshot.vservers.get(id.index()) else { return };
        let was = Stats::of_vserver(world.snapshot, id, world.now.tick);
        mark(&mut self.0.lock().vservers, &entry.live, world.now.wall, was);
    }

    pub fn clear_service(&self, world: &World<'_>, id: ServiceId) {
        let Some(entry) = world.snapshot.services.get(id.index()) else { return };
        let was = Stats::of_service(world.snapshot, id, world.now.tick);
        mark(&mut self.0.lock().services, &entry.live, world.now.wall, was);
    }

    /// Takes off what one of [`WHOLE`] had counted when it was cleared. `key`: which of several.
    pub fn take_off(&self, resource: &str, key: &str, object: &mut Map<String, Value>) {
        let Some(resource) = WHOLE.into_iter().find(|known| *known == resource) else { return };
        let kept = self.0.lock();
        let Some(was) = kept.whole.get(&(resource, key.to_owned())) else { return };
        for (key, value) in object.iter_mut().filter(|(key, _)| is_counter(key)) {
            if let (Some(now), Some(was)) = (number(value), was.get(key).and_then(number)) {
                *value = now.saturating_sub(was).to_string().into();
            }
        }
    }

    /// `object`: as it is counted, with nothing taken off.
    pub fn clear_whole(&self, resource: &str, key: &str, object: Map<String, Value>) {
        if let Some(resource) = WHOLE.into_iter().find(|known| *known == resource) {
            self.0.lock().whole.insert((resource, key.to_owned()), object);
        }
    }
}

fn place<T>(live: &Arc<T>) -> usize {
    Arc::as_ptr(live) as usize
}

fn since<T>(stats: Stats, mark: Option<&Mark<T>>) -> (Stats, Option<Wall>) {
    match mark {
        Some(mark) => (stats.since(&mark.was), Some(mark.at)),
        None => (stats, None),
    }
}

fn mark<T>(marks: &mut HashMap<usize, Mark<T>>, live: &Arc<T>, at: Wall, was: Stats) {
    marks.retain(|_, mark| mark.of.strong_count() > 0);
    marks.insert(place(live), Mark { of: Arc::downgrade(live), at, was });
}

/// NITRO writes what only grows as a text, and names it a total or an error.
fn is_counter(key: &str) -> bool {
    key.contains("tot") || key.contains("err")
}

fn number(value: &Value) -> Option<u64> {
    value.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn totals_of_the_appliance_begin_again_and_what_stands_now_does_not() {
        let object = |requests: &str, connections: &str| match json!({
            "httptotrequests": requests, "httprequestsrate": 5, "tcpcurclientconn": connections, "httperrs": "0",
        }) {
            Value::Object(object) => object,
            _ => Map::new(),
        };
        let cleared = Cleared::default();
        cleared.clear_whole("ns", "", object("40", "3"));
        let mut shown = object("42", "4");
        cleared.take_off("ns", "", &mut shown);
        assert_eq!(shown, object("2", "4"));
        let mut other = object("42", "4");
        cleared.take_off("protocolhttp", "", &mut other);
        assert_eq!(other, object("42", "4"));
        // Objects that are gone are not counted any more.
        let mut less = object("39", "4");
        cleared.take_off("ns", "", &mut less);
        assert_eq!(less["httptotrequests"], "0");
    }

    #[test]
    fn marks_of_objects_that_are_gone_are_forgotten() {
        let mut marks = HashMap::new();
        let (one, two) = (Arc::new(1), Arc::new(2));
        mark(&mut marks, &one, Wall(0), Stats::default());
        drop(one);
        mark(&mut marks, &two, Wall(0), Stats::default());
        assert_eq!(marks.len(), 1);
    }
}
