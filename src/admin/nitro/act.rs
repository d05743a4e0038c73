//! `?action=enable` and `?action=disable`: the same commands as REST and the shell give, so that the journal shows who
//! did it, and the drain is the same drain.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::answer::{Answer, Fault, Object, Warning, bulk_failed, done, rolled_back};
use super::{Call, entry, live, payload, target};
use crate::admin::auth::Access;
use crate::control::command::Note;
use crate::control::{Command, World};
use crate::model::id::{Kind, ObjectRef, ServiceId};
use crate::model::vserver::Role;

/// Longest delay, in seconds.
const DELAY_MAX: u64 = 31_536_000;

/// Attributes of the payload by resource; those of the first list name the object.
fn known(resource: &str) -> Option<&'static [&'static str]> {
    Some(match resource {
        "lbvserver" | "csvserver" | "vserver" => &["name"],
        "service" | "server" => &["name", "delay", "graceful"],
        "gslbservice" => &["servicename"],
        "servicegroup" | "servicegroup_servicegroupmember_binding" => {
            &["servicegroupname", "servername", "ip", "port", "delay", "graceful"]
        }
        "lbmonitor" => &["monitorname", "servicename", "servicegroupname", "type"],
        _ => return None,
    })
}

/// What an entry asks for.
struct Meant {
    objects: Vec<ObjectRef>,
    delay: Option<Duration>,
    graceful: bool,
}

/// Whether `resource` can be enabled and disabled.
pub(super) fn is_switched(resource: &str) -> bool {
    known(resource).is_some()
}

impl Call<'_> {
    /// Enables or disables what the payload names.
    pub(super) async fn switch(&self, resource: &str, enable: bool) -> Result<Response, Fault> {
        entry::allow(&self.caller, Access::Operate)?;
        if self.payload.objects.is_empty() {
            return Err(Fault::new(1095, known(resource).and_then(|keys| keys.first()).copied().unwrap_or("name")));
        }
        let onerror = self.onerror()?;
        let (mut items, mut failed, mut warnings) = (Vec::new(), None, Vec::new());
        // An act cannot be taken back without a trace: all names are looked at before the first is carried out.
        if onerror == payload::OnError::Rollback && self.payload.is_bulk {
            for object in &self.payload.objects {
                match self.meant(resource, object).await {
                    Ok(_) => items.push(done()),
                    Err(fault) => return Ok(bulk_failed(rolled_back(items, &fault))),
                }
            }
            items.clear();
        }
        for object in &self.payload.objects {
            match self.switch_one(resource, enable, object).await {
                Ok(more) => {
                    warnings.extend(more);
                    items.push(done());
                }
                Err(fault) => {
                    items.push(fault.item());
                    failed.get_or_insert(fault);
                    if onerror != payload::OnError::Continue {
                        break;
                    }
                }
            }
        }
        match failed {
            Some(_) if self.payload.is_bulk => Ok(bulk_failed(items)),
            Some(fault) => Err(fault),
            None => Ok(Answer::ok().warning(self.told(warnings)).into_response()),
        }
    }

    async fn switch_one(&self, resource: &str, enable: bool, object: &Object) -> Result<Vec<Warning>, Fault> {
        let Meant { objects, delay, graceful } = self.meant(resource, object).await?;
        let mut warnings = Vec::new();
        for object in objects {
            let note = Note::default();
            let command = match enable {
                true => Command::Enable { object, note },
                false => Command::Disable { object, delay, graceful, note, wait: None },
            };
            let done = self.app.command(self.caller.clone(), command, Duration::ZERO).await?;
            warnings.extend(done.warnings.into_iter().map(|text| Warning { code: 0, text }));
        }
        Ok(warnings)
    }

    /// What an entry of the payload means.
    async fn meant(&self, resource: &str, object: &Object) -> Result<Meant, Fault> {
        let keys = known(resource).unwrap_or_default();
        if let Some(unknown) = object.keys().find(|key| !keys.contains(&&key.to_ascii_lowercase()[..])) {
            return Err(Fault::new(1090, target::printable(unknown)));
        }
        let object: Object = object.iter().map(|(key, value)| (key.to_ascii_lowercase(), value.clone())).collect();
        let delay = seconds(object.get("delay"))?;
        let graceful = flag("graceful", object.get("graceful"))?;
        let of = resource.to_owned();
        let objects = self.app.read(move |world| objects(world, &of, &object)).await.map_err(Fault::from)??;
        Ok(Meant { objects, delay, graceful })
    }

    /// An act that a statement asked for.
    pub(super) async fn follow(&self, act: crate::netscaler::document::Act) -> Result<Vec<Warning>, Fault> {
        let kind = match act.resource.nitro {
            "server" => Kind::Server,
            "service" => Kind::Service,
            "servicegroup" if act.member.is_none() => Kind::ServiceGroup,
            "servicegroup" | "servicegroup_servicegroupmember_binding" => Kind::Service,
            _ => Kind::Vserver,
        };
        let name = match &act.member {
            Some(member) => format!("{}/{member}", act.name),
            None => act.name.clone(),
        };
        let object = ObjectRef::new(kind, name);
        let note = Note::default();
        let command = match act.enable {
            true => Command::Enable { object, note },
            false => Command::Disable { object, delay: None, graceful: false, note, wait: None },
        };
        let done = self.app.command(self.caller.clone(), command, Duration::ZERO).await?;
        Ok(done.warnings.into_iter().map(|text| Warning { code: 0, text }).collect())
    }

    /// The warning of the answer; none for a caller who did not ask.
    pub(super) fn told(&self, warnings: Vec<Warning>) -> Option<Warning> {
        if !self.wants_warnings() {
            return None;
        }
        // Those with a number are what clients look for.
        if let Some(numbered) = warnings.iter().find(|warning| warning.code != 0) {
            return Some(numbered.clone());
        }
        let texts: Vec<&str> = warnings.iter().map(|warning| without_place(&warning.text)).collect();
        (!texts.is_empty()).then(|| Warning { code: 0, text: texts.join("; ") })
    }

    pub(super) fn onerror(&self) -> Result<payload::OnError, Fault> {
        let (query, body) = (self.target.asked.onerror.as_deref(), self.payload.onerror.as_deref());
        payload::OnError::of(&self.parts.headers, query, body)
    }
}

