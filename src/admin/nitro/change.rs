//! POST, PUT and DELETE: statements on the configuration, one or many at a time, all in one edit.

use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::answer::{Answer, Fault, Object, Warning, bulk_failed, done, rolled_back};
use super::files::Files;
use super::payload::OnError;
use super::target::{Named, printable};
use super::{Call, act, entry};
use crate::admin::auth::Access;
use crate::admin::edit::{Ask, Unedited};
use crate::control::Refusal;
use crate::netscaler::document::{Act, Document};
use crate::netscaler::resource::{Kind, Resource};
use crate::netscaler::statement::{Statement, Verb};

/// A statement, and what is to be known only where the configuration is at hand.
#[derive(Clone)]
struct Prepared {
    statement: Statement,
    /// From the path: which spelling is meant depends on what exists.
    name: Option<Named>,
    /// Of `add`: what is there already is set.
    idempotent: bool,
}

/// What an edit gave back.
#[derive(Default)]
struct Told {
    items: Vec<Value>,
    failed: Option<Fault>,
    warnings: Vec<Warning>,
    acts: Vec<Act>,
}

/// Why an edit changes nothing.
enum Stop {
    Fault(Fault),
    /// A bulk that is taken back: an item for each statement up to the one that failed.
    RolledBack(Vec<Value>),
}

