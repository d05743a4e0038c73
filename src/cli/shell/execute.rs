//! A request to calls, and what they answered.

use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::client::Client;
use super::super::{drill, explain, journal};
use super::commands::{Explained, Request, View};
use super::configure;
use super::nitro::Settings;
pub(super) use super::refused::Refused;
use super::{boxed, follow, nitro, objects, policies, show, stat, tools};
use crate::admin::dto::{
    CertificateDto, CheckDto, DatacenterDto, Items, LbMonitorDto, RuleDto, ScenarioDto, ServerDto, ServiceDto,
    ServiceGroupDto, StatsDto, StatusDto, SwitchDto, VserverDto, ZoneDto, path_segment,
};

/// What a command answered, for people and for programs.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Answer {
    pub text: String,
    pub json: Value,
    /// Printed before `Done`.
    pub warnings: Vec<String>,
}

pub(super) async fn execute(client: &Client, request: Request) -> Result<Answer, Refused> {
    match request {
        Request::Show { view, name, statistics } => shown(client, view, name.as_deref(), statistics).await,
        Request::Act { put, path, body } => {
            let method = if put { Method::PUT } else { Method::POST };
            act(client, method, &path, &body).await
        }
        Request::Network { shown, name } => super::network::shown(client, shown, name.as_deref()).await,
        Request::Gslb { shown, name } => super::gslb::shown(client, shown, name.as_deref()).await,
        Request::Connections(query) => {
            let query: Vec<String> = query.iter().map(|(name, v)| format!("{name}={}", path_segment(v))).collect();
            let path = format!("/api/v1/connections?{}", query.join("&"));
            let json = client.call(Method::GET, path.trim_end_matches('?'), None).await?;
            Ok(Answer { text: show::connections(&items(&json)?), json, warnings: Vec::new() })
        }
        Request::Persistence { clear, query } => {
            let query: Vec<String> = query.iter().map(|(name, v)| format!("{name}={}", path_segment(v))).collect();
            let path = format!("/api/v1/persistence?{}", query.join("&"));
            let method = if clear { Method::DELETE } else { Method::GET };
            let json = client.call(method, path.trim_end_matches('?'), None).await?;
            let text = show::persistence(&json);
            let notes = json["notes"].as_array().into_iter().flatten();
            let warnings = notes.filter_map(|note| note.as_str().map(str::to_owned)).collect();
            Ok(Answer { text, json, warnings })
        }
        Request::Explain { what, path, body } => {
            let method = if body.is_some() { Method::POST } else { Method::GET };
            let mut json = client.call(method, &path, body.as_ref()).await?;
            let mut warnings = Vec::new();
            let told = match what {
                Explained::Dns => explain::told,
                Explained::Request => explain::request_told,
                Explained::Service => explain::service_told,
                Explained::Journal { most } => {
                    let left_out = journal::newest_last(&mut json, most);
                    warnings.extend(left_out.map(|through| journal::earlier(through, "-limit", "-since")));
                    journal::entries
                }
                Explained::Shipping => journal::shipping,
            };
            Ok(Answer { text: told(&json), json, warnings })
        }
        Request::Send(path) => {
            let json = client.call(Method::POST, &format!("/api/v1/{path}"), None).await?;
            Ok(Answer { text: show::list(&items(&json)?, true, show::delivery), json, warnings: Vec::new() })
        }
        Request::Transfer { path, body } => {
            let json = client.call(Method::POST, &format!("/api/v1/{path}"), Some(&body)).await?;
            Ok(Answer {
                text: show::list(&items::<ZoneDto>(&json)?, true, |z| show::zone(z, true)),
                json,
                warnings: Vec::new(),
            })
        }
        Request::StartDrill { dry_run, body } => {
            let path = if dry_run { "/api/v1/drills?dry_run=true" } else { "/api/v1/drills" };
            let json = client.call(Method::POST, path, Some(&body)).await?;
            Ok(drilled(json))
        }
        Request::StopDrill { drill, body } => {
            let path = drill::stop_path(client, drill.as_deref()).await?;
            let json = client.call(Method::POST, &path, Some(&body)).await?;
            Ok(drilled(json))
        }
        Request::Delete(path) => {
            let json = client.call(Method::DELETE, &format!("/api/v1/{path}"), None).await?;
            Ok(Answer { text: String::new(), json, warnings: Vec::new() })
        }
        Request::Nitro { method, path, body } => nitro::change(client, method, &path, body.as_ref()).await,
        Request::Member { group, server, port, act: word, body } => {
            let member = member(client, &group, &server, &port).await?;
            let path = format!("service-groups/{}/members/{}/{word}", path_segment(&group), path_segment(&member));
            act(client, Method::POST, &path, &body).await
        }
        Request::Monitors { owner, monitor, act: word, body } => {
            let mut answer = Answer { text: String::new(), json: json!({}), warnings: Vec::new() };
            for check in checks_of(client, &owner, monitor.as_deref()).await? {
                let one = act(client, Method::POST, &format!("checks/{}/{word}", path_segment(&check)), &body).await?;
                answer.json = one.json;
                answer.warnings.extend(one.warnings);
            }
            Ok(answer)
        }
        Request::ReturnScenario { name, reason } => {
            let mut body = json!({ "activate": "auto", "deactivate": "on" });
            if let Some(reason) = reason {
                body["reason"] = reason.into();
            }
            act(client, Method::PUT, &format!("scenarios/{}/modes", path_segment(&name)), &body).await
        }
        Request::RunningConfig { toml } => configure::running(client, toml).await,
        Request::Line(line) => configure::line(client, &line).await,
        Request::Features => configure::features(client).await,
        Request::Told { shown, names } => objects::shown(client, shown, &names).await,
        Request::Summary { view, name } => summary(client, view, name.as_deref()).await,
        Request::Policies { nitro, name } => policies::shown(client, nitro, name.as_deref()).await,
        Request::PolicyStatistics { nitro, name, detail } => {
            policies::counted(client, nitro, name.as_deref(), detail).await
        }
        Request::Modes { enable, modes } => nitro::switch_modes(client, enable, &modes).await,
        Request::Stat { view, name, detail } => match stat::counted(view) {
            Some(what) => stat::stat(client, view, what, name.as_deref(), detail).await,
            None => shown(client, view, name.as_deref(), true).await,
        },
        Request::StatAndClear { request, path } => {
            let answer = Box::pin(execute(client, *request)).await?;
            client.call(Method::GET, &path, None).await?;
            Ok(answer)
        }
        Request::ClearStatistics { level } => nitro::clear_statistics(client, &level).await,
        Request::Moment { view, name, at } => stat::moment(client, view, &name, &at).await,
        Request::Boxed(what) => boxed::show(client, what).await,
        Request::Save => {
            let mut answer = act(client, Method::POST, "config/save", &json!({})).await?;
            configure::saved(&mut answer);
            Ok(answer)
        }
        Request::Status => {
            let json = client.call(Method::GET, "/api/v1/status", None).await?;
            let text = items::<StatusDto>(&json)?.iter().map(show::status).collect();
            Ok(Answer { text, json, warnings: Vec::new() })
        }
        Request::Techsupport => tools::techsupport(client).await,
        Request::Traces => tools::traces(client).await,
        Request::StartTrace(body) => tools::start(client, &body).await,
        Request::StopTrace => tools::stop(client).await,
        Request::Appliance => boxed::statistics(client).await,
        Request::Help { words } => follow::help(&words),
        // The session carries them out.
        Request::Leave { .. }
        | Request::Quit
        | Request::Setup
        | Request::Batch { .. }
        | Request::Repeat { .. }
        | Request::Many(_) => follow::help(&[]),
    }
}

