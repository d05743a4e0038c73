//! `show gslb …`, `stat gslb …`, `show dns …`, `show lb group` and `show lb parameter`: what NITRO tells of them, in the
//! command line's words.

use reqwest::Method;
use serde_json::{Map, Value, json};

use super::super::client::Client;
use super::commands::{Command, Request};
use super::execute::{Answer, Refused};
use super::grammar::Arguments;
use crate::admin::dto::path_segment;

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Vserver,
    Service,
    Site,
    Zone,
    AddRec,
    VserverStatistics,
    ServiceStatistics,
    LbGroup,
    LbParameter,
}

/// `show gslb vserver [<name>]` and its like.
pub(super) const fn command(words: &'static [&'static str], usage: &'static str, shown: Shown) -> Command {
    let build: fn(&Arguments) -> Result<Request, String> = match shown {
        Shown::Vserver => |a| Ok(request(Shown::Vserver, a)),
        Shown::Service => |a| Ok(request(Shown::Service, a)),
        Shown::Site => |a| Ok(request(Shown::Site, a)),
        Shown::Zone => |a| Ok(request(Shown::Zone, a)),
        Shown::AddRec => |a| Ok(request(Shown::AddRec, a)),
        Shown::VserverStatistics => |a| Ok(request(Shown::VserverStatistics, a)),
        Shown::ServiceStatistics => |a| Ok(request(Shown::ServiceStatistics, a)),
        Shown::LbGroup => |a| Ok(request(Shown::LbGroup, a)),
        Shown::LbParameter => |a| Ok(request(Shown::LbParameter, a)),
    };
    // There is one of it.
    let most = if matches!(shown, Shown::LbParameter) { 0 } else { 1 };
    Command { words, least: 0, most, options: &[], usage, names: None, build }
}

fn request(shown: Shown, arguments: &Arguments) -> Request {
    Request::Gslb { shown, name: arguments.positional(0).map(str::to_owned) }
}

/// Asks for it, and says it.
pub(super) async fn shown(client: &Client, shown: Shown, name: Option<&str>) -> Result<Answer, Refused> {
    let (space, resource) = match shown {
        Shown::Vserver => ("config", "gslbvserver"),
        Shown::Service => ("config", "gslbservice"),
        Shown::Site => ("config", "gslbsite"),
        Shown::Zone => ("config", "dnszone"),
        Shown::AddRec => ("config", "dnsaddrec"),
        Shown::VserverStatistics => ("stat", "gslbvserver"),
        Shown::ServiceStatistics => ("stat", "gslbservice"),
        Shown::LbGroup => ("config", "lbgroup"),
        Shown::LbParameter => ("config", "lbparameter"),
    };
    let mut list = read(client, space, resource, name).await?;
    let with_bindings = matches!(shown, Shown::Vserver | Shown::Service | Shown::LbGroup);
    if let (true, Some(name), [one]) = (with_bindings, name, &mut list[..]) {
        let bound = read(client, "config", &format!("{resource}_binding"), Some(name)).await?;
        if let (Value::Object(one), Some(Value::Object(bound))) = (one, bound.into_iter().next()) {
            one.extend(bound);
        }
    }
    let whole = name.is_some();
    let text = list.iter().enumerate().map(|(at, item)| {
        let begin = if whole || shown == Shown::LbParameter { "\t".to_owned() } else { format!("{})\t", at + 1) };
        begin + &said(shown, item, whole)
    });
    Ok(Answer { text: text.collect(), json: json!({ "items": list }), warnings: Vec::new() })
}

async fn read(client: &Client, space: &str, resource: &str, name: Option<&str>) -> Result<Vec<Value>, Refused> {
    let mut path = format!("/nitro/v1/{space}/{resource}");
    if let Some(name) = name {
        path = format!("{path}/{}", path_segment(name));
    }
    let mut json = client.call(Method::GET, &path, None).await?;
    Ok(match json[resource].take() {
        Value::Array(list) => list,
        one @ Value::Object(_) => vec![one],
        _ => Vec::new(),
    })
}

