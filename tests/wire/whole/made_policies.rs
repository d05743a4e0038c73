//! Policies made over NITRO and in the shell, and the traffic that they decide.

use std::time::Duration;

use super::box_under_test::{Backend, Box, http, within};

const PATIENT: Duration = Duration::from_secs(30);

fn nitro(box_: &Box, method: &str, path: &str, body: &str) -> u16 {
    let fields = [("Content-Type", "application/json")];
    let answer = http(box_.admin, method, &format!("/nitro/v1/config/{path}"), body, &fields).expect("NITRO answers");
    assert!(answer.status < 300, "{method} {path}: {} {}", answer.status, answer.body);
    answer.status
}

/// Status, location and body of an answer of the front.
fn ask(box_: &Box, path: &str) -> (u16, String, String) {
    let answer = http(box_.vip("front"), "GET", path, "", &[]).expect("the front answers");
    let mut fields = answer.head.lines().filter_map(|line| line.split_once(": "));
    let location = fields.find(|(name, _)| name.eq_ignore_ascii_case("location"));
    let location = location.map(|(_, value)| value.to_owned()).unwrap_or_default();
    (answer.status, location, answer.body)
}

/// Status line and fields of an answer of the front, in lower case.
fn head(box_: &Box, path: &str) -> String {
    http(box_.vip("front"), "GET", path, "", &[]).expect("the front answers").head.to_ascii_lowercase()
}

