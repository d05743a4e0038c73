//! Policies as they are written; what follows from them is not printed.

use super::text::{Text, Value};
use crate::model::Model;
use crate::model::policy::{BoundPolicy, PolicyBank, Said};
use crate::model::vserver::Vserver;

pub(super) fn objects(out: &mut Text, model: &Model) {
    for object in &model.policies.objects {
        out.table(&[object.kind.section(), &object.name]);
        for (key, said) in &object.says {
            out.key(key, value(said));
        }
    }
}

fn value(said: &Said) -> Value {
    match said {
        Said::Text(text) => Value::str(text),
        Said::Number(number) => Value::Int(*number),
        Said::List(items) => Value::strs(items),
        Said::Numbered(entries) => {
            Value::Inline(entries.iter().map(|(name, number)| (name.to_string(), Value::Int(*number))).collect())
        }
    }
}

/// Those of a vserver; nothing where there are none.
pub(super) fn bound(out: &mut Text, vserver: &Vserver) {
    banks(out, &vserver.policies, |bound| bound.of_answer.then_some("RESPONSE"));
}

/// Those of every vserver.
pub(super) fn global(out: &mut Text, model: &Model) {
    if model.policies.global.is_empty() {
        return;
    }
    out.table(&["policy_global"]);
    banks(out, &model.policies.global, |bound| match (bound.of_answer, bound.overrides) {
        (false, false) => None,
        (false, true) => Some("REQ_OVERRIDE"),
        (true, false) => Some("RES_DEFAULT"),
        (true, true) => Some("RES_OVERRIDE"),
    });
}

/// `kind`: what `type` says; `None`: the default.
fn banks(out: &mut Text, policies: &[BoundPolicy], kind: impl Fn(&BoundPolicy) -> Option<&'static str>) {
    for bank in PolicyBank::ALL {
        let of_bank: Vec<&BoundPolicy> = policies.iter().filter(|bound| bound.bank == bank).collect();
        if !of_bank.is_empty() {
            let entries = of_bank.into_iter().map(|bound| (bound.policy.to_string(), binding(bound, kind(bound))));
            out.key(bank.key(), Value::Inline(entries.collect()));
        }
    }
}

fn binding(bound: &BoundPolicy, kind: Option<&str>) -> Value {
    let number = bound.priority.map(|priority| Value::Int(priority.into()));
    if let (Some(number), false, false, None) = (&number, bound.goes_on, kind.is_some(), &bound.target) {
        return number.clone();
    }
    let mut entries: Vec<(String, Value)> = Vec::new();
    entries.extend(number.map(|number| ("priority".into(), number)));
    entries.extend(bound.goes_on.then(|| ("goto".into(), Value::str("NEXT"))));
    entries.extend(kind.map(|kind| ("type".into(), Value::str(kind))));
    entries.extend(bound.target.as_ref().map(|target| ("target".into(), Value::str(target))));
    Value::Inline(entries)
}
