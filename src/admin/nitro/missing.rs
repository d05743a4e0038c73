//! What clients asked for and this build does not have: the list from which it is decided what comes next.
//!
//! In memory, since the start; the first [`MOST`] different ones are kept, so that nobody can fill it up.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use parking_lot::Mutex;

use crate::admin::App;
use crate::admin::dto::Items;
use crate::admin::route::Route;
use crate::model::time::Wall;

const MOST: usize = 500;
const NAME_MAX: usize = 64;

dto! {
    /// A resource or an attribute of NITRO that was asked for and is not in this build.
    pub struct NitroMissingDto {
        /// `sslvserver`
        pub resource: String,
        /// An attribute of it; null: the resource itself.
        pub attribute: Option<String>,
        /// How it was asked for: `GET`, `POST`, `PUT` or `DELETE`, and `stat` for statistics.
        pub method: String,
        /// How often since the start.
        pub count: u64,
        /// When last.
        pub last: String,
    }
}

/// What was asked for in vain.
#[derive(Debug, Default)]
pub(in crate::admin) struct Missing(Mutex<BTreeMap<Wanted, Asked>>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted {
    resource: String,
    attribute: Option<String>,
    method: String,
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    count: u64,
    last: Wall,
}

pub(in crate::admin) fn route() -> Route {
    let about = "Resources and attributes of NITRO that clients asked for and this build does not have";
    Route::get("/api/v1/nitro/missing", about, list).answers::<Items<NitroMissingDto>>()
}

async fn list(State(app): State<App>) -> Json<Items<NitroMissingDto>> {
    Json(Items { items: app.0.nitro.missing.items() })
}

// === impl Missing ===

impl Missing {
    pub fn note(&self, now: Wall, method: &str, resource: &str, attribute: Option<&str>) {
        let (Some(resource), attribute) = (word(resource), attribute.map(word)) else { return };
        let attribute = match attribute {
            Some(None) => return,
            Some(attribute) => attribute,
            None => None,
        };
        let wanted = Wanted { resource, attribute, method: method.to_owned() };
        let mut kept = self.0.lock();
        if kept.len() >= MOST && !kept.contains_key(&wanted) {
            return;
        }
        let asked = kept.entry(wanted).or_insert(Asked { count: 0, last: now });
        asked.count += 1;
        asked.last = now;
    }

    fn items(&self) -> Vec<NitroMissingDto> {
        let kept = self.0.lock();
        let item = |(wanted, asked): (&Wanted, &Asked)| NitroMissingDto {
            resource: wanted.resource.clone(),
            attribute: wanted.attribute.clone(),
            method: wanted.method.clone(),
            count: asked.count,
            last: asked.last.to_string(),
        };
        kept.iter().map(item).collect()
    }
}

/// A name that could be NetScaler's; anything else is not worth keeping.
fn word(name: &str) -> Option<String> {
    let fits = (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    fits.then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_counted_and_the_list_is_bounded() {
        let missing = Missing::default();
        missing.note(Wall(1), "GET", "sslVserver", None);
        missing.note(Wall(2), "GET", "sslvserver", None);
        missing.note(Wall(3), "POST", "lbvserver", Some("listenpolicy"));
        missing.note(Wall(3), "GET", "<script>", None);
        let items = missing.items();
        let told: Vec<_> = items.iter().map(|i| (&i.resource[..], i.attribute.as_deref(), i.count)).collect();
        assert_eq!(told, [("lbvserver", Some("listenpolicy"), 1), ("sslvserver", None, 2)]);
        for at in 0..2 * MOST {
            missing.note(Wall(4), "GET", &format!("r{at}"), None);
        }
        assert_eq!(missing.items().len(), MOST);
    }
}
