//! Data centres and the access lists by which a site is seen; every target is a check.

use std::collections::HashMap;

use super::Context;
use super::check::{leave_from, schedule};
use super::names::maintenance;
use super::object::Object;
use crate::config::document::{Node, Path, Place, Table};
use crate::config::values;
use crate::model::check::{Check, HttpExpect, HttpRequest, Origin, Probe, StatusRange, Target, TlsProbe};
use crate::model::condition::Signal;
use crate::model::id::{CheckId, DatacenterId, Name, SwitchId};
use crate::model::net::Network;
use crate::model::scenario::{AccessList, AccessTarget, Datacenter};

/// The lists of every data centre in the order of the ids, and the checks made of their targets.
pub struct AccessLists {
    lists: Vec<[Option<AccessList>; 3]>,
    pub checks: Vec<Check>,
}

const SIGNALS: [Signal; 3] = [Signal::Wan, Signal::Lan, Signal::Internet];

/// `dc:NAME.wan#0`
fn target_name(datacenter: &str, signal: Signal, index: usize) -> Name {
    format!("dc:{datacenter}.{}#{index}", signal.word()).into()
}

/// The names that targets will have as checks.
pub fn target_names(document: &Table) -> Vec<(Name, Place)> {
    let mut names = Vec::new();
    for (name, _, table) in super::section(document, "datacenter") {
        for signal in SIGNALS {
            let list = table.get(signal.word()).and_then(Node::table).and_then(|list| list.get("targets"));
            let targets = list.and_then(Node::list).unwrap_or(&[]).iter().enumerate();
            names.extend(targets.map(|(index, node)| (target_name(name, signal, index), node.place)));
        }
    }
    names
}

pub fn all(cx: &mut Context<'_>) -> AccessLists {
    let mut all = AccessLists { lists: vec![[None, None, None]; cx.names.datacenters.len()], checks: Vec::new() };
    let root = Path::Root;
    let section = root.key("datacenter");
    for (name, _, table) in cx.section("datacenter") {
        let path = section.key(name);
        if name.contains('@') || name.contains('#') {
            cx.report.error(
                table.entries.first().map_or_else(Place::default, |e| e.place),
                path,
                format!("{path}: a data centre's name cannot hold `@` or `#`"),
            );
        }
        let Some(id) = cx.names.datacenters.id(name) else { continue };
        for (at, signal) in SIGNALS.into_iter().enumerate() {
            let Some(entry) = table.entry(signal.word()) else { continue };
            let Some(list) = entry.node.table() else { continue };
            let object = Object::new(list, cx.defaults("check"), path.key(signal.word()), entry.place);
            all.lists[id][at] = list_of(cx, &object, name, DatacenterId::from_index(id), signal, &mut all.checks);
        }
    }
    all
}

fn list_of(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    name: &str,
    datacenter: DatacenterId,
    signal: Signal,
    checks: &mut Vec<Check>,
) -> Option<AccessList> {
    let schedule = schedule(cx, object);
    let nodes = object.own("targets")?.list()?;
    let mut targets = Vec::with_capacity(nodes.len());
    let path = object.path.key("targets");
    for (index, node) in nodes.iter().enumerate() {
        let text = node.text().unwrap_or("");
        let (target, mut probe) = match probe(text) {
            Ok(probe) => probe,
            Err(why) => {
                if !text.is_empty() {
                    let path = path.item(index);
                    cx.report.error(node.place, path, format!("{path}: {why}"));
                }
                continue;
            }
        };
        if targets.iter().any(|other: &AccessTarget| &*other.text == text) {
            let path = path.item(index);
            cx.report.error(node.place, path, format!("{path}: `{text}` stands twice; a quorum would count it twice"));
        }
        leave_from(cx, object, &mut probe);
        let target = probe.target().cloned().unwrap_or(target);
        let check_name = target_name(name, signal, index);
        let Some(check) = cx.names.checks.id(&check_name) else { continue };
        let origin = Origin::Target { datacenter, signal, index: index as u32 };
        checks.push(Check { name: check_name, origin, probe, schedule: schedule.clone() });
        targets.push(AccessTarget { text: text.into(), check: CheckId::from_index(check), target });
    }
    if nodes.is_empty() {
        object.wrong(cx.report, "targets", "an access list needs at least one target");
    }
    let majority = nodes.len() as u32 / 2 + 1;
    let quorum = object.int("quorum").unwrap_or(majority);
    if quorum as usize > nodes.len() && !nodes.is_empty() {
        object.wrong(cx.report, "quorum", format!("{quorum} can never be reached by {} targets", nodes.len()));
    }
    Some(AccessList { targets, quorum, schedule })
}

