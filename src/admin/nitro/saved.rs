//! `nsrunningconfig` and `nssavedconfig`: the configuration as lines of an `ns.conf`, what runs and what FILE says.

use serde_json::Value;

use super::answer::{Fault, Object};
use super::config;
use super::live::put;
use super::stat::Found;
use crate::admin::App;
use crate::control::World;
use crate::model::state::OverrideValue;
use crate::netscaler::document::Document;
use crate::netscaler::export::{Disabled, lines, lines_of_running};

pub(super) const NAMES: [&str; 2] = ["nsrunningconfig", "nssavedconfig"];

/// Whether a resource is one of them, and so for those alone who may change the configuration: secrets stand in it.
pub(super) fn is_one(resource: &str) -> bool {
    NAMES.iter().any(|name| name.eq_ignore_ascii_case(resource))
}

/// `resource` in lower case; `None`: another one.
pub(super) fn read(app: &App, world: &World<'_>, resource: &str) -> Option<Result<Found, Fault>> {
    let version = env!("CARGO_PKG_VERSION");
    let text = match resource {
        "nsrunningconfig" => {
            config::document(app, world).map(|document| lines_of_running(&document, version, &disabled(world)))
        }
        "nssavedconfig" => saved(app, world, version),
        _ => return None,
    };
    Some(text.map(|text| {
        let mut object = Object::new();
        put(&mut object, "response", &text[..]);
        Found { objects: vec![object], single: true }
    }))
}

/// What people have disabled, which a saved file of NetScaler's says.
fn disabled(world: &World<'_>) -> Disabled {
    let all = world.view.overrides.iter().filter(|(_, set)| matches!(set.value, OverrideValue::Disabled { .. }));
    all.map(|(key, _)| (key.object.kind.word().to_owned(), key.object.name.to_string())).collect()
}

fn saved(app: &App, world: &World<'_>, version: &str) -> Result<String, Fault> {
    if !world.config.unsaved {
        return Ok(lines(&*config::document(app, world)?, version));
    }
    let refused = |why: String| Fault::new(257, format!("nssavedconfig: {why}"));
    let path = world.config.path.as_deref().ok_or_else(|| refused("nothing is saved: there is no file".into()))?;
    let text = std::fs::read_to_string(path).map_err(|error| refused(format!("{}: {error}", path.display())))?;
    let document = Document::from_toml(&text).map_err(refused)?;
    if document.root().get("include").is_some_and(|include| *include != Value::Array(Vec::new())) {
        return Err(refused("it stands in several files: save, or look at them".into()));
    }
    Ok(lines(&document, version))
}
