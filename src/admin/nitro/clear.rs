//! `POST nsconfig?action=clear`: the running configuration; the file stays until somebody saves.

use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::answer::{Answer, Fault, Object};
use super::{Call, entry};
use crate::admin::auth::Access;
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
}