/// A drill as it stands after an act.
fn drilled(json: Value) -> Answer {
    let warnings = json["warnings"].as_array().into_iter().flatten();
    let warnings = warnings.filter_map(|warning| warning.as_str().map(str::to_owned)).collect();
    Answer { text: drill::told(&json), json, warnings }
}

async fn shown(client: &Client, view: View, name: Option<&str>, statistics: bool) -> Result<Answer, Refused> {
    if let (true, Some(name), View::Vserver) = (statistics, name, view) {
        let path = format!("/api/v1/stats/{}/{}?cleared=true", view.collection(), path_segment(name));
        let json = client.call(Method::GET, &path, None).await?;
        let text = items(&json)?.iter().map(show::statistics_of_one).collect();
        return Ok(Answer { text, json, warnings: Vec::new() });
    }
    if let (true, Some(name), View::Check) = (statistics, name, view) {
        let json = client.call(Method::GET, &format!("/api/v1/checks/{}/history", path_segment(name)), None).await?;
        let text = serde_json::from_value(json.clone()).map(|history| show::check_history(&history));
        let text =
            text.map_err(|error| Refused::Ours(format!("the appliance answers as another version would: {error}")))?;
        return Ok(Answer { text, json, warnings: Vec::new() });
    }
    let path = match name {
        None => format!("/api/v1/{}", view.collection()),
        Some(name) => format!("/api/v1/{}/{}", view.collection(), path_segment(name)),
    };
    let json = client.call(Method::GET, &path, None).await?;
    // Times since a change are told by the appliance's clock.
    let now = client.get::<StatusDto>("/api/v1/status").await?.now;
    let whole = name.is_some();
    let settings = if statistics { Settings::none() } else { Settings::of(client, view, name).await };
    let text = match (view, statistics) {
        (View::Vserver | View::LbVserver | View::CsVserver, true) => {
            let cleared = client.get::<Items<StatsDto>>("/api/v1/stats/vservers?cleared=true").await?.items;
            show::vserver_statistics(&vservers(view, &json)?, &cleared)
        }
        (View::Service, _) => {
            show::list(&items::<ServiceDto>(&json)?, whole, |s| show::service(s, &now, whole, &settings.find(&s.name)))
        }
        (View::Group, _) => {
            let list = items::<ServiceGroupDto>(&json)?;
            show::list(&list, whole, |g| show::group(g, &now, whole, &settings.find(&g.name)))
        }
        (View::Server, true) => show::server_statistics(&items(&json)?),
        (View::Server, false) => {
            show::list(&items::<ServerDto>(&json)?, whole, |s| show::server(s, &settings.find(&s.name)))
        }
        (View::Vserver | View::LbVserver | View::CsVserver, false) => {
            let list = vservers(view, &json)?;
            let bound = match (name, &list[..]) {
                (Some(name), [one]) => Settings::bound(client, &one.role, name).await,
                _ => show::Facts::default(),
            };
            show::list(&list, whole, |v| show::vserver(v, &now, whole, &settings.find(&v.name), &bound))
        }
        (View::Scenario, _) => show::list(&items::<ScenarioDto>(&json)?, whole, |s| show::scenario(s, &now, whole)),
        (View::Monitor, _) => {
            let list = items::<LbMonitorDto>(&json)?;
            show::list(&list, whole, |m| show::lb_monitor(m, whole, &settings.find(&m.name)))
        }
        (View::Check, true) => show::check_statistics(&items(&json)?),
        (View::Check, false) => show::list(&items::<CheckDto>(&json)?, whole, |c| show::check(c, &now)),
        (View::Switch, _) => show::list(&items::<SwitchDto>(&json)?, whole, show::switch),
        (View::Datacenter, _) => show::list(&items::<DatacenterDto>(&json)?, whole, |d| show::datacenter(d, whole)),
        (View::Pair, _) => show::list(&items(&json)?, whole, |p| show::pair(p, whole)),
        (View::Peer, _) => show::list(&items(&json)?, whole, |p| show::peer(p, whole)),
        (View::Rule, true) => show::rule_statistics(&items(&json)?),
        (View::Rule, false) => show::list(&items::<RuleDto>(&json)?, whole, show::rule),
        (View::Certificate, _) => show::list(&items::<CertificateDto>(&json)?, whole, |c| show::certificate(c, whole)),
        (View::Trigger, _) => show::list(&items(&json)?, whole, show::trigger),
        (View::Query, _) => show::list(&items(&json)?, whole, show::query),
        (View::Outbox, _) => show::list(&items(&json)?, whole, show::delivery),
        (View::Alerts, _) => show::list(&items(&json)?, whole, show::alert),
        (View::Drill, _) if whole => drill::told(&json),
        (View::Drill, _) => drill::table(&items(&json)?),
        (View::Zone, _) => show::list(&items::<ZoneDto>(&json)?, whole, |z| show::zone(z, whole)),
    };
    Ok(Answer { text, json, warnings: Vec::new() })
}

