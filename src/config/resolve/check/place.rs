//! Where a check looks: one target, several with a quorum, the address that it leaves from, or what is known already.

use std::collections::HashSet;
use std::net::IpAddr;

use super::{BY_URL, probe};
use crate::config::document::Node;
use crate::config::resolve::Context;
use crate::config::resolve::object::Object;
use crate::config::resolve::term::{Scope, term};
use crate::config::values;
use crate::model::check::{Derived, Host, Probe, Target};
use crate::model::condition::Subject;
use crate::model::id::Name;

/// Targets of one check. Each takes a socket while it is asked.
const TARGETS_MAX: usize = 16;

/// Whether an address is written with its port.
#[derive(Clone, Copy)]
pub(super) enum Port {
    None,
    Needed,
    Default(u16),
}

/// The port of a type, plain or over TLS. HTTP has its own: the URL holds it.
pub(super) fn port_of(word: &str, tls: bool) -> Port {
    let port = match (word, tls) {
        ("PING", _) => return Port::None,
        // A script may know by itself.
        ("USER", _) => return Port::Default(0),
        ("DNS" | "DNS-TCP", _) => 53,
        ("FTP" | "FTP-EXTENDED", false) => 21,
        ("FTPS" | "FTP" | "FTP-EXTENDED", _) => 990,
        ("SMTP", false) => 25,
        ("SMTP", true) => 465,
        ("POP3", false) => 110,
        ("POP3", true) => 995,
        ("NNTP", false) => 119,
        ("NNTP", true) => 563,
        ("LDAP", false) => 389,
        ("LDAP" | "LDAPS", _) => 636,
        ("RADIUS", _) => 1812,
        ("RADIUS_ACCOUNTING", _) => 1813,
        ("MYSQL" | "MYSQL-ECV", _) => 3306,
        ("POSTGRESQL", _) => 5432,
        ("ORACLE", _) => 1521,
        ("REDIS", _) => 6379,
        ("MQTT", false) => 1883,
        ("MQTT", true) => 8883,
        _ => return Port::Needed,
    };
    Port::Default(port)
}

pub(super) fn target(text: &str, port: Port) -> Result<Target, String> {
    match port {
        Port::None => values::host(text).map(|host| Target::at(host, 0)),
        Port::Default(port) if values::host(text).is_ok() => values::host(text).map(|host| Target::at(host, port)),
        _ => values::host_port(text).map(|(host, port)| Target::at(host, port)),
    }
}

/// Stands in where the text is none; the model is thrown away.
pub(super) fn nowhere() -> Target {
    Target::new(([0, 0, 0, 0], 0).into())
}

/// `targets`: the same of each, and how many must pass. `None`: there are none.
pub(super) fn several(cx: &mut Context<'_>, object: &Object<'_>, word: &str) -> Option<Probe> {
    let nodes = object.own("targets")?.list()?;
    object.only(cx.report, &["url", "address"], "beside `targets`");
    if nodes.is_empty() {
        object.wrong(cx.report, "targets", "there is no target in it");
    }
    if nodes.len() > TARGETS_MAX {
        let count = nodes.len();
        object.wrong(cx.report, "targets", format!("{count} targets; a check has {TARGETS_MAX} at most"));
    }
    let first = probe(cx, object, word, Some(nodes.first().and_then(Node::text).unwrap_or("")));
    let path = object.path.key("targets");
    let (mut probes, mut seen) = (Vec::with_capacity(nodes.len()), HashSet::new());
    for (index, node) in nodes.iter().enumerate() {
        let Some(text) = node.text() else { continue };
        let mut wrong = |why: String| {
            let path = path.item(index);
            cx.report.error(node.place, path, format!("{path}: {why}"));
        };
        if !seen.insert(text) {
            wrong(format!("`{text}` stands twice; a quorum would count it twice"));
        }
        match same_of(&first, word, text) {
            Ok(probe) => probes.push(probe),
            Err(why) => wrong(why),
        }
    }
    let quorum = object.int("quorum").unwrap_or(nodes.len() as u32 / 2 + 1);
    if quorum as usize > nodes.len() && !nodes.is_empty() {
        object.wrong(cx.report, "quorum", format!("{quorum} can never be reached by {} targets", nodes.len()));
    }
    Some(Probe::Several { probes: probes.into(), quorum })
}

