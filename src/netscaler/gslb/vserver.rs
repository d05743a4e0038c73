//! GSLB vservers as steered RRsets, their backups as DR sets with a scenario each.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::member::Member;
use super::said::{self, Bound, Object, Opt, take};
use super::{Books, Carrying, zones};
use crate::config::condition::parse_term;

/// NetScaler's longest chain of backups.
pub(super) const DEPTH: usize = 10;

/// One vserver of a chain, ready to be written.
struct Set {
    name: String,
    /// Members with their weight.
    members: Vec<(Member, u32)>,
    /// Stays out until somebody brings it back.
    waits: bool,
}

/// Carries all vservers that have a domain, and those behind them.
pub(super) fn carry(carrying: &mut Carrying<'_>, books: &Books) {
    let mut sets: HashMap<String, Set> = HashMap::new();
    // What a scenario is called, by the names of the vservers of its chain.
    let mut scenarios: HashMap<Vec<String>, String> = HashMap::new();
    for vserver in books.vservers.iter().filter(|vserver| vserver.bound.iter().any(has_domain)) {
        if let Err(why) = one(carrying, books, vserver, &mut sets, &mut scenarios) {
            let domains = vserver.bound.iter().filter(|bound| has_domain(bound)).map(|bound| bound.line);
            for line in domains.chain(vserver.options.iter().map(|option| option.line)) {
                carrying.missing(line, format!("GSLB vserver `{}` is not carried over", vserver.name));
            }
            carrying.missing(vserver.line, why);
        }
    }
}

fn has_domain(bound: &Bound) -> bool {
    bound.options.iter().any(|option| option.key.eq_ignore_ascii_case("domainName"))
}

fn value(options: &[Opt], key: &str) -> Option<String> {
    options.iter().rev().find(|option| option.key.eq_ignore_ascii_case(key)).map(|o| o.value.to_ascii_uppercase())
}

fn one(
    carrying: &mut Carrying<'_>,
    books: &Books,
    vserver: &Object,
    sets: &mut HashMap<String, Set>,
    scenarios: &mut HashMap<Vec<String>, String>,
) -> Result<(), String> {
    let rtype = match value(&vserver.options, "dnsRecordType").as_deref() {
        None | Some("A") => "A",
        Some("AAAA") => "AAAA",
        Some("CNAME") => "CNAME",
        Some(other) => return Err(format!("records of type {other} are not chosen by GSLB here")),
    };
    let mut chain: Vec<String> = vec![vserver.name.clone()];
    let mut seen = chain.clone();
    let mut last = vserver;
    while let Some(option) = last.options.iter().rev().find(|o| o.key.eq_ignore_ascii_case("backupVServer")) {
        let (line, name) = (option.line, option.value.clone());
        match books.vservers.get(&name) {
            Some(next) if !seen.contains(&name) && seen.len() < DEPTH => {
                // Nobody can be led to one that has no service.
                match next.bound("serviceName").next() {
                    Some(_) => chain.push(name.clone()),
                    None => carrying.note(line, format!("GSLB vserver `{name}` has no service to fall back to")),
                }
                seen.push(name);
                last = next;
            }
            Some(_) => {
                carrying.leave_out(line, format!("-backupVServer {name}: the chain comes back or is too long"), true);
                break;
            }
            None => {
                carrying.leave_out(line, format!("-backupVServer {name}: no such GSLB vserver is in the file"), true);
                break;
            }
        }
    }
    for name in &chain {
        if let (false, Some(object)) = (sets.contains_key(name), books.vservers.get(name)) {
            let set = set(carrying, books, object);
            sets.insert(name.clone(), set);
        }
    }
    let (records, on_the_way) = records(carrying, &chain, rtype, sets, scenarios, vserver);
    if records.is_empty() {
        return Err(format!("no service with an address for {rtype} is bound to it and carried over"));
    }
    let select = select(carrying, vserver, &records);
    for bound in vserver.bound.iter().filter(|bound| has_domain(bound)) {
        domain(carrying, vserver, bound, rtype, &records, &select);
    }
    for (name, scenario) in on_the_way {
        carrying.put("scenario", &name, scenario);
    }
    Ok(())
}

