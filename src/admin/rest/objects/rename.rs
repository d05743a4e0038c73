//! Another name for an object: its table moves, and whatever names it follows.

mod names;

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value};

use super::kept::{Kept, Place, kind_at};
use super::{Asked, Conditions, Shown, etag, finish, misfit, path_of, unknown};
use crate::admin::body::{Field, FieldKind, Fields, field};
use crate::admin::dto;
use crate::admin::problem::Problem;
use names::Renaming;

pub(super) const FIELDS: &[Field] = &[field("to", FieldKind::Text, "Needed: the new name.")];

pub(super) async fn rename(kept: &'static Kept, asked: Asked) -> Result<Response, Problem> {
    let fields = Fields::parse(&asked.headers, &asked.body, FIELDS)?;
    let to = fields.text("to")?.ok_or_else(|| Problem::bad_request("`to` is missing: the new name"))?.to_owned();
    let (outer, name) = (asked.outer(kept), asked.name());
    let dry_run = asked.params.flag("dry_run")?;
    let conditions = Conditions::of(&asked).await?;
    let (from, target, tags, holder) = (name.clone(), to.clone(), conditions.clone(), outer.clone());
    let edited = asked.app.edit(asked.caller.clone(), dry_run, conditions.whole.clone(), move |root| {
        let found = kept.find(root, holder.as_deref(), &from);
        let place = found.ok_or_else(|| unknown(kept, root, holder.as_deref(), &from))?;
        tags.check(place.get(root).map(|object| etag(object, kind_at(&place))).as_deref())?;
        moved(root, &place, &target)
    });
    let edited = edited.await;
    // A member's full name has its group before it.
    let shown = match (&edited, name.split_once('/')) {
        (Ok((_, shown)), Some((group, _))) if shown.place.0.len() > 2 && outer.is_none() => format!("{group}/{to}"),
        _ => to.clone(),
    };
    let location = format!("/api/v1/{}/{}", path_of(kept, outer.as_deref()), dto::path_segment(&shown));
    finish(kept, &asked, &shown, dry_run, edited, &Map::new(), Some((StatusCode::OK, location))).await
}

fn moved(root: &mut Map<String, Value>, place: &Place, to: &str) -> Result<Shown, Problem> {
    let from = place.name().to_owned();
    if to == from {
        return Ok(Shown::new(place.clone(), place.get(root).cloned().unwrap_or_default()));
    }
    let mut keys = place.0.clone();
    *keys.last_mut().expect("a place has a name") = to.to_owned();
    let new = Place(keys);
    // Both kinds of vservers share their names.
    let shared = |place: &Place| match place.0.first().map(String::as_str) {
        Some("vserver") => Some(Place(vec!["cs_vserver".into(), to.to_owned()])),
        Some("cs_vserver") => Some(Place(vec!["vserver".into(), to.to_owned()])),
        _ => None,
    };
    let taken = new.get(root).is_some() || (place.0.len() == 2 && shared(place).is_some_and(|p| p.get(root).is_some()));
    if taken {
        let detail = format!("there is a {} already", new.spoken());
        return Err(Problem::new(StatusCode::CONFLICT, "exists", detail));
    }
    let tables = &place.0[..place.0.len() - 1];
    let table = tables.iter().try_fold(&mut *root, |at, key| at.get_mut(key)?.as_object_mut());
    let table = table.ok_or_else(|| misfit("", "the table is gone".to_owned()))?;
    // It keeps its place among the others.
    *table = std::mem::take(table)
        .into_iter()
        .map(|(key, object)| if key == from { (to.to_owned(), object) } else { (key, object) })
        .collect();
    let renaming = Renaming::of(place, to);
    if renaming.kind == "scenario"
        && let Some(Value::Object(scenario)) = table.get_mut(to)
    {
        // Its state goes along.
        scenario.insert("renamed_from".into(), from.into());
    }
    renaming.everywhere(root);
    let object = new.get(root).cloned().unwrap_or_default();
    Ok(Shown::new(new, object))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place(keys: &[&str]) -> Place {
        Place(keys.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn an_object_keeps_its_place_and_a_name_that_is_taken_is_refused() {
        let mut root =
            json!({"service": {"a": {"port": 1}, "b": {"port": 2}}, "vserver": {"v": {}}, "cs_vserver": {"c": {}}});
        let root = root.as_object_mut().unwrap();
        moved(root, &place(&["service", "a"]), "z").unwrap();
        assert_eq!(root["service"].as_object().unwrap().keys().collect::<Vec<_>>(), ["z", "b"]);
        assert_eq!(moved(root, &place(&["service", "b"]), "z").err().map(|p| p.status.as_u16()), Some(409));
        assert_eq!(moved(root, &place(&["vserver", "v"]), "c").err().map(|p| p.status.as_u16()), Some(409));
    }

    #[test]
    fn a_scenario_takes_its_state_along() {
        let mut root = json!({"scenario": {"dr": {"about": "x"}}});
        let root = root.as_object_mut().unwrap();
        let shown = moved(root, &place(&["scenario", "dr"]), "site-a").unwrap();
        assert_eq!(shown.object, json!({"about": "x", "renamed_from": "dr"}));
    }
}