/// The first of several probes, of another target.
fn same_of(first: &Probe, word: &str, text: &str) -> Result<Probe, String> {
    let mut probe = first.clone();
    if !BY_URL.contains(&word) {
        let tls = matches!(first, Probe::Dialogue { tls: Some(_), .. });
        probe.set_target(target(text, port_of(word, tls))?);
        return Ok(probe);
    }
    let url = values::url(text)?;
    if let Probe::Http { tls, request, .. } | Probe::Http2 { tls, request, .. } = &mut probe {
        if tls.is_some() != url.tls {
            return Err("the URLs of one check are all https:// or all http://".to_owned());
        }
        request.path = url.path.as_str().into();
    }
    probe.set_target(Target::at(url.host, url.port));
    Ok(probe)
}

/// `source`: every probe of it leaves from there.
pub fn leave_from(cx: &mut Context<'_>, object: &Object<'_>, probe: &mut Probe) {
    let Some(source) = object.ip("source") else { return };
    if source.is_unspecified() || source.is_multicast() {
        object.wrong(cx.report, "source", format!("{source} is not an address that anything leaves from"));
        return;
    }
    if probe.word() == "ORACLE" {
        object.wrong(cx.report, "source", "means nothing for a check of type ORACLE: its driver leaves as it chooses");
        return;
    }
    match probe {
        Probe::Several { probes, quorum } => {
            let mut each: Vec<Probe> = probes.to_vec();
            each.iter_mut().for_each(|probe| from(cx, object, source, probe));
            *probe = Probe::Several { probes: each.into(), quorum: *quorum };
        }
        one => from(cx, object, source, one),
    }
}

fn from(cx: &mut Context<'_>, object: &Object<'_>, source: IpAddr, probe: &mut Probe) {
    let Some(target) = probe.target() else { return };
    if let Host::Ip(ip) = target.host
        && ip.is_ipv4() != source.is_ipv4()
        && ip != nowhere_ip()
    {
        object.wrong(cx.report, "source", format!("{source} cannot reach {ip}: one is IPv4, the other IPv6"));
    }
    let target = Target { source: Some(source), ..target.clone() };
    probe.set_target(target);
}

fn nowhere_ip() -> IpAddr {
    [0, 0, 0, 0].into()
}

/// What a type looks at that asks nobody; `None`: it is another type.
pub(super) fn derived_of(word: &str) -> Option<Derived> {
    Derived::ALL.into_iter().find(|of| of.word() == word)
}

/// `term`: a scenario, a data centre, a vserver or a service, as conditions name it.
pub(super) fn derived(cx: &mut Context<'_>, object: &Object<'_>, of: Derived) -> Probe {
    object.require(cx.report, "term");
    let nothing = Probe::Derived { of, term: "".into() };
    let Some(node) = object.own("term") else { return nothing };
    let Some(text) = node.text() else { return nothing };
    let path = object.path.key("term");
    let Some(term) = term(cx, text, node.place, path, Scope::Board) else { return nothing };
    let is_of = matches!(
        (&term.subject, of),
        (Subject::Scenario(_), Derived::Scenario)
            | (Subject::Datacenter { .. }, Derived::Datacenter)
            | (Subject::Vserver(..), Derived::Vserver)
            | (Subject::Service(..), Derived::Service)
    );
    if !is_of {
        let (word, prefix) = (of.word(), of.prefix());
        object.wrong(cx.report, "term", format!("a check of type {word} looks at `{prefix}NAME`, and not at `{text}`"));
    } else if term.measure.is_some() || term.hold.is_some() {
        object.wrong(cx.report, "term", "qualifiers belong to the terms that name this check");
    } else if term.negated {
        object.wrong(cx.report, "term", "say `reverse = true` instead of `!`");
    }
    let text: Name = term.text.clone();
    cx.watch(term);
    Probe::Derived { of, term: text }
}
