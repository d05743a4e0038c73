//! `clear ns config`: what goes at which level, and what is never cleared from here.

use serde_json::{Map, Value};

use super::Document;
use crate::netscaler::error::NsError;
use crate::netscaler::value::{is_true, text_of};

/// Of the appliance itself; stays at every level.
const OF_THE_BOX: &[&str] = &["schema", "appliance", "admin", "journal", "network", "time", "peer_link", "peer", "dns"];
/// Stays at the level `basic`.
const SETTINGS: &[&str] = &["features", "log", "resolver", "monitors", "defaults", "drills"];

impl Document {
    /// Needs `force`: NetScaler asks a person, and nobody can be asked here.
    pub(super) fn clear(&mut self, arguments: &Map<String, Value>) -> Result<(), NsError> {
        if let Some(unknown) = arguments.keys().find(|key| !["force", "level"].contains(&&key[..])) {
            return Err(NsError::with(257, &[unknown]).because("not available here"));
        }
        if arguments.get("force").map(text_of).and_then(|text| is_true(&text)) != Some(true) {
            return Err(NsError::missing("force"));
        }
        let level = arguments.get("level").map(text_of).filter(|level| !level.is_empty());
        let kept = kept(&level.ok_or_else(|| NsError::missing("level"))?)?;
        self.root.retain(|key, _| kept.contains(&&key[..]));
        Ok(())
    }
}

/// What stays at this level.
fn kept(level: &str) -> Result<Vec<&'static str>, NsError> {
    match &level.to_ascii_lowercase()[..] {
        "basic" => Ok([OF_THE_BOX, SETTINGS].concat()),
        "extended" | "extended+" => Ok(OF_THE_BOX.to_vec()),
        "full" => Err(NsError::with(257, &["level", "full"])
            .because("users and the address that this came to would go; extended clears the rest")),
        other => Err(NsError::bad_value("level", other).because("basic or extended")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_level_clears_what_it_says_and_full_is_refused() {
        let all = ["schema", "admin", "features", "vserver", "service", "scenario", "zone", "dns"];
        let left = |arguments: Value| {
            let root = all.iter().map(|key| ((*key).to_owned(), Value::Null)).collect();
            let mut document = Document::from_root(root);
            let Value::Object(arguments) = arguments else { return Err(0_u32) };
            document.clear(&arguments).map_err(|error| error.code)?;
            Ok(document.into_root().keys().cloned().collect::<Vec<_>>())
        };
        assert_eq!(left(json!({"force": true, "level": "basic"})).unwrap(), ["schema", "admin", "features", "dns"]);
        assert_eq!(left(json!({"force": "YES", "level": "Extended"})).unwrap(), ["schema", "admin", "dns"]);
        assert_eq!(left(json!({"force": true, "level": "full"})), Err(257));
        assert_eq!(left(json!({"force": true, "level": "all"})), Err(1097));
        assert_eq!(left(json!({"force": true})), Err(1095));
        assert_eq!(left(json!({"level": "basic"})), Err(1095));
    }
}
