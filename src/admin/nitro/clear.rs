//! `POST nsconfig?action=clear`: the running configuration; the file stays until somebody saves. `POST
//! nsstats?action=clear`: the counters as `stat` shows them.

use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::answer::{Answer, Fault, Object};
use super::target::printable;
use super::{Call, entry, stat};
use crate::admin::App;
use crate::admin::auth::{Access, Caller};
use crate::netscaler::document::Document;
use crate::netscaler::resource::Resource;
use crate::netscaler::statement::{Statement, Verb};

impl Call<'_> {
    /// The same command as `clear ns config`.
    pub(super) async fn clear(&self, object: Option<&Object>) -> Result<Response, Fault> {
        entry::allow(&self.caller, Access::Configure)?;
        let object = object.ok_or_else(|| Fault::new(1095, "level"))?;
        let resource = Resource::find("nsconfig").ok_or_else(|| Fault::new(1088, "nsconfig"))?;
        let mut statement = Statement::new(Verb::Remove, resource);
        statement.arguments = object.clone();
        let edit = move |root: &mut Map<String, Value>| -> Result<(), Fault> {
            let mut document = Document::from_root(std::mem::take(root));
            document.execute(&statement)?;
            *root = document.into_root();
            Ok(())
        };
        self.app.edit(self.caller.clone(), false, None, edit).await?;
        Ok(Answer::ok().into_response())
    }

    /// `cleanuplevel`: `global` are the counters of the appliance, `all` those of everything.
    pub(super) async fn clear_statistics(&self, object: Option<&Object>) -> Result<Response, Fault> {
        entry::allow(&self.caller, Access::Operate)?;
        let level = object.and_then(|object| object.get("cleanuplevel")).and_then(Value::as_str);
        let level = level.ok_or_else(|| Fault::new(1095, "cleanuplevel"))?.to_ascii_lowercase();
        if !["global", "all"].contains(&&level[..]) {
            return Err(Fault::new(1097, format!("cleanuplevel, {}", printable(&level))));
        }
        let app = self.app.clone();
        let clear = move |world: &crate::control::World<'_>| {
            let machine = app.machine();
            stat::clear_all(&stat::Seen { world, cleared: &app.0.cleared, document: None }, &machine, level == "all");
            level
        };
        let level = self.app.study(clear).await.map_err(Fault::from)?;
        tell_cleared(self.app, &self.caller, &format!("nsstats {level}")).await?;
        Ok(Answer::ok().into_response())
    }
}

/// Somebody cleared the counters `of`: `nsstats all`, `lbvserver web`.
pub(super) async fn tell_cleared(app: &App, caller: &Caller, of: &str) -> Result<(), Fault> {
    Ok(app.0.keeper.audit.cleared(app.handle(), caller, of).await?)
}