/// The members of one vserver; all lines about it get their fate.
fn set(carrying: &mut Carrying<'_>, books: &Books, vserver: &Object) -> Set {
    let mut object = vserver.clone();
    let mut word = |key: &str| object.take(key).map(|option| (option.line, option.value.to_ascii_uppercase()));
    let state_only = word("considerEffectiveState").is_some_and(|(_, value)| value == "STATE_ONLY");
    let waits = word("disablePrimaryOnDown").is_some_and(|(_, value)| value == "ENABLED");
    for used in ["dnsRecordType", "backupVServer", "MIR", "EDR", "lbMethod", "persistenceType"] {
        let _ = word(used);
    }
    if let Some((line, _)) = word("ECS").filter(|(_, value)| value == "ENABLED") {
        carrying.put("dns", "ecs", true.into());
        carrying.note(line, "the subnet that a resolver tells counts for all names: `[dns] ecs`");
    }
    carrying.settle(&object, said::VSERVER);
    let mut members: Vec<(Member, u32)> = Vec::new();
    for bound in vserver.bound.iter().filter(|bound| !has_domain(bound)) {
        let mut options = bound.options.clone();
        let weight = take(&mut options, "weight").map_or(Ok(1), |option| option.value.parse::<u16>());
        let (Some(name), Ok(weight)) = (take(&mut options, "serviceName"), weight) else {
            carrying.missing(bound.line, "of bindings -serviceName, its -weight and -domainName are carried over");
            continue;
        };
        match carrying.member(books, &name.value, state_only) {
            Ok(member) if members.iter().any(|(other, _)| other.data == member.data) => {
                let why = format!("{} is an answer already; one address counts once in a vserver", member.data);
                carrying.missing(bound.line, why);
            }
            Ok(member) => {
                let rest = Object { options, line: bound.line, ..Object::default() };
                carrying.settle(&rest, said::MEMBER);
                members.push((member, weight.into()));
            }
            Err(why) => carrying.missing(bound.line, why),
        }
    }
    Set { name: vserver.name.clone(), members, waits }
}

/// The records of a chain, and the scenarios that switch it.
fn records(
    carrying: &mut Carrying<'_>,
    chain: &[String],
    rtype: &str,
    sets: &HashMap<String, Set>,
    scenarios: &mut HashMap<Vec<String>, String>,
    vserver: &Object,
) -> (Vec<Value>, Vec<(String, Value)>) {
    let mut records = Vec::new();
    let mut made: Vec<(String, Value)> = Vec::new();
    let mut before: Option<String> = None;
    for (depth, name) in chain.iter().enumerate() {
        let Some(set) = sets.get(name) else { continue };
        let fits: Vec<&(Member, u32)> = set.members.iter().filter(|(member, _)| member.rtype == rtype).collect();
        if fits.len() < set.members.len() {
            let what = format!("members of GSLB vserver `{name}` that are no {rtype}: an RRset has one type");
            carrying.leave_out(vserver.line, what, true);
        }
        if depth > 0 {
            let Some(primary) = sets.get(&chain[depth - 1]) else { break };
            let key = chain[..=depth].to_vec();
            let scenario = scenarios.get(&key).cloned().unwrap_or_else(|| {
                let taken = |name: &str| scenarios.values().any(|other| other == name);
                if taken(name) || parse_term(&format!("sc:{name}")).is_err() {
                    format!("{}-to-{}", cleaned(&chain[0]), cleaned(name))
                } else {
                    name.clone()
                }
            });
            let Some(table) = scenario_of(primary, name, before.as_deref()) else {
                let what = format!("-backupVServer {name}: no member of `{}` says whether it is down", primary.name);
                carrying.leave_out(vserver.line, what, true);
                break;
            };
            scenarios.insert(key, scenario.clone());
            made.push((scenario.clone(), table));
            before = Some(scenario);
        }
        for (member, weight) in fits {
            records.push(record(member, *weight, before.as_deref().filter(|_| depth > 0)));
        }
    }
    (records, made)
}

/// With characters that ids have.
fn cleaned(name: &str) -> String {
    name.chars().map(|c| if parse_term(&format!("sc:x{c}x")).is_ok() { c } else { '-' }).collect()
}

fn record(member: &Member, weight: u32, scenario: Option<&str>) -> Value {
    let mut record = Map::from_iter([("data".to_owned(), Value::from(member.data.clone()))]);
    let mut add = |key: &str, value: Option<Value>| record.extend(value.map(|value| (key.to_owned(), value)));
    add("check", member.check.clone().map(Value::from));
    add("drCond", scenario.map(Value::from));
    add("weight", (weight != 1).then(|| weight.into()));
    add("datacenter", member.site.clone().map(Value::from));
    record.into()
}

