//! Why an answer is what it is: the same code that answers, told to say what it does.

use std::net::IpAddr;

use domain::base::Message;
use domain::base::message::RecordSection;
use domain::base::zonefile_fmt::{DisplayKind, ZonefileFmt};
use domain::rdata::AllRecordData;
use serde::Serialize;

use super::answer::{Circumstances, Event, Transport, respond};
use super::wire::rcode;
use crate::balance::records::{Decision, Set, Source};
use crate::model::geo::Place;
use crate::model::id::ScenarioId;
use crate::model::time::Wall;
use crate::model::zone::{DnsName, OnEmpty, RecordType, Rrset, SelectMethod};
use crate::snapshot::Snapshot;

/// The answer to one question, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    pub name: String,
    #[serde(rename = "type")]
    pub rtype: String,
    /// Whom the answer is for.
    pub client: IpAddr,
    /// `NOERROR`, `NXDOMAIN`, …; [`UNKNOWN`] where it depends on what a primary had sent, and that is not known.
    pub rcode: String,
    /// The answer section in presentation format.
    pub answer: Vec<String>,
    /// The authority section: the SOA of a negative answer, or the name servers of a referral.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authority: Vec<String>,
    /// In the order in which they were taken.
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// `zone`, `name`, `base_set`, `filter`, `on_empty`, `select`, `ttl`, `caches`, `records`, `alias`, `referral`, `refuse`,
    /// `unknown`.
    pub name: &'static str,
    /// What the step was given.
    #[serde(rename = "in")]
    pub in_: Vec<String>,
    /// What it left.
    pub out: Vec<String>,
    pub because: String,
    /// The scenario that decided, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
}

/// In place of an rcode.
pub const UNKNOWN: &str = "unknown";

/// Explains what `client` gets for `name` and `rtype`, over TCP (that is: in full). Moves nothing: where the answer
/// depends on chance it is one that is possible, and `round_robin` shows the next one.
pub fn explain(snapshot: &Snapshot, name: &DnsName, rtype: RecordType, client: IpAddr) -> Explanation {
    let now = Wall(i64::try_from(super::unix_now()).unwrap_or(0) * 1_000_000);
    explain_at(snapshot, name, rtype, client, now)
}

/// As [`explain`], at this time: it tells what caches may still hold.
pub fn explain_at(snapshot: &Snapshot, name: &DnsName, rtype: RecordType, client: IpAddr, now: Wall) -> Explanation {
    let mut steps = Vec::new();
    let mut reply = Vec::new();
    let (mut supposed, mut known) = (None, true);
    let mut trace = |event: Event<'_>| {
        supposed = supposed.or_else(|| supposed_zone(snapshot, &event));
        known &= supposed.is_none() || is_of_steering(&event);
        describe(snapshot, event, now, &mut steps);
    };
    let untold = Circumstances::new(client, Transport::Tcp, 0, Wall(0));
    let circumstances = Circumstances { trace: Some(&mut trace), ..untold };
    let outcome = respond(&mut Vec::new(), snapshot, &question(name, rtype), circumstances, &mut reply);
    if steps.is_empty() {
        steps.push(refusal(snapshot, name));
    }

    if let Some(zone) = supposed.filter(|_| !known) {
        let zone = &snapshot.model.zones[zone].origin;
        let because = "the zone comes from its primaries, and what they had sent by then is not kept: whether they had \
                       this name, and what else, is not known; only records that are steered here are";
        steps.push(step("unknown", [zone.to_string()], [], because));
        reply.clear();
    }
    let message = Message::from_octets(&reply[..]).ok();
    Explanation {
        name: name.to_string(),
        rtype: rtype.to_string(),
        client,
        rcode: if known { rcode::name(outcome.rcode) } else { UNKNOWN.to_owned() },
        answer: presentation(message.as_ref().and_then(|m| m.answer().ok())),
        authority: presentation(message.as_ref().and_then(|m| m.authority().ok())),
        steps,
    }
}

/// The zone that this event enters, where it comes from a primary and is only supposed to be there, as in the past.
fn supposed_zone(snapshot: &Snapshot, event: &Event<'_>) -> Option<usize> {
    let zone = match event {
        Event::Zone { zone } => Some(*zone),
        Event::StandsFor { target, .. } => snapshot.zones.find(target),
        _ => None,
    };
    zone.filter(|&zone| {
        let entry = snapshot.zones.zone(zone);
        snapshot.model.zones[zone].transfer.comes_in() && entry.received.is_none() && entry.missing.is_none()
    })
}

