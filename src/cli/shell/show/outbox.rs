//! Triggers, queries and deliveries: NetScaler has none, so these follow its manner.

use crate::admin::dto::{DeliveryDto, QueryDto, TriggerDto};

pub(in super::super) fn trigger(trigger: &TriggerDto) -> String {
    let mut out = format!("{} ({}) - {}\n", trigger.name, trigger.endpoint, trigger.r#type);
    let until = trigger.breaker_until.as_deref().map(|until| format!(" until {until}")).unwrap_or_default();
    out += &format!("\tCircuit Breaker: {}{until}\n", trigger.breaker.to_uppercase());
    out += &format!(
        "\tFired: {}\tSuppressed: {}\tDelivered: {}\tPending: {}\tDead: {}\tFailed Attempts: {}\n",
        trigger.fired, trigger.suppressed, trigger.delivered, trigger.pending, trigger.dead, trigger.failed_attempts
    );
    for (what, text) in [("Last Error", &trigger.last_error), ("Note", &trigger.note)] {
        if let Some(text) = text {
            out += &format!("\t{what}: {text}\n");
        }
    }
    if !trigger.used_by.is_empty() {
        out += &format!("\tUsed By: {}\n", trigger.used_by.join(", "));
    }
    out
}

pub(in super::super) fn query(query: &QueryDto) -> String {
    let mut out = format!("{} ({}) - {}\n", query.name, query.endpoint, query.r#type);
    out += &format!("\tPassed: {}\tRefused: {}\tCannot Tell: {}\n", query.passed, query.refused, query.undecided);
    if let (Some(at), Some(said)) = (&query.last_at, &query.last) {
        out += &format!("\tLast: {said} at {at}\n");
    }
    if let Some(note) = &query.note {
        out += &format!("\tNote: {note}\n");
    }
    if !query.used_by.is_empty() {
        out += &format!("\tUsed By: {}\n", query.used_by.join(", "));
    }
    out
}

pub(in super::super) fn delivery(delivery: &DeliveryDto) -> String {
    let of = match (&delivery.scenario, &delivery.direction) {
        (Some(scenario), Some(direction)) => format!("{scenario} {direction} #{}", delivery.seq),
        (None, Some(direction)) => {
            let what = if direction == "activate" { "raised" } else { "resolved" };
            format!("alert {} {what} #{}", delivery.alert.as_deref().unwrap_or_default(), delivery.seq)
        }
        _ => "test".to_owned(),
    };
    let mut out = format!("Id: {}\tTrigger: {}\tOf: {of}\n", delivery.id, delivery.trigger);
    let next = delivery.next_attempt_at.as_deref().filter(|_| delivery.attempt_count > 0);
    let next = next.map(|at| format!("\tNext Attempt: {at}")).unwrap_or_default();
    out += &format!("\tStatus: {}\tAttempts: {}{next}\n", delivery.status.to_uppercase(), delivery.attempt_count);
    out += &format!("\tKey: {}\n\tSince: {}\n", delivery.key, delivery.since);
    if let Some(until) = &delivery.breaker_until {
        out += &format!("\tWaits For: the circuit breaker of its endpoint, which is open until {until}\n");
    }
    if let Some(error) = &delivery.last_error {
        out += &format!("\tLast Error: {error}\n");
    }
    out
}
