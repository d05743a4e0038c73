//! `show ns ip`, `show route`, `show vlan`, `show dns nameServer`, `show ntp …`: the machine's network in NetScaler's words.

use reqwest::Method;
use serde_json::{Value, json};

use super::super::client::Client;
use super::commands::{Command, Request};
use super::execute::{Answer, Refused};
use super::grammar::Arguments;
use super::show::{self, Facts};
use crate::admin::dto::path_segment;

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Ip,
    Ip6,
    Route,
    Route6,
    Vlan,
    NameServer,
    NtpServer,
    NtpStatus,
}

type Build = fn(&Arguments) -> Result<Request, String>;

/// `show route [<network>]` and its like.
pub(super) const fn command(words: &'static [&'static str], usage: &'static str, shown: Shown) -> Command {
    let (most, build): (usize, Build) = match shown {
        Shown::Ip => (1, |a| Ok(request(Shown::Ip, a))),
        Shown::Ip6 => (1, |a| Ok(request(Shown::Ip6, a))),
        Shown::Route => (1, |a| Ok(request(Shown::Route, a))),
        Shown::Route6 => (1, |a| Ok(request(Shown::Route6, a))),
        Shown::Vlan => (1, |a| Ok(request(Shown::Vlan, a))),
        Shown::NameServer => (1, |a| Ok(request(Shown::NameServer, a))),
        Shown::NtpServer => (1, |a| Ok(request(Shown::NtpServer, a))),
        Shown::NtpStatus => (0, |a| Ok(request(Shown::NtpStatus, a))),
    };
    Command { words, least: 0, most, options: &[], usage, names: None, build }
}

fn request(shown: Shown, arguments: &Arguments) -> Request {
    Request::Network { shown, name: arguments.positional(0).map(str::to_owned) }
}

/// Asks for it, and says it.
pub(super) async fn shown(client: &Client, shown: Shown, name: Option<&str>) -> Result<Answer, Refused> {
    let resource = match shown {
        Shown::Ip => "nsip",
        Shown::Ip6 => "nsip6",
        Shown::Route => "route",
        Shown::Route6 => "route6",
        Shown::Vlan => "vlan",
        Shown::NameServer => "dnsnameserver",
        Shown::NtpServer => "ntpserver",
        Shown::NtpStatus => "ntpstatus",
    };
    let json = read(client, resource, name).await?;
    let list = Facts::list(&json, resource);
    let text = match shown {
        Shown::Ip => show::ns_ip(&list),
        Shown::Ip6 => one_by_one(&list, |facts| facts.said("ipv6address", "") + "\tSNIP"),
        Shown::Route => show::routes(&list),
        Shown::Route6 => {
            one_by_one(&list, |facts| facts.said("network", "") + "\tGateway: " + &facts.said("gateway", ""))
        }
        Shown::Vlan => {
            let interfaces =
                Facts::list(&read(client, "vlan_interface_binding", None).await?, "vlan_interface_binding");
            let addresses = Facts::list(&read(client, "vlan_nsip_binding", None).await?, "vlan_nsip_binding");
            one_by_one(&list, |vlan| show::vlan(vlan, &interfaces, &addresses))
        }
        Shown::NameServer => one_by_one(&list, |facts| facts.said("ip", "") + " - State: ENABLED"),
        Shown::NtpServer => one_by_one(&list, |facts| {
            let name = facts.said("servername", "");
            if name.is_empty() {
                format!("NTP Server: {}", facts.said("serverip", ""))
            } else {
                format!("NTP Server: {name}")
            }
        }),
        Shown::NtpStatus => list.iter().map(|facts| format!("\t{}\n", facts.said("response", ""))).collect(),
    };
    let items = json[resource].clone();
    let items = if items.is_null() { json!([]) } else { items };
    Ok(Answer { text, json: json!({ "items": items }), warnings: Vec::new() })
}

async fn read(client: &Client, resource: &str, name: Option<&str>) -> Result<Value, Refused> {
    let name = name.map(|name| format!("/{}", path_segment(name))).unwrap_or_default();
    Ok(client.call(Method::GET, &format!("/nitro/v1/config/{resource}{name}"), None).await?)
}

fn one_by_one(list: &[Facts], said: impl Fn(&Facts) -> String) -> String {
    list.iter().enumerate().map(|(at, facts)| format!("{})\t{}\n", at + 1, said(facts))).collect()
}
