use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::config;

struct Defined;
struct NoFiles;

impl config::Files for NoFiles {
    fn glob(&self, _: &str) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    fn read(&self, path: &str) -> Result<String, String> {
        Err(format!("no file `{path}` here"))
    }
}

impl Named for Defined {
    fn pattern_set(&self, name: &str) -> Option<Vec<String>> {
        match name {
            "images" => Some(vec!["gif".into(), "p+g".into()]),
            "empty" => Some(Vec::new()),
            "ports" => Some(vec!["a.test:80".into(), "b.test".into()]),
            "both" => Some(vec!["a.test:80".into(), "a.test".into()]),
            _ => None,
        }
    }

    fn expression(&self, name: &str) -> Option<String> {
        match name {
            "is-api" => Some("HTTP.REQ.URL.PATH.STARTSWITH(\"/api/\")".into()),
            "itself" => Some("itself".into()),
            "e0" => Some("HTTP.REQ.URL.STARTSWITH(\"/a\")".into()),
            "e1" | "e2" | "e3" | "e4" | "e5" | "e6" => {
                let before = format!("e{}", name[1..].parse::<u8>().ok()? - 1);
                Some(vec![before; 12].join(" || "))
            }
            _ => None,
        }
    }
}

fn condition(text: &str) -> Result<Condition, Refused> {
    read(text, &Defined)?.condition()
}

