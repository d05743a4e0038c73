//! `show ssl vserver`, `show system user`, `show serviceGroupMember`: what NITRO tells of them, in NetScaler's layout.

use reqwest::Method;
use serde_json::{Value, json};

use super::super::client::Client;
use super::commands::{Command, Request};
use super::execute::{Answer, Refused};
use super::grammar::Arguments;
use super::nitro::{self, Space};
use super::show::{self, Counted, Facts};
use crate::admin::dto::{ServiceGroupDto, StatusDto, path_segment};
use crate::netscaler::error::NsError;

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    SslVserver,
    User,
    /// Of a service group: group, and server and port where one is meant.
    Member,
    MemberStatistics,
}

pub(super) const SSL_VSERVER: Command = Command {
    words: &["show", "ssl", "vserver"],
    least: 0,
    most: 1,
    options: &[],
    usage: "show ssl vserver [<name>]",
    names: Some(super::commands::View::Vserver),
    build: |arguments| Ok(request(Shown::SslVserver, arguments)),
};

pub(super) const USER: Command = Command {
    words: &["show", "system", "user"],
    usage: "show system user [<name>]",
    names: None,
    build: |arguments| Ok(request(Shown::User, arguments)),
    ..SSL_VSERVER
};

pub(super) const MEMBER: Command = Command {
    words: &["show", "serviceGroupMember"],
    least: 1,
    most: 3,
    usage: "show serviceGroupMember <serviceGroupName> [<server> [<port>]]",
    names: Some(super::commands::View::Group),
    build: |arguments| Ok(request(Shown::Member, arguments)),
    ..SSL_VSERVER
};

pub(super) const MEMBER_STATISTICS: Command = Command {
    words: &["stat", "serviceGroupMember"],
    least: 3,
    usage: "stat serviceGroupMember <serviceGroupName> <server> <port>",
    build: |arguments| Ok(request(Shown::MemberStatistics, arguments)),
    ..MEMBER
};

fn request(shown: Shown, arguments: &Arguments) -> Request {
    Request::Told { shown, names: arguments.positional.clone() }
}

/// Asks for it, and says it.
pub(super) async fn shown(client: &Client, shown: Shown, names: &[String]) -> Result<Answer, Refused> {
    let name = names.first().map(|name| &name[..]);
    let (text, json) = match shown {
        Shown::SslVserver => ssl_vservers(client, name).await?,
        Shown::User => users(client, name).await?,
        Shown::Member => members(client, names).await?,
        Shown::MemberStatistics => statistics(client, names).await?,
    };
    Ok(Answer { text, json, warnings: Vec::new() })
}

/// Of NITRO; it says what is not there.
async fn read(client: &Client, resource: &str, name: Option<&str>) -> Result<(Vec<Facts>, Value), Refused> {
    let name = name.map(|name| format!("/{}", path_segment(name))).unwrap_or_default();
    let json = client.call(Method::GET, &format!("/nitro/v1/config/{resource}{name}"), None).await?;
    Ok((Facts::list(&json, resource), json))
}

async fn ssl_vservers(client: &Client, name: Option<&str>) -> Result<(String, Value), Refused> {
    let (vservers, json) = read(client, "sslvserver", name).await?;
    let mut text = String::new();
    for vserver in &vservers {
        let name = vserver.said("vservername", "");
        let bound = |kind: &'static str| {
            let resource = format!("sslvserver_{kind}_binding");
            let name = name.clone();
            async move { nitro::objects(client, Space::Config, &resource, Some(&name)).await }
        };
        let suites = bound("sslciphersuite").await;
        if suites.is_empty() {
            // It speaks no TLS.
            continue;
        }
        text += &show::ssl_vserver(vserver, &bound("sslcertkey").await, &bound("ecccurve").await, &suites);
    }
    if let (true, Some(name)) = (text.is_empty(), name) {
        let error = NsError::no_such_resource("vServerName", name).because("it speaks no TLS");
        return Err(Refused::NetScaler { code: error.code.into(), message: error.message });
    }
    Ok((text, json["sslvserver"].clone()))
}

