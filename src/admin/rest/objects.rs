//! The configuration object by object: POST, PATCH, PUT and DELETE on every collection, and GET of what is configured.
//!
//! An object is the table of the configuration as JSON. Every change is a change of the whole, checked and applied as
//! [`App::edit`] does it: a bad one is 422 with pointers into the body and changes nothing. An object's ETag is the hash of
//! its table; If-Match takes it, or the hash of the whole configuration.

mod answer;
mod kept;
mod patch;
mod rename;
mod section;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::super::App;
use super::super::auth::{Access, Caller, authorize};
use super::super::body::{self, CONFIG_MAX, Field, FieldKind, Params, field};
use super::super::dto;
use super::super::edit::{Ask, Unedited};
use super::super::problem::Problem;
use super::super::route::{Reads, Route, Segments};
use super::super::superuser;
use crate::control::{Done, Refusal};
use crate::model::id::ObjectRef;
pub(super) use answer::misfit;
use answer::{Conditions, Shown, answer, etag, in_use, read};
use kept::kind_at;
pub(crate) use kept::{KEPT, Kept, Shows};

/// Members of an answer beside the keys of the object.
#[cfg(test)]
pub(crate) const BESIDE: [&str; 7] = ["name", "object", "changes", "generation", "warnings", "dry_run", "deleted"];

pub(super) const CHANGE: &[Field] = &[field(
    "dry_run",
    FieldKind::Flag,
    "Only say what would change, transitions and DNS answers included; nothing is changed.",
)];

pub(crate) fn routes() -> Vec<Route> {
    let mut routes = section::routes();
    routes.extend(KEPT.iter().flat_map(collection));
    routes
}

fn collection(kept: &'static Kept) -> Vec<Route> {
    let (all, one, noun) = (format!("/api/v1/{}", kept.path), kept.one(), kept.noun);
    let configured = if kept.shows == Shows::Config { one.clone() } else { format!("{one}/config") };
    let mut routes = vec![
        Route::get(configured, &format!("One {noun}, as configured"), move |asked| show(kept, asked))
            .answers_object(kept.schema()),
        Route::post(all.clone(), Access::Configure, &format!("Add one {noun}"), move |asked| create(kept, asked))
            .query(CHANGE)
            .reads(Reads::Object { schema: kept.schema(), named: true })
            .answers_created(kept.schema()),
        Route::patch(one.clone(), Access::Configure, &format!("Change one {noun} by a merge patch"), move |asked| {
            change(kept, false, asked)
        })
        .query(CHANGE)
        .reads(Reads::Patch(kept.schema()))
        .answers_object_changed(kept.schema()),
        Route::delete(one.clone(), Access::Configure, &format!("Take one {noun} away"), move |asked| {
            delete(kept, asked)
        })
        .query(CHANGE)
        .answers_object_changed(kept.schema()),
    ];
    if kept.shows == Shows::Config {
        let list = Route::get(all, &format!("Every {noun}, as configured"), move |asked| list(kept, asked));
        routes.push(list.query(super::pages::PAGE).answers_objects(kept.schema()));
    }
    if kept.put {
        let summary = format!("Replace one {noun}, or add it");
        let put = Route::put(one.clone(), Access::Configure, &summary, move |asked| change(kept, true, asked));
        let put = put.query(CHANGE).reads(Reads::Object { schema: kept.schema(), named: false });
        routes.push(put.answers_created(kept.schema()));
    }
    let summary = format!("Give one {noun} another name, wherever it is named");
    let rename =
        Route::post(format!("{one}/rename"), Access::Configure, &summary, move |asked| rename::rename(kept, asked));
    routes.push(rename.query(CHANGE).reads(Reads::Fields(rename::FIELDS)).answers_object_changed(kept.schema()));
    routes
}

/// The ETag of what is configured for an object that a collection shows; `None` where it is generated, and for who may
/// not change it: a hash of a short secret could be tried at leisure.
pub(super) async fn tag_of(app: &App, caller: &Caller, collection: &str, name: &str) -> Option<String> {
    authorize(caller.role, Access::Configure).ok()?;
    let kept = KEPT.iter().find(|kept| kept.path == collection)?;
    let running = app.running_json().await.ok()?;
    let place = kept.find(&running.whole, None, name)?;
    Some(etag(place.get(&running.whole)?, kind_at(&place)))
}