/// A line of a text that nobody saw means nothing: `/etc/bascule.toml:12: vserver.x: …`.
fn without_place(warning: &str) -> &str {
    let Some((place, text)) = warning.split_once(": ") else { return warning };
    let is_line = place.rsplit_once(':').is_some_and(|(_, line)| line.bytes().all(|b| b.is_ascii_digit()));
    if is_line { text } else { warning }
}

fn text(value: Option<&Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    }
}

fn seconds(value: Option<&Value>) -> Result<Option<Duration>, Fault> {
    let wrong = || Fault::new(1097, "delay");
    let seconds = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(number)) => {
            number.as_f64().filter(|n| *n >= 0.0 && n.fract() == 0.0).map(|n| n as u64).ok_or_else(wrong)?
        }
        Some(Value::String(text)) if text.is_empty() => return Ok(None),
        Some(Value::String(text)) => text.trim().parse().map_err(|_| wrong())?,
        Some(_) => return Err(wrong()),
    };
    if seconds > DELAY_MAX {
        return Err(Fault::new(1108, format!("delay, maximum {DELAY_MAX}")));
    }
    Ok((seconds > 0).then(|| Duration::from_secs(seconds)))
}

fn flag(key: &str, value: Option<&Value>) -> Result<bool, Fault> {
    match value {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(Value::String(word)) => match &word.to_ascii_uppercase()[..] {
            "YES" | "TRUE" => Ok(true),
            "NO" | "FALSE" | "" => Ok(false),
            _ => Err(Fault::new(1097, key)),
        },
        Some(_) => Err(Fault::new(1097, key)),
    }
}

