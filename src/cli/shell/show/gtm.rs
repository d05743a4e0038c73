//! Scenarios, checks, switches, data centres and steered records: NetScaler has none, so these follow its manner.

use super::{note_line, since_lines};
use crate::admin::dto::{
    DatacenterDto, GroupDto, ModeDto, ResolversDto, RrsetDto, ScenarioDto, SwitchDto, TermDto, TransitionDto, ZoneDto,
};

/// Resolvers that are named at most.
const NAMED_MOST: usize = 5;

pub(in super::super) fn scenario(scenario: &ScenarioDto, now: &str, whole: bool) -> String {
    let mut out = format!("{}\tState: {}\tSeq: {}\n", scenario.name, scenario.state.to_uppercase(), scenario.seq);
    if !scenario.about.is_empty() {
        out += &format!("\t{}\n", scenario.about);
    }
    out += &since_lines(&scenario.since, now);
    let shown = if scenario.shown.is_empty() { String::new() } else { format!("\t({})", scenario.shown) };
    out += &format!("\tActivate: {}\tDeactivate: {}{shown}\n", scenario.modes.activate, scenario.modes.deactivate);
    if let Some(reason) = &scenario.stuck_reason {
        out += &format!("\tStuck: {reason}\n");
    }
    if scenario.ready_to_return {
        out += &format!("\tReady to return: `return scenario {}` brings it back\n", scenario.name);
    }
    if !whole {
        return out;
    }
    for (direction, details, groups) in [
        ("Activate", &scenario.mode_details.activate, &scenario.groups.activate),
        ("Deactivate", &scenario.mode_details.deactivate, &scenario.groups.deactivate),
    ] {
        out += &mode_line(direction, details);
        for group in groups {
            out += &group_lines(group);
        }
    }
    if let Some(attempt) = &scenario.attempt {
        out += &format!(
            "\tGuard: attempt {} to {} since {}, until {}: {}\n",
            attempt.id, attempt.direction, attempt.started_at, attempt.deadline, attempt.detail
        );
    }
    out + &scenario.last_transition.as_ref().map_or_else(String::new, transition_lines)
}

fn mode_line(direction: &str, mode: &ModeDto) -> String {
    let spent = if mode.spent { ", has acted" } else { "" };
    let base = if mode.base == mode.mode { String::new() } else { format!(" (base {}{spent})", mode.base) };
    let mut out = format!("\n\t{direction}: {}{base}\n", mode.mode);
    if let (Some(actor), Some(since)) = (&mode.actor, &mode.since) {
        out += &note_line("Set", actor, since, mode.reason.as_deref(), mode.expires.as_deref());
    }
    out
}

fn group_lines(group: &GroupDto) -> String {
    let armed = if group.armed { "" } else { ", not armed" };
    let of_term = |term: &TermDto| {
        let hold = term.hold_ends.as_ref().map_or_else(String::new, |at| format!(", holds until {at}"));
        format!("{} since {}{hold}", term.value, term.since)
    };
    // A group without a name of its own is called by its terms.
    let texts: Vec<&str> = group.terms.iter().map(|term| &*term.text).collect();
    let is_named = group.name != texts.join(", ");
    if let ([only], false) = (&group.terms[..], is_named) {
        return format!("\t\t{}: {}{armed}\n", only.text, of_term(only));
    }
    let name = if is_named { &group.name } else { "all of" };
    let mut out = format!("\t\t{name}: {}{armed}\n", group.value);
    for term in &group.terms {
        out += &format!("\t\t\t{}: {}\n", term.text, of_term(term));
    }
    out
}

fn transition_lines(transition: &TransitionDto) -> String {
    let group = transition.group.as_ref().map_or_else(String::new, |group| format!(": {group}"));
    let mut out = format!(
        "\n\tLast transition: {} to seq {} at {}, {}{group}, by {}\n",
        transition.direction, transition.seq, transition.committed_at, transition.cause, transition.actor
    );
    if let Some(over) = &transition.caches_over_at {
        out += &format!("\t\tCaches may hold what it replaced until {over}\n");
    }
    if let Some(first) = &transition.first_answer_at {
        out += &format!("\t\tFirst new answer at {first}\n");
    }
    if let Some(resolvers) = transition.resolvers.as_ref().filter(|resolvers| resolvers.asked_before > 0) {
        out += &resolvers_line(resolvers);
    }
    if let Some(gate) = &transition.gate {
        out += &format!("\t\tGate: {gate}\n");
    }
    if let Some(guard) = &transition.guard {
        out += &format!("\t\tGuard: {} {}\n", guard.outcome, guard.detail);
    }
    for trigger in &transition.triggers {
        let error = trigger.last_error.as_deref().map(|error| format!(", {error}")).unwrap_or_default();
        let (name, status, attempts) = (&trigger.name, &trigger.status, trigger.attempts);
        out += &format!("\t\tTrigger {name}: {status} (attempts: {attempts}{error})\n");
    }
    out
}