/// Everything that a request says.
pub(super) struct Asked {
    pub app: App,
    pub caller: Caller,
    pub params: Params,
    names: Vec<String>,
    pub headers: HeaderMap,
    /// All of it.
    pub body: Bytes,
}

// === impl Asked ===

impl FromRequest<App> for Asked {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Asked, Problem> {
        let (mut parts, body) = request.into_parts();
        let Segments(names) = Segments::from_request_parts(&mut parts, app).await.unwrap_or(Segments(Vec::new()));
        Ok(Asked {
            app: app.clone(),
            caller: Caller::from_request_parts(&mut parts, app).await?,
            params: Params::from_request_parts(&mut parts, app).await?,
            names,
            headers: parts.headers,
            body: body::read(body, CONFIG_MAX).await?,
        })
    }
}

impl Asked {
    /// The names of the path: of the object that holds these, and their own. A collection's has only the former.
    fn outer(&self, kept: &Kept) -> Option<String> {
        kept.is_nested().then(|| self.names.first().cloned().unwrap_or_default())
    }

    pub fn name(&self) -> String {
        self.names.last().cloned().unwrap_or_default()
    }
}

fn unknown(kept: &Kept, root: &Map<String, Value>, outer: Option<&str>, name: &str) -> Problem {
    if let Some(outer) = outer.filter(|outer| !kept.has_outer(root, outer)) {
        return Problem::unknown_object("object", outer, []);
    }
    let names: Vec<&str> = kept.all(root, outer).into_iter().map(|(name, _)| name).collect();
    Problem::unknown_object(kept.noun, name, names)
}

async fn list(kept: &'static Kept, asked: Asked) -> Result<Response, Problem> {
    let outer = asked.outer(kept);
    let (root, _) = read(&asked.app, &asked.caller).await?;
    if let Some(outer) = outer.as_deref().filter(|outer| !kept.has_outer(&root, outer)) {
        return Err(Problem::unknown_object("object", outer, []));
    }
    let items = kept.all(&root, outer.as_deref()).into_iter().map(|(name, object)| named(name, object));
    super::pages::answer(&asked.params, &format!("/api/v1/{}", path_of(kept, outer.as_deref())), items.collect())
}

/// The path of a collection below `/api/v1/`, with the outer object's name in it.
fn path_of(kept: &Kept, outer: Option<&str>) -> String {
    kept.path.replace("{name}", &dto::path_segment(outer.unwrap_or_default()))
}

/// The keys of an object with its name before them.
fn named(name: &str, object: &Value) -> Value {
    let mut shown = Map::new();
    shown.insert("name".into(), name.into());
    shown.extend(object.as_object().cloned().unwrap_or_default());
    Value::Object(shown)
}

async fn show(kept: &'static Kept, asked: Asked) -> Result<Response, Problem> {
    let (outer, name) = (asked.outer(kept), asked.name());
    let (root, whole) = read(&asked.app, &asked.caller).await?;
    let found = kept.find(&root, outer.as_deref(), &name).and_then(|place| Some((place.get(&root)?, place)));
    let Some((object, place)) = found else { return Err(unknown(kept, &root, outer.as_deref(), &name)) };
    let may_change = authorize(asked.caller.role, Access::Configure).is_ok();
    let tag = place.get(&whole).filter(|_| may_change).map(|object| etag(object, kind_at(&place)));
    Ok(answer(StatusCode::OK, named(&name, object), tag.as_deref(), None))
}

/// The object that the body is, its name taken out of it.
fn object_of(asked: &Asked) -> Result<Map<String, Value>, Problem> {
    body::object(&asked.headers, &asked.body)
}

