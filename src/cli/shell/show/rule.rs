//! Traffic rules, as NetScaler shows policies.

use super::statistics::table;
use crate::admin::dto::RuleDto;

pub(in super::super) fn rule(rule: &RuleDto) -> String {
    let mut out = format!("Name: {}\tVserver: {}\tPriority: {}\n", rule.name, rule.vserver, rule.priority);
    out += &format!("\tRule: {}\tPhase: {}\n", condition(rule), rule.phase.to_uppercase());
    out += &format!("\tAction: {}\n\tHits: {}\n", rule.action, rule.hits_total);
    if rule.action.starts_with("mirror") {
        let (dropped, failed) = (rule.mirror_dropped_total, rule.mirror_failed_total);
        out += &format!("\tCopies not sent: {dropped}\tCopies not answered: {failed}\n");
    }
    out
}

pub(in super::super) fn rule_statistics(rules: &[RuleDto]) -> String {
    let rows = rules.iter().map(|rule| {
        let hits = rule.hits_total.to_string();
        vec![rule.name.clone(), rule.vserver.clone(), rule.priority.to_string(), rule.action.clone(), hits]
    });
    table(&["Rule", "Vserver", "Priority", "Action", "Hits"], rows)
}

/// `(a AND b!) OR c`; `true` where nothing is asked.
fn condition(rule: &RuleDto) -> String {
    if rule.when.iter().any(Vec::is_empty) {
        return "true".to_owned();
    }
    let groups: Vec<String> = rule
        .when
        .iter()
        .map(|terms| match (terms.len(), rule.when.len()) {
            (1, _) | (_, 1) => terms.join(" AND "),
            _ => format!("({})", terms.join(" AND ")),
        })
        .collect();
    groups.join(" OR ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mirror(when: &[&[&str]]) -> RuleDto {
        RuleDto {
            name: "copy".into(),
            vserver: "web".into(),
            priority: 10,
            phase: "request".into(),
            when: when.iter().map(|terms| terms.iter().map(|term| (*term).to_owned()).collect()).collect(),
            action: "mirror 50% shadow".into(),
            stop: false,
            hits_total: 7,
            mirror_dropped_total: 1,
            mirror_failed_total: 2,
        }
    }

    #[test]
    fn a_rule_is_shown_with_its_condition_what_it_does_and_how_often_it_did() {
        assert_eq!(
            rule(&mirror(&[&["old", "sw:drill!"], &["beta"]])),
            "Name: copy\tVserver: web\tPriority: 10\n\
             \tRule: (old AND sw:drill!) OR beta\tPhase: REQUEST\n\
             \tAction: mirror 50% shadow\n\tHits: 7\n\
             \tCopies not sent: 1\tCopies not answered: 2\n"
        );
        assert_eq!(condition(&mirror(&[&["old", "new"]])), "old AND new");
        assert_eq!(condition(&mirror(&[&[]])), "true");
    }
}