impl Call<'_> {
    pub(super) async fn change(&self) -> Result<Response, Fault> {
        let resource = self.resource().ok_or_else(|| Fault::new(1088, ""))?.to_ascii_lowercase();
        if let (Some(path), Some(body)) = (&self.target.resource, &self.payload.resource)
            && !path.eq_ignore_ascii_case(body)
        {
            return Err(Fault::new(278, format!("the path names {}, the body {}", printable(path), printable(body))));
        }
        let action = self.target.asked.action.as_deref().or(self.payload.action.as_deref());
        let action = action.map(str::to_ascii_lowercase);
        if let Some(answer) = self.special(&resource, action.as_deref()).await {
            return answer;
        }
        let found = Resource::find(&resource);
        let verb = match (self.parts.method.as_str(), action.as_deref()) {
            ("POST", Some("enable")) if act::is_switched(&resource) => return self.switch(&resource, true).await,
            ("POST", Some("disable")) if act::is_switched(&resource) => return self.switch(&resource, false).await,
            _ if found.is_none() => return Err(Fault::new(1088, printable(&resource))),
            ("POST", Some("unset")) => Verb::Unset,
            ("POST", Some("rename")) => Verb::Rename,
            ("POST" | "PUT", Some("update" | "set")) => Verb::Set,
            ("POST", Some("add")) | ("POST", None) if !is_binding(found) => Verb::Add,
            ("POST" | "PUT", Some("bind") | None) if is_binding(found) => Verb::Bind,
            ("POST", Some("unbind")) if is_binding(found) => Verb::Unbind,
            ("PUT", None) => Verb::Set,
            ("DELETE", None) => {
                if is_binding(found) {
                    Verb::Unbind
                } else {
                    Verb::Remove
                }
            }
            (_, action) => return Err(Fault::new(278, format!("action, {}", printable(action.unwrap_or("none"))))),
        };
        entry::allow(&self.caller, Access::Configure)?;
        // Checked above.
        let resource = found.ok_or_else(|| Fault::new(1088, ""))?;
        self.execute(resource, verb).await
    }

    async fn execute(&self, resource: &'static Resource, verb: Verb) -> Result<Response, Fault> {
        let onerror = self.onerror()?;
        let files = if resource.nitro == "sslcertkey" { Some(self.files().await?) } else { None };
        let prepared = self.prepare(resource, verb, files.as_ref())?;
        let mut told = match self.edit(prepared.clone(), onerror).await {
            Ok(told) => told,
            // One of many makes a configuration that does not load: which one, they tell one by one.
            Err(Unedited::Refused(Refusal::BadConfig(_))) if self.payload.is_bulk && onerror != OnError::Rollback => {
                self.one_by_one(prepared, onerror).await?
            }
            Err(Unedited::Declined(Stop::RolledBack(items))) => return Ok(bulk_failed(items)),
            Err(other) => return Err(plain(other)),
        };
        for act in std::mem::take(&mut told.acts) {
            told.warnings.extend(self.follow(act).await?);
        }
        match told.failed {
            Some(_) if self.payload.is_bulk => return Ok(bulk_failed(told.items)),
            Some(fault) => return Err(fault),
            None => {}
        }
        let status = if matches!(verb, Verb::Add | Verb::Bind) { 201 } else { 200 };
        Ok(Answer::with_status(status).warning(self.told(told.warnings)).into_response())
    }

    /// Statements of what the request says, before the configuration is looked at.
    fn prepare(&self, resource: &'static Resource, verb: Verb, files: Option<&Files>) -> Result<Vec<Prepared>, Fault> {
        let nothing = [Object::new()];
        let objects = match (&self.payload.objects[..], verb) {
            ([], Verb::Remove | Verb::Unbind) => &nothing[..],
            ([], _) => return Err(Fault::new(1095, resource.key)),
            (objects, _) => objects,
        };
        let prepare = |object: &Object| {
            let mut statement = Statement::new(verb, meant(resource, verb, object));
            let from_query = self.target.asked.args.iter().map(|(key, value)| (key.clone(), Value::from(&value[..])));
            for (key, value) in from_query.chain(object.clone()) {
                let key = key.to_ascii_lowercase();
                check_value(resource, &key, &value)?;
                if verb == Verb::Unset && key != resource.key && is_no(&value) {
                    continue;
                }
                statement.arguments.insert(key, value);
            }
            name_group(&mut statement);
            if let Some(files) = files {
                name_files(files, &mut statement);
            }
            Ok(Prepared { statement, name: self.name().cloned(), idempotent: self.target.asked.idempotent })
        };
        objects.iter().map(prepare).collect()
    }

    async fn edit(&self, prepared: Vec<Prepared>, onerror: OnError) -> Result<Told, Unedited<Stop>> {
        let is_bulk = self.payload.is_bulk;
        let renews =
            prepared.iter().any(|one| one.statement.resource.nitro == "sslcertkey" && one.statement.verb == Verb::Set);
        let edit = move |root: &mut Map<String, Value>| {
            let broken = |error: String| Stop::Fault(Fault::new(1043, error));
            let mut document = Document::from_json(Value::Object(std::mem::take(root))).map_err(broken)?;
            let told = run(&mut document, &prepared, onerror, is_bulk)?;
            if let Value::Object(changed) = document.into_json() {
                *root = changed;
            }
            Ok(told)
        };
        // An update of a certificate reads its files again, also where their names stay.
        let ask = Ask { always: renews, ..Ask::default() };
        let (done, mut told) = self.app.edit_as(self.caller.clone(), ask, edit).await?;
        told.warnings.extend(done.warnings.into_iter().map(|text| Warning { code: 0, text }));
        Ok(told)
    }

    async fn one_by_one(&self, prepared: Vec<Prepared>, onerror: OnError) -> Result<Told, Fault> {
        let mut told = Told::default();
        for one in prepared {
            let failed = match self.edit(vec![one], onerror).await {
                Ok(one) => {
                    told.items.extend(one.items);
                    told.warnings.extend(one.warnings);
                    told.acts.extend(one.acts);
                    one.failed
                }
                Err(other) => {
                    let fault = plain(other);
                    told.items.push(fault.item());
                    Some(fault)
                }
            };
            if let Some(fault) = failed {
                told.failed.get_or_insert(fault);
                if onerror == OnError::Exit {
                    break;
                }
            }
        }
        Ok(told)
    }
}