async fn create(kept: &'static Kept, asked: Asked) -> Result<Response, Problem> {
    let mut sent = object_of(&asked)?;
    let name = match sent.shift_remove("name") {
        Some(Value::String(name)) => name,
        Some(other) => return Err(misfit("/name", format!("`name` is a string, not {other}"))),
        None => return Err(misfit("/name", "missing key `name`: what the object is called".to_owned())),
    };
    let (outer, dry_run) = (asked.outer(kept), asked.params.flag("dry_run")?);
    let conditions = Conditions::of(&asked).await?;
    let (own, patch) = (name.clone(), Value::Object(sent.clone()));
    let holder = outer.clone();
    let edited = asked.app.edit(asked.caller.clone(), dry_run, conditions.whole.clone(), move |root| {
        if let Some(place) = kept.find(root, holder.as_deref(), &own) {
            let detail = format!("there is a {} already; PATCH changes it", place.spoken());
            return Err(Problem::new(StatusCode::CONFLICT, "exists", detail));
        }
        let places = kept.places(holder.as_deref(), &own).into_iter();
        let mut fitting = places.filter(|place| place.has_holder(root, kept));
        let Some(place) = fitting.next() else { return Err(unknown(kept, root, holder.as_deref(), &own)) };
        let mut object = json!({});
        patch::apply(&mut object, &patch, kind_at(&place));
        place.set(root, object.clone()).map_err(|what| misfit("", what))?;
        Ok(Shown::new(place, object))
    });
    let location = format!("/api/v1/{}/{}", path_of(kept, outer.as_deref()), dto::path_segment(&name));
    finish(kept, &asked, &name, dry_run, edited.await, &sent, Some((StatusCode::CREATED, location))).await
}

/// PATCH, and PUT (`whole`).
async fn change(kept: &'static Kept, whole: bool, asked: Asked) -> Result<Response, Problem> {
    let sent = object_of(&asked)?;
    let dry_run = asked.params.flag("dry_run")?;
    write(kept, &asked, sent, Ask { dry_run, ..Ask::default() }, whole).await
}

/// PUT of an object whose files may have changed although it names the same ones.
pub(super) async fn replace(
    kept: &'static Kept,
    asked: &Asked,
    sent: Map<String, Value>,
    dry_run: bool,
) -> Result<Response, Problem> {
    write(kept, asked, sent, Ask { dry_run, always: true, ..Ask::default() }, true).await
}

/// Sets keys of an object by a merge patch; adds it where it is not there.
pub(super) async fn merge(
    kept: &'static Kept,
    asked: &Asked,
    sent: Map<String, Value>,
    dry_run: bool,
) -> Result<Response, Problem> {
    let (root, _) = read(&asked.app, &asked.caller).await?;
    let is_new = kept.find(&root, None, &asked.name()).is_none();
    write(kept, asked, sent, Ask { dry_run, ..Ask::default() }, is_new).await
}

async fn write(
    kept: &'static Kept,
    asked: &Asked,
    mut sent: Map<String, Value>,
    ask: Ask,
    whole: bool,
) -> Result<Response, Problem> {
    let (outer, name, dry_run) = (asked.outer(kept), asked.name(), ask.dry_run);
    if let Some(said) = sent.shift_remove("name").filter(|said| said.as_str() != Some(&name)) {
        return Err(misfit(
            "/name",
            format!("the object is named `{name}`, not {said}; POST …/rename gives it another name"),
        ));
    }
    let conditions = Conditions::of(asked).await?;
    let (own, patch, tags) = (name.clone(), Value::Object(sent.clone()), conditions.clone());
    let holder = outer.clone();
    let edited =
        asked.app.edit_as(asked.caller.clone(), Ask { if_hash: conditions.whole.clone(), ..ask }, move |root| {
            let found = kept.find(root, holder.as_deref(), &own);
            let place = match found {
                Some(place) => place,
                None if whole && !tags.needs_one() => {
                    let places = kept.places(holder.as_deref(), &own).into_iter();
                    let mut fitting = places.filter(|place| place.has_holder(root, kept));
                    fitting.next().ok_or_else(|| unknown(kept, root, holder.as_deref(), &own))?
                }
                None => return Err(unknown(kept, root, holder.as_deref(), &own)),
            };
            let kind = kind_at(&place);
            let before = place.get(root).cloned();
            tags.check(before.as_ref().map(|object| etag(object, kind)).as_deref())?;
            let (created, had_superuser) = (before.is_none(), superuser::is_there(root));
            let mut object = before.filter(|_| !whole).unwrap_or_else(|| json!({}));
            patch::apply(&mut object, &patch, kind);
            place.set(root, object.clone()).map_err(|what| misfit("", what))?;
            keeps_superuser(had_superuser, root)?;
            Ok(Shown { created, ..Shown::new(place, object) })
        });
    let edited = edited.await;
    let created = matches!(&edited, Ok((_, shown)) if shown.created);
    let location = format!("/api/v1/{}/{}", path_of(kept, outer.as_deref()), dto::path_segment(&name));
    let created = created.then_some((StatusCode::CREATED, location));
    finish(kept, asked, &name, dry_run, edited, &sent, created).await
}

