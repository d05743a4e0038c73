//! How often policies were met, in the layout of NetScaler's counters.

use super::Facts;
use super::counters::{Line, columns, statistics};

const OF_POLICY: &[Line] = &[("Policy hits", Some("pipolicyhitsrate"), "pipolicyhits")];
const OF_POLICY_THAT_MAY_FAIL: &[Line] = &[
    ("Policy hits", Some("pipolicyhitsrate"), "pipolicyhits"),
    ("Policy undef hits", Some("pipolicyundefhitsrate"), "pipolicyundefhits"),
];

/// What NetScaler calls the kind, and the attribute that names one.
fn kind(nitro: &str) -> (&'static str, &'static str) {
    match nitro {
        "responderpolicy" => ("Responder", "name"),
        "rewritepolicy" => ("Rewrite", "name"),
        _ => ("Content Switching", "policyname"),
    }
}

/// All of a kind, a line each.
pub(in super::super) fn policies_counted(nitro: &str, all: &[Facts]) -> String {
    let (kind, key) = kind(nitro);
    format!("{kind} Policy(s) Summary\n") + &lines(nitro, key, all)
}

/// One of them.
pub(in super::super) fn policy_counted(nitro: &str, facts: &Facts) -> String {
    let (kind, key) = kind(nitro);
    let list = if nitro == "cspolicy" { OF_POLICY } else { OF_POLICY_THAT_MAY_FAIL };
    format!("{kind} Policy Summary\n")
        + &lines(nitro, key, std::slice::from_ref(facts))
        + &statistics(&format!("{kind} Policy Statistics"), list, facts)
}

fn lines(nitro: &str, key: &str, all: &[Facts]) -> String {
    let may_fail = nitro != "cspolicy";
    let rows = all.iter().map(|one| {
        let mut row = vec![one.said(key, ""), one.count("pipolicyhits"), one.count("pipolicyhitsrate") + "/s"];
        row.extend(may_fail.then(|| one.count("pipolicyundefhits")));
        row
    });
    let head = ["Hits", "Hits/s", "Undef"];
    columns(&head[..if may_fail { 3 } else { 2 }], rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_policy_is_counted_with_its_hits_and_those_that_may_be_undefined_with_these_too() {
        let facts = |value: serde_json::Value| Facts::list(&json!({ "x": [value] }), "x").remove(0);
        let switches = facts(json!({ "policyname": "api", "pipolicyhits": "7", "pipolicyhitsrate": 2 }));
        assert_eq!(
            policies_counted("cspolicy", std::slice::from_ref(&switches)),
            "Content Switching Policy(s) Summary\n      Hits  Hits/s\napi      7     2/s\n"
        );
        let one = policy_counted("cspolicy", &switches);
        assert!(one.contains(&format!("\n{:<35}{:>16}{:>21}\n", "Policy hits", "2", "7")), "{one}");
        assert!(!one.contains("undef"), "{one}");
        let moved = facts(json!({ "name": "moved", "pipolicyhits": "1", "pipolicyundefhits": "0" }));
        let list = policies_counted("responderpolicy", std::slice::from_ref(&moved));
        assert!(list.ends_with("Undef\nmoved      1     0/s      0\n"), "{list}");
        assert!(policy_counted("rewritepolicy", &moved).contains("\nRewrite Policy Statistics\n"));
    }
}