/// Active while all members of `primary` are down: `backup` answers for it. `before`: the scenario by which the primary
/// itself answers. `None`: nothing tells whether a member is down.
fn scenario_of(primary: &Set, backup: &str, before: Option<&str>) -> Option<Value> {
    let checks: Option<Vec<&String>> = primary.members.iter().map(|(member, _)| member.check.as_ref()).collect();
    let checks = checks?;
    let mut down: Vec<String> = before.iter().map(|scenario| format!("sc:{scenario}")).collect();
    down.extend(checks.iter().map(|check| format!("{check}!")));
    let mut up: Vec<Vec<String>> = checks.iter().map(|check| vec![(*check).clone()]).collect();
    up.extend(before.iter().map(|scenario| vec![format!("sc:{scenario}!")]));
    if down.is_empty() {
        return None;
    }
    let mut deactivate = json!({ "when": up });
    if primary.waits {
        deactivate["mode"] = "off".into();
    }
    Some(json!({
        "about": format!("GSLB: all members of {} are down, and {backup} answers", primary.name),
        "activate": { "when": [down] },
        "deactivate": deactivate,
    }))
}

/// How records are chosen, as far as it can be the same.
fn select(carrying: &mut Carrying<'_>, vserver: &Object, records: &[Value]) -> Value {
    let last = |key: &str| vserver.options.iter().rev().find(|option| option.key.eq_ignore_ascii_case(key));
    let mut keeps = false;
    match last("persistenceType").map(|option| (option.line, option.value.to_ascii_uppercase())) {
        None => {}
        Some((_, kind)) if kind == "NONE" => {}
        Some((line, kind)) if kind == "SOURCEIP" => {
            let note = "a hash of the client's address keeps its answer, without a table and without an end";
            carrying.note(line, note);
            keeps = true;
        }
        Some((line, kind)) => {
            carrying.leave_out(line, format!("-persistenceType {kind}: nothing here does this"), true);
        }
    }
    let method = last("lbMethod").map_or("LEASTCONNECTION".into(), |option| option.value.to_ascii_uppercase());
    let is_weighted = records.iter().any(|record| record.get("weight").is_some());
    let chosen = match &method[..] {
        "SOURCEIPHASH" => "hash",
        _ if keeps => "hash",
        _ if is_weighted => "weighted",
        _ => "round_robin",
    };
    if !["ROUNDROBIN", "SOURCEIPHASH"].contains(&&method[..]) {
        let why = match &method[..] {
            "STATICPROXIMITY" => "no table of places is carried over: see `geo` and `topology` of `select`",
            "RTT" => "round trips are not measured",
            _ => "sites do not tell each other their load",
        };
        let instead = if keeps { "the client's hash chooses" } else { "members answer in turn, by weight" };
        let line = last("lbMethod").map_or(vserver.line, |option| option.line);
        carrying.leave_out(line, format!("-lbMethod {method}: {why}; {instead}"), true);
    }
    let all = value(&vserver.options, "MIR").as_deref() == Some("ENABLED");
    json!({ "method": chosen, "answers": if all { Value::from("all") } else { Value::from(1) } })
}

/// One domain of a vserver.
fn domain(
    carrying: &mut Carrying<'_>,
    vserver: &Object,
    bound: &Bound,
    rtype: &str,
    records: &[Value],
    select: &Value,
) {
    let mut options = bound.options.clone();
    let name = take(&mut options, "domainName").map(|option| zones::domain(&option.value));
    let ttl = take(&mut options, "TTL").map_or(Some(zones::TTL), |option| zones::ttl(&option.value));
    let backup = take(&mut options, "backupIP").map(|option| option.value).filter(|ip| !ip.is_empty());
    let (Some(Ok(name)), Some(ttl)) = (name, ttl) else {
        return carrying
            .missing(bound.line, "-domainName is a domain name, -TTL a number of seconds, up to 2147483647");
    };
    let mut table = json!({ "ttl": format!("{ttl}s"), "records": records, "select": select });
    if let Some(ip) = backup {
        let fits = ip.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_ipv4() == (rtype == "A")) && rtype != "CNAME";
        if !fits {
            return carrying.missing(bound.line, format!("-backupIP {ip} is no {rtype} record"));
        }
        table["on_empty"] = json!({ "static": [ip] });
    } else if value(&vserver.options, "EDR").as_deref() == Some("ENABLED") {
        table["on_empty"] = "nodata".into();
    }
    table["gslb_vserver"] = vserver.name.clone().into();
    match carrying.rrset(bound.line, &name, rtype, table) {
        Ok(()) => {
            let rest = Object { options, line: bound.line, ..Object::default() };
            carrying.settle(&rest, said::DOMAIN);
        }
        Err(why) => carrying.missing(bound.line, why),
    }
}