async fn users(client: &Client, name: Option<&str>) -> Result<(String, Value), Refused> {
    let (users, json) = read(client, "systemuser", name).await?;
    let mut text = String::new();
    for (at, user) in users.iter().enumerate() {
        if name.is_none() {
            text += &format!("{})\tUser name: {}\n", at + 1, user.said("username", ""));
            continue;
        }
        let policies = nitro::objects(client, Space::Config, "systemuser_systemcmdpolicy_binding", name).await;
        text += &show::system_user(user, &policies);
    }
    if users.is_empty() {
        text = "\tNo users: whoever is on this machine is the superuser\n".to_owned();
    }
    Ok((text, json["systemuser"].clone()))
}

async fn members(client: &Client, names: &[String]) -> Result<(String, Value), Refused> {
    let group = names.first().map_or("", |name| &name[..]);
    let path = format!("/api/v1/service-groups/{}", path_segment(group));
    let mut group: ServiceGroupDto = client.get(&path).await?;
    let now = client.get::<StatusDto>("/api/v1/status").await?.now;
    let (server, port) = (names.get(1), names.get(2));
    group.members.retain(|member| {
        let (host, at) = member.address.rsplit_once(':').unwrap_or((&member.address, ""));
        let host = host.trim_matches(['[', ']']);
        server.is_none_or(|server| member.server.as_ref() == Some(server) || host == server || member.name == *server)
            && port.is_none_or(|port| at == port)
    });
    if let (true, Some(server)) = (group.members.is_empty(), server) {
        let port = port.map(|port| format!(", port, {port}")).unwrap_or_default();
        let what = format!("No such resource [serverName, {server}{port}]: no member of {}", group.name);
        return Err(Refused::Ours(what));
    }
    let text = show::members(&group, &now);
    Ok((text, json!({ "items": group.members })))
}

/// Of one member.
async fn statistics(client: &Client, names: &[String]) -> Result<(String, Value), Refused> {
    let [group, server, port] = names else { return Err(Refused::Ours("Too few arguments".into())) };
    let path = format!("/nitro/v1/stat/servicegroup/{}?statbindings=yes", path_segment(group));
    let answer = client.call(Method::GET, &path, None).await?;
    let all = Facts::list(&answer, "servicegroup").into_iter().next().unwrap_or_default();
    let found = all.inner("servicegroupmember").into_iter().find(|member| {
        let is = |key: &str, wanted: &str| member.said(key, "") == wanted;
        (is("servername", server) || is("primaryipaddress", server)) && is("primaryport", port)
    });
    match found {
        Some(member) => {
            let json = Value::Object(member.0.clone());
            Ok((Counted::Service.one(&member.named(&member.said("servicegroupname", "")), &[]), json))
        }
        None => {
            let what = format!("No such resource [serverName, {server}, port, {port}]: no member of {group}");
            Err(Refused::Ours(what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::request as parse;
    use super::*;

    #[test]
    fn what_nitro_tells_of_is_asked_for_in_netscalers_words() {
        let told = |shown, names: &[&str]| {
            Ok(Some(Request::Told { shown, names: names.iter().map(|name| (*name).to_owned()).collect() }))
        };
        assert_eq!(parse("show ssl vs web"), told(Shown::SslVserver, &["web"]));
        assert_eq!(parse("sh system user"), told(Shown::User, &[]));
        assert_eq!(parse("show serviceGroupM pool app1 80"), told(Shown::Member, &["pool", "app1", "80"]));
        assert_eq!(
            parse("stat servicegroupmember pool app1 80"),
            told(Shown::MemberStatistics, &["pool", "app1", "80"])
        );
        assert!(parse("stat serviceGroupMember pool").is_err());
    }
}
