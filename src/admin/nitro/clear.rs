//! `clear ns config`: what goes at which level, and what is never cleared from here.

use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::answer::{Answer, Fault, Object};
use super::target::printable;
use super::{Call, entry};
use crate::admin::auth::Access;

/// Of the appliance itself; stays at every level.
const OF_THE_BOX: &[&str] = &["schema", "appliance", "admin", "journal", "peer_link", "peer", "dns"];
/// Stays at the level `basic`.
const SETTINGS: &[&str] = &["features", "log", "resolver", "monitors", "defaults", "drills"];

/// What stays at this level.
fn kept(level: &str) -> Result<Vec<&'static str>, Fault> {
    match &level.to_ascii_lowercase()[..] {
        "basic" => Ok([OF_THE_BOX, SETTINGS].concat()),
        "extended" | "extended+" => Ok(OF_THE_BOX.to_vec()),
        "full" => Err(Fault::new(
            257,
            "level, full: users and the address that this came to would go; extended clears the rest",
        )),
        other => Err(Fault::new(1097, format!("level, {}", printable(other)))),
    }
}

fn clear(root: &mut Map<String, Value>, kept: &[&str]) {
    root.retain(|key, _| kept.contains(&&key[..]));
}

impl Call<'_> {
    /// `POST nsconfig?action=clear`: the running configuration; the file stays until somebody saves.
    pub(super) async fn clear(&self, object: Option<&Object>) -> Result<Response, Fault> {
        entry::allow(&self.caller, Access::Configure)?;
        let object = object.ok_or_else(|| Fault::new(1095, "level"))?;
        if let Some(unknown) = object.keys().find(|key| !["force", "level"].contains(&&key.to_ascii_lowercase()[..])) {
            return Err(Fault::new(257, format!("{}: not available here", printable(unknown))));
        }
        // On the command line NetScaler asks; whoever cannot be asked says so.
        let force = object.get("force").is_some_and(|force| force == true || force == "true" || force == "YES");
        if !force {
            return Err(Fault::new(1095, "force"));
        }
        let level = object.get("level").and_then(Value::as_str).ok_or_else(|| Fault::new(1095, "level"))?;
        let kept = kept(level)?;
        let edit = move |root: &mut Map<String, Value>| -> Result<(), Fault> {
            clear(root, &kept);
            Ok(())
        };
        self.app.edit(self.caller.clone(), false, None, edit).await?;
        Ok(Answer::ok().into_response())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_clears_what_it_says_and_full_is_refused() {
        let all = ["schema", "admin", "features", "vserver", "service", "scenario", "zone", "dns"];
        let left = |level: &str| {
            let mut root: Map<String, Value> = all.iter().map(|key| ((*key).to_owned(), Value::Null)).collect();
            kept(level).map(|kept| {
                clear(&mut root, &kept);
                root.keys().cloned().collect::<Vec<_>>()
            })
        };
        assert_eq!(left("basic").unwrap(), ["schema", "admin", "features", "dns"]);
        assert_eq!(left("Extended").unwrap(), ["schema", "admin", "dns"]);
        assert_eq!(left("full").unwrap_err().code, 257);
        assert_eq!(left("all").unwrap_err().code, 1097);
    }
}