async fn delete(kept: &'static Kept, asked: Asked) -> Result<Response, Problem> {
    // Whoever sends an object along means something else.
    let sent = object_of(&asked)?;
    if !sent.is_empty() {
        return Err(Problem::bad_request("DELETE takes no body"));
    }
    let (outer, name) = (asked.outer(kept), asked.name());
    let dry_run = asked.params.flag("dry_run")?;
    let conditions = Conditions::of(&asked).await?;
    let (own, tags, holder) = (name.clone(), conditions.clone(), outer.clone());
    let edited = asked.app.edit(asked.caller.clone(), dry_run, conditions.whole.clone(), move |root| {
        let found = kept.find(root, holder.as_deref(), &own);
        let place = found.ok_or_else(|| unknown(kept, root, holder.as_deref(), &own))?;
        tags.check(place.get(root).map(|object| etag(object, kind_at(&place))).as_deref())?;
        let had_superuser = superuser::is_there(root);
        let object = place.remove(root).unwrap_or_default();
        keeps_superuser(had_superuser, root)?;
        Ok(Shown { deleted: true, ..Shown::new(place, object) })
    });
    match edited.await {
        Err(Unedited::Refused(Refusal::BadConfig(problems))) => Err(in_use(kept, &name, &problems)),
        edited => finish(kept, &asked, &name, dry_run, edited, &Map::new(), None).await,
    }
}

/// Refuses a change that would take the last superuser away.
fn keeps_superuser(had_superuser: bool, root: &Map<String, Value>) -> Result<(), Problem> {
    match had_superuser && !superuser::is_there(root) {
        true => Err(Problem::new(StatusCode::CONFLICT, "last_superuser", superuser::LAST)),
        false => Ok(()),
    }
}

/// What a change says in vain, because the command line says it (`--set`).
async fn overruled(app: &App, place: &kept::Place, sent: &Map<String, Value>) -> Result<Vec<String>, Problem> {
    let set = app.read(|world| world.config.set.clone()).await?;
    let is_sent = |path: &&String| {
        let keys = answer::keys(path);
        keys.strip_prefix(&place.0[..]).is_some_and(|rest| rest.first().is_none_or(|key| sent.contains_key(key)))
    };
    let warn =
        |path: &String| format!("`{path}` is set on the command line (--set), which wins while this process runs");
    Ok(set.iter().filter(is_sent).map(warn).collect())
}

/// An answer with what came of a change beside it.
fn told(mut body: Value, done: Done, dry_run: bool) -> Value {
    body["changes"] = done.changes.into();
    body["generation"] = done.generation.into();
    if !done.warnings.is_empty() {
        body["warnings"] = done.warnings.into();
    }
    if dry_run {
        body["dry_run"] = true.into();
    }
    body
}

/// The answer to a change: the object as it is configured now, and what came of it.
async fn finish(
    kept: &'static Kept,
    asked: &Asked,
    name: &str,
    dry_run: bool,
    edited: Result<(Done, Shown), Unedited<Problem>>,
    sent: &Map<String, Value>,
    created: Option<(StatusCode, String)>,
) -> Result<Response, Problem> {
    let (done, shown) = match edited {
        Ok(edited) => edited,
        Err(Unedited::Refused(Refusal::BadConfig(problems))) => {
            let outer = asked.outer(kept);
            let places = kept.places(outer.as_deref(), name);
            return Err(answer::misfits(&problems, &places, sent));
        }
        Err(other) => return Err(other.into()),
    };
    let mut body = named(name, &shown.object);
    if let (Shows::State(Some(kind)), false, false) = (kept.shows, dry_run, shown.deleted) {
        let object = ObjectRef::new(kind, name);
        body["object"] = asked.app.read(move |world| dto::json_of(world, &object)).await?.unwrap_or_default();
    }
    let mut done = done;
    done.warnings.extend(overruled(&asked.app, &shown.place, sent).await?);
    let mut body = told(body, done, dry_run);
    if shown.deleted {
        body["deleted"] = (!dry_run).into();
    }
    let tag = (!shown.deleted).then(|| etag(&shown.object, kind_at(&shown.place)));
    let (status, location) = match created {
        Some((status, location)) if !dry_run => (status, Some(location)),
        _ => (StatusCode::OK, None),
    };
    Ok(answer(status, body, tag.as_deref(), location.as_deref()))
}
