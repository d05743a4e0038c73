//! What a scenario decides about, and what reads it.

use super::super::text;
use crate::model::Model;
use crate::model::condition::{Condition, Subject};
use crate::model::id::ScenarioId;
use crate::model::zone::Rrset;

dto! {
    /// Records of a steered RRset that a scenario decides about.
    pub struct AffectedDto {
        pub zone: String,
        /// Its key in the configuration: `www A`.
        pub rrset: String,
        /// Their data, as configured.
        pub records: Vec<String>,
    }
}

/// What one scenario is used for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    pub affected: Vec<AffectedDto>,
    pub by: Vec<String>,
}

// === impl Uses ===

impl Uses {
    pub fn of_one(model: &Model, id: ScenarioId) -> Uses {
        let mut uses = vec![Uses::default(); model.scenarios.len()];
        walk(model, &mut uses, |found| found == id);
        std::mem::take(&mut uses[id.index()])
    }

    /// Of every scenario, by id, in one walk.
    pub fn of_all(model: &Model) -> Vec<Uses> {
        let mut uses = vec![Uses::default(); model.scenarios.len()];
        walk(model, &mut uses, |_| true);
        uses
    }
}

fn walk(model: &Model, uses: &mut [Uses], wanted: impl Fn(ScenarioId) -> bool) {
    for zone in &model.zones {
        for rrset in &zone.rrsets {
            affected(&zone.name, rrset, uses, &wanted);
        }
    }
    let mut read = |condition: &Condition, by: &dyn Fn() -> String| {
        for term in condition.terms() {
            if let Subject::Scenario(id) = term.subject
                && wanted(id)
            {
                push_new(&mut uses[id.index()].by, by());
            }
        }
    };
    for scenario in &model.scenarios {
        for rules in &scenario.directions {
            let by = || format!("scenario {}", scenario.name);
            read(&rules.when, &by);
            rules.gate.iter().for_each(|gate| read(gate, &by));
        }
    }
    for rule in &model.rules {
        read(&rule.when, &|| format!("rule {}", rule.name));
    }
    for pair in &model.pairs {
        for place in pair.scenarios.iter().filter(|place| wanted(place.scenario)) {
            push_new(&mut uses[place.scenario.index()].by, format!("datacenter_pair {}", pair.name));
        }
    }
}

fn affected(zone: &str, rrset: &Rrset, uses: &mut [Uses], wanted: &impl Fn(ScenarioId) -> bool) {
    for record in &rrset.records {
        let by = [record.cond.map(|(id, _)| id), record.dr_cond];
        for (at, id) in by.iter().enumerate() {
            let Some(id) = id.filter(|id| wanted(*id) && !by[..at].contains(&Some(*id))) else { continue };
            let affected = &mut uses[id.index()].affected;
            match affected.last_mut().filter(|last| last.zone == zone && *last.rrset == *rrset.key) {
                Some(last) => last.records.push(text(&record.data)),
                None => affected.push(AffectedDto {
                    zone: zone.to_owned(),
                    rrset: text(&rrset.key),
                    records: vec![text(&record.data)],
                }),
            }
        }
    }
}

fn push_new(list: &mut Vec<String>, item: String) {
    if list.last() != Some(&item) {
        list.push(item);
    }
}
