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
    for bank in PolicyBank::ALL {
        let of_bank: Vec<&BoundPolicy> = vserver.policies.iter().filter(|bound| bound.bank == bank).collect();
        if !of_bank.is_empty() {
            let entries = of_bank.into_iter().map(|bound| (bound.policy.to_string(), binding(bound)));
            out.key(bank.key(), Value::Inline(entries.collect()));
        }
    }
}

fn binding(bound: &BoundPolicy) -> Value {
    let number = bound.priority.map(|priority| Value::Int(priority.into()));
    if let (Some(number), false, false, None) = (&number, bound.goes_on, bound.of_answer, &bound.target) {
        return number.clone();
    }
    let mut entries: Vec<(String, Value)> = Vec::new();
    entries.extend(number.map(|number| ("priority".into(), number)));
    entries.extend(bound.goes_on.then(|| ("goto".into(), Value::str("NEXT"))));
    entries.extend(bound.of_answer.then(|| ("type".into(), Value::str("RESPONSE"))));
    entries.extend(bound.target.as_ref().map(|target| ("target".into(), Value::str(target))));
    Value::Inline(entries)
}