/// `show … -summary`
async fn summary(client: &Client, view: View, name: Option<&str>) -> Result<Answer, Refused> {
    let name = name.map(|name| format!("/{}", path_segment(name))).unwrap_or_default();
    let json = client.call(Method::GET, &format!("/api/v1/{}{name}", view.collection()), None).await?;
    let role = match view {
        View::LbVserver => Some("lb"),
        View::CsVserver => Some("cs"),
        _ => None,
    };
    let all = match json["items"].as_array() {
        Some(items) => items.iter().collect(),
        None => vec![&json],
    };
    let of_role: Vec<&Value> = all.into_iter().filter(|one| role.is_none_or(|role| one["role"] == role)).collect();
    let text = show::summary(view, &of_role);
    Ok(Answer { text, json, warnings: Vec::new() })
}

/// Vservers of the role that is asked for; one that is asked for by name must have it.
fn vservers(view: View, json: &Value) -> Result<Vec<VserverDto>, Refused> {
    let mut all = items::<VserverDto>(json)?;
    let role = match view {
        View::LbVserver => "lb",
        View::CsVserver => "cs",
        _ => return Ok(all),
    };
    if json.get("items").is_none()
        && let Some(other) = all.iter().find(|vserver| vserver.role != role)
    {
        return Err(Refused::of_another_role(&other.name, &other.role));
    }
    all.retain(|vserver| vserver.role == role);
    Ok(all)
}