/// Groups as `!{criterion}` and `{criterion}`.
fn groups(text: &str) -> Vec<Vec<String>> {
    match condition(text).unwrap() {
        Condition::Groups(groups) => groups
            .iter()
            .map(|group| {
                let shown = |t: &condition::Term| {
                    format!("{}{}", if t.negated { "!" } else { "" }, Value::Object(t.test.clone()))
                };
                group.iter().map(shown).collect()
            })
            .collect(),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn every_comparison_becomes_the_criterion_that_says_the_same() {
    for (text, expected) in [
        (r#"HTTP.REQ.URL.STARTSWITH("/api")"#, json!({"path": {"starts_with": "/api"}})),
        (r#"HTTP.REQ.URL.STARTSWITH("/api?x")"#, json!({"url": {"starts_with": "/api?x"}})),
        (r#"http.req.url.contains("/x\"y")"#, json!({"url": {"contains": "/x\"y"}})),
        (r#"HTTP.REQ.URL.PATH.EQ("/a")"#, json!({"path": {"equals": "/a"}})),
        (r#"HTTP.REQ.URL.PATH.ENDSWITH(".php")"#, json!({"path": {"ends_with": ".php"}})),
        (r#"HTTP.REQ.URL.SUFFIX.EQ("php")"#, json!({"path": {"ends_with": ".php"}})),
        (r#"HTTP.REQ.URL.QUERY.CONTAINS("a=1")"#, json!({"query_string": {"contains": "a=1"}})),
        (r#"HTTP.REQ.URL.QUERY.VALUE("a").EQ("1")"#, json!({"query": {"name": "a", "equals": "1"}})),
        (r#"HTTP.REQ.HOSTNAME.EQ("www.example.test")"#, json!({"host": {"equals": "www.example.test"}})),
        (r#"HTTP.REQ.HOSTNAME.SET_TEXT_MODE(IGNORECASE).EQ("W")"#, json!({"host": {"equals": "W"}})),
        (r#"HTTP.REQ.HOSTNAME.TO_LOWER.ENDSWITH(".test")"#, json!({"host": {"ends_with": ".test"}})),
        (r#"HTTP.REQ.HEADER("X-A").EXISTS"#, json!({"header": {"name": "X-A"}})),
        (r#"HTTP.REQ.HEADER("X-A").CONTAINS("b")"#, json!({"header": {"name": "X-A", "contains": "b"}})),
        (r#"HTTP.REQ.COOKIE.VALUE("sid").EQ("1")"#, json!({"cookie": {"name": "sid", "equals": "1"}})),
        ("HTTP.REQ.METHOD.EQ(post)", json!({"method": "POST"})),
        ("CLIENT.IP.SRC.IN_SUBNET(10.0.0.0/8)", json!({"client": ["10.0.0.0/8"]})),
        ("CLIENT.IP.SRC.EQ(192.0.2.1)", json!({"client": ["192.0.2.1"]})),
        ("CLIENT.TCP.DSTPORT.EQ(443)", json!({"port": [443]})),
        ("CLIENT.SSL.IS_SSL", json!({"tls": true})),
        ("HTTP.RES.STATUS.EQ(404)", json!({"status": ["404"]})),
        ("HTTP.RES.STATUS.BETWEEN(500,599)", json!({"status": ["500-599"]})),
        ("HTTP.RES.STATUS.GE(500)", json!({"status": ["500-599"]})),
        (r#"HTTP.RES.HEADER("Server").EXISTS"#, json!({"response_header": {"name": "Server"}})),
        (r"HTTP.REQ.URL.PATH.REGEX_MATCH(re/^\/a\d+$/)", json!({"path": {"regex": "^/a\\d+$"}})),
        ("HTTP.REQ.URL.PATH.REGEX_MATCH(re{^/a{2}$})", json!({"path": {"regex": "^/a{2}$"}})),
        (
            r#"HTTP.REQ.URL.PATH.SET_TEXT_MODE(IGNORECASE).EQ("/A.b")"#,
            json!({"path": {"regex": "(?i)\\A(?:/A\\.b)\\z"}}),
        ),
        (r#"HTTP.REQ.URL.PATH.ENDSWITH_ANY("images")"#, json!({"path": {"regex": "(?:gif|p\\+g)\\z"}})),
        (r#"HTTP.REQ.URL.PATH.EQUALS_ANY("images")"#, json!({"path": {"one_of": ["gif", "p+g"]}})),
        ("is-api", json!({"path": {"starts_with": "/api/"}})),
    ] {
        assert_eq!(groups(text), [[expected.to_string()]], "{text}");
        loads(&Map::from_iter([("c".to_owned(), expected)]), &[]);
    }
}

#[test]
fn texts_that_can_be_found_are_not_taken_for_ports_and_encoded_ones() {
    for text in [
        r#"HTTP.REQ.HOSTNAME.EQ("[2001:db8::1]")"#,
        r#"HTTP.REQ.HOSTNAME.STARTSWITH("[2001:")"#,
        r#"HTTP.REQ.HOSTNAME.CONTAINS("::1")"#,
        r#"HTTP.REQ.HOSTNAME.EQUALS_ANY("both")"#,
        r#"HTTP.REQ.URL.CONTAINS("100%")"#,
        r#"HTTP.REQ.URL.CONTAINS("?a=%20")"#,
        r#"HTTP.REQ.URL.QUERY.CONTAINS("%20")"#,
        r#"HTTP.REQ.HEADER("X").EQ("%20:8080")"#,
    ] {
        assert!(condition(text).is_ok(), "{text}: {:?}", condition(text));
    }
}

#[test]
fn an_expression_is_written_anew_as_the_same_tree() {
    for (text, written) in [
        (
            r#"(a || !(b && HTTP.REQ.HEADER("Authorization").EQ("x\"y"))) && !!c"#,
            r#"(a || !(b && HTTP.REQ.HEADER("Authorization").EQ("-"))) && !!c"#,
        ),
        (
            r"HTTP.REQ.URL.REGEX_MATCH(re#[/~%@`=&]\\/#) || HTTP.REQ.COOKIE.EXISTS.NOT || HTTP.REQ.HEADER(Cookie).EQ(1)",
            r#"HTTP.REQ.URL.REGEX_MATCH(re/[\/~%@`=&]\\\//) || HTTP.REQ.COOKIE.EXISTS.NOT || HTTP.REQ.HEADER(Cookie).EQ("-")"#,
        ),
    ] {
        assert_eq!(without_secrets(text, "-").as_deref(), Some(written));
        assert_eq!(without_secrets(written, "-").as_deref(), Some(written));
    }
    assert_eq!(without_secrets(r#"HTTP.REQ.HEADER("X-Mine").EQ("a") && authorization"#, "-"), None);
    assert_eq!(without_secrets(r#"HTTP.REQ.HEADER("Cookie").EQ("a"#, "-").as_deref(), Some("-"), "it does not read");
    for (name, is_good) in
        [("is-api", true), ("true", false), ("Http", false), ("a b", false), ("a.b", false), ("", false)]
    {
        assert_eq!(nameable(name).is_ok(), is_good, "{name}");
    }
}

/// The criteria load, with a rule for each `when`.
fn loads(criteria: &Map<String, Value>, when: &[Value]) {
    let phase = |test: &Value| {
        if test.get("status").or(test.get("response_header")).is_some() { "response" } else { "request" }
    };
    let rules = when.iter().enumerate().map(|(at, when)| {
        let name = when[0][0].as_str().unwrap_or_default().trim_end_matches('!');
        let phase = phase(&criteria[name]);
        let action =
            if phase == "response" { json!({"edit": [{"remove": "Server"}]}) } else { json!({"reject": true}) };
        (
            format!("r{at}"),
            json!({"vserver": "web", "priority": at + 1, "phase": phase, "when": when, "action": action}),
        )
    });
    let document = json!({
        "schema": 1,
        "service": {"s": {"type": "HTTP", "address": "192.0.2.1:80"}},
        "vserver": {"web": {"type": "HTTP", "services": ["s"]}},
        "criterion": criteria,
        "rule": rules.collect::<Map<String, Value>>(),
    });
    let text = config::edit::from_json(&document).unwrap();
    let root = config::Source { path: "test.toml".into(), text: text.into() };
    let problems = config::load(root, &[], &NoFiles).err().unwrap_or_default();
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn operators_become_groups_of_terms() {
    let [a, b, c] = ["a", "b", "c"].map(|name| json!({"header": {"name": name}}).to_string());
    let h = |name: &str| format!("HTTP.REQ.HEADER(\"{name}\").EXISTS");
    let with = |text: &str| text.replace('a', &h("a")).replace("b ", &format!("{} ", h("b"))).replace("c ", &h("c"));
    assert_eq!(groups(&with("a || b ")), [[a.clone()], [b.clone()]]);
    assert_eq!(groups(&with("a && (b || c )")), [[a.clone(), b.clone()], [a.clone(), c.clone()]]);
    assert_eq!(groups(&with("!(a && b )")), [[format!("!{a}")], [format!("!{b}")]]);
    assert_eq!(groups(&with("!(a || !b )")), [[format!("!{a}"), b.clone()]]);
    assert_eq!(groups(&with("a || (a && b )")), [[a.clone()]], "what another group says already is left out");
    assert_eq!(groups("HTTP.REQ.METHOD.NE(GET)"), [[r#"!{"method":"GET"}"#]]);
    assert_eq!(groups(r#"HTTP.REQ.HEADER("a").EXISTS.NOT"#), [[format!("!{a}")]]);
    assert_eq!(condition("true").unwrap(), Condition::Always);
    assert_eq!(condition("HTTP.REQ.IS_VALID && ns_true").unwrap(), Condition::Always);
    assert_eq!(condition("!true").unwrap(), Condition::Never);
    assert_eq!(condition(&with("a && !a")).unwrap(), Condition::Never);
}

#[test]
fn what_no_criterion_says_is_refused_with_the_part_it_is_about() {
    for (text, part) in [
        ("HTTP.REQ.BODY(1000).CONTAINS(\"x\")", "no criterion looks at this"),
        ("HTTP.REQ.URL.LENGTH.GT(10)", "more is done with it"),
        ("HTTP.REQ.URL.CONTAINS(\"\")", "an empty text"),
        ("HTTP.REQ.URL.REGEX_MATCH(re/(?=x)/)", "look-around"),
        ("HTTP.REQ.URL.TO_LOWER.EQ(\"/A\")", "never found"),
        ("HTTP.REQ.URL.EXISTS", "EXISTS"),
        ("HTTP.RES.STATUS.EQ(99)", "100 to 599"),
        ("REQ.HTTP.URL", "classic"),
        ("itself", "too deep"),
        ("e6", "too many named"),
        ("HTTP.REQ.HEADER(\"a\")", "a comparison is missing"),
        (r#"HTTP.REQ.HOSTNAME.EQ("h.test:8080")"#, "without their port"),
        (r#"HTTP.REQ.HOSTNAME.SERVER.ENDSWITH(":8080")"#, "without their port"),
        (r#"HTTP.REQ.HOSTNAME.EQ("[2001:db8::1]:8080")"#, "without their port"),
        (r#"HTTP.REQ.HOSTNAME.EQUALS_ANY("ports")"#, "without their port"),
        (r#"HTTP.REQ.URL.CONTAINS("%2e")"#, "decoded before"),
        (r#"HTTP.REQ.URL.PATH.STARTSWITH("/a%20b")"#, "decoded before"),
        (r#"HTTP.REQ.URL.QUERY.VALUE("a").EQ("%41")"#, "decoded before"),
        (r#"HTTP.REQ.URL.SET_TEXT_MODE(URLENCODED).CONTAINS("a")"#, "decoded anyhow"),
    ] {
        let refused = condition(text).unwrap_err();
        assert!(matches!(refused, Refused::Unsupported(..)), "{text}: {refused:?}");
        assert!(refused.to_string().contains(part), "{text}: {refused}");
    }
    for (text, unknown) in [
        ("HTTP.REQ.URL.CONTAINS_ANY(\"nowhere\")", Refused::Unknown("pattern set", "nowhere".into())),
        ("HTTP.REQ.METHOD.EQ(GET) && nowhere", Refused::Unknown("expression", "nowhere".into())),
    ] {
        assert_eq!(condition(text).unwrap_err(), unknown);
    }
    assert_eq!(condition("HTTP.REQ.URL.CONTAINS_ANY(\"empty\")").unwrap(), Condition::Never);
    for text in ["", "a &&", "(a", "a)", "HTTP.REQ.HEADER(\"a", "a b", "X(re/a)", "X(Y(1))", "!", "a == b"] {
        assert!(matches!(condition(text), Err(Refused::Unreadable(..))), "{text}");
    }
    let wide = "(HTTP.REQ.METHOD.EQ(A) || HTTP.REQ.METHOD.EQ(B))";
    let wide: Vec<String> =
        (0..8).map(|at| wide.replace('A', &format!("A{at}")).replace("(B", &format!("(B{at}"))).collect();
    assert_eq!(condition(&wide.join(" && ")).unwrap_err(), Refused::TooWide(64));
    assert!(condition(&"(".repeat(10_000)).is_err());
}

#[test]
fn criteria_are_named_once_and_rules_with_them_load() {
    let mut criteria = Criteria::default();
    let text = r#"!HTTP.REQ.METHOD.EQ(GET) && (HTTP.REQ.URL.PATH.EQ("/a") || CLIENT.IP.SRC.IN_SUBNET(10.0.0.0/8))"#;
    let first = criteria.when(&condition(text).unwrap(), "p1").unwrap().unwrap();
    assert_eq!(first, json!([["p1!", "p1-2"], ["p1!", "p1-3"]]));
    let second = criteria.when(&condition("HTTP.REQ.METHOD.EQ(GET)").unwrap(), "p2").unwrap().unwrap();
    assert_eq!(second, json!([["p1"]]), "the same test has one name");
    assert_eq!(criteria.when(&Condition::Always, "p"), Ok(None));
    assert!(criteria.when(&Condition::Never, "p").is_err());
    loads(&criteria.tables, &[first, second]);
    let mut beside = Criteria::without(["p1".to_owned()].into());
    let named = beside.when(&condition("HTTP.REQ.METHOD.EQ(GET)").unwrap(), "p1");
    assert_eq!(named, Ok(Some(json!([["p1-2"]]))), "a name that is taken is nobody else's");
}

/// What a tree of headers is, given those that are there.
fn value(expression: &Expression, there: &BTreeMap<String, bool>) -> bool {
    match expression {
        Expression::Or(all) => all.iter().any(|one| value(one, there)),
        Expression::And(all) => all.iter().all(|one| value(one, there)),
        Expression::Not(inner) => !value(inner, there),
        Expression::Always(value) => *value,
        Expression::Test(test) => there[test["header"]["name"].as_str().unwrap()],
    }
}

fn trees() -> impl Strategy<Value = Expression> {
    let test =
        "[a-d]".prop_map(|name| Expression::Test(json!({"header": {"name": name}}).as_object().unwrap().clone()));
    let leaf = prop_oneof![4 => test, 1 => any::<bool>().prop_map(Expression::Always)];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3).prop_map(Expression::Or),
            prop::collection::vec(inner.clone(), 1..3).prop_map(Expression::And),
            inner.prop_map(|one| Expression::Not(Box::new(one))),
        ]
    })
}

proptest! {
    #[test]
    fn groups_are_true_exactly_where_the_expression_is(tree in trees()) {
        let Ok(condition) = tree.condition() else { return Ok(()) };
        for bits in 0..16u8 {
            let there: BTreeMap<String, bool> =
                ["a", "b", "c", "d"].iter().enumerate().map(|(at, name)| ((*name).to_owned(), bits >> at & 1 == 1)).collect();
            let found = match &condition {
                Condition::Always => true,
                Condition::Never => false,
                Condition::Groups(groups) => groups.iter().any(|group| {
                    group.iter().all(|term| there[term.test["header"]["name"].as_str().unwrap()] != term.negated)
                }),
            };
            prop_assert_eq!(found, value(&tree, &there), "{:?}", condition);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(\\PC|[().\"/!&|]|re/|HTTP\\.REQ\\.URL\\.){0,40}") {
        let _ = condition(&text);
    }

    #[test]
    fn a_criterion_printed_as_an_expression_is_read_as_itself(text in "[a-z/\"\\\\ .?]{1,8}", at in 0..4usize) {
        let test = ["equals", "starts_with", "ends_with", "contains"][at];
        for key in ["path", "url", "query_string", "host"] {
            let table = Map::from_iter([(key.to_owned(), json!({ test: text }))]);
            let read = groups(&print(&table).unwrap());
            let same = if key == "url" && test == "starts_with" && !text.contains('?') { "path" } else { key };
            prop_assert_eq!(read, [[json!({ same: { test: text } }).to_string()]]);
        }
        let table = Map::from_iter([("header".to_owned(), json!({ "name": "X", test: text }))]);
        prop_assert_eq!(groups(&print(&table).unwrap()), [[Value::Object(table).to_string()]]);
    }
}