/// `PUT servicegroup` that names a server means the member there.
fn meant(resource: &'static Resource, verb: Verb, object: &Object) -> &'static Resource {
    let names_member = object.keys().any(|key| ["servername", "ip"].iter().any(|one| key.eq_ignore_ascii_case(one)));
    if resource.nitro == "servicegroup" && verb == Verb::Set && names_member {
        return Resource::find("servicegroup_servicegroupmember_binding").unwrap_or(resource);
    }
    resource
}

/// Of a bound group NetScaler tells the name in two attributes, and clients send back either or both.
fn name_group(statement: &mut Statement) {
    if statement.resource.nitro != "lbvserver_servicegroup_binding" {
        return;
    }
    let said = |key: &str| statement.arguments.get(key).and_then(Value::as_str).filter(|name| !name.is_empty());
    match (said("servicegroupname"), said("servicename")) {
        (None, Some(name)) => {
            let name = Value::from(name);
            statement.arguments.shift_remove("servicename");
            statement.arguments.insert("servicegroupname".into(), name);
        }
        (Some(one), Some(other)) if one == other => drop(statement.arguments.shift_remove("servicename")),
        _ => {}
    }
}

/// Uploaded certificates and keys stand in the configuration by their whole path.
fn name_files(files: &Files, statement: &mut Statement) {
    for key in ["cert", "key"] {
        let said = statement.arguments.get(key).and_then(Value::as_str);
        if let Some(path) = said.and_then(|said| files.path_of(said)) {
            statement.arguments.insert(key.into(), path.to_string_lossy().into_owned().into());
        }
    }
}

fn is_binding(resource: Option<&Resource>) -> bool {
    resource.is_some_and(Resource::is_binding)
}

/// Values are texts, numbers and flags; lists of them where the attribute is one.
fn check_value(resource: &Resource, key: &str, value: &Value) -> Result<(), Fault> {
    let flat = |value: &Value| !matches!(value, Value::Object(_) | Value::Array(_));
    let attribute = resource.attribute(key);
    let fits = match value {
        Value::Array(items) => attribute.is_none_or(|a| a.kind == Kind::List) && items.iter().all(flat),
        value => flat(value),
    };
    let spelled = attribute.map_or(key, |attribute| attribute.cli);
    if fits { Ok(()) } else { Err(Fault::new(1097, printable(spelled))) }
}

fn is_no(value: &Value) -> bool {
    matches!(value, Value::Bool(false) | Value::Null)
        || value.as_str().is_some_and(|word| word.eq_ignore_ascii_case("false") || word.eq_ignore_ascii_case("no"))
}

/// Carries statements out on the configuration; what fails changes nothing of it.
fn run(document: &mut Document, prepared: &[Prepared], onerror: OnError, is_bulk: bool) -> Result<Told, Stop> {
    let mut told = Told::default();
    for one in prepared {
        match carry_out(document, one) {
            Ok(warnings) => {
                told.items.push(done());
                told.warnings.extend(warnings);
            }
            Err(fault) if !is_bulk => return Err(Stop::Fault(fault)),
            Err(fault) if onerror == OnError::Rollback => {
                return Err(Stop::RolledBack(rolled_back(told.items, &fault)));
            }
            Err(fault) => {
                told.items.push(fault.item());
                match onerror {
                    OnError::Exit => {
                        told.failed = Some(fault);
                        break;
                    }
                    _ => drop(told.failed.get_or_insert(fault)),
                }
            }
        }
    }
    told.acts = document.take_acts();
    Ok(told)
}

fn carry_out(document: &mut Document, prepared: &Prepared) -> Result<Vec<Warning>, Fault> {
    let Prepared { statement, name, idempotent } = prepared;
    let mut statement = statement.clone();
    let resource = statement.resource;
    if let Some(name) = name
        && !resource.key.is_empty()
    {
        let owner = resource.owner().unwrap_or(resource);
        let name = name.find(|name| document.has(owner, name)).to_owned();
        let other = statement.arguments.insert(resource.key.into(), name.clone().into());
        if other.is_some_and(|other| other != name[..]) {
            return Err(Fault::new(1092, format!("{}, the path", resource.key)));
        }
    }
    let named = statement.arguments.get(resource.key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let there = !named.is_empty() && document.has(resource, &named);
    let again = *idempotent && statement.verb == Verb::Add && there;
    if again {
        statement.verb = Verb::Set;
    }
    if statement.verb == Verb::Set && statement.arguments.len() == 1 && there {
        // The Ansible collection updates with the name alone before it disables with a delay.
        return Ok(document.warnings(resource, Verb::Set).into_iter().map(Warning::from).collect());
    }
    match document.execute(&statement) {
        Ok(warnings) => Ok(warnings.into_iter().map(Warning::from).collect()),
        // What is there is of another type: it cannot become what is asked for.
        Err(error) if again && matches!(error.code, 257 | 2155) => {
            Err(Fault::new(273, format!("{}, {named}", resource.key)))
        }
        // NITRO has one number for a name that is taken.
        Err(error) if error.code == 1335 && statement.verb == Verb::Add && there => {
            Err(Fault::new(273, format!("{}, {named}", resource.key)))
        }
        Err(error) => Err(error.into()),
    }
}

fn plain(unedited: Unedited<Stop>) -> Fault {
    match unedited {
        Unedited::Declined(Stop::Fault(fault)) => fault,
        Unedited::Declined(Stop::RolledBack(_)) => Fault::new(1243, ""),
        Unedited::Refused(refusal) => refusal.into(),
        Unedited::Busy(problem) => problem.into(),
    }
}