/// It is so whatever else the zone holds.
fn is_of_steering(event: &Event<'_>) -> bool {
    match event {
        Event::Zone { .. } | Event::Steered { .. } | Event::Alias { .. } | Event::StandsFor { .. } => true,
        Event::Exists { empty, .. } => !empty,
        _ => false,
    }
}

fn question(name: &DnsName, rtype: RecordType) -> Vec<u8> {
    let mut query = vec![0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    query.extend_from_slice(&name.0);
    query.extend_from_slice(&rtype.0.to_be_bytes());
    query.extend_from_slice(&[0, 1]);
    query
}

fn refusal(snapshot: &Snapshot, name: &DnsName) -> Step {
    let because = if !snapshot.model.features.gslb {
        "feature gslb is off"
    } else if snapshot.zones.find(&name.0).is_none() {
        "no zone of this appliance holds the name"
    } else if !snapshot.ready {
        "the first probe round is not over"
    } else {
        "queries of this type are not answered"
    };
    step("refuse", [name.to_string()], [], because)
}

/// Each record as a line of a zone file; unknown types as RFC 3597 writes them.
fn presentation(section: Option<RecordSection<'_, &[u8]>>) -> Vec<String> {
    let records = section.into_iter().flat_map(|s| s.into_records::<AllRecordData<_, _>>()).filter_map(Result::ok);
    records.map(|record| record.display_zonefile(DisplayKind::Simple).to_string()).collect()
}

fn describe(snapshot: &Snapshot, event: Event<'_>, now: Wall, steps: &mut Vec<Step>) {
    let made = match event {
        Event::Zone { zone } => {
            let zone = &snapshot.model.zones[zone];
            step("zone", [], [zone.origin.to_string()], "the zone with the longest matching name")
        }
        Event::Exists { name, empty } => {
            let because = if empty { "the name exists because there are names below it" } else { "the name exists" };
            step("name", [text(name)], [text(name)], because)
        }
        Event::Wildcard { name, source } => {
            step("name", [text(name)], [source.to_string()], "the name does not exist; the wildcard stands in for it")
        }
        Event::NoSuchName { name, encloser } => {
            let because = format!("the name does not exist; the closest name that does is {encloser}");
            step("name", [text(name)], [], &because)
        }
        Event::NoSuchType { name, rtype } => {
            step("records", [text(name)], [], &format!("nothing to answer of type {rtype}: NODATA"))
        }
        Event::Referral { cut } => step("referral", [], [cut.to_string()], "the zone delegates this name"),
        Event::Alias { name, target, dname } => {
            let because = if dname { "a DNAME above the name renames it" } else { "the name is an alias" };
            step("alias", [text(name)], [text(target)], because)
        }
        Event::StandsFor { name, target } => {
            step("alias", [text(name)], [text(target)], "an ALIAS takes the addresses of the name it stands for")
        }
        Event::LeavesZone { target } => {
            step("alias", [text(target)], [], "the target is not in this zone; the resolver asks on")
        }
        Event::Loop { name } => step("alias", [text(name)], [], "the aliases form a loop or a chain that is too long"),
        Event::Fixed { name, rtype, records } => {
            step("records", [text(name)], [format!("{records} {rtype}")], "records of the zone, not steered")
        }
        Event::Steered { zone, index, decision, near, place, eligible, chosen } => {
            steered(snapshot, (zone, index as usize), &decision, (near, place), eligible, chosen, steps);
            return caching(snapshot, (zone, index as usize), now, steps);
        }
    };
    steps.push(made);
}

/// Steps 1 to 4 of the record rules.
fn steered(
    snapshot: &Snapshot,
    (zone, index): (usize, usize),
    decision: &Decision,
    (near, place): (Option<&str>, Place<'_>),
    eligible: &[u32],
    chosen: &[u32],
    steps: &mut Vec<Step>,
) {
    let rrset = &snapshot.model.zones[zone].rrsets[index];
    let data = |positions: &[u32]| -> Vec<String> {
        positions.iter().map(|&at| rrset.records[at as usize].data.to_string()).collect()
    };
    let (base, filtered) = sets(snapshot, rrset, decision.base);
    steps.push(Step { in_: vec![rrset.key.to_string()], out: data(&base), ..base_step(snapshot, decision.base) });
    filter_steps(snapshot, rrset, &base, &filtered, &data, steps);
    if let Some(fallback) = decision.fallback {
        let (out, served) = match decision.source {
            Source::Records(set) => (data(eligible), snapshot.set_name(set)),
            Source::Static => (static_data(rrset), "the static data".into()),
            Source::Nothing => (Vec::new(), "nothing (NODATA)".into()),
            Source::ServFail => (Vec::new(), "nothing (SERVFAIL)".into()),
        };
        let because = format!("nothing is left and on_empty = {}: {served} is served", fallback.word());
        steps.push(Step { name: "on_empty", in_: Vec::new(), out, because, scenario: None });
    }
    if matches!(decision.source, Source::Records(_)) {
        let answers = rrset.select.answers.map_or("all".into(), |n| n.to_string());
        let mut where_ = match near {
            _ if !rrset.select.topology => String::new(),
            Some(datacenter) => format!("the client stands in {datacenter}; "),
            None => "the client stands in no data centre's networks; ".into(),
        };
        if rrset.select.geo {
            where_ += &format!("its region: {place}; ");
        }
        let because = format!("{where_}method = {}, answers = {answers}", method(rrset.select.method));
        steps.push(Step { name: "select", in_: data(eligible), out: data(chosen), because, scenario: None });
    }
}

/// Why the TTL is short, and what others may still hold.
fn caching(snapshot: &Snapshot, (zone, index): (usize, usize), now: Wall, steps: &mut Vec<Step>) {
    let kept = snapshot.caching.of(zone, index);
    if let Some(why) = kept.shortened {
        let usual = snapshot.model.zones[zone].rrsets[index].ttl;
        let because = format!("degraded_ttl in place of {usual} s: {}", snapshot.shortened_because(why));
        steps.push(step("ttl", [], [format!("{} s", kept.ttl)], &because));
    }
    if let (Some(changed), Some(over)) = (kept.changed_at, kept.caches_over_at(now)) {
        let because = format!("what was answered before {changed} may stay in caches until {over}");
        steps.push(step("caches", [], [], &because));
    }
}

/// The positions of a set, and those that the filter leaves of it.
fn sets(snapshot: &Snapshot, rrset: &Rrset, base: Set) -> (Vec<u32>, Vec<u32>) {
    let steering = snapshot.steering();
    let members = || crate::balance::records::members(rrset, base);
    let kept = members().filter(|(_, r)| steering.dropped(r).is_none());
    (members().map(|(at, _)| at).collect(), kept.map(|(at, _)| at).collect())
}

fn base_step(snapshot: &Snapshot, base: Set) -> Step {
    let scenario = |s: ScenarioId| snapshot.model.scenario(s).name.to_string();
    let (because, scenario) = match base {
        Set::Primary => ("no scenario with a DR set here is active: the primary set".to_string(), None),
        Set::Dr(s) => {
            (format!("scenario {} is active: its DR set replaces the primary set", scenario(s)), Some(scenario(s)))
        }
    };
    Step { name: "base_set", in_: Vec::new(), out: Vec::new(), because, scenario }
}

/// One step for each record that drops out; one for all where none does.
fn filter_steps(
    snapshot: &Snapshot,
    rrset: &Rrset,
    base: &[u32],
    filtered: &[u32],
    data: &impl Fn(&[u32]) -> Vec<String>,
    steps: &mut Vec<Step>,
) {
    if base.len() == filtered.len() {
        let made = Step { in_: data(base), out: data(filtered), ..step("filter", [], [], "no record drops out") };
        return steps.push(made);
    }
    let mut left = base.to_vec();
    for at in base.iter().filter(|at| !filtered.contains(at)) {
        let record = &rrset.records[*at as usize];
        let Some(dropped) = snapshot.steering().dropped(record) else { continue };
        let before = data(&left);
        left.retain(|l| l != at);
        let because = format!("{} drops out; {}", record.data, snapshot.dropped_because(dropped));
        let scenario = match dropped {
            crate::balance::records::Dropped::CondActive(s) | crate::balance::records::Dropped::CondInactive(s) => {
                Some(snapshot.model.scenario(s).name.to_string())
            }
            _ => None,
        };
        steps.push(Step { name: "filter", in_: before, out: data(&left), because, scenario });
    }
}

fn static_data(rrset: &Rrset) -> Vec<String> {
    match &rrset.on_empty {
        OnEmpty::Static(data) => data.iter().map(|d| d.data.to_string()).collect(),
        _ => Vec::new(),
    }
}

fn method(method: SelectMethod) -> &'static str {
    match method {
        SelectMethod::Ordered => "ordered",
        SelectMethod::Weighted => "weighted",
        SelectMethod::RoundRobin => "round_robin",
        SelectMethod::Hash => "hash",
    }
}

fn step<const I: usize, const O: usize>(name: &'static str, in_: [String; I], out: [String; O], because: &str) -> Step {
    Step { name, in_: in_.into(), out: out.into(), because: because.into(), scenario: None }
}

fn text(wire: &[u8]) -> String {
    DnsName::from_wire(wire).map_or_else(String::new, |name| name.to_string())
}
