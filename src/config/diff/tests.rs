use serde_json::json;

use super::*;
use crate::config::tests::loaded;

fn details(old: Value, new: Value) -> Vec<String> {
    let mut details = Vec::new();
    compare("", &old, &new, &mut details);
    details
}

#[test]
fn a_changed_key_shows_both_values() {
    assert_eq!(details(json!({ "a": 1 }), json!({ "a": 1 })), [""; 0]);
    assert_eq!(details(json!({}), json!({ "backup": "web-spare" })), ["backup: none → web-spare"]);
    assert_eq!(details(json!({ "p": { "t": "2m" } }), json!({ "p": { "t": "5m" } })), ["p.t: 2m → 5m"]);
    assert_eq!(details(json!({ "m": ["a", "b"] }), json!({ "m": ["b"] })), ["m: [a, b] → [b]"]);
    assert_eq!(details(json!({ "password_hash": "x" }), json!({ "password_hash": "y" })), ["password_hash: changed"]);
}

#[test]
fn the_order_of_a_table_counts_and_is_shown() {
    assert_eq!(
        details(json!({ "services": { "a": 1, "b": 2 } }), json!({ "services": { "b": 2, "a": 1 } })),
        ["services: order a, b → b, a"]
    );
}

#[test]
fn lists_of_records_show_what_came_and_what_went() {
    let old = json!({ "records": [{ "data": "1.1.1.1" }, { "data": "2.2.2.2" }] });
    let new = json!({ "records": [{ "data": "2.2.2.2" }, { "data": "3.3.3.3" }] });
    assert_eq!(details(old, new), ["records: − { data = 1.1.1.1 }", "records: + { data = 3.3.3.3 }"]);
    let old = json!({ "records": [{ "data": "1" }, { "data": "2" }] });
    let new = json!({ "records": [{ "data": "2" }, { "data": "1" }] });
    assert_eq!(details(old, new), ["records: in another order"]);
}

#[test]
fn a_difference_is_one_line() {
    let difference = Difference {
        object: "vserver web".into(),
        kind: DifferenceKind::Changed,
        details: vec!["backup: none → web-spare".into(), "lb_method: A → B".into()],
    };
    assert_eq!(difference.to_string(), "~ vserver web: backup: none → web-spare; lb_method: A → B");
    assert_eq!(Difference::whole("server a", DifferenceKind::Removed).to_string(), "− server a");
}

const EXAMPLE: &str = include_str!("../../../profiles/example.toml");

/// What replacing texts in the example changes.
fn changes(replace: &[(&str, &str)]) -> Vec<String> {
    let new = replace.iter().fold(EXAMPLE.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    diff(&loaded(EXAMPLE).model, &loaded(&new).model).iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_only_written_otherwise_is_no_difference() {
    assert_eq!(changes(&[("success_retries = 1\n", "")]), [""; 0]);
    assert_eq!(changes(&[("# said once for all monitors", "")]), [""; 0]);
}

#[test]
fn a_change_is_named_after_its_object() {
    assert_eq!(changes(&[("max_client = 500", "max_client = 7")]), ["~ service web2: max_client: 500 → 7"]);
    assert_eq!(
        changes(&[("backup      = \"web-spare\"\n", "")]).first().map(String::as_str),
        Some("~ vserver web: backup: web-spare → none")
    );
    assert_eq!(
        changes(&[("{ web1 = 3, web2 = 1 }", "{ web2 = 1, web1 = 3 }")]),
        ["~ vserver web: services: order web1, web2 → web2, web1"]
    );
    assert_eq!(
        changes(&[("ns1  A   127.0.0.1", "ns1  A   127.0.0.2")]),
        [
            "~ zone example.test: records: − ns1.example.test. 30 A 127.0.0.1; records: + ns1.example.test. 30 A 127.0.0.2"
        ]
    );
    let rrset = changes(&[("data = \"192.0.2.11\"", "data = \"192.0.2.12\"")]);
    assert_eq!(rrset.len(), 1);
    assert!(rrset[0].starts_with("~ rrset www A of example.test: records: − { data = 192.0.2.11"), "{rrset:?}");
}

#[test]
fn objects_that_come_and_go_are_named() {
    assert_eq!(changes(&[("[switch.drill]", "[switch.exercise]")]), ["− switch drill", "+ switch exercise"]);
}