/// What a payload means.
fn objects(world: &World<'_>, resource: &str, object: &Object) -> Result<Vec<ObjectRef>, Fault> {
    let named = |key: &str| text(object.get(key)).ok_or_else(|| Fault::new(1095, key));
    let one = |kind: Kind, name: String| {
        if world.model.has(kind, &name) {
            Ok(vec![ObjectRef::new(kind, name)])
        } else {
            Err(Fault::no_such("name", &name))
        }
    };
    match resource {
        "server" => one(Kind::Server, named("name")?),
        "service" => one(Kind::Service, named("name")?),
        "gslbservice" => {
            super::gslb::switched(world, &named("servicename")?).map(|(kind, name)| vec![ObjectRef::new(kind, name)])
        }
        "lbmonitor" => checks(world, object),
        "servicegroup" if text(object.get("servername")).or(text(object.get("ip"))).is_none() => {
            let name = named("servicegroupname")?;
            if world.model.has(Kind::ServiceGroup, &name) {
                return Ok(vec![ObjectRef::new(Kind::ServiceGroup, name)]);
            }
            Err(Fault::no_such("serviceGroupName", &name))
        }
        "servicegroup" | "servicegroup_servicegroupmember_binding" => {
            let group = named("servicegroupname")?;
            Ok(vec![ObjectRef::new(Kind::Service, member(world, &group, object)?)])
        }
        _ => {
            let name = named("name")?;
            let role = world.model.vserver_id(&name).map(|id| &world.model.vserver(id).role);
            match (resource, role) {
                ("lbvserver", Some(Role::Lb)) | ("csvserver", Some(Role::Cs { .. })) | ("vserver", Some(_)) => {
                    Ok(vec![ObjectRef::new(Kind::Vserver, name)])
                }
                _ => Err(Fault::no_such("name", &name)),
            }
        }
    }
}

/// The member of `group` at this server (its name or address) and port, as a service.
fn member(world: &World<'_>, group: &str, object: &Object) -> Result<String, Fault> {
    let id = world.model.group_id(group).ok_or_else(|| Fault::no_such("serviceGroupName", group))?;
    let (server, port) = (text(object.get("servername")).or(text(object.get("ip"))), text(object.get("port")));
    let server = server.ok_or_else(|| Fault::new(1095, "serverName"))?;
    let is_it = |service: ServiceId| {
        let (ip, at) = live::endpoint(world, service);
        let of = world.model.service(service);
        let named = of.server.map(|server| &*world.model.servers[server.index()].name);
        (ip == server || named == Some(&server[..])) && port.as_ref().is_none_or(|port| *port == at.to_string())
    };
    let found: Vec<ServiceId> =
        world.model.groups[id.index()].members.iter().map(|m| m.service).filter(|s| is_it(*s)).collect();
    match found[..] {
        [one] => Ok(world.model.service(one).name.to_string()),
        [] => Err(Fault::no_such("serverName", &server)),
        _ => Err(Fault::new(1093, "port, serverName")),
    }
}

/// A monitor on a service, or on all members of a group; without `monitorname` all of theirs.
fn checks(world: &World<'_>, object: &Object) -> Result<Vec<ObjectRef>, Fault> {
    let monitor = text(object.get("monitorname"));
    let services: Vec<ServiceId> = match (text(object.get("servicename")), text(object.get("servicegroupname"))) {
        (Some(_), Some(_)) => return Err(Fault::new(1092, "serviceName, serviceGroupName")),
        (None, None) => return Err(Fault::new(1095, "serviceName")),
        (Some(name), None) => {
            vec![world.model.service_id(&name).ok_or_else(|| Fault::no_such("serviceName", &name))?]
        }
        (None, Some(name)) => {
            let id = world.model.group_id(&name).ok_or_else(|| Fault::no_such("serviceGroupName", &name))?;
            world.model.groups[id.index()].members.iter().map(|member| member.service).collect()
        }
    };
    let bound = services.iter().flat_map(|service| &world.model.service(*service).monitors);
    let meant = bound.filter(|binding| {
        monitor.as_deref().is_none_or(|name| *world.model.monitors[binding.monitor.index()].name == *name)
    });
    let checks: Vec<ObjectRef> =
        meant.map(|binding| ObjectRef::new(Kind::Check, world.model.check(binding.check).name.to_string())).collect();
    match (checks.is_empty(), monitor) {
        (true, Some(name)) => Err(Fault::no_such("monitorName", &name)),
        _ => Ok(checks),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_a_number_or_a_text_and_nothing_else() {
        let of = |value: Value| seconds(Some(&value)).map(|d| d.map_or(0, |d| d.as_secs())).map_err(|f| f.code);
        assert_eq!([of(30.into()), of("30".into()), of(30.0.into()), of(0.into())], [Ok(30), Ok(30), Ok(30), Ok(0)]);
        for wrong in [Value::from(-1), "soon".into(), true.into(), 1.5.into(), Value::from(vec![1])] {
            assert_eq!(of(wrong.clone()), Err(1097), "{wrong}");
        }
        assert_eq!(of(31_536_001.into()), Err(1108));
        assert_eq!((flag("graceful", Some(&"yes".into())), flag("graceful", Some(&true.into()))), (Ok(true), Ok(true)));
        assert!(flag("graceful", Some(&"maybe".into())).is_err());
    }
}
