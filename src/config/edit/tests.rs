use proptest::prelude::*;
use serde_json::json;

use super::*;

const OLD: &str = r#"# the front door
schema = 1   # of the format

[defaults.service]
type = "HTTP"

# ── servers ──

[server.app1]
address = "127.0.0.1"     # the first one

# behind the other switch
[server.app2]
address = "127.0.0.2"

[vserver.web]
# three to one, because app1 is larger
services    = { web1 = 3, web2 = 1 }   # weights
persistence = { type = "COOKIEINSERT", timeout = "2m" }

[service_group.spare]
member.spare1 = { server = "app1", port = 8003 }

[zone."example.test".rrset."www A"]
records = [
  { data = "192.0.2.10", cond = "out" },     # left out while active
  { data = "192.0.2.11" },                   # stays
  # the DR set
  { data = "198.51.100.10", drCond = "dr" },
]
"#;

fn merged(new: &str) -> String {
    merge(OLD, new).unwrap()
}

#[test]
fn a_text_that_means_the_same_is_not_touched() {
    let again = crate::config::edit::from_json(&to_json(OLD).unwrap()).unwrap();
    assert_ne!(again, OLD);
    assert_eq!(merged(&again), OLD);
}

#[test]
fn a_changed_value_keeps_the_comments_around_it() {
    let new = OLD.replace("127.0.0.1", "127.0.0.9").replace("\"2m\"", "\"5m\"");
    assert_eq!(merged(&new), new);
}

#[test]
fn new_tables_stand_behind_those_of_their_kind() {
    let new = format!("{OLD}\n[server.app3]\naddress = \"127.0.0.3\"\n");
    let expected =
        OLD.replace("address = \"127.0.0.2\"\n", "address = \"127.0.0.2\"\n\n[server.app3]\naddress = \"127.0.0.3\"\n");
    assert_eq!(merged(&new), expected);
}

#[test]
fn members_written_in_line_get_siblings_in_line() {
    let new = format!("{OLD}\n[service_group.spare.member.spare2]\nserver = \"app2\"\nport = 1\n");
    let expected = OLD.replace("port = 8003 }\n", "port = 8003 }\nmember.spare2 = { server = \"app2\", port = 1 }\n");
    assert_eq!(merged(&new), expected);
}

#[test]
fn a_removed_table_goes_with_its_comments_and_no_others() {
    let start = OLD.find("# behind").unwrap();
    let end = OLD.find("[vserver.web]").unwrap();
    let mut new = OLD.to_owned();
    new.replace_range(start..end, "");
    assert_eq!(merged(&new), new);
}

#[test]
fn records_keep_their_lines_and_comments_when_others_come_and_go() {
    let new = OLD
        .replace("  { data = \"192.0.2.10\", cond = \"out\" },     # left out while active\n", "")
        .replace("drCond = \"dr\" },\n", "drCond = \"dr\" },\n  { data = \"198.51.100.11\", drCond = \"dr\" },\n");
    let text = merged(&new);
    assert!(text.contains("{ data = \"192.0.2.11\" },                   # stays\n"), "{text}");
    assert!(text.contains("  # the DR set\n  { data = \"198.51.100.10\", drCond = \"dr\" },\n"), "{text}");
    assert!(text.contains("\n  { data = \"198.51.100.11\", drCond = \"dr\" },\n]"), "{text}");
    assert!(!text.contains("192.0.2.10\""), "{text}");
}

#[test]
fn a_changed_record_is_changed_in_its_line() {
    let new = OLD.replace("cond = \"out\" }", "cond = \"out\", weight = 3 }");
    let text = merged(&new);
    assert!(text.contains("{ data = \"192.0.2.10\", cond = \"out\", weight = 3 },     # left out"), "{text}");
}

#[test]
fn the_order_of_services_is_part_of_the_meaning() {
    let new = OLD.replace("{ web1 = 3, web2 = 1 }", "{ web2 = 1, web1 = 3 }");
    assert_eq!(merged(&new), new);
}

