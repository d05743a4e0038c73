//! Resources whose changes are no statements: the configuration as a whole, features and modes, uploaded files.

use std::path::PathBuf;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::answer::{Answer, Fault, Object, Warning};
use super::target::printable;
use super::{Call, config, entry, system, unbound};
use crate::admin::auth::Access;
use crate::control::Command;
use crate::netscaler::document::Document;
use crate::netscaler::resource::Resource;
use crate::netscaler::statement::{Statement, Verb};

impl Call<'_> {
    /// The answer where `resource` (in lower case) is one of them.
    pub(super) async fn special(&self, resource: &str, action: Option<&str>) -> Option<Result<Response, Fault>> {
        let object = self.payload.objects.first();
        if let Some(answer) = self.people(resource, action).await {
            return Some(answer);
        }
        Some(match (resource, self.parts.method.as_str(), action) {
            ("nsconfig", "POST", Some("save")) => self.save(object).await,
            ("nsconfig", "POST", Some("clear")) => self.clear(object).await,
            ("nstrace", "POST", Some("start")) => self.start_trace(object).await,
            ("nstrace", "POST", Some("stop")) => self.stop_trace(object).await,
            ("nsstats", "POST", Some("clear")) => self.clear_statistics(object).await,
            ("nsconfig", ..) => Err(Fault::new(257, "what `set ns config` says is the machine's own here")),
            ("nsfeature", "POST", Some(action @ ("enable" | "disable"))) => self.features(action == "enable").await,
            ("nsmode", "POST", Some(action @ ("enable" | "disable"))) => self.modes(action == "enable"),
            ("nspartition", "POST", Some("switch")) => self.partition(object),
            ("systemfile", "POST", None) => self.upload().await,
            ("systemfile", "DELETE", None) => self.remove_file().await,
            ("reboot" | "shutdown", ..) => Err(Fault::new(257, "the service manager of the machine does that")),
            (own, ..) if is_read_only(own) => Err(Fault::new(257, printable(own))),
            (none, ..) if is_absent(none) => Err(Fault::new(1088, format!("{}: not available here", printable(none)))),
            _ => return None,
        })
    }

    async fn save(&self, object: Option<&Object>) -> Result<Response, Fault> {
        entry::allow(&self.caller, Access::Configure)?;
        if let Some(unknown) = object.and_then(|object| object.keys().find(|key| *key != "all")) {
            return Err(Fault::new(1090, printable(unknown)));
        }
        self.app.command(self.caller.clone(), Command::Save, Duration::ZERO).await?;
        Ok(Answer::ok().into_response())
    }

    async fn features(&self, enable: bool) -> Result<Response, Fault> {
        entry::allow(&self.caller, Access::Configure)?;
        let resource = Resource::find("nsfeature").ok_or_else(|| Fault::new(1088, "nsfeature"))?;
        let feature = self.payload.objects.first().and_then(|object| object.get("feature")).cloned();
        let feature = feature.ok_or_else(|| Fault::new(1095, "feature"))?;
        let verb = if enable { Verb::Set } else { Verb::Unset };
        let statement = Statement::new(verb, resource).with("feature", feature);
        let edit = move |root: &mut Map<String, Value>| -> Result<Vec<Warning>, Fault> {
            let mut document = Document::from_root(std::mem::take(root));
            let warnings = document.execute(&statement)?;
            *root = document.into_root();
            Ok(warnings.into_iter().map(Warning::from).collect())
        };
        let (_, warnings) = self.app.edit(self.caller.clone(), false, None, edit).await?;
        Ok(Answer::ok().warning(self.told(warnings)).into_response())
    }

    /// None can be switched: what is asked for must be so already.
    fn modes(&self, enable: bool) -> Result<Response, Fault> {
        entry::allow(&self.caller, Access::Configure)?;
        let modes = match self.payload.objects.first().and_then(|object| object.get("mode")) {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => text.split([' ', ',']).filter(|word| !word.is_empty()).collect::<Vec<_>>(),
            _ => return Err(Fault::new(1095, "mode")),
        };
        for mode in modes {
            let known = system::MODES.iter().find(|(name, _)| name.eq_ignore_ascii_case(mode));
            match known {
                Some((_, on)) if *on == enable => {}
                Some((name, on)) => {
                    let always = if *on { "always on" } else { "not available" };
                    return Err(Fault::new(257, format!("mode, {name}: {always} here")));
                }
                None => return Err(Fault::new(1097, format!("mode, {}", printable(mode)))),
            }
        }
        Ok(Answer::ok().into_response())
    }

    /// There is one partition, and everybody is in it.
    fn partition(&self, object: Option<&Object>) -> Result<Response, Fault> {
        match object.and_then(|object| object.get("partitionname")).and_then(Value::as_str) {
            None => Err(Fault::new(1095, "partitionName")),
            Some("default") => Ok(Answer::ok().into_response()),
            Some(name) => Err(Fault::no_such("partitionName", &printable(name))),
        }
    }

    async fn upload(&self) -> Result<Response, Fault> {
        entry::allow(&self.caller, Access::Configure)?;
        let object = match &self.payload.objects[..] {
            [object] => object.clone(),
            [] => return Err(Fault::new(1095, "filename")),
            _ => return Err(Fault::new(278, "one file at a time")),
        };
        let files = self.files().await?;
        let stored = tokio::task::spawn_blocking(move || files.add(&object));
        stored.await.map_err(|_| Fault::new(1043, ""))??;
        Ok(Answer::with_status(201).into_response())
    }

    async fn remove_file(&self) -> Result<Response, Fault> {
        entry::allow(&self.caller, Access::Configure)?;
        let name = self.name().map(|name| name.meant().to_owned());
        let name = name.or_else(|| self.target.asked.arg("filename").map(str::to_owned));
        let name = name.ok_or_else(|| Fault::new(1095, "filename"))?;
        let location = self.target.asked.arg("filelocation").map(str::to_owned);
        let in_use = self.app.read(|world| {
            let files = world.model.certificates.iter();
            let named = files.flat_map(|c| [Some(&c.chain.file), c.key.as_ref().map(|key| &key.file)]);
            named.flatten().map(|file| PathBuf::from(&**file)).collect::<Vec<_>>()
        });
        let in_use = in_use.await.map_err(Fault::from)?;
        let files = self.files().await?;
        let removed = tokio::task::spawn_blocking(move || files.remove(&name, location.as_deref(), &in_use));
        removed.await.map_err(|_| Fault::new(1043, ""))??;
        Ok(Answer::ok().into_response())
    }
}

/// NetScaler has it, and there is none of it here.
fn is_absent(resource: &str) -> bool {
    (system::EMPTY.contains(&resource) || unbound::owner(resource).is_some()) && !config::is_known(resource)
}

/// Of the box itself, and not to be set.
fn is_read_only(resource: &str) -> bool {
    matches!(
        resource,
        "nsversion"
            | "nslicense"
            | "nshardware"
            | "nscapacity"
            | "nsfeature"
            | "nsmode"
            | "hanode"
            | "interface"
            | "ntpsync"
            | "ntpstatus"
            | "gslbparameter"
            | "nsrunningconfig"
            | "nssavedconfig"
            | "svcbindings"
            | "servicegroupbindings"
    )
}