#[test]
fn policies_that_are_made_by_nitro_switch_redirect_and_edit_and_what_is_saved_does_it_again() {
    let (left, right) = (Backend::start("left"), Backend::start("right"));
    let config = format!(
        "[defaults.service]\nhealth_monitor = false\n\
         [service.left]\ntype = \"HTTP\"\naddress = \"{}\"\n[service.right]\ntype = \"HTTP\"\naddress = \"{}\"\n\
         [vserver.left]\ntype = \"HTTP\"\nservices = [\"left\"]\n[vserver.right]\ntype = \"HTTP\"\nservices = [\"right\"]\n\
         [cs_vserver.front]\ntype = \"HTTP\"\naddress = \"127.0.0.1:0\"\ndefault = \"left\"\n",
        left.address, right.address
    );
    let mut box_ = Box::start(&config);
    within(PATIENT, "the default serves", || ask(&box_, "/?to=shop").2.contains("left"));

    nitro(&box_, "POST", "policypatset", r#"{"policypatset":{"name":"places"}}"#);
    let pattern = r#"{"policypatset_pattern_binding":{"name":"places","String":"shop"}}"#;
    nitro(&box_, "PUT", "policypatset_pattern_binding", pattern);
    nitro(&box_, "POST", "csaction", r#"{"csaction":{"name":"right","targetlbvserver":"right"}}"#);
    let rule = r#"{"cspolicy":{"policyname":"shop","rule":"HTTP.REQ.URL.QUERY.VALUE(\"to\").EQUALS_ANY(\"places\")","action":"right"}}"#;
    nitro(&box_, "POST", "cspolicy", rule);
    let bound = r#"{"csvserver_cspolicy_binding":{"name":"front","policyname":"shop","priority":100}}"#;
    nitro(&box_, "PUT", "csvserver_cspolicy_binding", bound);
    within(PATIENT, "the policy switches", || ask(&box_, "/?to=shop").2.contains("right"));
    assert!(ask(&box_, "/?to=other").2.contains("left"));

    let action = r#"{"responderaction":{"name":"away","type":"redirect","target":"\"https://\" + HTTP.REQ.HOSTNAME + HTTP.REQ.URL","responsestatuscode":301}}"#;
    nitro(&box_, "POST", "responderaction", action);
    let policy =
        r#"{"responderpolicy":{"name":"away","rule":"HTTP.REQ.URL.QUERY.VALUE(\"to\").EQ(\"old\")","action":"away"}}"#;
    nitro(&box_, "POST", "responderpolicy", policy);
    let bound = r#"{"csvserver_responderpolicy_binding":{"name":"front","policyname":"away","priority":10}}"#;
    nitro(&box_, "PUT", "csvserver_responderpolicy_binding", bound);
    // It is asked before content switching, whose priority is higher in number and of another bank.
    within(PATIENT, "the responder answers", || ask(&box_, "/?to=old").0 == 301);
    assert_eq!(ask(&box_, "/?to=old").1, "https://localhost/?to=old");
    assert!(ask(&box_, "/?to=shop").2.contains("right"));

    let action = r#"{"rewriteaction":{"name":"mark","type":"insert_http_header","target":"X-Place","stringbuilderexpr":"\"shop of \" + HTTP.REQ.HOSTNAME"}}"#;
    nitro(&box_, "POST", "rewriteaction", action);
    let policy =
        r#"{"rewritepolicy":{"name":"mark","rule":"HTTP.REQ.URL.QUERY.VALUE(\"to\").EQ(\"shop\")","action":"mark"}}"#;
    nitro(&box_, "POST", "rewritepolicy", policy);
    let bound = r#"{"csvserver_rewritepolicy_binding":{"name":"front","policyname":"mark","priority":10,"bindpoint":"RESPONSE"}}"#;
    nitro(&box_, "PUT", "csvserver_rewritepolicy_binding", bound);
    within(PATIENT, "the answer is marked", || head(&box_, "/?to=shop").contains("\r\nx-place: shop of localhost\r\n"));
    assert!(!head(&box_, "/?to=other").contains("x-place"));

    // One more pattern in the set, by the shell, is one more place of the policy.
    let state = box_.path("state").display().to_string();
    let lines = ["bind policy patset places other", "show cs policy shop", "show rule front/shop", "save ns config"];
    let arguments: Vec<&str> =
        ["shell", "--state", &state].into_iter().chain(lines.iter().flat_map(|l| ["-c", *l])).collect();
    let (status, said) = box_.run(&arguments);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("EQUALS_ANY(\"places\")") && said.contains("Bound to: CS VSERVER front"), "{said}");
    within(PATIENT, "the new pattern switches", || ask(&box_, "/?to=other").2.contains("right"));

    let counted =
        http(box_.admin, "GET", "/nitro/v1/config/csvserver_cspolicy_binding/front", "", &[]).expect("NITRO answers");
    assert!(counted.body.contains("\"hits\":\"") && !counted.body.contains("\"hits\":\"0\""), "{}", counted.body);
    let (_, said) = box_.run(&["shell", "--state", &state, "-c", "show cs vserver front"]);
    assert!(said.contains("1)\tResponder Policy: away\tPriority: 10\tHits: "), "{said}");
    assert!(said.contains("2)\tRewrite Policy: mark\tPriority: 10\tHits: "), "{said}");
    assert!(said.contains("3)\tContent-Switching Policy: shop\tPriority: 100\tHits: "), "{said}");
    assert!(!said.contains("Hits: 0"), "{said}");
    let lines = ["show cs policy shop", "stat cs policy", "stat responder policy away", "stat rewrite policy mark"];
    for line in lines {
        let (status, said) = box_.run(&["shell", "--state", &state, "-c", line]);
        assert_eq!(status, 0, "{line}: {said}");
        let hits = said.lines().flat_map(|line| line.split_whitespace()).filter_map(|word| word.parse::<u64>().ok());
        assert!(hits.into_iter().any(|number| number > 0), "{line}: {said}");
    }
    let counted = http(box_.admin, "GET", "/nitro/v1/stat/rewritepolicy/mark", "", &[]).expect("NITRO answers");
    let counted: serde_json::Value = serde_json::from_str(&counted.body).expect("JSON");
    let policy = &counted["rewritepolicy"][0];
    assert_ne!(policy["pipolicyhits"], "0", "{counted}");
    assert_eq!(policy["pipolicyundefhits"], "0", "{counted}");

    box_.kill();
    box_.start_again();
    within(PATIENT, "what was saved switches", || ask(&box_, "/?to=other").2.contains("right"));
    assert_eq!(ask(&box_, "/?to=old").0, 301);
    assert!(head(&box_, "/?to=shop").contains("x-place: shop of localhost"));
    nitro(&box_, "DELETE", "csvserver_responderpolicy_binding/front?args=policyname:away,priority:10", "");
    within(PATIENT, "nothing answers any more", || ask(&box_, "/?to=old").2.contains("left"));
}