fn resolvers_line(resolvers: &ResolversDto) -> String {
    let ResolversDto { asked_before: before, asked_again: again, missing, .. } = resolvers;
    let named: Vec<&str> = missing.iter().take(NAMED_MOST).map(|ip| &**ip).collect();
    let more = match before - again - named.len() as u32 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let rest = if named.is_empty() { String::new() } else { format!("; not yet {}{more}", named.join(", ")) };
    format!("\t\tOf {before} resolvers that held the former answer {again} have asked again{rest}\n")
}

pub(in super::super) fn switch(switch: &SwitchDto) -> String {
    let mut out = format!("{}\tValue: {}\n", switch.name, switch.value);
    if let Some(datacenter) = &switch.maintenance_of {
        out += &format!("\tMaintenance of {datacenter}\n");
    }
    if let Some(note) = &switch.set_by {
        out += &note_line("Set", &note.actor, &note.since, note.reason.as_deref(), note.expires.as_deref());
    }
    out
}

pub(in super::super) fn datacenter(datacenter: &DatacenterDto, whole: bool) -> String {
    let here = if datacenter.here { "\t(this box stands here)" } else { "" };
    let mut out = format!("{}{here}\n", datacenter.name);
    let signals = &datacenter.signals;
    for (word, signal) in [
        ("WAN", &signals.wan),
        ("LAN", &signals.lan),
        ("Access", &signals.access),
        ("Internet", &signals.internet),
        ("Maintenance", &signals.maintenance),
    ] {
        let targets = signal.targets.len();
        let count = signal.quorum.map_or_else(String::new, |q| format!("\t{} of {targets} up, {q} needed", signal.up));
        out += &format!("\t{word}: {}{count}\n", signal.value);
        for target in signal.targets.iter().filter(|_| whole) {
            out += &format!("\t\t{}: {}\n", target.target, target.state.to_uppercase());
        }
    }
    out
}

fn caching_lines(rrset: &RrsetDto) -> String {
    let mut out = String::new();
    if let Some(why) = &rrset.ttl_because {
        out += &format!("\t\tTTL: {} s, since {why}\n", rrset.ttl);
    }
    if let (Some(since), Some(over)) = (&rrset.since, &rrset.caches_over_at) {
        out += &format!("\t\tChanged at {since}; caches may hold the former answer until {over}\n");
    }
    out
}

pub(in super::super) fn zone(zone: &ZoneDto, whole: bool) -> String {
    let mut out = format!("{}\tTTL: {}\tSerial: {}\n", zone.name, zone.ttl, zone.serial);
    out += &format!("\tRecords: {} (Fixed) {} (Steered sets)\n", zone.static_records, zone.rrsets.len());
    if let Some(transfer) = &zone.transfer {
        out += &format!("\tFrom: {}\tState: {}", transfer.primaries.join(", "), transfer.state.to_uppercase());
        let serial = transfer.serial.map_or_else(String::new, |serial| format!("\tSerial there: {serial}"));
        out += &format!("{serial}\n");
        let times = [
            ("Transferred", &transfer.transferred_at),
            ("Confirmed", &transfer.confirmed_at),
            ("Asked next", &transfer.next_at),
            ("Expires", &transfer.expires_at),
        ];
        for (word, at) in times.into_iter().filter(|_| whole) {
            out += &at.as_ref().map_or_else(String::new, |at| format!("\t{word}: {at}\n"));
        }
        if let Some(error) = &transfer.last_error {
            out += &format!("\tLast error: {error}\n");
        }
    }
    for ds in &zone.ds {
        out += &format!("\tFor the parent: {ds}\n");
    }
    for rrset in &zone.rrsets {
        let answers: Vec<&str> = rrset.answers.iter().map(|answer| &answer.data[..]).collect();
        let fallback = rrset.fallback.as_ref().map_or_else(String::new, |f| format!(", by on_empty: {f}"));
        out += &format!("\t{}: {} ({}{fallback})\n", rrset.name, answers.join(", "), rrset.set);
        out += &caching_lines(rrset);
        for record in rrset.records.iter().filter(|_| whole) {
            let served = if record.served { "in" } else { "out" };
            out += &format!("\t\t{}: {served}, {}\n", record.data, record.because);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_without_a_name_is_not_shown_twice() {
        let group = |name: &str, terms: &[&str]| {
            let term = |text: &&str| -> TermDto {
                serde_json::from_value(serde_json::json!({
                    "text": text, "id": text, "negated": false, "value": "false", "since": "T", "reading": "",
                }))
                .unwrap()
            };
            let terms = terms.iter().map(term).collect();
            group_lines(&GroupDto { name: name.into(), value: "false".into(), armed: false, terms })
        };
        assert_eq!(group("api!", &["api!"]), "\t\tapi!: false since T, not armed\n");
        let two = "\t\tall of: false, not armed\n\t\t\ta: false since T\n\t\t\tb: false since T\n";
        assert_eq!(group("a, b", &["a", "b"]), two);
        let named = "\t\toutage: false, not armed\n\t\t\tapi!: false since T\n";
        assert_eq!(group("outage", &["api!"]), named);
    }
}
