//! Tables of the configuration that stand once: `[defaults]`, `[features]`, `[dns]`, …

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::answer::{Conditions, Shown, answer, etag, misfit, misfits, read};
use super::kept::{Place, kind_at};
use super::{Asked, CHANGE, keeps_superuser, object_of, patch};
use crate::admin::auth::{Access, authorize};
use crate::admin::edit::Unedited;
use crate::admin::problem::Problem;
use crate::admin::route::{Reads, Route};
use crate::admin::superuser;
use crate::config::schema::{Kind, ROOT};
use crate::control::Refusal;

const ONE: &str = "/api/v1/config/sections/{name}";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/config/sections", "Every section of the configuration that stands once", list)
            .query(crate::admin::rest::pages::PAGE)
            .answers_objects(None),
        Route::get(ONE, "One section, as configured", show).answers_object(None),
        Route::patch(ONE, Access::Configure, "Change one section by a merge patch", |asked| change(false, asked))
            .query(CHANGE)
            .reads(Reads::Patch(None))
            .answers_object_changed(None),
        Route::put(ONE, Access::Configure, "Replace one section", |asked| change(true, asked))
            .query(CHANGE)
            .reads(Reads::Object { schema: None, named: false })
            .answers_object_changed(None),
    ]
}

/// Their names, in the order of the schema.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ROOT.keys.iter().filter(|key| matches!(key.kind, Kind::Table(_))).map(|key| key.name)
}

fn place(name: &str) -> Result<Place, Problem> {
    match names().find(|known| *known == name) {
        Some(known) => Ok(Place(vec![known.to_owned()])),
        None => Err(Problem::unknown_object("section", name, names())),
    }
}

async fn list(asked: Asked) -> Result<Response, Problem> {
    let (root, _) = read(&asked.app, &asked.caller).await?;
    let empty = Value::Object(Map::new());
    let items = names().map(|name| json!({ "name": name, "config": root.get(name).unwrap_or(&empty) }));
    crate::admin::rest::pages::answer(&asked.params, "/api/v1/config/sections", items.collect())
}

/// One that the configuration does not say is empty: everything in it is a default.
async fn show(asked: Asked) -> Result<Response, Problem> {
    let place = place(&asked.name())?;
    let (root, whole) = read(&asked.app, &asked.caller).await?;
    let empty = Value::Object(Map::new());
    let tag = etag(place.get(&whole).unwrap_or(&empty), kind_at(&place));
    let may_change = authorize(asked.caller.role, Access::Configure).is_ok();
    let tag = may_change.then_some(tag);
    Ok(answer(StatusCode::OK, place.get(&root).unwrap_or(&empty).clone(), tag.as_deref(), None))
}

async fn change(whole: bool, asked: Asked) -> Result<Response, Problem> {
    let place = place(&asked.name())?;
    let sent = object_of(&asked)?;
    let dry_run = asked.params.flag("dry_run")?;
    let conditions = Conditions::of(&asked).await?;
    let (patch, tags, at) = (Value::Object(sent.clone()), conditions.clone(), place.clone());
    let edited = asked.app.edit(asked.caller.clone(), dry_run, conditions.whole.clone(), move |root| {
        let kind = kind_at(&at);
        let before = at.get(root).cloned().unwrap_or_else(|| json!({}));
        tags.check(Some(&etag(&before, kind)))?;
        let had_superuser = superuser::is_there(root);
        let mut section = if whole { json!({}) } else { before };
        patch::apply(&mut section, &patch, kind);
        if section.as_object().is_some_and(Map::is_empty) {
            root.shift_remove(at.name());
        } else {
            at.set(root, section.clone()).map_err(|what| misfit("", what))?;
        }
        keeps_superuser(had_superuser, root)?;
        Ok::<_, Problem>(Shown::new(at.clone(), section))
    });
    let (done, shown) = match edited.await {
        Ok(edited) => edited,
        Err(Unedited::Refused(Refusal::BadConfig(problems))) => {
            return Err(misfits(&problems, std::slice::from_ref(&place), &sent));
        }
        Err(other) => return Err(other.into()),
    };
    let tag = etag(&shown.object, kind_at(&shown.place));
    let mut done = done;
    done.warnings.extend(super::overruled(&asked.app, &shown.place, &sent).await?);
    let body = super::told(shown.object.clone(), done, dry_run);
    Ok(answer(StatusCode::OK, body, Some(&tag), None))
}