fn said(shown: Shown, item: &Value, whole: bool) -> String {
    let field = |key: &str| text(item, key);
    match shown {
        Shown::Vserver => vserver(item, whole),
        Shown::Service => service(item, whole),
        Shown::Site => format!("Site Name: {}\tType: {}\n", field("sitename"), field("sitetype")),
        Shown::Zone => format!("Zone Name : {}\tProxy Mode : {}\n", field("zonename"), field("proxymode")),
        Shown::AddRec => {
            let (host, ttl) = (field("hostname"), field("ttl"));
            format!("Host Name : {host}\tTTL : {ttl} secs\tIP Address : {}\n", field("ipaddress"))
        }
        Shown::LbGroup => group(item),
        Shown::LbParameter => {
            let all = item.as_object().into_iter().flat_map(Map::keys).map(|key| format!("{key}: {}\n", field(key)));
            all.collect::<Vec<_>>().join("\t")
        }
        Shown::VserverStatistics => format!(
            "{}\tType: {}\tState: {}\tHealth: {}%\tActive: {}\tInactive: {}\tHits: {}\tBackup Hits: {}\n",
            field("name"),
            field("type"),
            field("state"),
            field("vslbhealth"),
            field("actsvcs"),
            field("inactsvcs"),
            field("tothits"),
            field("totvserverdownbackuphits"),
        ),
        Shown::ServiceStatistics => {
            let address = format!("{}:{}", field("primaryipaddress"), field("primaryport"));
            format!("{} ({address}) - {}\tState: {}\n", field("servicename"), field("servicetype"), field("state"))
        }
    }
}

fn group(item: &Value) -> String {
    let field = |key: &str| text(item, key);
    let (name, kind, timeout) = (field("name"), field("persistencetype"), field("timeout"));
    let mut out = format!("{name}\tPersistence: {kind}\tTimeout: {timeout} min");
    for (said, key) in [("Backup Persistence", "persistencebackup"), ("Cookie", "cookiename"), ("Rule", "rule")] {
        if !["", "NONE"].contains(&&field(key)[..]) {
            out += &format!("\t{said}: {}", field(key));
        }
    }
    out.push('\n');
    for (at, vserver) in list(item, "lbgroup_lbvserver_binding").enumerate() {
        out += &format!("\n{})\tVserver Name: {}\n", at + 1, text(vserver, "vservername"));
    }
    out
}

fn vserver(item: &Value, whole: bool) -> String {
    let field = |key: &str| text(item, key);
    let mut out = format!("{} - {}\tState: {}\n", field("name"), field("servicetype"), field("curstate"));
    out += &format!("\tConfigured Method: {}\tBackupMethod: {}\n", field("lbmethod"), field("backuplbmethod"));
    let (all, active) = (field("totalservices"), field("activeservices"));
    out += &format!("\tNo. of Bound Services : {all} (Total) {active} (Active)\tHealth: {}%\n", field("health"));
    if !field("backupvserver").is_empty() {
        out += &format!("\tBackup: {}\n", field("backupvserver"));
    }
    if !whole {
        return out;
    }
    out += &format!("\tDNS Record Type: {}\n", field("dnsrecordtype"));
    out += &format!("\tEmpty Down Response: {}\tMultiple IP Response: {}\n", field("edr"), field("mir"));
    for (at, member) in list(item, "gslbvserver_gslbservice_binding").enumerate() {
        let of = |key: &str| text(member, key);
        out += &format!(
            "\n{})\t{} ({}: {}) - {} State: {}\tWeight: {}\n",
            at + 1,
            of("servicename"),
            of("ipaddress"),
            of("port"),
            of("servicetype"),
            of("curstate"),
            of("weight"),
        );
    }
    for (at, domain) in list(item, "gslbvserver_domain_binding").enumerate() {
        let of = |key: &str| text(domain, key);
        let backup = if of("backupip").is_empty() { String::new() } else { format!("\tBackup IP: {}", of("backupip")) };
        out += &format!("\n{})\tDomain Name : {}\tTTL : {} secs{backup}\n", at + 1, of("domainname"), of("ttl"));
    }
    out
}

fn service(item: &Value, whole: bool) -> String {
    let field = |key: &str| text(item, key);
    let address = format!("{}: {}", field("ipaddress"), field("port"));
    let mut out = format!("{} ({address}) - {}\n", field("servicename"), field("servicetype"));
    out += &format!("\tState: {}\tSite: {}\n", field("svrstate"), field("sitename"));
    if !field("publicip").is_empty() {
        out += &format!("\tPublic IP: {}\tPublic Port: {}\n", field("publicip"), field("publicport"));
    }
    if !whole {
        return out;
    }
    for (at, monitor) in list(item, "gslbservice_lbmonitor_binding").enumerate() {
        let of = |key: &str| text(monitor, key);
        out += &format!("\n{})\tMonitor Name: {}\n", at + 1, of("monitor_name"));
        out += &format!("\t\tState: {}\tWeight: {}\n", of("monitor_state"), of("weight"));
        out += &format!("\t\tLast response: {}\n", of("lastresponse"));
    }
    out
}

/// A text, or a number as text; empty where there is none.
fn text(item: &Value, key: &str) -> String {
    match item.as_object().and_then(|object: &Map<String, Value>| object.get(key)) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    }
}

fn list<'a>(item: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    item.get(key).and_then(Value::as_array).into_iter().flatten()
}