/// The items of a collection, or the one object as a list.
pub(super) fn items<T: DeserializeOwned>(json: &Value) -> Result<Vec<T>, Refused> {
    let parsed = match json.get("items") {
        Some(_) => serde_json::from_value::<Items<T>>(json.clone()).map(|list| list.items),
        None => serde_json::from_value::<T>(json.clone()).map(|one| vec![one]),
    };
    parsed.map_err(|error| Refused::Ours(format!("the appliance answers as another version would: {error}")))
}

async fn act(client: &Client, method: Method, path: &str, body: &Value) -> Result<Answer, Refused> {
    let json = client.call(method, &format!("/api/v1/{path}"), Some(body)).await?;
    let warnings = json.get("warnings").and_then(Value::as_array).into_iter().flatten();
    let mut warnings: Vec<String> = warnings.filter_map(Value::as_str).map(str::to_owned).collect();
    let left = json.get("still_draining").and_then(Value::as_array).into_iter().flatten();
    warnings.extend(left.filter_map(Value::as_str).map(|line| format!("still draining: {line}")));
    // Of a dry run.
    let changes = json.get("changes").and_then(Value::as_array).into_iter().flatten();
    let text = changes.filter_map(Value::as_str).map(|line| format!("\twould change {line}\n")).collect();
    Ok(Answer { text, json, warnings })
}

/// The member of a group that stands on `server` (a server object, or an address) at `port`.
async fn member(client: &Client, group: &str, server: &str, port: &str) -> Result<String, Refused> {
    let group: ServiceGroupDto = client.get(&format!("/api/v1/service-groups/{}", path_segment(group))).await?;
    let suffix = format!(":{port}");
    let found = group.members.iter().find(|member| {
        let host = member.address.strip_suffix(&suffix).map(|host| host.trim_matches(['[', ']']));
        host.is_some_and(|host| member.server.as_deref() == Some(server) || host == server)
    });
    match found {
        Some(member) => Ok(member.name.clone()),
        None => {
            let what = format!("No such resource [serverName, {server}, port, {port}]: no member of {}", group.name);
            Err(Refused::Ours(what))
        }
    }
}

/// The checks that monitors make on a service, or on all members of a group; of one monitor, or of all.
async fn checks_of(client: &Client, owner: &str, monitor: Option<&str>) -> Result<Vec<String>, Refused> {
    let service = client.get::<ServiceDto>(&format!("/api/v1/services/{}", path_segment(owner))).await;
    let services = match service {
        Ok(service) => vec![service],
        Err(missing) => {
            let path = format!("/api/v1/service-groups/{}", path_segment(owner));
            // Where neither is there, the service is what was most likely meant.
            let Ok(group) = client.get::<ServiceGroupDto>(&path).await else { return Err(missing.into()) };
            let mut services = Vec::new();
            for member in &group.members {
                services.push(client.get(&format!("/api/v1/services/{}", path_segment(&member.service))).await?);
            }
            services
        }
    };
    let bound = services.into_iter().flat_map(|service: ServiceDto| service.monitors);
    let checks: Vec<String> =
        bound.filter(|one| monitor.is_none_or(|name| one.name == name)).map(|one| one.check).collect();
    match (checks.is_empty(), monitor) {
        (false, _) => Ok(checks),
        (true, Some(name)) => {
            Err(Refused::Ours(format!("No such resource [monitorName, {name}]: it is not bound to {owner}")))
        }
        (true, None) => Err(Refused::Ours(format!("No such resource [monitorName]: {owner} has none"))),
    }
}
