//! How far each destination of the journal has come: a small file beside the database, so that neither waits for the
//! other. Written after what it tells has arrived; one that is too old only means that entries go twice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::model::id::Name;

const FILE: &str = "shipped.json";

/// An entry of the journal: the last that a destination has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// 0: before the first.
    pub number: u64,
    /// Its hash: an entry with this number and another hash is of another journal.
    pub hash: String,
}

#[derive(Debug, Default)]
pub struct Places {
    /// `None`: nothing is kept.
    path: Option<PathBuf>,
    known: Mutex<BTreeMap<Name, Place>>,
}

// === impl Places ===

impl Places {
    /// Those of a state directory. A file that cannot be read counts as none: everything goes again.
    pub fn of(dir: &Path) -> Places {
        let path = dir.join(FILE);
        let known = match std::fs::read_to_string(&path) {
            Ok(text) => read(&text).unwrap_or_else(|| {
                tracing::error!(path = %path.display(), "damaged: the journal is shipped anew from its beginning");
                BTreeMap::new()
            }),
            Err(_) => BTreeMap::new(),
        };
        Places { path: Some(path), known: Mutex::new(known) }
    }

    pub fn get(&self, name: &Name) -> Place {
        self.known.lock().get(name).cloned().unwrap_or_default()
    }

    /// Errors: in words; the place is kept in memory all the same.
    pub fn set(&self, name: &Name, place: Place) -> Result<(), String> {
        let mut known = self.known.lock();
        known.insert(Name::clone(name), place);
        let Some(path) = &self.path else { return Ok(()) };
        let all: serde_json::Map<String, Value> = known
            .iter()
            .map(|(name, place)| (name.to_string(), json!({ "number": place.number, "hash": place.hash })))
            .collect();
        let beside = path.with_extension("json.new");
        std::fs::write(&beside, Value::Object(all).to_string())
            .and_then(|()| std::fs::rename(&beside, path))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}

fn read(text: &str) -> Option<BTreeMap<Name, Place>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let of = |(name, place): (&String, &Value)| {
        let place = Place { number: place["number"].as_u64()?, hash: place["hash"].as_str()?.to_owned() };
        Some((name.as_str().into(), place))
    };
    value.as_object()?.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_outlives_the_process_and_a_damaged_file_costs_only_repetition() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { number: 7, hash: "ab".into() };
        Places::of(dir.path()).set(&"siem".into(), place.clone()).unwrap();
        assert_eq!(Places::of(dir.path()).get(&"siem".into()), place);
        assert_eq!(Places::of(dir.path()).get(&"other".into()), Place::default());
        std::fs::write(dir.path().join(FILE), "{").unwrap();
        assert_eq!(Places::of(dir.path()).get(&"siem".into()), Place::default());
    }
}