/// `tcp:192.0.2.1:443`, `ping:192.0.2.1`, `http://…`, `https://…`
fn probe(text: &str) -> Result<(Target, Probe), String> {
    if let Some(address) = text.strip_prefix("tcp:") {
        let (host, port) = values::host_port(address)?;
        let target = Target::at(host, port);
        return Ok((target.clone(), Probe::Tcp { target }));
    }
    if let Some(address) = text.strip_prefix("ping:") {
        let target = Target::at(values::host(address)?, 0);
        return Ok((target.clone(), Probe::Ping { target }));
    }
    if !text.contains("://") {
        let shown = values::without_userinfo(text);
        return Err(format!(
            "`{shown}` is not a target; write `tcp:HOST:PORT`, `ping:HOST`, `http://…` or `https://…`"
        ));
    }
    let url = values::url(text)?;
    let target = Target::at(url.host, url.port);
    let request =
        HttpRequest { method: "GET".into(), path: url.path.into(), host: None, headers: Vec::new(), body: Vec::new() };
    // Whoever answers is there: a redirect of a neutral anchor counts as reached.
    let expect = HttpExpect {
        status: vec![StatusRange { from: 200, to: 399 }],
        headers: Vec::new(),
        body: None,
        trofs_code: None,
        trofs_body: None,
    };
    let tls = url.tls.then_some(TlsProbe { server_name: None, verify: true });
    Ok((target.clone(), Probe::Http { target, tls, request, expect }))
}

pub fn datacenters(cx: &mut Context<'_>, lists: AccessLists) -> Vec<Datacenter> {
    let mut datacenters = Vec::with_capacity(lists.lists.len());
    for (id, [wan, lan, internet]) in lists.lists.into_iter().enumerate() {
        let Some(name) = cx.names.datacenters.name(id).cloned() else { continue };
        let switch = cx.names.switches.id(&maintenance(&name)).unwrap_or(0);
        let networks = networks(cx, &name);
        datacenters.push(Datacenter { name, wan, lan, internet, networks, maintenance: SwitchId::from_index(switch) });
    }
    twice(cx, &datacenters);
    datacenters
}

fn networks(cx: &mut Context<'_>, name: &str) -> Vec<Network> {
    let section = cx.section("datacenter");
    let table = section.into_iter().find(|(key, _, _)| *key == name).map(|(_, _, table)| table);
    let root = Path::Root;
    table.map_or_else(Vec::new, |table| {
        super::dns::networks(&Object::new(table, None, root.key("datacenter"), Place::default()), "networks")
    })
}

/// A network is of one data centre.
fn twice(cx: &mut Context<'_>, datacenters: &[Datacenter]) {
    let mut seen: HashMap<Network, &str> = HashMap::new();
    for datacenter in datacenters {
        for network in &datacenter.networks {
            let Some(first) = seen.insert(*network, &datacenter.name) else { continue };
            let section = cx.section("datacenter");
            let table = section.into_iter().find(|(key, _, _)| **key == *datacenter.name).map(|(_, _, table)| table);
            let place = table.and_then(|table| table.get("networks")).map(|node| node.place).unwrap_or_default();
            let path = format!("datacenter.{}.networks", datacenter.name);
            cx.report.error(place, &path, format!("{path}: {network} stands twice; first in `{first}`"));
        }
    }
}