#[test]
fn what_is_no_toml_is_refused_with_its_line() {
    assert!(merge("a = ", OLD).unwrap_err().contains("the old text is not TOML: line 1"));
    assert!(merge(OLD, "a = 1\nb = ]").unwrap_err().contains("the new text is not TOML: line 2"));
    assert!(to_json("a = 1\na = 2").is_err());
}

#[test]
fn json_becomes_toml_and_comes_back() {
    let json = json!({
        "schema": 1,
        "vserver": { "web": { "services": { "b": 1, "a": 3 }, "groups": [] }, "a.b": {} },
        "zone": { "example.test": { "rrset": { "www A": { "records": [{ "data": "x\ny" }, "z"] } } } },
    });
    let toml = from_json(&json).unwrap();
    assert_eq!(to_json(&toml).unwrap(), json, "{toml}");
    assert!(toml.find("b = 1").unwrap() < toml.find("a = 3").unwrap(), "the order stays: {toml}");
    for (bad, says) in [
        (json!([]), "object"),
        (json!({ "a": { "b": null } }), "a.b: null"),
        (json!({ "a": [u64::MAX] }), "a.0: the number is too large"),
    ] {
        assert!(from_json(&bad).unwrap_err().contains(says), "{bad}");
    }
}

const EXAMPLE: &str = include_str!("../../../profiles/example.toml");

fn model(text: &str) -> std::sync::Arc<crate::model::Model> {
    crate::config::tests::loaded(text).model
}

#[test]
fn the_example_goes_through_json_and_means_the_same() {
    let again = from_json(&to_json(EXAMPLE).unwrap()).unwrap();
    assert_eq!(model(&again), model(EXAMPLE));
}

#[test]
fn the_printed_model_merged_into_the_example_means_the_model_and_keeps_what_is_said_already() {
    let changed = EXAMPLE.replace("max_client = 500", "max_client = 700");
    let printed = crate::config::render::render(&model(&changed));
    let text = merge(EXAMPLE, &printed).unwrap();
    assert_eq!(model(&text), model(&changed));
    assert!(text.contains("max_client = 700\n"));
    assert!(text.contains("# the data centre this box stands in"));
    assert!(text.contains("# ── GTM: TR7's words"));
}

/// Documents with tables, lists and leaves that are alike enough for a merge to have something to do.
fn documents() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        (0i64..4).prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
        "[a-b\n\"#]{0,3}".prop_map(serde_json::Value::from),
    ];
    let value = leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            proptest::collection::btree_map("[a-d]|services|é x", inner, 0..4)
                .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect())),
        ]
    });
    proptest::collection::btree_map("[a-d]|when", value, 0..5)
        .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect()))
}

/// The same document in two ways of writing.
fn written(json: &serde_json::Value, in_line: bool) -> String {
    if !in_line {
        return from_json(json).unwrap();
    }
    let mut out = Text::default();
    for (key, value) in json.as_object().unwrap() {
        out.key(key, Value::json(value));
    }
    out.finish()
}

proptest! {
    #[test]
    fn merging_any_two_texts_gives_the_meaning_of_the_second(
        old in documents(), new in documents(), old_in_line: bool, new_in_line: bool
    ) {
        let (old, new) = (written(&old, old_in_line), written(&new, new_in_line));
        let merged = merge(&old, &new).unwrap_or_else(|e| panic!("{e}\n{old}\n---\n{new}"));
        prop_assert_eq!(to_json(&merged).unwrap(), to_json(&new).unwrap());
        prop_assert_eq!(&merge(&merged, &new).unwrap(), &merged, "a second merge changes nothing");
    }

    #[test]
    fn json_round_trips(json in documents()) {
        prop_assert_eq!(to_json(&from_json(&json).unwrap()).unwrap(), json);
    }

    #[test]
    fn no_text_makes_a_merge_panic(a: String, b: String) {
        let _ = (merge(&a, &b), merge(&a, OLD), merge(OLD, &b), to_json(&a));
    }
}
